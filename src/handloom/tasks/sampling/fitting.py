"""Stand-ins of shapes and sizes with which the deed of a task can be done, and judged as the task says.

A task says by its axes that a pen or a toothbrush is stood in something, and by its overlap how snugly it must sit
there; by the attitude of a hand that a dish is taken at its rim. What stands in for the missing files must allow it.
"""

from dataclasses import replace

import numpy as np

from handloom.objects import ObjectAsset, make_object
from handloom.objects.importers.proxy import StandIn
from handloom.scene.object_config import ObjectConfig
from handloom.skills.configs.picks import PickConfig
from handloom.skills.configs.places import PlaceConfig
from handloom.tasks.config.task_config import TaskConfig, placed_skills

UPRIGHT = {"bin": "pen_holder", "cardboard_box": "pen_holder", "cardboard_tray": "pen_holder", "crate": "pen_holder"}
"""Category > one that stands in where something long is stood in it."""
ROUND = {"pen": "marker"}
"""Category > one that stands in where it is stood in something: round, so that fingers find hold all along it."""
HOLDER = {"radius": 0.024, "height": 0.1, "style": "round"}
"""Size of such a holder [m]: a narrow one, in which pens overlap much with it."""
WALLED = {"plate": ("tray", {"style": "plain", "length": 0.24, "width": 0.2, "height": 0.025})}
"""Category > one with a wall all around, and its size [m], that stands in where hands take it from straight above."""
SPRUNG = frozenset(("trash_can",))
"""Categories whose lid falls shut by itself."""
STAYS = {"joint_spring": 0.003, "joint_friction": 0.3}
"""Parameters of one that stays where it is put [N m/rad, N m]."""
OPENING = 0.048
"""Width of it [m]."""
ROOMY = 0.45
"""Largest fraction of the opening that a thing takes, so that two have room."""
SLENDER = 2.0
"""How much longer than wide an object is that can be stood in a holder as it is."""
LONG = 3.4
"""Least length of a thing, in widths of the opening: fingers hold its upper part, and it gets in to the bottom."""
SURE = 1.25
"""How much more overlap a thing should have within the height of its holder than the task asks for: it sticks out."""


def stood_in_holders(config: TaskConfig) -> dict[str, float]:
    """Return the objects that skills stand in others > overlap of the boxes that must be exceeded."""
    return {skill.objects[0]: skill.success_th for skill in _insertions(config)}


def fitting_stand_in(stand_in: StandIn, name: str, config: TaskConfig) -> StandIn:
    """Return what stands in for an object that is stood in another, holds others, or is taken at its rim.

    That is ``stand_in`` itself unless its shape forbids the deed.
    """
    insertions = _insertions(config)
    if stand_in.category in ROUND and any(skill.objects[0] == name for skill in insertions):
        return replace(stand_in, category=ROUND[stand_in.category])
    if stand_in.category in UPRIGHT and any(skill.objects[1] == name for skill in insertions):
        return replace(stand_in, category=UPRIGHT[stand_in.category], parameters=HOLDER)
    if stand_in.category in WALLED and name in _taken_in_attitude(config):
        category, size = WALLED[stand_in.category]
        return replace(stand_in, category=category, parameters=size)
    if stand_in.category in SPRUNG and any(o.name == name and _starts_open(o) for o in config.objects):
        return replace(stand_in, parameters={**stand_in.parameters, **STAYS})
    return stand_in


def fitting_a_holder(asset: ObjectAsset, axis: str, overlap: float) -> ObjectAsset:
    """Return an object that fits into a holder with an own axis up, and overlaps with it as a task asks.

    Args:
        asset: The object.
        axis: The own axis, ``x``, ``y`` or ``z``, that it is stood up by.
        overlap: Volume that the boxes of both have in common over that of both together, at least.
    """
    asset = make_object(asset.category, parameters={**asset.parameters, "long_axis": axis})
    upright = "xyz".index(axis)
    size = asset.extent.copy()
    across = np.delete(size, upright)
    wanted = np.maximum(across, OPENING * _thickness(overlap))
    if size[upright] < SLENDER * across.max():
        wanted = np.minimum(wanted, ROOMY * OPENING)
    size[upright] = max(size[upright], LONG * OPENING)
    factors = np.insert(wanted, upright, size[upright]) / asset.extent
    if np.all(factors == 1.0):
        return asset
    x, y, z = (np.array(asset.parameters.get("scale", 1.0)) * factors).tolist()
    return make_object(asset.category, parameters={**asset.parameters, "scale": (x, y, z)})


def _thickness(overlap: float) -> float:
    """Return how thick a thing is, in widths of its holder, that overlaps enough even if it stands quite upright."""
    return float(np.sqrt(SURE * overlap))


def _insertions(config: TaskConfig) -> list[PlaceConfig]:
    """Return the skills that stand an object in another: from above, by own axes, judged by overlap."""
    return [
        skill
        for _, skill in placed_skills(config)
        if isinstance(skill, PlaceConfig)
        and (skill.success_mode, skill.place_direction) == ("flower", "vertical")
        and skill.align_pick_obj_axis is not None
        and skill.align_pick_obj_axis == skill.align_place_obj_axis
    ]


def _taken_in_attitude(config: TaskConfig) -> set[str]:
    """Return the objects to which a hand goes in an attitude that the task gives."""
    picks = (skill for _, skill in placed_skills(config) if isinstance(skill, PickConfig))
    return {skill.objects[0] for skill in picks if skill.fixed_orientation is not None}


def _starts_open(entry: ObjectConfig) -> bool:
    """Return whether a joint of an entry stands open when an episode begins."""
    return entry.joint_position_range is not None and entry.joint_position_range[0] > 0.0


def as_wide_as(asset: ObjectAsset, width: float) -> ObjectAsset:
    """Return a vessel of a width [m], as high as it is."""
    factors = np.where(np.abs(asset.up) > 0.5, 1.0, width / float(asset.extent[np.abs(asset.up) < 0.5].min()))
    x, y, z = (np.array(asset.parameters.get("scale", 1.0)) * factors).tolist()
    return make_object(asset.category, parameters={**asset.parameters, "scale": (x, y, z)})


def within_a_hand(asset: ObjectAsset, width: float) -> ObjectAsset:
    """Return an object that is no wider than a width [m] where it lies flat, and as thick as it is."""
    flat = int(np.argmin(asset.extent))
    factor = min(1.0, width / float(np.sort(asset.extent)[1]))
    x, y, z = (np.array(asset.parameters.get("scale", 1.0)) * np.where(np.arange(3) == flat, 1.0, factor)).tolist()
    return asset if factor == 1.0 else make_object(asset.category, parameters={**asset.parameters, "scale": (x, y, z)})


def named_axis(config: TaskConfig, name: str) -> str | None:
    """Return the own axis of an object that a skill takes its ends or its attitude from; None if none does.

    Along it published assets are long: bottles, pens, brushes, flowers.
    """
    for _, skill in placed_skills(config):
        if not skill.objects or skill.objects[0] != name:
            continue
        window = getattr(skill, "constraints", None)
        if window is not None:
            return str(window[0])
        vector = getattr(skill, "align_pick_obj_axis", None) or getattr(skill, "align_obj_axis", None)
        if vector is not None:
            return "xyz"[int(np.argmax(np.abs(vector)))]
    return None

"""Stand-ins with shapes and sizes that allow a task to be done, and checked, as its file says.

A task's axes show that a pen or a toothbrush is stood in something, its overlap how tightly it must fit there, and its
hand orientation that a dish is grasped at its rim. The stand-ins for missing files must allow that.
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
"""Category > stand-in for objects in which something long is stood."""
ROUND = {"pen": "marker"}
"""Category > stand-in for objects stood in something: round, so that fingers can grasp it anywhere along its length."""
HOLDER = {"radius": 0.024, "height": 0.1, "style": "round"}
"""Size of such a holder [m]: a narrow one, in which pens overlap much with it."""
WALLED = {"plate": ("tray", {"style": "plain", "length": 0.24, "width": 0.2, "height": 0.025})}
"""Category > stand-in with a wall all around, and its size [m], for objects grasped from straight above."""
SPRUNG = frozenset(("trash_can",))
"""Categories whose lid falls shut by itself."""
STAYS = {"joint_spring": 0.003, "joint_friction": 0.3}
"""Parameters of a lid that stays where it is put [N m/rad, N m]."""
OPENING = 0.048
"""Width of it [m]."""
ROOMY = 0.45
"""Largest fraction of the opening for one object, so that two have room."""
SLENDER = 2.0
"""Minimum ratio of length to width of an object that can be stood in a holder unchanged."""
LONG = 3.4
"""Minimum length of an object, in widths of the opening, so that fingers hold its upper part when it is all the way
down."""
SURE = 1.25
"""Factor on the required overlap within the height of the holder, as the object sticks out."""


def stood_in_holders(config: TaskConfig) -> dict[str, float]:
    """Return the objects that skills stand in others > overlap of the boxes that must be exceeded."""
    return {skill.objects[0]: skill.success_th for skill in _insertions(config)}


def fitting_stand_in(stand_in: StandIn, name: str, config: TaskConfig) -> StandIn:
    """Return the stand-in for an object that is stood in another, holds others, or is grasped at its rim.

    That is ``stand_in`` itself unless its shape prevents the task.
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
    """Return an object that fits into a holder with one of its axes up, and overlaps with it as a task requires.

    Args:
        asset: The object.
        axis: The object's axis, ``x``, ``y`` or ``z``, that is up when it stands.
        overlap: Minimum ratio of the common volume of both boxes to their total volume.
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
    """Return the thickness of an object, in widths of its holder, that overlaps enough even if exactly upright."""
    return float(np.sqrt(SURE * overlap))


def _insertions(config: TaskConfig) -> list[PlaceConfig]:
    """Return the skills that stand an object in another: from above, by its own axes, checked by overlap."""
    return [
        skill
        for _, skill in placed_skills(config)
        if isinstance(skill, PlaceConfig)
        and (skill.success_mode, skill.place_direction) == ("flower", "vertical")
        and skill.align_pick_obj_axis is not None
        and skill.align_pick_obj_axis == skill.align_place_obj_axis
    ]


def _taken_in_attitude(config: TaskConfig) -> set[str]:
    """Return the objects that a hand grasps in an orientation given by the task."""
    picks = (skill for _, skill in placed_skills(config) if isinstance(skill, PickConfig))
    return {skill.objects[0] for skill in picks if skill.fixed_orientation is not None}


def _starts_open(entry: ObjectConfig) -> bool:
    """Return whether a joint of an entry is open when an episode begins."""
    return entry.joint_position_range is not None and entry.joint_position_range[0] > 0.0


def as_wide_as(asset: ObjectAsset, width: float) -> ObjectAsset:
    """Return a vessel scaled to a width [m] at the same height."""
    factors = np.where(np.abs(asset.up) > 0.5, 1.0, width / float(asset.extent[np.abs(asset.up) < 0.5].min()))
    x, y, z = (np.array(asset.parameters.get("scale", 1.0)) * factors).tolist()
    return make_object(asset.category, parameters={**asset.parameters, "scale": (x, y, z)})


def within_a_hand(asset: ObjectAsset, width: float) -> ObjectAsset:
    """Return an object no wider than a width [m] when lying flat, with the same thickness."""
    flat = int(np.argmin(asset.extent))
    factor = min(1.0, width / float(np.sort(asset.extent)[1]))
    x, y, z = (np.array(asset.parameters.get("scale", 1.0)) * np.where(np.arange(3) == flat, 1.0, factor)).tolist()
    return asset if factor == 1.0 else make_object(asset.category, parameters={**asset.parameters, "scale": (x, y, z)})


def named_axis(config: TaskConfig, name: str) -> str | None:
    """Return the axis of an object from which a skill derives its ends or its orientation; None if none does.

    It is the long axis of published assets: bottles, pens, brushes, flowers.
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

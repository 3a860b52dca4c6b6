"""Objects, fixtures and markers of an episode: asset, look, physics and where their joints start."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from handloom.errors import ConfigError
from handloom.objects import ObjectAsset
from handloom.objects.materials import SPOKEN, rgb
from handloom.scene.markers import marker_instance
from handloom.scene.object_config import ObjectConfig
from handloom.skills.configs.motions import TrackConfig
from handloom.spatial import quat_from_euler_deg, quat_normalize, random_quats
from handloom.tasks.config.task import Task
from handloom.tasks.sampling.assets import ChosenAsset, choose_asset, stands_as_table
from handloom.tasks.sampling.textures import sample_look
from handloom.values import ObjectInstance

PLANE_THICKNESS = 0.01
"""A sheet is a thin box [m]; its upper face is where the task says the plane is."""


def sample_props(task: Task, rng: np.random.Generator) -> tuple[ObjectInstance, ...]:
    """Choose an asset for every fixture and object, with its orientation; positions come later.

    Every entry draws from a generator of its own, so that editing one object does not change the others.
    """
    fixtures, objects = task.arena.fixtures, task.config.objects
    generators = rng.spawn(len(fixtures) + len(objects))
    props = [
        _sample(task, entry, f"{task.path}: arena: {entry.name}", child, fixture=True)
        for entry, child in zip(fixtures, generators, strict=False)
    ]
    props += [
        _sample(task, entry, task.where("objects", i), child, fixture=False)
        for (i, entry), child in zip(enumerate(objects), generators[len(fixtures) :], strict=True)
    ]
    return tuple(props)


def shown_by_regions(task: Task, props: Sequence[ObjectInstance]) -> tuple[ObjectInstance, ...]:
    """Return the objects as visible as their regions say, where they say it."""
    shown = {region.object: region.visible for region in task.config.regions if region.visible is not None}
    return tuple(replace(obj, visible=shown.get(obj.name, obj.visible)) for obj in props)


def _sample(task: Task, entry: ObjectConfig, where: str, rng: np.random.Generator, *, fixture: bool) -> ObjectInstance:
    if entry.target_class == "PlaneObject" or stands_as_table(task, entry):
        return _surface(task, entry, where, rng)
    chosen = choose_asset(task, entry, where, rng)
    asset, physics = chosen.asset, task.config.physics
    movable = entry.target_class in ("RigidObject", "ArticulatedObject") and not entry.fix_base and not fixture
    obj = ObjectInstance(
        name=entry.name,
        category=asset.category,
        parameters=dict(asset.parameters),
        position=entry.translation or (0.0, 0.0, 0.0),
        quat=_orientation(entry, chosen, rng),
        fixed=not movable,
        words=asset.name,
        joints=sample_joints(entry, chosen, where, rng),
        mass_scale=_mass_scale(entry, asset, where) * (float(rng.uniform(*physics.mass_scale)) if movable else 1.0),
        friction=float(rng.uniform(*physics.friction)) if movable and physics.friction else None,
        look=sample_look(task, entry, where, rng) if entry.texture or isinstance(entry.color, tuple) else {},
        visible=entry.visible,
        solid=entry.target_class != "XFormObject",
    )
    from_file = entry.path or not entry.category
    return _painted(obj, entry, asset.synonyms[0], rng) if from_file else obj


def _painted(obj: ObjectInstance, entry: ObjectConfig, noun: str, rng: np.random.Generator) -> ObjectInstance:
    """Return an object of a file, or its stand-in, in the colour whose word the entry gives, and called so."""
    word = str(rng.choice(entry.colors)) if entry.colors else entry.color
    if not isinstance(word, str) or entry.texture is not None:
        return obj
    return replace(obj, look={"color": list(rgb(word))}, words=f"{SPOKEN.get(word, word)} {noun}")


def _mass_scale(entry: ObjectConfig, asset: ObjectAsset, where: str) -> float:
    if entry.mass is None:
        return 1.0
    factor = entry.mass / asset.mass if asset.mass > 0 else 0.0
    if not 1e-3 <= factor <= 1e3:
        raise ConfigError(
            f"{where}: mass: {entry.mass:g} kg is not within a factor of 1000 of what a {asset.name} of this size "
            f"weighs, {asset.mass:.3g} kg"
        )
    return factor


def _surface(task: Task, entry: ObjectConfig, where: str, rng: np.random.Generator) -> ObjectInstance:
    # The scale of a file that is not there says nothing about the table that stands in for it.
    scale = (1.0, 1.0, 1.0) if entry.path else entry.scale
    size = tuple(length * factor for length, factor in zip(entry.size or (1.2, 0.8, 0.75), scale, strict=False))
    plane = entry.target_class == "PlaneObject"
    size = (*size[:2], PLANE_THICKNESS) if plane else size
    if len(size) != 3 or (not plane and size[2] < 0.05):
        raise ConfigError(
            f"{where}: a table has a size of three numbers [m], the height at least 0.05, got {list(size)}"
        )
    height = 0.0
    if not plane and task.config.table_height is not None:
        height = float(rng.uniform(*task.config.table_height)) - size[2]
        size = (size[0], size[1], size[2] + height)
    x, y, z = entry.translation or (0.0, 0.0, size[2] / 2)
    return ObjectInstance(
        name=entry.name,
        category="plane" if plane else "table",
        parameters={"size": [float(v) for v in size], **sample_look(task, entry, where, rng)},
        position=(x, y, z - PLANE_THICKNESS / 2 if plane and entry.euler is None else z + height / 2),
        quat=_orientation(entry, None, rng),
        fixed=True,
        words=entry.name,
        visible=entry.visible,
    )


def _orientation(
    entry: ObjectConfig, chosen: ChosenAsset | None, rng: np.random.Generator
) -> tuple[float, float, float, float]:
    """Return the orientation of an entry, wxyz, before a region turns it."""
    if chosen is not None and entry.orientation_mode == "suggested":
        choices = chosen.asset.stable_quats
        quat = choices[int(rng.integers(len(choices)))]
    elif chosen is not None and chosen.stands_in:
        # The angles of a file mean nothing for its stand-in, which may have another axis up.
        quat = chosen.asset.stable_quats[0]
    elif chosen is not None and entry.orientation_mode == "random":
        quat = random_quats(rng, 1)[0]
    elif entry.quaternion is not None:
        quat = quat_normalize(entry.quaternion)
    else:
        quat = quat_from_euler_deg(entry.euler or (0.0, 0.0, 0.0))
    w, x, y, z = (float(value) for value in quat)
    return w, x, y, z


def sample_joints(entry: ObjectConfig, chosen: ChosenAsset, where: str, rng: np.random.Generator) -> dict[str, float]:
    """Return the start value [m or rad] of every joint the entry speaks of, and of those tied to them.

    ``joint_position_range`` sets the main joint, ``strict_init`` any. A value beyond the joint's limits is a mistake,
    except for a stand-in, whose limits the author of the task could not know: there it is clipped.
    """
    asset = chosen.asset
    wanted: dict[int, tuple[str, float]] = {}
    if entry.joint_position_range is not None:
        wanted[0] = ("joint_position_range", float(rng.uniform(*entry.joint_position_range)))
    if entry.strict_init is not None:
        pairs = zip(entry.strict_init.joint_indices, entry.strict_init.joint_positions, strict=True)
        wanted |= {index: ("strict_init", value) for index, value in pairs}
    joints: dict[str, float] = {}
    for index, (key, value) in wanted.items():
        if index >= len(asset.joints):
            if chosen.stands_in:
                continue
            has = f"{len(asset.joints)} joint(s)" if asset.joints else "no joints"
            raise ConfigError(f"{where}: {key}: a {asset.name} has {has}, there is no joint {index}")
        joints |= _with_tied(asset, index, _within(asset, index, value, f"{where}: {key}", clip=chosen.stands_in))
    return joints


def _within(asset: ObjectAsset, index: int, value: float, where: str, *, clip: bool) -> float:
    link = asset.joints[index]
    low, high = link.range
    if not clip and not low - 1e-6 <= value <= high + 1e-6:
        raise ConfigError(f"{where}: {link.joint} of a {asset.name} goes from {low:.4g} to {high:.4g}, got {value:.4g}")
    return float(np.clip(value, low, high))


def _with_tied(asset: ObjectAsset, index: int, value: float) -> dict[str, float]:
    """Return the joint's value and those of the joints that move it or that it moves."""
    link = asset.joints[index]
    joints = {link.joint: value}
    for other in asset.joints:
        if link.drives == other.name:
            joints[other.joint] = value * link.ratio
        elif other.drives == link.name and other.ratio:
            joints[other.joint] = value / other.ratio
    return joints


def sample_markers(task: Task) -> tuple[ObjectInstance, ...]:
    """Return one hidden marker for every arm that tracks targets."""
    arms = {
        (robot, arm): None
        for stage in task.config.skills
        for robot, blocks in stage.items()
        for block in blocks
        for arm, skills in block.items()
        if any(isinstance(skill, TrackConfig) for skill in skills)
    }
    return tuple(marker_instance(robot, arm) for robot, arm in arms)

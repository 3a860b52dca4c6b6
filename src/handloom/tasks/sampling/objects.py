"""Objects, fixtures and markers of an episode: asset, look, physics and start of their joints."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from handloom.arrays import Array
from handloom.errors import ConfigError
from handloom.objects import ObjectAsset
from handloom.objects.materials import SPOKEN, rgb
from handloom.scene.markers import marker_instance
from handloom.scene.object_config import ObjectConfig
from handloom.skills.configs.motions import TrackConfig
from handloom.skills.configs.places import MoveConfig
from handloom.spatial import (
    quat_conjugate,
    quat_from_euler_deg,
    quat_from_rotvec,
    quat_multiply,
    quat_normalize,
    quat_rotate,
    random_quats,
)
from handloom.tasks.config.task import Task
from handloom.tasks.config.task_config import placed_skills
from handloom.tasks.sampling.assets import (
    ChosenAsset,
    choose_asset,
    in_containers,
    stands_as_floor,
    stands_as_table,
    supports,
)
from handloom.tasks.sampling.layouts.settling_world import poses_that_stay
from handloom.tasks.sampling.textures import sample_look
from handloom.values import ROLLING_RESISTANCE, ObjectInstance

PUBLISHED_TABLE = (1500.0, 900.0, 710.0)
"""Size of the stand-in for the missing published table, in the units of its file [mm]. Its height
is that of the published arenas; published regions reach 0.7 m to the sides and 0.4 m back."""
ROOM = (6.0, 6.0)
"""Size of the floor that stands in for a room [m]."""
UPSIDE_DOWN = -0.5
"""Vertical component of an object's up vector below which it is upside down."""
LEANING = 0.94
"""A stand-in takes the rest pose nearest to the angles in the task if their up vectors agree by this cosine, 20
degrees; otherwise it stands upright."""
PLANE_THICKNESS = 0.01
"""A sheet is a thin box [m]; its upper face is at the plane's height in the task."""


def sample_props(task: Task, rng: np.random.Generator) -> tuple[ObjectInstance, ...]:
    """Choose an asset for every fixture and object, with its orientation; positions follow later.

    Every entry has its own random generator, so that editing one object does not change the others.
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


def only_seen(task: Task, props: Sequence[ObjectInstance]) -> tuple[ObjectInstance, ...]:
    """Return the objects, with those that a skill lets disappear fixed in place and without collisions."""
    names = {skill.vanishing for _, skill in placed_skills(task.config) if isinstance(skill, MoveConfig)}
    return tuple(replace(obj, fixed=True, solid=False) if obj.name in names else obj for obj in props)


def _sample(task: Task, entry: ObjectConfig, where: str, rng: np.random.Generator, *, fixture: bool) -> ObjectInstance:
    if entry.target_class == "PlaneObject" or stands_as_table(task, entry):
        return _surface(task, entry, where, rng)
    if fixture and stands_as_floor(task, entry):
        floor = {"target_class": "PlaneObject", "path": "", "size": ROOM, "scale": (1.0, 1.0, 1.0), "euler": None}
        return _surface(task, entry.model_copy(update=floor), where, rng)
    chosen = choose_asset(task, entry, where, rng)
    asset, physics = chosen.asset, task.config.physics
    movable = entry.target_class in ("RigidObject", "ArticulatedObject") and not entry.fix_base and not fixture
    obj = ObjectInstance(
        name=entry.name,
        category=asset.category,
        parameters=dict(asset.parameters),
        position=_standing(entry, asset) if chosen.stands_in and fixture else entry.translation or (0.0, 0.0, 0.0),
        quat=_orientation(entry, chosen, rng, upright=entry.name in supports(task) | in_containers(task.config)),
        fixed=not movable,
        words=asset.name,
        joints=sample_joints(entry, chosen, where, rng),
        mass_scale=_mass_scale(entry, asset, where) * (float(rng.uniform(*physics.mass_scale)) if movable else 1.0),
        friction=float(rng.uniform(*physics.friction)) if movable and physics.friction else None,
        rolling_resistance=ROLLING_RESISTANCE if movable and entry.rolling_velocity is None else None,
        look=sample_look(task, entry, where, rng) if entry.texture or isinstance(entry.color, tuple) else {},
        visible=entry.visible,
        solid=entry.target_class != "XFormObject",
        running=entry.running,
        rolling=_rolling(entry, rng),
        points=dict(entry.points),
        axes={name: _unit(way) for name, way in entry.axes.items()},
    )
    from_file = entry.path or not entry.category
    return _painted(obj, entry, asset.synonyms[0], rng) if from_file else obj


def _unit(way: tuple[float, float, float]) -> tuple[float, float, float]:
    x, y, z = (np.asarray(way) / np.linalg.norm(way)).tolist()
    return x, y, z


def _rolling(entry: ObjectConfig, rng: np.random.Generator) -> tuple[float, float, float]:
    """Return the velocity [m/s] at which an object rolls at the start."""
    if entry.rolling_velocity is None:
        return (0.0, 0.0, 0.0)
    x, y = (float(rng.uniform(low, high)) for low, high in entry.rolling_velocity)
    return (x, y, 0.0)


def _painted(obj: ObjectInstance, entry: ObjectConfig, noun: str, rng: np.random.Generator) -> ObjectInstance:
    """Return an object of a file, or its stand-in, in the colour named by the entry, with that word in its name."""
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
    # Published tables are files in millimetres; the scale of other files does not apply to the stand-in table.
    published = bool(entry.path) and max(entry.scale) < 0.01
    whole = PUBLISHED_TABLE if published else entry.size or (1.2, 0.8, 0.75)
    scale = entry.scale if published or not entry.path else (1.0, 1.0, 1.0)
    size = tuple(length * factor for length, factor in zip(whole, scale, strict=False))
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


def _standing(entry: ObjectConfig, asset: ObjectAsset) -> tuple[float, float, float]:
    """Return the place of a library fixture that stands in for a file: on the floor, whatever the file's origin."""
    x, y, _ = entry.translation or (0.0, 0.0, 0.0)
    return x, y, float(asset.rest_poses.heights[0])


def _at_rest_nearest(quat: Array, asset: ObjectAsset, *, upright: bool) -> Array:
    """Return the rest pose of an asset nearest to an orientation wxyz, with the same rotation about the vertical."""
    poses = asset.stable_quats[list(poses_that_stay(asset))]
    ups = quat_rotate(quat_conjugate(poses), [0.0, 0.0, 1.0])
    agree = ups @ quat_rotate(quat_conjugate(quat), [0.0, 0.0, 1.0])
    rest = poses[0] if upright or agree.max() < LEANING else poses[int(np.argmax(agree))]
    w, _, _, z = quat_multiply(quat, quat_conjugate(rest))
    return quat_multiply(quat_from_rotvec([0.0, 0.0, 2.0 * np.arctan2(z, w)]), rest)


def _poses_in_use(asset: ObjectAsset) -> list[int]:
    """Return the rest poses in which a stand-in may lie: not upside down, and upright if it holds something."""
    stays = poses_that_stay(asset)
    if asset.holds:
        return list(stays[:1])
    ups = quat_rotate(asset.stable_quats[list(stays)], asset.up)[:, 2]
    return [pose for pose, up in zip(stays, ups.tolist(), strict=True) if up > UPSIDE_DOWN] or list(stays)


def _lying(asset: ObjectAsset, rng: np.random.Generator) -> Array:
    """Return a random rest pose of an object with a random rotation; dropped at random, round objects would roll."""
    stays = poses_that_stay(asset)
    quat = asset.stable_quats[stays[int(rng.integers(len(stays)))]]
    return quat_multiply(quat_from_rotvec([0.0, 0.0, rng.uniform(-np.pi, np.pi)]), quat)


def _orientation(
    entry: ObjectConfig, chosen: ChosenAsset | None, rng: np.random.Generator, *, upright: bool = False
) -> tuple[float, float, float, float]:
    """Return the orientation of an entry, wxyz, before a region rotates it; ``upright`` applies to stand-ins."""
    if chosen is not None and entry.orientation_mode == "suggested" and not (upright and chosen.stands_in):
        choices = chosen.asset.stable_quats
        if chosen.stands_in:
            choices = choices[_poses_in_use(chosen.asset)]
        quat = choices[int(rng.integers(len(choices)))]
    elif chosen is not None and chosen.stands_in and (upright or entry.orientation_mode != "random"):
        # The task's angles, if the stand-in comes to rest in that orientation.
        given = quat_from_euler_deg(entry.euler or (0.0, 0.0, 0.0)) if entry.quaternion is None else entry.quaternion
        quat = _at_rest_nearest(quat_normalize(given), chosen.asset, upright=upright)
    elif chosen is not None and entry.orientation_mode == "random":
        quat = _lying(chosen.asset, rng) if chosen.stands_in else random_quats(rng, 1)[0]
    elif entry.quaternion is not None:
        quat = quat_normalize(entry.quaternion)
    else:
        quat = quat_from_euler_deg(entry.euler or (0.0, 0.0, 0.0))
    w, x, y, z = (float(value) for value in quat)
    return w, x, y, z


def sample_joints(entry: ObjectConfig, chosen: ChosenAsset, where: str, rng: np.random.Generator) -> dict[str, float]:
    """Return the start value [m or rad] of every joint that the entry sets, and of the joints coupled to them.

    ``joint_position_range`` sets the main joint, ``strict_init`` any. A value beyond the joint's limits is a mistake;
    for a stand-in, whose limits the task's author could not know, it is clipped.
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
    """Return the joint's value and those of the joints coupled to it."""
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
        (str(keys[2]), str(keys[4])): None
        for keys, skill in placed_skills(task.config)
        if isinstance(skill, TrackConfig)
    }
    return tuple(marker_instance(robot, arm) for robot, arm in arms)

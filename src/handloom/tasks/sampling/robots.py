"""Robots at their start: their model, place, joint positions, and the space they occupy."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from json import dumps, loads
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from handloom.arrays import Array
from handloom.errors import ConfigError, unknown_name
from handloom.robots import RobotDescription, published_robot, robot_names
from handloom.scene.assets import asset_of, robot_description
from handloom.scene.build import HIDDEN_GROUP, add_object, add_robot, empty_spec, set_joints
from handloom.scene.measures import geom_box
from handloom.scene.regions import Placed
from handloom.sim import World
from handloom.skills.configs import drives_base
from handloom.spatial import matrix_from_quat, quat_from_euler_deg, quat_multiply, quat_normalize
from handloom.tasks.config.task import Task
from handloom.tasks.config.task_config import RobotEntry, placed_skills
from handloom.tasks.sampling.layouts.settling_world import STEP, NoPlaceError
from handloom.values import ObjectInstance, RobotInstance

MAX_PENETRATION = 0.0005
"""Deepest overlap of an object and a robot [m]."""


@dataclass(frozen=True)
class RobotSource:
    """Source of the description of a task's robot."""

    robot: str
    """Robot of the zoo, or the path of a robot folder or file."""
    overrides: Mapping[str, Any]
    """Keys of ``robot.yaml`` that are replaced."""
    stand_in: str = ""
    """Stand-in for a missing file; empty if there is none."""


def robot_source(task: Task, entry: RobotEntry) -> RobotSource:
    """Return the source of a task robot's description.

    A published file without a model maps to the robot of the zoo of its class, with the keys that differ; if the file
    is missing, the robot of the zoo of the same name stands in.
    """
    known = task.robot_sources.get(entry.name)
    if known is None or known[0] is not entry:  # A variant of the task has its own entries.
        known = task.robot_sources[entry.name] = (entry, _found_source(task, entry))
    return known[1]


def _found_source(task: Task, entry: RobotEntry) -> RobotSource:
    source = _described_in(task, entry)
    whole_body = task.config.whole_body
    if whole_body is None:
        whole_body = Path(entry.robot_config_file).suffix in {".yaml", ".yml"} and source.robot in robot_names()
    if not whole_body or "base" in source.overrides:
        return source
    drive = robot_description(source.robot, source.overrides).config.drive
    if drive is None or drive.kind != "planar":
        return source
    return replace(source, overrides={**source.overrides, "base": "reaching"})


def _described_in(task: Task, entry: RobotEntry) -> RobotSource:
    given, overrides = entry.robot_config_file, _with_base(task, entry)
    if given in robot_names():
        return RobotSource(given, overrides)
    what = task.where("robots", task.config.robots.index(entry), "robot_config_file")
    try:
        file = task.find(given, what=what)
    except ConfigError as error:
        stem = Path(given).stem
        if stem in robot_names():
            return RobotSource(stem, overrides, f"{what}: {given} is missing; our {stem} stands in")
        if "/" in given or Path(given).suffix:
            raise
        raise ConfigError(f"{what}: {unknown_name('robot', given, robot_names())}") from error
    found = published_robot(file, task.asset_folders) if file.is_file() else None
    return RobotSource(str(file), overrides) if found is None else RobotSource(found[0], {**found[1], **overrides})


def _with_base(task: Task, entry: RobotEntry) -> dict[str, Any]:
    """Return the keys that a task replaces; a base driven by a skill is drivable without a key."""
    driven = any(keys[2] == entry.name and drives_base(s) for keys, s in placed_skills(task.config))
    return {"base": "drivable", **entry.overrides} if driven else entry.overrides


def drives(task: Task, entry: RobotEntry) -> bool:
    """Return whether a task's robot has a base that skills can drive."""
    source = robot_source(task, entry)
    drive = robot_description(source.robot, {**source.overrides, "base": "held"}).config.drive
    return drive is not None and drive.kind == "planar"


def described(task: Task, entry: RobotEntry) -> RobotDescription:
    """Return the description of a task's robot."""
    source = robot_source(task, entry)
    return robot_description(source.robot, source.overrides)


def sample_robots(task: Task, rng: np.random.Generator) -> tuple[RobotInstance, ...]:
    """Return every robot at its home position with the noise that the task sets."""
    entries = task.config.robots
    return tuple(_sample(task, entry, child) for entry, child in zip(entries, rng.spawn(len(entries)), strict=True))


def body_pose(robot: RobotInstance, body: str) -> tuple[Array, Array]:
    """Return position (3,) [m] and orientation wxyz of a body of a robot posed as in the instance."""
    description = robot_description(robot.robot, robot.overrides)
    model, data = posed_robot(robot)
    index = model.body(description.resolve_body(body)).id
    position = matrix_from_quat(np.array(robot.quat)) @ data.xpos[index] + robot.position
    return position, quat_multiply(np.array(robot.quat), data.xquat[index])


def posed_robot(robot: RobotInstance) -> tuple[mujoco.MjModel, mujoco.MjData]:
    """Return a robot's own model and its kinematics at the start joints, with its origin at the world's."""
    model = robot_description(robot.robot, robot.overrides).model
    data = mujoco.MjData(model)
    for name, value in robot.joints.items():
        data.qpos[model.jnt_qposadr[model.joint(name).id]] = value
    mujoco.mj_kinematics(model, data)
    return model, data


def _sample(task: Task, entry: RobotEntry, rng: np.random.Generator) -> RobotInstance:
    source = robot_source(task, entry)
    robot = robot_description(source.robot, source.overrides)
    quat = quat_normalize(entry.quaternion) if entry.quaternion else quat_from_euler_deg(entry.euler or (0.0, 0.0, 0.0))
    w, x, y, z = (float(value) for value in quat)
    joints = _noisy_home(robot, rng)
    grains = ("fluid",) if task.config.fluid is not None else ()
    return RobotInstance(
        name=entry.name,
        robot=source.robot,
        position=entry.translation,
        quat=(w, x, y, z),
        joints=joints,
        overrides=dict(source.overrides),
        ignore_obstacles=(*entry.ignore_substring, *grains),
        gain_scale=float(rng.uniform(*task.config.physics.gain_scale)),
    )


def _noisy_home(robot: RobotDescription, rng: np.random.Generator) -> dict[str, float]:
    """Return the home position with normal noise on the arm joints, kept inside their limits."""
    model = robot.model
    joints = dict(robot.home)
    for arm in robot.arms:
        noisy = arm.home + arm.home_std * rng.standard_normal(len(arm.home))
        for name, value in zip(arm.joint_names, noisy, strict=True):
            joint = model.joint(name)
            low, high = joint.range if model.jnt_limited[joint.id] else (-np.inf, np.inf)
            joints[name] = float(np.clip(value, low, high))
    return {robot.resolve_joint(name): float(value) for name, value in joints.items()}


def lowest_point(robot: RobotInstance) -> float:
    """Return the height of a robot's lowest visible part above its origin [m] at the start; negative if below."""
    return _lowest_point(robot.robot, dumps(robot.overrides, sort_keys=True), tuple(sorted(robot.joints.items())))


@lru_cache(maxsize=256)
def _lowest_point(robot: str, overrides: str, joints: tuple[tuple[str, float], ...]) -> float:
    instance = RobotInstance(
        name="", robot=robot, position=(0, 0, 0), quat=(1, 0, 0, 0), joints=dict(joints), overrides=loads(overrides)
    )
    model, data = posed_robot(instance)
    seen = [geom for geom in range(model.ngeom) if model.geom_group[geom] < HIDDEN_GROUP] or range(model.ngeom)
    return min(float(geom_box(model, data, geom)[0, 2]) for geom in seen)


def robot_boxes(robot: RobotInstance) -> list[Array]:
    """Return the world box (2, 3) [m] around every solid part of a robot at the start."""
    model, data = posed_robot(robot)
    rotation = matrix_from_quat(np.array(robot.quat))
    boxes: list[Array] = []
    for g in range(model.ngeom):
        if not (model.geom_contype[g] or model.geom_conaffinity[g]):
            continue
        turn = rotation @ data.geom_xmat[g].reshape(3, 3)
        centre = rotation @ data.geom_xpos[g] + robot.position + turn @ model.geom_aabb[g, :3]
        reach = np.abs(turn) @ model.geom_aabb[g, 3:]
        boxes.append(np.stack([centre - reach, centre + reach]))
    return boxes


def in_boxes(place: Placed, boxes: Sequence[Array], room: float = 0.0) -> bool:
    """Return whether something comes closer than ``room`` [m] to one of the boxes."""
    (low, high), others = place.box, np.reshape(np.array(boxes), (-1, 2, 3))
    return bool(np.any(np.all((low - room < others[:, 1]) & (high + room > others[:, 0]), axis=1)))


def refuse_robot_overlaps(
    robots: Sequence[RobotInstance], suspects: Sequence[ObjectInstance], neglected: Sequence[str]
) -> None:
    """Raise if an object penetrates a robot.

    Args:
        robots: The robots at their start.
        suspects: Objects whose boxes come close to a robot's; the exact test takes a few milliseconds.
        neglected: Objects whose name contains one of these pass through robots.

    Raises:
        NoPlaceError: Names the object.
    """
    solid = [o for o in suspects if o.solid and not any(part in o.name for part in neglected)]
    if not solid:
        return
    descriptions = {robot.name: robot_description(robot.robot, robot.overrides) for robot in robots}
    spec = empty_spec(STEP, descriptions.values())
    for obj in solid:
        add_object(spec, obj, asset_of(obj), free=True)
    for robot in robots:
        add_robot(spec, robot, descriptions[robot.name])
    world = World.from_spec(spec)
    for robot in robots:
        set_joints(world, robot.name, robot.joints)
    world.forward()
    names, bodies = {o.name for o in solid}, {robot.name for robot in robots}
    for contact in world.contacts():
        pair = {contact.body_a.partition("/")[0], contact.body_b.partition("/")[0]}
        if contact.distance < -MAX_PENETRATION and pair & names and pair & bodies:
            raise NoPlaceError(next(iter(pair & names)), f"was inside the robot {next(iter(pair & bodies))}")

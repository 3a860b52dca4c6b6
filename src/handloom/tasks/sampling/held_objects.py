"""Objects that start at a robot's hand, or at another object."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from handloom.errors import ConfigError
from handloom.scene.assets import asset_of, robot_description
from handloom.scene.build import add_object, add_robot, empty_spec, set_joints
from handloom.scene.object_config import ObjectConfig
from handloom.sim import World
from handloom.spatial import quat_normalize
from handloom.tasks.config.task import Task
from handloom.tasks.sampling.robots import body_pose
from handloom.tasks.sampling.settling_world import STEP
from handloom.values import ObjectInstance, RobotInstance

GRIP_SECONDS = 0.3
"""How long a gripper has to close on what it holds at the start."""


def hold_objects(
    task: Task, held: Sequence[ObjectInstance], objects: tuple[ObjectInstance, ...], robots: tuple[RobotInstance, ...]
) -> tuple[tuple[ObjectInstance, ...], tuple[RobotInstance, ...]]:
    """Put every object with an ``init_parent`` at its place and let grippers that start closed close on it.

    The object is kept where it is while the robot holds its start position; the gripper's joints then start where the
    object stopped them. As in the reference system the offset is in the world's axes.

    Args:
        task: The task.
        held: Objects with an ``init_parent``.
        objects: All others, at rest.
        robots: The robots.
    """
    if not held:
        return objects, robots
    entries = {entry.name: (i, entry) for i, entry in enumerate(task.config.objects)}
    placed = tuple(_at_parent(task, *entries[obj.name], obj, objects, robots) for obj in held)
    carriers = {(entries[obj.name][1].init_parent or "").strip("/").partition("/")[0] for obj in held}
    return (*objects, *placed), tuple(_gripping(r, placed) if r.name in carriers else r for r in robots)


def _at_parent(
    task: Task,
    index: int,
    entry: ObjectConfig,
    obj: ObjectInstance,
    objects: Sequence[ObjectInstance],
    robots: Sequence[RobotInstance],
) -> ObjectInstance:
    first, _, rest = (entry.init_parent or "").strip("/").partition("/")
    robot = next((r for r in robots if r.name == first), None)
    other = next((o for o in objects if o.name == first), None)
    if robot is not None:
        try:
            origin, _ = body_pose(robot, rest or robot_description(robot.robot, robot.overrides).arms[0].tool_body)
        except ConfigError as error:
            raise ConfigError(f"{task.where('objects', index, 'init_parent')}: {error}") from error
    elif other is not None:
        origin = np.array(other.position)
    else:
        known = ", ".join([*(r.name for r in robots), *(o.name for o in objects)])
        where = task.where("objects", index, "init_parent")
        raise ConfigError(f"{where}: {entry.init_parent!r} starts with no robot or object: {known}")
    x, y, z = (origin + np.array(entry.init_translation or (0.0, 0.0, 0.0))).tolist()
    w, i, j, k = quat_normalize(entry.init_orientation or obj.quat).tolist()
    return replace(obj, position=(x, y, z), quat=(w, i, j, k))


def _gripping(robot: RobotInstance, held: Sequence[ObjectInstance]) -> RobotInstance:
    """Return the robot with its gripper joints where the objects stop them."""
    description = robot_description(robot.robot, robot.overrides)
    spec = empty_spec(STEP, [description])
    for obj in held:
        add_object(spec, obj, asset_of(obj))
    add_robot(spec, robot, description)
    world = World.from_spec(spec)
    set_joints(world, robot.name, robot.joints)
    world.forward()
    grippers = [name for arm in description.arms for name in arm.gripper_joint_names if name in robot.joints]
    places = [(world.qpos_index(f"{o.name}/free"), world.dof_index(f"{o.name}/free"), o) for o in held if not o.fixed]
    for _ in range(round(GRIP_SECONDS / STEP)):
        world.step(1)
        for address, dof, obj in places:
            world.data.qpos[address : address + 7] = (*obj.position, *obj.quat)
            world.data.qvel[dof : dof + 6] = 0.0
    stopped = {name: float(world.data.qpos[world.qpos_index(f"{robot.name}/{name}")]) for name in grippers}
    return replace(robot, joints={**robot.joints, **stopped})

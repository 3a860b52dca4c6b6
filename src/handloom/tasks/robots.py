"""How each robot starts: which one, where, and with which joint positions."""

from pathlib import Path

import mujoco
import numpy as np

from handloom.arrays import Array
from handloom.robots import RobotDescription, robot_names
from handloom.scene.descriptions import robot_description
from handloom.spatial import matrix_from_quat, quat_from_euler_deg, quat_multiply, quat_normalize
from handloom.tasks.robot_entry import RobotEntry
from handloom.tasks.task import Task
from handloom.values import RobotInstance


def robot_source(task: Task, entry: RobotEntry) -> str:
    """Return the zoo name or the path of a task's robot.

    A published config path that does not exist here stands for the zoo robot of the same name, as in
    ``workflows/.../robots/fr3.yaml``.
    """
    given = entry.robot_config_file
    if given in robot_names():
        return given
    stem = Path(given).stem
    if stem in robot_names() and not (task.path.parent / given).exists():
        return stem
    what = task.where("robots", task.config.robots.index(entry), "robot_config_file")
    return str(task.find(given, what=what))


def sample_robots(task: Task, rng: np.random.Generator) -> tuple[RobotInstance, ...]:
    """Return every robot at its home position with the noise the task asks for."""
    entries = task.config.robots
    return tuple(_sample(task, entry, child) for entry, child in zip(entries, rng.spawn(len(entries)), strict=True))


def body_pose(robot: RobotInstance, body: str) -> tuple[Array, Array]:
    """Return position (3,) [m] and orientation wxyz of a body of a robot that stands as the instance says."""
    description = robot_description(robot.robot, robot.overrides)
    model, data = posed_robot(robot)
    index = model.body(description.resolve_body(body)).id
    position = matrix_from_quat(np.array(robot.quat)) @ data.xpos[index] + robot.position
    return position, quat_multiply(np.array(robot.quat), data.xquat[index])


def posed_robot(robot: RobotInstance) -> tuple[mujoco.MjModel, mujoco.MjData]:
    """Return a robot's own model and its kinematics at the start joints, its origin at the world's."""
    model = robot_description(robot.robot, robot.overrides).model
    data = mujoco.MjData(model)
    for name, value in robot.joints.items():
        data.qpos[model.jnt_qposadr[model.joint(name).id]] = value
    mujoco.mj_kinematics(model, data)
    return model, data


def _sample(task: Task, entry: RobotEntry, rng: np.random.Generator) -> RobotInstance:
    source = robot_source(task, entry)
    robot = robot_description(source, entry.overrides)
    quat = quat_normalize(entry.quaternion) if entry.quaternion else quat_from_euler_deg(entry.euler or (0.0, 0.0, 0.0))
    w, x, y, z = (float(value) for value in quat)
    joints = _noisy_home(robot, rng)
    grains = ("fluid",) if task.config.fluid is not None else ()
    return RobotInstance(
        name=entry.name,
        robot=source,
        position=entry.translation,
        quat=(w, x, y, z),
        joints=joints,
        overrides=dict(entry.overrides),
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

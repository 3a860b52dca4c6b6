"""How each robot starts: which one, where, and with which joint positions."""

from pathlib import Path

import numpy as np

from handloom.config import find_file
from handloom.robots import RobotDescription, load_robot, robot_names
from handloom.spatial import quat_from_euler_deg, quat_normalize
from handloom.tasks.loading import Task
from handloom.tasks.robot_entry import RobotEntry
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
    root = Path(task.config.asset_root) if task.config.asset_root else None
    if stem in robot_names() and not (task.path.parent / given).exists():
        return stem
    return str(find_file(given, near=task.path.parent, asset_root=root, what=f"{task.path}: robots: {entry.name}"))


def sample_robots(task: Task, rng: np.random.Generator) -> tuple[RobotInstance, ...]:
    """Return every robot at its home position with the noise the task asks for."""
    entries = task.config.robots
    return tuple(_sample(task, entry, child) for entry, child in zip(entries, rng.spawn(len(entries)), strict=True))


def _sample(task: Task, entry: RobotEntry, rng: np.random.Generator) -> RobotInstance:
    source = robot_source(task, entry)
    robot = load_robot(source, overrides=entry.overrides)
    quat = quat_normalize(entry.quaternion) if entry.quaternion else quat_from_euler_deg(entry.euler or (0.0, 0.0, 0.0))
    w, x, y, z = (float(value) for value in quat)
    return RobotInstance(
        name=entry.name,
        robot=source,
        position=entry.translation,
        quat=(w, x, y, z),
        joints=_noisy_home(robot, rng),
        overrides=dict(entry.overrides),
        ignore_obstacles=entry.ignore_substring,
    )


def _noisy_home(robot: RobotDescription, rng: np.random.Generator) -> dict[str, float]:
    """Return the home position with normal noise on the arm joints, kept inside their limits."""
    model = robot.compile()
    joints = dict(robot.home)
    for arm in robot.arms:
        noisy = arm.home + arm.home_std * rng.standard_normal(len(arm.home))
        for name, value in zip(arm.joint_names, noisy, strict=True):
            joint = model.joint(name)
            low, high = joint.range if model.jnt_limited[joint.id] else (-np.inf, np.inf)
            joints[name] = float(np.clip(value, low, high))
    return {robot.resolve_joint(name): float(value) for name, value in joints.items()}

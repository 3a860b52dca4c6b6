"""Description files for the built-in robots, generated on first use, under the names of the published loaders."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from handloom.cache import user_cache
from handloom.errors import NotFoundError
from handloom.isaac.motion_generation.descriptions.describe_robot import write_description
from handloom.isaac.motion_generation.published_log import fail
from handloom.robots import RobotDescription, load_robot, robot_names
from handloom.safe_paths import safe_name

SUBSTEP = 0.00334
"""Integration step of the policies [s]: five per frame at 60 Hz."""
POLICY, PLANNER = "RMPflow", "RRT"
LIMIT_BUFFER = 0.01
"""Margin by which policies shrink the range of each joint [rad or m]."""


def get_supported_robots_with_lula_kinematics() -> list[str]:
    """Return the names of the robots that have arms."""
    return [name for name in robot_names() if load_robot(name).arms]


def get_supported_robot_policy_pairs() -> dict[str, list[str]]:
    """Return the policies of each robot."""
    return {name: [POLICY] for name in get_supported_robots_with_lula_kinematics()}


def get_supported_robot_path_planner_pairs() -> dict[str, list[str]]:
    """Return the planners of each robot."""
    return {name: [PLANNER] for name in get_supported_robots_with_lula_kinematics()}


def load_supported_lula_kinematics_solver_config(robot_name: str) -> dict[str, Path] | None:
    """Return the arguments of ``LulaKinematicsSolver``; None, with an error in the log, for an unknown robot."""
    robot = _robot(robot_name)
    return None if robot is None else dict(zip(("robot_description_path", "urdf_path"), _files(robot), strict=True))


def load_supported_motion_policy_config(robot_name: str, policy_name: str = POLICY) -> dict[str, Any] | None:
    """Return the arguments of ``RmpFlow``; None, with an error in the log, for an unknown robot or policy."""
    robot = _robot(robot_name)
    if robot is None or policy_name != POLICY:
        return fail(f"robot {robot_name!r} has no policy {policy_name!r}; use {POLICY!r}") if robot else None
    description, urdf = _files(robot)
    config = description.with_name("rmpflow.yaml")
    joints = sum(len(arm.joint_names) for arm in robot.arms)
    config.write_text(
        f"# The published parameters of an arm of this size.\njoint_limit_buffers: {[LIMIT_BUFFER] * joints}\n",
        encoding="utf-8",
    )
    return {
        "robot_description_path": description,
        "urdf_path": urdf,
        "rmpflow_config_path": config,
        "end_effector_frame_name": robot.arms[0].tool_body,
        "maximum_substep_size": SUBSTEP,
        "ignore_robot_state_updates": False,
    }


def robot_like(model: mujoco.MjModel, names: Sequence[str]) -> str | None:
    """Return the built-in robot whose first arm's joints are among these, arranged identically, or None.

    Args:
        model: Model with the joints, possibly under longer names.
        names: Names of the joints.
    """
    candidates = []
    for name in robot_names():
        config = load_robot(name).config
        arm = config.left_joint_names
        if arm and set(arm) <= set(names) and _placed_alike(model, load_robot(name).compile(), arm):
            candidates.append((len(set(config.dof_names) ^ set(names)), name))
    return min(candidates)[1] if candidates else None


def _placed_alike(model: mujoco.MjModel, known: mujoco.MjModel, joints: Sequence[str]) -> bool:
    """Return whether joints have the same axes and relative positions from one to the next; bases may differ."""
    full = [model.joint(j).name for j in range(model.njnt)]
    for k, name in enumerate(joints):
        here = model.joint(next((other for other in full if other == name or other.endswith(f"/{name}")), name))
        there = known.joint(name)
        if not np.allclose(here.axis, there.axis, atol=1e-4):
            return False
        places = (model.body_pos[here.bodyid[0]], known.body_pos[there.bodyid[0]])
        if k > 0 and not np.allclose(*places, atol=1e-3):
            return False
    return True


def load_supported_path_planner_config(robot_name: str, planner_name: str = PLANNER) -> dict[str, Any] | None:
    """Return the arguments of ``RRT``; None, with an error in the log, for an unknown robot or planner."""
    robot = _robot(robot_name)
    if robot is None or planner_name != PLANNER:
        return fail(f"robot {robot_name!r} has no planner {planner_name!r}; use {PLANNER!r}") if robot else None
    description, urdf = _files(robot)
    config = description.with_name("rrt.yaml")
    config.write_text("seed: 123456\nmax_iterations: 8000\n", encoding="utf-8")
    return {
        "robot_description_path": description,
        "urdf_path": urdf,
        "rrt_config_path": config,
        "end_effector_frame_name": robot.arms[0].tool_body,
    }


def _robot(name: str) -> RobotDescription | None:
    try:
        robot = load_robot(name)
    except NotFoundError as error:
        return fail(str(error))
    return robot if robot.arms else fail(f"robot {name!r} has no arm")


def _files(robot: RobotDescription) -> tuple[Path, Path]:
    """Return description and URDF of a robot; they are written again only when the robot's files change."""
    digest = hashlib.sha256(Path(__file__).with_name("describe_robot.py").read_bytes())
    for file in (robot.config_file, robot.model_file):
        digest.update(file.read_bytes())
    description = user_cache() / "descriptions" / digest.hexdigest()[:16] / safe_name(f"{robot.name}.xrdf")
    urdf = description.with_suffix(".urdf")
    if not (description.is_file() and urdf.is_file()):
        write_description(robot, description)
    return description, urdf

"""Columns from a robot's time series: the canonical ones, equal for all robots, and the reference system's keys.

Canonical: ``observation.state`` (joints and opening of every arm), ``action`` (joint targets and commanded opening),
both openings from 0 (closed) to 1 (open); ``observation.gripper_width`` (openings [m]); ``observation.ee_pose.base``
and ``observation.ee_pose.world`` (end effector of every arm, x y z and quaternion wxyz). If the base drives, state
and action end with its velocity in its own frame, measured and commanded, and ``observation.base_pose`` and
``observation.base_velocity`` are additional columns.

Reference: ``states.*``, ``actions.*`` (the state of the next frame, the last one repeated) and ``master_actions.*``
(the commands), with ``left_`` and ``right_`` for robots with two arms.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.dataset.lerobot.feature import Feature, column_feature
from handloom.errors import InputError, unknown_name
from handloom.spatial import euler_deg_from_matrix, pos_quat_from_pose


@dataclass(frozen=True, kw_only=True)
class ArmSeries:
    """One arm over T frames."""

    name: str
    """``left``, ``right``, or empty for the only arm of a robot."""
    joint_names: tuple[str, ...]
    """Names of the J joints, without the robot's prefix."""
    joint_position: Array
    """Measured (T, J) [m or rad]."""
    joint_command: Array
    """Drive targets in each frame (T, J) [m or rad]."""
    gripper_position: Array
    """Measured opening (T,) [m], or as the robot's description defines it."""
    gripper_opening: Array
    """Measured opening (T,) in the unit of the action: 1 open, 0 closed."""
    gripper_openness: Array
    """Commanded opening in each frame (T,): 1 open, 0 closed."""
    T_armbase_ee: Array
    """Pose of the end effector in the arm's base (T, 4, 4)."""
    T_armbase_tcp: Array
    """Pose of the tool centre point in the arm's base (T, 4, 4)."""
    T_robot_armbase: Array
    """Pose of the arm's base in the robot (4, 4)."""

    def __post_init__(self) -> None:
        """Refuse series of different lengths."""
        frames, joints = len(self.joint_position), len(self.joint_names)
        shapes = {
            "joint_position": (frames, joints),
            "joint_command": (frames, joints),
            "gripper_position": (frames,),
            "gripper_opening": (frames,),
            "gripper_openness": (frames,),
            "T_armbase_ee": (frames, 4, 4),
            "T_armbase_tcp": (frames, 4, 4),
            "T_robot_armbase": (4, 4),
        }
        for name, shape in shapes.items():
            if np.shape(getattr(self, name)) != shape:
                got = np.shape(getattr(self, name))
                raise InputError(f"arm {self.name!r}: {name} must have the shape {shape}, got {got}")


@dataclass(frozen=True, kw_only=True)
class BaseSeries:
    """A drivable base over T frames."""

    pose: Array
    """Measured x, y [m] and yaw [rad] in the world (T, 3); the yaw is continuous and does not wrap."""
    velocity: Array
    """Measured speed forward and to the left [m/s] and yaw rate [rad/s], in the frame of the base (T, 3)."""
    command: Array
    """The same, as commanded in each frame (T, 3)."""


@dataclass(frozen=True, kw_only=True)
class RobotSeries:
    """One robot over T frames."""

    arms: tuple[ArmSeries, ...]
    """Its arms; left before right."""
    T_world_robot: Array
    """Pose of the robot in the world (T, 4, 4)."""
    base: BaseSeries | None = None
    """Its base, if it drives."""

    def __post_init__(self) -> None:
        """Refuse a robot without arms, or arms of different lengths."""
        lengths = {len(arm.joint_position) for arm in self.arms}
        if len(lengths) != 1 or np.shape(self.T_world_robot) != (*lengths, 4, 4):
            raise InputError(
                f"a robot needs arms and a base of one length; got {sorted(lengths)} and {np.shape(self.T_world_robot)}"
            )
        shapes = [] if self.base is None else [np.shape(values) for values in vars(self.base).values()]
        if any(shape != (*lengths, 3) for shape in shapes):
            raise InputError(f"a base has series of three values over {sorted(lengths)} frames, got shapes {shapes}")
        if len({arm.name for arm in self.arms}) != len(self.arms):
            raise InputError("two arms have the same name")


POSE_NAMES = ("x", "y", "z", "qw", "qx", "qy", "qz")
EULER_NAMES = ("x", "y", "z", "roll", "pitch", "yaw")
TWIST_NAMES = ("base_vx", "base_vy", "base_wz")
"""Velocity of a base in its own frame: forward and left [m/s], yaw rate [rad/s]."""


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Features of a table and their values over an episode."""

    features: tuple[Feature, ...]
    values: Mapping[str, NDArray[Any]]
    """Arrays ``(frames, n)`` by feature."""


def robot_columns(style: str, robot: RobotSeries) -> Columns:
    """Return a robot's columns in a style of ``STYLES``."""
    if style not in STYLES:
        raise unknown_name("column style", style, STYLES)
    return STYLES[style](robot)


def canonical_columns(robot: RobotSeries) -> Columns:
    """Return the columns that all robots have in common."""
    arms = robot.arms
    joints = [f"{_prefix(arm)}{name}" for arm in arms for name in (*arm.joint_names, "gripper")]
    poses = [f"{_prefix(arm)}{name}" for arm in arms for name in POSE_NAMES]
    state = [part for arm in arms for part in (arm.joint_position, arm.gripper_opening[:, None])]
    widths = [arm.gripper_position[:, None] for arm in arms]
    action = [part for arm in arms for part in (arm.joint_command, arm.gripper_openness[:, None])]
    in_base = [pose7(arm.T_armbase_ee) for arm in arms]
    in_world = [pose7(robot.T_world_robot @ arm.T_robot_armbase @ arm.T_armbase_ee) for arm in arms]
    own: dict[str, tuple[Any, NDArray[Any]]] = {}
    if robot.base is not None:
        joints, state, action = [*joints, *TWIST_NAMES], [*state, robot.base.velocity], [*action, robot.base.command]
        own["observation.base_pose"] = (("x", "y", "yaw"), robot.base.pose)
        own["observation.base_velocity"] = (TWIST_NAMES, robot.base.velocity)
    return _columns(
        {
            "observation.state": (joints, np.concatenate(state, axis=1)),
            "action": (joints, np.concatenate(action, axis=1)),
            "observation.ee_pose.base": (poses, np.concatenate(in_base, axis=1)),
            "observation.ee_pose.world": (poses, np.concatenate(in_world, axis=1)),
            "observation.gripper_width": ([f"{_prefix(arm)}width" for arm in arms], np.concatenate(widths, axis=1)),
            **own,
        }
    )


def reference_columns(robot: RobotSeries) -> Columns:
    """Return the columns by the keys of InternDataEngine."""
    states: dict[str, tuple[Any, NDArray[Any]]] = {}
    master: dict[str, tuple[Any, NDArray[Any]]] = {}
    for arm in robot.arms:
        prefix = _prefix(arm)
        states |= {f"{prefix}{key}": value for key, value in _arm_states(arm, single=len(robot.arms) == 1).items()}
        master[f"{prefix}joint.position"] = (arm.joint_names, arm.joint_command)
        # As the commanded opening, the reference system logs the opening reached one frame later.
        master[f"{prefix}gripper.position"] = (("width",), _next(arm.gripper_position[:, None]))
        master[f"{prefix}gripper.openness"] = (("openness",), arm.gripper_openness[:, None])
        if len(robot.arms) == 1:
            master["gripper.pose"] = (EULER_NAMES, _next(_pose6(arm.T_armbase_ee)))
    actions = {key: (names, _next(values)) for key, (names, values) in states.items()}
    actions |= {key: value for key, value in master.items() if key.endswith("openness")}
    states["robot_to_env_pose"] = (POSE_NAMES, pose7(robot.T_world_robot))
    groups = {"states": states, "actions": actions, "master_actions": master}
    return _columns({f"{group}.{key}": value for group, columns in groups.items() for key, value in columns.items()})


def _arm_states(arm: ArmSeries, *, single: bool) -> dict[str, tuple[Any, NDArray[Any]]]:
    """Return the measured columns of an arm."""
    columns = {
        "joint.position": (arm.joint_names, arm.joint_position),
        "gripper.position": (("width",), arm.gripper_position[:, None]),
        "ee_to_armbase_pose": (POSE_NAMES, pose7(arm.T_armbase_ee)),
        "ee_to_robot_pose": (POSE_NAMES, pose7(arm.T_robot_armbase @ arm.T_armbase_ee)),
        "tcp_to_armbase_pose": (POSE_NAMES, pose7(arm.T_armbase_tcp)),
        "tcp_to_robot_pose": (POSE_NAMES, pose7(arm.T_robot_armbase @ arm.T_armbase_tcp)),
    }
    if single:
        columns["gripper.pose"] = (EULER_NAMES, _pose6(arm.T_armbase_ee))
    return columns


def _prefix(arm: ArmSeries) -> str:
    """Return the prefix of an arm's column names."""
    return f"{arm.name}_" if arm.name else ""


def _next(values: NDArray[Any]) -> NDArray[Any]:
    """Return the values of the next frame; the last one is repeated."""
    return np.concatenate([values[1:], values[-1:]])


def pose7(T: Array) -> Array:
    """Return poses (T, 4, 4) as (T, 7): position [m] and quaternion wxyz, without jumps between q and -q."""
    position, quat = pos_quat_from_pose(T)
    flips = np.sign(np.sum(quat[1:] * quat[:-1], axis=-1))
    signs = np.cumprod(np.concatenate([[1.0], np.where(flips < 0, -1.0, 1.0)]))
    start = -1.0 if quat[0, 0] < 0 else 1.0
    return np.concatenate([position, quat * (start * signs)[:, None]], axis=1)


def _pose6(T: Array) -> Array:
    """Return poses (T, 4, 4) as (T, 6): position [m], roll, pitch and yaw [rad]."""
    return np.concatenate([T[:, :3, 3], np.deg2rad(euler_deg_from_matrix(T[:, :3, :3]))], axis=1)


def _columns(parts: Mapping[str, tuple[Any, NDArray[Any]]]) -> Columns:
    """Return features and values of named parts."""
    features = tuple(column_feature(name, names) for name, (names, _) in parts.items())
    return Columns(features=features, values={name: values for name, (_, values) in parts.items()})


DETAILED = "detailed"
"""Style of the columns that need the scene: ``handloom.episode.columns``."""
INTERVENTION = "intervention"
"""Style of the column that marks frames driven by a person in place of a policy."""
STYLES: Mapping[str, Callable[[RobotSeries], Columns]] = {
    "canonical": canonical_columns,
    "reference": reference_columns,
}
"""Naming styles of a robot's columns."""

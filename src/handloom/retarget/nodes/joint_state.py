"""Converts a leader arm's joints to joint targets or to an end-effector pose of the follower."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from handloom.arrays import Array
from handloom.errors import InputError, suggest
from handloom.retarget.graph.execution import ComputeContext, RetargeterIO, RetargeterIOType
from handloom.retarget.graph.groups import OptionalType
from handloom.retarget.graph.retargeter import BaseRetargeter
from handloom.retarget.inputs import EePose, RobotHandJoints, TransformMatrix, float_signal
from handloom.retarget.quaternions import pose_port, quat_of_rotation
from handloom.retarget.transforms import checked_transform
from handloom.sim.urdf import read_urdf

MODES = ("joint", "ee_pose")

ForwardKinematics = Callable[[Mapping[str, float]], Array]
"""Joint values by device joint name > ``T_base_ee`` (4, 4)."""


@dataclass
class JointStateRetargeterConfig:
    """Settings of ``JointStateRetargeter``."""

    device_joints: Sequence[str]
    """Joints of the leader, in the order of its source."""
    target_joints: Sequence[str] = ()
    """Joints of the follower; empty uses the leader's."""
    joint_map: Mapping[str, str] = field(default_factory=dict)
    """Follower joint driven by each leader joint; the default is the joint of the same name."""
    scale: Mapping[str, float] = field(default_factory=dict)
    """Factor per follower joint; 1 if not given."""
    offset: Mapping[str, float] = field(default_factory=dict)
    """Offset per follower joint [rad or m]; 0 if not given."""
    sign: Mapping[str, float] = field(default_factory=dict)
    """+1 or -1 per follower joint; +1 if not given."""
    urdf_path: str | Path | None = None
    """``ee_pose`` mode: URDF of the leader, with joints named as in ``device_joints``."""
    ee_link: str | None = None
    """``ee_pose`` mode: link of the URDF that is the end effector."""
    gripper_joint: str = "gripper"
    """``ee_pose`` mode: leader joint of the gripper; without it the gripper command is 0."""
    gripper_open: float | None = None
    """Leader angle of the open gripper [rad]; with ``gripper_close`` the output is closedness 0..1."""
    gripper_close: float | None = None
    """Leader angle of the closed gripper [rad]."""
    clutch: bool = False
    """``ee_pose`` mode: start from the live end effector instead of the leader's pose."""
    forward_kinematics: ForwardKinematics | None = None
    """``ee_pose`` mode: kinematics of the leader in place of a URDF."""


def _kinematics(urdf_path: str | Path, link: str) -> ForwardKinematics:
    """Return the pose of a link in the root link of a URDF file, from joint values by name."""
    urdf = read_urdf(urdf_path)
    urdf.pose(link, {})  # A missing link raises an error now, not at the first frame.
    return lambda joints: urdf.pose(link, joints)


class JointStateRetargeter(BaseRetargeter):
    """Follows a leader arm.

    In ``joint`` mode, outputs ``joint_targets``: offset + sign * scale * value per target joint. In ``ee_pose`` mode,
    outputs ``ee_pose`` from the leader's kinematics and ``gripper_command``; with ``clutch`` the position is a home
    plus the leader's motion since the clutch engaged. The home is the live end effector if it is connected, otherwise
    the last command, and before the first command the leader's own pose. Absent frames and frames with a value that is
    not finite hold the last output, and the clutch re-arms. A reset gives zeros.

    Args:
        name: Name of the node.
        mode: ``"joint"`` or ``"ee_pose"``.
        config: Settings.
    """

    JOINTS = "joints"
    ROBOT_EE_POS_INPUT = "robot_ee_pos"
    """Optional live ``world_T_ee``, read when the clutch latches."""

    def __init__(self, name: str, mode: str, config: JointStateRetargeterConfig) -> None:
        if mode not in MODES:
            raise InputError(f"joint node {name!r}: no mode {mode!r}; {suggest(mode, MODES)}")
        if config.gripper_open is not None and config.gripper_open == config.gripper_close:
            raise InputError(f"joint node {name!r}: gripper_open and gripper_close are both {config.gripper_open}")
        self._mode, self._config = mode, config
        self._kinematics = config.forward_kinematics
        if mode == "ee_pose" and self._kinematics is None:
            if config.urdf_path is None or config.ee_link is None:
                raise InputError(
                    f"joint node {name!r}: ee_pose mode requires config.urdf_path and config.ee_link, "
                    "or config.forward_kinematics"
                )
            self._kinematics = _kinematics(config.urdf_path, config.ee_link)
        self._device_joints = tuple(config.device_joints)
        self._targets = tuple(config.target_joints or config.device_joints)
        self._rows = [self._row(target, name) for target in self._targets] if mode == "joint" else []
        if config.gripper_joint not in {"gripper", *self._device_joints}:
            raise InputError(
                f"joint node {name!r}: no gripper joint {config.gripper_joint!r}; "
                f"{suggest(config.gripper_joint, self._device_joints)}"
            )
        self._forget()
        super().__init__(name)

    def _row(self, target: str, name: str) -> tuple[int, float, float]:
        """Return leader index, factor and offset of one follower joint."""
        config = self._config
        driven = [config.joint_map.get(joint, joint) for joint in self._device_joints]
        if target not in driven:
            raise InputError(f"joint node {name!r}: no leader joint drives {target!r}; {suggest(target, driven)}")
        factor = config.sign.get(target, 1.0) * config.scale.get(target, 1.0)
        return driven.index(target), factor, config.offset.get(target, 0.0)

    def _forget(self) -> None:
        self._engaged = False
        self._joint_targets = [0.0] * len(self._targets)
        self._T_base_ee = np.eye(4)
        self._gripper = 0.0
        self._shift: Array | None = None

    def input_spec(self) -> RetargeterIOType:
        """Return one float per leader joint, optional, and the live end effector if a clutch needs it."""
        spec: RetargeterIOType = {self.JOINTS: OptionalType(RobotHandJoints(self.JOINTS, self._device_joints))}
        if self._config.clutch:
            spec[self.ROBOT_EE_POS_INPUT] = OptionalType(TransformMatrix())
        return spec

    def output_spec(self) -> RetargeterIOType:
        """Return ``joint_targets``, or ``ee_pose`` and ``gripper_command``."""
        if self._mode == "joint":
            return {"joint_targets": RobotHandJoints("joint_targets", self._targets)}
        return {"ee_pose": EePose(), "gripper_command": float_signal("gripper_command", "gripper_value")}

    def _compute_fn(self, inputs: RetargeterIO, outputs: RetargeterIO, context: ComputeContext) -> None:
        if context.execution_events.reset:
            self._forget()
        group = inputs[self.JOINTS]
        values = None if group.is_none else [group[index] for index in range(len(group))]
        if values is None or not all(map(math.isfinite, values)):
            self._shift = None
        elif self._mode == "joint":
            self._joint_targets = [offset + factor * values[index] for index, factor, offset in self._rows]
        else:
            self._follow_pose(dict(zip(self._device_joints, values, strict=True)), inputs, context)
        if self._mode == "joint":
            for index, value in enumerate(self._joint_targets):
                outputs["joint_targets"][index] = value
        else:
            position, quat = self._T_base_ee[:3, 3], quat_of_rotation(self._T_base_ee[:3, :3])
            outputs["ee_pose"][0] = pose_port(position.tolist(), quat)
            outputs["gripper_command"][0] = self._gripper

    def _follow_pose(self, joints: dict[str, float], inputs: RetargeterIO, context: ComputeContext) -> None:
        config = self._config
        if config.gripper_joint in joints:
            self._gripper = self._closedness(joints[config.gripper_joint])
        assert self._kinematics is not None
        T_base_ee = np.array(self._kinematics(joints), float)
        if config.clutch:
            if not context.is_running:
                self._shift = None
                return
            if self._shift is None:
                self._shift = self._home(T_base_ee, inputs) - T_base_ee[:3, 3]
            T_base_ee[:3, 3] += self._shift
        self._T_base_ee, self._engaged = T_base_ee, True

    def _home(self, T_base_leader: Array, inputs: RetargeterIO) -> Array:
        """Return the start position of the clutch (3,) [m]."""
        live = inputs[self.ROBOT_EE_POS_INPUT]
        if not live.is_none:
            return checked_transform(live[0], what=self.ROBOT_EE_POS_INPUT, tolerance=1e-3)[:3, 3]
        return self._T_base_ee[:3, 3] if self._engaged else T_base_leader[:3, 3]

    def _closedness(self, angle: float) -> float:
        opened, closed = self._config.gripper_open, self._config.gripper_close
        if opened is None or closed is None:
            return angle
        return min(max((angle - opened) / (closed - opened), 0.0), 1.0)

"""A leader arm's joints as joint targets or as an end-effector pose of the follower."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from handloom.arrays import Array
from handloom.errors import InputError, suggest
from handloom.retarget.graph.execution import ComputeContext, RetargeterIO, RetargeterIOType
from handloom.retarget.graph.groups import OptionalType
from handloom.retarget.graph.retargeter import BaseRetargeter
from handloom.retarget.inputs import EePose, RobotHandJoints, TransformMatrix, float_signal
from handloom.retarget.quaternions import pose_port, quat_of_rotation
from handloom.retarget.transforms import checked_transform

MODES = ("joint", "ee_pose")

ForwardKinematics = Callable[[Mapping[str, float]], Array]
"""Joint values by device joint name > ``T_base_ee`` (4, 4)."""


@dataclass(frozen=True, kw_only=True)
class JointStateRetargeterConfig:
    """Settings of ``JointStateRetargeter``."""

    device_joints: Sequence[str]
    """Joints of the leader, in the order of its source."""
    target_joints: Sequence[str] | None = None
    """Joints of the follower; the leader's if not given."""
    name_map: Mapping[str, str] = field(default_factory=dict)
    """Leader joint of a follower joint; the joint of the same name if not given."""
    signs: Mapping[str, float] = field(default_factory=dict)
    """+1 or -1 per follower joint; +1 if not given."""
    scales: Mapping[str, float] = field(default_factory=dict)
    """Factor per follower joint; 1 if not given."""
    offsets: Mapping[str, float] = field(default_factory=dict)
    """Offset per follower joint [rad or m]; 0 if not given."""
    forward_kinematics: ForwardKinematics | None = None
    """``ee_pose`` mode: kinematics of the leader."""
    gripper_joint: str | None = None
    """``ee_pose`` mode: leader joint of the gripper."""
    gripper_open: float | None = None
    """Leader angle of the open gripper [rad]; with ``gripper_close`` the output is closedness 0..1."""
    gripper_close: float | None = None
    """Leader angle of the closed gripper [rad]."""
    clutch: bool = False
    """``ee_pose`` mode: start from the live end effector instead of the leader's pose."""


class JointStateRetargeter(BaseRetargeter):
    """Follows a leader arm.

    In ``joint`` mode gives ``joint_targets``: offset + sign scale value per target joint. In ``ee_pose``
    mode gives ``ee_pose`` of the leader's kinematics and ``gripper_command``; with ``clutch`` the position is the
    live end effector on the first RUNNING frame plus what the leader moved since. Absent frames and frames
    with a value that is not finite hold the last output, and the clutch re-arms. A reset gives zeros.

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
        if mode == "ee_pose" and config.forward_kinematics is None:
            raise InputError(f"joint node {name!r}: mode 'ee_pose' needs forward_kinematics in its config")
        self._mode, self._config = mode, config
        self._device_joints = tuple(config.device_joints)
        self._targets = tuple(config.target_joints or config.device_joints)
        self._rows = [self._row(target, name) for target in self._targets] if mode == "joint" else []
        if config.gripper_joint is not None and config.gripper_joint not in self._device_joints:
            raise InputError(
                f"joint node {name!r}: no gripper joint {config.gripper_joint!r}; "
                f"{suggest(config.gripper_joint, self._device_joints)}"
            )
        self._forget()
        super().__init__(name)

    def _row(self, target: str, name: str) -> tuple[int, float, float]:
        """Return leader index, factor and offset of one follower joint."""
        config = self._config
        source = config.name_map.get(target, target)
        if source not in self._device_joints:
            raise InputError(
                f"joint node {name!r}: {target!r} follows {source!r}, which the device does not have; "
                f"{suggest(source, self._device_joints)}"
            )
        factor = config.signs.get(target, 1.0) * config.scales.get(target, 1.0)
        return self._device_joints.index(source), factor, config.offsets.get(target, 0.0)

    def _forget(self) -> None:
        self._joint_targets = [0.0] * len(self._targets)
        self._T_base_ee = np.eye(4)
        self._gripper = 0.0
        self._shift: Array | None = None

    def input_spec(self) -> RetargeterIOType:
        """Return one float per leader joint, optional, and the live end effector where a clutch needs it."""
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
        assert config.forward_kinematics is not None
        T_base_ee = np.array(config.forward_kinematics(joints), float)
        if config.clutch:
            if not context.is_running:
                self._shift = None
                return
            if self._shift is None:
                live = inputs[self.ROBOT_EE_POS_INPUT]
                home = (
                    self._T_base_ee
                    if live.is_none
                    else checked_transform(live[0], what=self.ROBOT_EE_POS_INPUT, tolerance=1e-3)
                )
                self._shift = home[:3, 3] - T_base_ee[:3, 3]
            T_base_ee[:3, 3] += self._shift
        self._T_base_ee = T_base_ee
        if config.gripper_joint is not None:
            self._gripper = self._closedness(joints[config.gripper_joint])

    def _closedness(self, angle: float) -> float:
        opened, closed = self._config.gripper_open, self._config.gripper_close
        if opened is None or closed is None:
            return angle
        return min(max((angle - opened) / (closed - opened), 0.0), 1.0)

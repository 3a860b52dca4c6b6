"""Converts the pose of a hand or a controller to an absolute pose command or to pose changes."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from handloom.errors import InputError, suggest
from handloom.retarget.graph.execution import ComputeContext, RetargeterIO, RetargeterIOType
from handloom.retarget.graph.groups import OptionalTensorGroup, OptionalType, TensorGroupType
from handloom.retarget.graph.parameter_spec import BoolParameter, VectorParameter
from handloom.retarget.graph.parameter_state import ParameterState
from handloom.retarget.graph.retargeter import BaseRetargeter
from handloom.retarget.graph.types import NDArrayType
from handloom.retarget.inputs import ControllerInput, EePose, HandInput, HandInputIndex, HandJointIndex
from handloom.retarget.nodes.controller_pose import controller_pose
from handloom.retarget.quaternions import (
    IDENTITY,
    Quat,
    Vec3,
    conjugate,
    multiply,
    pose_port,
    rotate,
    rotation_about,
    rotation_of,
    rotvec,
    toward,
    usable_pose,
)

SE3_DEVICES = ("hand_left", "hand_right", "controller_left", "controller_right")


@dataclass
class Se3RetargeterConfig:
    """Settings of ``Se3AbsRetargeter`` and ``Se3RelRetargeter``."""

    input_device: str = "hand_right"
    """Port of the device: ``hand_left``, ``hand_right``, ``controller_left`` or ``controller_right``."""
    zero_out_xy_rotation: bool = True
    """Keep only the rotation about z."""
    use_wrist_rotation: bool = False
    """Hands: rotate with the wrist instead of the midpoint between thumb tip and index tip."""
    use_wrist_position: bool = True
    """Hands: move with the wrist instead of the midpoint between thumb tip and index tip."""
    target_offset_x: float = 0.0
    """Offset along x of the hand [m]."""
    target_offset_y: float = 0.0
    """Offset along y of the hand [m]."""
    target_offset_z: float = 0.0
    """Offset along z of the hand [m]."""
    target_offset_roll: float = 90.0
    """Offset rotation about x, first of the intrinsic angles [deg]."""
    target_offset_pitch: float = 0.0
    """Offset rotation about y, second of the intrinsic angles [deg]."""
    target_offset_yaw: float = 0.0
    """Offset rotation about z, third of the intrinsic angles [deg]."""
    delta_pos_scale_factor: float = 10.0
    """Relative only: scale of position deltas."""
    delta_rot_scale_factor: float = 10.0
    """Relative only: scale of rotation deltas."""
    alpha_pos: float = 0.5
    """Relative only: weight of the newest position delta in the running mean."""
    alpha_rot: float = 0.5
    """Relative only: weight of the newest rotation delta in the running mean."""
    parameter_config_path: str | Path | None = None
    """JSON file of the tunable parameters."""

    def __post_init__(self) -> None:
        """Reject devices without a pose."""
        if self.input_device not in SE3_DEVICES:
            raise InputError(f"no input_device {self.input_device!r}; {suggest(self.input_device, SE3_DEVICES)}")

    @property
    def device_type(self) -> TensorGroupType:
        """The type of the device's port."""
        return HandInput() if self.input_device.startswith("hand") else ControllerInput()


def quat_from_intrinsic_xyz_deg(angles: Vec3) -> Quat:
    """Return the rotation Rx Ry Rz of three angles [deg]."""
    roll, pitch, yaw = (math.radians(angle) for angle in angles)
    about_xy = multiply(rotation_about((1.0, 0.0, 0.0), roll), rotation_about((0.0, 1.0, 0.0), pitch))
    return multiply(about_xy, rotation_about((0.0, 0.0, 1.0), yaw))


def device_pose(
    group: OptionalTensorGroup, *, wrist_rotation: bool, wrist_position: bool
) -> tuple[Vec3 | None, Quat | None]:
    """Return position [m] and unit quaternion of a controller's grip or of a hand, None for each that is missing.

    If thumb and index tips of a hand are requested but not both usable, its wrist is used instead.
    """
    if len(group) == len(ControllerInput()):
        return controller_pose(group) or (None, None)
    if group.is_none:
        return None, None
    wrist = _joint(group, HandJointIndex.WRIST) or (None, None)
    thumb, index = _tips(group)
    if thumb is None or index is None:
        return wrist
    (ax, ay, az), (bx, by, bz) = thumb[0], index[0]
    middle = ((ax + bx) / 2.0, (ay + by) / 2.0, (az + bz) / 2.0)
    return (
        wrist[0] if wrist_position else middle,
        wrist[1] if wrist_rotation else toward(thumb[1], index[1], 0.5),
    )


def _tips(group: OptionalTensorGroup) -> tuple[tuple[Vec3, Quat] | None, tuple[Vec3, Quat] | None]:
    return _joint(group, HandJointIndex.THUMB_TIP), _joint(group, HandJointIndex.INDEX_TIP)


def _joint(group: OptionalTensorGroup, joint: int) -> tuple[Vec3, Quat] | None:
    if not group[HandInputIndex.JOINT_VALID][joint]:
        return None
    return usable_pose(group[HandInputIndex.JOINT_POSITIONS][joint], group[HandInputIndex.JOINT_ORIENTATIONS][joint])


HALF_TURN_X = rotation_about((1.0, 0.0, 0.0), math.pi)


class Se3AbsRetargeter(BaseRetargeter):
    """Outputs ``ee_pose``: the hand's pose with an offset, (7,) position [m] and quaternion xyzw.

    With ``zero_out_xy_rotation`` only the rotation about z is kept (the z angle of the intrinsic zyx decomposition) and
    combined with Rx(pi), so that a tool points down. A frame without a position or without an orientation holds the
    last one; before the first, and after a reset, the pose is the origin. Engaging moves the arm to the hand in one
    jump; use a clutch where that matters.

    Args:
        config: Settings.
        name: Name of the node.
    """

    OUTPUT = "ee_pose"

    def __init__(self, config: Se3RetargeterConfig, name: str) -> None:
        self._config = config
        self._position: Vec3 = (0.0, 0.0, 0.0)
        self._quat: Quat = IDENTITY
        self._hand_quat: Quat = IDENTITY
        self._flags = {
            "zero_out_xy_rotation": config.zero_out_xy_rotation,
            "use_wrist_rotation": config.use_wrist_rotation,
            "use_wrist_position": config.use_wrist_position,
        }
        self._offset_rpy: Vec3 = (math.nan, math.nan, math.nan)
        super().__init__(name, self._tunable(name))

    def _tunable(self, name: str) -> ParameterState:
        config = self._config
        rpy = (config.target_offset_roll, config.target_offset_pitch, config.target_offset_yaw)
        xyz = (config.target_offset_x, config.target_offset_y, config.target_offset_z)
        flags = [
            BoolParameter(flag, sync_fn=lambda on, flag=flag: self._flags.update({flag: on}), default_value=value)
            for flag, value in self._flags.items()
        ]
        vectors = [
            VectorParameter(
                "rotation_offset_rpy",
                "[deg]",
                sync_fn=self._set_rpy,
                element_names=("roll", "pitch", "yaw"),
                default_value=rpy,
                min_value=-180.0,
                max_value=180.0,
                step_size=1.0,
            ),
            VectorParameter(
                "position_offset_xyz",
                "[m]",
                sync_fn=self._set_xyz,
                element_names=("x", "y", "z"),
                default_value=xyz,
                min_value=-2.0,
                max_value=2.0,
            ),
        ]
        return ParameterState(name, [*vectors, *flags], config.parameter_config_path)

    def _set_rpy(self, angles: Any) -> None:
        roll, pitch, yaw = angles.tolist()
        if (roll, pitch, yaw) != self._offset_rpy:
            self._offset_rpy = (roll, pitch, yaw)
            self._offset_quat = quat_from_intrinsic_xyz_deg(self._offset_rpy)

    def _set_xyz(self, offset: Any) -> None:
        self._offset_xyz: Vec3 = tuple(offset.tolist())

    def input_spec(self) -> RetargeterIOType:
        """Return the device, optional."""
        return {self._config.input_device: OptionalType(self._config.device_type)}

    def output_spec(self) -> RetargeterIOType:
        """Return one float32 pose (7,): position [m], quaternion xyzw."""
        return {self.OUTPUT: EePose()}

    def _compute_fn(self, inputs: RetargeterIO, outputs: RetargeterIO, context: ComputeContext) -> None:
        if context.execution_events.reset:
            self._position, self._quat, self._hand_quat = (0.0, 0.0, 0.0), IDENTITY, IDENTITY
        position, quat = device_pose(
            inputs[self._config.input_device],
            wrist_rotation=self._flags["use_wrist_rotation"],
            wrist_position=self._flags["use_wrist_position"],
        )
        if position is not None:
            self._position = self._shifted(position, quat)
        if quat is not None:
            self._quat = self._turned(quat)
        outputs[self.OUTPUT][0] = pose_port(self._position, self._quat)

    def _shifted(self, position: Vec3, quat: Quat | None) -> Vec3:
        """Return the position plus the offset, which is in the frame of the hand, or in its last known one."""
        self._hand_quat = quat or self._hand_quat
        dx, dy, dz = rotate(self._hand_quat, self._offset_xyz)
        return position[0] + dx, position[1] + dy, position[2] + dz

    def _turned(self, quat: Quat) -> Quat:
        final = multiply(quat, self._offset_quat)
        if self._flags["zero_out_xy_rotation"]:
            R = rotation_of(final)
            final = multiply(rotation_about((0.0, 0.0, 1.0), math.atan2(R[1, 0], R[0, 0])), HALF_TURN_X)
        return final


# Changes below these norms are tremor, not motion [m], [rad]; the published thresholds.
STILL_POSITION, STILL_ROTATION = 0.001, 0.01
ZERO: Vec3 = (0.0, 0.0, 0.0)


class Se3RelRetargeter(BaseRetargeter):
    """Outputs ``ee_delta`` (6,): scaled position delta [m] and rotation vector [rad] of the hand since the last frame.

    The deltas are a running mean; one shorter than 1 mm or 0.01 rad counts as no motion and restarts the mean. The
    rotation of a hand is the mean of the rotation vectors of thumb tip and index tip. The first frame, and the first
    after a reset or after frames without a pose, emits zeros and becomes the new baseline.

    Args:
        config: Settings.
        name: Name of the node.
    """

    OUTPUT = "ee_delta"

    def __init__(self, config: Se3RetargeterConfig, name: str) -> None:
        self._config = config
        self._forget()
        super().__init__(name)

    def _forget(self) -> None:
        self._last: tuple[Vec3, list[Quat]] | None = None
        self._shift: Vec3 = ZERO
        self._turn: Vec3 = ZERO

    def input_spec(self) -> RetargeterIOType:
        """Return the device, optional."""
        return {self._config.input_device: OptionalType(self._config.device_type)}

    def output_spec(self) -> RetargeterIOType:
        """Return one float32 vector (6,)."""
        return {self.OUTPUT: TensorGroupType(self.OUTPUT, [NDArrayType("delta", (6,))])}

    def _compute_fn(self, inputs: RetargeterIO, outputs: RetargeterIO, context: ComputeContext) -> None:
        config = self._config
        pose = self._pose(inputs[config.input_device])
        if context.execution_events.reset or pose is None:
            self._forget()
        delta = np.zeros(6, np.float32)
        if pose is not None and self._last is not None and len(pose[1]) == len(self._last[1]):
            self._smooth(self._last, pose)
            delta[:3] = np.multiply(self._shift, config.delta_pos_scale_factor)
            delta[3:] = np.multiply(self._turn, config.delta_rot_scale_factor)
        if pose is not None:
            self._last = pose
        outputs[self.OUTPUT][0] = delta

    def _pose(self, group: OptionalTensorGroup) -> tuple[Vec3, list[Quat]] | None:
        """Return the position, and the orientations whose changes are averaged."""
        config = self._config
        position, quat = device_pose(
            group, wrist_rotation=config.use_wrist_rotation, wrist_position=config.use_wrist_position
        )
        if position is None or quat is None:
            return None
        if config.device_type is HandInput() and not config.use_wrist_rotation:
            thumb, index = _tips(group)
            if thumb is not None and index is not None:
                return position, [thumb[1], index[1]]
        return position, [quat]

    def _smooth(self, last: tuple[Vec3, list[Quat]], pose: tuple[Vec3, list[Quat]]) -> None:
        shift = (pose[0][0] - last[0][0], pose[0][1] - last[0][1], pose[0][2] - last[0][2])
        turns = [rotvec(multiply(new, conjugate(old))) for old, new in zip(last[1], pose[1], strict=True)]
        x, y, z = (sum(parts) / len(turns) for parts in zip(*turns, strict=True))
        turn = (0.0, 0.0, z) if self._config.zero_out_xy_rotation else (x, y, z)
        self._shift = _moving(_mean(self._shift, shift, self._config.alpha_pos), STILL_POSITION)
        self._turn = _moving(_mean(self._turn, turn, self._config.alpha_rot), STILL_ROTATION)


def _mean(old: Vec3, new: Vec3, alpha: float) -> Vec3:
    keep = 1.0 - alpha
    return alpha * new[0] + keep * old[0], alpha * new[1] + keep * old[1], alpha * new[2] + keep * old[2]


def _moving(vector: Vec3, still: float) -> Vec3:
    """Return the vector, or zero if it is shorter than ``still``."""
    return ZERO if math.hypot(*vector) < still else vector

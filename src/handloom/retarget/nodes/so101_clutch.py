"""Clutches of the SO-101: the hand moves the tool only while it is engaged, and engaging never moves it."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.retarget.graph.execution import ComputeContext, RetargeterIO, RetargeterIOType
from handloom.retarget.graph.groups import OptionalTensorGroup, OptionalType, TensorGroupType
from handloom.retarget.graph.retargeter import BaseRetargeter
from handloom.retarget.graph.types import BoolType
from handloom.retarget.inputs import ControllerInput, ControllerInputIndex, EePose, TransformMatrix
from handloom.retarget.nodes.controller_pose import checked_pose_name, controller_pose
from handloom.retarget.quaternions import (
    IDENTITY,
    Quat,
    Vec3,
    conjugate,
    multiply,
    pose_port,
    quat_of_rotation,
    usable_quat,
)
from handloom.retarget.transforms import checked_transform
from handloom.spatial import relative_pose

# The published fallback if the end effector is not connected: in front of the base, 10 cm above the table [m].
FALLBACK_HOME = (0.22, 0.0, 0.12)


class Clutch(BaseRetargeter):
    """Base class of both clutches: outputs ``ee_pose`` and is engaged from the frame in which it latched."""

    OUTPUT = "ee_pose"
    _origin: Any
    """Pose of the hand at latching; None while disengaged."""

    @property
    def is_engaged(self) -> bool:
        """Whether the hand currently drives the arm."""
        return self._origin is not None

    def output_spec(self) -> RetargeterIOType:
        """Return one float32 pose (7,): position [m] in the base, quaternion xyzw."""
        return {self.OUTPUT: EePose()}


class SO101PositionClutchRetargeter(Clutch):
    """Outputs ``ee_pose``: position in the robot base [m] driven by the motion of the hand since it engaged.

    This is the clutch of the published SO-101 page; it needs no squeeze. Later releases publish
    ``SO101PoseClutchRetargeter`` under the name ``SO101ClutchRetargeter``.

    On the first RUNNING frame the node latches the hand's position p0, the base rotation and a home, and from then on
    outputs home + scale * R_world_base' (p - p0). The home is the live end effector if it is connected, otherwise the
    last commanded position, and before the first command the fallback. The quaternion is the grip's, unchanged;
    position-only inverse kinematics drops it.

    A frame without a usable pose (absent, flagged invalid, not finite, zero quaternion) holds the last pose and
    re-arms: the next valid frame continues from the last command, wherever the hand has moved in the meantime. A reset
    forgets the home. Until the clutch first engages, the held pose is the live end effector, if connected.

    Args:
        name: Name of the node.
        input_device: Port of the controller, whose poses are in the world.
        home_base_T_ee: Fallback home, position (3,) or pose (4, 4) in the base; only the position is used.
        position_scale: Robot motion per hand motion [m/m].
    """

    ROBOT_EE_POS_INPUT = "robot_ee_pos"
    """Optional live ``world_T_ee``."""
    ROBOT_BASE_POS_INPUT = "robot_base_pos"
    """Optional live ``world_T_base``; identity if absent."""

    def __init__(
        self,
        name: str,
        input_device: str = "controller_right",
        home_base_T_ee: ArrayLike | None = None,
        *,
        position_scale: float = 1.0,
    ) -> None:
        self._device = input_device
        self._fallback = _position(FALLBACK_HOME if home_base_T_ee is None else home_base_T_ee)
        self._scale = checked_scale(position_scale)
        self._forget()
        super().__init__(name)

    def _forget(self) -> None:
        self._position: Vec3 | None = None
        self._quat: Quat = IDENTITY
        self._origin: Vec3 | None = None
        self._home: Vec3 = self._fallback
        self._engaged = False
        self._R_world_base: list[list[float]] = np.eye(3).tolist()

    def input_spec(self) -> RetargeterIOType:
        """Return the controller and the two live transforms, all optional."""
        return {
            self._device: OptionalType(ControllerInput()),
            self.ROBOT_EE_POS_INPUT: OptionalType(TransformMatrix()),
            self.ROBOT_BASE_POS_INPUT: OptionalType(TransformMatrix()),
        }

    def _compute_fn(self, inputs: RetargeterIO, outputs: RetargeterIO, context: ComputeContext) -> None:
        if context.execution_events.reset:
            self._forget()
        pose = controller_pose(inputs[self._device])
        if not context.is_running:
            self._origin, self._engaged = None, False
        if self._position is None or (context.is_running and pose is not None and not self._engaged):
            self._latch_home(inputs)
        if pose is None or not context.is_running:
            self._origin = None
        else:
            self._engaged = True
            self._follow(*pose)
        outputs[self.OUTPUT][0] = pose_port(self._position or self._fallback, self._quat)

    def _latch_home(self, inputs: RetargeterIO) -> None:
        """Read the poses of base and end effector; raises before any change of state."""
        T_world_base = self._live(inputs[self.ROBOT_BASE_POS_INPUT], "robot_base_pos")
        T_world_ee = self._live(inputs[self.ROBOT_EE_POS_INPUT], "robot_ee_pos")
        if T_world_base is None:
            T_world_base = np.eye(4)
        self._R_world_base = T_world_base[:3, :3].tolist()
        if T_world_ee is not None:
            self._position = _position(relative_pose(T_world_base, T_world_ee))
        elif self._position is None:
            self._position = self._fallback
        self._origin = None

    def _live(self, group: OptionalTensorGroup, port: str) -> Array | None:
        return None if group.is_none else checked_transform(group[0], what=f"{port} of {self.name!r}", tolerance=1e-3)

    def _follow(self, position: Vec3, quat: Quat) -> None:
        if self._origin is None:
            self._origin, self._home = position, self._position or self._fallback
        dx, dy, dz = (self._scale * (p - p0) for p, p0 in zip(position, self._origin, strict=True))
        R = self._R_world_base
        self._position = (
            self._home[0] + R[0][0] * dx + R[1][0] * dy + R[2][0] * dz,
            self._home[1] + R[0][1] * dx + R[1][1] * dy + R[2][1] * dz,
            self._home[2] + R[0][2] * dx + R[1][2] * dy + R[2][2] * dz,
        )
        self._quat = quat


def checked_scale(scale: float) -> float:
    """Return a position scale, or reject one that is not positive and finite."""
    if not (0.0 < scale < math.inf):
        raise InputError(f"position_scale must be positive and finite, got {scale}")
    return float(scale)


def _position(home: Any) -> Vec3:
    """Return the position of a pose (4, 4) or of a position (3,)."""
    values = np.asarray(home, float)
    if values.shape == (4, 4):
        values = values[:3, 3]
    if values.shape != (3,) or not np.all(np.isfinite(values)):
        raise InputError(f"a home must be a finite position (3,) or pose (4, 4), got {home!r}")
    x, y, z = values.tolist()
    return x, y, z


class SO101PoseClutchRetargeter(Clutch):
    """Outputs ``ee_pose``: the last command moved by the hand's motion since the squeeze.

    pos = home + scale (p - p0), rot = (q q0^-1) home_rot, all in the robot base, in which the controller's poses must
    be given. The orientation follows one to one, composed from the left. The home is the measured position if
    connected, otherwise the last command; the rotation of the home is always the last command, never measured, so that
    re-clutching does not drift. Every frame that cannot drive (absent, invalid, not finite, not RUNNING, squeeze at or
    below the threshold) holds the pose and re-arms. The state is float64 and never read back from the float32 output.

    Args:
        name: Name of the node.
        home_base_T_ee: Pose (4, 4) to start from and to return to on reset.
        input_device: Port of the controller.
        controller_pose: ``"grip"`` or ``"aim"``.
        position_scale: Robot motion per hand motion [m/m].
        squeeze_threshold: Squeeze above which the clutch engages, in [0, 1).
    """

    MEASURED_BASE_T_EE_INPUT = "measured_base_T_ee"
    """Optional measured pose; its position is read on the latch frame only."""
    ENGAGE_PERMITTED_INPUT = "engage_permitted"
    """Optional permission to latch; absent: permitted. It does not end an engagement."""
    PERMITTED_INDEX = 0
    """Slot of the permission."""

    def __init__(
        self,
        name: str,
        home_base_T_ee: ArrayLike,
        *,
        input_device: str = "controller_right",
        controller_pose: str = "grip",
        position_scale: float = 1.0,
        squeeze_threshold: float = 0.5,
    ) -> None:
        if not 0.0 <= squeeze_threshold < 1.0:
            raise InputError(f"squeeze_threshold must be finite and in [0, 1), got {squeeze_threshold}")
        self._device = input_device
        self._pose_name = checked_pose_name(controller_pose)
        self._scale = checked_scale(position_scale)
        self._threshold = float(squeeze_threshold)
        self.set_home_base_T_ee(home_base_T_ee)
        super().__init__(name)

    def set_home_base_T_ee(self, home_base_T_ee: ArrayLike) -> None:  # noqa: N802 - published name
        """Hold this pose (4, 4) from now on, return to it on reset, and re-arm."""
        self._T_home = checked_transform(home_base_T_ee, what="home_base_T_ee")
        self._seed()

    def _seed(self) -> None:
        x, y, z = self._T_home[:3, 3].tolist()
        self._position: Vec3 = (x, y, z)
        self._quat: Quat = quat_of_rotation(self._T_home[:3, :3])
        self._origin: tuple[Vec3, Quat] | None = None
        self._home: tuple[Vec3, Quat] = (self._position, self._quat)

    def input_spec(self) -> RetargeterIOType:
        """Return the controller, the measured pose and the permission, all optional."""
        return {
            self._device: OptionalType(ControllerInput()),
            self.MEASURED_BASE_T_EE_INPUT: OptionalType(TransformMatrix()),
            self.ENGAGE_PERMITTED_INPUT: OptionalType(TensorGroupType("engage_permitted", [BoolType("permitted")])),
        }

    def _compute_fn(self, inputs: RetargeterIO, outputs: RetargeterIO, context: ComputeContext) -> None:
        if context.execution_events.reset:
            self._seed()
        controller = inputs[self._device]
        pose = controller_pose(controller, self._pose_name)
        squeezed = not controller.is_none and controller[ControllerInputIndex.SQUEEZE_VALUE] > self._threshold
        if pose is None or not (context.is_running and squeezed):
            self._origin = None
        elif self._origin is not None or self._latch(pose, inputs):
            self._follow(*pose)
        outputs[self.OUTPUT][0] = pose_port(self._position, self._quat)

    def _latch(self, pose: tuple[Vec3, Quat], inputs: RetargeterIO) -> bool:
        """Take this frame as the origin, if latching is permitted."""
        permit, measured = inputs[self.ENGAGE_PERMITTED_INPUT], inputs[self.MEASURED_BASE_T_EE_INPUT]
        if not permit.is_none and not permit[self.PERMITTED_INDEX]:
            return False
        position = self._position
        if not measured.is_none:
            x, y, z = measured[0][:3, 3].tolist()
            if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(z)):
                raise InputError(f"measured_base_T_ee of {self.name!r} must be finite, got {np.array([x, y, z])}")
            position = (x, y, z)
        self._home, self._origin = (position, self._quat), pose
        return True

    def _follow(self, position: Vec3, quat: Quat) -> None:
        assert self._origin is not None
        (p0, q0), (home, home_quat) = self._origin, self._home
        turned = usable_quat(multiply(quat, conjugate(q0)))
        final = turned and usable_quat(multiply(turned, home_quat))
        if final is None:
            return
        self._position = (
            home[0] + self._scale * (position[0] - p0[0]),
            home[1] + self._scale * (position[1] - p0[1]),
            home[2] + self._scale * (position[2] - p0[2]),
        )
        self._quat = final

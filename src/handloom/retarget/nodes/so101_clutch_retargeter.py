"""Hand motion as end-effector position, clutched so that engaging never moves the arm."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.retarget.graph.base_retargeter import BaseRetargeter
from handloom.retarget.graph.compute_context import ComputeContext
from handloom.retarget.graph.execution_cache import RetargeterIO
from handloom.retarget.graph.graph_executable import RetargeterIOType
from handloom.retarget.graph.tensor_group import OptionalTensorGroup
from handloom.retarget.graph.tensor_group_type import OptionalType
from handloom.retarget.inputs.controller_input import ControllerInput
from handloom.retarget.inputs.robot_values import EePose, TransformMatrix
from handloom.retarget.nodes.controller_pose import controller_pose
from handloom.retarget.quaternions import IDENTITY, Quat, Vec3, pose_port
from handloom.retarget.transforms import checked_transform
from handloom.spatial import relative_pose

# The published fallback for a robot whose end effector is not wired: in front of the base, a hand above the table [m].
FALLBACK_HOME = (0.22, 0.0, 0.12)


class SO101ClutchRetargeter(BaseRetargeter):
    """Gives ``ee_pose``: position in the robot base [m] driven by the motion of the hand since it engaged.

    On the first RUNNING frame the node latches the hand's position p0, the base rotation and a home, and from
    then on gives home + scale * R_world_base' (p - p0). The home is the live end effector where it is wired,
    otherwise the last commanded position, and before the first command the fallback. The quaternion is the
    grip's, unchanged; position-only inverse kinematics drops it.

    A frame without a usable pose (absent, flagged invalid, not finite, zero quaternion) holds the last pose
    and re-arms: the next good frame continues from the last command, wherever the hand went meanwhile. A reset
    forgets the home. Until the first engage the held pose is the live end effector where wired.

    Args:
        name: Name of the node.
        input_device: Port of the controller, whose poses are in the world.
        home_base_T_ee: Fallback home, position (3,) or pose (4, 4) in the base; only the position is used.
        position_scale: Metres of the robot per metre of the hand.
    """

    ROBOT_EE_POS_INPUT = "robot_ee_pos"
    """Optional live ``world_T_ee``."""
    ROBOT_BASE_POS_INPUT = "robot_base_pos"
    """Optional live ``world_T_base``; identity if absent."""
    OUTPUT = "ee_pose"

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

    @property
    def is_engaged(self) -> bool:
        """Whether the hand drives the arm now."""
        return self._origin is not None

    def input_spec(self) -> RetargeterIOType:
        """Return the controller and the two live transforms, all optional."""
        return {
            self._device: OptionalType(ControllerInput()),
            self.ROBOT_EE_POS_INPUT: OptionalType(TransformMatrix()),
            self.ROBOT_BASE_POS_INPUT: OptionalType(TransformMatrix()),
        }

    def output_spec(self) -> RetargeterIOType:
        """Return one float32 pose (7,): position [m] in the base, quaternion xyzw."""
        return {self.OUTPUT: EePose()}

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
        """Learn where the base and the end effector are; raises before anything is changed."""
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
    """Return a position scale, or refuse one that is not positive and finite."""
    if not (0.0 < scale < math.inf):
        raise InputError(f"position_scale must be positive and finite, got {scale}")
    return float(scale)


def _position(home: Any) -> Vec3:
    """Return the position of a pose (4, 4) or of a position (3,)."""
    values = np.asarray(home, float)
    if values.shape == (4, 4):
        values = values[:3, 3]
    if values.shape != (3,) or not np.all(np.isfinite(values)):
        raise InputError(f"a home is a finite position (3,) or pose (4, 4), got {home!r}")
    x, y, z = values.tolist()
    return x, y, z

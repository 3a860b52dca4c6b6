"""Hand motion as full end-effector pose, engaged by squeezing."""

import math

import numpy as np
from numpy.typing import ArrayLike

from handloom.errors import InputError
from handloom.retarget.graph.base_retargeter import BaseRetargeter
from handloom.retarget.graph.compute_context import ComputeContext
from handloom.retarget.graph.execution_cache import RetargeterIO
from handloom.retarget.graph.graph_executable import RetargeterIOType
from handloom.retarget.graph.tensor_group_type import OptionalType
from handloom.retarget.inputs.controller_input import ControllerInput, ControllerInputIndex
from handloom.retarget.inputs.robot_values import EePose, TransformMatrix, bool_signal
from handloom.retarget.nodes.controller_pose import checked_pose_name, controller_pose
from handloom.retarget.nodes.so101_clutch_retargeter import checked_scale
from handloom.retarget.quaternions import Quat, Vec3, conjugate, multiply, pose_port, quat_of_rotation, usable_quat
from handloom.retarget.transforms import checked_transform


class SO101PoseClutchRetargeter(BaseRetargeter):
    """Gives ``ee_pose``: the last command moved by what the hand did since the squeeze.

    pos = home + scale (p - p0), rot = (q q0^-1) home_rot, all in the robot base, in which the controller's
    poses must already be. Orientation follows one to one and is composed from the left. The home is the
    measured position if wired, else the last command; the rotation of the home is always the last command,
    never measured, so that re-clutching does not drift. Every frame that cannot drive (absent, invalid, not
    finite, not RUNNING, squeeze at or below the threshold) holds the pose and re-arms. State is float64 and
    never read back from the float32 output.

    Args:
        name: Name of the node.
        home_base_T_ee: Pose (4, 4) to start from and to return to on reset.
        input_device: Port of the controller.
        controller_pose: ``"grip"`` or ``"aim"``.
        position_scale: Metres of the robot per metre of the hand.
        squeeze_threshold: The squeeze must be above this, in [0, 1).
    """

    MEASURED_INPUT = "measured_base_T_ee"
    """Optional measured pose; its position is read on the latch frame only."""
    PERMIT_INPUT = "engage_permitted"
    """Optional permission to latch; absent means permitted, and it does not end an engagement."""
    OUTPUT = "ee_pose"

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

    @property
    def is_engaged(self) -> bool:
        """Whether the hand drives the arm now."""
        return self._origin is not None

    def input_spec(self) -> RetargeterIOType:
        """Return the controller, the measured pose and the permission, all optional."""
        return {
            self._device: OptionalType(ControllerInput()),
            self.MEASURED_INPUT: OptionalType(TransformMatrix()),
            self.PERMIT_INPUT: OptionalType(bool_signal("permitted")),
        }

    def output_spec(self) -> RetargeterIOType:
        """Return one float32 pose (7,): position [m] in the base, quaternion xyzw."""
        return {self.OUTPUT: EePose()}

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
        permit, measured = inputs[self.PERMIT_INPUT], inputs[self.MEASURED_INPUT]
        if not permit.is_none and not permit[0]:
            return False
        position = self._position
        if not measured.is_none:
            x, y, z = measured[0][:3, 3].tolist()
            if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(z)):
                raise InputError(f"{self.MEASURED_INPUT} of {self.name!r} must be finite, got {np.array([x, y, z])}")
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

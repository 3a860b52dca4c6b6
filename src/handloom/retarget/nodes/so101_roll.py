"""The roll of the hand as a joint angle, which position-only inverse kinematics would lose."""

import math

from handloom.errors import InputError, suggest
from handloom.retarget.graph.execution import ComputeContext, RetargeterIO, RetargeterIOType
from handloom.retarget.graph.groups import OptionalType
from handloom.retarget.graph.retargeter import BaseRetargeter
from handloom.retarget.inputs import ControllerInput, float_signal
from handloom.retarget.nodes.controller_pose import controller_pose
from handloom.retarget.quaternions import Quat, Vec3, conjugate, multiply, rotate, twist_angle

Z_AXIS: Vec3 = (0.0, 0.0, 1.0)
# Start value of each axis mode: zero for the absolute roll, the published half turn for the relative one.
START = {"world_z": 0.0, "local_z": math.pi}


class SO101RollRetargeter(BaseRetargeter):
    """Outputs ``roll_command`` [rad]: sign times the twist of the grip about an axis, plus an offset.

    With ``axis="world_z"`` (as on the published page) the twist is absolute, about the fixed z axis of the world: it
    includes the yaw of the hand, and it ignores the execution state. With ``axis="local_z"`` the twist is about the
    grip's own z axis and relative to the grip on the first RUNNING frame; the value freezes while not RUNNING and
    continues from there, so engaging never turns the wrist. Frames without a pose hold the value.

    Args:
        name: Name of the node.
        input_device: Port of the controller.
        axis: ``"world_z"`` or ``"local_z"``.
        unwrap: Follow the twist beyond half a turn instead of jumping by 2 pi.
        sign: Factor on the twist.
        offset: Added to an absolute roll [rad].
        start: Value before the first pose and after a reset [rad]; 0 for world_z, pi for local_z.
    """

    OUTPUT = "roll_command"

    def __init__(
        self,
        name: str,
        input_device: str = "controller_right",
        *,
        axis: str = "world_z",
        unwrap: bool = False,
        sign: float = 1.0,
        offset: float = 0.0,
        start: float | None = None,
    ) -> None:
        if axis not in START:
            raise InputError(f"roll node {name!r}: no axis {axis!r}; {suggest(axis, START)}")
        self._device = input_device
        self._relative = axis == "local_z"
        self._unwrap, self._sign, self._offset = unwrap, float(sign), float(offset)
        self._start = START[axis] if start is None else float(start)
        self._forget()
        super().__init__(name)

    def _forget(self) -> None:
        self._roll = self._start
        self._baseline = self._start
        self._q_origin: Quat | None = None
        self._twist: float | None = None

    def input_spec(self) -> RetargeterIOType:
        """Return the controller, optional."""
        return {self._device: OptionalType(ControllerInput())}

    def output_spec(self) -> RetargeterIOType:
        """Return one float, ``roll_value`` [rad]."""
        return {self.OUTPUT: float_signal(self.OUTPUT, "roll_value")}

    def _compute_fn(self, inputs: RetargeterIO, outputs: RetargeterIO, context: ComputeContext) -> None:
        if context.execution_events.reset:
            self._forget()
        pose = controller_pose(inputs[self._device])
        if self._relative:
            self._follow_relative(pose and pose[1], context.is_running)
        elif pose is not None:
            self._roll = self._sign * self._continued(twist_angle(pose[1], Z_AXIS)) + self._offset
        outputs[self.OUTPUT][0] = self._roll

    def _follow_relative(self, quat: Quat | None, running: bool) -> None:
        if quat is None or not running:
            # A frame without a pose also re-arms: the hand may have turned while it was lost.
            self._q_origin = None
            return
        if self._q_origin is None:
            self._q_origin, self._baseline, self._twist = quat, self._roll, 0.0
        twist = self._continued(twist_angle(multiply(conjugate(self._q_origin), quat), Z_AXIS))
        self._roll = self._baseline + self._sign * twist

    def _continued(self, twist: float) -> float:
        """Return the twist, shifted by whole turns to be nearest to the last one if unwrapping is on."""
        if self._unwrap and self._twist is not None:
            twist += 2.0 * math.pi * round((self._twist - twist) / (2.0 * math.pi))
        self._twist = twist
        return twist


class SO101WristRetargeter(SO101RollRetargeter):
    """Outputs ``roll_command`` about the grip's own z axis, and ``pitch_command``, the elevation of the aim ray [rad].

    The pitch is absolute: atan2(z, hypot(x, y)) of the aim's z axis. It holds while not RUNNING and in frames without
    an aim pose; a reset gives 0.

    Args:
        name: Name of the node.
        input_device: Port of the controller.
    """

    PITCH_OUTPUT = "pitch_command"

    def __init__(self, name: str, input_device: str = "controller_right") -> None:
        super().__init__(name, input_device, axis="local_z")

    def _forget(self) -> None:
        super()._forget()
        self._pitch = 0.0

    def output_spec(self) -> RetargeterIOType:
        """Return two floats, ``pitch_value`` and ``roll_value`` [rad]."""
        return {self.PITCH_OUTPUT: float_signal(self.PITCH_OUTPUT, "pitch_value"), **super().output_spec()}

    def _compute_fn(self, inputs: RetargeterIO, outputs: RetargeterIO, context: ComputeContext) -> None:
        super()._compute_fn(inputs, outputs, context)
        aim = controller_pose(inputs[self._device], "aim")
        if aim is not None and context.is_running:
            x, y, z = rotate(aim[1], Z_AXIS)
            self._pitch = math.atan2(z, math.hypot(x, y))
        outputs[self.PITCH_OUTPUT][0] = self._pitch

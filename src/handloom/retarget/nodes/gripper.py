"""Grippers: analog from the trigger for the SO-101, or open and closed from a trigger or a pinch."""

import math
from dataclasses import dataclass

from handloom.errors import InputError
from handloom.retarget.graph.execution import ComputeContext, RetargeterIO, RetargeterIOType
from handloom.retarget.graph.groups import OptionalTensorGroup, OptionalType
from handloom.retarget.graph.retargeter import BaseRetargeter
from handloom.retarget.inputs import (
    ControllerInput,
    ControllerInputIndex,
    HandInput,
    HandInputIndex,
    HandJointIndex,
    float_signal,
)

# The published dead zone: resting fingers press a trigger by a few percent.
DEAD_ZONE = 0.05


class SO101GripperRetargeter(BaseRetargeter):
    """Outputs ``gripper_command``: closedness 0 (open) to 1 (closed), clamp((trigger - 0.05) / 0.95, 0, 1).

    An absent controller or a trigger that is not a number holds the last value. The jaw follows the trigger in every
    execution state, so that a held cube is not dropped when the session pauses. A reset opens the jaw unless the
    trigger sets it in the same frame. Downstream, the jaw joint is open + (close - open) * closedness.

    Args:
        name: Name of the node.
        input_device: Port of the controller.
    """

    OUTPUT = "gripper_command"

    def __init__(self, name: str, input_device: str = "controller_right") -> None:
        self._device = input_device
        self._closedness = 0.0
        super().__init__(name)

    def input_spec(self) -> RetargeterIOType:
        """Return the controller, optional."""
        return {self._device: OptionalType(ControllerInput())}

    def output_spec(self) -> RetargeterIOType:
        """Return one float, ``gripper_value``."""
        return {self.OUTPUT: float_signal(self.OUTPUT, "gripper_value")}

    def _compute_fn(self, inputs: RetargeterIO, outputs: RetargeterIO, context: ComputeContext) -> None:
        if context.execution_events.reset:
            self._closedness = 0.0
        controller = inputs[self._device]
        if not controller.is_none:
            trigger = controller[ControllerInputIndex.TRIGGER_VALUE]
            if not math.isnan(trigger):
                self._closedness = min(max((trigger - DEAD_ZONE) / (1.0 - DEAD_ZONE), 0.0), 1.0)
        outputs[self.OUTPUT][0] = self._closedness


OPEN, CLOSED = 1.0, -1.0


@dataclass
class GripperRetargeterConfig:
    """Settings of ``GripperRetargeter``."""

    hand_side: str = "right"
    """``left`` or ``right``."""
    gripper_close_meters: float = 0.03
    """Distance of thumb and index tips below which the gripper closes [m]."""
    gripper_open_meters: float = 0.05
    """Distance of thumb and index tips above which the gripper opens [m]."""
    controller_threshold: float = 0.5
    """Trigger value above which the gripper closes."""

    def __post_init__(self) -> None:
        """Reject unknown sides and a reversed hysteresis band."""
        if self.hand_side not in {"left", "right"}:
            raise InputError(f"hand_side must be 'left' or 'right', got {self.hand_side!r}")
        if not 0.0 <= self.gripper_close_meters <= self.gripper_open_meters:
            raise InputError(
                "gripper_close_meters must not be above gripper_open_meters, got "
                f"{self.gripper_close_meters} and {self.gripper_open_meters}"
            )


class GripperRetargeter(BaseRetargeter):
    """Outputs ``gripper_command``: -1 closed, +1 open.

    The controller takes precedence when it is present; otherwise the distance of thumb and index tips decides, with
    hysteresis. A frame with neither opens the gripper without changing the state. Values that are not numbers hold the
    last command. A reset first opens the gripper.

    Args:
        config: Settings.
        name: Name of the node.
    """

    OUTPUT = "gripper_command"

    def __init__(self, config: GripperRetargeterConfig, name: str) -> None:
        self._config = config
        self._controller, self._hand = f"controller_{config.hand_side}", f"hand_{config.hand_side}"
        self._command = OPEN
        super().__init__(name)

    def input_spec(self) -> RetargeterIOType:
        """Return controller and hand of the side, both optional."""
        return {self._controller: OptionalType(ControllerInput()), self._hand: OptionalType(HandInput())}

    def output_spec(self) -> RetargeterIOType:
        """Return one float, ``command``."""
        return {self.OUTPUT: float_signal(self.OUTPUT, "command")}

    def _compute_fn(self, inputs: RetargeterIO, outputs: RetargeterIO, context: ComputeContext) -> None:
        controller, hand = inputs[self._controller], inputs[self._hand]
        if context.execution_events.reset:
            self._command = OPEN
        if not controller.is_none:
            trigger = controller[ControllerInputIndex.TRIGGER_VALUE]
            if not math.isnan(trigger):
                self._command = CLOSED if trigger > self._config.controller_threshold else OPEN
        elif not hand.is_none:
            pinch = _pinch_distance(hand)
            # A NaN distance fails both comparisons, so the state is held.
            if pinch > self._config.gripper_open_meters:
                self._command = OPEN
            elif pinch < self._config.gripper_close_meters:
                self._command = CLOSED
        lost = controller.is_none and hand.is_none
        outputs[self.OUTPUT][0] = OPEN if lost else self._command


def _pinch_distance(hand: OptionalTensorGroup) -> float:
    """Return the distance between thumb tip and index tip [m], NaN if either is not valid."""
    valid, positions = hand[HandInputIndex.JOINT_VALID], hand[HandInputIndex.JOINT_POSITIONS]
    if not (valid[HandJointIndex.THUMB_TIP] and valid[HandJointIndex.INDEX_TIP]):
        return math.nan
    return math.dist(positions[HandJointIndex.THUMB_TIP].tolist(), positions[HandJointIndex.INDEX_TIP].tolist())

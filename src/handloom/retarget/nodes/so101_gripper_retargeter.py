"""The trigger as jaw closedness."""

import math

from handloom.retarget.graph.base_retargeter import BaseRetargeter
from handloom.retarget.graph.compute_context import ComputeContext
from handloom.retarget.graph.execution_cache import RetargeterIO
from handloom.retarget.graph.graph_executable import RetargeterIOType
from handloom.retarget.graph.tensor_group_type import OptionalType
from handloom.retarget.inputs.controller_input import ControllerInput, ControllerInputIndex
from handloom.retarget.inputs.robot_values import float_signal

# Resting fingers press a trigger by a few percent; the published dead zone.
DEAD_ZONE = 0.05


class SO101GripperRetargeter(BaseRetargeter):
    """Gives ``gripper_command``: closedness 0 (open) to 1 (closed), clamp((trigger - 0.05) / 0.95, 0, 1).

    An absent controller or a trigger that is not a number holds the last value. The jaw follows the trigger in every
    execution state, so that a held cube is not dropped when the session pauses. A reset opens the jaw
    unless the trigger says otherwise in the same frame. Downstream, the jaw joint is
    open + (close - open) * closedness.

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

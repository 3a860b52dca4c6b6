"""The buttons of a session as STOPPED, PAUSED or RUNNING."""

from handloom.retarget.graph.base_retargeter import BaseRetargeter
from handloom.retarget.graph.compute_context import ComputeContext, ExecutionEvents, ExecutionState
from handloom.retarget.graph.execution_cache import RetargeterIO
from handloom.retarget.graph.graph_executable import RetargeterIOType
from handloom.retarget.graph.scalar_types import BoolType
from handloom.retarget.graph.tensor_group import OptionalTensorGroup
from handloom.retarget.graph.tensor_group_type import OptionalType, TensorGroupType
from handloom.retarget.inputs.robot_values import bool_signal

ONE_HOT = (ExecutionState.STOPPED, ExecutionState.PAUSED, ExecutionState.RUNNING)
NEXT = {
    ExecutionState.STOPPED: ExecutionState.PAUSED,
    ExecutionState.PAUSED: ExecutionState.RUNNING,
    ExecutionState.RUNNING: ExecutionState.PAUSED,
}


class DefaultTeleopStateManager(BaseRetargeter):
    """Gives ``teleop_state`` (three bools: stopped, paused, running) and ``reset_event`` (one bool).

    It starts STOPPED. Kill stops and resets on every frame it is held. Each press of run toggle goes
    STOPPED > PAUSED > RUNNING > PAUSED. A press of reset pulses once and keeps the state. If kill or run toggle
    is lost, it stops at once, with one reset pulse on the first such frame if the reset button is still there;
    a button that is down when it comes back is not a press.

    Args:
        name: Name of the node.
    """

    INPUT_KILL = "kill_button"
    INPUT_RUN_TOGGLE = "run_toggle_button"
    INPUT_RESET = "reset_button"
    OUTPUT_TELEOP_STATE = "teleop_state"
    OUTPUT_RESET_EVENT = "reset_event"

    def __init__(self, name: str) -> None:
        self._state = ExecutionState.STOPPED
        self._lost = False
        # None until seen: a button that is down when first seen was not pressed now.
        self._toggle: bool | None = False
        self._reset: bool | None = False
        super().__init__(name)

    def input_spec(self) -> RetargeterIOType:
        """Return the three buttons, optional."""
        return {
            port: OptionalType(bool_signal()) for port in (self.INPUT_KILL, self.INPUT_RUN_TOGGLE, self.INPUT_RESET)
        }

    def output_spec(self) -> RetargeterIOType:
        """Return the state, one-hot, and the reset pulse."""
        states = [BoolType(str(state)) for state in ONE_HOT]
        return {
            self.OUTPUT_TELEOP_STATE: TensorGroupType(self.OUTPUT_TELEOP_STATE, states),
            self.OUTPUT_RESET_EVENT: bool_signal(self.OUTPUT_RESET_EVENT),
        }

    def _compute_fn(self, inputs: RetargeterIO, outputs: RetargeterIO, context: ComputeContext) -> None:
        kill, toggle, reset = (_read(inputs[port]) for port in self._inputs)
        pulse = bool(reset) and self._reset is False
        if kill is None or toggle is None:
            self._state = ExecutionState.STOPPED
            pulse = pulse or (reset is not None and not self._lost)
        elif kill:
            self._state, pulse = ExecutionState.STOPPED, True
        elif toggle and self._toggle is False:
            self._state = NEXT[self._state]
        self._lost = kill is None or toggle is None
        self._toggle, self._reset = toggle, reset
        for index, state in enumerate(ONE_HOT):
            outputs[self.OUTPUT_TELEOP_STATE][index] = state == self._state
        outputs[self.OUTPUT_RESET_EVENT][0] = pulse


def execution_events(outputs: RetargeterIO) -> ExecutionEvents:
    """Return the events that the outputs of a state manager ask for."""
    one_hot = outputs[DefaultTeleopStateManager.OUTPUT_TELEOP_STATE]
    state = next((s for i, s in enumerate(ONE_HOT) if one_hot[i]), ExecutionState.UNKNOWN)
    return ExecutionEvents(outputs[DefaultTeleopStateManager.OUTPUT_RESET_EVENT][0], state)


def _read(group: OptionalTensorGroup) -> bool | None:
    return None if group.is_none else group[0]

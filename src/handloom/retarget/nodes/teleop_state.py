"""Debounced buttons, and the state machine STOPPED, PAUSED, RUNNING that they control."""

import math
from collections.abc import Callable

import numpy as np

from handloom.errors import InputError
from handloom.retarget.graph.execution import (
    ComputeContext,
    ExecutionEvents,
    ExecutionState,
    OutputSelector,
    RetargeterIO,
    RetargeterIOType,
)
from handloom.retarget.graph.groups import OptionalTensorGroup, OptionalType, TensorGroupType
from handloom.retarget.graph.retargeter import BaseRetargeter
from handloom.retarget.graph.types import BoolType
from handloom.retarget.graph.wiring import RetargeterSubgraph
from handloom.retarget.inputs import bool_signal

SelectorFn = Callable[[OptionalTensorGroup], bool | float | None]
"""A present group > travel of the button, or None if unknown."""


class BoolSelector(BaseRetargeter):
    """Outputs one bool of a group: pressed from a threshold on, released below another, each for a few frames.

    An absent group, or None from the function, makes the output absent and clears the state: after a loss, a held
    button must be seen pressed for ``activate_frames`` again. A value that is not a number also counts as a loss.
    """

    INPUT = "input"

    def __init__(
        self,
        name: str,
        group_type: TensorGroupType,
        selector_fn: SelectorFn,
        *,
        output_name: str,
        threshold: float,
        release_threshold: float,
        activate_frames: int,
        deactivate_frames: int,
        initial_state: bool,
    ) -> None:
        if release_threshold > threshold:
            raise InputError(f"button {name!r}: release_threshold {release_threshold} is above threshold {threshold}")
        if activate_frames < 1 or deactivate_frames < 1:
            raise InputError(
                f"button {name!r}: activate_frames and deactivate_frames must be >= 1, got {activate_frames}, "
                f"{deactivate_frames}"
            )
        self._group_type, self._selector_fn, self._output = OptionalType(group_type), selector_fn, output_name
        self._press, self._release = threshold, release_threshold
        self._frames = {True: activate_frames, False: deactivate_frames}
        self._initial = self._state = initial_state
        self._against = 0
        super().__init__(name)

    def input_spec(self) -> RetargeterIOType:
        """Return the port of the group with the button, optional."""
        return {self.INPUT: self._group_type}

    def output_spec(self) -> RetargeterIOType:
        """Return one bool, optional."""
        return {self._output: OptionalType(bool_signal(self._output))}

    def _compute_fn(self, inputs: RetargeterIO, outputs: RetargeterIO, context: ComputeContext) -> None:
        group = inputs[self.INPUT]
        value = None if group.is_none else self._selector_fn(group)
        if value is None or math.isnan(value):
            self._state, self._against = self._initial, 0
            return
        # A bool is pressed or not; thresholds apply to the travel of analog buttons.
        pressed = value >= (self._release if self._state else self._press)
        wanted = bool(value) if isinstance(value, (bool, np.bool_)) else pressed
        self._against = 0 if wanted == self._state else self._against + 1
        if self._against >= self._frames[wanted]:
            self._state, self._against = wanted, 0
        outputs[self._output][0] = self._state


def create_bool_selector(
    source_output_selector: OutputSelector,
    *,
    name: str,
    selector_fn: SelectorFn,
    output_name: str = "value",
    threshold: float = 0.5,
    release_threshold: float | None = None,
    activate_frames: int = 2,
    deactivate_frames: int = 2,
    initial_state: bool = False,
) -> RetargeterSubgraph:
    """Return a debounced button for one output of a graph.

    Args:
        source_output_selector: The output with the button, e.g. a controller.
        name: Name of the node.
        selector_fn: Returns the travel of the button from the present group; None if unknown.
        output_name: Name of the output, one optional bool.
        threshold: Pressed at or above this value; bools are not compared.
        release_threshold: Released below this value; the default is ``threshold``.
        activate_frames: Consecutive frames for which the button must be seen pressed.
        deactivate_frames: Consecutive frames for which it must be seen released.
        initial_state: State before the first frame and after a loss.
    """
    node = BoolSelector(
        name,
        source_output_selector.group_type,
        selector_fn,
        output_name=output_name,
        threshold=threshold,
        release_threshold=threshold if release_threshold is None else release_threshold,
        activate_frames=activate_frames,
        deactivate_frames=deactivate_frames,
        initial_state=initial_state,
    )
    return node.connect({BoolSelector.INPUT: source_output_selector})


ONE_HOT = (ExecutionState.STOPPED, ExecutionState.PAUSED, ExecutionState.RUNNING)
NEXT = {
    ExecutionState.STOPPED: ExecutionState.PAUSED,
    ExecutionState.PAUSED: ExecutionState.RUNNING,
    ExecutionState.RUNNING: ExecutionState.PAUSED,
}


def teleop_control_states() -> list[ExecutionState]:
    """Return the states of a state channel, in order."""
    return list(ONE_HOT)


def teleop_state_channel() -> TensorGroupType:
    """Return the type of a state, three bools of which one is set: stopped, paused, running."""
    return TensorGroupType("teleop_state", [BoolType(str(state)) for state in ONE_HOT])


def reset_event_channel() -> TensorGroupType:
    """Return the type of a reset pulse, one bool."""
    return bool_signal("reset_event")


def teleop_state_manager_output_spec() -> RetargeterIOType:
    """Return the outputs of every state manager."""
    return {
        TeleopStateManager.OUTPUT_TELEOP_STATE: teleop_state_channel(),
        TeleopStateManager.OUTPUT_RESET_EVENT: reset_event_channel(),
    }


class TeleopStateManager(BaseRetargeter):
    """A node that decides whether commands are active; subclass it for other buttons."""

    OUTPUT_TELEOP_STATE = "teleop_state"
    OUTPUT_RESET_EVENT = "reset_event"

    def output_spec(self) -> RetargeterIOType:
        """Return the state, one-hot, and the reset pulse."""
        return teleop_state_manager_output_spec()


class DefaultTeleopStateManager(TeleopStateManager):
    """Outputs ``teleop_state`` (three bools: stopped, paused, running) and ``reset_event`` (one bool).

    It starts STOPPED. Kill stops and resets in every frame in which it is held. Each press of run toggle goes
    STOPPED > PAUSED > RUNNING > PAUSED. A press of reset pulses once and keeps the state. If kill or run toggle is
    lost, the node stops at once, with one reset pulse in the first such frame if the reset button is still present; a
    button that is down when it reappears does not count as a press.

    Args:
        name: Name of the node.
    """

    INPUT_KILL = "kill_button"
    INPUT_RUN_TOGGLE = "run_toggle_button"
    INPUT_RESET = "reset_button"

    def __init__(self, name: str) -> None:
        self._state = ExecutionState.STOPPED
        self._lost = False
        # None until seen: a button that is down when first seen does not count as a press.
        self._toggle: bool | None = False
        self._reset: bool | None = False
        super().__init__(name)

    def input_spec(self) -> RetargeterIOType:
        """Return the three buttons, optional."""
        ports = (self.INPUT_KILL, self.INPUT_RUN_TOGGLE, self.INPUT_RESET)
        return {port: OptionalType(bool_signal(port)) for port in ports}

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
        # A press right after a loss may have begun before the loss, so it does not count.
        self._toggle, self._reset = (None, None) if self._lost else (toggle, reset)
        for index, state in enumerate(ONE_HOT):
            outputs[self.OUTPUT_TELEOP_STATE][index] = state == self._state
        outputs[self.OUTPUT_RESET_EVENT][0] = pulse


def execution_events(outputs: RetargeterIO) -> ExecutionEvents:
    """Return the events requested by the outputs of a state manager; the slots of the state may be in any order.

    Raises:
        InputError: Not exactly one state is on.
    """
    one_hot = outputs[DefaultTeleopStateManager.OUTPUT_TELEOP_STATE]
    on = [slot.name for index, slot in enumerate(one_hot.group_type.types) if one_hot[index]]
    if len(on) != 1:
        raise InputError(
            f"teleop_control_pipeline output 'teleop_state' must be one-hot, got {', '.join(on) or 'no state'}"
        )
    return ExecutionEvents(bool(outputs[DefaultTeleopStateManager.OUTPUT_RESET_EVENT][0]), ExecutionState(on[0]))


def _read(group: OptionalTensorGroup) -> bool | None:
    return None if group.is_none else group[0]

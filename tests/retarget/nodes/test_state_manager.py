"""Buttons and the state of a session: debouncing, toggling, killing, losing the operator."""

import math

import pytest
from controller_samples import controller

from handloom.retarget import (
    ControllerInputIndex,
    ControllerSnapshot,
    ControllersSource,
    DefaultTeleopStateManager,
    ExecutionState,
    TeleopStateManager,
    bool_signal,
    create_bool_selector,
    execution_events,
    group_of,
)

STOPPED, PAUSED, RUNNING = ExecutionState.STOPPED, ExecutionState.PAUSED, ExecutionState.RUNNING


def step(node, kill=False, toggle=False, reset=False):
    """Run one frame; None is a lost button. Return state and reset pulse."""
    buttons = {"kill_button": kill, "run_toggle_button": toggle, "reset_button": reset}
    inputs = {port: group_of(bool_signal(), value) for port, value in buttons.items() if value is not None}
    events = execution_events(node(inputs))
    return events.execution_state, events.reset


def started() -> DefaultTeleopStateManager:
    node = DefaultTeleopStateManager("m")
    for toggle in (True, False, True, False):
        step(node, toggle=toggle)
    assert step(node) == (RUNNING, False)
    return node


def test_toggling_goes_stopped_paused_running_paused() -> None:
    node = DefaultTeleopStateManager("m")
    states = [step(node, toggle=toggle)[0] for toggle in (False, True, True, False, True, False, True)]
    assert states == [STOPPED, PAUSED, PAUSED, PAUSED, RUNNING, RUNNING, PAUSED]


def test_kill_stops_and_resets_as_long_as_it_is_held() -> None:
    node = started()
    assert [step(node, kill=True, toggle=True) for _ in range(3)] == [(STOPPED, True)] * 3
    assert step(node, toggle=True) == (STOPPED, False)


def test_reset_pulses_once_and_keeps_the_state() -> None:
    node = started()
    assert [step(node, reset=reset) for reset in (True, True, False, True)] == [
        (RUNNING, True),
        (RUNNING, False),
        (RUNNING, False),
        (RUNNING, True),
    ]


@pytest.mark.parametrize("lost", [{"kill": None}, {"toggle": None}])
def test_losing_a_button_stops_at_once_with_one_reset(lost) -> None:
    node = started()
    assert step(node, **lost) == (STOPPED, True)
    assert step(node, **lost) == (STOPPED, False)
    assert step(node) == (STOPPED, False)


def test_losing_everything_stops_without_a_reset() -> None:
    assert step(started(), kill=None, toggle=None, reset=None) == (STOPPED, False)


def test_a_press_right_after_kill_was_lost_does_not_count() -> None:
    node = started()
    assert step(node, kill=None)[0] is STOPPED
    assert step(node, toggle=True)[0] is STOPPED
    step(node)
    assert step(node, toggle=True)[0] is PAUSED


def test_a_button_held_while_it_comes_back_is_not_a_press() -> None:
    node = started()
    step(node, kill=None, toggle=None, reset=None)
    assert step(node, toggle=True, reset=True) == (STOPPED, False)
    step(node)
    assert step(node, toggle=True) == (PAUSED, False)


def button(**settings):
    controllers = ControllersSource("controllers")
    graph = create_bool_selector(
        controllers.output(ControllersSource.LEFT),
        name="b",
        selector_fn=lambda group: group[ControllerInputIndex.TRIGGER_VALUE],
        **settings,
    )

    def press(value):
        sample = None if value is None else ControllerSnapshot(trigger_value=value)
        group = graph({"controllers": controllers.raw_inputs({"controller_left": sample})})["value"]
        return None if group.is_none else group[0]

    return press


def test_a_button_needs_two_frames_to_change() -> None:
    press = button()
    assert [press(v) for v in (1, 0, 1, 1, 0, 1, 0, 0)] == [False, False, False, True, True, True, True, False]


def test_between_the_thresholds_the_button_keeps_its_state() -> None:
    press = button(threshold=0.7, release_threshold=0.3, activate_frames=1, deactivate_frames=1)
    assert [press(v) for v in (0.5, 0.8, 0.5, 0.31, 0.29, 0.5)] == [False, True, True, True, False, False]


@pytest.mark.parametrize("lost", [None, math.nan])
def test_a_lost_button_is_absent_and_starts_over(lost) -> None:
    press = button()
    assert [press(v) for v in (1.0, 1.0, lost, 1.0, 1.0)] == [False, True, None, False, True]


def test_a_function_may_say_that_it_does_not_know() -> None:
    controllers = ControllersSource("c")
    graph = create_bool_selector(controllers.output("controller_left"), name="b", selector_fn=lambda group: None)
    assert graph.target_module({"input": controller()})["value"].is_none


def test_impossible_buttons_are_refused() -> None:
    with pytest.raises(ValueError, match="above threshold"):
        button(threshold=0.2, release_threshold=0.5)
    with pytest.raises(ValueError, match=">= 1"):
        button(activate_frames=0)


def test_a_button_is_pressed_at_its_threshold() -> None:
    assert pressed_after([1.0, 1.0], threshold=1.0) is True
    assert pressed_after([0.5, 0.5]) is True
    assert pressed_after([0.49, 0.49]) is False


def test_thresholds_do_not_apply_to_bools() -> None:
    assert pressed_after([True, True], threshold=1.5) is True
    assert pressed_after([True, True, False, False], threshold=0.0) is False


def pressed_after(values, **settings) -> bool:
    """Return the state of a debounced button after some frames."""
    source = ControllersSource("c")
    feed = iter(values)
    button = create_bool_selector(
        source.output("controller_left"), name="b", selector_fn=lambda _: next(feed), **settings
    )
    for _ in values:
        outputs = button({"c": source.raw_inputs({"controller_left": ControllerSnapshot()})})
    return outputs["value"][0]


def test_a_state_manager_of_your_own_has_the_published_outputs() -> None:
    class AlwaysRunning(TeleopStateManager):
        def input_spec(self):
            return {}

        def _compute_fn(self, inputs, outputs, context):
            for index, state in enumerate((False, False, True)):
                outputs[self.OUTPUT_TELEOP_STATE][index] = state
            outputs[self.OUTPUT_RESET_EVENT][0] = False

    assert execution_events(AlwaysRunning("m")({})).execution_state is RUNNING

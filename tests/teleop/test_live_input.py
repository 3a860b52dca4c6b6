"""The page speaks at any time, the simulation asks once per tick; a clock of the test's own says when it is."""

import threading
from collections.abc import Callable

import pytest

from handloom.retarget import ControllerSnapshot, DeviceFrame, ExecutionState
from handloom.teleop.serving.messages import InputMessage
from handloom.teleop.session.live_input import LATE, STALE, LiveInput

HAND = ControllerSnapshot(grip_position=(0, 1, 0), grip_orientation=(0, 0, 0, 1), grip_is_valid=True)


class Clock:
    """Time that passes only while somebody waits; what should happen meanwhile is given beforehand."""

    def __init__(self) -> None:
        self.time = 100.0
        self.events: list[Callable[[], None]] = []

    def now(self) -> float:
        return self.time

    def wait(self, condition: threading.Condition, timeout: float | None) -> None:
        if timeout is None:
            assert self.events, "it waits for somebody who will not come"
            self.events.pop(0)()
        else:
            self.time += timeout


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def live(clock: Clock) -> LiveInput:
    live = LiveInput(now=clock.now, wait=clock.wait)
    live.connect()
    live.begin()
    return live


def tick(live: LiveInput, number: int) -> DeviceFrame | None:
    return live.frame(number, round(number * 1e9 / 60))


def message(seq: int) -> InputMessage:
    return InputMessage(seq=seq, controller_right=HAND)


def test_nothing_runs_before_somebody_starts_and_then_ticks_come_at_their_rate(clock: Clock, live: LiveInput) -> None:
    assert live.state == ExecutionState.STOPPED
    clock.events.append(live.start)
    tick(live, 0)
    begin = clock.time
    tick(live, 60)
    assert clock.time - begin == pytest.approx(1.0)


def test_a_session_that_is_far_behind_goes_on_from_now_instead_of_hurrying(clock: Clock, live: LiveInput) -> None:
    live.start()
    tick(live, 0)
    clock.time += LATE + 1.0
    tick(live, 1)
    now = clock.time
    tick(live, 2)
    assert clock.time == pytest.approx(now + 1 / 60)


def test_samples_are_given_while_they_are_fresh_and_absent_afterwards(clock: Clock, live: LiveInput) -> None:
    live.start()
    live.hear(message(1))
    assert tick(live, 0).controller_right is HAND
    clock.time += STALE + 0.01
    live.start()
    assert tick(live, 1).controller_right is None
    live.hear(message(2))
    assert tick(live, 2).controller_right is HAND


def test_samples_that_are_not_newer_are_ignored(live: LiveInput) -> None:
    assert [live.hear(message(seq)) for seq in (5, 4, 5, 6)] == [True, False, False, True]


def test_pausing_tells_the_nodes_once_and_then_time_stands_still(clock: Clock, live: LiveInput) -> None:
    live.start()
    tick(live, 0)
    live.pause()
    assert tick(live, 1).state == ExecutionState.PAUSED
    clock.events.append(live.start)
    clock.time += 60.0
    frame = tick(live, 2)
    assert frame.state == ExecutionState.RUNNING
    assert not clock.events


def test_a_closed_socket_is_stopped_and_a_new_one_does_not_start_by_itself(clock: Clock, live: LiveInput) -> None:
    live.start()
    live.hear(message(7))
    tick(live, 0)
    live.disconnect()
    assert live.state == ExecutionState.STOPPED
    assert tick(live, 1).state == ExecutionState.STOPPED
    live.connect()
    assert live.state == ExecutionState.STOPPED
    live.start()
    assert live.hear(message(1))  # Numbers begin anew.
    assert tick(live, 2).controller_right is HAND


def test_a_page_that_is_gone_for_less_than_a_tick_re_arms_the_clutch_all_the_same(
    clock: Clock, live: LiveInput
) -> None:
    live.start()
    live.hear(message(7))
    assert tick(live, 0).controller_right is HAND
    live.disconnect()  # A reload on a busy machine: all of this happens before the simulation asks again.
    live.connect()
    live.start()
    live.hear(message(1))
    between = tick(live, 1)
    assert (between.state, between.controller_right) == (ExecutionState.STOPPED, None)
    after = tick(live, 2)
    assert (after.state, after.controller_right) == (ExecutionState.RUNNING, HAND)


def test_kill_stops_from_every_state_and_one_start_is_enough_afterwards(live: LiveInput) -> None:
    for before in (live.begin, live.start, live.pause):
        before()
        live.stop()
        assert live.state == ExecutionState.STOPPED
        live.start()
        assert live.state == ExecutionState.RUNNING


def test_an_attempt_ends_with_a_verdict_wherever_it_is(clock: Clock, live: LiveInput) -> None:
    live.end("reset")
    assert tick(live, 0) is None
    assert live.verdict() == "reset"
    live.begin()
    clock.events.append(lambda: live.end("save"))
    assert tick(live, 0) is None
    assert live.verdict() == "save"


def test_ages_of_samples_are_counted_once_each(clock: Clock, live: LiveInput) -> None:
    live.start()
    live.hear(message(1))
    clock.time += 0.005
    tick(live, 0)
    tick(live, 1)
    assert list(live.latencies) == [pytest.approx(0.005)]
    assert live.used == 1


def test_an_end_for_good_is_not_forgotten_when_the_next_scene_begins(live: LiveInput) -> None:
    live.end("finish", for_good=True)
    live.begin()
    assert tick(live, 0) is None
    assert live.verdict() == "finish"

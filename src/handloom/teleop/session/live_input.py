"""The current device input of an operator, and whether the robot may move."""

import threading
import time
from collections import deque
from collections.abc import Callable

from handloom.retarget import (
    ControllerSnapshot,
    DefaultTeleopStateManager,
    DeviceFrame,
    ExecutionState,
    LeaderSnapshot,
    bool_signal,
    group_of,
)
from handloom.retarget.nodes.teleop_state import execution_events
from handloom.teleop.serving.messages import InputMessage

STALE = 0.2
"""Samples older than this are ignored [s]: the clutch holds until the next one."""
LATE = 0.25
"""A session that lags by more than this continues from now instead of catching up [s]."""
LATENCIES = 600
"""Number of sample ages to remember."""

Wait = Callable[[threading.Condition, float | None], None]


class LiveInput:
    """Connects the page, which sends samples at any time, and the simulation, which reads them once per tick.

    Time of the episode is stopped unless the state is RUNNING. A lost client stops the session at once, through the
    same state machine as controller buttons: its buttons are then absent.

    Args:
        now: Clock [s].
        wait: Waits on a condition for at most a given time [s]; None waits until it is notified.
    """

    def __init__(
        self,
        *,
        now: Callable[[], float] = time.monotonic,
        wait: Wait = lambda condition, timeout: (condition.wait(timeout), None)[1],
    ) -> None:
        self._now, self._wait = now, wait
        self._changed = threading.Condition()
        self._manager = DefaultTeleopStateManager("state")
        self.state = ExecutionState.STOPPED
        self._hands: InputMessage | None = None
        self._heard = 0.0
        self._start: tuple[float, int] | None = None
        """A time of this clock [s] and the corresponding time of the episode [ns]; None while time is stopped."""
        self._broken_off = False
        """Whether the state was not RUNNING since the last tick, however briefly."""
        self._verdict = ""
        self._over = False
        self.back = 0.0
        """Time that the operator wants to go back, if that is the verdict [s]."""
        self._leaders: dict[str, tuple[LeaderSnapshot, float]] = {}
        """Leader arms by the controller they replace, and the times at which they were read [s]."""
        self.latencies: deque[float] = deque(maxlen=LATENCIES)
        """Time from the arrival of a sample to its first use [s]."""
        self._used = -1
        self._marks: list[str] = []
        self.instruction = ""
        """Instruction in the operator's words; empty keeps the task's."""

    def mark(self, text: str) -> None:
        """Name the sub-task recorded from now on; an empty text leaves the name to the session."""
        with self._changed:
            if self.state == ExecutionState.RUNNING:
                self._marks.append(text)

    def say(self, text: str) -> None:
        """Set the instruction of this attempt, in place of the task's."""
        with self._changed:
            self.instruction = text

    def marks(self, frame: int) -> list[str]:
        """Return the names given since the last call."""
        with self._changed:
            taken, self._marks = self._marks, []
            return taken

    def hear(self, message: InputMessage) -> bool:
        """Accept a sample; return False if it is not newer than the last one and is ignored."""
        with self._changed:
            if self._hands is not None and message.seq <= self._hands.seq:
                return False
            self._hands, self._heard = message, self._now()
            return True

    def hear_leader(self, device: str, sample: LeaderSnapshot) -> None:
        """Accept the position of a leader arm that replaces a controller."""
        with self._changed:
            self._leaders[device] = sample, self._now()

    def connect(self) -> None:
        """Handle that a client takes control: sequence numbers start again, and nothing moves before it starts."""
        with self._changed:
            self._hands, self._used = None, -1
            self._press({}, {})

    def disconnect(self) -> None:
        """Handle that the client in control is gone: the session stops."""
        with self._changed:
            self._hands, self._used = None, -1
            self._press(None)

    def start(self) -> None:
        """Let time run."""
        with self._changed:
            while self.state != ExecutionState.RUNNING:
                self._press({}, {DefaultTeleopStateManager.INPUT_RUN_TOGGLE: True})

    def pause(self) -> None:
        """Stop time until it is started again."""
        with self._changed:
            if self.state == ExecutionState.RUNNING:
                self._press({}, {DefaultTeleopStateManager.INPUT_RUN_TOGGLE: True})

    def stop(self) -> None:
        """Kill: like pausing, from any state."""
        with self._changed:
            self._press({DefaultTeleopStateManager.INPUT_KILL: True})

    def end(self, verdict: str, *, for_good: bool = False, back: float = 0.0) -> None:
        """End the attempt with a verdict, which also applies to all following attempts if it is for good."""
        with self._changed:
            if self._over and not for_good:
                return
            self._verdict, self.back = verdict, back
            self._over |= for_good
            self._press({DefaultTeleopStateManager.INPUT_KILL: True})

    def begin(self) -> None:
        """Begin an attempt: stopped, without a verdict or marks."""
        with self._changed:
            self._marks = []
            self._start = None
            if not self._over:
                self._verdict = ""
            self._press({DefaultTeleopStateManager.INPUT_KILL: True})

    @property
    def is_decided(self) -> bool:
        """Whether there is a verdict on the attempt."""
        return bool(self._verdict)

    def verdict(self) -> str:
        """Wait for the verdict on the attempt."""
        with self._changed:
            while not self._verdict:
                self._wait(self._changed, None)
            return self._verdict

    def frame(self, tick: int, time_ns: int) -> DeviceFrame | None:
        """Return the samples of a tick when it is due; None once the attempt has ended.

        After the state leaves RUNNING, even briefly, one more tick informs the nodes, so that clutches re-arm; then
        time is stopped until the state is RUNNING again.
        """
        with self._changed:
            while not self._verdict:
                if self._start is None:
                    self._broken_off = False
                elif self._broken_off:
                    self._broken_off, self._start = False, None
                    running = self.state == ExecutionState.RUNNING
                    return DeviceFrame(time_ns=time_ns, state=ExecutionState.STOPPED if running else self.state)
                if self.state != ExecutionState.RUNNING:
                    self._wait(self._changed, None)
                    continue
                left = self._time_left(time_ns)
                if left <= 0.0:
                    controller_left, controller_right = self._fresh()
                    return DeviceFrame(
                        time_ns=time_ns,
                        controller_left=controller_left,
                        controller_right=controller_right,
                        leader_left=self._leader("controller_left"),
                        leader_right=self._leader("controller_right"),
                    )
                self._wait(self._changed, left)
        return None

    def _time_left(self, time_ns: int) -> float:
        """Return the time until a tick is due [s]."""
        now = self._now()
        if self._start is not None:
            left = self._start[0] + (time_ns - self._start[1]) * 1e-9 - now
            if left >= -LATE:
                return left
        self._start = now, time_ns
        return 0.0

    def _fresh(self) -> tuple[ControllerSnapshot | None, ControllerSnapshot | None]:
        message, now = self._hands, self._now()
        if message is None or now - self._heard > STALE:
            return None, None
        if message.seq != self._used:
            self._used = message.seq
            self.latencies.append(now - self._heard)
        return message.controller_left, message.controller_right

    def _leader(self, device: str) -> LeaderSnapshot | None:
        """Return the leader arm that replaces a controller, on a serial line or on the page, if it sent samples."""
        now, message = self._now(), self._hands
        sample, heard = self._leaders.get(device, (None, 0.0))
        if sample is not None and now - heard <= STALE:
            return sample
        if message is None or now - self._heard > STALE:
            return None
        return message.leader_left if device == "controller_left" else message.leader_right

    @property
    def used(self) -> int:
        """Number of the sample used by the last command; -1 before the first."""
        return self._used

    def _press(self, *presses: dict[str, bool] | None) -> None:
        """Pass buttons to the state machine, one frame after another; None is a lost connection."""
        ports = DefaultTeleopStateManager.INPUT_KILL, DefaultTeleopStateManager.INPUT_RUN_TOGGLE
        for press in presses:
            seen = {} if press is None else {p: group_of(bool_signal(p), press.get(p, False)) for p in ports}
            self.state = execution_events(self._manager(seen)).execution_state
            self._broken_off |= self.state != ExecutionState.RUNNING
        self._changed.notify_all()

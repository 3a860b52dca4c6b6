"""Runs session steps in a separate thread: one running, at most one pending; only the newest result is kept."""

import copy
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from handloom.errors import StateError
from handloom.retarget.graph.execution import ComputeContext, ExecutionEvents, GraphTime, RetargeterIO
from handloom.retarget.graph.types import TensorTypeError
from handloom.retarget.runtime.pacing import Pacing


class Paced(Protocol):
    """A config with pacing rules."""

    pacing: Pacing


@dataclass(frozen=True)
class StepRequest:
    """One requested step."""

    frame_id: int
    """Number of the step, from 0."""
    external_inputs: dict[str, RetargeterIO] | None
    """Groups by port and leaf; None if nothing was given."""
    graph_time: GraphTime | None
    """Time of the frame; None uses the time of execution."""
    execution_events: ExecutionEvents | None
    """Events for the nodes; None uses those of the control graph."""
    submitted_time_s: float
    """Time of the request, on the monotonic clock [s]."""


@dataclass(frozen=True)
class RetargetFrame:
    """The result of one step."""

    frame_id: int
    outputs: RetargeterIO
    context: ComputeContext
    submitted_time_s: float
    started_time_s: float
    completed_time_s: float
    compute_duration_s: float


class AsyncRetargetWorkerError(StateError):
    """A step failed in the worker; the cause is attached."""


class AsyncRetargetRunnerStopped(StateError):  # noqa: N818 - published name
    """The worker accepts no further steps."""


def snapshot_compute_context(context: ComputeContext) -> ComputeContext:
    """Return a copy that shares nothing with ``context``."""
    return ComputeContext(context.graph_time, replace(context.execution_events))


def snapshot_retargeter_io(io: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of groups by port that shares nothing with them.

    Raises:
        TensorTypeError: A value cannot be copied.
    """
    return {port: _copied(group) for port, group in io.items()}


def snapshot_pipeline_inputs(inputs: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return a copy of groups by leaf and port that shares nothing with them."""
    return {leaf: snapshot_retargeter_io(groups) for leaf, groups in inputs.items()}


def _copied(value: Any) -> Any:
    try:
        return value.create_snapshot() if hasattr(value, "create_snapshot") else copy.deepcopy(value)
    except (TypeError, copy.Error) as error:
        raise TensorTypeError(
            "a pipelined session copies its inputs and outputs, and a value is not snapshot-copyable: give it "
            f"create_snapshot(), or use RetargetingExecutionConfig(mode='sync'); {error}"
        ) from error


def finished_frame(
    request: StepRequest, outputs: RetargeterIO, context: ComputeContext, started_s: float
) -> RetargetFrame:
    """Return the result of a step that ends now, as copies that later steps cannot change."""
    completed_s = time.monotonic()
    return RetargetFrame(
        request.frame_id,
        snapshot_retargeter_io(outputs),
        snapshot_compute_context(context),
        request.submitted_time_s,
        started_s,
        completed_s,
        completed_s - started_s,
    )


class AsyncRetargetRunner:
    """Runs steps one after another in a thread; a newer request replaces one that has not started.

    Args:
        step_fn: Runs one step.
        cfg: Has the pacing rules.
    """

    def __init__(self, step_fn: Callable[[StepRequest], tuple[RetargeterIO, ComputeContext]], cfg: Paced) -> None:
        self._step = step_fn
        self._pacing = cfg.pacing
        begin = self._pacing.startup_state()
        self._submit_period_s = begin.submit_period_s
        self._compute_duration_s = begin.compute_duration_s
        self._costs: deque[float] = deque(maxlen=begin.compute_sample_window)
        self._submission_count = 0
        self._last_submission_s: float | None = None
        self._cond = threading.Condition()
        self._waiting: StepRequest | None = None
        self._newest: RetargetFrame | None = None
        self._dropped = 0
        self._stopping = False
        self._error: BaseException | None = None
        self._error_said = False
        self._thread: threading.Thread | None = None

    @property
    def dropped_submissions(self) -> int:
        """Number of requests that were replaced by newer ones before they started."""
        with self._cond:
            return self._dropped

    def start(self) -> None:
        """Start the thread; possible only once.

        Raises:
            AsyncRetargetRunnerStopped: It was stopped.
        """
        with self._cond:
            if self._stopping:
                raise AsyncRetargetRunnerStopped("the worker was stopped and cannot be restarted; create a new one")
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="handloom-retarget", daemon=True)
                self._thread.start()

    def stop(self, timeout_s: float | None = None) -> bool:
        """Accept no further steps and wait for the current one.

        Returns:
            Whether the thread has ended; False if the step takes longer than ``timeout_s``.
        """
        with self._cond:
            self._stopping, self._waiting = True, None
            self._cond.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join(timeout_s)
            if thread.is_alive():
                return False
        with self._cond:
            self._thread = None
        return True

    def raise_if_failed(self, *, only_unreported: bool = False) -> None:
        """Raise the error of a failed step, if any.

        Args:
            only_unreported: Skip errors that were already raised.

        Raises:
            AsyncRetargetWorkerError: A step failed.
        """
        with self._cond:
            self._raise_error(only_unreported)

    def publish_seed(self, frame: RetargetFrame) -> None:
        """Store the result of a first step that ran elsewhere."""
        with self._cond:
            self._record_submission_locked(frame.submitted_time_s)
            self._keep(frame)

    def submit(self, request: StepRequest) -> int:
        """Request a step; return the number of replaced requests, 0 or 1.

        Raises:
            AsyncRetargetWorkerError: A step failed.
            AsyncRetargetRunnerStopped: The worker was stopped.
        """
        with self._cond:
            self._raise_error(False)
            if self._stopping:
                raise AsyncRetargetRunnerStopped("the worker was stopped before this submission")
            replaced = 0 if self._waiting is None else 1
            self._dropped += replaced
            self._waiting = request
            self._record_submission_locked(request.submitted_time_s)
            self._cond.notify_all()
            return replaced

    def latest(self) -> RetargetFrame | None:
        """Return the newest result, without waiting; None before the first.

        Raises:
            AsyncRetargetWorkerError: A step failed.
        """
        with self._cond:
            self._raise_error(False)
            return self._newest

    def wait_for_frame(self, frame_id: int, timeout_s: float | None = None) -> RetargetFrame | None:
        """Return the result of a step, or of a later one, once available.

        Args:
            frame_id: Number of the step.
            timeout_s: Longest time to wait [s]; None waits until the worker is stopped.

        Returns:
            The result, or None on timeout or if the worker was stopped before.
        """

        def is_there() -> bool:
            self._raise_error(False)
            return self._newest is not None and self._newest.frame_id >= frame_id

        with self._cond:
            self._cond.wait_for(lambda: is_there() or self._stopping, timeout_s)
            return self._newest if is_there() else None

    def _work(self) -> None:
        while (request := self._next_request()) is not None:
            started_s = time.monotonic()
            try:
                frame = finished_frame(request, *self._step(request), started_s)
            except BaseException as error:  # The requesting thread must see the error, whatever it is.
                with self._cond:
                    self._error = error
                    self._cond.notify_all()
                return
            with self._cond:
                self._keep(frame)

    def _next_request(self) -> StepRequest | None:
        """Wait until a request is due, and take it; None once the worker is stopped.

        A request stays pending while it waits for its time, so that a newer one can still replace it.
        """
        with self._cond:
            while not self._stopping:
                request = self._waiting
                if request is None:
                    self._cond.wait()
                    continue
                delay_s = self._delay_s(request)
                if delay_s <= 0.0 or not self._cond.wait_for(
                    lambda r=request: self._stopping or self._waiting is not r, delay_s
                ):
                    self._waiting = None
                    return request
            return None

    def _delay_s(self, request: StepRequest) -> float:
        return self._pacing.compute_delay_s(
            submitted_time_s=request.submitted_time_s,
            now_s=time.monotonic(),
            submission_count=self._submission_count,
            submit_period_s=self._submit_period_s,
            compute_duration_s=self._compute_duration_s,
            compute_duration_samples=self._costs,
        )

    def _keep(self, frame: RetargetFrame) -> None:
        cost = frame.compute_duration_s
        self._compute_duration_s = self._pacing.update_compute_duration_s(self._compute_duration_s, cost)
        self._costs.append(cost)
        self._newest = frame
        self._cond.notify_all()

    def _record_submission_locked(self, submitted_time_s: float) -> None:
        if self._last_submission_s is not None:
            period_s = submitted_time_s - self._last_submission_s
            self._submit_period_s = self._pacing.update_submit_period_s(self._submit_period_s, period_s)
        self._last_submission_s = submitted_time_s
        self._submission_count += 1

    def _raise_error(self, only_unreported: bool) -> None:
        if self._error is None or (only_unreported and self._error_said):
            return
        self._error_said = True
        raise AsyncRetargetWorkerError(f"Async retarget worker failed: {self._error}") from self._error

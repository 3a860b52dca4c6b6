"""Pipelined sessions by their published names: outputs of the frame before, copies, errors where they can be seen."""

import logging
import threading
import time

import numpy as np
import pytest
from tests.compat.session_parts import Counting, Fed, Graph, Held, Thermometer, config, no_headset, number

from handloom.compat.isaacteleop.retargeting_engine.interface import (
    ComputeContext,
    ExecutionEvents,
    ExecutionState,
    GraphTime,
    TensorGroup,
    TensorGroupType,
    TensorType,
)
from handloom.compat.isaacteleop.teleop_session_manager import (
    DeadlinePacingConfig,
    ImmediatePacingConfig,
    RetargetingExecutionConfig,
    RetargetingExecutionMode,
    TeleopSession,
    teleop_state_manager_output_spec,
)
from handloom.compat.isaacteleop.teleop_session_manager.async_retarget_runner import (
    AsyncRetargetRunner,
    AsyncRetargetRunnerStopped,
    AsyncRetargetWorkerError,
    RetargetFrame,
    StepRequest,
)

RUNNING = ExecutionState.RUNNING


def pipelined(graph, *, control=None, **execution):
    mode = RetargetingExecutionConfig(RetargetingExecutionMode.PIPELINED, **execution)
    return TeleopSession(config(graph, retargeting_execution=mode, teleop_control_pipeline=control))


def got(outputs) -> float:
    return outputs["result"][0]


def wait(session, frame: int) -> None:
    assert session._async_runner.wait_for_frame(frame, timeout_s=10.0) is not None


def test_the_first_step_runs_at_once_and_the_next_returns_what_is_ready() -> None:
    graph = Held()
    with no_headset(), pipelined(graph) as session:
        assert got(session.step()) == 0.0
        first = session.last_step_info
        assert (first.ran_synchronously, first.returned_frame_id, first.submitted_frame_id) == (True, 0, 0)
        assert got(session.step()) == 0.0
        info = session.last_step_info
        assert (info.ran_synchronously, info.returned_frame_id, info.submitted_frame_id) == (False, 0, 1)
        assert (info.returned_age_frames, info.frame_deadline_miss) == (1, False)
        assert graph.second.wait(10.0)
        assert got(session.step()) == 0.0
        assert session.last_step_info.returned_age_frames == 2
        assert session.last_step_info.frame_deadline_miss
        session.config.retargeting_execution.mode = RetargetingExecutionMode.SYNC
        session.step()
        assert session.last_step_info.dropped_submissions == 1
        assert not session.last_step_info.ran_synchronously
        graph.go_on.set()


class Echo(Graph):
    """Answers with the state it ran in; the second call waits."""

    def answer(self, call, inputs, context):
        if call == 1:
            self.second.set()
            assert self.go_on.wait(10.0)
        events = context.execution_events
        return {"result": number(1.0 if events.reset else 2.0 if events.execution_state == "paused" else 0.0)}


@pytest.mark.parametrize(("events", "answer"), [((True, RUNNING), 1.0), ((False, ExecutionState.PAUSED), 2.0)])
def test_outputs_come_with_the_events_that_they_were_computed_in(events, answer) -> None:
    graph = Echo()
    with no_headset(), pipelined(graph) as session:
        own = ExecutionEvents(*events)
        session.step(execution_events=ExecutionEvents(False, RUNNING))
        assert got(session.step(execution_events=own)) == 0.0
        assert session.last_context.execution_events == ExecutionEvents(False, RUNNING)
        assert graph.second.wait(10.0)
        own.reset, own.execution_state = False, ExecutionState.STOPPED  # The request has a copy.
        graph.go_on.set()
        wait(session, 1)
        assert got(session.step()) == answer
        assert session.last_context.execution_events == ExecutionEvents(*events)


def test_the_control_graph_is_asked_in_the_worker() -> None:
    class Control(Graph):
        def output_types(self):
            return teleop_state_manager_output_spec()

        def answer(self, call, inputs, context):
            groups = {port: TensorGroup(kind) for port, kind in self.output_types().items()}
            for index, slot in enumerate(groups["teleop_state"].group_type.types):
                groups["teleop_state"][index] = slot.name == "running"
            groups["reset_event"][0] = call == 1
            return groups

    graph = Echo()
    graph.go_on.set()
    with no_headset(), pipelined(graph, control=Control()) as session:
        assert got(session.step()) == got(session.step()) == 0.0
        wait(session, 1)
        assert got(session.step()) == 1.0
        assert session.last_context.execution_events.reset


class Passing(Graph):
    """Answers with what the application gave; the second call waits."""

    def __init__(self):
        super().__init__([Fed("fed")])

    def answer(self, call, inputs, context):
        if call == 1:
            self.second.set()
            assert self.go_on.wait(10.0)
        return {"result": number(inputs["fed"]["given"][0])}


def test_inputs_and_outputs_are_copies() -> None:
    graph = Passing()
    second = {"fed": {"given": number(2.0), "nobody": Uncopyable.group()}}
    with no_headset(), pipelined(graph) as session:
        first = session.step(external_inputs={"fed": {"given": number(1.0)}})
        first["result"][0] = 99.0
        assert got(session.step(external_inputs=second)) == 1.0
        assert graph.second.wait(10.0)
        second["fed"]["given"][0] = 99.0
        graph.go_on.set()
        wait(session, 1)
        assert got(session.step(external_inputs=second)) == 2.0


class Uncopyable(TensorType):
    """A slot for anything."""

    def _check_instance_compatibility(self, other):
        return True

    def validate_value(self, value):
        pass

    @staticmethod
    def group():
        group = TensorGroup(TensorGroupType("lock", [Uncopyable("lock")]))
        group[0] = threading.Lock()
        return group


@pytest.mark.parametrize("mode", ["sync", "pipelined"])
def test_what_cannot_be_copied_is_for_mode_sync_only(mode: str) -> None:
    graph = Graph(result={"result": Uncopyable.group()})
    session = TeleopSession(config(graph, retargeting_execution=RetargetingExecutionConfig(mode)))
    with no_headset(), session:
        if mode == "sync":
            assert session.step() is graph.result
        else:
            with pytest.raises(TypeError, match="snapshot-copyable"):
                session.step()


def test_an_error_of_the_worker_is_raised_by_the_next_step_once() -> None:
    graph = Counting()
    graph.fails_at = 1
    with no_headset(), pipelined(graph) as session:
        session.step()
        session.step()
        with pytest.raises(AsyncRetargetWorkerError):
            wait(session, 1)
        with pytest.raises(RuntimeError, match="Async retarget worker failed") as raised:
            session.step()
        assert str(raised.value.__cause__) == "graph broke"
        assert session.last_step_info.worker_exception is raised.value


@pytest.mark.parametrize("own_error", [False, True])
def test_an_error_that_no_step_has_said_is_raised_at_the_end_or_logged(own_error, caplog) -> None:
    graph = Counting()
    graph.fails_at = 1

    def run() -> None:
        with no_headset(), pipelined(graph) as session:
            session.step()
            session.step()
            while graph.calls < 2 or graph.running:
                time.sleep(0.001)
            if own_error:
                raise ValueError("mine")

    with caplog.at_level(logging.ERROR), pytest.raises(ValueError if own_error else AsyncRetargetWorkerError):
        run()
    assert ("Async retarget worker failed during TeleopSession cleanup" in caplog.text) is own_error


def test_errors_of_the_first_step_are_plain() -> None:
    class Broken(Thermometer):
        def poll_tracker(self, deviceio_session):
            raise RuntimeError("no contact")

    with no_headset(), pipelined(Graph([Broken()])) as session:
        with pytest.raises(RuntimeError, match="no contact"):
            session.step()
        assert session.last_step_info.worker_exception is None


def test_the_graph_never_runs_twice_at_a_time() -> None:
    class Slow(Counting):
        def answer(self, call, inputs, context):
            time.sleep(0.002)
            return super().answer(call, inputs, context)

    graph = Slow()
    with no_headset(), pipelined(graph) as session:
        for _ in range(8):
            session.step()
    assert graph.most == 1


# -- the worker alone ------------------------------------------------------------------------------------------------


def request(frame: int, at: float | None = None) -> StepRequest:
    events, when = ExecutionEvents(False, RUNNING), GraphTime(frame, frame)
    return StepRequest(frame, {}, when, events, time.monotonic() if at is None else at)


class Worker(AsyncRetargetRunner):
    """A worker whose steps answer with the number of their frame; frame 9 waits until it is let go."""

    def __init__(self, **execution):
        self.done, self.busy, self.go_on = [], threading.Event(), threading.Event()
        self.output = {"result": number(-1)}
        super().__init__(self.answer, RetargetingExecutionConfig("pipelined", **execution))

    def answer(self, asked: StepRequest):
        self.output["result"][0] = float(asked.frame_id)
        if asked.frame_id == 9:
            self.busy.set()
            assert self.go_on.wait(10.0)
        self.done.append(asked.frame_id)
        return self.output, ComputeContext(asked.graph_time, asked.execution_events)


def test_pacing_waits_until_the_next_frame_less_cost_and_margin() -> None:
    pacing = DeadlinePacingConfig(safety_margin_s=0.015, spike_guard_window=4)
    asked = {
        "submitted_time_s": 100.0,
        "now_s": 100.020,
        "submit_period_s": 0.050,
        "compute_duration_s": 0.010,
        "compute_duration_samples": [0.004, 0.006, 0.012],
    }
    assert pacing.compute_delay_s(submission_count=2, **asked) == pytest.approx(0.003)
    assert pacing.compute_delay_s(submission_count=1, **asked) == 0.0
    assert ImmediatePacingConfig().compute_delay_s(submission_count=2, **asked) == 0.0
    assert pacing.update_submit_period_s(0.05, 0.1) == pytest.approx(0.06)
    assert pacing.update_submit_period_s(0.05, 0.0) == 0.05
    assert pacing.update_compute_duration_s(0.01, 0.02) == pytest.approx(0.0125)


@pytest.mark.parametrize("bad", ["deadline_guarded", "fixed_delay"])
def test_unknown_pacing_is_refused(bad: str) -> None:
    assert isinstance(RetargetingExecutionConfig(pacing="deadline").pacing, DeadlinePacingConfig)
    assert isinstance(RetargetingExecutionConfig().pacing, ImmediatePacingConfig)
    with pytest.raises(ValueError, match=bad):
        RetargetingExecutionConfig(pacing=bad)
    with pytest.raises(ValueError, match="must be in"):
        DeadlinePacingConfig(spike_guard_percentile=0.0)


def test_a_paced_request_is_replaced_by_a_newer_one() -> None:
    pacing = DeadlinePacingConfig(
        frame_period_adaptation=0.01, safety_margin_s=0.0, startup_frame_period_s=0.3, startup_compute_cost_s=0.0
    )
    worker = Worker(pacing=pacing)
    now = time.monotonic()
    context = ComputeContext(GraphTime(0, 0), ExecutionEvents(False, RUNNING))
    worker.publish_seed(RetargetFrame(0, {"result": number(0)}, context, now, now, now, 0.0))
    worker.start()
    try:
        assert worker.submit(request(1)) == 0
        assert worker.latest().frame_id == 0
        assert worker.submit(request(2)) == 1
        assert worker.wait_for_frame(2, timeout_s=10.0).frame_id == 2
        assert worker.done == [2]
        assert worker.dropped_submissions == 1
    finally:
        worker.stop()


def test_periods_are_learnt_from_requests() -> None:
    worker = Worker(pacing=DeadlinePacingConfig(frame_period_adaptation=1.0))
    with worker._cond:
        worker._record_submission_locked(10.0)
        worker._record_submission_locked(10.5)
    assert worker._submit_period_s == pytest.approx(0.5)


def test_outcomes_do_not_change_when_the_graph_writes_to_its_outputs_again() -> None:
    worker = Worker()
    worker.start()
    worker.submit(request(1))
    first = worker.wait_for_frame(1, timeout_s=10.0)
    worker.submit(request(9))
    assert worker.busy.wait(10.0)
    assert got(worker.latest().outputs) == got(first.outputs) == 1.0
    assert worker.stop(timeout_s=0.01) is False
    assert worker._thread is not None
    worker.go_on.set()
    assert worker.stop(timeout_s=10.0) is True
    assert worker._thread is None
    assert worker.wait_for_frame(9, timeout_s=0.0).frame_id == 9
    assert worker.wait_for_frame(10) is None
    with pytest.raises(AsyncRetargetRunnerStopped, match="submission"):
        worker.submit(request(11))
    with pytest.raises(AsyncRetargetRunnerStopped, match="restarted"):
        worker.start()
    assert np.isfinite(first.compute_duration_s)

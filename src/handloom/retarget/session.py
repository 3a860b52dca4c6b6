"""A session: reads devices, runs the graph and records the inputs, step by step."""

import logging
import time
from contextlib import ExitStack
from dataclasses import dataclass, replace
from types import ModuleType, TracebackType
from typing import Any, Self, cast

from handloom.errors import StateError
from handloom.retarget.graph.execution import (
    ComputeContext,
    ExecutionCache,
    ExecutionEvents,
    ExecutionState,
    GraphTime,
    RetargeterIO,
)
from handloom.retarget.nodes.teleop_state import execution_events as events_of_state_manager
from handloom.retarget.recording import DeviceRecorder, DeviceRecording
from handloom.retarget.runtime import device_io, plugins
from handloom.retarget.runtime.device_link import link_of
from handloom.retarget.runtime.session_config import (
    RetargetingExecutionMode,
    SessionMode,
    TeleopSessionConfig,
)
from handloom.retarget.runtime.session_leaves import Inputs, SessionLeaves
from handloom.retarget.runtime.step_worker import (
    AsyncRetargetRunner,
    AsyncRetargetWorkerError,
    RetargetFrame,
    StepRequest,
    finished_frame,
    snapshot_compute_context,
    snapshot_pipeline_inputs,
    snapshot_retargeter_io,
)
from handloom.retarget.sources.device_frame import DeviceFrame

LOGGER = logging.getLogger("handloom")
HEALTH_FRAMES = 60
"""Steps between two plugin health checks, as published."""


@dataclass(frozen=True)
class RetargetingStepInfo:
    """Statistics of one step, under their published names."""

    returned_frame_id: int | None = None
    """Number of the step whose outputs were returned, from 0."""
    submitted_frame_id: int | None = None
    """Number of the step."""
    returned_age_frames: int | None = None
    """Difference of the two step numbers; 0 in mode sync, usually 1 in mode pipelined."""
    returned_age_s: float | None = None
    """Time since the returned step was requested [s]."""
    compute_duration_s: float | None = None
    """Wall time of the returned step [s]."""
    dropped_submissions: int = 0
    """Number of earlier requests that this one replaced before they started."""
    ran_synchronously: bool = False
    frame_deadline_miss: bool = False
    """Whether the outputs are more than one frame old."""
    worker_exception: BaseException | None = None
    """What the worker raised."""


class TeleopSession(SessionLeaves):
    """Runs a graph on devices, step by step; use it as a context manager.

    Every step reads the devices once, evaluates the control graph to determine whether commands are active, and runs
    the pipeline in that state. The result depends only on the frames and the external inputs, so a recording reproduces
    it. ``step`` must be called from a single thread; in mode pipelined another thread does the work, see
    ``RetargetingExecutionConfig``.

    Args:
        config: Configuration of the session.

    Raises:
        InputError: Two leaves share a name, the control graph needs inputs that no device provides, or a source names a
            vendor in mode replay.
    """

    def __init__(self, config: TeleopSessionConfig) -> None:
        super().__init__(config)
        self.deviceio_session: Any = None
        """Device session of the current or last run."""
        self.oxr_session: Any = None
        """The OpenXR session that found the devices; None outside a run, or if the config names the devices."""
        self.plugin_managers: list[Any] = []
        self.plugin_contexts: list[Any] = []
        """Plugins that run."""
        self.frame_count = 0
        """Steps so far."""
        self.start_time = 0.0
        """Time at which the session was opened [s], as in ``time.time``."""
        self.last_context: ComputeContext | None = None
        """Time and events of the outputs that the last step returned."""
        self.last_step_info = RetargetingStepInfo()
        """Statistics of the last step."""
        self._in_context = False
        self._exit_stack = ExitStack()
        self._async_runner: AsyncRetargetRunner | None = None
        self._mode = config.retargeting_execution.mode
        self._recorder: DeviceRecorder | None = None

    # -- opening and closing -----------------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        """Open devices and plugins; if one of them fails, those before it are closed again.

        Raises:
            StateError: The session is open, or there are no devices.
        """
        if self._in_context:
            raise StateError("the session is already active: its block is still open")
        self._in_context = True
        stack = ExitStack()
        try:
            self._enter_resources(stack)
        except BaseException as error:
            try:
                stack.__exit__(type(error), error, error.__traceback__)
            except BaseException:
                LOGGER.exception("Failed to roll back TeleopSession setup")
            self.oxr_session, self._in_context = None, False
            raise
        self._exit_stack = stack
        return self

    def _module(self, name: str) -> ModuleType:
        """Return the namespace that provides the classes of ``oxr``, ``deviceio`` and ``plugin_manager``."""
        return plugins if name == "plugin_manager" else device_io

    def _enter_resources(self, stack: ExitStack) -> None:
        self._refuse_vendors_in_replay()
        self.plugin_managers, self.plugin_contexts = [], []
        self.deviceio_session = stack.enter_context(self._open_devices(stack))
        if self.config.record_to is not None:
            self._recorder = DeviceRecorder(self.config.record_to, title=self.config.app_name)
            stack.callback(self._recorder.close)
        for wanted in self.config.plugins:
            if wanted.enabled:
                self._start_plugin(stack, wanted)
        self.frame_count, self.start_time = 0, time.time()
        self.last_context, self.last_step_info = None, RetargetingStepInfo()
        self._async_runner, self._mode = None, self.config.retargeting_execution.mode

    def _open_devices(self, stack: ExitStack) -> Any:
        config, io = self.config, self._module("deviceio")
        recording = None
        if config.mcap_config is not None:
            names = [(source.get_tracker(), source.name) for source in self._sources]
            kind = io.McapReplayConfig if config.mode == SessionMode.REPLAY else io.McapRecordingConfig
            recording = kind(config.mcap_config.filename, [*names, *config.mcap_config.get_tracker_names()])
        if isinstance(config.devices, DeviceRecording):
            return device_io.DeviceIOSession(device_io.RecordedLink(config.devices))
        if config.mode == SessionMode.REPLAY:
            return io.ReplaySession.run(recording)
        trackers = self._trackers()
        vendors = io.VendorConfig([(s.get_tracker(), s.get_vendor()) for s in self._sources if s.get_vendor()])
        extensions = io.DeviceIOSession.get_required_extensions(trackers, vendors)
        handles = config.oxr_handles
        if config.devices is not None:
            handles = device_io.OpenXRSessionHandles(link=link_of(config.devices))
        elif handles is None:
            self.oxr_session = stack.enter_context(self._module("oxr").OpenXRSession(config.app_name, extensions))
            handles = self.oxr_session.get_handles()
        return io.DeviceIOSession.run(trackers, handles, recording, vendors)

    def _trackers(self) -> list[Any]:
        found = [source.get_tracker() for source in self._sources]
        found += [sink.get_tracker() for _, sink in self._sinks]
        by_identity = {id(tracker): tracker for tracker in [*found, *self.config.trackers] if tracker is not None}
        return list(by_identity.values())

    def _start_plugin(self, stack: ExitStack, wanted: Any) -> None:
        folders = [str(path) for path in wanted.search_paths if path.is_dir()]
        if not folders:
            if wanted.required:
                raise StateError(
                    f"Required plugin {wanted.plugin_name!r} has no existing search directories. "
                    f"Configured search paths: {[str(path) for path in wanted.search_paths]!r}."
                )
            return
        manager = self._module("plugin_manager").PluginManager(folders)
        self.plugin_managers.append(manager)
        names = sorted(manager.get_plugin_names())
        if wanted.plugin_name not in names:
            if wanted.required:
                raise StateError(
                    f"Required plugin {wanted.plugin_name!r} was not discovered in search paths {folders!r}. "
                    f"Discovered plugins: {names!r}."
                )
            return
        plugin = manager.start(wanted.plugin_name, wanted.plugin_root_id, wanted.plugin_args)
        self.plugin_contexts.append(stack.enter_context(plugin))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        """Stop the worker, then close plugins and devices; an error in the block is never suppressed.

        Raises:
            AsyncRetargetWorkerError: A step failed in the worker and no call of ``step`` has reported it yet.
        """
        if not self._in_context:
            return False
        failure = self._stop_worker(inside_error=kind is not None)
        try:
            self._exit_stack.__exit__(kind, error, trace)
        finally:
            self.oxr_session, self._recorder, self._in_context = None, None, False
        if failure is not None:
            raise failure
        return False

    def _stop_worker(self, *, inside_error: bool) -> BaseException | None:
        runner, self._async_runner = self._async_runner, None
        if runner is None:
            return None
        runner.stop()
        try:
            runner.raise_if_failed(only_unreported=True)
        except AsyncRetargetWorkerError as failure:
            if not inside_error:
                return failure
            LOGGER.error("Async retarget worker failed during TeleopSession cleanup", exc_info=failure)
        return None

    def get_elapsed_time(self) -> float:
        """Return the time since the session was opened [s]."""
        return time.time() - self.start_time

    @property
    def ended(self) -> bool:
        """Whether the recording is exhausted; a live session never ends by itself."""
        recorded = self.config.devices
        return isinstance(recorded, DeviceRecording) and self.frame_count >= len(recorded)

    # -- steps -------------------------------------------------------------------------------------------------------

    def step(
        self,
        external_inputs: Inputs | None = None,
        graph_time: GraphTime | None = None,
        execution_events: ExecutionEvents | None = None,
    ) -> RetargeterIO:
        """Run one frame and return the outputs of the pipeline: of this frame, or the newest ready in mode pipelined.

        Args:
            external_inputs: Groups by port for every leaf that is not a device; every port must be fed in every step.
            graph_time: Time of the frame; the default is the time of the device frame.
            execution_events: Events for the nodes, instead of those of the control graph or the frame.

        Raises:
            StateError: The session is not open, the recording has ended, or a step failed in the worker.
            InputError: A leaf is not fed, or inputs are given for a device.
        """
        if not self._in_context:
            raise StateError("the session is not open; use it in a with block")
        if self.frame_count % HEALTH_FRAMES == 0:
            self._check_plugin_health()
        runner, pipelined = self._async_runner, self._mode == RetargetingExecutionMode.PIPELINED
        if runner is not None:
            return self._step_in_worker(runner, external_inputs, graph_time, execution_events)
        request = self._request(external_inputs, graph_time, execution_events, copied=pipelined)
        begin = time.monotonic()
        outputs, context = self._execute_step_request(request)
        if not pipelined:
            now = time.monotonic()
            self._finish(context, request, request.frame_id, now - request.submitted_time_s, now - begin, in_step=True)
            return outputs
        frame = finished_frame(request, outputs, context, begin)
        self._async_runner = AsyncRetargetRunner(
            self._execute_step_request, cast(Any, self.config).retargeting_execution
        )
        self._async_runner.start()
        self._async_runner.publish_seed(frame)
        return self._returned(frame, request, 0, in_step=True)

    def _step_in_worker(self, runner: AsyncRetargetRunner, *asked: Any) -> RetargeterIO:
        try:
            runner.raise_if_failed()
            request = self._request(*asked, copied=True)
            dropped = runner.submit(request)
            frame = runner.latest()
        except AsyncRetargetWorkerError as error:
            self.last_step_info = RetargetingStepInfo(worker_exception=error)
            raise
        assert frame is not None  # The first frame was published before the worker had any work.
        return self._returned(frame, request, dropped, in_step=False)

    def _request(
        self,
        external_inputs: Inputs | None,
        graph_time: GraphTime | None,
        execution_events: ExecutionEvents | None,
        *,
        copied: bool,
    ) -> StepRequest:
        self._validate_external_inputs(external_inputs)
        inputs = self._wanted_inputs(external_inputs)
        return StepRequest(
            self.frame_count,
            snapshot_pipeline_inputs(inputs) if copied else inputs,
            graph_time,
            replace(execution_events) if execution_events is not None else None,
            time.monotonic(),
        )

    def _execute_step_request(self, request: StepRequest) -> tuple[RetargeterIO, ComputeContext]:
        """Read the devices, run the graphs, and write to the devices."""
        self.deviceio_session.update()
        inputs = self._collect_tracker_data() | (request.external_inputs or {})
        frame = getattr(self.deviceio_session, "frame", None)
        said = frame.context if isinstance(frame, DeviceFrame) else None
        when = request.graph_time or (said.graph_time if said else GraphTime.now())
        events = request.execution_events or self._events(inputs, said)
        context = ComputeContext(when, ExecutionEvents(bool(events.reset), ExecutionState(events.execution_state)))
        if self._sinks:
            # One cache for all graphs: a node shared by several graphs runs once.
            names = self._main_names | self._sink_names
            cache = ExecutionCache({name: groups for name, groups in inputs.items() if name in names}, context)
            outputs = self.pipeline.execute_pipeline_with_cache(cache)
            for graph, _ in self._sinks:
                graph.execute_pipeline_with_cache(cache)
            for _, sink in self._sinks:
                sink.flush_to_device(self.deviceio_session)
        else:
            main = {name: groups for name, groups in inputs.items() if name in self._main_names}
            outputs = self.pipeline.execute_pipeline(main, context)
        if self._recorder is not None and isinstance(frame, DeviceFrame):
            self._recorder.write(replace(frame, state=events.execution_state, reset=bool(events.reset)))
        return outputs, context

    def _collect_tracker_data(self) -> dict[str, RetargeterIO]:
        return {source.name: source.poll_tracker(self.deviceio_session) for source in self._sources}

    def _events(self, inputs: dict[str, RetargeterIO], said: ComputeContext | None) -> ExecutionEvents:
        control = self.teleop_control_pipeline
        if control is None:
            return said.execution_events if said else ExecutionEvents(False, ExecutionState.RUNNING)
        wanted = {name: groups for name, groups in inputs.items() if name in self._control_names}
        return events_of_state_manager(control.execute_pipeline(wanted))

    def _returned(self, frame: RetargetFrame, request: StepRequest, dropped: int, *, in_step: bool) -> RetargeterIO:
        age_s = max(0.0, time.monotonic() - frame.submitted_time_s)
        context = snapshot_compute_context(frame.context)
        self._finish(
            context, request, frame.frame_id, age_s, frame.compute_duration_s, in_step=in_step, dropped=dropped
        )
        return snapshot_retargeter_io(frame.outputs)

    def _finish(
        self,
        context: ComputeContext,
        request: StepRequest,
        returned: int,
        age_s: float,
        cost_s: float,
        *,
        in_step: bool,
        dropped: int = 0,
    ) -> None:
        age = request.frame_id - returned
        self.last_context = context
        self.last_step_info = RetargetingStepInfo(
            returned, request.frame_id, age, age_s, cost_s, dropped, in_step, frame_deadline_miss=age > 1
        )
        self.frame_count += 1

    def _check_plugin_health(self) -> None:
        for plugin in self.plugin_contexts:
            plugin.check_health()

"""A session: devices are read, the graph runs, and what went in is recorded, one step after the other."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from handloom.errors import InputError, StateError
from handloom.retarget.graph.execution import (
    ComputeContext,
    ExecutionCache,
    ExecutionEvents,
    GraphExecutable,
    GraphTime,
    RetargeterIO,
    RetargeterIOType,
)
from handloom.retarget.graph.groups import OptionalTensorGroup
from handloom.retarget.graph.retargeter import BaseRetargeter
from handloom.retarget.graph.types import TensorTypeError
from handloom.retarget.graph.wiring import RetargeterSubgraph
from handloom.retarget.haptics.haptic_device import DeviceSink
from handloom.retarget.nodes.teleop_state import execution_events as events_of_state_manager
from handloom.retarget.recording import DeviceRecorder, DeviceRecording
from handloom.retarget.sources.device_frame import DeviceFrame
from handloom.retarget.sources.device_sources import DeviceSource, JointStateSource

Devices = Callable[[], DeviceFrame]
"""Asked once per step for what the devices say now."""
Inputs = Mapping[str, Mapping[str, OptionalTensorGroup]]


class SessionMode(StrEnum):
    """Where samples come from."""

    LIVE = "live"
    REPLAY = "replay"


class RetargetingExecutionMode(StrEnum):
    """When the graph runs: within the step, or in a thread beside it, which is not here."""

    SYNC = "sync"
    PIPELINED = "pipelined"


@dataclass(frozen=True)
class RetargetingExecutionConfig:
    """How the graph runs; a frame of 20 nodes takes about a millisecond, so that it runs within the step."""

    mode: RetargetingExecutionMode = RetargetingExecutionMode.SYNC

    def __post_init__(self) -> None:
        """Refuse what is not here."""
        if self.mode != RetargetingExecutionMode.SYNC:
            raise InputError(f"the graph runs within the step (mode sync), got {self.mode}")


@dataclass(frozen=True)
class TeleopSessionConfig:
    """What a session is made of; the fields keep their published names, ``devices`` and ``record_to`` are ours."""

    app_name: str
    """Name of the application; the title of recordings."""
    pipeline: GraphExecutable
    """The graph from devices to commands."""
    mode: SessionMode = SessionMode.LIVE
    """``replay`` takes a ``DeviceRecording`` as ``devices``."""
    teleop_control_pipeline: GraphExecutable | None = None
    """Graph with the outputs of a ``TeleopStateManager``; without one the state is that of the device frames."""
    devices: Devices | DeviceRecording | None = None
    """What the devices say now, or said once. There is no OpenXR runtime here that would be asked instead."""
    record_to: str | Path | None = None
    """File that every frame is written to, with the state and the reset that the graph saw."""
    retargeting_execution: RetargetingExecutionConfig = field(default_factory=RetargetingExecutionConfig)
    verbose: bool = False
    """Taken for compatibility; a session here prints nothing."""
    trackers: tuple[Any, ...] = ()
    plugins: tuple[Any, ...] = ()
    sinks: Sequence[GraphExecutable] = ()
    """Nodes that write to devices, such as ``HapticSink``, or subgraphs that end in one; run and sent in every step."""
    oxr_handles: Any = None
    mcap_config: Any = None

    def __post_init__(self) -> None:
        """Refuse what only an OpenXR runtime could do, and modes without their devices."""
        for name in ("trackers", "plugins", "oxr_handles", "mcap_config"):
            if getattr(self, name):
                instead = "record_to" if name == "mcap_config" else "devices"
                raise InputError(f"{name} belongs to the OpenXR runtime, which is not here; use {instead}")
        recorded = isinstance(self.devices, DeviceRecording)
        if recorded != (self.mode == SessionMode.REPLAY):
            raise InputError(f"mode replay takes a DeviceRecording as devices, mode live does not; mode is {self.mode}")


@dataclass(frozen=True)
class RetargetingStepInfo:
    """Facts of one step, by their published names; the graph runs within the step: nothing is old or dropped."""

    returned_frame_id: int | None = None
    """Number of the step whose outputs were returned, from 0."""
    submitted_frame_id: int | None = None
    """Number of the step."""
    returned_age_frames: int | None = None
    returned_age_s: float | None = None
    compute_duration_s: float | None = None
    """Wall time of the graphs [s]."""
    dropped_submissions: int = 0
    ran_synchronously: bool = False
    frame_deadline_miss: bool = False
    worker_exception: BaseException | None = None


class TeleopSession:
    """Runs a graph on devices, step by step; use it as a context manager.

    Every step reads the devices once, asks the control graph whether commands are wanted, and runs the pipeline in that
    state. The outcome depends on the frames and the external inputs only, so a recording gives the same again.

    Args:
        config: What the session is made of.

    Raises:
        InputError: Two leaves share a name, or the control graph needs inputs that no device gives.
    """

    def __init__(self, config: TeleopSessionConfig) -> None:
        self.config = config
        self.frame_count = 0
        """Steps so far."""
        self.last_context: ComputeContext | None = None
        """Time and events of the last step."""
        self.last_step_info = RetargetingStepInfo()
        """Facts of the last step."""
        self.start_time = 0.0
        """When the session was opened [s], as ``time.time`` has it."""
        self._open = False
        self._recorder: DeviceRecorder | None = None
        self._sinks = [(graph, _sink_of(graph)) for graph in config.sinks]
        graphs = [config.pipeline, *([config.teleop_control_pipeline] if config.teleop_control_pipeline else [])]
        sinks = [sink for _, sink in self._sinks]
        self._leaves = _named_leaves([*graphs, *(graph for graph, _ in self._sinks)], left_out=sinks)
        self._external = [leaf for leaf in self._leaves.values() if not _is_source(leaf)]
        if config.devices is None and any(map(_is_source, self._leaves.values())):
            raise InputError(
                "a session whose graph reads devices needs them: a function that returns a DeviceFrame, or a "
                "DeviceRecording"
            )
        if config.teleop_control_pipeline is not None:
            fed = [leaf.name for leaf in config.teleop_control_pipeline.get_leaf_nodes() if not _is_source(leaf)]
            if fed:
                raise InputError(
                    f"the control pipeline may only read devices, but {', '.join(fed)} would have to be fed"
                )

    def __enter__(self) -> Self:
        if self._open:
            raise StateError("the session is open already")
        self._open = True
        self.start_time = time.time()
        if self.config.record_to is not None:
            self._recorder = DeviceRecorder(self.config.record_to, title=self.config.app_name)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open = False
        if self._recorder is not None:
            self._recorder.close()
            self._recorder = None

    @property
    def pipeline(self) -> GraphExecutable:
        """The graph from devices to commands."""
        return self.config.pipeline

    def has_external_inputs(self) -> bool:
        """Return whether ``step`` has to be given something."""
        return bool(self.get_external_input_specs())

    def get_external_input_specs(self) -> dict[str, RetargeterIOType]:
        """Return the ports of every leaf that ``step`` has to feed, by its name."""
        leaves = [leaf for leaf in self._external if isinstance(leaf, BaseRetargeter)]
        return {leaf.name: leaf.input_spec() for leaf in leaves if leaf.input_spec()}

    def get_elapsed_time(self) -> float:
        """Return how long the session is open [s]."""
        return time.time() - self.start_time

    @property
    def ended(self) -> bool:
        """Whether a recording has no frame left; a live session does not end by itself."""
        recorded = self.config.devices
        return isinstance(recorded, DeviceRecording) and self.frame_count >= len(recorded)

    def step(
        self,
        external_inputs: Inputs | None = None,
        graph_time: GraphTime | None = None,
        execution_events: ExecutionEvents | None = None,
    ) -> RetargeterIO:
        """Run one frame and return the outputs of the pipeline.

        Args:
            external_inputs: Groups by port for every leaf that is not a device; each of its ports, in every step.
            graph_time: When the frame is; the time of the device frame if not given.
            execution_events: What is asked of the nodes, instead of what the control graph or the frame say.

        Raises:
            StateError: The session is not open, or the recording has ended.
            InputError: A leaf is not fed, or one was given that is a device.
        """
        if not self._open:
            raise StateError("the session is not open; use it in a with block")
        frame = self._frame()
        inputs = self._fed(external_inputs or {}) | self._polled(frame)
        begin = time.perf_counter()
        time_of = graph_time or frame.context.graph_time
        events = execution_events or self._events(inputs, frame, time_of)
        context = ComputeContext(time_of, events)
        cache = ExecutionCache(inputs, context)
        outputs = self.config.pipeline.execute_pipeline_with_cache(cache)
        for graph, _ in self._sinks:
            graph.execute_pipeline_with_cache(cache)
        for _, sink in self._sinks:
            sink.flush_to_device(self.config.devices)
        if self._recorder is not None:
            self._recorder.write(replace(frame, state=events.execution_state, reset=events.reset))
        self.last_context = context
        self.last_step_info = RetargetingStepInfo(
            returned_frame_id=self.frame_count,
            submitted_frame_id=self.frame_count,
            returned_age_frames=0,
            returned_age_s=0.0,
            compute_duration_s=time.perf_counter() - begin,
            ran_synchronously=True,
        )
        self.frame_count += 1
        return outputs

    def _frame(self) -> DeviceFrame:
        devices = self.config.devices
        if devices is None:
            return DeviceFrame(time_ns=time.monotonic_ns())
        if not isinstance(devices, DeviceRecording):
            return devices()
        if self.ended:
            raise StateError(f"the recording has ended after {len(devices)} frames")
        return devices.frames[self.frame_count]

    def _polled(self, frame: DeviceFrame) -> dict[str, RetargeterIO]:
        polled = {}
        for name, leaf in self._leaves.items():
            if isinstance(leaf, DeviceSource):
                polled[name] = leaf.device_inputs(frame)
            elif isinstance(leaf, JointStateSource):
                polled[name] = leaf.raw_inputs(None)  # Device frames have no joint states.
        return polled

    def _fed(self, given: Inputs) -> dict[str, RetargeterIO]:
        """Return the inputs of the external leaves; keys of no leaf are ignored, as published."""
        for name in given:
            if name in self._leaves and _is_source(self._leaves[name]):
                raise InputError(f"leaf {name!r} is a device; its samples come from the session's devices")
        fed: dict[str, RetargeterIO] = {}
        for leaf in self._external:
            wanted = leaf.input_types() if isinstance(leaf, BaseRetargeter) else {}
            missing = [port for port in wanted if port not in given.get(leaf.name, {})]
            if missing:
                raise InputError(
                    f"leaf {leaf.name!r} was not fed {', '.join(missing)}; feed every port in every step, an absent "
                    "group where there is no value"
                )
            fed[leaf.name] = dict(given.get(leaf.name, {}))
        return fed

    def _events(self, inputs: dict[str, RetargeterIO], frame: DeviceFrame, time_of: GraphTime) -> ExecutionEvents:
        control = self.config.teleop_control_pipeline
        if control is None:
            return frame.context.execution_events
        cache = ExecutionCache(inputs, ComputeContext(time_of, ExecutionEvents()))
        return events_of_state_manager(control.execute_pipeline_with_cache(cache))


def _is_source(leaf: GraphExecutable) -> bool:
    return isinstance(leaf, DeviceSource | JointStateSource)


def _sink_of(graph: GraphExecutable) -> DeviceSink:
    """Return the sink that a graph ends in."""
    sink = graph.target_module if isinstance(graph, RetargeterSubgraph) else graph
    if not isinstance(sink, DeviceSink):
        raise TensorTypeError(
            f"TeleopSession sinks must be a sink, or what its connect() returned, got {type(sink).__name__}"
        )
    return sink


def _named_leaves(graphs: list[GraphExecutable], left_out: Sequence[DeviceSink]) -> dict[str, GraphExecutable]:
    """Return the leaves of graphs by name; a leaf that two graphs share counts once."""
    leaves: dict[str, GraphExecutable] = {}
    for leaf in (leaf for graph in graphs for leaf in graph.get_leaf_nodes() if leaf not in left_out):
        if leaves.setdefault(leaf.name, leaf) is not leaf:
            raise InputError(f"two leaves are called {leaf.name!r}; rename one")
    return leaves

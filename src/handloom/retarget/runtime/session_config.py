"""Configuration of a session."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from handloom.errors import InputError, suggest
from handloom.retarget.graph.execution import GraphExecutable, RetargeterIOType
from handloom.retarget.graph.types import BoolType
from handloom.retarget.graph.wiring import RetargeterSubgraph
from handloom.retarget.haptics.haptic_sink import DeviceSink
from handloom.retarget.nodes.teleop_state import teleop_control_states
from handloom.retarget.recording import DeviceRecording
from handloom.retarget.runtime.device_link import DeviceLink, Devices
from handloom.retarget.runtime.pacing import ImmediatePacingConfig, Pacing, RetargetingPacingMode, pacing_of


class SessionMode(StrEnum):
    """Where samples come from."""

    LIVE = "live"
    REPLAY = "replay"


class RetargetingExecutionMode(StrEnum):
    """When the graph runs: within the step, or in a separate thread."""

    SYNC = "sync"
    PIPELINED = "pipelined"


@dataclass
class RetargetingExecutionConfig:
    """How the graph runs.

    In mode ``sync`` a step returns the outputs of its own frame. In mode ``pipelined`` it requests them from a worker
    and returns the newest available ones, usually those of the previous frame; the application never waits for the
    graph.
    """

    mode: RetargetingExecutionMode | str = RetargetingExecutionMode.SYNC
    pacing: Pacing | RetargetingPacingMode | str = field(default_factory=ImmediatePacingConfig)
    """Pacing rules of the worker, or the name of a pacing mode."""

    def __post_init__(self) -> None:
        """Reject unknown modes."""
        if self.mode not in tuple(RetargetingExecutionMode):
            known = suggest(str(self.mode), tuple(RetargetingExecutionMode))
            raise InputError(f"there is no execution mode {self.mode!r}; {known}")
        self.mode = RetargetingExecutionMode(self.mode)
        self.pacing = pacing_of(self.pacing)


@dataclass
class PluginConfig:
    """A program that runs alongside the session."""

    plugin_name: str
    """Its name in ``plugin.yaml``."""
    plugin_root_id: str
    """Where its devices appear."""
    search_paths: list[Path]
    """Folders whose sub-folders are plugins."""
    enabled: bool = True
    plugin_args: list[str] = field(default_factory=list)
    """Arguments appended to those of the file."""
    required: bool = False
    """Whether the session fails without the plugin."""


@dataclass
class TeleopSessionConfig:
    """Configuration of a session; the fields have their published names, ``devices`` and ``record_to`` are additions.

    As in the published version, it can be changed until the session is opened.
    """

    app_name: str
    """Name of the application; the title of recordings."""
    pipeline: GraphExecutable
    """The graph from devices to commands."""
    mode: SessionMode = SessionMode.LIVE
    """``replay`` takes a ``DeviceRecording`` as ``devices``, or a ``mcap_config``."""
    teleop_control_pipeline: GraphExecutable | None = None
    """Graph with the outputs of a ``TeleopStateManager``; without one, the state is taken from the device frames."""
    sinks: list[GraphExecutable] = field(default_factory=list)
    """Nodes that write to devices, such as ``HapticSink``, or subgraphs that end in one; they run in every step."""
    trackers: list[Any] = field(default_factory=list)
    """Trackers in addition to those of the graph's sources."""
    plugins: list[PluginConfig] = field(default_factory=list)
    """Programs that run as long as the session."""
    verbose: bool = True
    """Accepted for compatibility; sessions print nothing here."""
    oxr_handles: Any = None
    """Handles of an ``OpenXRSession`` that is already open."""
    mcap_config: Any = None
    """A recording to create (live) or to play (replay)."""
    retargeting_execution: RetargetingExecutionConfig = field(default_factory=RetargetingExecutionConfig)
    joint_publisher: Any = None
    """Published image of the robot in the headset, not supported here."""
    twin_render: Any = None
    """Published settings of that image."""
    devices: Devices | DeviceLink | DeviceRecording | None = None
    """Live devices or a recording; None: the devices of the ``offer_devices`` block around the session."""
    record_to: str | Path | None = None
    """File that every frame is written to, with the state and the reset that the graph saw."""

    def __post_init__(self) -> None:
        """Reject what cannot work."""
        if self.joint_publisher is not None:
            raise InputError("joint_publisher draws the robot in an OpenXR headset; not supported here, so omit it")
        recorded = isinstance(self.devices, DeviceRecording)
        if self.mode == SessionMode.REPLAY and not recorded and self.mcap_config is None:
            raise InputError(
                "mode replay requires mcap_config, or a DeviceRecording as devices; otherwise there is nothing to play"
            )
        if recorded and self.mode != SessionMode.REPLAY:
            raise InputError(f"mode replay takes a DeviceRecording as devices, mode live does not; mode is {self.mode}")
        for graph in self.sinks:
            sink = sink_of(graph)
            if not isinstance(sink, DeviceSink):
                raise InputError(
                    "sinks of a session must be an IDeviceIOSink such as HapticSink, or the result of its connect(), "
                    f"got {type(sink).__name__}"
                )
        if self.teleop_control_pipeline is not None:
            check_control_outputs(self.teleop_control_pipeline.output_types())


def sink_of(graph: GraphExecutable) -> GraphExecutable:
    """Return the final node of a graph."""
    return graph.target_module if isinstance(graph, RetargeterSubgraph) else graph


def check_control_outputs(types: RetargeterIOType | Mapping[str, Any]) -> None:
    """Reject control graphs that do not provide the session state.

    Raises:
        InputError: ``teleop_state`` or ``reset_event`` is missing or has the wrong type.
    """
    states = [state.value for state in teleop_control_states()]
    for port, wanted in (("teleop_state", states), ("reset_event", None)):
        where = f"teleop_control_pipeline must output {port!r}"
        if port not in types:
            raise InputError(f"{where}; it has {', '.join(types) or 'no output'}")
        if types[port].is_optional:
            raise InputError(f"{where} always: its type may not be OptionalType")
        slots = types[port].types
        names = [slot.name for slot in slots]
        if wanted is None and len(slots) != 1:
            raise InputError(f"{where} as exactly 1 channel, got {len(slots)}")
        if wanted is not None and sorted(names) != sorted(wanted):
            raise InputError(f"{where} with one bool channel per state {wanted}, got channels: {names}")
        other = [type(slot).__name__ for slot in slots if not isinstance(slot, BoolType)]
        if other:
            raise InputError(f"{where} in channels of BoolType, got {', '.join(other)}")

"""The leaves of a session's graphs: devices read by the session, and external inputs passed to its steps."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from handloom.errors import InputError
from handloom.retarget.graph.execution import GraphExecutable, RetargeterIO, RetargeterIOType
from handloom.retarget.graph.groups import OptionalTensorGroup
from handloom.retarget.haptics.haptic_sink import DeviceSink
from handloom.retarget.runtime.session_config import SessionMode, TeleopSessionConfig, sink_of
from handloom.retarget.sources.device_sources import TrackerSource

Inputs = Mapping[str, Mapping[str, OptionalTensorGroup]]
"""Groups by leaf and port."""


class SessionLeaves:
    """The part of a session that knows its leaves.

    Args:
        config: Configuration of the session.
    """

    def __init__(self, config: TeleopSessionConfig) -> None:
        self.config = config
        self.pipeline = config.pipeline
        """The graph from devices to commands."""
        self.teleop_control_pipeline = config.teleop_control_pipeline
        """The graph that determines whether commands are active."""
        self._find_leaves()
        self._refuse_vendors_in_replay()

    def _find_leaves(self) -> None:
        self._sinks = [(graph, cast(DeviceSink, sink_of(graph))) for graph in self.config.sinks]
        control = self.teleop_control_pipeline
        main = list(self.pipeline.get_leaf_nodes())
        steering = list(control.get_leaf_nodes()) if control is not None else []
        felt = [leaf for graph, sink in self._sinks for leaf in graph.get_leaf_nodes() if leaf is not sink]
        leaves = unique_by_name([*main, *steering, *felt])
        self._main_names, self._control_names, self._sink_names = (
            {leaf.name for leaf in part} for part in (main, steering, felt)
        )
        self._sources: list[Any] = [leaf for leaf in leaves if isinstance(leaf, TrackerSource)]
        self._external_leaves: list[Any] = [
            leaf for leaf in leaves if not isinstance(leaf, TrackerSource) and cast(Any, leaf).input_spec()
        ]
        self._tracker_to_source = {id(source.get_tracker()): source for source in self._sources}
        fed = [leaf.name for leaf in self._external_leaves if leaf.name in self._control_names - self._main_names]
        if fed:
            raise InputError(
                f"the control pipeline may only read devices, but the external-input leaf {', '.join(fed)} would have "
                "to be fed, which is not supported"
            )

    def _refuse_vendors_in_replay(self) -> None:
        if self.config.mode == SessionMode.REPLAY:
            vendored = [source.name for source in self._sources if source.get_vendor() is not None]
            if vendored:
                raise InputError(
                    f"Vendor selection is only valid in mode live: {', '.join(vendored)} names a vendor, but a "
                    "recording has fixed devices"
                )

    def has_external_inputs(self) -> bool:
        """Return whether ``step`` needs external inputs."""
        return bool(self._external_leaves)

    def get_external_input_specs(self) -> dict[str, RetargeterIOType]:
        """Return the ports of every leaf that ``step`` must feed, by leaf name."""
        return {leaf.name: leaf.input_spec() for leaf in self._external_leaves}

    def _validate_external_inputs(self, given: Inputs | None) -> None:
        devices = [source.name for source in self._sources if source.name in (given or {})]
        if devices:
            raise InputError(
                f"external inputs collide with DeviceIO source names: {', '.join(devices)} is a device; its samples "
                "come from the session's devices"
            )
        wanted = {leaf.name: list(leaf.input_spec()) for leaf in self._external_leaves}
        if given is None and wanted:
            raise InputError(
                f"the graph has external (non-DeviceIO) leaves that step() must be given: {', '.join(wanted)}; "
                "get_external_input_specs() returns their types"
            )
        missing = [name for name in wanted if name not in (given or {})]
        if missing:
            raise InputError(f"Missing external inputs: {', '.join(missing)} was not fed; wanted: {', '.join(wanted)}")
        for name, ports in wanted.items():
            left = [port for port in ports if port not in (given or {})[name]]
            if left:
                raise InputError(
                    f"leaf {name!r} was not fed {', '.join(left)} (missing input keys); feed every port in every step, "
                    "an absent group where there is no value"
                )

    def _wanted_inputs(self, given: Inputs | None) -> dict[str, RetargeterIO]:
        """Return the inputs of external leaves; unknown keys are ignored, as published."""
        return {
            leaf.name: {port: given[leaf.name][port] for port in leaf.input_spec()}
            for leaf in self._external_leaves
            if given is not None
        }


def unique_by_name(leaves: Sequence[GraphExecutable]) -> list[GraphExecutable]:
    """Return leaves, each once; a leaf shared by two graphs counts once.

    Raises:
        InputError: Two leaves have the same name.
    """
    found: dict[str, GraphExecutable] = {}
    for leaf in leaves:
        if found.setdefault(leaf.name, leaf) is not leaf:
            raise InputError(f"Duplicate leaf node name: two leaves are named {leaf.name!r}; rename one")
    return list(found.values())

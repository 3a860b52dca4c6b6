"""Execution of a graph: the context of a frame, the per-frame cache, and the base of all nodes with outputs."""

import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from handloom.errors import InputError, suggest
from handloom.retarget.graph.groups import OptionalTensorGroup, TensorGroupType
from handloom.retarget.graph.types import UnknownLeafWarning


class ExecutionState(StrEnum):
    """Whether commands are active; ``UNKNOWN`` outside a session, so that no clutch engages by accident."""

    UNKNOWN = "unknown"
    STOPPED = "stopped"
    PAUSED = "paused"
    RUNNING = "running"


@dataclass(frozen=True)
class GraphTime:
    """The time of a frame [ns]."""

    sim_time_ns: int
    """Time of the simulation [ns]."""
    real_time_ns: int
    """Real time of the operator [ns]; rate limits use it."""

    @classmethod
    def now(cls) -> "GraphTime":
        """Return one reading of the monotonic clock for both."""
        time_ns = time.monotonic_ns()
        return cls(time_ns, time_ns)


@dataclass
class ExecutionEvents:
    """Events that the session passes to the nodes in this frame."""

    reset: bool = False
    """One-frame pulse: discard all state since the start."""
    execution_state: ExecutionState = ExecutionState.UNKNOWN
    """Whether commands are wanted."""


@dataclass
class ComputeContext:
    """Time and events of one frame; every node of the frame gets the same object."""

    graph_time: GraphTime = field(default_factory=GraphTime.now)
    """Time of the frame; the default is now."""
    execution_events: ExecutionEvents = field(default_factory=ExecutionEvents)
    """What the session asks."""

    @property
    def is_running(self) -> bool:
        """Whether the session is RUNNING."""
        return self.execution_events.execution_state == ExecutionState.RUNNING

    @classmethod
    def at(
        cls, time_ns: int, *, state: ExecutionState = ExecutionState.RUNNING, reset: bool = False
    ) -> "ComputeContext":
        """Return the context of a frame whose simulation and operator share one clock [ns]."""
        return cls(GraphTime(time_ns, time_ns), ExecutionEvents(reset, state))


RetargeterIO = dict[str, OptionalTensorGroup]
"""Groups by port name."""


class ExecutionCache:
    """Inputs of the leaves, context and results of one frame.

    Results are stored by the identity of the executable: a subgraph requested twice runs once; a node shared by two
    subgraphs runs twice.

    Args:
        leaf_inputs: For each leaf, its groups by port.
        context: Time and events of the frame.
    """

    __slots__ = ("context", "leaf_inputs", "results")

    def __init__(self, leaf_inputs: Mapping[str, Mapping[str, OptionalTensorGroup]], context: ComputeContext) -> None:
        self.leaf_inputs = leaf_inputs
        self.context = context
        self.results: dict[int, RetargeterIO] = {}

    def get_leaf_input(self, name: str) -> Mapping[str, OptionalTensorGroup] | None:
        """Return the groups given for a leaf, None if there are none."""
        return self.leaf_inputs.get(name)

    def get_cached(self, id: int) -> RetargeterIO | None:
        """Return the stored results of an executable, None if there are none."""
        return self.results.get(id)

    def cache(self, id: int, outputs: RetargeterIO) -> None:
        """Store the results of an executable."""
        self.results[id] = outputs


RetargeterIOType = dict[str, TensorGroupType]
"""Group types by port name."""


class GraphExecutable(ABC):
    """An object with named outputs that can run for one frame and pulls its inputs from upstream."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Display name; for leaves, also the key of the inputs."""

    @abstractmethod
    def output_types(self) -> RetargeterIOType:
        """Return the group type of every output port."""

    @abstractmethod
    def get_leaf_nodes(self) -> list["GraphExecutable"]:
        """Return the leaves, whose inputs the caller supplies, each once, in the order of connection."""

    @abstractmethod
    def _evaluate(self, cache: ExecutionCache) -> RetargeterIO:
        """Compute the outputs of this frame, pulling inputs through ``execute_pipeline_with_cache``."""

    def output(self, output_name: str) -> "OutputSelector":
        """Select an output port; the name is checked on connection."""
        return OutputSelector(self, output_name)

    def execute_pipeline_with_cache(self, cache: ExecutionCache) -> RetargeterIO:
        """Return the outputs of this frame; several graphs may share one cache."""
        key = id(self)
        found = cache.results.get(key)
        if found is None:
            found = cache.results[key] = self._evaluate(cache)
        return found

    def execute_pipeline(
        self, inputs: Mapping[str, Mapping[str, OptionalTensorGroup]], context: ComputeContext | None = None
    ) -> RetargeterIO:
        """Run the graph that ends here for one frame.

        Args:
            inputs: For each leaf, its groups by port, ``{leaf name: {port: group}}``.
            context: Time and events of the frame; the default is now, in state UNKNOWN.

        Returns:
            The groups of every output port.

        Raises:
            InputError: A required input of a leaf is missing.

        Warns:
            UnknownLeafWarning: A key is not the name of a leaf; it is ignored, as published.
        """
        leaves = [leaf.name for leaf in self.get_leaf_nodes()]
        for name in inputs:
            if name not in leaves:
                warnings.warn(
                    f"graph {self.name!r} has no leaf named {name!r}, its inputs are ignored; {suggest(name, leaves)}",
                    UnknownLeafWarning,
                    stacklevel=2,
                )
        return self.execute_pipeline_with_cache(ExecutionCache(inputs, context or ComputeContext()))


@dataclass(frozen=True)
class OutputSelector:
    """One output port of an executable, as handed to ``connect``."""

    module: GraphExecutable
    """What computes the output."""
    output_name: str
    """Which of its ports."""

    @property
    def group_type(self) -> TensorGroupType:
        """The type of the selected port.

        Raises:
            InputError: The port does not exist; the message lists the existing ones.
        """
        types = self.module.output_types()
        if self.output_name not in types:
            raise InputError(
                f"output {self.output_name!r} not found on {self.module.name!r}; {suggest(self.output_name, types)}"
            )
        return types[self.output_name]

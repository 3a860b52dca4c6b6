"""What all nodes of one frame share: the time of the frame and what the session says about it."""

import time
from dataclasses import dataclass, field
from enum import StrEnum


class ExecutionState(StrEnum):
    """Whether commands are wanted; ``UNKNOWN`` outside a session, so that no clutch engages by accident."""

    UNKNOWN = "unknown"
    STOPPED = "stopped"
    PAUSED = "paused"
    RUNNING = "running"


@dataclass(frozen=True)
class GraphTime:
    """The time of a frame [ns]; both default to the monotonic clock."""

    sim_time_ns: int = field(default_factory=time.monotonic_ns)
    """Time of the simulation [ns]."""
    real_time_ns: int = field(default_factory=time.monotonic_ns)
    """Time the operator lives in [ns]; rate limits use it."""


@dataclass(frozen=True)
class ExecutionEvents:
    """What the session asks of the nodes in this frame."""

    reset: bool = False
    """A pulse of one frame: forget what was learnt since the start."""
    execution_state: ExecutionState = ExecutionState.UNKNOWN
    """Whether commands are wanted."""


@dataclass(frozen=True)
class ComputeContext:
    """Time and events of one frame; every node of the frame gets the same object."""

    graph_time: GraphTime = field(default_factory=GraphTime)
    """When the frame is."""
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

"""The simulated time."""

from collections.abc import Mapping
from typing import Any

from handloom.control.graph.graph_context import GraphContext
from handloom.control.graph.node import Node, NodeResult, done
from handloom.control.graph.port import port


class ReadSimulationTimeNode(Node):
    """Time since the world began, or since play when ``resetOnStop`` is set."""

    TYPE = "isaacsim.core.nodes.IsaacReadSimulationTime"
    INPUTS = (port("resetOnStop", "bool"),)
    OUTPUTS = (port("simulationTime", "double"),)

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Start the clock at the next compute."""
        self._start: float | None = None

    def compute(self, given: Mapping[str, Any], context: GraphContext, pulse: str) -> NodeResult:
        """Read the clock [s]."""
        if self._start is None:
            self._start = context.time
        return done(simulationTime=context.time - (self._start if given["resetOnStop"] else 0.0))

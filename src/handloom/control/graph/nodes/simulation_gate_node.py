"""Let through every n-th pulse."""

from collections.abc import Mapping
from typing import Any

from handloom.control.graph.graph_context import GraphContext
from handloom.control.graph.node import Node, NodeResult, done
from handloom.control.graph.port import port


class SimulationGateNode(Node):
    """Passes the first pulse, then every ``step``-th."""

    TYPE = "isaacsim.core.nodes.IsaacSimulationGate"
    INPUTS = (port("execIn", "execution"), port("step", "uint", 1))
    OUTPUTS = (port("execOut", "execution"),)

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Let the next pulse through."""
        self._count = 0

    def compute(self, given: Mapping[str, Any], context: GraphContext, pulse: str) -> NodeResult:
        """Count pulses."""
        through = self._count % max(1, given["step"]) == 0
        self._count += 1
        return done("execOut") if through else done()

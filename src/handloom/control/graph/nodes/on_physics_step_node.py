"""Start execution once per physics step."""

from collections.abc import Mapping
from typing import Any, ClassVar

from handloom.control.graph.graph_context import GraphContext
from handloom.control.graph.node import EventNode, NodeResult, done
from handloom.control.graph.port import port


class OnPhysicsStepNode(EventNode):
    """Fires before every physics step."""

    TYPE = "isaacsim.core.nodes.OnPhysicsStep"
    EVENT: ClassVar[str] = "physics"
    OUTPUTS = (
        port("step", "execution"),
        port("deltaSimulationTime", "double"),
        port("deltaSystemTime", "double"),
    )

    def compute(self, given: Mapping[str, Any], context: GraphContext, pulse: str) -> NodeResult:
        """Report the length of the step; system time is simulated time, so that a run can be repeated."""
        return done("step", deltaSimulationTime=context.delta_seconds, deltaSystemTime=context.delta_seconds)

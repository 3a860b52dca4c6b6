"""Arrays from single values."""

from collections.abc import Mapping
from typing import Any

from handloom.control.graph.graph_context import GraphContext
from handloom.control.graph.node import Node, NodeResult, done, failed
from handloom.control.graph.port import Port, port

# Inputs input0 ... input15: more than the joints of any robot here that one would wire by hand.
MOST = 16


def _ports(type_name: str) -> tuple[Port, ...]:
    return (port("arraySize", "int", 1), *(port(f"input{i}", type_name) for i in range(MOST)))


class _ConstructArrayNode(Node):
    def compute(self, given: Mapping[str, Any], context: GraphContext, pulse: str) -> NodeResult:
        """Collect the first ``arraySize`` inputs."""
        size = given["arraySize"]
        if not 0 <= size <= MOST:
            return failed(f"arraySize must lie in 0 ... {MOST}, got {size}")
        return done(array=[given[f"input{i}"] for i in range(size)])


class ConstructDoubleArrayNode(_ConstructArrayNode):
    """An array of numbers."""

    TYPE = "omni.graph.nodes.ConstructArray"
    INPUTS = _ports("double")
    OUTPUTS = (port("array", "double[]"),)


class ConstructTokenArrayNode(_ConstructArrayNode):
    """An array of names; the published node chooses its type by ``arrayType``, here each type is a node."""

    TYPE = "omni.graph.nodes.ConstructTokenArray"
    INPUTS = _ports("token")
    OUTPUTS = (port("array", "token[]"),)

"""Nodes for values: constants, arrays and vectors."""

from collections.abc import Mapping
from typing import Any

from handloom.errors import suggest
from handloom.isaac.graph.node import GraphContext, Node, NodeResult, done, failed
from handloom.isaac.graph.port import Port, port, port_type


class _ConstantNode(Node):
    def compute(self, given: Mapping[str, Any], context: GraphContext, pulse: str) -> NodeResult:
        """Do nothing: the value is read from the input."""
        return done()


class ConstantBoolNode(_ConstantNode):
    """A truth value."""

    TYPE = "omni.graph.nodes.ConstantBool"
    INPUTS = (port("value", "bool", source=True),)


class ConstantDoubleNode(_ConstantNode):
    """A number."""

    TYPE = "omni.graph.nodes.ConstantDouble"
    INPUTS = (port("value", "double", source=True),)


class ConstantDouble3Node(_ConstantNode):
    """Three numbers."""

    TYPE = "omni.graph.nodes.ConstantDouble3"
    INPUTS = (port("value", "double[3]", source=True),)


class ConstantIntNode(_ConstantNode):
    """A whole number."""

    TYPE = "omni.graph.nodes.ConstantInt"
    INPUTS = (port("value", "int", source=True),)


class ConstantStringNode(_ConstantNode):
    """A text."""

    TYPE = "omni.graph.nodes.ConstantString"
    INPUTS = (port("value", "string", source=True),)


class ConstantTokenNode(_ConstantNode):
    """A name."""

    TYPE = "omni.graph.nodes.ConstantToken"
    INPUTS = (port("value", "token", source=True),)


# Inputs input0 ... input15: more than the joints of any robot here that would be connected by hand.
MOST = 16


def _ports(type_name: str) -> tuple[Port, ...]:
    return (port("arraySize", "int", 1), *(port(f"input{i}", type_name) for i in range(MOST)))


ARRAY_TYPES = {
    "int[]": "int[]",
    "int64[]": "int[]",
    "uint[]": "int[]",
    "float[]": "double[]",
    "double[]": "double[]",
    "bool[]": "bool[]",
    "token[]": "token[]",
}
"""Published array type > ours."""


class _ConstructArrayNode(Node):
    def compute(self, given: Mapping[str, Any], context: GraphContext, pulse: str) -> NodeResult:
        """Collect the first ``arraySize`` inputs."""
        size = given["arraySize"]
        if not 0 <= size <= MOST:
            return failed(f"arraySize must lie in 0 ... {MOST}, got {size}")
        return done(array=[given[f"input{i}"] for i in range(size)])


class ConstructAnyArrayNode(_ConstructArrayNode):
    """An array of numbers, integers, booleans or names, depending on ``arrayType``; ``auto`` accepts any of them."""

    TYPE = "omni.graph.nodes.ConstructArray"
    INPUTS = (port("arrayType", "token", "auto"), *_ports("any"))
    OUTPUTS = (port("array", "any[]"),)

    def compute(self, given: Mapping[str, Any], context: GraphContext, pulse: str) -> NodeResult:
        """Collect the first ``arraySize`` inputs, each of the requested type."""
        result = super().compute(given, context, pulse)
        wanted = given["arrayType"]
        if result.failure or wanted == "auto":
            return result
        if wanted not in ARRAY_TYPES:
            return failed(f"no arrayType {wanted!r}; {suggest(wanted, ARRAY_TYPES)}")
        return done(array=port_type(ARRAY_TYPES[wanted]).read(result.outputs["array"], "array"))


class ConstructTokenArrayNode(_ConstructArrayNode):
    """An array of names; the published node selects its type by ``arrayType``, here each type has its own node."""

    TYPE = "omni.graph.nodes.ConstructTokenArray"
    INPUTS = _ports("token")
    OUTPUTS = (port("array", "token[]"),)


class MakeVector2Node(Node):
    """(x, y)."""

    TYPE = "omni.graph.nodes.MakeVector2"
    INPUTS = (port("x", "double"), port("y", "double"))
    OUTPUTS = (port("tuple", "double[2]"),)

    def compute(self, given: Mapping[str, Any], context: GraphContext, pulse: str) -> NodeResult:
        """Combine the numbers into a vector."""
        return done(tuple=[given["x"], given["y"]])


class MakeVector3Node(Node):
    """(x, y, z)."""

    TYPE = "omni.graph.nodes.MakeVector3"
    INPUTS = (port("x", "double"), port("y", "double"), port("z", "double"))
    OUTPUTS = (port("tuple", "double[3]"),)

    def compute(self, given: Mapping[str, Any], context: GraphContext, pulse: str) -> NodeResult:
        """Combine the numbers into a vector."""
        return done(tuple=[given["x"], given["y"], given["z"]])


class MakeVector4Node(Node):
    """(x, y, z, w)."""

    TYPE = "omni.graph.nodes.MakeVector4"
    INPUTS = (port("x", "double"), port("y", "double"), port("z", "double"), port("w", "double"))
    OUTPUTS = (port("tuple", "double[4]"),)

    def compute(self, given: Mapping[str, Any], context: GraphContext, pulse: str) -> NodeResult:
        """Combine the numbers into a vector."""
        return done(tuple=[given["x"], given["y"], given["z"], given["w"]])

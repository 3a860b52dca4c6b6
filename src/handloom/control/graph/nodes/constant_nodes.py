"""Constants: one value that feeds other inputs, from ``inputs:value``."""

from collections.abc import Mapping
from typing import Any

from handloom.control.graph.graph_context import GraphContext
from handloom.control.graph.node import Node, NodeResult, done
from handloom.control.graph.port import port


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

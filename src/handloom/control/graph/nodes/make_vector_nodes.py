"""Vectors of two, three or four numbers."""

from collections.abc import Mapping
from typing import Any

from handloom.control.graph.graph_context import GraphContext
from handloom.control.graph.node import Node, NodeResult, done
from handloom.control.graph.port import port


class MakeVector2Node(Node):
    """(x, y)."""

    TYPE = "omni.graph.nodes.MakeVector2"
    INPUTS = (port("x", "double"), port("y", "double"))
    OUTPUTS = (port("tuple", "double[2]"),)

    def compute(self, given: Mapping[str, Any], context: GraphContext, pulse: str) -> NodeResult:
        """Put the numbers side by side."""
        return done(tuple=[given["x"], given["y"]])


class MakeVector3Node(Node):
    """(x, y, z)."""

    TYPE = "omni.graph.nodes.MakeVector3"
    INPUTS = (port("x", "double"), port("y", "double"), port("z", "double"))
    OUTPUTS = (port("tuple", "double[3]"),)

    def compute(self, given: Mapping[str, Any], context: GraphContext, pulse: str) -> NodeResult:
        """Put the numbers side by side."""
        return done(tuple=[given["x"], given["y"], given["z"]])


class MakeVector4Node(Node):
    """(x, y, z, w)."""

    TYPE = "omni.graph.nodes.MakeVector4"
    INPUTS = (port("x", "double"), port("y", "double"), port("z", "double"), port("w", "double"))
    OUTPUTS = (port("tuple", "double[4]"),)

    def compute(self, given: Mapping[str, Any], context: GraphContext, pulse: str) -> NodeResult:
        """Put the numbers side by side."""
        return done(tuple=[given["x"], given["y"], given["z"], given["w"]])

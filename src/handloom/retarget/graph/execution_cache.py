"""The results of one frame, so that a node that feeds several others runs once."""

from collections.abc import Mapping

from handloom.retarget.graph.compute_context import ComputeContext
from handloom.retarget.graph.tensor_group import OptionalTensorGroup

RetargeterIO = dict[str, OptionalTensorGroup]
"""Groups by port name."""


class ExecutionCache:
    """Inputs of the leaves, context and results of one frame.

    Results are kept by the identity of the executable: the same subgraph asked twice runs once, two
    subgraphs over one node run twice.

    Args:
        leaf_inputs: For each leaf its groups by port.
        context: Time and events of the frame.
    """

    __slots__ = ("context", "leaf_inputs", "results")

    def __init__(self, leaf_inputs: Mapping[str, Mapping[str, OptionalTensorGroup]], context: ComputeContext) -> None:
        self.leaf_inputs = leaf_inputs
        self.context = context
        self.results: dict[int, RetargeterIO] = {}

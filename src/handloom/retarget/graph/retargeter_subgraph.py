"""A node with its inputs bound."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from handloom.retarget.graph.compute_context import ComputeContext
from handloom.retarget.graph.execution_cache import ExecutionCache, RetargeterIO
from handloom.retarget.graph.graph_executable import GraphExecutable, OutputSelector, RetargeterIOType
from handloom.retarget.graph.tensor_group import OptionalTensorGroup

if TYPE_CHECKING:
    from handloom.retarget.graph.base_retargeter import BaseRetargeter


class RetargeterSubgraph(GraphExecutable):
    """An immutable binding of a node's inputs to outputs upstream; made by ``BaseRetargeter.connect``.

    The node itself stays unbound and a binding only knows what existed before it, so no cycle can be built.
    """

    def __init__(self, target_module: "BaseRetargeter", bindings: Mapping[str, OutputSelector]) -> None:
        self._target = target_module
        self._bindings = dict(bindings)
        self._leaves = unique_leaves([selector.module for selector in self._bindings.values()])

    @property
    def name(self) -> str:
        """Name of the bound node."""
        return self._target.name

    @property
    def target_module(self) -> "BaseRetargeter":
        """The bound node."""
        return self._target

    def output_types(self) -> RetargeterIOType:
        """Return the group type of every output port of the node."""
        return self._target.output_types()

    def get_leaf_nodes(self) -> list[GraphExecutable]:
        """Return the leaves upstream of all bindings, each once, in the order of connection."""
        return list(self._leaves)

    def _evaluate(self, cache: ExecutionCache) -> RetargeterIO:
        inputs: RetargeterIO = {}
        for port, selector in self._bindings.items():
            inputs[port] = selector.module.execute_pipeline_with_cache(cache)[selector.output_name]
        # The types were checked when the node was connected, so only absence is left to settle.
        return self._target.run_checked(inputs, cache.context)

    def __call__(
        self, inputs: Mapping[str, Mapping[str, OptionalTensorGroup]], context: ComputeContext | None = None
    ) -> RetargeterIO:
        """Run for one frame; same as ``execute_pipeline``."""
        return self.execute_pipeline(inputs, context)


def unique_leaves(modules: list[GraphExecutable]) -> tuple[GraphExecutable, ...]:
    """Return the leaves of several executables, each once by identity, in order."""
    found: dict[int, GraphExecutable] = {}
    for module in modules:
        for leaf in module.get_leaf_nodes():
            found.setdefault(id(leaf), leaf)
    return tuple(found.values())

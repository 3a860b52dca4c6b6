"""Bound nodes and combined outputs."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from handloom.errors import InputError
from handloom.retarget.graph.execution import (
    ComputeContext,
    ExecutionCache,
    GraphExecutable,
    OutputSelector,
    RetargeterIO,
    RetargeterIOType,
)
from handloom.retarget.graph.groups import OptionalTensorGroup
from handloom.retarget.graph.types import TensorTypeError

if TYPE_CHECKING:
    from handloom.retarget.graph.retargeter import BaseRetargeter


class RetargeterSubgraph(GraphExecutable):
    """An immutable binding of a node's inputs to outputs upstream; made by ``BaseRetargeter.connect``.

    The node itself stays unbound, and a binding can only refer to existing nodes, so no cycle is possible.

    Args:
        target_module: The bound node.
        input_connections: The upstream output for each bound input port.
        output_types: Published but not needed: the node knows them.
    """

    def __init__(
        self,
        target_module: "BaseRetargeter",
        input_connections: Mapping[str, OutputSelector],
        output_types: RetargeterIOType | None = None,
    ) -> None:
        self._target = target_module
        self._bindings = dict(input_connections)
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
        # The types were checked when the node was connected, so only absence remains to be checked.
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


class OutputCombiner(GraphExecutable):
    """Combines outputs of one or more nodes under new names; its groups are the same objects as upstream.

    Args:
        output_mapping: An ``OutputSelector`` for each output name.
    """

    def __init__(self, output_mapping: Mapping[str, OutputSelector]) -> None:
        if not output_mapping:
            raise InputError("an OutputCombiner needs at least one output")
        for name, selector in output_mapping.items():
            if not isinstance(selector, OutputSelector):
                raise TensorTypeError(f"output {name!r}: Expected OutputSelector, got {type(selector).__name__}")
        self._types = {name: selector.group_type for name, selector in output_mapping.items()}
        self._mapping = dict(output_mapping)
        self._leaves = unique_leaves([selector.module for selector in self._mapping.values()])

    @property
    def name(self) -> str:
        """The output names, joined."""
        return "+".join(self._mapping)

    def output_types(self) -> RetargeterIOType:
        """Return the group type of every output."""
        return dict(self._types)

    def get_leaf_nodes(self) -> list[GraphExecutable]:
        """Return the leaves upstream of all outputs, each once."""
        return list(self._leaves)

    def _evaluate(self, cache: ExecutionCache) -> RetargeterIO:
        return {
            name: selector.module.execute_pipeline_with_cache(cache)[selector.output_name]
            for name, selector in self._mapping.items()
        }

    def __call__(
        self, inputs: Mapping[str, Mapping[str, OptionalTensorGroup]], context: ComputeContext | None = None
    ) -> RetargeterIO:
        """Run for one frame; same as ``execute_pipeline``."""
        return self.execute_pipeline(inputs, context)

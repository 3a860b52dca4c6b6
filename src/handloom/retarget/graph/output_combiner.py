"""Several outputs of a graph under one roof."""

from collections.abc import Mapping

from handloom.errors import InputError
from handloom.retarget.graph.compute_context import ComputeContext
from handloom.retarget.graph.errors import TensorTypeError
from handloom.retarget.graph.execution_cache import ExecutionCache, RetargeterIO
from handloom.retarget.graph.graph_executable import GraphExecutable, OutputSelector, RetargeterIOType
from handloom.retarget.graph.retargeter_subgraph import unique_leaves
from handloom.retarget.graph.tensor_group import OptionalTensorGroup


class OutputCombiner(GraphExecutable):
    """Names outputs of one or more nodes; its groups are the very objects computed upstream.

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

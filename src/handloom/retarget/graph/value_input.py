"""A leaf through which the owner of the graph feeds a value."""

from handloom.retarget.graph.base_retargeter import BaseRetargeter
from handloom.retarget.graph.compute_context import ComputeContext
from handloom.retarget.graph.execution_cache import RetargeterIO
from handloom.retarget.graph.graph_executable import RetargeterIOType
from handloom.retarget.graph.tensor_group_type import TensorGroupType


class ValueInput(BaseRetargeter):
    """Passes the group fed under its name on to the graph; absent in, absent out.

    A required value that is not fed is an error; declare it ``OptionalType`` if a frame may come without it.

    Args:
        name: Name of the leaf.
        group_type: Type of the value.
    """

    VALUE = "value"
    stateful = False

    def __init__(self, name: str, group_type: TensorGroupType) -> None:
        self._group_type = group_type
        super().__init__(name)

    def input_spec(self) -> RetargeterIOType:
        """Return the one port, ``value``."""
        return {self.VALUE: self._group_type}

    def output_spec(self) -> RetargeterIOType:
        """Return the one port, ``value``."""
        return {self.VALUE: self._group_type}

    def _compute_fn(self, inputs: RetargeterIO, outputs: RetargeterIO, context: ComputeContext) -> None:
        given, passed = inputs[self.VALUE], outputs[self.VALUE]
        if not given.is_none:
            for index in range(len(given)):
                passed[index] = given[index]

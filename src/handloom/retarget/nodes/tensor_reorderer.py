"""Flattens named elements of several inputs into one action vector."""

from collections.abc import Mapping, Sequence

import numpy as np

from handloom.errors import InputError, suggest
from handloom.retarget.graph.execution import ComputeContext, RetargeterIO, RetargeterIOType
from handloom.retarget.graph.groups import TensorGroupType
from handloom.retarget.graph.retargeter import BaseRetargeter
from handloom.retarget.graph.types import FloatType, NDArrayType

INPUT_KINDS = ("array", "scalar")


class TensorReorderer(BaseRetargeter):
    """Outputs ``output``, one float32 vector with the elements of ``output_order``.

    Args:
        input_config: Names of the elements of every input port, in order.
        output_order: Names of the elements of the output. The first port with a name takes precedence.
        name: Name of the node.
        input_types: For each port ``"array"`` (one float32 vector) or ``"scalar"`` (one float per element,
            the default).

    Raises:
        InputError: ``output_order`` names an element that no input has, or a port or type is unknown.
    """

    OUTPUT = "output"
    stateful = False

    def __init__(
        self,
        input_config: Mapping[str, Sequence[str]],
        output_order: Sequence[str],
        name: str,
        input_types: Mapping[str, str] | None = None,
    ) -> None:
        kinds = dict.fromkeys(input_config, "scalar") | dict(input_types or {})
        for port, kind in kinds.items():
            if port not in input_config:
                raise InputError(f"input_types of {name!r}: no input {port!r}; {suggest(port, input_config)}")
            if kind not in INPUT_KINDS:
                raise InputError(f"input_types of {name!r}: {port!r} is {kind!r}; {suggest(kind, INPUT_KINDS)}")
        self._config = {port: tuple(elements) for port, elements in input_config.items()}
        self._kinds = kinds
        self._order = tuple(output_order)
        self._plan = [self._locate(element, name) for element in self._order]
        super().__init__(name)

    def _locate(self, element: str, name: str) -> tuple[str, int]:
        for port, elements in self._config.items():
            if element in elements:
                return port, elements.index(element)
        known = [known for elements in self._config.values() for known in elements]
        raise InputError(f"output_order of {name!r}: no input has an element {element!r}; {suggest(element, known)}")

    def input_spec(self) -> RetargeterIOType:
        """Return every configured port; all are required."""
        return {port: _group_type(port, elements, self._kinds[port]) for port, elements in self._config.items()}

    def output_spec(self) -> RetargeterIOType:
        """Return the flat vector."""
        return {self.OUTPUT: TensorGroupType(self.OUTPUT, [NDArrayType("action_flat", (len(self._order),))])}

    def _compute_fn(self, inputs: RetargeterIO, outputs: RetargeterIO, context: ComputeContext) -> None:
        rows = {
            port: group[0].tolist() if self._kinds[port] == "array" else [group[i] for i in range(len(group))]
            for port, group in inputs.items()
        }
        outputs[self.OUTPUT][0] = np.array([rows[port][index] for port, index in self._plan], np.float32)


def _group_type(port: str, elements: tuple[str, ...], kind: str) -> TensorGroupType:
    if kind == "array":
        return TensorGroupType(port, [NDArrayType(port, (len(elements),))])
    return TensorGroupType(port, [FloatType(element) for element in elements])

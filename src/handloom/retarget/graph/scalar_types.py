"""Scalar slots. They are strict: what flows through the graph is exactly what the type says."""

from typing import Any, ClassVar

from handloom.retarget.graph.errors import TensorTypeError
from handloom.retarget.graph.tensor_type import TensorType


class _ScalarType(TensorType):
    """A slot for one Python number; all slots of one scalar class are compatible."""

    expected: ClassVar[str]

    def _check_instance_compatibility(self, other: Any) -> bool:
        return True

    def _refuse(self, value: Any) -> TensorTypeError:
        return TensorTypeError(f"slot {self.name!r} takes {self.expected}, got {type(value).__name__} {value!r}")


class FloatType(_ScalarType):
    """A Python ``float`` (``numpy.float64`` is one); NaN and infinity are floats, integers and bools are not."""

    expected = "a float"

    def validate_value(self, value: Any) -> None:
        """Accept floats only."""
        if not isinstance(value, float):
            raise self._refuse(value)


class IntType(_ScalarType):
    """A Python ``int`` that is not a bool."""

    expected = "an int (a bool is not one)"

    def validate_value(self, value: Any) -> None:
        """Accept ints only."""
        if not isinstance(value, int) or isinstance(value, bool):
            raise self._refuse(value)


class BoolType(_ScalarType):
    """A Python ``bool``; 0, 1 and ``numpy.bool_`` are refused."""

    expected = "True or False"

    def validate_value(self, value: Any) -> None:
        """Accept bools only."""
        if not isinstance(value, bool):
            raise self._refuse(value)

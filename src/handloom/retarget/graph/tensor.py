"""One slot of a group: a type and a value."""

import os
from typing import Any, ClassVar

from handloom.errors import InputError, StateError
from handloom.retarget.graph.errors import TensorTypeError
from handloom.retarget.graph.tensor_type import TensorType


class _Unset:
    """The value of a slot nobody has written yet."""

    def __repr__(self) -> str:
        return "<UNSET>"


UNSET_VALUE: Any = _Unset()


class Tensor:
    """A value with its type; a write that does not conform raises and leaves the old value.

    Args:
        tensor_type: What may be stored.
        value: The first value; None leaves the slot unset.
    """

    __slots__ = ("_type", "_value")

    # Published switch: reading validates too, which finds arrays that were resized or retyped in place.
    _runtime_validation: ClassVar[bool] = os.environ.get("RETARGETING_RUNTIME_VALIDATION", "1") != "0"

    def __init__(self, tensor_type: TensorType, value: Any = None) -> None:
        self._type = tensor_type
        self._value = UNSET_VALUE
        if value is not None:
            self.value = value

    @classmethod
    def set_runtime_validation(cls, enabled: bool) -> None:
        """Switch the check on reading for all slots of this interpreter."""
        cls._runtime_validation = enabled

    @property
    def tensor_type(self) -> TensorType:
        """The type of the slot."""
        return self._type

    @property
    def is_set(self) -> bool:
        """Whether a value has been written."""
        return self._value is not UNSET_VALUE

    @property
    def value(self) -> Any:
        """The stored value.

        Raises:
            InputError: The value has not been set.
            StateError: The stored object no longer conforms to the type.
        """
        value = self._value
        if value is UNSET_VALUE:
            raise InputError(f"slot {self._type.name!r}: value has not been set")
        if Tensor._runtime_validation:
            try:
                self._type.validate_value(value)
            except TensorTypeError as error:
                raise StateError(f"Tensor value corrupted after it was written: {error}") from error
        return value

    @value.setter
    def value(self, value: Any) -> None:
        self._type.validate_value(value)
        self._value = value

    def __repr__(self) -> str:
        return f"Tensor(type={self._type.name}, value={self._value!r})"

"""The value of a port: a row of slots that is present, or absent as a whole."""

import copy
from typing import Any, Self

import numpy as np

from handloom.errors import InputError
from handloom.retarget.graph.errors import SlotIndexError, TensorTypeError
from handloom.retarget.graph.tensor import Tensor
from handloom.retarget.graph.tensor_group_type import TensorGroupType


class OptionalTensorGroup:
    """A row of slots that starts absent and becomes present with the first successful write.

    Args:
        group_type: The type of the port; its slots are those of ``group_type.inner_type``.
    """

    __slots__ = ("_absent", "_tensors", "_type")

    def __init__(self, group_type: TensorGroupType) -> None:
        self._type = group_type
        self._tensors = [Tensor(slot) for slot in group_type.types]
        self._absent = True

    @property
    def group_type(self) -> TensorGroupType:
        """The type of the port this group was made for."""
        return self._type

    @property
    def is_none(self) -> bool:
        """Whether the group is absent."""
        return self._absent

    def set_none(self) -> None:
        """Make the group absent; its slots are unset again."""
        self._tensors = [Tensor(slot) for slot in self._type.types]
        self._absent = True

    def get_tensor(self, index: int) -> Tensor:
        """Return the slot itself, type and value; negative indices count from the end."""
        try:
            return self._tensors[index]
        except IndexError:
            raise SlotIndexError(
                f"group {self._type.name!r} has {len(self._tensors)} slots "
                f"({', '.join(slot.name for slot in self._type.types)}), there is no index {index}"
            ) from None

    def __getitem__(self, index: int) -> Any:
        if self._absent:
            raise InputError(f"group {self._type.name!r} is absent; test is_none before reading it")
        return self.get_tensor(index).value

    def __setitem__(self, index: int, value: Any) -> None:
        self.get_tensor(index).value = value
        self._absent = False

    def __len__(self) -> int:
        return len(self._tensors)

    def create_snapshot(self) -> Self:
        """Return an independent copy of the same class; later writes to either do not reach the other."""
        twin = type(self)(self._type)
        for mine, theirs in zip(self._tensors, twin._tensors, strict=True):
            if mine.is_set:
                theirs.value = _copied(mine.value)
        twin._absent = self._absent
        return twin

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._type.name!r}, {'absent' if self._absent else self._tensors})"


class TensorGroup(OptionalTensorGroup):
    """A row of slots that is always present, though its slots may still be unset."""

    __slots__ = ()

    def __init__(self, group_type: TensorGroupType) -> None:
        super().__init__(group_type.inner_type)
        self._absent = False

    def set_none(self) -> None:
        """Refuse: a required group cannot be absent."""
        raise TensorTypeError(f"group {self._type.name!r} is required and cannot be absent")


def new_group(group_type: TensorGroupType) -> OptionalTensorGroup:
    """Return an empty group for a port: absent if the port is optional, present with unset slots otherwise."""
    return OptionalTensorGroup(group_type) if group_type.is_optional else TensorGroup(group_type)


def group_of(group_type: TensorGroupType, *values: Any) -> TensorGroup:
    """Return a present group with one value per slot, in order.

    Raises:
        InputError: The number of values is not the number of slots.
        TensorTypeError: A value does not conform to its slot.
    """
    if len(values) != len(group_type):
        raise InputError(f"group {group_type.name!r} has {len(group_type)} slots, got {len(values)} values")
    group = TensorGroup(group_type)
    for index, value in enumerate(values):
        group[index] = value
    return group


def _copied(value: Any) -> Any:
    """Copy a value by the first of: its own snapshot, an array's clone or copy, a deep copy."""
    if isinstance(value, (float, int, str)):
        return value
    if isinstance(value, np.ndarray):
        return value.copy()
    if hasattr(value, "create_snapshot"):
        return value.create_snapshot()
    for method in ("clone", "copy") if hasattr(value, "__dlpack__") else ():
        if hasattr(value, method):
            return getattr(value, method)()
    return copy.deepcopy(value)

"""Groups of slots: the type of a port, a single stored value, and the group of values that flows through a port."""

import copy
import os
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np

from handloom.errors import InputError, StateError
from handloom.retarget.graph.types import SlotIndexError, TensorType, TensorTypeError


class TensorGroupType:
    """The type of a port whose group is always present.

    Args:
        name: Display name; it does not affect compatibility.
        tensors: One type per slot, in order.
    """

    def __init__(self, name: str, tensors: Sequence[TensorType]) -> None:
        self._name = name
        self._types = list(tensors)

    @property
    def name(self) -> str:
        """Name of the group."""
        return self._name

    @property
    def types(self) -> list[TensorType]:
        """Types of the slots, in order; not to be changed."""
        return self._types

    @property
    def is_optional(self) -> bool:
        """Whether a group of this type may be absent."""
        return False

    @property
    def inner_type(self) -> "TensorGroupType":
        """The type of a present group; the type itself unless it is optional."""
        return self

    def __len__(self) -> int:
        return len(self._types)

    def check_compatibility(self, other: "TensorGroupType") -> None:
        """Accept a group of type ``other`` as the value of an input of this type, or raise.

        Args:
            other: The type of the output to connect to this input.

        Raises:
            InputError: An optional output is connected to a required input, or the slots differ.
        """
        if other is self:
            return
        if other.is_optional and not self.is_optional:
            raise InputError(
                f"Cannot connect optional output {other.name!r} to required input {self.name!r}: it may be absent; "
                "declare the input as OptionalType()"
            )
        if len(self) != len(other):
            raise InputError(
                f"Group type size mismatch: expected {len(self)} tensors, got {len(other)} tensors: input "
                f"{self.name!r} takes [{_slots(self)}], output {other.name!r} gives [{_slots(other)}]"
            )
        for index, (mine, theirs) in enumerate(zip(self.types, other.types, strict=True)):
            if not mine.is_compatible_with(theirs):
                raise InputError(
                    f"Tensor {index} type mismatch: expected {_published(mine)}, got {_published(theirs)}: input "
                    f"{self.name!r} takes {_describe(mine)}, output {other.name!r} gives {_describe(theirs)}"
                )

    def __repr__(self) -> str:
        slots = ", ".join(f"{slot.name}:{type(slot).__name__}" for slot in self._types)
        return f"TensorGroupType({len(self)} types: {slots})"


class OptionalTensorGroupType(TensorGroupType):
    """The type of a port whose group may be absent; made by ``OptionalType``."""

    def __init__(self, inner: TensorGroupType) -> None:
        super().__init__(inner.name, inner.types)
        self._inner = inner.inner_type

    @property
    def is_optional(self) -> bool:
        """A group of this type may be absent."""
        return True

    @property
    def inner_type(self) -> TensorGroupType:
        """The type of a present group."""
        return self._inner

    def __repr__(self) -> str:
        return f"Optional({self._inner!r})"


def OptionalType(tensor_group_type: TensorGroupType) -> OptionalTensorGroupType:  # noqa: N802 - published name
    """Make a group type optional, so that it may be absent; repeating this has no effect."""
    if isinstance(tensor_group_type, OptionalTensorGroupType):
        return tensor_group_type
    return OptionalTensorGroupType(tensor_group_type)


def _describe(slot: TensorType) -> str:
    shape = getattr(slot, "shape", None)
    return f"{type(slot).__name__} {slot.name!r}" + (f" {shape}" if shape is not None else "")


def _published(slot: TensorType) -> str:
    return f"{type(slot).__name__} ({slot.name!r})"


def _slots(group_type: TensorGroupType) -> str:
    return ", ".join(_describe(slot) for slot in group_type.types)


class _Unset:
    """The value of a slot that was never written."""

    def __repr__(self) -> str:
        return "<UNSET>"


UNSET_VALUE: Any = _Unset()


class Tensor:
    """A value with its type; an invalid write raises and leaves the old value.

    Args:
        tensor_type: Type of the stored value.
        value: Initial value; None leaves the slot unset.
    """

    __slots__ = ("_type", "_value")

    # Published switch: reading validates as well, which detects arrays that were resized or retyped in place.
    _runtime_validation: ClassVar[bool] = os.environ.get("RETARGETING_RUNTIME_VALIDATION", "1") != "0"

    def __init__(self, tensor_type: TensorType, value: Any = None) -> None:
        self._type = tensor_type
        self._value = UNSET_VALUE
        if value is not None:
            self.value = value

    @classmethod
    def set_runtime_validation(cls, enabled: bool) -> None:
        """Enable or disable the check on reading for all slots in this process."""
        cls._runtime_validation = enabled

    @classmethod
    def is_runtime_validation_enabled(cls) -> bool:
        """Return whether reading a slot checks its value."""
        return cls._runtime_validation

    @property
    def tensor_type(self) -> TensorType:
        """The type of the slot."""
        return self._type

    @property
    def is_set(self) -> bool:
        """Whether a value was written."""
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
            raise InputError(f"Tensor {self._type.name!r} value has not been set")
        if Tensor._runtime_validation:
            try:
                self._type.validate_value(value)
            except TensorTypeError as error:
                raise StateError(
                    f"Tensor value corrupted for {self._type.name!r} after it was written: {error}"
                ) from error
        return value

    @value.setter
    def value(self, value: Any) -> None:
        self._type.validate_value(value)
        self._value = value

    def __repr__(self) -> str:
        return f"Tensor(type={self._type.name}, value={self._value})"


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
        """Return the slot itself, with type and value; negative indices count from the end."""
        try:
            return self._tensors[index]
        except IndexError:
            raise SlotIndexError(
                f"group {self._type.name!r} has {len(self._tensors)} slots "
                f"({', '.join(slot.name for slot in self._type.types)}); there is no index {index}"
            ) from None

    def __getitem__(self, index: int) -> Any:
        if self._absent:
            raise InputError(
                f"Cannot read from absent OptionalTensorGroup {self._type.name!r}; test is_none before reading it"
            )
        return self.get_tensor(index).value

    def __setitem__(self, index: int, value: Any) -> None:
        self.get_tensor(index).value = value
        self._absent = False

    def __len__(self) -> int:
        return len(self._tensors)

    def create_snapshot(self) -> Self:
        """Return an independent copy of the same class; later writes to either do not affect the other."""
        twin = type(self)(self._type)
        for mine, theirs in zip(self._tensors, twin._tensors, strict=True):
            if mine.is_set:
                theirs.value = _copied(mine.value)
        twin._absent = self._absent
        return twin

    def __repr__(self) -> str:
        state = "absent" if self._absent else f"{len(self)} tensors"
        return f"{type(self).__name__}({self._type.name}, {state})"


class TensorGroup(OptionalTensorGroup):
    """A row of slots that is always present, though its slots may still be unset."""

    __slots__ = ()

    def __init__(self, group_type: TensorGroupType) -> None:
        super().__init__(group_type.inner_type)
        self._absent = False

    def set_none(self) -> None:
        """Raise an error: a required group cannot be absent."""
        raise TensorTypeError(
            f"Cannot set_none on a required TensorGroup: {self._type.name!r} cannot be absent; use OptionalTensorGroup"
        )


def new_group(group_type: TensorGroupType) -> OptionalTensorGroup:
    """Return an empty group for a port: absent if the port is optional, present with unset slots otherwise."""
    return OptionalTensorGroup(group_type) if group_type.is_optional else TensorGroup(group_type)


def group_of(group_type: TensorGroupType, *values: Any) -> TensorGroup:
    """Return a present group with one value per slot, in order.

    Raises:
        InputError: The number of values differs from the number of slots.
        TensorTypeError: A value does not conform to its slot.
    """
    if len(values) != len(group_type):
        raise InputError(f"group {group_type.name!r} has {len(group_type)} slots, got {len(values)} values")
    group = TensorGroup(group_type)
    for index, value in enumerate(values):
        group[index] = value
    return group


def _copied(value: Any) -> Any:
    """Copy a value by the first available of: its own snapshot, an array's clone or copy, a deep copy."""
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

"""The type of a port: an ordered row of slots, which may be declared optional."""

from collections.abc import Sequence

from handloom.errors import InputError
from handloom.retarget.graph.tensor_type import TensorType


class TensorGroupType:
    """The type of a port whose group is always present.

    Args:
        name: Name for people; it takes no part in compatibility.
        types: One type per slot, in order.
    """

    def __init__(self, name: str, types: Sequence[TensorType]) -> None:
        self._name = name
        self._types = tuple(types)

    @property
    def name(self) -> str:
        """Name of the group."""
        return self._name

    @property
    def types(self) -> tuple[TensorType, ...]:
        """Types of the slots, in order."""
        return self._types

    @property
    def is_optional(self) -> bool:
        """Whether a group of this type may be absent."""
        return False

    @property
    def inner_type(self) -> "TensorGroupType":
        """The type a present group has; the type itself unless it is optional."""
        return self

    def __len__(self) -> int:
        return len(self._types)

    def check_compatibility(self, other: "TensorGroupType") -> None:
        """Accept a group of type ``other`` as the value of an input of this type, or raise.

        Args:
            other: The type of the output that would feed this input.

        Raises:
            InputError: An optional output would feed a required input, or the slots differ.
        """
        if other is self:
            return
        if other.is_optional and not self.is_optional:
            raise InputError(
                f"Cannot connect optional output {other.name!r} to required input {self.name!r}: it may be absent; "
                "declare the input OptionalType(...)"
            )
        if len(self) != len(other):
            raise InputError(
                f"input {self.name!r} has {len(self)} slots, output {other.name!r} has {len(other)}: "
                f"[{_slots(self)}] and [{_slots(other)}]"
            )
        for index, (mine, theirs) in enumerate(zip(self.types, other.types, strict=True)):
            if not mine.is_compatible_with(theirs):
                raise InputError(
                    f"slot {index} differs: input {self.name!r} takes {_describe(mine)}, "
                    f"output {other.name!r} gives {_describe(theirs)}"
                )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._name!r}, [{_slots(self)}])"


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
        """The type a present group has."""
        return self._inner


def OptionalType(group_type: TensorGroupType) -> OptionalTensorGroupType:  # noqa: N802 - published name
    """Mark a port as one that may be absent; marking twice changes nothing."""
    return group_type if isinstance(group_type, OptionalTensorGroupType) else OptionalTensorGroupType(group_type)


def _describe(slot: TensorType) -> str:
    shape = getattr(slot, "shape", None)
    return f"{type(slot).__name__} {slot.name!r}" + (f" {shape}" if shape is not None else "")


def _slots(group_type: TensorGroupType) -> str:
    return ", ".join(_describe(slot) for slot in group_type.types)

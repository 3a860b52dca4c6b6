"""What may be stored in one slot of a group."""

from abc import ABC, abstractmethod
from typing import Any


class TensorType(ABC):
    """The type of one slot: a scalar or an array with its shape, precision and device.

    Two types are compatible if they are of exactly the same class and agree in what that class compares.
    Names are for people and never take part in compatibility.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def name(self) -> str:
        """Name of the slot, e.g. ``grip_position``."""
        return self._name

    def is_compatible_with(self, other: "TensorType") -> bool:
        """Say whether a value of ``other`` may flow into a slot of this type."""
        return self is other or (type(self) is type(other) and self._check_instance_compatibility(other))

    @abstractmethod
    def _check_instance_compatibility(self, other: Any) -> bool:
        """Compare with another type of the same class."""

    @abstractmethod
    def validate_value(self, value: Any) -> None:
        """Accept ``value`` or raise.

        Raises:
            TensorTypeError: The value does not conform; the text says in what.
        """

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._name!r})"

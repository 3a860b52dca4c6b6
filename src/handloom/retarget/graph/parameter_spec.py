"""Descriptions of tunable parameters: name, default, bounds, and a callback for changes."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from handloom.errors import InputError

INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1


@dataclass
class ParameterSpec(ABC):
    """Base class of all parameters."""

    name: str
    """Name, also the key in the JSON file."""
    description: str = ""
    """One-line description for the user."""
    saveable: bool = True
    """Whether the value is written to the JSON file."""
    sync_fn: Callable[[Any], None] | None = None
    """Called with the value when the state is created and before every frame."""

    @abstractmethod
    def get_default_value(self) -> Any:
        """Return the default value; a fresh object for vectors."""

    @abstractmethod
    def validate(self, value: Any) -> bool:
        """Return whether a value has the right type and is within bounds."""

    def serialize(self, value: Any) -> Any:
        """Return the value in its JSON form."""
        return value

    def deserialize(self, value: Any) -> Any:
        """Return a value from the JSON file, or one that was set, in its stored form."""
        return value

    def _check(self) -> None:
        default = self.get_default_value()
        if not self.validate(default):
            raise InputError(f"parameter {self.name!r}: the default {default!r} is not a value it accepts")

    def _check_bounds(self, low: Any, high: Any) -> None:
        if not np.all(np.asarray(low) < np.asarray(high)):
            raise InputError(f"parameter {self.name!r}: min_value must be below max_value, got {low} and {high}")


@dataclass
class BoolParameter(ParameterSpec):
    """A switch."""

    default_value: bool = False

    def __post_init__(self) -> None:
        """Reject a default that is not a bool."""
        self._check()

    def get_default_value(self) -> bool:
        """Return the default state of the switch."""
        return self.default_value

    def validate(self, value: Any) -> bool:
        """Accept bools only."""
        return isinstance(value, bool)


@dataclass
class FloatParameter(ParameterSpec):
    """A number within bounds."""

    default_value: float = 0.0
    min_value: float = -math.inf
    max_value: float = math.inf
    step_size: float = 0.01
    """Slider step."""

    def __post_init__(self) -> None:
        """Reject empty bounds and a default outside them."""
        self._check_bounds(self.min_value, self.max_value)
        self._check()

    def get_default_value(self) -> float:
        """Return the default number."""
        return float(self.default_value)

    def validate(self, value: Any) -> bool:
        """Accept ints and floats within bounds; NaN is never within bounds."""
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return is_number and self.min_value <= value <= self.max_value

    def is_bounded(self) -> bool:
        """Return whether both bounds are finite."""
        return math.isfinite(self.min_value) and math.isfinite(self.max_value)

    def serialize(self, value: Any) -> float:
        """Return the value as a float."""
        return float(value)

    def deserialize(self, value: Any) -> float:
        """Return the value as a float."""
        return float(value)


@dataclass
class IntParameter(ParameterSpec):
    """An integer within bounds."""

    default_value: int = 0
    min_value: int = INT32_MIN
    max_value: int = INT32_MAX
    step_size: int = 1
    """Slider step."""

    def __post_init__(self) -> None:
        """Reject empty bounds and a default outside them."""
        self._check_bounds(self.min_value, self.max_value)
        self._check()

    def get_default_value(self) -> int:
        """Return the default number."""
        return self.default_value

    def validate(self, value: Any) -> bool:
        """Accept ints within bounds; a bool is not an int."""
        return isinstance(value, int) and not isinstance(value, bool) and self.min_value <= value <= self.max_value

    def is_bounded(self) -> bool:
        """Return whether both bounds are within the int32 range."""
        return self.min_value > INT32_MIN and self.max_value < INT32_MAX


@dataclass
class VectorParameter(ParameterSpec):
    """A vector of named numbers; bounds and steps are stored as one number per element."""

    element_names: Sequence[str] = ()
    default_value: ArrayLike | None = None
    """Defaults to zeros."""
    min_value: ArrayLike | None = None
    """One bound for all elements, or one each; None for no bound."""
    max_value: ArrayLike | None = None
    """One bound for all elements, or one each; None for no bound."""
    step_size: ArrayLike = 0.01
    """Slider step, one for all elements or one each."""

    def __post_init__(self) -> None:
        """Reject missing names, lengths that do not match, empty bounds and a default outside them."""
        if not self.element_names:
            raise InputError(f"parameter {self.name!r}: a vector needs element_names")
        for what in ("default_value", "min_value", "max_value", "step_size"):
            given = getattr(self, what)
            if given is None:
                continue
            shape = np.shape(given)
            if shape != (len(self),) and (shape or what == "default_value"):
                raise InputError(
                    f"parameter {self.name!r}: {what} has shape {shape}, which doesn't match "
                    f"the {len(self)} element names"
                )
            setattr(self, what, np.broadcast_to(np.asarray(given, np.float32), len(self)).copy())
        if self.default_value is None:
            self.default_value = np.zeros(len(self), np.float32)
        self._check_bounds(*self._bounds())
        self._check()

    def __len__(self) -> int:
        return len(self.element_names)

    def _bounds(self) -> tuple[np.ndarray, np.ndarray]:
        low = -math.inf if self.min_value is None else self.min_value
        high = math.inf if self.max_value is None else self.max_value
        return np.asarray(low, np.float32), np.asarray(high, np.float32)

    def get_default_value(self) -> np.ndarray:
        """Return the default numbers, float32."""
        return np.array(self.default_value, np.float32)

    def is_bounded(self) -> bool:
        """Return whether both bounds are given."""
        return self.min_value is not None and self.max_value is not None

    def validate(self, value: Any) -> bool:
        """Accept arrays and lists of the right length within bounds."""
        if not isinstance(value, (np.ndarray, list, tuple)) or np.shape(value) != (len(self),):
            return False
        numbers = np.asarray(value)
        if not np.issubdtype(numbers.dtype, np.number):
            return False
        # Bounds are compared in float32, in which values are stored, so that a bound itself is accepted.
        numbers = numbers.astype(np.float32)
        low, high = self._bounds()
        return bool(np.all((low <= numbers) & (numbers <= high)))

    def serialize(self, value: Any) -> list[float]:
        """Return the shortest decimals that read back as the same float32 numbers."""
        return [float(str(element)) for element in np.asarray(value, np.float32)]

    def deserialize(self, value: Any) -> np.ndarray:
        """Return the value as a new float32 array."""
        return np.array(value, np.float32)

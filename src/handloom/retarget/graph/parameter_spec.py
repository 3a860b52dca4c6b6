"""Descriptions of tunable parameters: name, default, bounds, and who is told about a change."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from handloom.errors import InputError

INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1


@dataclass(frozen=True)
class ParameterSpec(ABC):
    """What all parameters have in common."""

    name: str
    """Name, also the key in the JSON file."""
    description: str = ""
    """One line for the person who turns it."""
    saveable: bool = field(default=True, kw_only=True)
    """Whether the value is written to the JSON file."""
    sync_fn: Callable[[Any], None] | None = field(default=None, kw_only=True)
    """Called with the value when the state is made and before every frame."""

    @property
    @abstractmethod
    def default(self) -> Any:
        """The value before anyone turned it; a fresh object for vectors."""

    @abstractmethod
    def accepts(self, value: Any) -> bool:
        """Say whether a value is of the right kind and within bounds."""

    def stored(self, value: Any) -> Any:
        """Return the value as it is kept."""
        return value

    def _check(self) -> None:
        if not self.accepts(self.default):
            raise InputError(f"parameter {self.name!r}: the default {self.default!r} is not a value it accepts")

    def _check_bounds(self, low: Any, high: Any) -> None:
        if not np.all(np.asarray(low) < np.asarray(high)):
            raise InputError(f"parameter {self.name!r}: min_value must be below max_value, got {low} and {high}")


@dataclass(frozen=True)
class BoolParameter(ParameterSpec):
    """A switch."""

    default_value: bool = False

    def __post_init__(self) -> None:
        """Refuse a default that is no switch."""
        self._check()

    @property
    def default(self) -> bool:
        """The switch before anyone turned it."""
        return self.default_value

    def accepts(self, value: Any) -> bool:
        """Accept bools only."""
        return isinstance(value, bool)


@dataclass(frozen=True)
class FloatParameter(ParameterSpec):
    """A number within bounds."""

    default_value: float = 0.0
    min_value: float = -math.inf
    max_value: float = math.inf
    step_size: float = 0.01
    """What one notch of a slider changes."""

    def __post_init__(self) -> None:
        """Refuse empty bounds and a default outside them."""
        self._check_bounds(self.min_value, self.max_value)
        self._check()

    @property
    def default(self) -> float:
        """The number before anyone turned it."""
        return float(self.default_value)

    def accepts(self, value: Any) -> bool:
        """Accept ints and floats within bounds; NaN is in no bounds."""
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return is_number and self.min_value <= value <= self.max_value

    def stored(self, value: Any) -> float:
        """Return the value as a float."""
        return float(value)


@dataclass(frozen=True)
class IntParameter(ParameterSpec):
    """A whole number within bounds."""

    default_value: int = 0
    min_value: int = INT32_MIN
    max_value: int = INT32_MAX
    step_size: int = 1
    """What one notch of a slider changes."""

    def __post_init__(self) -> None:
        """Refuse empty bounds and a default outside them."""
        self._check_bounds(self.min_value, self.max_value)
        self._check()

    @property
    def default(self) -> int:
        """The number before anyone turned it."""
        return self.default_value

    def accepts(self, value: Any) -> bool:
        """Accept ints within bounds; a bool is not an int."""
        return isinstance(value, int) and not isinstance(value, bool) and self.min_value <= value <= self.max_value


@dataclass(frozen=True)
class VectorParameter(ParameterSpec):
    """Several numbers with a name each."""

    element_names: Sequence[str] = ()
    default_value: ArrayLike | None = None
    """Defaults to zeros."""
    min_value: ArrayLike = -math.inf
    """One bound for all elements, or one each."""
    max_value: ArrayLike = math.inf
    step_size: float = 0.01
    """What one notch of a slider changes."""

    def __post_init__(self) -> None:
        """Refuse missing names, lengths that do not match, empty bounds and a default outside them."""
        if not self.element_names:
            raise InputError(f"parameter {self.name!r}: a vector needs element_names")
        for what in ("default_value", "min_value", "max_value"):
            given = getattr(self, what)
            shape = () if given is None else np.shape(given)
            if shape not in {(), (len(self.element_names),)} or (
                what == "default_value" and given is not None and not shape
            ):
                raise InputError(
                    f"parameter {self.name!r}: {what} has shape {shape}, which doesn't match "
                    f"the {len(self.element_names)} element names"
                )
        self._check_bounds(self.min_value, self.max_value)
        self._check()

    @property
    def default(self) -> np.ndarray:
        """The numbers before anyone turned them, float32."""
        if self.default_value is None:
            return np.zeros(len(self.element_names), np.float32)
        return np.array(self.default_value, np.float32)

    def accepts(self, value: Any) -> bool:
        """Accept arrays and lists of the right length within bounds."""
        if not isinstance(value, (np.ndarray, list, tuple)) or np.shape(value) != (len(self.element_names),):
            return False
        numbers = np.asarray(value)
        if not np.issubdtype(numbers.dtype, np.number):
            return False
        # Bounds are compared in float32 as the values are kept, so that a bound itself is accepted.
        numbers = numbers.astype(np.float32)
        low, high = np.asarray(self.min_value, np.float32), np.asarray(self.max_value, np.float32)
        return bool(np.all((low <= numbers) & (numbers <= high)))

    def stored(self, value: Any) -> np.ndarray:
        """Return the value as a float32 array of its own."""
        return np.array(value, np.float32)

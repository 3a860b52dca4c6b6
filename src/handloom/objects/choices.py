"""The parameters that turn a category into one object: drawn at random, or read back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from handloom.errors import InputError, suggest, unknown_name
from handloom.objects.materials import COLORS

Value = float | int | str | bool | tuple[float, ...]
"""Parameters of an object; only its scale may have a factor for each axis."""

REACH = 20.0
"""Factor by which a given value may exceed the sampling range; more suggests a wrong unit."""


@dataclass(frozen=True, kw_only=True)
class Offer:
    """Range of a parameter: numbers between two ends, or words."""

    low: float = 0.0
    high: float = 0.0
    words: tuple[str, ...] = ()

    def with_also(self, other: "Offer") -> "Offer":
        """Return the union of both ranges: ranges may depend on earlier choices."""
        words = tuple(dict.fromkeys((*self.words, *other.words)))
        return Offer(low=min(self.low, other.low), high=max(self.high, other.high), words=words)

    def __str__(self) -> str:
        return ", ".join(self.words) if self.words else f"{self.low:.4g} to {self.high:.4g}"


class Choices:
    """Draws parameters by name and records them, so that the object can be rebuilt from the record.

    A category is one function of a ``Choices``. With a generator it draws; a given parameter is used, but its draw is
    still made, so that fixing the colour of an object does not change its shape. With every parameter given no
    generator is needed.

    Args:
        rng: Random generator, or None.
        given: Fixed parameters.
        category: Named in errors.
    """

    def __init__(self, rng: np.random.Generator | None, given: Mapping[str, Value], category: str) -> None:
        self._rng = rng
        self._given = dict(given)
        self._category = category
        self._taken: dict[str, Value] = {}
        self.offers: dict[str, Offer] = {}
        """Range of each parameter used so far."""

    def number(self, name: str, low: float, high: float, *, step: float = 1e-4, signed: bool = False) -> float:
        """Choose a number in [low, high], rounded to ``step`` (0.1 mm) so that it reads well.

        A given number may lie outside, within a factor of ``REACH``, and below zero if ``signed``.
        """
        self.offers[name] = Offer(low=low, high=high)
        drawn = None if self._rng is None else round(round(self._rng.uniform(low, high) / step) * step, 9)
        value = self._take(name, drawn)
        least, most = low / REACH, high * REACH
        number = value if isinstance(value, int | float) and not isinstance(value, bool) else float("nan")
        if not (least <= number <= most or (signed and -most <= number <= 0.0)):
            least = -most if signed else least
            raise InputError(
                f"{self._category}: parameter {name!r} must be a number from {least:.4g} to {most:.4g}, got {value!r}"
            )
        return float(number)

    def integer(self, name: str, low: int, high: int) -> int:
        """Choose a whole number in [low, high]."""
        self.offers[name] = Offer(low=low, high=high)
        drawn = None if self._rng is None else int(self._rng.integers(low, high + 1))
        value = self._take(name, drawn)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise InputError(f"{self._category}: parameter {name!r} must be an integer {low} to {high}, got {value!r}")
        return value

    def pick(self, name: str, options: Sequence[str]) -> str:
        """Choose one of several words."""
        self.offers[name] = Offer(words=tuple(options))
        drawn = None if self._rng is None else options[int(self._rng.integers(len(options)))]
        value = self._take(name, drawn)
        if value not in options:
            raise InputError(f"{self._category}: {name!r} cannot be {value!r}; {suggest(str(value), options)}")
        return str(value)

    def color(self, options: Sequence[str], name: str = "color", *, unlike: str | None = None) -> str:
        """Choose a colour word: drawn from ``options`` without ``unlike``, but any known colour may be given."""
        free = [word for word in options if word != unlike]
        self.offers[name] = Offer(words=tuple(options))
        drawn = None if self._rng is None else free[int(self._rng.random() * len(free))]
        value = str(self._take(name, drawn))
        if value not in COLORS:
            raise unknown_name("color", value, COLORS)
        return value

    def finish(self) -> dict[str, Value]:
        """Return all choices made; an unused given parameter is an error."""
        unused = sorted(set(self._given) - set(self._taken))
        if unused:
            raise InputError(f"{self._category} has no parameter {unused[0]!r}; {suggest(unused[0], self._taken)}")
        return dict(self._taken)

    def _take(self, name: str, drawn: Value | None) -> Value:
        value = self._given.get(name, drawn)
        if value is None:
            raise InputError(
                f"{self._category}: parameter {name!r} is not given and there is no generator to draw it; "
                "pass rng=numpy.random.default_rng(seed)"
            )
        self._taken[name] = value
        return value

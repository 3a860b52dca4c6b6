"""Checks the arguments of wheeled controllers, so that no NaN can reach a wheel."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from handloom.arrays import Array
from handloom.errors import InputError


def finite_number(value: Any, what: str) -> float:
    """Return ``value`` as a finite float, or raise an error that shows it.

    Raises:
        InputError: The value is not a number, or it is NaN or infinite.
    """
    number = _as_float(value, what)
    if not math.isfinite(number):
        raise InputError(f"{what} must be finite, got {number}")
    return number


def positive_number(value: Any, what: str) -> float:
    """Return ``value`` as a finite float above zero; InputError otherwise."""
    number = finite_number(value, what)
    if number <= 0.0:
        raise InputError(f"{what} must be > 0, got {number}")
    return number


def limit(value: Any, what: str) -> float:
    """Return ``value`` as a limit >= 0; infinity means no limit, NaN and negative values are rejected."""
    number = _as_float(value, what)
    if math.isnan(number) or number < 0.0:
        raise InputError(f"{what} must be >= 0 (inf: no limit), got {number}")
    return number


def finite_vector(values: Any, names: Sequence[str], what: str) -> Array:
    """Return ``values`` as a finite vector with one entry per name.

    Args:
        values: Values given by the user.
        names: The entries expected, in order; they appear in the message.
        what: Name of the vector in the message.

    Raises:
        InputError: The values are not numbers, have the wrong length, or contain NaN or infinity.
    """
    vector = float_array(values, what)
    if vector.shape != (len(names),):
        raise InputError(
            f"{what} needs {len(names)} values [{', '.join(names)}], got shape {vector.shape}: nothing was computed"
        )
    for name, value in zip(names, vector, strict=True):
        if not math.isfinite(value):
            raise InputError(f"{what}: {name} must be finite, got {value}")
    return vector


def float_array(values: Any, what: str) -> Array:
    """Return ``values`` as a float64 array of any shape, NaN allowed; InputError if they are not numbers."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} must hold numbers, got {values!r}") from error
    return array


def finite_array(values: Any, shape: tuple[int, ...], what: str) -> Array:
    """Return ``values`` as a finite array; -1 in ``shape`` stands for any length of at least one."""
    array = float_array(values, what)
    fits = array.ndim == len(shape) and all(
        size >= 1 if want == -1 else size == want for size, want in zip(array.shape, shape, strict=True)
    )
    if not fits:
        wanted = ", ".join("n >= 1" if want == -1 else str(want) for want in shape)
        raise InputError(f"{what} must have shape ({wanted}), got {array.shape}")
    if not np.all(np.isfinite(array)):
        raise InputError(f"{what} must be finite, got {array.tolist()}")
    return array


def finite_result(result: Array, what: str) -> Array:
    """Return ``result`` unchanged, or reject arguments so extreme that the arithmetic overflowed."""
    if not np.all(np.isfinite(result)):
        raise InputError(f"{what} overflows with these arguments: {result.tolist()}; lower the command or the limits")
    return result


def _as_float(value: Any, what: str) -> float:
    if isinstance(value, str | bytes):
        raise InputError(f"{what} must be a number, got {value!r}")
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{what} must be a number, got {value!r}") from error

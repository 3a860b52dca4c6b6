"""Reading numbers of a device sample, with errors that name the field."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from handloom.errors import InputError

# Strict JSON has no such numbers, and a faithful recording of a broken tracker needs them.
_NON_FINITE = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}


def array_field(value: Any, shape: tuple[int, ...], *, what: str, dtype: Any = np.float32) -> NDArray[Any]:
    """Return a field as a new array of fixed shape; NaN is kept, for the nodes to judge."""
    try:
        # A number beyond float32 becomes infinity, which the nodes hold on like any other broken pose.
        with np.errstate(over="ignore"):
            array = np.array(value, dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{what} must be numbers of shape {shape}, got {value!r}") from error
    if array.shape != shape:
        raise InputError(f"{what} must have shape {shape}, got {array.shape}")
    array.setflags(write=False)
    return array


def float_field(value: Any, *, what: str) -> float:
    """Return a field as a float; bools count as 0 and 1, text and None are refused."""
    if not isinstance(value, (int, float, np.floating, np.integer)):
        raise InputError(f"{what} must be a number, got {value!r}")
    return float(value)


def bool_field(value: Any, *, what: str) -> bool:
    """Return a field as a bool; only True and False are taken."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"{what} must be True or False, got {value!r}")
    return bool(value)


def decoded(value: Any) -> Any:
    """Return a JSON value with ``"nan"``, ``"inf"`` and ``"-inf"`` as numbers, in nested lists too."""
    if isinstance(value, list):
        return [decoded(element) for element in value]
    return _NON_FINITE.get(value, value) if isinstance(value, str) else value


def encoded(value: Any) -> Any:
    """Return a field as strict JSON; the inverse of ``decoded``."""
    if isinstance(value, np.ndarray):
        return encoded(value.tolist())
    if isinstance(value, list):
        return [encoded(element) for element in value]
    if isinstance(value, float) and not np.isfinite(value):
        return "nan" if np.isnan(value) else ("inf" if value > 0 else "-inf")
    return value

"""Checks of joint indices and values given by a caller, before anything is written."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.errors import InputError

JointSelection = Sequence[int] | NDArray[np.integer[Any]] | None
"""Joint numbers in the robot's order; None means all joints."""


def joint_indices(indices: Any, names: Sequence[str]) -> NDArray[np.int64]:
    """Return checked indices (k,) into the joints of a robot; None means all of them.

    Raises:
        InputError: Not whole numbers, out of range, or one joint twice.
    """
    count = len(names)
    if indices is None:
        return np.arange(count)
    array = _as_array("joint_indices", indices)
    if array.ndim != 1:
        raise InputError(f"joint_indices must be a flat list of joint numbers, got shape {array.shape}")
    if array.size == 0:
        return np.empty(0, dtype=np.int64)
    if array.dtype.kind not in "iu":
        raise InputError(f"joint_indices must be whole numbers, got {array.dtype.name}: {indices!r}")
    outside = array[(array < 0) | (array >= count)]
    if outside.size:
        raise InputError(
            f"joint_indices has {int(outside[0])}, but the {count} joints are 0 to {count - 1}: {_list(names)}"
        )
    found, times = np.unique(array, return_counts=True)
    if np.any(times > 1):
        twice = int(found[times > 1][0])
        raise InputError(f"joint_indices names joint {twice} ({names[twice]}) more than once")
    return array.astype(np.int64)


def joint_values(
    channel: str, values: Any, joints: NDArray[np.int64], names: Sequence[str], *, infinite: bool = False
) -> Array:
    """Return checked values (k,), with NaN where nothing is commanded.

    Args:
        channel: Name of the argument, for error messages.
        values: Values given by the caller: a list or array of numbers, None or NaN.
        joints: The joints they belong to (k,).
        names: Names of all joints.
        infinite: Whether infinity is allowed.

    Raises:
        InputError: Wrong length, not numbers, or infinite.
    """
    if values is None:
        return np.full(joints.size, np.nan)
    array = _as_array(channel, values)
    if array.shape != (joints.size,):
        raise InputError(
            f"{channel} must have one value for each of the {joints.size} selected joints, got shape {array.shape}; "
            f"joints: {_list([names[int(joint)] for joint in joints])}"
        )
    numbers = _as_numbers(channel, array)
    endless = np.flatnonzero(np.isinf(numbers))
    if endless.size and not infinite:
        raise InputError(
            f"{channel} is infinite for joint {names[int(joints[endless[0]])]}; None or NaN keeps a target"
        )
    return numbers


def _as_array(argument: str, values: Any) -> NDArray[Any]:
    try:
        return np.asarray(values)
    except (ValueError, TypeError) as error:
        raise InputError(f"{argument} must be a flat list of numbers, got {values!r}") from error


def _as_numbers(channel: str, array: NDArray[Any]) -> Array:
    if array.dtype.kind in "fiu":
        return array.astype(np.float64)
    if array.dtype.kind != "O" and array.size:
        raise InputError(f"{channel} must be numbers, None or NaN, got {array.dtype.name}: {array.tolist()!r}")
    numbers = np.empty(array.size)
    for index, value in enumerate(array):
        if value is None:
            numbers[index] = np.nan
        elif isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool):
            numbers[index] = _as_float(channel, value)
        else:
            raise InputError(f"{channel} must be numbers, None or NaN, got {value!r} at entry {index}")
    return numbers


def _as_float(channel: str, value: Any) -> float:
    try:
        return float(value)
    except OverflowError as error:
        raise InputError(f"{channel} has a number too large for a float: {str(value)[:20]}...") from error


def _list(names: Sequence[str]) -> str:
    return ", ".join(names)

"""Values given by name pattern, one per joint: how the published environment files say things about joints."""

import fnmatch
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from handloom.arrays import Array
from handloom.errors import ConfigError


def matches(pattern: str, name: str) -> bool:
    """Return whether a pattern of an environment file names a joint.

    Patterns are regular expressions; the published reader takes them for shell patterns with an open end instead, and
    files written for it work too.
    """
    try:
        if re.fullmatch(pattern, name):
            return True
    except re.error:
        pass
    return fnmatch.fnmatchcase(name, pattern.replace(".", "*") + "*")


def per_joint(given: Any, joint_names: Sequence[str], *, default: float, field: str) -> Array:
    """Return one value per joint (n,) from a number, a mapping of patterns, or None.

    Args:
        given: What the file says; the first pattern that names a joint wins.
        joint_names: The joints, in order.
        default: For joints that nothing names, and for None.
        field: Where this is written, ``file:line: key.path``, for messages.

    Raises:
        ConfigError: Something is not a number, or a pattern names no joint.
    """
    if given is None:
        return np.full(len(joint_names), default)
    if not isinstance(given, Mapping):
        return np.full(len(joint_names), number(given, field))
    values = np.full(len(joint_names), np.nan)
    for pattern, value in given.items():
        named = np.array([matches(str(pattern), name) for name in joint_names], dtype=bool)
        if not named.any():
            raise ConfigError(f"{field}.{pattern}: names no joint; the robot has {', '.join(joint_names)}")
        chosen = named & np.isnan(values)
        values[chosen] = default if value is None else number(value, f"{field}.{pattern}")
    return np.where(np.isnan(values), default, values)


def number(given: Any, field: str) -> float:
    """Return a number that may be infinite but not NaN."""
    if isinstance(given, bool) or not isinstance(given, int | float) or np.isnan(given):
        raise ConfigError(f"{field}: must be a number, got {given!r}")
    return float(given)

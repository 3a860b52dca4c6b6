"""Error messages for targets of inverse kinematics, shared by all checks."""

from handloom.errors import InputError

SKEWED = 1e-6
"""Largest allowed difference between ``R R'`` of a rotation matrix and the identity."""


def not_finite(number: int, count: int) -> InputError:
    """Return the error for a target with entries that are not finite."""
    return InputError(f"target {number} of {count} has entries that are not finite")


def no_rotation() -> InputError:
    """Return the error for a target with an invalid rotation."""
    return InputError("a target's rotation part is not a rotation matrix (orthonormal, determinant 1)")

"""What is wrong with targets of inverse kinematics, in the same words wherever they are looked at."""

from handloom.errors import InputError

SKEWED = 1e-6
"""Largest difference of ``R R'`` from the identity that a rotation matrix may have."""


def not_finite(number: int, count: int) -> InputError:
    """Return the error of a target with entries that are not finite."""
    return InputError(f"target {number} of {count} has entries that are not finite")


def no_rotation() -> InputError:
    """Return the error for a target with an invalid rotation."""
    return InputError("a target's rotation part is not a rotation matrix (orthonormal, determinant 1)")

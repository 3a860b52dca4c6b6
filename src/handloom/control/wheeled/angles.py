"""Angles in the plane: wrapping and the yaw of a quaternion."""

import math
from collections.abc import Sequence

import numpy as np

from handloom.arrays import Array
from handloom.control.wheeled.arguments import finite_number, finite_vector


def normalize_angle(angle: float) -> float:
    """Return the same direction within [-pi, pi]; odd multiples of pi keep their sign.

    Raises:
        InputError: The angle is not finite.
    """
    given = finite_number(angle, "angle")
    # One exact remainder has no drift, unlike repeated subtraction; it leaves the sign of a tie open.
    wrapped = math.remainder(given, 2.0 * math.pi)
    return math.copysign(math.pi, given) if abs(wrapped) == math.pi else wrapped


def yaw_from_quat(quat: Sequence[float] | Array) -> float:
    """Return the rotation about z [rad] of a quaternion wxyz of any length; the zero quaternion has yaw 0."""
    values = finite_vector(quat, ("w", "x", "y", "z"), "orientation")
    w, x, y, z = (values / (np.max(np.abs(values)) or 1.0)).tolist()
    return math.atan2(2.0 * (w * z + x * y), w * w + x * x - y * y - z * z)

"""Arithmetic on single quaternions as plain tuples (w, x, y, z), for nodes that run once per frame.

The batched functions of ``handloom.spatial`` spend tens of microseconds on the array machinery of one
quaternion; a whole node may take 25. The formulas are the same, as a test verifies.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.spatial import matrix_from_quat, quat_from_matrix, quat_wxyz_from_xyzw

Quat = tuple[float, float, float, float]
Vec3 = tuple[float, float, float]

IDENTITY: Quat = (1.0, 0.0, 0.0, 0.0)
# Shorter quaternions have no direction; the published clutch uses the same bound.
SHORTEST = 1e-6
# No room is this large [m]: such a position is a broken tracker, and float32 has lost the millimetres.
FARTHEST = 1e3


def quat_from_port(xyzw: NDArray[np.float32]) -> Quat:
    """Return (w, x, y, z) of a quaternion slot, whose published layout is xyzw."""
    w, x, y, z = quat_wxyz_from_xyzw(xyzw).tolist()
    return w, x, y, z


def usable_quat(quat: Quat) -> Quat | None:
    """Return the unit quaternion, or None if the length is below 1e-6 or not finite."""
    w, x, y, z = quat
    norm = math.sqrt(w * w + x * x + y * y + z * z)
    if not SHORTEST <= norm < math.inf:
        return None
    return w / norm, x / norm, y / norm, z / norm


def usable_pose(position: NDArray[np.float32], xyzw: NDArray[np.float32]) -> tuple[Vec3, Quat] | None:
    """Return position [m] and unit quaternion of two slots, or None if either carries no pose."""
    x, y, z = position.tolist()
    # Written this way so that a NaN fails the comparison.
    if not (abs(x) < FARTHEST and abs(y) < FARTHEST and abs(z) < FARTHEST):
        return None
    quat = usable_quat(quat_from_port(xyzw))
    return None if quat is None else ((x, y, z), quat)


def pose_port(position: Sequence[float], quat: Quat) -> NDArray[np.float32]:
    """Return a pose slot (7,): position [m], quaternion xyzw."""
    w, x, y, z = quat
    return np.array((*position, x, y, z, w), np.float32)


def multiply(a: Quat, b: Quat) -> Quat:
    """Return a b: rotate by b first, then by a."""
    aw, ax, ay, az = a
    bw, bx, by, bz = b
    return (
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    )


def conjugate(q: Quat) -> Quat:
    """Return the inverse of a unit quaternion."""
    return q[0], -q[1], -q[2], -q[3]


def rotate(q: Quat, v: Vec3) -> Vec3:
    """Rotate a vector by a unit quaternion."""
    w, x, y, z = q
    a, b, c = v
    t, u, s = 2.0 * (y * c - z * b), 2.0 * (z * a - x * c), 2.0 * (x * b - y * a)
    return a + w * t + y * s - z * u, b + w * u + z * t - x * s, c + w * s + x * u - y * t


def rotation_about(axis: Vec3, angle: float) -> Quat:
    """Return the rotation by ``angle`` [rad] about a unit axis."""
    sine = math.sin(angle / 2.0)
    return math.cos(angle / 2.0), axis[0] * sine, axis[1] * sine, axis[2] * sine


def rotvec(q: Quat) -> Vec3:
    """Return the rotation vector [rad] of a unit quaternion, of length at most pi."""
    w, x, y, z = q if q[0] >= 0.0 else (-q[0], -q[1], -q[2], -q[3])
    sine = math.sqrt(x * x + y * y + z * z)
    factor = 2.0 if sine < 1e-12 else 2.0 * math.atan2(sine, w) / sine
    return x * factor, y * factor, z * factor


def toward(a: Quat, b: Quat, fraction: float) -> Quat:
    """Return the unit quaternion at a ``fraction`` of the shorter arc from a to b."""
    x, y, z = (fraction * component for component in rotvec(multiply(conjugate(a), b)))
    angle = math.sqrt(x * x + y * y + z * z)
    half = 0.5 if angle < 1e-12 else math.sin(angle / 2.0) / angle
    moved = multiply(a, (math.cos(angle / 2.0), x * half, y * half, z * half))
    # Rounding makes products drift off the unit sphere, and a limiter feeds its result back every frame.
    return usable_quat(moved) or b


def twist_angle(q: Quat, axis: Vec3) -> float:
    """Return the angle in (-pi, pi] [rad] of the part of a rotation that turns about a unit axis.

    Swing-twist decomposition: with q = (w, v) and w >= 0 the twist is 2 atan2(v . axis, w). It stays well
    conditioned near half a turn. A pure half-turn swing has no twist; 0 is returned.
    """
    w, x, y, z = q if q[0] >= 0.0 else (-q[0], -q[1], -q[2], -q[3])
    along = x * axis[0] + y * axis[1] + z * axis[2]
    if w * w + along * along < 1e-12:
        return 0.0
    angle = 2.0 * math.atan2(along, w)
    # atan2(-1, 0) is -pi / 2; half a turn either way is the same rotation and is mapped to +pi.
    return math.pi if angle <= -math.pi else angle


def quat_of_rotation(matrix: Array) -> Quat:
    """Return the unit quaternion of a rotation matrix (3, 3)."""
    w, x, y, z = quat_from_matrix(matrix).tolist()
    return w, x, y, z


def rotation_of(q: Quat) -> Array:
    """Return the rotation matrix (3, 3) of a unit quaternion."""
    return matrix_from_quat(np.array(q))

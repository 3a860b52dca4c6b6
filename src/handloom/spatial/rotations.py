"""Rotations as unit quaternions (wxyz), matrices, rotation vectors and Euler angles, and uniform random ones; batched.

Every function takes arrays with any leading axes: ``(..., 4)`` quaternions, ``(..., 3, 3)`` matrices,
``(..., 3)`` vectors. Angles are radians unless the name says ``deg``.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from handloom.arrays import Array
from handloom.errors import InputError


def quat_normalize(quat: ArrayLike) -> Array:
    """Return unit quaternions (..., 4); a zero or non-finite quaternion is refused."""
    q = np.asarray(quat, float)
    if q.shape[-1:] != (4,):
        raise InputError(f"a quaternion has 4 values (w, x, y, z), got shape {q.shape}")
    norm = np.linalg.norm(q, axis=-1, keepdims=True) if q.ndim > 1 else _length(*q.tolist())
    if not np.all(np.isfinite(norm)) or np.any(norm < 1e-12):
        raise InputError("a quaternion is zero or not finite and gives no rotation")
    return q / norm


def quat_multiply(a: ArrayLike, b: ArrayLike) -> Array:
    """Return the product ``a b`` (..., 4): rotate by b first, then by a."""
    aw, ax, ay, az = np.moveaxis(np.asarray(a, float), -1, 0)
    bw, bx, by, bz = np.moveaxis(np.asarray(b, float), -1, 0)
    return np.stack(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ],
        axis=-1,
    )


def quat_conjugate(quat: ArrayLike) -> Array:
    """Return the conjugate (..., 4), the inverse of a unit quaternion."""
    return np.asarray(quat, float) * np.array([1.0, -1.0, -1.0, -1.0])


def quat_rotate(quat: ArrayLike, vector: ArrayLike) -> Array:
    """Rotate vectors (..., 3) by unit quaternions (..., 4)."""
    q, v = np.asarray(quat, float), np.asarray(vector, float)
    w, u = q[..., :1], q[..., 1:]
    t = 2.0 * np.cross(u, v)
    return v + w * t + np.cross(u, t)


def quat_angle(a: ArrayLike, b: ArrayLike) -> Array:
    """Return the angle in [0, pi] between rotations (...) [rad]; q and -q are the same rotation."""
    d = quat_multiply(quat_conjugate(a), b)
    return 2.0 * np.arctan2(np.linalg.norm(d[..., 1:], axis=-1), np.abs(d[..., 0]))


def quat_slerp(a: ArrayLike, b: ArrayLike, fraction: ArrayLike) -> Array:
    """Interpolate unit quaternions along the shorter arc; fraction (...) 0 gives a, 1 gives b."""
    qa, qb = np.asarray(a, float), np.asarray(b, float)
    qb = np.where(np.sum(qa * qb, axis=-1, keepdims=True) < 0.0, -qb, qb)
    step = rotvec_from_quat(quat_multiply(quat_conjugate(qa), qb))
    return quat_multiply(qa, quat_from_rotvec(np.asarray(fraction, float)[..., None] * step))


def quat_from_rotvec(rotvec: ArrayLike) -> Array:
    """Return the unit quaternion (..., 4) of a rotation vector (..., 3) [rad], exact near zero."""
    r = np.asarray(rotvec, float)
    angle = np.linalg.norm(r, axis=-1, keepdims=True)
    # sinc(x) = sin(pi x) / (pi x), so sin(angle / 2) / angle = sinc(angle / 2 pi) / 2.
    return np.concatenate([np.cos(angle / 2.0), 0.5 * np.sinc(angle / (2.0 * np.pi)) * r], axis=-1)


def rotvec_from_quat(quat: ArrayLike) -> Array:
    """Return the rotation vector (..., 3) [rad] of unit quaternions, of length at most pi."""
    q = np.asarray(quat, float)
    if q.size == 4:
        one = q.reshape(4)
        return _one_rotvec_from_quat(-one if one[0] < 0.0 else one).reshape(*q.shape[:-1], 3)
    q = np.where(q[..., :1] < 0.0, -q, q)
    sine = np.linalg.norm(q[..., 1:], axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(sine, q[..., :1])
    small = sine < 1e-300
    return q[..., 1:] * np.where(small, 2.0, angle / np.where(small, 1.0, sine))


def _one_rotvec_from_quat(q: Array) -> Array:
    """As above for one quaternion with w >= 0."""
    w, *xyz = q.tolist()
    sine = _length(*xyz)
    return q[1:] * (2.0 if sine < 1e-300 else 2.0 * float(np.arctan2(sine, w)) / sine)


def quat_from_axis_angle(axis: ArrayLike, angle: ArrayLike) -> Array:
    """Return the rotation by ``angle`` (...) [rad] about ``axis`` (..., 3), which need not be a unit vector."""
    a = np.asarray(axis, float)
    norm = np.linalg.norm(a, axis=-1, keepdims=True)
    if np.any(norm < 1e-12):
        raise InputError("a rotation axis has length zero")
    return quat_from_rotvec(a / norm * np.asarray(angle, float)[..., None])


def axis_angle_from_quat(quat: ArrayLike) -> tuple[Array, Array]:
    """Return unit axis (..., 3) and angle (...) in [0, pi]; the axis of the identity is x by convention."""
    r = rotvec_from_quat(quat)
    angle = np.linalg.norm(r, axis=-1)
    still = angle < 1e-300
    axis = np.where(still[..., None], [1.0, 0.0, 0.0], r / np.where(still, 1.0, angle)[..., None])
    return axis, angle


def matrix_from_quat(quat: ArrayLike) -> Array:
    """Return rotation matrices (..., 3, 3) of unit quaternions."""
    q = np.asarray(quat, float)
    w, x, y, z = np.moveaxis(q, -1, 0) if q.ndim > 1 else q.tolist()
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2) if q.ndim > 1 else np.array(rows)


def quat_from_matrix(matrix: ArrayLike) -> Array:
    """Return unit quaternions (..., 4) with w >= 0 of rotation matrices, by the largest of the four squares."""
    m = np.asarray(matrix, float)
    if m.shape[-2:] != (3, 3):
        raise InputError(f"a rotation matrix has shape (..., 3, 3), got {m.shape}")
    if m.size == 9:
        return _one_quat_from_matrix(*m.reshape(3, 3).tolist()).reshape(*m.shape[:-2], 4)
    xx, yy, zz = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    # Rows of 4 q q': the row with the largest diagonal entry is the best conditioned multiple of q.
    outer = np.stack(
        [
            _stack(
                1 + xx + yy + zz,
                m[..., 2, 1] - m[..., 1, 2],
                m[..., 0, 2] - m[..., 2, 0],
                m[..., 1, 0] - m[..., 0, 1],
            ),
            _stack(
                m[..., 2, 1] - m[..., 1, 2],
                1 + xx - yy - zz,
                m[..., 0, 1] + m[..., 1, 0],
                m[..., 0, 2] + m[..., 2, 0],
            ),
            _stack(
                m[..., 0, 2] - m[..., 2, 0],
                m[..., 0, 1] + m[..., 1, 0],
                1 - xx + yy - zz,
                m[..., 1, 2] + m[..., 2, 1],
            ),
            _stack(
                m[..., 1, 0] - m[..., 0, 1],
                m[..., 0, 2] + m[..., 2, 0],
                m[..., 1, 2] + m[..., 2, 1],
                1 - xx - yy + zz,
            ),
        ],
        axis=-2,
    )
    best = np.argmax(np.diagonal(outer, axis1=-2, axis2=-1), axis=-1)
    q = np.take_along_axis(outer, best[..., None, None], axis=-2)[..., 0, :]
    q = q / np.linalg.norm(q, axis=-1, keepdims=True)
    return np.where(q[..., :1] < 0.0, -q, q)


def _one_quat_from_matrix(a: list[float], b: list[float], c: list[float]) -> Array:
    """As above for one matrix with rows a, b, c: the same arithmetic on Python floats, which is ten times faster."""
    squares = (1 + a[0] + b[1] + c[2], 1 + a[0] - b[1] - c[2], 1 - a[0] + b[1] - c[2], 1 - a[0] - b[1] + c[2])
    x, y, z = c[1] - b[2], a[2] - c[0], b[0] - a[1]
    xy, xz, yz = a[1] + b[0], a[2] + c[0], b[2] + c[1]
    rows = (
        (squares[0], x, y, z),
        (x, squares[1], xy, xz),
        (y, xy, squares[2], yz),
        (z, xz, yz, squares[3]),
    )
    # Like argmax: the first of the largest, or the first NaN.
    best = max(range(4), key=lambda i: (math.isnan(squares[i]), squares[i]))
    w, x, y, z = rows[best]
    length = _length(w, x, y, z) or math.nan
    q = np.array([w / length, x / length, y / length, z / length])
    return -q if q[0] < 0.0 else q


def _length(*values: float) -> float:
    """Return the Euclidean length of a few numbers, summed in order as NumPy does."""
    total = 0.0
    for value in values:
        total += value * value
    return math.sqrt(total)


def _stack(*columns: Array) -> Array:
    return np.stack(columns, axis=-1)


def matrix_from_rotvec(rotvec: ArrayLike) -> Array:
    """Return rotation matrices (..., 3, 3) of rotation vectors [rad]."""
    return matrix_from_quat(quat_from_rotvec(rotvec))


def rotvec_from_matrix(matrix: ArrayLike) -> Array:
    """Return rotation vectors (..., 3) [rad] of rotation matrices, of length at most pi."""
    return rotvec_from_quat(quat_from_matrix(matrix))


def matrix_from_euler_deg(euler: ArrayLike) -> Array:
    """Return matrices of extrinsic xyz Euler angles (..., 3) in degrees: R = Rz Ry Rx, as task files write them."""
    x, y, z = np.moveaxis(np.deg2rad(np.asarray(euler, float)), -1, 0)
    zero = np.zeros_like(x)
    return (
        matrix_from_rotvec(_stack(zero, zero, z))
        @ matrix_from_rotvec(_stack(zero, y, zero))
        @ matrix_from_rotvec(_stack(x, zero, zero))
    )


def quat_from_euler_deg(euler: ArrayLike) -> Array:
    """Return unit quaternions of extrinsic xyz Euler angles (..., 3) in degrees."""
    return quat_from_matrix(matrix_from_euler_deg(euler))


def euler_deg_from_matrix(matrix: ArrayLike) -> Array:
    """Return extrinsic xyz Euler angles (..., 3) [deg]; at pitch +-90 degrees the x angle is set to 0."""
    m = np.asarray(matrix, float)
    cos_y = np.hypot(m[..., 0, 0], m[..., 1, 0])
    locked = cos_y < 1e-9
    x = np.where(locked, 0.0, np.arctan2(m[..., 2, 1], m[..., 2, 2]))
    y = np.arctan2(-m[..., 2, 0], cos_y)
    z = np.where(locked, np.arctan2(-m[..., 0, 1], m[..., 1, 1]), np.arctan2(m[..., 1, 0], m[..., 0, 0]))
    return np.rad2deg(_stack(x, y, z))


def skew(vector: ArrayLike) -> Array:
    """Return the matrices (..., 3, 3) with ``skew(a) @ b == cross(a, b)``."""
    x, y, z = np.moveaxis(np.asarray(vector, float), -1, 0)
    zero = np.zeros_like(x)
    return np.stack([_stack(zero, -z, y), _stack(z, zero, -x), _stack(-y, x, zero)], axis=-2)


def quat_wxyz_from_xyzw(quat: ArrayLike) -> Array:
    """Reorder (..., 4) from the teleoperation graph's xyzw to wxyz."""
    return np.asarray(quat, float)[..., [3, 0, 1, 2]]


def quat_xyzw_from_wxyz(quat: ArrayLike) -> Array:
    """Reorder (..., 4) from wxyz to the teleoperation graph's xyzw."""
    return np.asarray(quat, float)[..., [1, 2, 3, 0]]


def random_directions(rng: np.random.Generator, count: int) -> Array:
    """Return unit vectors (count, 3), uniform on the sphere."""
    v = rng.standard_normal((count, 3))
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


def random_quats(rng: np.random.Generator, count: int) -> Array:
    """Return unit quaternions (count, 4) with w >= 0, uniform over rotations."""
    q = rng.standard_normal((count, 4))
    q = q / np.linalg.norm(q, axis=-1, keepdims=True)
    return np.where(q[:, :1] < 0.0, -q, q)


def random_rotations(rng: np.random.Generator, count: int) -> Array:
    """Return rotation matrices (count, 3, 3), uniform over rotations."""
    return matrix_from_quat(random_quats(rng, count))

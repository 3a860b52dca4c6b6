"""Published constants and functions of the node modules: keys of ports, steps of the rate limiters, quaternions xyzw.

Some are private in the published modules, but pipelines and tests import them.
"""

import numpy as np
from numpy.typing import ArrayLike

from handloom.arrays import Array
from handloom.retarget import RateLimiterConfig
from handloom.retarget.quaternions import Quat, conjugate, multiply, quat_of_rotation, rotvec, toward, usable_quat

GRIPPER_COMMAND_KEY, GRIPPER_ELEMENT_LABEL = "gripper_command", "gripper_value"
EE_POSE_KEY, JOINT_TARGETS_KEY = "ee_pose", "joint_targets"
DEFAULT_PEDAL_COLLECTION_ID = "generic_3axis_pedal"
TRIGGER_DEADZONE = 0.05
OPEN_CLOSEDNESS = 0.0
MATRIX_INDEX = 0
MIN_QUAT_NORM, ROTATION_ATOL, MIN_ANGLE_RAD = 1e-6, 1e-4, 1e-9
DEFAULT_MAX_LINEAR_VEL_MPS = DEFAULT_MAX_ANGULAR_VEL_RADPS = 1.0
DEFAULT_MIN_SQUAT_POS, DEFAULT_MAX_SQUAT_POS = 0.4, 0.72
DEFAULT_DEADZONE_THRESHOLD = 0.05
DEFAULT_YAW_RUDDER_THRESHOLD, DEFAULT_STRAFE_RUDDER_THRESHOLD = 0.1, 0.2
DEFAULT_STRAFE_PEDAL_PRESSED_THRESHOLD = 0.1
JOINT_PALM, JOINT_WRIST, JOINT_THUMB_TIP, JOINT_INDEX_TIP = 0, 1, 5, 10


def trigger_to_closedness(trigger: float) -> float:
    """Return the gripper closedness, 0 to 1, for a trigger value 0 to 1."""
    return float(np.clip((trigger - TRIGGER_DEADZONE) / (1.0 - TRIGGER_DEADZONE), 0.0, 1.0))


def clamped_dt(prev_ns: int | None, now_ns: int, nominal: float, lo: float, hi: float) -> float:
    """Return the assumed frame period [s] between two times [ns]; see ``RateLimiterConfig.dt``."""
    return RateLimiterConfig(nominal_dt=nominal, min_dt=lo, max_dt=hi).dt(prev_ns, now_ns)


def clamped_position(target: ArrayLike, previous: ArrayLike, max_step: float) -> Array:
    """Return the point at most ``max_step`` [m] from ``previous`` on the line to ``target`` (3,)."""
    end, start = np.asarray(target, float), np.asarray(previous, float)
    distance = float(np.linalg.norm(end - start))
    return end if distance <= max_step else start + (end - start) * (max_step / distance)


def clamped_orientation(target: ArrayLike, previous: ArrayLike, max_step: float) -> Array:
    """Return the rotation at most ``max_step`` [rad] from ``previous`` on the shorter arc to ``target``, xyzw (4,)."""
    start, end = _wxyz(previous), _wxyz(target)
    angle = float(np.linalg.norm(rotvec(multiply(conjugate(start), end))))
    w, x, y, z = toward(start, end, 1.0 if angle <= max_step else max_step / angle)
    return np.array((x, y, z, w))


def normalized(q: ArrayLike) -> Array:
    """Return the unit quaternion xyzw (4,); a zero quaternion is returned unchanged."""
    quat = np.asarray(q, float)
    norm = float(np.linalg.norm(quat))
    return quat / norm if norm > MIN_QUAT_NORM else quat


def normalized_or_none(q: ArrayLike) -> Array | None:
    """Return the unit quaternion xyzw (4,); None for a zero or non-finite quaternion."""
    unit = usable_quat(_wxyz(q))
    return None if unit is None else _xyzw(unit)


def product(a: ArrayLike, b: ArrayLike) -> Array:
    """Return the rotation by b, then by a, as quaternions xyzw (4,)."""
    return _xyzw(multiply(_wxyz(a), _wxyz(b)))


def product_f32(q1: ArrayLike, q2: ArrayLike) -> Array:
    """Return ``product`` in the type of the first argument, usually float32."""
    return product(q1, q2).astype(np.asarray(q1).dtype)


def products(q1: ArrayLike, q2: ArrayLike) -> Array:
    """Return the rotations by each q2 (n, 4), then by q1 (4,), as quaternions xyzw (n, 4)."""
    rows = np.atleast_2d(np.asarray(q2))
    firsts = np.broadcast_to(np.asarray(q1), rows.shape)
    return np.array([product(a, b) for a, b in zip(firsts, rows, strict=True)], dtype=rows.dtype)


def conjugated(q: ArrayLike) -> Array:
    """Return the conjugate of a quaternion xyzw (4,)."""
    return _xyzw(conjugate(_wxyz(q)))


def inverse(q: ArrayLike) -> Array:
    """Return the inverse rotation of a quaternion xyzw (4,) of any length."""
    return conjugated(normalized(q))


def angle_between(a: ArrayLike, b: ArrayLike) -> float:
    """Return the angle from one rotation to the other [rad], 0 to pi."""
    return float(np.linalg.norm(rotvec(multiply(conjugate(_wxyz(a)), _wxyz(b)))))


def quat_of_matrix(matrix: ArrayLike) -> Array:
    """Return the quaternion xyzw (4,) of a rotation (3, 3), or of the rotation of a pose (4, 4).

    The sign is as published: positive w if the trace is positive, otherwise a positive largest component.
    """
    R = np.asarray(matrix, float)[:3, :3]
    quat = _xyzw(quat_of_rotation(R))
    leading = 3 if np.trace(R) > 0.0 else int(np.argmax(np.diag(R)))
    return quat if quat[leading] >= 0.0 else -quat


def quat_of_matrix_f32(R: ArrayLike) -> Array:
    """Return ``quat_of_matrix`` in the type of the matrix."""
    return quat_of_matrix(R).astype(np.asarray(R).dtype)


def _wxyz(xyzw: ArrayLike) -> Quat:
    x, y, z, w = np.asarray(xyzw, float).tolist()
    return w, x, y, z


def _xyzw(wxyz: Quat) -> Array:
    w, x, y, z = wxyz
    return np.array((x, y, z, w))

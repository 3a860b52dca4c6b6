"""Poses as 4x4 matrices; ``T_world_tool`` maps tool coordinates to world coordinates. Batched."""

import numpy as np
from numpy.typing import ArrayLike

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.spatial.rotations import matrix_from_quat, quat_from_matrix, quat_normalize, rotvec_from_matrix


def make_pose(rotation: ArrayLike, position: ArrayLike) -> Array:
    """Return poses (..., 4, 4) of rotation matrices (..., 3, 3) and positions (..., 3) [m]."""
    R, p = np.asarray(rotation, float), np.asarray(position, float)
    if R.shape[-2:] != (3, 3) or p.shape[-1:] != (3,):
        raise InputError(f"a pose needs a rotation (..., 3, 3) and a position (..., 3), got {R.shape} and {p.shape}")
    T = np.zeros((*np.broadcast_shapes(R.shape[:-2], p.shape[:-1]), 4, 4))
    T[..., :3, :3] = R
    T[..., :3, 3] = p
    T[..., 3, 3] = 1.0
    return T


def translation(position: ArrayLike) -> Array:
    """Return pure translations (..., 4, 4) by (..., 3) [m]."""
    return make_pose(np.eye(3), position)


def pose_from_pos_quat(position: ArrayLike, quat: ArrayLike) -> Array:
    """Return poses (..., 4, 4) of positions (..., 3) [m] and quaternions (..., 4), which are normalised."""
    return make_pose(matrix_from_quat(quat_normalize(quat)), position)


def pos_quat_from_pose(T: ArrayLike) -> tuple[Array, Array]:
    """Return positions (..., 3) [m] and unit quaternions (..., 4) of poses (..., 4, 4)."""
    pose = np.asarray(T, float)
    return pose[..., :3, 3].copy(), quat_from_matrix(pose[..., :3, :3])


def invert_pose(T_a_b: ArrayLike) -> Array:
    """Return T_b_a of T_a_b (..., 4, 4)."""
    T = np.asarray(T_a_b, float)
    Rt = np.swapaxes(T[..., :3, :3], -1, -2)
    return make_pose(Rt, -(Rt @ T[..., :3, 3:])[..., 0])


def relative_pose(T_world_a: ArrayLike, T_world_b: ArrayLike) -> Array:
    """Return T_a_b, the pose of b in a."""
    return invert_pose(T_world_a) @ np.asarray(T_world_b, float)


def transform_points(T_a_b: ArrayLike, points_b: ArrayLike) -> Array:
    """Map points (..., n, 3) from b to a."""
    T, p = np.asarray(T_a_b, float), np.asarray(points_b, float)
    return p @ np.swapaxes(T[..., :3, :3], -1, -2) + T[..., None, :3, 3]


def transform_directions(T_a_b: ArrayLike, vectors_b: ArrayLike) -> Array:
    """Rotate vectors (..., n, 3) from b to a, without the translation."""
    return np.asarray(vectors_b, float) @ np.swapaxes(np.asarray(T_a_b, float)[..., :3, :3], -1, -2)


def pose_error(T_a: ArrayLike, T_b: ArrayLike) -> tuple[Array, Array]:
    """Return distance (...) [m] and angle (...) [rad] between two poses in one frame."""
    A, B = np.asarray(T_a, float), np.asarray(T_b, float)
    distance = np.linalg.norm(A[..., :3, 3] - B[..., :3, 3], axis=-1)
    R = np.swapaxes(A[..., :3, :3], -1, -2) @ B[..., :3, :3]
    return distance, np.linalg.norm(rotvec_from_matrix(R), axis=-1)

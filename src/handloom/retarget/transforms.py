"""Checks on transforms that enter the graph from outside."""

import numpy as np
from numpy.typing import ArrayLike

from handloom.arrays import Array
from handloom.errors import InputError


def checked_transform(matrix: ArrayLike, *, what: str, tolerance: float = 1e-4) -> Array:
    """Return a rigid transform (4, 4) as float64, or say what is wrong with it.

    Args:
        matrix: The transform.
        what: How the error calls it.
        tolerance: Largest deviation of any entry of the bottom row, of R'R from the identity, of det R from 1.

    Raises:
        InputError: It is not 4x4, not finite, or not rigid.
    """
    T = np.asarray(matrix, float)
    if T.shape != (4, 4):
        raise InputError(f"{what} must be a 4x4 matrix, got shape {T.shape}")
    if not np.all(np.isfinite(T)):
        raise InputError(f"{what} must be finite, got\n{T}")
    if np.max(np.abs(T[3] - (0.0, 0.0, 0.0, 1.0))) > tolerance:
        raise InputError(f"{what}: the bottom row must be [0, 0, 0, 1], got {T[3]}")
    R = T[:3, :3]
    if np.max(np.abs(R.T @ R - np.eye(3))) > tolerance:
        raise InputError(f"{what}: the rotation must be orthonormal, got\n{R}")
    if np.linalg.det(R) < 0.0:
        raise InputError(f"{what}: the rotation must be a proper rotation (determinant +1), this one mirrors")
    return T


def validate_transform_matrix(matrix: ArrayLike) -> None:
    """Refuse what is not a 4x4 matrix with the bottom row of a transform within 1e-6."""
    T = np.asarray(matrix, float)
    if T.shape != (4, 4):
        raise InputError(f"a transform must be a 4x4 matrix, got shape {T.shape}")
    if not np.max(np.abs(T[3] - (0.0, 0.0, 0.0, 1.0))) <= 1e-6:
        raise InputError(f"a transform's bottom row must be [0, 0, 0, 1], got {T[3]}")

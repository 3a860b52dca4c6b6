"""Uniform random directions and rotations; the generator is always an argument."""

import numpy as np

from handloom.arrays import Array
from handloom.spatial.rotations import matrix_from_quat


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

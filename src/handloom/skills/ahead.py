"""Directions as published tasks give them: x right, y ahead, z up, seen from the arm.

Published tasks stand their robots so that these are the world's axes; here they hold wherever a robot stands. Hands are
given by their x axis, the approach, and their z axis, as the published Lift-2 has them.
"""

import numpy as np
from numpy.typing import ArrayLike

from handloom.arrays import Array
from handloom.errors import ConfigError
from handloom.robots import Arm

R_BASE_AHEAD = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
"""Rotation from (right, ahead, up) to the axes of an arm base: x ahead, y left, z up."""
R_HAND_GRASPNET = np.diag([1.0, -1.0, -1.0])
"""Rotation from GraspNet axes to the published hand axes."""


def hand_facing(arm: Arm, x: ArrayLike, z: ArrayLike) -> Array:
    """Return R_base_tool (3, 3) of a hand whose x axis points along ``x`` and its z axis as near as possible to ``z``.

    Args:
        arm: The arm; its hand may have other axes.
        x: Approach direction (3,), right, ahead, up.
        z: Direction (3,), right, ahead, up.
    """
    forward, upward = np.asarray(x, float), np.asarray(z, float)
    forward = forward / np.linalg.norm(forward)
    upward = upward - forward * (forward @ upward)
    size = np.linalg.norm(upward)
    if not size > 1e-6:
        raise ConfigError(
            f"a hand cannot have its x axis along {np.ravel(x).tolist()} and z along {np.ravel(z).tolist()}"
        )
    upward = upward / size
    R_ahead_hand = np.stack([forward, np.cross(upward, forward), upward], axis=1)
    return R_BASE_AHEAD @ R_ahead_hand @ R_HAND_GRASPNET @ arm.R_ee_graspnet.T


def right_ahead_up(vector: ArrayLike) -> Array:
    """Return vectors (..., 3) of (right, ahead, up) in the axes of an arm base."""
    return np.asarray(vector, float) @ R_BASE_AHEAD.T

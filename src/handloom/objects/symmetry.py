"""Rotational symmetry of an object about its upright axis."""

import mujoco
import numpy as np

from handloom.arrays import Array
from handloom.spatial import matrix_from_rotvec

ANGLES = 48
"""Number of directions from which the shape is measured; rotations by whole fractions of them are tried."""
FOLDS = (ANGLES, 24, 16, 12, 8, 6, 4, 3, 2)
"""Orders of symmetry that are tried, largest first; the first means full rotational symmetry."""
SAME = 1.5e-3
"""Largest difference of two distances to the surface [m]: round walls are drawn with few sides."""


def turns_alike(model: mujoco.MjModel, up: tuple[float, float, float] = (0.0, 0.0, 1.0)) -> int:
    """Return the order of rotational symmetry about the upright axis: 4 for a cube, 1 for a mug.

    The distance to the surface is measured from all around at several heights, and from above and below on rings.
    Colours do not count.

    Args:
        model: The compiled object on its own, its origin on the axis.
        up: Direction of the axis in the object frame.

    Returns:
        The number of turns; ``ANGLES`` if the shape is round, so that any rotation will do.
    """
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    size = float(np.linalg.norm(np.abs(model.geom_pos) + model.geom_rbound[:, None], axis=1).max(initial=1e-3))
    profile = np.array([_seen(model, data, angle, np.asarray(up, float), size) for angle in range(ANGLES)])
    for fold in FOLDS:
        if np.abs(profile - np.roll(profile, ANGLES // fold, axis=0)).max() < SAME:
            return fold
    return 1


def _seen(model: mujoco.MjModel, data: mujoco.MjData, angle: int, up: Array, size: float) -> Array:
    """Return distances (k,) [m] to the surface along rays at increasing angles; -1 if nothing is hit."""
    R = matrix_from_rotvec(2.0 * np.pi * angle / ANGLES * up)
    side = np.cross(up, (1.0, 0.0, 0.0) if abs(up[0]) < 0.5 else (0.0, 1.0, 0.0))
    out = R @ (side / np.linalg.norm(side))
    heights = np.linspace(-0.95, 0.95, 13) * size
    rings = np.linspace(0.05, 0.95, 10) * size
    rays = [(h * up + 2.0 * size * out, -out) for h in heights]
    rays += [(r * out + sign * 2.0 * size * up, -sign * up) for r in rings for sign in (1.0, -1.0)]
    hit = np.zeros(1, np.int32)
    return np.array([mujoco.mj_ray(model, data, eye, way, None, 1, -1, hit, None) for eye, way in rays])

"""Antipodal grasps on a box: through its middle, across each pair of faces the gripper spans."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

HEIGHT = 0.02
"""Finger height written into every row [m], as published annotations do; nothing reads it."""


def box_grasps(aabb: ArrayLike, max_width: float) -> Array:
    """Return grasp rows (n, 17) for a box: score, width, height, depth, rotation (9, row-major), centre (3), object id.

    The rotation's columns are GraspNet axes in the object frame: x approach, y closing. Every approach axis is combined
    with every other axis as closing direction, if the box is narrower there than the gripper opens.

    Args:
        aabb: Lower and upper corner (2, 3) [m] in the object frame.
        max_width: Largest opening of the gripper [m].
    """
    low, high = np.asarray(aabb, float)
    extent, centre = high - low, (low + high) / 2
    rows = []
    for approach_axis in range(3):
        for closing_axis in {0, 1, 2} - {approach_axis}:
            width = extent[closing_axis]
            if width >= max_width:
                continue
            for sign in (-1.0, 1.0):
                x, y = sign * np.eye(3)[approach_axis], np.eye(3)[closing_axis]
                rotation = np.stack([x, y, np.cross(x, y)], axis=1)
                rows.append([0.1, width, HEIGHT, 0.0, *rotation.ravel(), *centre, -1.0])
    return np.array(rows).reshape(-1, 17)

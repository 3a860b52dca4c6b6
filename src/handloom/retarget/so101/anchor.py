"""Where an operator's room lies in the world of the robot."""

import numpy as np
from numpy.typing import ArrayLike

from handloom.arrays import Array
from handloom.spatial import make_pose, pose_from_pos_quat, quat_wxyz_from_xyzw

# OpenXR has x right, y up, z backward; the world has z up. (x, y, z) becomes (x, -z, y).
R_WORLD_OPENXR = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])


def anchor_transform(position: ArrayLike, quat_xyzw: ArrayLike) -> Array:
    """Return ``world_T_anchor`` (4, 4) of a published anchor pose: the pose after the change of axes.

    Args:
        position: Anchor in the world (3,) [m].
        quat_xyzw: Anchor in the world, xyzw as published; normalised on the way.
    """
    return pose_from_pos_quat(position, quat_wxyz_from_xyzw(quat_xyzw)) @ make_pose(R_WORLD_OPENXR, np.zeros(3))


STACK_CUBE_ANCHOR = anchor_transform((-0.1, -0.5, -1.05), (0.0, 0.0, -0.5, 0.866))
"""The anchor of the published stacking task: the operator sits at the table, the floor is 1.05 m below its top."""

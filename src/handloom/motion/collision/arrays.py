"""Robot and world in the layout the collision kernels read: flat arrays of 32-bit numbers."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float32]
Int = NDArray[np.int32]

LANES = 16
"""Configurations checked side by side: one AVX-512 register of 32-bit numbers, two of AVX2."""

ROW = 24
"""Numbers per obstacle, see ``WorldArrays.row``."""


PADDED, BARE = 3, 4
"""Columns of the radius against the world, padding included, and of the one against the robot itself."""


class RobotArrays(NamedTuple):
    """Moving links and the spheres on them. Link 0 is the fixed root.

    Spheres come in groups, one per body, and groups in clusters of neighbours; each has a bounding sphere. A sphere
    is a row of five numbers: its centre in the link, its radius against the world, its radius against the robot [m].
    """

    parent: Int
    """Link each joint hangs on, plus one (n,): 0 is the root, k + 1 the link of joint k."""
    joint: Float
    """Pose of each joint frame in its parent link (n, 12): rotation row by row, then position [m]."""
    prismatic: NDArray[np.bool_]
    """True where a joint slides (n,)."""
    group_link: Int
    """Link that carries each group, plus one (g,)."""
    group_begin: Int
    """First cluster of each group (g + 1,)."""
    cluster_begin: Int
    """First sphere of each cluster (c + 1,)."""
    group: Float
    """Bounding spheres of groups (g, 5)."""
    cluster: Float
    """Bounding spheres of clusters (c, 5)."""
    sphere: Float
    """Spheres (s, 5)."""
    pair: Int
    """Groups that must not touch each other (p, 2)."""


class WorldArrays(NamedTuple):
    """Obstacles in the root frame."""

    kind: Int
    """``ShapeKind`` of each obstacle (b,)."""
    row: Float
    """Parameters (b, 24): 0-2 centre, 3-11 rotation row by row, 12-14 size, 15 bounding radius; then for a convex
    solid 16-17 first and last face; for a height field 16 first height, 17 rows, 18 columns, 19-20 cell sides; for all
    21-23 half sides of a box around it."""
    face: Float
    """Supporting planes of all convex solids in their own frames (f, 4): unit normal, offset."""
    height: Float
    """Heights of all height fields, row by row (h,) [m]."""
    checked: NDArray[np.int8]
    """How a group of spheres is checked against an obstacle (g, b): 0 not at all, else the column of the radius."""

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


class RobotArrays(NamedTuple):
    """Moving links and the spheres on them. Spheres come in groups, one per body; link 0 is the fixed root."""

    parent: Int
    """Link each joint hangs on, plus one (n,): 0 is the root, k + 1 the link of joint k."""
    rotation: Float
    """Rotation of each joint frame in its parent link (n, 9), row by row."""
    position: Float
    """Position of each joint frame in its parent link (n, 3) [m]."""
    prismatic: NDArray[np.bool_]
    """True where a joint slides (n,)."""
    group_link: Int
    """Link that carries each group, plus one (g,)."""
    group_centre: Float
    """Centre of each group's bounding sphere in its link (g, 3) [m]."""
    group_radius: Float
    """Bounding radius against the world (g,) [m], padding included."""
    group_self_radius: Float
    """Bounding radius against other groups (g,) [m]."""
    group_begin: Int
    """First sphere of each group (g + 1,)."""
    centre: Float
    """Sphere centres in their link (s, 3) [m]."""
    radius: Float
    """Sphere radii against the world (s,) [m], padding included."""
    self_radius: Float
    """Sphere radii against other groups (s,) [m]."""
    pair: Int
    """Groups that must not touch each other (p, 2)."""


class WorldArrays(NamedTuple):
    """Obstacles in the root frame."""

    kind: Int
    """``ShapeKind`` of each obstacle (b,)."""
    row: Float
    """Parameters (b, 24): 0-2 centre, 3-11 rotation row by row, 12-14 size, 15 bounding radius; then for a convex
    solid 16-17 first and last face; for a height field 16 first height, 17 rows, 18 columns, 19-20 cell sides."""
    face: Float
    """Supporting planes of all convex solids in their own frames (f, 4): unit normal, offset."""
    height: Float
    """Heights of all height fields, row by row (h,) [m]."""
    own: NDArray[np.bool_]
    """Whether an obstacle is a fixed part of the robot itself, against which spheres carry no padding (b,)."""
    checked: NDArray[np.bool_]
    """Whether a group of spheres is checked against an obstacle (g, b)."""

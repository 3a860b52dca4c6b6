"""The table under an object, for grasps of objects that lie too low for most."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from handloom.grasping.convex_parts import BOX, Array, ConvexParts
from handloom.objects import ObjectAsset
from handloom.spatial import matrix_from_quat

STRAIGHT_DOWN = np.array([0.0, 0.0, -1.0])
SIDE, THICKNESS = 2.0, 0.1
"""Size of the piece of table that counts [m]."""
LEVEL = np.sin(np.deg2rad(20.0))
"""Fingers that close at a steeper angle to the table would have one of them in it."""


@dataclass(frozen=True, eq=False)
class Ground:
    """A level plane in the frame of an object that lies on it."""

    up: Array
    """Unit vector (3,)."""
    height: float
    """Of the object's origin above the plane [m]."""

    @classmethod
    def under(cls, asset: ObjectAsset, pose: int) -> "Ground":
        """Return the ground under one of an object's rest poses."""
        rest = asset.rest_poses
        return cls(matrix_from_quat(rest.quats[pose])[2], float(rest.heights[pose]))

    @property
    def down(self) -> Array:
        """Unit vector (3,)."""
        return -self.up

    def level(self, directions: Array) -> NDArray[np.bool_]:
        """Return which unit directions (n, 3) are nearly level."""
        return np.abs(directions @ self.up) < LEVEL

    @property
    def solid(self) -> ConvexParts:
        """A slab under the object."""
        across = np.asarray(np.cross(self.up, np.eye(3)[int(np.argmin(np.abs(self.up)))]), float)
        side = across / np.linalg.norm(across)
        size = np.array([[SIDE / 2, SIDE / 2, THICKNESS / 2]])
        return ConvexParts(
            kind=np.array([BOX], np.int64),
            size=size,
            position=np.ascontiguousarray(self.down * (self.height + THICKNESS / 2))[None],
            rotation=np.ascontiguousarray(
                np.stack([side, np.asarray(np.cross(self.up, side), float), self.up], axis=1)
            )[None],
            radius=np.linalg.norm(size, axis=1),
            corners=np.zeros((0, 3)),
            corner_range=np.zeros((1, 2), np.int64),
            planes=np.zeros((0, 4)),
            plane_range=np.zeros((1, 2), np.int64),
        )

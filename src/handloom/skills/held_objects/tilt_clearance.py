"""Height of the lip of a held vessel at which vessel and hand clear the receiving container at every tilt."""

from dataclasses import dataclass
from itertools import combinations

import mujoco
import numpy as np

from handloom.arrays import Array
from handloom.grasping.annotate import object_parts
from handloom.grasping.convex_parts import ConvexParts
from handloom.grasping.gripper_shape import GripperShape
from handloom.objects import ObjectAsset
from handloom.spatial import invert_pose

CLEARANCE = 0.012
"""Minimum gap between the container and the target's support [m]."""
RIM_GAP = 0.008
"""Minimum gap between container or hand and the rim of the target [m]."""
SPACING = 0.006
"""Spacing of the points that represent a vessel and a hand [m]."""
SHARES = np.linspace(0.0, 1.0, 7)[:, None, None]
BOX = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
ROUND = np.array([[np.cos(a), np.sin(a), z] for a in np.arange(0.0, 6.2, np.pi / 6) for z in (-1.0, 1.0)])


@dataclass(frozen=True, eq=False)
class TiltClearance:
    """A vessel in a hand, represented by points."""

    points: Array
    """(n, 3) in the frame of the vessel [m]."""
    up: Array
    """Up direction (3,) of the vessel, in its own frame."""

    @classmethod
    def of(cls, asset: ObjectAsset, gripper: GripperShape, T_tool_object: Array) -> "TiltClearance":
        """Return a vessel with the gripper that holds it, its pose in the tool being (4, 4)."""
        up, width = np.array(asset.up), float(asset.extent[np.abs(asset.up) < 0.5].min())
        opened = len(gripper.position) - 1
        level = (
            round(gripper.level_at(width)) if len(gripper.pads) and width < gripper.arm.gripper_max_width else opened
        )
        shape = gripper.parts._replace(position=gripper.position[level], rotation=gripper.rotation[level])
        T_object_tool = invert_pose(T_tool_object)
        hand = _spread(shape) @ gripper.arm.R_ee_graspnet.T @ T_object_tool[:3, :3].T + T_object_tool[:3, 3]
        points = np.concatenate([_spread(object_parts(asset)), hand])
        _, first = np.unique(np.round(points / SPACING).astype(int), axis=0, return_index=True)
        return cls(points=points[np.sort(first)], up=up)

    def heights(self, lip: Array, direction: Array, angles: Array, lips: Array, *, reach: float, floor: float) -> Array:
        """Return the least height of the lip above the rim of a target (n,) [m] at each tilt.

        Args:
            lip: The lip (3,) in the vessel's frame [m].
            direction: The horizontal pouring direction (3,) in that frame.
            angles: Tilts of the vessel (n,) [rad].
            lips: Position of the lip along the pouring direction, from the middle of the target (n,) [m].
            reach: Half the width of the target [m].
            floor: Height of the rim above the target's support [m].
        """
        offset = self.points - lip
        out, deep, aside = offset @ direction, -(offset @ self.up), offset @ np.cross(self.up, direction)
        s, c = np.sin(angles)[:, None], np.cos(angles)[:, None]
        along, below = lips[:, None] - deep * s + out * c, deep * c + out * s
        over = along**2 + aside**2 < (reach + RIM_GAP) ** 2
        return np.where(over, below + RIM_GAP, below + CLEARANCE - floor).max(axis=1)


def _spread(parts: ConvexParts) -> Array:
    """Return points (n, 3) on the edges of parts and on the lines between all their corners [m]."""
    found = []
    for k, kind in enumerate(parts.kind.tolist()):
        first, last = parts.corner_range[k]
        own, size = parts.corners[first:last], parts.size[k]
        if first == last:
            turned = kind in (mujoco.mjtGeom.mjGEOM_CYLINDER, mujoco.mjtGeom.mjGEOM_CAPSULE)
            own = ROUND * [size[0], size[0], size[1]] if turned else BOX * np.where(size > 0.0, size, size[0])
        i, j = np.array(list(combinations(range(len(own)), 2))).T
        between = (own[i] + SHARES * (own[j] - own[i])).reshape(-1, 3)
        found.append(between @ parts.rotation[k].T + parts.position[k])
    return np.concatenate(found)

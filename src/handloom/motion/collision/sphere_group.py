"""Spheres that move together, and their layout for the kernels."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from handloom.motion.collision.arrays import RobotArrays
from handloom.motion.collision.part import ALL_BITS
from handloom.motion.kinematics.joint_tree import WORLD, JointTree

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class SphereGroup:
    """The spheres of one body, in the frame of its link."""

    body: str
    link: int
    """Link of the joint tree."""
    centre: Array
    """Centres in the link (n, 3) [m]."""
    radius: Array
    """Radii (n,) [m]."""
    contype: int = ALL_BITS
    conaffinity: int = ALL_BITS
    T_link_body: Array = field(default_factory=lambda: np.eye(4))
    """Pose of the body in its link (4, 4)."""

    @property
    def bounding_sphere(self) -> tuple[Array, float]:
        """Centre (3,) and radius [m] of a sphere around all of them."""
        low = (self.centre - self.radius[:, None]).min(axis=0)
        high = (self.centre + self.radius[:, None]).max(axis=0)
        middle = 0.5 * (low + high)
        return middle, float((np.linalg.norm(self.centre - middle, axis=1) + self.radius).max())


def group_reach(tree: JointTree, group: SphereGroup) -> tuple[Array, float]:
    """Return a point (3,) of the root frame and the distance [m] that no sphere of a group can get away from it.

    The point is the origin of the first joint that moves the group; each joint after it adds the length of its link,
    and a sliding one its travel.
    """
    middle, radius = group.bounding_sphere
    reach, link = float(np.linalg.norm(middle)) + radius, group.link
    while True:
        travel = max(abs(tree.lower[link]), abs(tree.upper[link])) if tree.prismatic[link] else 0.0
        reach += float(travel)
        if tree.parent[link] == WORLD:
            return tree.T_parent_joint[link, :3, 3], reach
        reach += float(np.linalg.norm(tree.T_parent_joint[link, :3, 3]))
        link = int(tree.parent[link])


def group_arrays(
    tree: JointTree,
    groups: Sequence[SphereGroup],
    pairs: Sequence[tuple[int, int]],
    *,
    padding: float,
    self_padding: float,
) -> RobotArrays:
    """Return the kernels' view of groups on a tree.

    Args:
        tree: Joints and links.
        groups: Spheres.
        pairs: Groups that must not touch.
        padding: Added to radii against the world [m].
        self_padding: Added to radii against other groups [m].
    """
    bounds = [group.bounding_sphere for group in groups]
    centres = np.concatenate([group.centre for group in groups]) if groups else np.zeros((0, 3))
    radii = np.concatenate([group.radius for group in groups]) if groups else np.zeros(0)
    outer = np.array([radius for _, radius in bounds])
    return RobotArrays(
        (tree.parent + 1).astype(np.int32),
        tree.T_parent_joint[:, :3, :3].reshape(-1, 9).astype(np.float32),
        np.ascontiguousarray(tree.T_parent_joint[:, :3, 3]).astype(np.float32),
        tree.prismatic,
        np.array([group.link + 1 for group in groups], np.int32),
        np.array([centre for centre, _ in bounds]).reshape(-1, 3).astype(np.float32),
        (outer + padding).astype(np.float32),
        (outer + self_padding).astype(np.float32),
        np.concatenate([[0], np.cumsum([len(group.radius) for group in groups])]).astype(np.int32),
        centres.astype(np.float32),
        (radii + padding).astype(np.float32),
        (radii + self_padding).astype(np.float32),
        np.array(pairs, np.int32).reshape(-1, 2),
    )

"""Spheres that move together, and their layout for the kernels."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from handloom.motion.collision.arrays import RobotArrays
from handloom.motion.collision.part import ALL_BITS
from handloom.motion.kinematics.joint_tree import WORLD, JointTree

Array = NDArray[np.float64]

CLUSTER = 8
"""Most spheres per cluster; of 4 to 16 the fastest among shelves and bars."""

GUARD = 1e-5
"""Added to every radius [m], so that 32-bit arithmetic over a few metres never makes a sphere too small."""


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
        return _bounding_sphere(self.centre, self.radius)

    def clusters(self) -> list[NDArray[np.int64]]:
        """Return the spheres as lists of neighbours: halved along their longest extent until few are left."""
        waiting, done = [np.arange(len(self.radius))], []
        while waiting:
            part = waiting.pop()
            if len(part) <= CLUSTER:
                done.append(part)
                continue
            axis = int(np.argmax(np.ptp(self.centre[part], axis=0)))
            order = part[np.argsort(self.centre[part, axis], kind="stable")]
            waiting += [order[len(order) // 2 :], order[: len(order) // 2]]
        return done


def _bounding_sphere(centre: Array, radius: Array) -> tuple[Array, float]:
    low, high = (centre - radius[:, None]).min(axis=0), (centre + radius[:, None]).max(axis=0)
    middle = 0.5 * (low + high)
    return middle, float((np.linalg.norm(centre - middle, axis=1) + radius).max())


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
    clusters = [(group, spheres) for group in groups for spheres in group.clusters()]
    more = padding + GUARD, self_padding + GUARD
    return RobotArrays(
        (tree.parent + 1).astype(np.int32),
        np.c_[tree.T_parent_joint[:, :3, :3].reshape(-1, 9), tree.T_parent_joint[:, :3, 3]].astype(np.float32),
        tree.prismatic,
        np.array([group.link + 1 for group in groups], np.int32),
        _begins([sum(owner is group for owner, _ in clusters) for group in groups]),
        _begins([len(spheres) for _, spheres in clusters]),
        _rows([_bounding_sphere(group.centre, group.radius) for group in groups], more),
        _rows([_bounding_sphere(group.centre[spheres], group.radius[spheres]) for group, spheres in clusters], more),
        _rows([(group.centre[spheres], group.radius[spheres]) for group, spheres in clusters], more),
        np.array(pairs, np.int32).reshape(-1, 2),
    )


def _rows(spheres: Sequence[tuple[Array, Array | float]], more: tuple[float, float]) -> NDArray[np.float32]:
    """Return spheres as rows of five numbers, their radii enlarged by two different amounts [m]."""
    rows = [np.zeros((0, 5))]
    for centre, radius in spheres:
        rows.append(np.c_[np.atleast_2d(centre), np.atleast_1d(radius) + more[0], np.atleast_1d(radius) + more[1]])
    return np.concatenate(rows).astype(np.float32)


def _begins(counts: list[int]) -> NDArray[np.int32]:
    """Return where each of some consecutive stretches begins, and where the last ends."""
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)

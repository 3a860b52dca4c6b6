"""Spheres that move together, and their layout for the kernels."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.motion.collision.collision_arrays import RobotArrays
from handloom.motion.collision.obstacle import ALL_BITS
from handloom.motion.kinematics.joint_tree import WORLD, JointTree
from handloom.spatial import transform_points

CLUSTER = 8
"""Maximum number of spheres per cluster; of 4 to 16, the fastest value among shelves and bars."""

GUARD = 1e-5
"""Margin added to every radius [m], so that 32-bit arithmetic over a few metres never makes a sphere too small."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SphereGroup:
    """The spheres of one body, in the frame of its link."""

    body: str
    link: int
    """Link of the joint tree."""
    centre_body: Array
    """Centres in the body (n, 3) [m]."""
    radius: Array
    """Radii (n,) [m]."""
    T_link_body: Array
    """Pose of the body in its link (4, 4)."""
    contype: int = ALL_BITS
    conaffinity: int = ALL_BITS

    @cached_property
    def centre(self) -> Array:
        """Centres in the link (n, 3) [m]."""
        return transform_points(self.T_link_body, self.centre_body)

    @property
    def nested(self) -> "NestedSpheres":
        """The spheres in clusters, with bounding spheres, in the link."""
        return _nested(self.centre.tobytes(), self.radius.tobytes())


class NestedSpheres(NamedTuple):
    """Spheres in clusters of neighbours; rows are centre and radius [m]."""

    bound: Array
    """Sphere around all of them (4,)."""
    cluster: Array
    """Spheres around the clusters (c, 4)."""
    sphere: Array
    """The spheres, cluster by cluster (s, 4)."""
    counts: tuple[int, ...]
    """Spheres in each cluster."""


@lru_cache(maxsize=1024)
def _nested(centres: bytes, radii: bytes) -> NestedSpheres:
    """Split spheres along their longest extent until few are left; cached, because robots occur in every scene."""
    centre, radius = np.frombuffer(centres).reshape(-1, 3), np.frombuffer(radii)
    waiting, done = [np.arange(len(radius))], []
    while waiting:
        part = waiting.pop()
        if len(part) <= CLUSTER:
            done.append(part)
            continue
        axis = int(np.argmax(np.ptp(centre[part], axis=0)))
        order = part[np.argsort(centre[part, axis], kind="stable")]
        waiting += [order[len(order) // 2 :], order[: len(order) // 2]]
    return NestedSpheres(
        _bounding_sphere(centre, radius),
        np.array([_bounding_sphere(centre[part], radius[part]) for part in done]),
        np.column_stack([centre, radius])[np.concatenate(done)],
        tuple(map(len, done)),
    )


def _bounding_sphere(centre: Array, radius: Array) -> Array:
    low, high = (centre - radius[:, None]).min(axis=0), (centre + radius[:, None]).max(axis=0)
    middle = 0.5 * (low + high)
    return np.array([*middle, (np.linalg.norm(centre - middle, axis=1) + radius).max()])


def group_reach(tree: JointTree, group: SphereGroup) -> tuple[Array, float]:
    """Return a point (3,) in the root frame and the largest distance [m] of a group's spheres from it.

    The point is the origin of the first joint that moves the group; each later joint adds the length of its link, and a
    sliding joint its travel.
    """
    bound = group.nested.bound
    reach, link = float(np.linalg.norm(bound[:3])) + float(bound[3]), group.link
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
        padding: Margin added to radii against the world [m].
        self_padding: Margin added to radii against other groups [m].
    """
    nested = [group.nested for group in groups]
    more = padding + GUARD, self_padding + GUARD
    return RobotArrays(
        (tree.parent + 1).astype(np.int32),
        np.concatenate([tree.T_parent_joint[:, :3, :3].reshape(-1, 9), tree.T_parent_joint[:, :3, 3]], axis=1).astype(
            np.float32
        ),
        tree.prismatic,
        np.array([group.link + 1 for group in groups], np.int32),
        _begins([len(one.counts) for one in nested]),
        _begins([count for one in nested for count in one.counts]),
        _rows([one.bound[None] for one in nested], more),
        _rows([one.cluster for one in nested], more),
        _rows([one.sphere for one in nested], more),
        np.array(pairs, np.int32).reshape(-1, 2),
    )


def _rows(spheres: Sequence[Array], more: tuple[float, float]) -> NDArray[np.float32]:
    """Return spheres (n, 4) as rows of five numbers, their radii enlarged by two different amounts [m]."""
    rows = np.concatenate([np.zeros((0, 4)), *spheres])
    return np.column_stack([rows[:, :3], rows[:, 3] + more[0], rows[:, 3] + more[1]]).astype(np.float32)


def _begins(counts: Sequence[int]) -> NDArray[np.int32]:
    """Return the start of each of several consecutive ranges, and the end of the last."""
    return np.cumsum([0, *counts]).astype(np.int32)

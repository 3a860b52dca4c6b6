"""Hand poses that would close on a pair of contacts."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from handloom.grasping.annotate_options import AnnotateOptions
from handloom.grasping.antipodal import AntipodalPairs
from handloom.grasping.convex_parts import Array
from handloom.grasping.gripper_shape import GripTable

TURN = 0.3
"""Spread of an approach direction around that of a neighbouring grasp [rad]."""


@dataclass(frozen=True, kw_only=True, eq=False)
class GraspCandidates:
    """n hand poses in the object frame, one array per property."""

    score: Array
    """(n,)"""
    contacts: Array
    """(n, 2, 3) [m]."""
    normals: Array
    """(n, 2, 3)"""
    R: Array
    """(n, 3, 3): columns approach, closing, and their cross product."""
    hand: Array
    """(n, 3) place of the end effector [m]."""
    depth: Array
    """(n,) how far the fingertips reach past the contacts [m]."""
    level: Array
    """(n,) where the drive stands when the fingers are just clear of the contacts."""

    def __len__(self) -> int:
        """Return n."""
        return len(self.score)

    @property
    def width(self) -> Array:
        """Distance (n,) of the contacts [m]."""
        return np.linalg.norm(self.contacts[:, 1] - self.contacts[:, 0], axis=1)

    @property
    def contact(self) -> Array:
        """Point (n, 3) between the contacts [m]."""
        return self.contacts.mean(axis=1)

    def take(self, rows: NDArray[np.int64]) -> "GraspCandidates":
        """Return some of them, in the order of ``rows``."""
        return GraspCandidates(**{f.name: getattr(self, f.name)[rows] for f in fields(self)})

    @classmethod
    def joined(cls, sets: Sequence["GraspCandidates"]) -> "GraspCandidates":
        """Return all candidates of several sets."""
        return cls(**{f.name: np.concatenate([getattr(s, f.name) for s in sets]) for f in fields(cls)})


def turned_around(
    pairs: AntipodalPairs, table: GripTable, options: AnnotateOptions, rng: np.random.Generator, *, down: Array
) -> GraspCandidates:
    """Combine every pair with approach directions around its closing axis and with every depth the pads allow.

    The first direction of every pair is as near to ``down`` (3,) as its closing axis allows.
    """
    R = _orientations(pairs, options.approaches, rng, down)
    depths = len(table.depths)
    pair = np.repeat(np.arange(len(pairs)), options.approaches * depths)
    depth = np.tile(np.arange(depths), len(pairs) * options.approaches)
    return _placed(pairs, pair, np.repeat(R, depths, axis=0), depth, table, options)


def turned_like(
    pairs: AntipodalPairs, approach: Array, table: GripTable, options: AnnotateOptions, rng: np.random.Generator
) -> GraspCandidates:
    """Give each pair an approach direction near a given one (m, 3) and any depth."""
    y = pairs.closing
    x = approach + TURN * rng.standard_normal((len(y), 3)) * rng.uniform(size=(len(y), 1)) ** 2
    x -= np.sum(x * y, axis=1, keepdims=True) * y
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    R = np.stack([x, y, np.asarray(np.cross(x, y), float)], axis=-1)
    depth = rng.integers(len(table.depths), size=len(y))
    return _placed(pairs, np.arange(len(y)), R, depth, table, options)


def _placed(
    pairs: AntipodalPairs,
    pair: NDArray[np.int64],
    R: Array,
    depth: NDArray[np.int64],
    table: GripTable,
    options: AnnotateOptions,
) -> GraspCandidates:
    """Put hands (n, 3, 3) onto pairs (n,) at depth indices (n,); leave out what the pads do not reach."""
    level, middle = table.at_opening(pairs.width[pair] + 2.0 * options.clearance, depth)
    fits = np.flatnonzero(np.isfinite(level))
    pair, R = pair[fits], R[fits]
    contact = pairs.contacts[pair].mean(axis=1)
    return GraspCandidates(
        score=pairs.score[pair],
        contacts=pairs.contacts[pair],
        normals=pairs.normals[pair],
        R=R,
        hand=contact - np.einsum("nij,nj->ni", R, middle[fits]),
        depth=table.depths[depth[fits]],
        level=level[fits],
    )


def _orientations(pairs: AntipodalPairs, count: int, rng: np.random.Generator, down: Array) -> Array:
    """Return ``count`` hand orientations per pair (m * count, 3, 3), half of them regular, half random."""
    y = pairs.closing
    # Where the closing axis itself points down, an axis of the object at right angles takes its place.
    steep = np.abs(y @ down)[:, None] > 0.99
    wanted = np.where(steep, np.eye(3)[int(np.argmin(np.abs(down)))], down)
    first = wanted - np.sum(wanted * y, axis=1, keepdims=True) * y
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    second = np.cross(y, first)
    regular = (count + 1) // 2
    angle = np.empty((len(y), count))
    angle[:, :regular] = np.arange(regular) * (2.0 * np.pi / regular)
    angle[:, regular:] = rng.uniform(0.0, 2.0 * np.pi, size=(len(y), count - regular))
    x = np.cos(angle)[..., None] * first[:, None] + np.sin(angle)[..., None] * second[:, None]
    y = np.broadcast_to(y[:, None], x.shape)
    z = np.asarray(np.cross(x, y), float)
    return np.stack([x, y, z], axis=-1).reshape(-1, 3, 3)

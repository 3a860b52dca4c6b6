"""Outlines of placed objects seen from above, and distances between them."""

import numpy as np

from handloom.arrays import Array
from handloom.scene.regions import Placed
from handloom.spatial import quat_rotate

DIRECTIONS = 128
"""Number of directions in which the furthest point is found."""
_ANGLES = np.arange(DIRECTIONS) * (2.0 * np.pi / DIRECTIONS)
_COMPASS = np.stack([np.cos(_ANGLES), np.sin(_ANGLES)])


def footprint(place: Placed) -> Array:
    """Return the convex outline (n, 2) [m] of a placed object seen from above, counter-clockwise."""
    return convex_outline((quat_rotate(place.quat, place.points) + place.position)[:, :2])


def convex_outline(points: Array) -> Array:
    """Return the convex outline (n, 2) of points (m, 2), counter-clockwise.

    The furthest point in each of ``DIRECTIONS`` is a corner, so an outline with many more corners than that is cut a
    little: a circle of 10 cm by 0.03 mm.
    """
    furthest = np.argmax(points @ _COMPASS, axis=0)
    return (
        points[furthest[np.flatnonzero(furthest != np.roll(furthest, 1))]] if np.ptp(furthest) else points[furthest[:1]]
    )


def outline_distance(a: Array, b: Array) -> float:
    """Return the smallest distance [m] between two convex outlines; 0 if they touch or overlap."""
    if _apart(a, b) or _apart(b, a):
        return float(min(_to_edges(a, b), _to_edges(b, a)))
    return 0.0


def _apart(a: Array, b: Array) -> bool:
    """Return whether all of ``b`` is on the outer side of a line through an edge of ``a``."""
    edges = np.roll(a, -1, axis=0) - a
    outward = np.stack([edges[:, 1], -edges[:, 0]], axis=1)
    beyond = outward @ b.T - np.sum(outward * a, axis=1)[:, None]
    if len(a) < 3:  # A line or a point has two outer sides, and its ends also count.
        along = np.concatenate([outward, -outward, edges, -edges])
        return bool(np.any((along @ b.T).min(axis=1) > (along @ a.T).max(axis=1)))
    return bool(np.any(beyond.min(axis=1) > 0.0))


def _to_edges(points: Array, outline: Array) -> float:
    """Return the smallest distance of points (n, 2) to the edges of an outline (m, 2)."""
    edges = np.roll(outline, -1, axis=0) - outline
    offset = points[:, None] - outline[None]
    length = np.maximum(np.sum(edges**2, axis=1), 1e-18)
    t = np.clip(np.sum(offset * edges[None], axis=2) / length, 0.0, 1.0)
    return float(np.linalg.norm(offset - t[..., None] * edges[None], axis=2).min())

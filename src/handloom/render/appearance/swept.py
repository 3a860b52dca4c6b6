"""Triangles of tubes along curves, with the normals of the true surface."""

from typing import Final

import numpy as np

from handloom.arrays import Array
from handloom.render.looks import Swept

AROUND: Final = 14
"""Number of corners of a cross section; normals are interpolated, so that corners are visible only in outlines."""
ALONG: Final = 5
"""Number of steps between two points of the curve."""


def smooth_curve(points: Array, steps: int) -> Array:
    """Return points (m, k) of a curve through points (n, k): centripetal Catmull-Rom, which makes no loops."""
    p = np.concatenate([[2 * points[0] - points[1]], points, [2 * points[-1] - points[-2]]])
    knots = np.concatenate([[0.0], np.cumsum(np.maximum(np.linalg.norm(np.diff(p, axis=0), axis=1), 1e-9) ** 0.5)])
    pieces: list[Array] = []
    for k in range(1, len(p) - 2):
        t = np.linspace(knots[k], knots[k + 1], steps, endpoint=False)[:, None]
        a = [_between(t, knots, p, j, 1) for j in (k - 1, k, k + 1)]
        b = [((knots[k + 1 + j] - t) * a[j] + (t - knots[k - 1 + j]) * a[j + 1]) for j in (0, 1)]
        b = [value / (knots[k + 1 + j] - knots[k - 1 + j]) for j, value in enumerate(b)]
        pieces.append(((knots[k + 1] - t) * b[0] + (t - knots[k]) * b[1]) / (knots[k + 1] - knots[k]))
    return np.concatenate([*pieces, points[-1:]])


def _between(t: Array, knots: Array, p: Array, k: int, step: int) -> Array:
    """Return points on the line through two neighbours."""
    return ((knots[k + step] - t) * p[k] + (t - knots[k]) * p[k + step]) / (knots[k + step] - knots[k])


def triangles_of_swept(shape: Swept) -> tuple[Array, Array]:
    """Return corners (k, 3, 3) [m] and normals (k, 3, 3) of a tube with round ends."""
    line = smooth_curve(np.column_stack([np.array(shape.centre), np.array(shape.radii)]), ALONG)
    centre, radius = line[:, :3], line[:, 3]
    tangent = np.gradient(centre, axis=0)
    tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
    across = _plane_normal(centre)
    side = np.cross(tangent, across)
    side /= np.linalg.norm(side, axis=1, keepdims=True)
    up = np.cross(side, tangent)
    # Rings that shrink to a point close the ends, at a distance equal to the tube's radius.
    caps = np.array([0.0, 0.45, 0.8, 1.0])
    first = [(centre[0] - radius[0] * c * tangent[0], radius[0] * np.sqrt(1 - c * c), -c, 0) for c in caps[::-1]]
    last = [(centre[-1] + radius[-1] * c * tangent[-1], radius[-1] * np.sqrt(1 - c * c), c, -1) for c in caps]
    rings = [*first, *((centre[k], radius[k], 0.0, k) for k in range(1, len(centre) - 1)), *last]
    angle = np.arange(AROUND) * (2 * np.pi / AROUND)
    points, normals = np.empty((len(rings), AROUND, 3)), np.empty((len(rings), AROUND, 3))
    for row, (middle, size, lean, k) in enumerate(rings):
        round_ = np.cos(angle)[:, None] * side[k] + shape.flat * np.sin(angle)[:, None] * up[k]
        points[row] = middle + max(size, 1e-6) * round_
        outward = np.cos(angle)[:, None] * side[k] + np.sin(angle)[:, None] / shape.flat * up[k]
        outward = np.sqrt(1 - lean * lean) * outward + lean * tangent[k]
        normals[row] = outward / np.linalg.norm(outward, axis=1, keepdims=True)
    return _quads(points), _quads(normals)


def _plane_normal(centre: Array) -> Array:
    """Return the unit normal of a curve's plane, or any unit vector perpendicular to a straight curve."""
    _, sizes, axes = np.linalg.svd(centre - centre.mean(axis=0))
    if sizes[1] < 1e-6 * sizes[0]:
        other = np.eye(3)[int(np.argmin(np.abs(axes[0])))]
        cross = np.cross(axes[0], other)
        return cross / np.linalg.norm(cross)
    return axes[2]


def _quads(grid: Array) -> Array:
    """Return two triangles (k, 3, 3) per cell of a grid (n, m, 3) that closes around its second axis."""
    a, b = grid[:-1], grid[1:]
    c, d = np.roll(b, -1, axis=1), np.roll(a, -1, axis=1)
    halves = [np.stack([a, b, c], axis=2), np.stack([a, c, d], axis=2)]
    return np.concatenate([half.reshape(-1, 3, 3) for half in halves])

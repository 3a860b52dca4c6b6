"""Triangles of the simple solids, in the frame of their geom, fine enough for outlines accurate to a pixel."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array

AROUND = 64
"""Edges of a circle; the outline of a ball of 400 pixels then has an error of half a pixel."""
SMALL_AROUND = 16
"""Edges of a circle, for balls in large numbers."""
ENDLESS = 40.0
"""Half the side of an infinite plane [m]."""


class SolidSurface(NamedTuple):
    """Triangles with data for shading."""

    points: Array
    """(n, 3) [m]."""
    normals: Array
    """(n, 3) unit vectors."""
    triangles: NDArray[np.uint32]
    """(k, 3) indices of points, counter-clockwise seen from outside."""
    turns: Array | None = None
    """Angle of each point (n,) around the z axis, in turns from 0 to 1; None if not round."""


def plane(half_x: float, half_y: float) -> SolidSurface:
    """Return a rectangle that faces +z; sizes of 0 mean infinite."""
    x, y = half_x if half_x > 0 else ENDLESS, half_y if half_y > 0 else ENDLESS
    points = np.array([[-x, -y, 0], [x, -y, 0], [x, y, 0], [-x, y, 0]], float)
    return SolidSurface(points, np.tile([0.0, 0.0, 1.0], (4, 1)), np.array([[0, 1, 2], [0, 2, 3]], np.uint32))


def box(half: Array) -> SolidSurface:
    """Return a box with half extents (3,) [m]; every face has its own corners."""
    points, normals = [], []
    for axis in range(3):
        first, second = (axis + 1) % 3, (axis + 2) % 3
        for sign in (1.0, -1.0):
            for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
                corner = np.zeros(3)
                corner[axis], corner[first], corner[second] = sign, a * sign, b
                points.append(corner * half)
                normals.append(sign * np.eye(3)[axis])
    quads = 4 * np.arange(6)[:, None]
    triangles = np.concatenate([quads + np.array([0, 1, 2]), quads + np.array([0, 2, 3])])
    return SolidSurface(np.array(points), np.array(normals), triangles.astype(np.uint32))


def ellipsoid(half: Array, around: int = AROUND) -> SolidSurface:
    """Return an ellipsoid with half axes (3,) [m]."""
    directions = _turned(_half_circle(around), around)
    normals = directions / half
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    turns = _turns(around // 2 + 1, around)
    return SolidSurface(directions * half, normals, _grid(around // 2 + 1, around + 1), turns)


def capsule(radius: float, half_length: float) -> SolidSurface:
    """Return a cylinder along z with hemispheres at both ends."""
    profile = _half_circle(AROUND)
    middle = len(profile) // 2
    profile = np.concatenate([profile[: middle + 1], profile[middle:]])
    directions = _turned(profile, AROUND)
    shift = np.repeat([half_length, -half_length], [middle + 1, len(profile) - middle - 1])
    points = radius * directions
    points[:, 2] += np.repeat(shift, AROUND + 1)
    return SolidSurface(points, directions, _grid(len(profile), AROUND + 1), _turns(len(profile), AROUND))


def cylinder(radius: float, half_length: float) -> SolidSurface:
    """Return a cylinder along z with flat ends."""
    rim = _circle(AROUND)
    flat = np.concatenate([rim, np.zeros((len(rim), 1))], axis=1)
    side = np.concatenate([flat * radius + [0, 0, half_length], flat * radius - [0, 0, half_length]])
    points, normals, triangles = [side], [np.tile(flat, (2, 1))], [_grid(2, len(rim))]
    for sign in (1.0, -1.0):
        start = sum(len(part) for part in points)
        points.append(np.concatenate([[[0, 0, sign * half_length]], flat * radius + [0, 0, sign * half_length]]))
        normals.append(np.tile([0.0, 0.0, sign], (len(rim) + 1, 1)))
        k = np.arange(1, len(rim))
        fan = np.stack([np.zeros_like(k), k, k + 1] if sign > 0 else [np.zeros_like(k), k + 1, k], axis=1)
        triangles.append((start + fan).astype(np.uint32))
    turns = np.concatenate([_turns(2, AROUND), np.zeros(sum(len(part) for part in points[1:]))])
    return SolidSurface(np.concatenate(points), np.concatenate(normals), np.concatenate(triangles), turns)


def turned(pieces: Array, normals: Array) -> SolidSurface:
    """Return a surface of revolution about z.

    Args:
        pieces: Straight pieces of its outline (n, 4): radius and height at both ends [m], counter-clockwise.
        normals: Outward normals at both ends of each (n, 4): radial and along z.
    """
    points, directions, triangles = [], [], []
    for k, (piece, normal) in enumerate(zip(pieces.reshape(-1, 2, 2), normals.reshape(-1, 2, 2), strict=True)):
        points.append(_turned(piece[::-1], AROUND))
        directions.append(_turned(normal[::-1], AROUND))
        triangles.append(_grid(2, AROUND + 1) + np.uint32(2 * k * (AROUND + 1)))
    turns = np.tile(_turns(2, AROUND), len(points))
    return SolidSurface(np.concatenate(points), np.concatenate(directions), np.concatenate(triangles), turns)


def _turns(rows: int, around: int) -> Array:
    """Return the fraction of a turn around the axis of the points of a grid, 0 to 1."""
    return np.tile(np.arange(around + 1) / around, rows)


def _circle(around: int) -> Array:
    """Return points (around + 1, 2) on the unit circle; the last equals the first."""
    angle = 2 * np.pi * np.arange(around + 1) / around
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _half_circle(around: int) -> Array:
    """Return distance from the axis and height (around / 2 + 1, 2) from the north pole to the south pole."""
    angle = np.pi * np.arange(around // 2 + 1) / (around // 2)
    return np.stack([np.sin(angle), np.cos(angle)], axis=1)


def _turned(profile: Array, around: int) -> Array:
    """Turn a profile (m, 2) about z; return points (m * (around + 1), 3), circle after circle."""
    circle = _circle(around)
    xy = profile[:, None, :1] * circle[None]
    z = np.broadcast_to(profile[:, None, 1:], (*xy.shape[:2], 1))
    return np.concatenate([xy, z], axis=2).reshape(-1, 3)


def _grid(rows: int, columns: int) -> NDArray[np.uint32]:
    """Return the triangles of a grid of points whose rows go down and whose columns go around counter-clockwise."""
    row, column = np.meshgrid(np.arange(rows - 1), np.arange(columns - 1), indexing="ij")
    a = (row * columns + column).ravel()
    b, c, d = a + 1, a + columns, a + columns + 1
    return np.concatenate([np.stack([a, c, d], axis=1), np.stack([a, d, b], axis=1)]).astype(np.uint32)

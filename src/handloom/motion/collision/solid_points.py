"""Points on solids, and depths of points inside solids."""

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.motion.collision.shape import Shape, ShapeKind
from handloom.motion.kinematics.low_discrepancy import halton

FEWEST_SAMPLES, MOST_SAMPLES = 600, 20000


def depth(shape: Shape, points: Array) -> Array:
    """Return a lower bound of the distance from points (n, 3) to the surface (n,) [m]; negative outside."""
    x, y, z = shape.size
    if shape.kind == ShapeKind.BOX:
        return (np.array(shape.size) - np.abs(points)).min(axis=1)
    if shape.kind == ShapeKind.CYLINDER:
        return np.minimum(x - np.hypot(points[:, 0], points[:, 1]), y - np.abs(points[:, 2]))
    if shape.kind == ShapeKind.ELLIPSOID:
        # A concentric copy scaled by s is at least (1 - s) times the shortest half axis away from the surface.
        return (1.0 - np.linalg.norm(points / np.array([x, y, z]), axis=1)) * min(x, y, z)
    assert shape.normals is not None
    assert shape.vertices is not None
    offsets = (shape.normals @ shape.vertices.T).max(axis=1)
    return (offsets - points @ shape.normals.T).min(axis=1)


def half_width(shape: Shape) -> float:
    """Return half the smallest extent of a solid [m]; for a convex solid, the depth of its deepest point."""
    if shape.kind == ShapeKind.CAPSULE:
        return shape.size[0]
    if shape.kind == ShapeKind.CONVEX and shape.vertices is not None:
        low, high = shape.vertices.min(axis=0), shape.vertices.max(axis=0)
        return float(depth(shape, low + (high - low) * halton(512, 3)).max())
    return min(length for length in shape.size if length > 0)


def bounding_box(shape: Shape) -> tuple[Array, Array]:
    """Return the lowest and highest corner (3,) [m] of the bounding box of a solid in its own frame."""
    x, y, z = shape.size
    if shape.kind == ShapeKind.CONVEX and shape.vertices is not None:
        return shape.vertices.min(axis=0), shape.vertices.max(axis=0)
    high = np.array([x, x, y] if shape.kind == ShapeKind.CYLINDER else [x, y, z])
    return -high, high


def surface_samples(shape: Shape, spacing: float) -> Array:
    """Return points (n, 3) on the surface, about ``spacing`` apart [m]; corners and edges are among them."""
    if shape.kind == ShapeKind.CYLINDER:
        return _cylinder_samples(shape.size[0], shape.size[1], spacing)
    if shape.kind == ShapeKind.ELLIPSOID:
        count = _sample_count(4.0 * np.pi * max(shape.size) ** 2, spacing)
        return fibonacci_directions(count) * np.array(shape.size)
    vertices, triangles = _triangles(shape)
    corners = vertices[triangles]
    area = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    points = halton(_sample_count(float(area.sum()), spacing), 3)
    which = np.searchsorted(np.cumsum(area) / area.sum(), points[:, 0]).clip(0, len(area) - 1)
    u, v = points[:, 1], points[:, 2]
    u, v = np.where(u + v > 1, 1 - u, u), np.where(u + v > 1, 1 - v, v)
    a, b, c = corners[which, 0], corners[which, 1], corners[which, 2]
    return np.concatenate([vertices, a + u[:, None] * (b - a) + v[:, None] * (c - a), _edge_samples(corners, spacing)])


def _edge_samples(corners: Array, spacing: float) -> Array:
    """Return points along the sides of triangles (n, 3, 3): covers tend to miss sharp edges first."""
    parts = []
    for i in range(3):
        a, b = corners[:, i], corners[:, (i + 1) % 3]
        for start, end in zip(a, b, strict=True):
            count = int(np.linalg.norm(end - start) / (2.0 * spacing))
            parts.append(start + np.linspace(0, 1, count + 2)[1:-1, None] * (end - start))
    return np.concatenate(parts)


def _cylinder_samples(radius: float, half: float, spacing: float) -> Array:
    around = max(12, int(np.ceil(2 * np.pi * radius / spacing)))
    angle = 2 * np.pi * np.arange(around) / around
    ring = radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    levels = np.linspace(-half, half, max(2, int(np.ceil(2 * half / spacing)) + 1))
    side = np.concatenate([np.c_[ring, np.full(around, z)] for z in levels])
    rings = np.arange(0.0, radius, spacing) / radius
    lids = [np.c_[ring * r, np.full(around, z)] for r in rings for z in (-half, half)]
    return np.concatenate([side, *lids])


def _sample_count(area: float, spacing: float) -> int:
    return int(np.clip(area / spacing**2, FEWEST_SAMPLES, MOST_SAMPLES))


def fibonacci_directions(count: int) -> Array:
    """Return unit vectors (count, 3) spread evenly over the sphere."""
    k = np.arange(count) + 0.5
    z = 1.0 - 2.0 * k / count
    turn = np.pi * (1.0 + np.sqrt(5.0)) * k
    ring = np.sqrt(1.0 - z**2)
    return np.stack([ring * np.cos(turn), ring * np.sin(turn), z], axis=1)


def _triangles(shape: Shape) -> tuple[Array, NDArray[np.int64]]:
    """Return corners and triangles of a box or convex solid."""
    if shape.kind == ShapeKind.BOX:
        signs = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)], float)
        quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
        return signs * np.array(shape.size), np.array([t for q in quads for t in (q[:3], (q[0], q[2], q[3]))])
    assert shape.vertices is not None
    fans = [(face[0], face[i], face[i + 1]) for face in shape.faces for i in range(1, len(face) - 1)]
    return shape.vertices, np.array(fans)

"""Cover a solid with few spheres that reach out of it by a given tolerance at most."""

import numpy as np
from numpy.typing import NDArray

from handloom.errors import InputError
from handloom.motion.collision.cover_kernels import greedy_choice
from handloom.motion.collision.shape import Shape, ShapeKind
from handloom.motion.kinematics.low_discrepancy import halton

Array = NDArray[np.float64]

CANDIDATES = 4000
"""Points tried as sphere centres per solid; more buys few spheres less."""

SLACK = 0.2
"""Surface samples count as covered only when this fraction of the tolerance inside a sphere, so that the surface
between two samples is covered too."""

SAMPLE_SPACING = 0.35
"""Distance of neighbouring surface samples as a fraction of the tolerance; see ``SLACK``."""

THIN = 0.5
"""Spheres reach out of a thin solid by at most this fraction of its smallest half width: a centimetre around a
finger of two would double it, and no gripper could be opened around anything."""

FEWEST_SAMPLES, MOST_SAMPLES = 600, 20000


def sphere_cover(shape: Shape, tolerance: float, *, least: float = 0.0) -> tuple[Array, Array]:
    """Return centres (n, 3) and radii (n,) [m] of spheres in the frame of the solid.

    Every surface sample lies inside a sphere and no sphere reaches out of the solid by more than ``tolerance`` [m],
    nor by more than half of the solid's smallest half width. The inside need not be filled: whatever touches the
    solid crosses its surface.

    Args:
        shape: The solid.
        tolerance: Distance by which spheres may reach out [m].
        least: Distance they may reach out of however thin a solid [m]; a wall of 2 mm else takes thousands of spheres.
    """
    if not tolerance > 0:
        raise InputError(f"a sphere cover needs a tolerance > 0, got {tolerance}")
    if shape.kind in {ShapeKind.PLANE, ShapeKind.HEIGHT_FIELD}:
        raise InputError(f"a {shape.kind.name.lower()} cannot be part of a moving body")
    if shape.kind == ShapeKind.SPHERE:
        return np.zeros((1, 3)), np.array([shape.size[0]])
    tolerance = min(tolerance, max(THIN * _half_width(shape), least))
    if shape.kind == ShapeKind.CAPSULE:
        return _capsule_cover(shape.size[0], shape.size[1], tolerance)
    return _greedy_cover(shape, tolerance)


def _half_width(shape: Shape) -> float:
    """Return half the smallest extent of a solid [m]; for a convex solid, the depth of its deepest point."""
    if shape.kind == ShapeKind.CAPSULE:
        return shape.size[0]
    if shape.kind == ShapeKind.CONVEX and shape.vertices is not None:
        low, high = shape.vertices.min(axis=0), shape.vertices.max(axis=0)
        return float(depth(shape, low + (high - low) * halton(512, 3)).max())
    return min(length for length in shape.size if length > 0)


def _capsule_cover(radius: float, half: float, tolerance: float) -> tuple[Array, Array]:
    """Spheres along the axis, as far apart as the dip between two of them allows."""
    spacing = 2.0 * np.sqrt((radius + tolerance) ** 2 - radius**2)
    count = int(np.ceil(2.0 * half / spacing)) + 1 if half > 0 else 1
    # With the count fixed, the radius can shrink to what the spacing needs.
    gap = 2.0 * half / max(1, count - 1)
    centres = np.zeros((count, 3))
    centres[:, 2] = np.linspace(-half, half, count) if count > 1 else 0.0
    return centres, np.full(count, np.hypot(radius, 0.5 * gap) if count > 1 else radius)


def _greedy_cover(shape: Shape, tolerance: float) -> tuple[Array, Array]:
    """Take the candidate that covers most of what is uncovered, until nothing is."""
    samples = surface_samples(shape, SAMPLE_SPACING * tolerance)
    centres = _candidates(shape, samples)
    radii = depth(shape, centres) + tolerance
    chosen, uncovered = greedy_choice(samples, centres, radii - SLACK * tolerance)
    corners, corner_radii = _corner_spheres(samples[uncovered], tolerance)
    return np.concatenate([centres[chosen], corners]), np.concatenate([radii[chosen], corner_radii])


def _corner_spheres(samples: Array, tolerance: float) -> tuple[Array, Array]:
    """Cover samples that no candidate reaches, at sharp edges and corners, with small spheres on the surface."""
    centres, reach = [], (1.0 - SLACK) * tolerance
    while len(samples):
        centres.append(samples[0])
        samples = samples[np.linalg.norm(samples - samples[0], axis=1) >= reach]
    return np.array(centres).reshape(-1, 3), np.full(len(centres), tolerance)


def _candidates(shape: Shape, samples: Array) -> Array:
    """Return points inside the solid: evenly spread ones, and some at and just below the surface."""
    low, high = samples.min(axis=0), samples.max(axis=0)
    spread = low + (high - low) * halton(CANDIDATES, 3)
    # Corners and edges need small spheres, whose centres a coarse spread misses: add points near the surface.
    near = samples[:: max(1, len(samples) // (CANDIDATES // 4))]
    middle = samples.mean(axis=0)
    points = np.concatenate([spread, *(middle + inward * (near - middle) for inward in (0.97, 0.999, 1.0))])
    return points[depth(shape, points) >= -1e-9]


def depth(shape: Shape, points: Array) -> Array:
    """Return a lower bound of the distance from points (n, 3) to the surface (n,) [m], negative outside."""
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

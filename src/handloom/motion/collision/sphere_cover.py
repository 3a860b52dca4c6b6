"""Covers a solid with few spheres that protrude by at most a tolerance, and proves that they contain it."""

import numpy as np

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.kernels import inner_kernel, kernel
from handloom.motion.collision.shape import Shape, ShapeKind
from handloom.motion.collision.solid_points import bounding_box, depth, half_width, surface_samples
from handloom.motion.kinematics.low_discrepancy import halton


@kernel
def greedy_choice(points, centres, radii):
    """Select the sphere that covers most of the uncovered points, until no sphere covers any more.

    Args:
        points: Points to cover (n, 3).
        centres: Centres of the spheres (m, 3).
        radii: Their radii (m,); a sphere of negative radius covers nothing.

    Returns:
        The selected spheres, in order (k,), and a mask of points that no sphere covers (n,).
    """
    n, m = len(points), len(centres)
    squared = np.where(radii > 0.0, radii * radii, 0.0)
    columns = centres.T.copy()
    gain = np.zeros(m, np.int32)
    for i in range(n):
        _count(points[i], columns, squared, gain, 1)
    bare = np.ones(n, np.bool_)
    chosen = np.empty(m, np.int64)
    taken = 0
    while m > 0:
        best = np.argmax(gain)
        if gain[best] == 0:
            break
        chosen[taken] = best
        taken += 1
        for i in range(n):
            x, y, z = points[i, 0] - centres[best, 0], points[i, 1] - centres[best, 1], points[i, 2] - centres[best, 2]
            if bare[i] and x * x + y * y + z * z < squared[best]:
                bare[i] = False
                _count(points[i], columns, squared, gain, -1)
    return chosen[:taken], bare


@inner_kernel
def _count(point, columns, squared, gain, step):
    """Add a step to the gain of every sphere that covers a point."""
    px, py, pz = point[0], point[1], point[2]
    cx, cy, cz = columns[0], columns[1], columns[2]
    for j in range(len(squared)):
        x, y, z = px - cx[j], py - cy[j], pz - cz[j]
        gain[j] += step if x * x + y * y + z * z < squared[j] else 0


@kernel
def cells_inside(cells, half, centres, radii):
    """Return for each cube (n, 3), given its half side, whether it lies completely inside some sphere."""
    inside = np.zeros(len(cells), np.bool_)
    for i in range(len(cells)):
        for s in range(len(radii)):
            x = abs(cells[i, 0] - centres[s, 0]) + half
            y = abs(cells[i, 1] - centres[s, 1]) + half
            z = abs(cells[i, 2] - centres[s, 2]) + half
            if x * x + y * y + z * z <= radii[s] * radii[s]:
                inside[i] = True
                break
    return inside


CANDIDATES = 4000
"""Points tried as sphere centres per solid; more points hardly reduce the number of spheres."""

SLACK = 0.2
"""Fraction of the tolerance by which surface samples must be inside a sphere to count as covered, so that the surface
between two samples is also covered."""

SAMPLE_SPACING = 0.35
"""Distance between neighbouring surface samples as a fraction of the tolerance; see ``SLACK``."""

THIN = 0.5
"""Spheres protrude from a thin solid by at most this fraction of its smallest half width: a centimetre around a
two-centimetre finger would double its thickness, and no gripper could be opened around an object."""

FINEST = 0.04
"""Half side of the smallest cells in the proof of coverage, as a fraction of the tolerance."""


def sphere_cover(shape: Shape, tolerance: float, *, least: float = 0.0) -> tuple[Array, Array]:
    """Return centres (n, 3) and radii (n,) [m] of spheres in the frame of the solid.

    The spheres contain the whole solid, which is proved cell by cell (``bare_cells``), and none protrudes by more than
    ``tolerance`` [m], nor by more than half of the solid's smallest half width.

    Args:
        shape: The solid.
        tolerance: Distance by which spheres may protrude [m].
        least: Distance by which they may protrude from arbitrarily thin solids [m]; otherwise a wall of 2 mm takes
            thousands of spheres.
    """
    if not tolerance > 0:
        raise InputError(f"a sphere cover needs a tolerance > 0, got {tolerance}")
    if shape.kind in {ShapeKind.PLANE, ShapeKind.HEIGHT_FIELD}:
        raise InputError(f"a {shape.kind.name.lower()} cannot be part of a moving body")
    if shape.kind == ShapeKind.SPHERE:
        return np.zeros((1, 3)), np.array([shape.size[0]])
    tolerance = min(tolerance, max(THIN * half_width(shape), least))
    if shape.kind == ShapeKind.CAPSULE:
        return _capsule_cover(shape.size[0], shape.size[1], tolerance)
    return _without_gaps(shape, *_greedy_cover(shape, tolerance), tolerance)


def _capsule_cover(radius: float, half: float, tolerance: float) -> tuple[Array, Array]:
    """Place spheres along the axis, as far apart as the gap between two of them allows."""
    spacing = 2.0 * np.sqrt((radius + tolerance) ** 2 - radius**2)
    count = int(np.ceil(2.0 * half / spacing)) + 1 if half > 0 else 1
    # With the count fixed, the radius can shrink to what the spacing needs.
    gap = 2.0 * half / max(1, count - 1)
    centres = np.zeros((count, 3))
    centres[:, 2] = np.linspace(-half, half, count) if count > 1 else 0.0
    # Halfway between two centres the cover has the capsule's radius; the factor allows for rounding.
    return centres, np.full(count, (np.hypot(radius, 0.5 * gap) if count > 1 else radius) * (1.0 + 1e-12))


def _greedy_cover(shape: Shape, tolerance: float) -> tuple[Array, Array]:
    """Select the candidate that covers most of the uncovered points, until all are covered."""
    samples = surface_samples(shape, SAMPLE_SPACING * tolerance)
    centres = _candidates(shape, samples)
    radii = depth(shape, centres) + tolerance
    chosen, uncovered = greedy_choice(samples, centres, radii - SLACK * tolerance)
    corners, corner_radii = _corner_spheres(samples[uncovered], tolerance)
    return np.concatenate([centres[chosen], corners]), np.concatenate([radii[chosen], corner_radii])


def _without_gaps(shape: Shape, centres: Array, radii: Array, tolerance: float) -> tuple[Array, Array]:
    """Add spheres where parts of the solid are uncovered, as large as the tolerance allows, until all are covered."""
    while True:
        cells, half = bare_cells(shape, centres, radii, FINEST * tolerance)
        if not len(cells):
            return centres, radii
        corner = np.sqrt(3.0) * half
        # The centre of a cell may lie outside the solid by the distance to its corner.
        sizes = np.maximum(depth(shape, cells), 0.0) + tolerance - 3.0 * corner
        chosen, left = [], np.argsort(-sizes, kind="stable")
        while len(left):
            chosen.append(left[0])
            left = left[np.linalg.norm(cells[left] - cells[left[0]], axis=1) + corner > sizes[left[0]]]
        centres, radii = np.concatenate([centres, cells[chosen]]), np.concatenate([radii, sizes[chosen]])


def _corner_spheres(samples: Array, tolerance: float) -> tuple[Array, Array]:
    """Cover samples that no candidate reaches, at sharp edges and corners, with small spheres on the surface."""
    centres, reach = [], (1.0 - SLACK) * tolerance
    while len(samples):
        centres.append(samples[0])
        samples = samples[np.linalg.norm(samples - samples[0], axis=1) >= reach]
    return np.array(centres).reshape(-1, 3), np.full(len(centres), tolerance)


def _candidates(shape: Shape, samples: Array) -> Array:
    """Return points inside the solid: some evenly spread, some at and just below the surface."""
    low, high = samples.min(axis=0), samples.max(axis=0)
    spread = low + (high - low) * halton(CANDIDATES, 3)
    # Corners and edges need small spheres, whose centres a coarse grid misses: add points near the surface.
    near = samples[:: max(1, len(samples) // (CANDIDATES // 4))]
    middle = samples.mean(axis=0)
    points = np.concatenate([spread, *(middle + inward * (near - middle) for inward in (0.97, 0.999, 1.0))])
    return points[depth(shape, points) >= -1e-9]


OCTANTS = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)], float)


def bare_cells(shape: Shape, centres: Array, radii: Array, smallest: float) -> tuple[Array, float]:
    """Return centres (n, 3) and the half side [m] of cells that may contain an uncovered part of the solid.

    Space is divided into cubes, which are repeatedly divided into eight. A cube is finished when it lies inside one
    sphere or certainly outside the solid; the remaining cubes of the smallest size are returned. If none remain,
    coverage is proved: spheres are convex, so a cube whose corners are inside a sphere is completely inside, and every
    point of the solid lies in such a cube.

    Args:
        shape: A box, cylinder, ellipsoid or convex solid.
        centres: Centres of spheres (s, 3) [m].
        radii: Radii (s,) [m].
        smallest: Half side below which cubes are not divided [m].
    """
    low, high = bounding_box(shape)
    half = 0.5 * float((high - low).max())
    cells = 0.5 * (low + high)[None]
    while len(cells):
        cells = cells[depth(shape, cells) >= -half * np.sqrt(3.0)]
        cells = cells[~cells_inside(cells, half, centres, radii)]
        if half <= smallest:
            break
        half *= 0.5
        cells = (cells[:, None] + half * OCTANTS).reshape(-1, 3)
    return cells, half

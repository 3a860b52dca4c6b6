"""Spheres against obstacles and against each other, 16 configurations side by side.

The sphere under test is a row of ``point`` (slots, 48): its centre in 16 configurations, coordinate by coordinate.
Hits are collected as bits, which vectorises where taking a minimum of distances does not.
"""

import math

import numpy as np

from handloom.kernels import inner_kernel
from handloom.motion.collision.arrays import LANES

# Values of ``shape.ShapeKind``.
BOX, CAPSULE, CYLINDER, PLANE, CONVEX, HEIGHT_FIELD = 0, 1, 2, 3, 4, 5

f4 = np.float32
ZERO = f4(0.0)
NONE = np.int32(0)

HALF_SIDES, BOUND = 12, 21
"""First column of ``WorldArrays.row`` with the half sides of a box, and of the box around any obstacle."""


@inner_kernel
def box_hits(row, b, first, point, slot, radius):
    """Return the lanes in which a sphere touches a box whose half sides begin at a column of the obstacle's row.

    The squared distance to a box is the sum over its axes of the squared excess over the half side.
    """
    c0, c1, c2 = row[b, 0], row[b, 1], row[b, 2]
    a0, a1, a2, b0, b1, b2 = row[b, 3], row[b, 4], row[b, 5], row[b, 6], row[b, 7], row[b, 8]
    d0, d1, d2 = row[b, 9], row[b, 10], row[b, 11]
    h0, h1, h2, limit, hits = row[b, first], row[b, first + 1], row[b, first + 2], radius * radius, NONE
    for lane in range(LANES):
        dx, dy, dz = point[slot, lane] - c0, point[slot, lane + 16] - c1, point[slot, lane + 32] - c2
        u = max(abs(a0 * dx + b0 * dy + d0 * dz) - h0, ZERO)
        v = max(abs(a1 * dx + b1 * dy + d1 * dz) - h1, ZERO)
        w = max(abs(a2 * dx + b2 * dy + d2 * dz) - h2, ZERO)
        hits |= np.int32(1 << lane) if u * u + v * v + w * w < limit else NONE
    return hits


@inner_kernel
def _capsule_hits(row, b, point, slot, radius):
    """Squared distance to the segment along the capsule's z axis; a sphere is a capsule of length zero."""
    c0, c1, c2, a2, b2, d2 = row[b, 0], row[b, 1], row[b, 2], row[b, 5], row[b, 8], row[b, 11]
    half, reach, hits = row[b, 13], row[b, 12] + radius, NONE
    limit = reach * reach
    for lane in range(LANES):
        dx, dy, dz = point[slot, lane] - c0, point[slot, lane + 16] - c1, point[slot, lane + 32] - c2
        along = min(max(a2 * dx + b2 * dy + d2 * dz, -half), half)
        u, v, w = dx - along * a2, dy - along * b2, dz - along * d2
        hits |= np.int32(1 << lane) if u * u + v * v + w * w < limit else NONE
    return hits


@inner_kernel
def _cylinder_hits(row, b, point, slot, radius):
    """Excess over the half length and over the radius, combined as for a box."""
    c0, c1, c2, a2, b2, d2 = row[b, 0], row[b, 1], row[b, 2], row[b, 5], row[b, 8], row[b, 11]
    wide, half, limit, hits = row[b, 12], row[b, 13], radius * radius, NONE
    for lane in range(LANES):
        dx, dy, dz = point[slot, lane] - c0, point[slot, lane + 16] - c1, point[slot, lane + 32] - c2
        along = a2 * dx + b2 * dy + d2 * dz
        x, y, z = dx - along * a2, dy - along * b2, dz - along * d2
        u = max(abs(along) - half, ZERO)
        v = max(math.sqrt(x * x + y * y + z * z) - wide, ZERO)
        hits |= np.int32(1 << lane) if u * u + v * v < limit else NONE
    return hits


@inner_kernel
def plane_hits(row, b, point, slot, radius):
    """Height above the plane through the centre, along its z axis."""
    c0, c1, c2, a2, b2, d2, hits = row[b, 0], row[b, 1], row[b, 2], row[b, 5], row[b, 8], row[b, 11], NONE
    for lane in range(LANES):
        dx, dy, dz = point[slot, lane] - c0, point[slot, lane + 16] - c1, point[slot, lane + 32] - c2
        hits |= np.int32(1 << lane) if a2 * dx + b2 * dy + d2 * dz < radius else NONE
    return hits


@inner_kernel
def _convex_hits(row, b, point, slot, radius, face, work):
    """A sphere is clear of a convex solid if a supporting plane separates them.

    The planes include bevels of edges and corners (``world_arrays``), so that few spheres near them are refused
    although they are clear; none is passed although it touches. ``work`` takes coordinates in the solid's frame.
    """
    c0, c1, c2 = row[b, 0], row[b, 1], row[b, 2]
    a0, a1, a2, b0, b1, b2 = row[b, 3], row[b, 4], row[b, 5], row[b, 6], row[b, 7], row[b, 8]
    d0, d1, d2, size, hits = row[b, 9], row[b, 10], row[b, 11], row[b, 15], NONE
    for lane in range(LANES):
        dx, dy, dz = point[slot, lane] - c0, point[slot, lane + 16] - c1, point[slot, lane + 32] - c2
        work[lane] = a0 * dx + b0 * dy + d0 * dz
        work[lane + 16] = a1 * dx + b1 * dy + d1 * dz
        work[lane + 32] = a2 * dx + b2 * dy + d2 * dz
        work[lane + 48] = math.sqrt(dx * dx + dy * dy + dz * dz) - size
    for k in range(np.int64(row[b, 16]), np.int64(row[b, 17])):
        n0, n1, n2, offset = face[k, 0], face[k, 1], face[k, 2], face[k, 3]
        for lane in range(LANES):
            above = n0 * work[lane] + n1 * work[lane + 16] + n2 * work[lane + 32] - offset
            work[lane + 48] = max(work[lane + 48], above)
    for lane in range(LANES):
        hits |= np.int32(1 << lane) if work[lane + 48] < radius else NONE
    return hits


@inner_kernel
def _field_hits(row, b, point, slot, radius, heights):
    """A sphere touches a height field if it reaches below the highest corner of a cell under its footprint."""
    begin, rows, columns, hits = np.int64(row[b, 16]), np.int64(row[b, 17]), np.int64(row[b, 18]), NONE
    for lane in range(LANES):
        dx = point[slot, lane] - row[b, 0]
        dy = point[slot, lane + 16] - row[b, 1]
        dz = point[slot, lane + 32] - row[b, 2]
        u = row[b, 3] * dx + row[b, 6] * dy + row[b, 9] * dz
        v = row[b, 4] * dx + row[b, 7] * dy + row[b, 10] * dz
        w = row[b, 5] * dx + row[b, 8] * dy + row[b, 11] * dz
        if abs(u) > row[b, 12] + radius or abs(v) > row[b, 13] + radius:
            continue
        left = min(max(np.int64(math.floor((u - radius + row[b, 12]) / row[b, 19])), 0), columns - 1)
        right = min(max(np.int64(math.ceil((u + radius + row[b, 12]) / row[b, 19])), 0), columns - 1)
        low = min(max(np.int64(math.floor((v - radius + row[b, 13]) / row[b, 20])), 0), rows - 1)
        high = min(max(np.int64(math.ceil((v + radius + row[b, 13]) / row[b, 20])), 0), rows - 1)
        top = f4(-1e30)
        for i in range(low, high + 1):
            for j in range(left, right + 1):
                top = max(top, heights[begin + i * columns + j])
        if w - radius < top:
            hits |= np.int32(1 << lane)
    return hits


@inner_kernel
def obstacle_hits(kind, row, b, point, slot, radius, face, height, work):
    """Return the lanes, as bits, in which a sphere touches obstacle b."""
    if kind == BOX:
        return box_hits(row, b, HALF_SIDES, point, slot, radius)
    if kind == CAPSULE:
        return _capsule_hits(row, b, point, slot, radius)
    if kind == CYLINDER:
        return _cylinder_hits(row, b, point, slot, radius)
    if kind == PLANE:
        return plane_hits(row, b, point, slot, radius)
    if kind == CONVEX:
        return _convex_hits(row, b, point, slot, radius, face, work)
    return _field_hits(row, b, point, slot, radius, height)


@inner_kernel
def points_meet(point, s, t, reach):
    """Return the lanes, as bits, in which two rows of ``point`` are closer than ``reach``."""
    limit, hits = reach * reach, NONE
    for lane in range(LANES):
        dx = point[s, lane] - point[t, lane]
        dy = point[s, lane + 16] - point[t, lane + 16]
        dz = point[s, lane + 32] - point[t, lane + 32]
        hits |= np.int32(1 << lane) if dx * dx + dy * dy + dz * dz < limit else NONE
    return hits

"""Culling outlines: where the bounding box of a geom appears in an image.

An outline is the convex hull of the projected box, stored as one interval per row of tiles. No sorting or polygon
clipping is needed: every edge of the box widens the intervals of the rows it crosses. If the box reaches behind the
camera, it is cut at a plane in front of the camera, and the cut is one of its faces.
"""

import numpy as np

from handloom.kernels import picture_kernel
from handloom.render.cpu.layout import (
    G_BOX,
    G_EYE,
    G_HALF,
    G_RAY_U,
    G_RAY_V,
    G_RAY_W,
    TILE_HEIGHT,
    TILE_WIDTH,
    V_CX,
    V_CY,
    V_INV_FX,
    V_INV_FY,
)

FAR_AWAY = 1e9
CORNERS = 8
# A plane cuts at most six edges of a box.
CUTS = 6


@picture_kernel
def _box_in_view(row, points):
    """Write the corners of a placed geom's bounding box in the camera frame [m] to the first columns (3, 8)."""
    for k in range(CORNERS):
        x = row[G_BOX] + (row[G_HALF] if k & 1 else -row[G_HALF]) - row[G_EYE]
        y = row[G_BOX + 1] + (row[G_HALF + 1] if k & 2 else -row[G_HALF + 1]) - row[G_EYE + 1]
        z = row[G_BOX + 2] + (row[G_HALF + 2] if k & 4 else -row[G_HALF + 2]) - row[G_EYE + 2]
        points[0, k] = row[G_RAY_U] * x + row[G_RAY_U + 1] * y + row[G_RAY_U + 2] * z
        points[1, k] = row[G_RAY_V] * x + row[G_RAY_V + 1] * y + row[G_RAY_V + 2] * z
        points[2, k] = row[G_RAY_W] * x + row[G_RAY_W + 1] * y + row[G_RAY_W + 2] * z


@picture_kernel
def _project(points, k, view):
    """Convert a point in the camera frame to tile columns and rows, in place; its depth is kept."""
    points[0, k] = (view[V_CX] + points[0, k] / (view[V_INV_FX] * points[2, k])) / TILE_WIDTH
    points[1, k] = (view[V_CY] + points[1, k] / (view[V_INV_FY] * points[2, k])) / TILE_HEIGHT


@picture_kernel
def _widen(points, j, k, spans):
    """Widen the intervals of the rows that the edge between two projected points crosses."""
    rows = spans.shape[0]
    a, b = (j, k) if points[1, j] <= points[1, k] else (k, j)
    xa, ya = points[0, a], points[1, a]
    xb, yb = points[0, b], points[1, b]
    first = max(0, int(np.floor(min(max(ya, -1.0), rows + 1.0))))
    last = min(rows - 1, int(np.floor(min(max(yb, -1.0), rows + 1.0))))
    rise = yb - ya
    slope = (xb - xa) / rise if rise > 1e-9 else 0.0
    for r in range(first, last + 1):
        x0 = xa + (max(ya, float(r)) - ya) * slope
        x1 = xa + (min(yb, r + 1.0) - ya) * slope
        if rise <= 1e-9:
            x0, x1 = xa, xb
        spans[r, 0] = min(spans[r, 0], x0, x1)
        spans[r, 1] = max(spans[r, 1], x0, x1)


@picture_kernel
def _cut(points, near):
    """Write the points where edges of the box cross the near plane after its corners; return one past the last."""
    end = CORNERS
    for k in range(CORNERS):
        for bit in range(3):
            m = k ^ (1 << bit)
            if points[2, k] < near <= points[2, m]:
                part = (near - points[2, k]) / (points[2, m] - points[2, k])
                points[0, end] = points[0, k] + part * (points[0, m] - points[0, k])
                points[1, end] = points[1, k] + part * (points[1, m] - points[1, k])
                points[2, end] = near
                end += 1
    return end


@picture_kernel
def outline(row, view, near, points, spans):
    """Fill intervals (rows, 2) of tile columns with the outline of a geom; low exceeds high in rows without it.

    Args:
        row: Geom row, placed in the world and for the camera.
        view: Camera row.
        near: Depth of the plane in front of which nothing is rendered [m].
        points: Scratch (3, CORNERS + CUTS) float64.
        spans: The intervals, float64.
    """
    for r in range(spans.shape[0]):
        spans[r, 0] = FAR_AWAY
        spans[r, 1] = -FAR_AWAY
    _box_in_view(row, points)
    end = _cut(points, near)
    for k in range(end):
        if points[2, k] >= near:
            _project(points, k, view)
    cut = CORNERS
    for k in range(CORNERS):
        for bit in range(3):
            m = k ^ (1 << bit)
            if points[2, k] < near <= points[2, m]:
                _widen(points, cut, m, spans)
                cut += 1
            elif k < m and points[2, k] >= near and points[2, m] >= near:
                _widen(points, k, m, spans)
    for k in range(CORNERS, end):
        for m in range(CORNERS, k):
            _widen(points, k, m, spans)

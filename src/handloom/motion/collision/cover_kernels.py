"""The greedy choice of spheres that cover points, and which cells lie inside spheres."""

import numpy as np

from handloom.kernels import inner_kernel, kernel


@kernel
def greedy_choice(points, centres, radii):
    """Take the sphere that holds most of the points not yet held, until no sphere holds any.

    Args:
        points: Points to cover (n, 3).
        centres: Centres of the spheres (m, 3).
        radii: Their radii (m,); a sphere of negative radius holds nothing.

    Returns:
        The spheres taken, in order (k,), and which points no sphere holds (n,).
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
    """Add a step to the gain of every sphere that holds a point."""
    px, py, pz = point[0], point[1], point[2]
    cx, cy, cz = columns[0], columns[1], columns[2]
    for j in range(len(squared)):
        x, y, z = px - cx[j], py - cy[j], pz - cz[j]
        gain[j] += step if x * x + y * y + z * z < squared[j] else 0


@kernel
def cells_inside(cells, half, centres, radii):
    """Return for each cube (n, 3) of a half side whether its furthest corner from some centre is inside that sphere."""
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

"""Prove that spheres contain a solid, or find where they do not."""

import numpy as np

from handloom.arrays import Array
from handloom.motion.collision.cover_kernels import cells_inside
from handloom.motion.collision.shape import Shape
from handloom.motion.collision.solid_points import bounding_box, depth

OCTANTS = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)], float)


def bare_cells(shape: Shape, centres: Array, radii: Array, smallest: float) -> tuple[Array, float]:
    """Return centres (n, 3) and the half side [m] of cells that may hold a part of the solid outside the spheres.

    Space is cut into cubes, and these into eight again and again. A cube is done with when it lies inside one sphere,
    or surely outside the solid; what is left at the smallest size is returned. None means proof: spheres are convex,
    so a cube whose corners are inside one is inside as a whole, and every point of the solid lies in such a cube.

    Args:
        shape: A box, cylinder, ellipsoid or convex solid.
        centres: Centres of spheres (s, 3) [m].
        radii: Radii (s,) [m].
        smallest: Half side below which cubes are not cut [m].
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

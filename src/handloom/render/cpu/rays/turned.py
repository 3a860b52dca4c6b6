"""Surfaces of revolution about z: rays against the cones and rings swept by their outline.

A ray is moved to its point nearest the middle of the bounding box first, so that all numbers have the size of the
object and float32 is exact to micrometres even from across a room. Each piece of the outline is then one loop over the
lanes. Cost per lane and piece: one root, two divisions.
"""

import numpy as np

from handloom.kernels import picture_kernel
from handloom.render.cpu.layout import (
    BIG,
    BLUE,
    FACE,
    G_BAND_COLOR,
    G_BAND_HIGH,
    G_BAND_LOW,
    G_BOX,
    G_HULL,
    G_HULL_COUNT,
    GREEN,
    ID,
    LANES,
    NX,
    NY,
    NZ,
    ONE,
    RED,
    SPARE_A,
    SPARE_B,
    SPARE_C,
    SPARE_D,
    SPARE_E,
    SPARE_F,
    SPARE_G,
    SPARE_H,
    SPARE_I,
    START,
    TINY,
    TRIANGLE,
    ZERO,
    T,
    U,
    V,
)
from handloom.render.cpu.rays.geom_frame import eye_of, rays_of, rotation_of

# Pieces overlap by this much, so that no ray slips between two of them [m].
SEAM = np.float32(2e-7)
# Pieces with a smaller slope (rise over run) count as horizontal rings.
LEVEL = np.float32(1e-4)


@picture_kernel
def _approach(lanes, row):
    """Write every ray's point near the geom (A, B, C), direction (D, E, F), start (G), and no hit yet (H, I)."""
    ox, oy, oz = eye_of(row)
    ax, ay, az, bx, by, bz, cx, cy, cz = rays_of(row)
    mx, my, mz = row[G_BOX], row[G_BOX + 1], row[G_BOX + 2]
    for i in range(LANES):
        u = lanes[i + U]
        v = lanes[i + V]
        x = u * ax + v * bx + cx
        y = u * ay + v * by + cy
        z = u * az + v * bz + cz
        t = ((mx - ox) * x + (my - oy) * y + (mz - oz) * z) / (x * x + y * y + z * z)
        lanes[i + SPARE_A] = ox + t * x
        lanes[i + SPARE_B] = oy + t * y
        lanes[i + SPARE_C] = oz + t * z
        lanes[i + SPARE_D] = x
        lanes[i + SPARE_E] = y
        lanes[i + SPARE_F] = z
        lanes[i + SPARE_G] = t
        lanes[i + SPARE_H] = BIG
        lanes[i + SPARE_I] = -ONE


@picture_kernel
def _cast_ring(lanes, r0, z0, r1, k):
    """Hit a horizontal piece: the ring between two radii."""
    low = max(min(r0, r1) - SEAM, ZERO)
    high = max(r0, r1) + SEAM
    low *= low
    high *= high
    for i in range(LANES):
        z = lanes[i + SPARE_F]
        t = (z0 - lanes[i + SPARE_C]) / (z if z != ZERO else TINY)
        x = lanes[i + SPARE_A] + t * lanes[i + SPARE_D]
        y = lanes[i + SPARE_B] + t * lanes[i + SPARE_E]
        square = x * x + y * y
        hit = (
            (square >= low) & (square <= high) & (t + lanes[i + SPARE_G] > lanes[i + START]) & (t < lanes[i + SPARE_H])
        )
        lanes[i + SPARE_H] = t if hit else lanes[i + SPARE_H]
        lanes[i + SPARE_I] = k if hit else lanes[i + SPARE_I]


@picture_kernel
def _cast_cone(lanes, r0, z0, r1, z1, k):
    """Hit a cone or cylinder between two heights: x^2 + y^2 = (r0 + slope (z - z0))^2, both roots in stable form."""
    slope = (r1 - r0) / (z1 - z0)
    low = min(z0, z1) - SEAM
    high = max(z0, z1) + SEAM
    for i in range(LANES):
        ox = lanes[i + SPARE_A]
        oy = lanes[i + SPARE_B]
        oz = lanes[i + SPARE_C]
        x = lanes[i + SPARE_D]
        y = lanes[i + SPARE_E]
        z = lanes[i + SPARE_F]
        radius = r0 + slope * (oz - z0)
        growth = slope * z
        a = x * x + y * y - growth * growth
        b = ox * x + oy * y - radius * growth
        c = ox * ox + oy * oy - radius * radius
        square = b * b - a * c
        root = np.sqrt(max(square, ZERO))
        q = -(b + (root if b >= ZERO else -root))
        t = q / (a if a != ZERO else TINY)
        s = c / (q if q != ZERO else TINY)
        first = min(t, s)
        last = max(t, s)
        near = lanes[i + START] - lanes[i + SPARE_G]
        z_first = oz + first * z
        z_last = oz + last * z
        good = (z_first >= low) & (z_first <= high) & (first > near) & (radius + growth * first >= ZERO)
        also = (z_last >= low) & (z_last <= high) & (last > near) & (radius + growth * last >= ZERO)
        t = first if good else last
        hit = (square >= ZERO) & (good | also) & (t < lanes[i + SPARE_H])
        lanes[i + SPARE_H] = t if hit else lanes[i + SPARE_H]
        lanes[i + SPARE_I] = k if hit else lanes[i + SPARE_I]


@picture_kernel
def cast_turned(lanes, row, hulls, gid):
    """Keep the nearest hits with a surface of revolution in T, ID and TRIANGLE (the number of the piece)."""
    _approach(lanes, row)
    first = int(row[G_HULL])
    for k in range(int(row[G_HULL_COUNT])):
        r0, z0, r1, z1 = (
            hulls[first + 2 * k, 0],
            hulls[first + 2 * k, 1],
            hulls[first + 2 * k, 2],
            hulls[first + 2 * k, 3],
        )
        if abs(z1 - z0) <= LEVEL * abs(r1 - r0):
            _cast_ring(lanes, r0, z0, r1, np.float32(k))
        else:
            _cast_cone(lanes, r0, z0, r1, z1, np.float32(k))
    for i in range(LANES):
        t = lanes[i + SPARE_H] + lanes[i + SPARE_G]
        best = lanes[i + T]
        nearer = (lanes[i + SPARE_I] >= ZERO) & ((t < best) | ((t == best) & (gid < lanes[i + ID])))
        lanes[i + T] = t if nearer else best
        lanes[i + ID] = gid if nearer else lanes[i + ID]
        lanes[i + TRIANGLE] = lanes[i + SPARE_I] if nearer else lanes[i + TRIANGLE]


@picture_kernel
def orient_turned(lanes, row, hulls, gid):
    """Write face and interpolated normal from the hit point in the geom frame, in spares A, B, C.

    The face distinguishes outside from inside, so that anti-aliasing finds the edges between them.
    """
    r0, r1, r2, r3, r4, r5, r6, r7, r8 = rotation_of(row)
    start = int(row[G_HULL])
    for i in range(LANES):
        if lanes[i + ID] != gid:
            continue
        k = start + 2 * int(lanes[i + TRIANGLE])
        x, y, z = lanes[i + SPARE_A], lanes[i + SPARE_B], lanes[i + SPARE_C]
        radius = np.sqrt(x * x + y * y) + TINY
        dr, dz = hulls[k, 2] - hulls[k, 0], hulls[k, 3] - hulls[k, 1]
        share = ((radius - hulls[k, 0]) * dr + (z - hulls[k, 1]) * dz) / (dr * dr + dz * dz)
        share = min(max(share, ZERO), ONE)
        out = hulls[k + 1, 0] + share * (hulls[k + 1, 2] - hulls[k + 1, 0])
        up = hulls[k + 1, 1] + share * (hulls[k + 1, 3] - hulls[k + 1, 1])
        scale = ONE / np.sqrt(out * out + up * up + TINY)
        nx, ny, nz = out * scale * x / radius, out * scale * y / radius, up * scale
        lanes[i + FACE] = ONE if out < ZERO else ZERO
        lanes[i + NX] = r0 * nx + r1 * ny + r2 * nz
        lanes[i + NY] = r3 * nx + r4 * ny + r5 * nz
        lanes[i + NZ] = r6 * nx + r7 * ny + r8 * nz


@picture_kernel
def paint_band(lanes, row, gid):
    """Paint the band on the outside of a surface of revolution; the hit point is in spares A, B, C."""
    low, high = row[G_BAND_LOW], row[G_BAND_HIGH]
    if low >= high:
        return
    red, green, blue = row[G_BAND_COLOR], row[G_BAND_COLOR + 1], row[G_BAND_COLOR + 2]
    for i in range(LANES):
        z = lanes[i + SPARE_C]
        inside = (lanes[i + ID] == gid) & (z >= low) & (z <= high) & (lanes[i + FACE] == ZERO)
        lanes[i + RED] = red if inside else lanes[i + RED]
        lanes[i + GREEN] = green if inside else lanes[i + GREEN]
        lanes[i + BLUE] = blue if inside else lanes[i + BLUE]

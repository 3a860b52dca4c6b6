"""Soft shadows: the fraction of a lamp's disc that a geom hides from each surface point.

For the segment from the surface point (t = 0) to the lamp (t = 1), every kind of geom has a closed form for the signed
distance d between the segment and the geom's silhouette, and for the t where they are closest. As seen from the surface
point, the lamp's disc has radius ``radius * t`` there, so the hidden part is close to ``1/2 - d / (2 radius t)``:
penumbras widen with the distance of the caster, and contacts stay sharp. One evaluation replaces dozens of shadow rays.
"""

import numpy as np

from handloom.kernels import picture_kernel
from handloom.render.cpu.layout import (
    BIG,
    BOX,
    C_POS,
    CAPSULE,
    CYLINDER,
    G_HULL,
    G_HULL_COUNT,
    G_TYPE,
    HALF,
    ID,
    L_RADIUS,
    LANES,
    MESH,
    NEARNESS,
    ONE,
    PX,
    PY,
    PZ,
    SHADE,
    SPARE_A,
    SPARE_B,
    SPARE_C,
    SPARE_D,
    SPARE_E,
    SPARE_F,
    SPHERE,
    TINY,
    VECTOR,
    ZERO,
)
from handloom.render.cpu.rays.geom_frame import point_of, position_of, rotation_of, size_of

# Keeps the penumbra a tenth of a millimetre wide at contact.
CONTACT = np.float32(1e-4)


@picture_kernel(inline="always")
def _clamp01(t):
    """Return t limited to the segment."""
    return min(max(t, ZERO), ONE)


@picture_kernel(inline="always")
def _within(gap, t0, t1, along, extent):
    """Return the signed distance and its position on the segment; 1 if the solid is not between point and lamp.

    A line that hits the solid is inside it from t0 to t1. For a line that misses it, these values are useless along a
    face; the position of the solid's centre on the segment, ``along``, and half its length there, ``extent``, then
    bound the closest point.
    """
    hits = t0 <= t1
    first = t0 if hits else along - extent
    last = t1 if hits else along + extent
    t = min(max(HALF * (t0 + t1), first), last)
    return (gap if (last > ZERO) & (first < ONE) else ONE), _clamp01(t)


@picture_kernel(inline="always")
def _box_gap(ox, oy, oz, x, y, z, sx, sy, sz, nearness):
    """Return the signed distance to the nearest silhouette edge and its position, from the slabs' overlaps."""
    ix = ONE / (x + TINY)
    iy = ONE / (y + TINY)
    iz = ONE / (z + TINY)
    mx, my, mz = -ox * ix, -oy * iy, -oz * iz
    kx, ky, kz = abs(ix) * sx, abs(iy) * sy, abs(iz) * sz
    t0 = max(mx - kx, my - ky, mz - kz)
    t1 = min(mx + kx, my + ky, mz + kz)
    xx, yy, zz = ix * ix, iy * iy, iz * iz
    # The smallest of three quotients p / sqrt(a), found without roots and divisions from their signed squares.
    p, a = kx + ky - abs(mx - my), xx + yy
    q, b = kx + kz - abs(mx - mz), xx + zz
    r, c = ky + kz - abs(my - mz), yy + zz
    less = q * abs(q) * a < p * abs(p) * b
    p = q if less else p
    a = b if less else a
    less = r * abs(r) * a < p * abs(p) * c
    p = r if less else p
    a = c if less else a
    inverse = nearness * nearness
    along = -(ox * x + oy * y + oz * z) * inverse
    extent = (abs(x) * sx + abs(y) * sy + abs(z) * sz) * inverse
    return _within(-p / np.sqrt(a), t0, t1, along, extent)


@picture_kernel(inline="always")
def _cylinder_gap(ox, oy, oz, x, y, z, radius, length, nearness):
    """Return the signed distance to the silhouette (the larger of side and rim) and its position."""
    flat = np.sqrt(x * x + y * y + TINY)
    inverse = ONE / flat
    aside = abs(ox * y - oy * x) * inverse
    half = np.sqrt(max(radius * radius - aside * aside, ZERO)) * inverse
    iz = ONE / (z + TINY)
    m = -oz * iz
    k = abs(iz) * length
    middle = -(ox * x + oy * y) * inverse * inverse
    t0 = max(middle - half, m - k)
    t1 = min(middle + half, m + k)
    rim = (abs(m - middle) - half - k) * abs(z) * flat * nearness
    square = nearness * nearness
    along = -(ox * x + oy * y + oz * z) * square
    extent = (flat * radius + abs(z) * length) * square
    return _within(max(aside - radius, rim), t0, t1, along, extent)


@picture_kernel(inline="always")
def _capsule_gap(ox, oy, oz, x, y, z, radius, length, nearness):
    """Return the distance from segment to axis minus the radius, and its position; two alternating projections."""
    flat = ox * x + oy * y
    t = _clamp01(-flat / (x * x + y * y + TINY))
    end = min(max(oz + t * z, -length), length)
    t = _clamp01(-(flat + (oz - end) * z) * nearness * nearness)
    end = min(max(oz + t * z, -length), length)
    p, q, r = ox + t * x, oy + t * y, oz + t * z - end
    return np.sqrt(p * p + q * q + r * r) - radius, t


@picture_kernel(inline="always")
def _ellipsoid_gap(ox, oy, oz, x, y, z, kx, ky, kz, smallest):
    """Return the distance to the unit sphere after scaling, times the smallest radius, and its position."""
    ox, oy, oz = ox * kx, oy * ky, oz * kz
    x, y, z = x * kx, y * ky, z * kz
    t = _clamp01(-(ox * x + oy * y + oz * z) / (x * x + y * y + z * z))
    p, q, r = ox + t * x, oy + t * y, oz + t * z
    return (np.sqrt(p * p + q * q + r * r) - ONE) * smallest, t


@picture_kernel(inline="always")
def _darken(lanes, i, gap, t, radius, gid):
    """Add the hidden part; a convex geom never shades itself beyond its own horizon.

    Two adjacent pieces of one object hide complementary parts of the lamp from a point that sees their seam, so their
    sum leaks no light.
    """
    hidden = min(max(HALF - HALF * gap / (radius * t + CONTACT), ZERO), ONE)
    lanes[i + SHADE] = min(lanes[i + SHADE] + (hidden if lanes[i + ID] != gid else ZERO), ONE)


@picture_kernel
def _shade_polytope(lanes, row, caster, hulls, radius, gid):
    """Clip the segment by the half spaces; the gap is the distance to the edge of the last face entered and first left.

    If the segment passes through a thin plate, these faces are parallel and their edge is far away: everything is
    hidden.
    """
    r0, r1, r2, r3, r4, r5, r6, r7, r8 = rotation_of(row)
    wx, wy, wz = position_of(row)
    lx, ly, lz = caster[C_POS], caster[C_POS + VECTOR], caster[C_POS + 2 * VECTOR]
    first = int(row[G_HULL])
    for i in range(LANES):
        lanes[i + SPARE_A] = -BIG
        lanes[i + SPARE_B] = BIG
        lanes[i + SPARE_C] = ZERO
        lanes[i + SPARE_D] = ZERO
        lanes[i + SPARE_E] = -ONE
        lanes[i + SPARE_F] = ONE
    for k in range(int(row[G_HULL_COUNT])):
        f = first + k
        p, q, r, offset = hulls[f, 0], hulls[f, 1], hulls[f, 2], hulls[f, 3]
        lamp = p * lx + q * ly + r * lz - offset
        nx, ny, nz = r0 * p + r1 * q + r2 * r, r3 * p + r4 * q + r5 * r, r6 * p + r7 * q + r8 * r
        c = offset + nx * wx + ny * wy + nz * wz
        face = np.float32(k)
        for i in range(LANES):
            here = lanes[i + PX] * nx + lanes[i + PY] * ny + lanes[i + PZ] * nz - c
            slope = lamp - here + TINY
            t = -here / slope
            later = (slope < ZERO) & (t > lanes[i + SPARE_A])
            sooner = (slope > ZERO) & (t < lanes[i + SPARE_B])
            lanes[i + SPARE_A] = t if later else lanes[i + SPARE_A]
            lanes[i + SPARE_C] = face if later else lanes[i + SPARE_C]
            lanes[i + SPARE_E] = slope if later else lanes[i + SPARE_E]
            lanes[i + SPARE_B] = t if sooner else lanes[i + SPARE_B]
            lanes[i + SPARE_D] = face if sooner else lanes[i + SPARE_D]
            lanes[i + SPARE_F] = slope if sooner else lanes[i + SPARE_F]
    for i in range(LANES):
        enter, leave = lanes[i + SPARE_A], lanes[i + SPARE_B]
        a, b = first + int(lanes[i + SPARE_C]), first + int(lanes[i + SPARE_D])
        cosine = hulls[a, 0] * hulls[b, 0] + hulls[a, 1] * hulls[b, 1] + hulls[a, 2] * hulls[b, 2]
        s, e = lanes[i + SPARE_E], lanes[i + SPARE_F]
        apart = np.sqrt(max(s * s + e * e - (s + s) * e * cosine, TINY * TINY))
        gap = (enter - leave) * abs(s * e) / apart
        t = HALF * (enter + leave)
        between = (leave > ZERO) & (enter < ONE) if enter < leave else (t > ZERO) & (t < ONE)
        _darken(lanes, i, gap if between else BIG, _clamp01(t), radius, gid)


@picture_kernel
def _shade_box(lanes, rotation, position, lamp, size, radius, gid):
    lx, ly, lz = lamp
    sx, sy, sz = size
    for i in range(LANES):
        ox, oy, oz = point_of(lanes, i, rotation, position)
        gap, t = _box_gap(ox, oy, oz, lx - ox, ly - oy, lz - oz, sx, sy, sz, lanes[i + NEARNESS])
        _darken(lanes, i, gap, t, radius, gid)


@picture_kernel
def _shade_cylinder(lanes, rotation, position, lamp, size, radius, gid):
    lx, ly, lz = lamp
    sx, sy, _ = size
    for i in range(LANES):
        ox, oy, oz = point_of(lanes, i, rotation, position)
        gap, t = _cylinder_gap(ox, oy, oz, lx - ox, ly - oy, lz - oz, sx, sy, lanes[i + NEARNESS])
        _darken(lanes, i, gap, t, radius, gid)


@picture_kernel
def _shade_capsule(lanes, rotation, position, lamp, size, radius, gid):
    lx, ly, lz = lamp
    sx, sy, _ = size
    for i in range(LANES):
        ox, oy, oz = point_of(lanes, i, rotation, position)
        gap, t = _capsule_gap(ox, oy, oz, lx - ox, ly - oy, lz - oz, sx, sy, lanes[i + NEARNESS])
        _darken(lanes, i, gap, t, radius, gid)


@picture_kernel
def _shade_ellipsoid(lanes, rotation, position, lamp, size, radius, gid):
    lx, ly, lz = lamp
    sx, sy, sz = size
    kx, ky, kz = ONE / sx, ONE / sy, ONE / sz
    smallest = min(sx, sy, sz)
    for i in range(LANES):
        ox, oy, oz = point_of(lanes, i, rotation, position)
        gap, t = _ellipsoid_gap(ox, oy, oz, lx - ox, ly - oy, lz - oz, kx, ky, kz, smallest)
        _darken(lanes, i, gap, t, radius, gid)


@picture_kernel
def shade(lanes, row, gid, caster, hulls, light):
    """Raise SHADE for surface points from which the geom hides the light; one loop per kind, without branches.

    Args:
        lanes: Flat batch with surface points in PX, PY, PZ and NEARNESS of the light.
        row: Geom row of the caster.
        gid: Its number, as float32.
        caster: Its row of the caster table: the light in its frame.
        hulls: Half spaces (k, 4).
        light: Light row.
    """
    kind = int(row[G_TYPE])
    radius = light[L_RADIUS]
    size = size_of(row)
    rotation = rotation_of(row)
    position = position_of(row)
    lamp = (caster[C_POS], caster[C_POS + VECTOR], caster[C_POS + 2 * VECTOR])
    if kind == CYLINDER:
        _shade_cylinder(lanes, rotation, position, lamp, size, radius, gid)
    elif kind == CAPSULE:
        _shade_capsule(lanes, rotation, position, lamp, size, radius, gid)
    elif kind == BOX:
        _shade_box(lanes, rotation, position, lamp, size, radius, gid)
    elif kind == SPHERE:
        _shade_capsule(lanes, rotation, position, lamp, (size[0], ZERO, ZERO), radius, gid)
    elif kind == MESH:
        _shade_polytope(lanes, row, caster, hulls, radius, gid)
    else:
        _shade_ellipsoid(lanes, rotation, position, lamp, size, radius, gid)

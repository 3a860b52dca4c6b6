"""Visibility: the first geom hit by each ray, and its distance.

Rays start at the camera with direction ``u X + v Y + Z``, not normalised, so the ray parameter is planar depth.
A quadric is solved around the point of closest approach, ``q = o + t_m d``, and the discriminant is ``r^2 - |q|^2``:
the textbook ``h^2 - a c`` cancels in float32 as soon as the camera is a few radii away.
From outside, the entering hit counts; from inside, the leaving one, unless the geom is the camera's own housing.
"""

import numpy as np

from handloom.kernels import picture_kernel
from handloom.render.cpu.layout import (
    BIG,
    BOX,
    CAPSULE,
    CYLINDER,
    ELLIPSOID,
    G_HULL,
    G_HULL_COUNT,
    G_INSIDE,
    G_TYPE,
    ID,
    LANES,
    MESH,
    ONE,
    PLANE,
    SPARE_A,
    SPARE_B,
    SPHERE,
    START,
    TINY,
    ZERO,
    T,
    U,
    V,
)
from handloom.render.cpu.rays.geom_frame import eye_of, rays_of, size_of


@picture_kernel(inline="always")
def _keep(lanes, i, hit, enter, leave, inside, gid):
    """Keep geom ``gid`` in lane ``i`` if its hit is nearer than the present one, or as near and its number lower."""
    near = lanes[i + START]
    t = leave if (enter <= near) & inside else enter
    best = lanes[i + T]
    nearer = hit & (t > near) & ((t < best) | ((t == best) & (gid < lanes[i + ID])))
    lanes[i + T] = t if nearer else best
    lanes[i + ID] = gid if nearer else lanes[i + ID]


@picture_kernel
def _cast_box(lanes, row, inside, gid):
    """Slab method: the ray is inside while it is between all three pairs of faces."""
    sx, sy, sz = size_of(row)
    ox, oy, oz = eye_of(row)
    ax, ay, az, bx, by, bz, cx, cy, cz = rays_of(row)
    for i in range(LANES):
        u = lanes[i + U]
        v = lanes[i + V]
        ix = ONE / (u * ax + v * bx + cx + TINY)
        iy = ONE / (u * ay + v * by + cy + TINY)
        iz = ONE / (u * az + v * bz + cz + TINY)
        mx = -ox * ix
        my = -oy * iy
        mz = -oz * iz
        kx = abs(ix) * sx
        ky = abs(iy) * sy
        kz = abs(iz) * sz
        enter = max(mx - kx, my - ky, mz - kz)
        leave = min(mx + kx, my + ky, mz + kz)
        _keep(lanes, i, enter < leave, enter, leave, inside, gid)


@picture_kernel
def _cast_ellipsoid(lanes, row, inside, gid, kx, ky, kz):
    """Unit sphere after scaling the axes by (kx, ky, kz)."""
    ox, oy, oz = eye_of(row)
    ax, ay, az, bx, by, bz, cx, cy, cz = rays_of(row)
    ox *= kx
    oy *= ky
    oz *= kz
    for i in range(LANES):
        u = lanes[i + U]
        v = lanes[i + V]
        x = (u * ax + v * bx + cx) * kx
        y = (u * ay + v * by + cy) * ky
        z = (u * az + v * bz + cz) * kz
        a = ONE / (x * x + y * y + z * z)
        middle = -(ox * x + oy * y + oz * z) * a
        qx = ox + middle * x
        qy = oy + middle * y
        qz = oz + middle * z
        gap = ONE - (qx * qx + qy * qy + qz * qz)
        half = np.sqrt(max(gap, ZERO) * a)
        _keep(lanes, i, gap > ZERO, middle - half, middle + half, inside, gid)


@picture_kernel(inline="always")
def _cap_hit(ox, oy, oz, x, y, z, a, r2, sign):
    """Return whether the ray meets the end sphere at height ``oz``, and where: first hit for sign -1, last for +1."""
    ia = ONE / a
    middle = -(ox * x + oy * y + oz * z) * ia
    qx = ox + middle * x
    qy = oy + middle * y
    qz = oz + middle * z
    gap = r2 - (qx * qx + qy * qy + qz * qz)
    return gap > ZERO, middle + sign * np.sqrt(max(gap, ZERO) * ia)


@picture_kernel
def _cast_capsule(lanes, row, inside, gid):
    """Infinite cylinder first; if the ray crosses it beyond an end, the sphere of that end decides."""
    radius, length, _ = size_of(row)
    ox, oy, oz = eye_of(row)
    ax, ay, az, bx, by, bz, cx, cy, cz = rays_of(row)
    r2 = radius * radius
    for i in range(LANES):
        u = lanes[i + U]
        v = lanes[i + V]
        x = u * ax + v * bx + cx
        y = u * ay + v * by + cy
        z = u * az + v * bz + cz
        a = x * x + y * y + TINY
        ia = ONE / a
        middle = -(ox * x + oy * y) * ia
        qx = ox + middle * x
        qy = oy + middle * y
        gap = r2 - (qx * qx + qy * qy)
        half = np.sqrt(max(gap, ZERO) * ia)
        enter = middle - half
        leave = middle + half
        z0 = oz + enter * z
        z1 = oz + leave * z
        end0 = length if z0 > ZERO else -length
        end1 = length if z1 > ZERO else -length
        hit0, cap0 = _cap_hit(ox, oy, oz - end0, x, y, z, a + z * z, r2, -ONE)
        _, cap1 = _cap_hit(ox, oy, oz - end1, x, y, z, a + z * z, r2, ONE)
        side = abs(z0) <= length
        hit = (gap > ZERO) & (side | hit0)
        enter = enter if side else cap0
        leave = leave if abs(z1) <= length else cap1
        _keep(lanes, i, hit, enter, leave, inside, gid)


@picture_kernel
def _cast_cylinder(lanes, row, inside, gid):
    """Infinite cylinder, clipped by the slab between its two caps."""
    radius, length, _ = size_of(row)
    ox, oy, oz = eye_of(row)
    ax, ay, az, bx, by, bz, cx, cy, cz = rays_of(row)
    r2 = radius * radius
    for i in range(LANES):
        u = lanes[i + U]
        v = lanes[i + V]
        x = u * ax + v * bx + cx
        y = u * ay + v * by + cy
        iz = ONE / (u * az + v * bz + cz + TINY)
        ia = ONE / (x * x + y * y + TINY)
        middle = -(ox * x + oy * y) * ia
        qx = ox + middle * x
        qy = oy + middle * y
        gap = r2 - (qx * qx + qy * qy)
        half = np.sqrt(max(gap, ZERO) * ia)
        m = -oz * iz
        k = abs(iz) * length
        enter = max(middle - half, m - k)
        leave = min(middle + half, m + k)
        _keep(lanes, i, (gap > ZERO) & (enter < leave), enter, leave, inside, gid)


@picture_kernel
def _cast_plane(lanes, row, gid):
    """Rectangle visible only from its front; a size of zero means infinite."""
    sx, sy, _ = size_of(row)
    ox, oy, oz = eye_of(row)
    ax, ay, az, bx, by, bz, cx, cy, cz = rays_of(row)
    sx = sx if sx > ZERO else BIG
    sy = sy if sy > ZERO else BIG
    for i in range(LANES):
        u = lanes[i + U]
        v = lanes[i + V]
        z = u * az + v * bz + cz
        t = -oz / z
        x = ox + t * (u * ax + v * bx + cx)
        y = oy + t * (u * ay + v * by + cy)
        hit = (z < ZERO) & (abs(x) <= sx) & (abs(y) <= sy)
        _keep(lanes, i, hit, t, t, False, gid)


@picture_kernel
def _cast_polytope(lanes, row, hulls, inside, gid):
    """Intersection of half spaces n . x <= d: the last plane entered against the first plane left."""
    ox, oy, oz = eye_of(row)
    ax, ay, az, bx, by, bz, cx, cy, cz = rays_of(row)
    for i in range(LANES):
        lanes[i + SPARE_A] = -BIG
        lanes[i + SPARE_B] = BIG
    first = int(row[G_HULL])
    for f in range(first, first + int(row[G_HULL_COUNT])):
        p = hulls[f, 0]
        q = hulls[f, 1]
        r = hulls[f, 2]
        height = hulls[f, 3] - (p * ox + q * oy + r * oz)
        ku = p * ax + q * ay + r * az
        kv = p * bx + q * by + r * bz
        kw = p * cx + q * cy + r * cz
        for i in range(LANES):
            slope = lanes[i + U] * ku + lanes[i + V] * kv + kw + TINY
            t = height / slope
            enter = lanes[i + SPARE_A]
            leave = lanes[i + SPARE_B]
            lanes[i + SPARE_A] = t if (slope < ZERO) & (t > enter) else enter
            lanes[i + SPARE_B] = t if (slope > ZERO) & (t < leave) else leave
    for i in range(LANES):
        enter = lanes[i + SPARE_A]
        leave = lanes[i + SPARE_B]
        _keep(lanes, i, enter < leave, enter, leave, inside, gid)


@picture_kernel
def cast(lanes, geoms, g, hulls, layer):
    """Cast the rays against a geom that is not a triangle mesh and keep the nearest hits in T and ID.

    Args:
        lanes: Flat batch of rays, see ``layout``.
        geoms: Geom table.
        g: Row of the geom.
        hulls: Half spaces (k, 4): outward unit normal, offset.
        layer: 0, or higher behind a transparent surface, whose own inner wall must not be hit.
    """
    row = geoms[g]
    kind = int(row[G_TYPE])
    inside = layer == 0 and row[G_INSIDE] > ZERO
    gid = np.float32(g)
    if kind == BOX:
        _cast_box(lanes, row, inside, gid)
    elif kind == PLANE:
        _cast_plane(lanes, row, gid)
    elif kind == CYLINDER:
        _cast_cylinder(lanes, row, inside, gid)
    elif kind == CAPSULE:
        _cast_capsule(lanes, row, inside, gid)
    elif kind == MESH:
        _cast_polytope(lanes, row, hulls, inside, gid)
    elif kind in (SPHERE, ELLIPSOID):
        sx, sy, sz = size_of(row)
        if kind == SPHERE:
            sy = sx
            sz = sx
        _cast_ellipsoid(lanes, row, inside, gid, ONE / sx, ONE / sy, ONE / sz)

"""Kernels that send rays through convex parts and through their union.

A part is looked up as ``ConvexParts`` row k. Every function is scalar code over arrays: no allocation, IEEE arithmetic.
"""

import math

import numpy as np

from handloom.grasping.convex_parts import BOX, CAPSULE, CYLINDER, MESH
from handloom.kernels import kernel

MISS = (1.0, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
"""An empty interval: it ends before it begins."""
PARALLEL = 1e-12
"""A direction cosine below this cannot cross a plane."""


@kernel
def through_box(hx, hy, hz, ox, oy, oz, dx, dy, dz):
    """Clip a ray by three slabs; return t_in, t_out and the outward normals (3 + 3) there."""
    t_in, t_out = -np.inf, np.inf
    a_in = a_out = 0
    s_in = s_out = 1.0
    for axis in range(3):
        h, o, d = (hx, ox, dx) if axis == 0 else ((hy, oy, dy) if axis == 1 else (hz, oz, dz))
        if abs(d) < PARALLEL:
            if abs(o) > h:
                return MISS
            continue
        near, far = (-h - o) / d, (h - o) / d
        sign = 1.0
        if near > far:
            near, far = far, near
            sign = -1.0
        if near > t_in:
            t_in, a_in, s_in = near, axis, -sign
        if far < t_out:
            t_out, a_out, s_out = far, axis, sign
    if t_in > t_out:
        return MISS
    return (
        t_in,
        t_out,
        s_in if a_in == 0 else 0.0,
        s_in if a_in == 1 else 0.0,
        s_in if a_in == 2 else 0.0,
        s_out if a_out == 0 else 0.0,
        s_out if a_out == 1 else 0.0,
        s_out if a_out == 2 else 0.0,
    )


@kernel
def through_ellipsoid(sx, sy, sz, ox, oy, oz, dx, dy, dz):
    """Solve |diag(1/s) (o + t d)|^2 = 1; the normal is diag(1/s^2) x, normalised."""
    ux, uy, uz = ox / sx, oy / sy, oz / sz
    vx, vy, vz = dx / sx, dy / sy, dz / sz
    a = vx * vx + vy * vy + vz * vz
    b = ux * vx + uy * vy + uz * vz
    c = ux * ux + uy * uy + uz * uz - 1.0
    root = b * b - a * c
    if root <= 0.0:
        return MISS
    root = math.sqrt(root)
    t_in, t_out = (-b - root) / a, (-b + root) / a
    ix, iy, iz = (ux + t_in * vx) / sx, (uy + t_in * vy) / sy, (uz + t_in * vz) / sz
    jx, jy, jz = (ux + t_out * vx) / sx, (uy + t_out * vy) / sy, (uz + t_out * vz) / sz
    ni, nj = math.sqrt(ix * ix + iy * iy + iz * iz), math.sqrt(jx * jx + jy * jy + jz * jz)
    return (t_in, t_out, ix / ni, iy / ni, iz / ni, jx / nj, jy / nj, jz / nj)


@kernel
def through_cylinder(r, h, ox, oy, oz, dx, dy, dz):
    """Clip a ray by the tube x^2 + y^2 <= r^2 and by the slab |z| <= h."""
    t_in, t_out = -np.inf, np.inf
    a = dx * dx + dy * dy
    c = ox * ox + oy * oy - r * r
    if a < PARALLEL * PARALLEL:
        if c > 0.0:
            return MISS
    else:
        b = ox * dx + oy * dy
        root = b * b - a * c
        if root <= 0.0:
            return MISS
        root = math.sqrt(root)
        t_in, t_out = (-b - root) / a, (-b + root) / a
    cap_in = cap_out = False
    if abs(dz) < PARALLEL:
        if abs(oz) > h:
            return MISS
    else:
        near, far = (-h - oz) / dz, (h - oz) / dz
        if near > far:
            near, far = far, near
        if near > t_in:
            t_in, cap_in = near, True
        if far < t_out:
            t_out, cap_out = far, True
    if t_in > t_out:
        return MISS
    up = 1.0 if dz > 0.0 else -1.0
    return (
        t_in,
        t_out,
        0.0 if cap_in else (ox + t_in * dx) / r,
        0.0 if cap_in else (oy + t_in * dy) / r,
        -up if cap_in else 0.0,
        0.0 if cap_out else (ox + t_out * dx) / r,
        0.0 if cap_out else (oy + t_out * dy) / r,
        up if cap_out else 0.0,
    )


@kernel
def through_capsule(r, h, ox, oy, oz, dx, dy, dz):
    """Join the intervals of a cylinder and of its two end balls: the union is convex, so the outermost ends count."""
    best = MISS
    for piece in range(3):
        if piece == 0:
            found = through_cylinder(r, h, ox, oy, oz, dx, dy, dz)
        else:
            end = h if piece == 1 else -h
            found = through_ellipsoid(r, r, r, ox, oy, oz - end, dx, dy, dz)
        if found[0] > found[1]:
            continue
        if best[0] > best[1]:
            best = found
            continue
        if found[0] < best[0]:
            best = (found[0], best[1], found[2], found[3], found[4], best[5], best[6], best[7])
        if found[1] > best[1]:
            best = (best[0], found[1], best[2], best[3], best[4], found[5], found[6], found[7])
    return best


@kernel
def through_hull(planes, first, last, ox, oy, oz, dx, dy, dz):
    """Clip a ray by the half-spaces of a hull; cost: one dot product per plane."""
    t_in, t_out = -np.inf, np.inf
    k_in = k_out = first
    for k in range(first, last):
        toward = planes[k, 0] * dx + planes[k, 1] * dy + planes[k, 2] * dz
        gap = planes[k, 3] - (planes[k, 0] * ox + planes[k, 1] * oy + planes[k, 2] * oz)
        if abs(toward) < PARALLEL:
            if gap < 0.0:
                return MISS
            continue
        t = gap / toward
        if toward < 0.0:
            if t > t_in:
                t_in, k_in = t, k
        elif t < t_out:
            t_out, k_out = t, k
    if t_in > t_out:
        return MISS
    return (
        t_in,
        t_out,
        planes[k_in, 0],
        planes[k_in, 1],
        planes[k_in, 2],
        planes[k_out, 0],
        planes[k_out, 1],
        planes[k_out, 2],
    )


@kernel
def through_part(parts, k, o, d):
    """Return t_in, t_out and the outward normals (3 + 3) of the line o + t d through part k; t_in > t_out: a miss."""
    R, p = parts.rotation[k], parts.position[k]
    cx, cy, cz = o[0] - p[0], o[1] - p[1], o[2] - p[2]
    ox = R[0, 0] * cx + R[1, 0] * cy + R[2, 0] * cz
    oy = R[0, 1] * cx + R[1, 1] * cy + R[2, 1] * cz
    oz = R[0, 2] * cx + R[1, 2] * cy + R[2, 2] * cz
    dx = R[0, 0] * d[0] + R[1, 0] * d[1] + R[2, 0] * d[2]
    dy = R[0, 1] * d[0] + R[1, 1] * d[1] + R[2, 1] * d[2]
    dz = R[0, 2] * d[0] + R[1, 2] * d[1] + R[2, 2] * d[2]
    # The line misses the ball around the part.
    along = ox * dx + oy * dy + oz * dz
    if ox * ox + oy * oy + oz * oz - along * along > parts.radius[k] * parts.radius[k] * 1.0001:
        return MISS
    kind, s = parts.kind[k], parts.size[k]
    if kind == BOX:
        hit = through_box(s[0], s[1], s[2], ox, oy, oz, dx, dy, dz)
    elif kind == CYLINDER:
        hit = through_cylinder(s[0], s[1], ox, oy, oz, dx, dy, dz)
    elif kind == CAPSULE:
        hit = through_capsule(s[0], s[1], ox, oy, oz, dx, dy, dz)
    elif kind == MESH:
        hit = through_hull(parts.planes, parts.plane_range[k, 0], parts.plane_range[k, 1], ox, oy, oz, dx, dy, dz)
    else:
        # A ball has one radius, an ellipsoid three.
        sy, sz = (s[1], s[2]) if s[1] > 0.0 else (s[0], s[0])
        hit = through_ellipsoid(s[0], sy, sz, ox, oy, oz, dx, dy, dz)
    return (
        hit[0],
        hit[1],
        R[0, 0] * hit[2] + R[0, 1] * hit[3] + R[0, 2] * hit[4],
        R[1, 0] * hit[2] + R[1, 1] * hit[3] + R[1, 2] * hit[4],
        R[2, 0] * hit[2] + R[2, 1] * hit[3] + R[2, 2] * hit[4],
        R[0, 0] * hit[5] + R[0, 1] * hit[6] + R[0, 2] * hit[7],
        R[1, 0] * hit[5] + R[1, 1] * hit[6] + R[1, 2] * hit[7],
        R[2, 0] * hit[5] + R[2, 1] * hit[6] + R[2, 2] * hit[7],
    )


@kernel
def outer_points(parts, starts, directions, reach):
    """Find where rays first enter the union of the parts.

    Args:
        parts: The solid, as ``ConvexParts``.
        starts: (n, 3) [m].
        directions: (n, 3) unit vectors.
        reach: Longest ray [m].

    Returns:
        Points (n, 3), outward normals (n, 3), and whether each ray starts outside and hits (n,).
        Cost: one ray per part and start.
    """
    n, count = len(starts), len(parts.kind)
    points, normals, hit = np.zeros((n, 3)), np.zeros((n, 3)), np.zeros(n, np.bool_)
    for i in range(n):
        nearest, outside = reach, True
        for k in range(count):
            found = through_part(parts, k, starts[i], directions[i])
            if found[0] > found[1] or found[1] < 0.0:
                continue
            if found[0] <= 0.0:
                outside = False
                break
            if found[0] < nearest:
                nearest = found[0]
                hit[i] = True
                for axis in range(3):
                    points[i, axis] = starts[i, axis] + nearest * directions[i, axis]
                    normals[i, axis] = found[2 + axis]
        hit[i] &= outside
    return points, normals, hit


@kernel
def exits(parts, start, direction, joined, out_t, out_n, spans, order):
    """Write the exits of a ray that starts on the surface of the solid; return their number.

    Intervals of parts that overlap or lie closer than ``joined`` [m] count as one solid span.

    Args:
        parts: The solid.
        start: (3,) on the surface [m].
        direction: (3,) unit vector into the solid.
        joined: Gap that still counts as solid [m].
        out_t: (p,) distances of the exits, written.
        out_n: (p, 3) outward normals there, written.
        spans: (p, 5) scratch.
        order: (p,) scratch.
    """
    found = 0
    for k in range(len(parts.kind)):
        hit = through_part(parts, k, start, direction)
        if hit[0] > hit[1] or hit[1] <= joined:
            continue
        # Insertion sort by the start of the interval: there are a few dozen at most.
        at = found
        while at > 0 and spans[order[at - 1], 0] > hit[0]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = found
        spans[found, 0], spans[found, 1] = hit[0], hit[1]
        spans[found, 2], spans[found, 3], spans[found, 4] = hit[5], hit[6], hit[7]
        found += 1
    count = 0
    for i in range(found):
        s = spans[order[i]]
        if count > 0 and s[0] <= out_t[count - 1] + joined:
            if s[1] > out_t[count - 1]:
                out_t[count - 1] = s[1]
                out_n[count - 1] = s[2:5]
            continue
        out_t[count] = s[1]
        out_n[count] = s[2:5]
        count += 1
    return count


@kernel
def opposite_points(parts, starts, directions, joined, longest, most):
    """Follow rays through the solid and list every exit within a distance.

    A ray into a mug's wall leaves it inside the mug and again on the far side: two grasps, one on the rim and one
    around the body.

    Args:
        parts: The solid.
        starts: (n, 3) surface points [m].
        directions: (n, 3) unit vectors into the solid.
        joined: Gap that still counts as solid [m].
        longest: Longest distance to an exit [m].
        most: Exits kept per ray.

    Returns:
        Ray index (m,), distance (m,) [m] and outward normal (m, 3) of each exit. Cost: one ray per part and start.
    """
    n, count = len(starts), len(parts.kind)
    ray, distance, normal = np.zeros(n * most, np.int64), np.zeros(n * most), np.zeros((n * most, 3))
    out_t, out_n = np.zeros(count), np.zeros((count, 3))
    spans, order = np.zeros((count, 5)), np.zeros(count, np.int64)
    m = 0
    for i in range(n):
        for j in range(min(most, exits(parts, starts[i], directions[i], joined, out_t, out_n, spans, order))):
            if out_t[j] > longest:
                break
            ray[m], distance[m] = i, out_t[j]
            normal[m] = out_n[j]
            m += 1
    return ray[:m], distance[:m], normal[:m]

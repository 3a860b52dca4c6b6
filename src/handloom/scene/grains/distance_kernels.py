"""Distances of points to solids, exact and from a grid."""

import math

from handloom.kernels import inner_kernel, kernel

STEP = 1e-5
"""Step [m] for finite-difference gradients of distances to solids."""
BOX, CAPSULE, CYLINDER, PLANE, CONVEX, _, SPHERE, ELLIPSOID = range(8)
"""Kinds of solids, as ``ShapeKind`` numbers them."""
FAR = 1e9


@inner_kernel
def _corner_distance(a, b):
    """Return the signed distance to a right-angled edge from the distances to its two sides."""
    outside = math.sqrt(max(a, 0.0) ** 2 + max(b, 0.0) ** 2)
    return outside + min(max(a, b), 0.0)


@inner_kernel
def _segment_distance2(px, py, pz, a, b):
    """Return the squared distance of a point to the segment between two corners."""
    ux, uy, uz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    wx, wy, wz = px - a[0], py - a[1], pz - a[2]
    s = min(max((wx * ux + wy * uy + wz * uz) / (ux * ux + uy * uy + uz * uz), 0.0), 1.0)
    return (wx - s * ux) ** 2 + (wy - s * uy) ** 2 + (wz - s * uz) ** 2


@inner_kernel
def _triangle_distance2(px, py, pz, corners, normal):
    """Return the squared distance of a point to a triangle (3, 3) with a unit normal (4,), offset last."""
    height = px * normal[0] + py * normal[1] + pz * normal[2] - normal[3]
    inside, best = True, FAR
    for k in range(3):
        a, b = corners[k], corners[(k + 1) % 3]
        ux, uy, uz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
        wx, wy, wz = px - a[0], py - a[1], pz - a[2]
        # Beyond the side where the cross product points against the normal.
        turn = (uy * wz - uz * wy) * normal[0] + (uz * wx - ux * wz) * normal[1] + (ux * wy - uy * wx) * normal[2]
        inside = inside and turn >= 0.0
        best = min(best, _segment_distance2(px, py, pz, a, b))
    return height * height if inside else best


@inner_kernel
def solid_distance(solids, s, x, y, z, limit):  # noqa: PLR0911 - one exit per kind of solid
    """Return the signed distance [m] of a point in the body's frame to one solid; above ``limit``, a lower bound."""
    R, p = solids.R[s], solids.p[s]
    dx, dy, dz = x - p[0], y - p[1], z - p[2]
    lx = R[0, 0] * dx + R[1, 0] * dy + R[2, 0] * dz
    ly = R[0, 1] * dx + R[1, 1] * dy + R[2, 1] * dz
    lz = R[0, 2] * dx + R[1, 2] * dy + R[2, 2] * dz
    kind, size = solids.kind[s], solids.size[s]
    if kind == PLANE:
        return lz
    if kind == SPHERE:
        return math.sqrt(lx * lx + ly * ly + lz * lz) - size[0]
    if kind == BOX:
        qx, qy, qz = abs(lx) - size[0], abs(ly) - size[1], abs(lz) - size[2]
        outside = math.sqrt(max(qx, 0.0) ** 2 + max(qy, 0.0) ** 2 + max(qz, 0.0) ** 2)
        return outside + min(max(qx, qy, qz), 0.0)
    if kind == CYLINDER:
        return _corner_distance(math.hypot(lx, ly) - size[0], abs(lz) - size[1])
    if kind == CAPSULE:
        return math.sqrt(lx * lx + ly * ly + max(abs(lz) - size[1], 0.0) ** 2) - size[0]
    if kind == ELLIPSOID:
        a = math.sqrt((lx / size[0]) ** 2 + (ly / size[1]) ** 2 + (lz / size[2]) ** 2)
        b = math.sqrt((lx / size[0] ** 2) ** 2 + (ly / size[1] ** 2) ** 2 + (lz / size[2] ** 2) ** 2)
        return a * (a - 1.0) / b if b > 0.0 else -min(size[0], size[1], size[2])
    lowest = -FAR
    for k in range(solids.first[s], solids.last[s]):
        n = solids.planes[k]
        lowest = max(lowest, lx * n[0] + ly * n[1] + lz * n[2] - n[3])
    if lowest <= 0.0 or lowest > limit:
        return lowest
    best = FAR
    for k in range(solids.first[s], solids.last[s]):
        best = min(best, _triangle_distance2(lx, ly, lz, solids.corners[k], solids.planes[k]))
    return math.sqrt(best)


@kernel
def fill_grid(solids, origin, cell, limit, distance):
    """Write the distance (nx, ny, nz) [m] of every node to the nearest solid, at most ``limit``."""
    for i in range(distance.shape[0]):
        for j in range(distance.shape[1]):
            for k in range(distance.shape[2]):
                x, y, z = origin[0] + i * cell, origin[1] + j * cell, origin[2] + k * cell
                best = limit
                for s in range(len(solids.kind)):
                    best = min(best, solid_distance(solids, s, x, y, z, best))
                distance[i, j, k] = best


@inner_kernel
def grid_sample(nodes, first, count, origin, cell, x, y, z, out):
    """Write the gradient (3,) of a grid's distance at a point and return the distance [m]; FAR outside the grid."""
    nx, ny, nz = count[0], count[1], count[2]
    fx, fy, fz = (x - origin[0]) / cell, (y - origin[1]) / cell, (z - origin[2]) / cell
    if not (0.0 <= fx < nx - 1 and 0.0 <= fy < ny - 1 and 0.0 <= fz < nz - 1):
        return FAR
    i, j, k = int(fx), int(fy), int(fz)
    u, v, w = fx - i, fy - j, fz - k
    s, n, m = first + (i * ny + j) * nz + k, ny * nz, nz
    a000, a001, a010, a011 = nodes[s], nodes[s + 1], nodes[s + m], nodes[s + m + 1]
    a100, a101, a110, a111 = nodes[s + n], nodes[s + n + 1], nodes[s + n + m], nodes[s + n + m + 1]
    b00, b01 = a000 + u * (a100 - a000), a001 + u * (a101 - a001)
    b10, b11 = a010 + u * (a110 - a010), a011 + u * (a111 - a011)
    c0, c1 = b00 + v * (b10 - b00), b01 + v * (b11 - b01)
    out[0] = (1.0 - v) * ((1.0 - w) * (a100 - a000) + w * (a101 - a001)) + v * (
        (1.0 - w) * (a110 - a010) + w * (a111 - a011)
    )
    out[1] = (1.0 - w) * (b10 - b00) + w * (b11 - b01)
    out[2] = c1 - c0
    return c0 + w * (c1 - c0)


@inner_kernel
def distance(solids, first, last, x, y, z, limit):
    """Return the signed distance [m] of a point to the nearest of some solids; above ``limit``, a lower bound."""
    best = FAR
    for s in range(first, last):
        best = min(best, solid_distance(solids, s, x, y, z, min(best, limit)))
    return best


@inner_kernel
def solid_sample(solids, first, last, x, y, z, radius, out):
    """Return the distance [m] of a point to some solids; if it is less than ``radius``, write its gradient (3,)."""
    d = distance(solids, first, last, x, y, z, radius)
    if d < radius:
        out[:] = 0.0
        for k in range(6):
            axis, side = k // 2, 1.0 - 2.0 * (k % 2)
            px, py, pz = x + STEP * side * (axis == 0), y + STEP * side * (axis == 1), z + STEP * side * (axis == 2)
            out[axis] += side * distance(solids, first, last, px, py, pz, FAR)
    return d

"""Kernels that return whether two convex solids keep a distance: Gilbert, Johnson and Keerthi's algorithm.

The difference A - B of two convex sets holds the origin exactly if they meet, and the length of its point v nearest to
the origin is their distance. A simplex of support points walks towards v. Two bounds stop it early: the support plane
at w in direction v proves a distance of at least v.w / |v|, and |v| itself proves one of at most |v|. A test whether
the distance exceeds a margin > 0 therefore needs neither penetration depths nor the exact distance.
"""

import math

import numpy as np

from handloom.grasping.convex_parts import BOX, CAPSULE, CYLINDER, MESH
from handloom.kernels import kernel

STEPS = 64
"""Maximum number of steps; in practice 2 to 10 are needed. If they do not suffice, the result is a collision."""


@kernel
def local_support(parts, k, x, y, z):
    """Return the point of part k, in its own frame, that lies furthest in direction (x, y, z)."""
    kind, s = parts.kind[k], parts.size[k]
    if kind == BOX:
        return math.copysign(s[0], x), math.copysign(s[1], y), math.copysign(s[2], z)
    if kind == MESH:
        best, at = -np.inf, 0
        for i in range(parts.corner_range[k, 0], parts.corner_range[k, 1]):
            reach = parts.corners[i, 0] * x + parts.corners[i, 1] * y + parts.corners[i, 2] * z
            if reach > best:
                best, at = reach, i
        return parts.corners[at, 0], parts.corners[at, 1], parts.corners[at, 2]
    if kind == CYLINDER:
        across = math.sqrt(x * x + y * y)
        scale = s[0] / across if across > 0.0 else 0.0
        return x * scale, y * scale, math.copysign(s[1], z)
    if kind == CAPSULE:
        scale = s[0] / math.sqrt(x * x + y * y + z * z)
        return x * scale, y * scale, z * scale + math.copysign(s[1], z)
    sy, sz = (s[1], s[2]) if s[1] > 0.0 else (s[0], s[0])
    ax, ay, az = s[0] * x, sy * y, sz * z
    scale = 1.0 / math.sqrt(ax * ax + ay * ay + az * az)
    return s[0] * ax * scale, sy * ay * scale, sz * az * scale


@kernel
def support(parts, k, R, p, x, y, z):
    """Return the furthest point in direction (x, y, z) of part k placed at rotation R and position p."""
    lx = R[0, 0] * x + R[1, 0] * y + R[2, 0] * z
    ly = R[0, 1] * x + R[1, 1] * y + R[2, 1] * z
    lz = R[0, 2] * x + R[1, 2] * y + R[2, 2] * z
    a, b, c = local_support(parts, k, lx, ly, lz)
    return (
        p[0] + R[0, 0] * a + R[0, 1] * b + R[0, 2] * c,
        p[1] + R[1, 0] * a + R[1, 1] * b + R[1, 2] * c,
        p[2] + R[2, 0] * a + R[2, 1] * b + R[2, 2] * c,
    )


@kernel
def _nearest_on_segment(W, i, j):
    """Return the weight of corner j at the point of segment (i, j) nearest to the origin, and its squared length."""
    ex, ey, ez = W[j, 0] - W[i, 0], W[j, 1] - W[i, 1], W[j, 2] - W[i, 2]
    length = ex * ex + ey * ey + ez * ez
    t = 0.0 if length == 0.0 else -(W[i, 0] * ex + W[i, 1] * ey + W[i, 2] * ez) / length
    t = min(max(t, 0.0), 1.0)
    x, y, z = W[i, 0] + t * ex, W[i, 1] + t * ey, W[i, 2] + t * ez
    return t, x * x + y * y + z * z


@kernel
def _nearest_on_triangle(W, i, j, k):  # noqa: PLR0911 - seven regions, one exit each
    """Return barycentric weights (i, j, k) of the point of a triangle nearest to the origin, by Voronoi regions."""
    abx, aby, abz = W[j, 0] - W[i, 0], W[j, 1] - W[i, 1], W[j, 2] - W[i, 2]
    acx, acy, acz = W[k, 0] - W[i, 0], W[k, 1] - W[i, 1], W[k, 2] - W[i, 2]
    d1 = -(abx * W[i, 0] + aby * W[i, 1] + abz * W[i, 2])
    d2 = -(acx * W[i, 0] + acy * W[i, 1] + acz * W[i, 2])
    if d1 <= 0.0 and d2 <= 0.0:
        return 1.0, 0.0, 0.0
    d3 = -(abx * W[j, 0] + aby * W[j, 1] + abz * W[j, 2])
    d4 = -(acx * W[j, 0] + acy * W[j, 1] + acz * W[j, 2])
    if d3 >= 0.0 and d4 <= d3:
        return 0.0, 1.0, 0.0
    vc = d1 * d4 - d3 * d2
    if vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        t = d1 / (d1 - d3)
        return 1.0 - t, t, 0.0
    d5 = -(abx * W[k, 0] + aby * W[k, 1] + abz * W[k, 2])
    d6 = -(acx * W[k, 0] + acy * W[k, 1] + acz * W[k, 2])
    if d6 >= 0.0 and d5 <= d6:
        return 0.0, 0.0, 1.0
    vb = d5 * d2 - d1 * d6
    if vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        t = d2 / (d2 - d6)
        return 1.0 - t, 0.0, t
    va = d3 * d6 - d5 * d4
    if va <= 0.0 and d4 - d3 >= 0.0 and d5 - d6 >= 0.0:
        t = (d4 - d3) / ((d4 - d3) + (d5 - d6))
        return 0.0, 1.0 - t, t
    total = va + vb + vc
    if total <= 0.0:
        return 1.0, 0.0, 0.0
    return va / total, vb / total, vc / total


@kernel
def _beyond(W, i, j, k, other):
    """Return whether the origin lies on the far side of face (i, j, k) from the fourth corner, or in the face."""
    abx, aby, abz = W[j, 0] - W[i, 0], W[j, 1] - W[i, 1], W[j, 2] - W[i, 2]
    acx, acy, acz = W[k, 0] - W[i, 0], W[k, 1] - W[i, 1], W[k, 2] - W[i, 2]
    nx, ny, nz = aby * acz - abz * acy, abz * acx - abx * acz, abx * acy - aby * acx
    side = nx * (W[other, 0] - W[i, 0]) + ny * (W[other, 1] - W[i, 1]) + nz * (W[other, 2] - W[i, 2])
    origin = -(nx * W[i, 0] + ny * W[i, 1] + nz * W[i, 2])
    return side * origin <= 0.0


@kernel
def _keep(W, weight, corner, n):
    """Write the nearest point into row 4 of W, move corners of positive weight to the front; return their number."""
    x = y = z = 0.0
    kept = 0
    for i in range(n):
        if weight[i] <= 0.0:
            continue
        c = corner[i]
        x, y, z = x + weight[i] * W[c, 0], y + weight[i] * W[c, 1], z + weight[i] * W[c, 2]
        # Corners are visited in ascending order, so a kept one never overwrites one that is still needed.
        W[kept, 0], W[kept, 1], W[kept, 2] = W[c, 0], W[c, 1], W[c, 2]
        kept += 1
    W[4, 0], W[4, 1], W[4, 2] = x, y, z
    return kept


@kernel
def reduce_simplex(W, n, weight, corner):
    """Replace a simplex (rows 0 to n - 1 of W) by its smallest part that contains the point nearest to the origin.

    That point is written to row 4 of W. Returns the number of corners kept; 4 means that the origin is inside.
    """
    for i in range(4):
        corner[i] = i
    if n == 1:
        weight[0] = 1.0
        return _keep(W, weight, corner, 1)
    if n == 2:
        t, _ = _nearest_on_segment(W, 0, 1)
        weight[0], weight[1] = 1.0 - t, t
        return _keep(W, weight, corner, 2)
    if n == 3:
        weight[0], weight[1], weight[2] = _nearest_on_triangle(W, 0, 1, 2)
        return _keep(W, weight, corner, 3)
    best, bi, bj, bk = np.inf, 0, 1, 2
    ba = bb = bc = 0.0
    for face in range(4):
        i, j, k, other = (
            (0, 1, 2, 3)
            if face == 0
            else ((0, 1, 3, 2) if face == 1 else ((0, 2, 3, 1) if face == 2 else (1, 2, 3, 0)))
        )
        if not _beyond(W, i, j, k, other):
            continue
        a, b, c = _nearest_on_triangle(W, i, j, k)
        x = a * W[i, 0] + b * W[j, 0] + c * W[k, 0]
        y = a * W[i, 1] + b * W[j, 1] + c * W[k, 1]
        z = a * W[i, 2] + b * W[j, 2] + c * W[k, 2]
        if x * x + y * y + z * z < best:
            best = x * x + y * y + z * z
            bi, bj, bk, ba, bb, bc = i, j, k, a, b, c
    if best == np.inf:
        W[4] = 0.0
        return 4
    corner[0], corner[1], corner[2] = bi, bj, bk
    weight[0], weight[1], weight[2] = ba, bb, bc
    return _keep(W, weight, corner, 3)


@kernel
def keeps_distance(hand, g, R1, p1, R2, p2, solid, k, margin, W, weight, corner):
    """Return whether a swept part and a solid part are further apart than a margin.

    The swept part is the hull of part g of ``hand`` at its first and its last pose, which contains everything in
    between when it moves straight without turning.

    Args:
        hand: ``ConvexParts`` of the gripper; its own poses are not read.
        g: Part of the gripper.
        R1: First rotation (3, 3).
        p1: First position (3,) [m].
        R2: Last rotation (3, 3).
        p2: Last position (3,) [m].
        solid: ``ConvexParts`` of the object.
        k: Part of the object.
        margin: Distance to exceed [m], > 0.
        W: Scratch (5, 3): the simplex, and the point nearest to the origin.
        weight: Scratch (4,).
        corner: Scratch (4,) int64.
    """
    q, S = solid.position[k], solid.rotation[k]
    mx, my, mz = 0.5 * (p1[0] + p2[0]) - q[0], 0.5 * (p1[1] + p2[1]) - q[1], 0.5 * (p1[2] + p2[2]) - q[2]
    sx, sy, sz = 0.5 * (p2[0] - p1[0]), 0.5 * (p2[1] - p1[1]), 0.5 * (p2[2] - p1[2])
    balls = hand.radius[g] + solid.radius[k] + margin + math.sqrt(sx * sx + sy * sy + sz * sz)
    if mx * mx + my * my + mz * mz > balls * balls:
        return True
    vx, vy, vz = mx, my, mz
    if vx * vx + vy * vy + vz * vz < 1e-20:
        return False
    n = 0
    for _ in range(STEPS):
        ax, ay, az = support(hand, g, R1, p1, -vx, -vy, -vz)
        ex, ey, ez = support(hand, g, R2, p2, -vx, -vy, -vz)
        if ex * vx + ey * vy + ez * vz < ax * vx + ay * vy + az * vz:
            ax, ay, az = ex, ey, ez
        bx, by, bz = support(solid, k, S, q, vx, vy, vz)
        wx, wy, wz = ax - bx, ay - by, az - bz
        squared = vx * vx + vy * vy + vz * vz
        toward = vx * wx + vy * wy + vz * wz
        if toward > 0.0 and toward * toward > margin * margin * squared:
            return True
        if n > 0 and (squared <= margin * margin or squared - toward <= 1e-9 * squared):
            # |v| is the distance of two points of the solids: an upper bound, and the distance when no plane beats it.
            return False
        W[n, 0], W[n, 1], W[n, 2] = wx, wy, wz
        n = reduce_simplex(W, n + 1, weight, corner)
        if n == 4:
            return False
        vx, vy, vz = W[4, 0], W[4, 1], W[4, 2]
    return False

"""Contacts of grains: with each other, and with solids through distances to them."""

import math

import numpy as np

from handloom.kernels import inner_kernel, kernel

ROUNDS = 3
"""Passes over all contacts per physics step."""
VISCOSITY = 0.02
"""Share of the relative velocity of two touching grains that each pass of a physics step takes away."""
STEP = 1e-5
"""Distance [m] at which slopes of distances to solids are taken."""
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
    """Return the signed distance [m] of a point of the body's frame to one solid; above ``limit``, a lower bound."""
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
def _grid_sample(around, g, x, y, z, out):
    """Write the slope (3,) of a grid's distance at a point and return the distance itself [m]; outside it, far."""
    origin, cell, count = around.node_origin[g], around.node_cell[g], around.node_count[g]
    nx, ny, nz = count[0], count[1], count[2]
    fx, fy, fz = (x - origin[0]) / cell, (y - origin[1]) / cell, (z - origin[2]) / cell
    if not (0.0 <= fx < nx - 1 and 0.0 <= fy < ny - 1 and 0.0 <= fz < nz - 1):
        return FAR
    i, j, k = int(fx), int(fy), int(fz)
    u, v, w = fx - i, fy - j, fz - k
    nodes, s = around.nodes, around.node_first[g] + (i * ny + j) * nz + k
    n, m = ny * nz, nz
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
def _distance(solids, first, last, x, y, z, limit):
    best = FAR
    for s in range(first, last):
        best = min(best, solid_distance(solids, s, x, y, z, min(best, limit)))
    return best


@inner_kernel
def _nearest(around, b, x, y, z, radius, out):
    """Return the distance [m] of a point of a body's frame to the body; where it is small, write its unit slope."""
    if around.grid[b] >= 0:
        d = _grid_sample(around, around.grid[b], x, y, z, out)
    else:
        first, last = around.solid_first[b], around.solid_first[b + 1]
        d = _distance(around.solids, first, last, x, y, z, radius)
        if d < radius:
            out[:] = 0.0
            for k in range(6):
                axis, side = k // 2, 1.0 - 2.0 * (k % 2)
                px, py, pz = x + STEP * side * (axis == 0), y + STEP * side * (axis == 1), z + STEP * side * (axis == 2)
                out[axis] += side * _distance(around.solids, first, last, px, py, pz, FAR)
    if d < radius:
        size = math.sqrt(out[0] ** 2 + out[1] ** 2 + out[2] ** 2)
        if size == 0.0:
            return FAR
        for k in range(3):
            out[k] /= size
    return d


@inner_kernel
def _into(R, p, x, y, z, out):
    """Write a point of the world (3,) in a body's frame."""
    dx, dy, dz = x - p[0], y - p[1], z - p[2]
    for k in range(3):
        out[k] = R[0, k] * dx + R[1, k] * dy + R[2, k] * dz


@kernel
def resolve(q, v, start, order, axis, h, radius, mass, friction, around, R0, p0, R1, p1, push):
    """Move grains out of each other and out of solids; change their velocities by as much.

    Position-based dynamics: MuJoCo has moved the grains by one step as if they were alone. A few passes over all
    contacts correct their positions, and every correction divided by the step is a change of velocity. Contacts of two
    grains move both by half, so momentum is conserved; contacts with a solid push the body by the same impulse.

    Cost: about 0.1 ms for 300 grains in a heap.

    Args:
        q: Centres (n, 3) [m] after the free step; corrected in place.
        v: Velocities (n, 3) [m/s] after the free step; corrected in place.
        start: Centres (n, 3) [m] before the step.
        order: Grains (n,) sorted by their place along an axis.
        axis: That axis.
        h: Length of the step [s].
        radius: Of a grain [m].
        mass: Of a grain [kg].
        friction: Coefficient between grains and solids.
        around: The solids, a ``Surroundings``.
        R0: Rotations (b, 3, 3) of the bodies before the step; ``p0`` (b, 3) their places [m].
        p0: See ``R0``.
        R1: The same after the step.
        p1: See ``R1``.
        push: Force on each body at the origin of its frame, and torque about it (b, 6) [N, N m], written here.
    """
    n = len(q)
    free = q.copy()
    first, second = _pairs(q, order, axis, 2.2 * radius)
    grain, body, touched = _near(q, radius, around, R1, p1)
    normal = np.zeros((len(grain), 3))
    here, there, slope, out = np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3)
    push[:] = 0.0
    for _ in range(ROUNDS):
        for k in range(len(first)):
            _part(q, first[k], second[k], radius)
        for k in range(len(grain)):
            i, b = grain[k], body[k]
            _into(R1[b], p1[b], q[i, 0], q[i, 1], q[i, 2], here)
            d = _nearest(around, b, here[0], here[1], here[2], radius, slope)
            if d >= radius:
                continue
            _into(R0[b], p0[b], start[i, 0], start[i, 1], start[i, 2], there)
            depth = radius - d
            _correction(here, there, slope, depth, friction, out)
            touched[k] = True
            for a in range(3):
                normal[k, a] = R1[b, a, 0] * slope[0] + R1[b, a, 1] * slope[1] + R1[b, a, 2] * slope[2]
                move = R1[b, a, 0] * out[0] + R1[b, a, 1] * out[1] + R1[b, a, 2] * out[2]
                there[a] = -move * mass / (h * h)
                push[b, a] += there[a]
                q[i, a] += move
            rx, ry, rz = q[i, 0] - p1[b, 0], q[i, 1] - p1[b, 1], q[i, 2] - p1[b, 2]
            push[b, 3] += ry * there[2] - rz * there[1]
            push[b, 4] += rz * there[0] - rx * there[2]
            push[b, 5] += rx * there[1] - ry * there[0]
    for i in range(n):
        for a in range(3):
            v[i, a] += (q[i, a] - free[i, a]) / h
    _smooth(q, v, first, second, radius)
    for k in range(len(grain)):
        if touched[k]:
            _land(v, grain[k], normal[k], q, R0[body[k]], p0[body[k]], R1[body[k]], p1[body[k]], h, here)


@inner_kernel
def _part(q, i, j, radius):
    """Move two grains that overlap apart, each by half."""
    dx, dy, dz = q[j, 0] - q[i, 0], q[j, 1] - q[i, 1], q[j, 2] - q[i, 2]
    d2 = dx * dx + dy * dy + dz * dz
    if d2 >= 4.0 * radius * radius or d2 == 0.0:
        return
    d = math.sqrt(d2)
    s = 0.5 * (2.0 * radius - d) / d
    q[i, 0] -= s * dx
    q[i, 1] -= s * dy
    q[i, 2] -= s * dz
    q[j, 0] += s * dx
    q[j, 1] += s * dy
    q[j, 2] += s * dz


@inner_kernel
def _correction(here, there, slope, depth, friction, out):
    """Write how far a grain moves out of a solid (3,) and back along it, at most as far as friction carries [m]."""
    along = 0.0
    for k in range(3):
        along += (here[k] - there[k]) * slope[k]
    slip = 0.0
    for k in range(3):
        out[k] = here[k] - there[k] - along * slope[k]
        slip += out[k] * out[k]
    slip = math.sqrt(slip)
    back = 1.0 if slip <= friction * depth else friction * depth / slip
    for k in range(3):
        out[k] = depth * slope[k] - back * out[k]


@inner_kernel
def _smooth(q, v, first, second, radius):
    """Let touching grains drag each other along."""
    reach = (2.05 * radius) ** 2
    for k in range(len(first)):
        i, j = first[k], second[k]
        d2 = (q[j, 0] - q[i, 0]) ** 2 + (q[j, 1] - q[i, 1]) ** 2 + (q[j, 2] - q[i, 2]) ** 2
        if d2 < reach:
            for a in range(3):
                change = VISCOSITY * (v[j, a] - v[i, a])
                v[i, a] += change
                v[j, a] -= change


@inner_kernel
def _land(v, i, normal, q, R0, p0, R1, p1, h, work):
    """Take away the velocity with which a grain would bounce off a solid."""
    _into(R1, p1, q[i, 0], q[i, 1], q[i, 2], work)
    speed = 0.0
    for a in range(3):
        before = R0[a, 0] * work[0] + R0[a, 1] * work[1] + R0[a, 2] * work[2] + p0[a]
        speed += normal[a] * (v[i, a] - (q[i, a] - before) / h)
    if speed > 0.0:
        for a in range(3):
            v[i, a] -= speed * normal[a]


@kernel
def _pairs(q, order, axis, far):
    """Return the grains, first and second of each pair, nearer than ``far`` [m], from an order along an axis."""
    n = len(q)
    first, second, count = np.empty(16 * n, np.int64), np.empty(16 * n, np.int64), 0
    for s in range(n):
        i = order[s]
        for t in range(s + 1, n):
            j = order[t]
            if q[j, axis] - q[i, axis] > far:
                break
            d2 = (q[j, 0] - q[i, 0]) ** 2 + (q[j, 1] - q[i, 1]) ** 2 + (q[j, 2] - q[i, 2]) ** 2
            if d2 < far * far and count < len(first):
                first[count], second[count] = i, j
                count += 1
    return first[:count], second[:count]


@kernel
def _near(q, radius, around, R1, p1):
    """Return grain and body of every pair that may touch in this step, and room to mark those that do."""
    n, bodies = len(q), len(p1)
    grain, body, count = np.empty(n * bodies, np.int64), np.empty(n * bodies, np.int64), 0
    here, margin = np.zeros(3), 2.0 * radius
    for b in range(bodies):
        low, high = around.low[b], around.high[b]
        for i in range(n):
            _into(R1[b], p1[b], q[i, 0], q[i, 1], q[i, 2], here)
            near = True
            for a in range(3):
                near = near and low[a] - margin < here[a] < high[a] + margin
            if near and around.grid[b] < 0:
                first, last = around.solid_first[b], around.solid_first[b + 1]
                near = _distance(around.solids, first, last, here[0], here[1], here[2], margin) < margin
            if near:
                grain[count], body[count] = i, b
                count += 1
    return grain[:count], body[:count], np.zeros(count, np.bool_)

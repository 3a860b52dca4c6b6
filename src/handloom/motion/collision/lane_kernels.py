"""Sphere collision of 16 configurations side by side.

Every inner loop runs over the 16 lanes of a row of 32-bit numbers and has no branches, so that the compiler turns
it into vector instructions. Two measurements shaped it: collecting hits as bits vectorises where taking a minimum
does not (10 instead of 43 ns per test of 16 lanes), and a polynomial sine and cosine costs 3 instead of 66 ns. A
group of spheres is tested as one bounding sphere first; its spheres only follow where that one hits. Sphere centres are
placed inside each test, because recomputing them in registers (3 ns) beats storing them (29 ns).
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from handloom.kernels import kernel
from handloom.motion.collision.arrays import LANES

# Values of ``shape.ShapeKind``.
BOX, CAPSULE, CYLINDER, PLANE, CONVEX, HEIGHT_FIELD = 0, 1, 2, 3, 4, 5

f4 = np.float32
ZERO, HALF, ONE, TWO = f4(0.0), f4(0.5), f4(1.0), f4(2.0)
NONE = np.int32(0)
EVERY_LANE = np.int32((1 << LANES) - 1)
TURN, PER_TURN = f4(2.0 * math.pi), f4(0.5 / math.pi)


class LaneScratch(NamedTuple):
    """Work arrays of one thread."""

    q: NDArray[np.float32]
    """Configurations (n, 16)."""
    R: NDArray[np.float32]
    """Rotations of all links (n + 1, 9, 16); link 0 is the root."""
    p: NDArray[np.float32]
    """Positions of all links (n + 1, 3, 16)."""
    W: NDArray[np.float32]
    """Rotation before the joint moves (9, 16)."""
    local: NDArray[np.float32]
    """Work space (4, 16): sine and cosine, or coordinates in an obstacle's frame."""


@kernel
def make_lanes(n):
    """Return work arrays for n joints, with the root link at the origin."""
    R, p = np.zeros((n + 1, 9, LANES), np.float32), np.zeros((n + 1, 3, LANES), np.float32)
    for i in (0, 4, 8):
        R[0, i, :] = ONE
    return LaneScratch(
        np.zeros((n, LANES), np.float32),
        R,
        p,
        np.empty((9, LANES), np.float32),
        np.empty((4, LANES), np.float32),
    )


@kernel
def place_links(robot, lanes):  # noqa: PLR0912 - flat loops over lanes are what vectorises
    """Forward kinematics of all links at the 16 configurations in ``lanes.q``.

    Sine and cosine come from Taylor polynomials of the half angle, reduced to a quarter turn either way, and the
    double-angle formulas; their error stays below 3e-7.
    """
    R, p, W, q, local = lanes.R, lanes.p, lanes.W, lanes.q, lanes.local
    parent, F, f, prismatic = robot.parent, robot.rotation, robot.position, robot.prismatic
    for k in range(parent.shape[0]):
        up, here = parent[k], k + 1
        for i in range(3):
            for lane in range(LANES):
                p[here, i, lane] = (
                    p[up, i, lane]
                    + R[up, 3 * i, lane] * f[k, 0]
                    + R[up, 3 * i + 1, lane] * f[k, 1]
                    + R[up, 3 * i + 2, lane] * f[k, 2]
                )
            for j in range(3):
                for lane in range(LANES):
                    W[3 * i + j, lane] = (
                        R[up, 3 * i, lane] * F[k, j]
                        + R[up, 3 * i + 1, lane] * F[k, 3 + j]
                        + R[up, 3 * i + 2, lane] * F[k, 6 + j]
                    )
        if prismatic[k]:
            for i in range(9):
                for lane in range(LANES):
                    R[here, i, lane] = W[i, lane]
            for i in range(3):
                for lane in range(LANES):
                    p[here, i, lane] += W[3 * i + 2, lane] * q[k, lane]
            continue
        for lane in range(LANES):
            angle = q[k, lane] - TURN * np.rint(q[k, lane] * PER_TURN)
            h = angle * HALF
            z = h * h
            s = h * (ONE + z * (f4(-1 / 6) + z * (f4(1 / 120) + z * (f4(-1 / 5040) + z * f4(1 / 362880)))))
            c = ONE + z * (-HALF + z * (f4(1 / 24) + z * (f4(-1 / 720) + z * (f4(1 / 40320) + z * f4(-1 / 3628800)))))
            local[0, lane] = TWO * s * c
            local[1, lane] = ONE - TWO * s * s
        for i in range(3):
            for lane in range(LANES):
                R[here, 3 * i, lane] = W[3 * i, lane] * local[1, lane] + W[3 * i + 1, lane] * local[0, lane]
            for lane in range(LANES):
                R[here, 3 * i + 1, lane] = W[3 * i + 1, lane] * local[1, lane] - W[3 * i, lane] * local[0, lane]
            for lane in range(LANES):
                R[here, 3 * i + 2, lane] = W[3 * i + 2, lane]


@kernel
def _box_hits(row, b, R, p, link, centre, s, radius):
    """Squared distance to a box is the sum over its axes of the squared excess over the half side."""
    s0, s1, s2 = centre[s, 0], centre[s, 1], centre[s, 2]
    c0, c1, c2 = row[b, 0], row[b, 1], row[b, 2]
    a0, a1, a2, b0, b1, b2, d0, d1, d2 = (
        row[b, 3],
        row[b, 4],
        row[b, 5],
        row[b, 6],
        row[b, 7],
        row[b, 8],
        row[b, 9],
        row[b, 10],
        row[b, 11],
    )
    h0, h1, h2, limit, hits = row[b, 12], row[b, 13], row[b, 14], radius * radius, NONE
    for lane in range(LANES):
        dx = p[link, 0, lane] + R[link, 0, lane] * s0 + R[link, 1, lane] * s1 + R[link, 2, lane] * s2 - c0
        dy = p[link, 1, lane] + R[link, 3, lane] * s0 + R[link, 4, lane] * s1 + R[link, 5, lane] * s2 - c1
        dz = p[link, 2, lane] + R[link, 6, lane] * s0 + R[link, 7, lane] * s1 + R[link, 8, lane] * s2 - c2
        u = max(abs(a0 * dx + b0 * dy + d0 * dz) - h0, ZERO)
        v = max(abs(a1 * dx + b1 * dy + d1 * dz) - h1, ZERO)
        w = max(abs(a2 * dx + b2 * dy + d2 * dz) - h2, ZERO)
        hits |= np.int32(1 << lane) if u * u + v * v + w * w < limit else NONE
    return hits


@kernel
def _capsule_hits(row, b, R, p, link, centre, s, radius):
    """Squared distance to the segment along the capsule's z axis; a sphere is a capsule of length zero."""
    s0, s1, s2 = centre[s, 0], centre[s, 1], centre[s, 2]
    c0, c1, c2, a2, b2, d2 = row[b, 0], row[b, 1], row[b, 2], row[b, 5], row[b, 8], row[b, 11]
    half, reach, hits = row[b, 13], row[b, 12] + radius, NONE
    limit = reach * reach
    for lane in range(LANES):
        dx = p[link, 0, lane] + R[link, 0, lane] * s0 + R[link, 1, lane] * s1 + R[link, 2, lane] * s2 - c0
        dy = p[link, 1, lane] + R[link, 3, lane] * s0 + R[link, 4, lane] * s1 + R[link, 5, lane] * s2 - c1
        dz = p[link, 2, lane] + R[link, 6, lane] * s0 + R[link, 7, lane] * s1 + R[link, 8, lane] * s2 - c2
        along = min(max(a2 * dx + b2 * dy + d2 * dz, -half), half)
        u, v, w = dx - along * a2, dy - along * b2, dz - along * d2
        hits |= np.int32(1 << lane) if u * u + v * v + w * w < limit else NONE
    return hits


@kernel
def _cylinder_hits(row, b, R, p, link, centre, s, radius):
    """Excess over the half length and over the radius, combined as for a box."""
    s0, s1, s2 = centre[s, 0], centre[s, 1], centre[s, 2]
    c0, c1, c2, a2, b2, d2 = row[b, 0], row[b, 1], row[b, 2], row[b, 5], row[b, 8], row[b, 11]
    wide, half, limit, hits = row[b, 12], row[b, 13], radius * radius, NONE
    for lane in range(LANES):
        dx = p[link, 0, lane] + R[link, 0, lane] * s0 + R[link, 1, lane] * s1 + R[link, 2, lane] * s2 - c0
        dy = p[link, 1, lane] + R[link, 3, lane] * s0 + R[link, 4, lane] * s1 + R[link, 5, lane] * s2 - c1
        dz = p[link, 2, lane] + R[link, 6, lane] * s0 + R[link, 7, lane] * s1 + R[link, 8, lane] * s2 - c2
        along = a2 * dx + b2 * dy + d2 * dz
        u = max(abs(along) - half, ZERO)
        v = max(math.sqrt(max(dx * dx + dy * dy + dz * dz - along * along, ZERO)) - wide, ZERO)
        hits |= np.int32(1 << lane) if u * u + v * v < limit else NONE
    return hits


@kernel
def _plane_hits(row, b, R, p, link, centre, s, radius):
    """Height above the plane through the centre, along its z axis."""
    s0, s1, s2 = centre[s, 0], centre[s, 1], centre[s, 2]
    c0, c1, c2, a2, b2, d2, hits = row[b, 0], row[b, 1], row[b, 2], row[b, 5], row[b, 8], row[b, 11], NONE
    for lane in range(LANES):
        dx = p[link, 0, lane] + R[link, 0, lane] * s0 + R[link, 1, lane] * s1 + R[link, 2, lane] * s2 - c0
        dy = p[link, 1, lane] + R[link, 3, lane] * s0 + R[link, 4, lane] * s1 + R[link, 5, lane] * s2 - c1
        dz = p[link, 2, lane] + R[link, 6, lane] * s0 + R[link, 7, lane] * s1 + R[link, 8, lane] * s2 - c2
        hits |= np.int32(1 << lane) if a2 * dx + b2 * dy + d2 * dz < radius else NONE
    return hits


@kernel
def _convex_hits(row, b, R, p, link, centre, s, radius, face, local):
    """A sphere is clear of a convex solid if a supporting plane separates them.

    The planes include bevels of edges and corners (``world_arrays``), so that few spheres near them are refused
    although they are clear; none is passed although it touches. ``local`` (4, 16) is work space.
    """
    s0, s1, s2 = centre[s, 0], centre[s, 1], centre[s, 2]
    c0, c1, c2 = row[b, 0], row[b, 1], row[b, 2]
    a0, a1, a2, b0, b1, b2, d0, d1, d2 = (
        row[b, 3],
        row[b, 4],
        row[b, 5],
        row[b, 6],
        row[b, 7],
        row[b, 8],
        row[b, 9],
        row[b, 10],
        row[b, 11],
    )
    reach, hits = row[b, 15] + radius, NONE
    for lane in range(LANES):
        dx = p[link, 0, lane] + R[link, 0, lane] * s0 + R[link, 1, lane] * s1 + R[link, 2, lane] * s2 - c0
        dy = p[link, 1, lane] + R[link, 3, lane] * s0 + R[link, 4, lane] * s1 + R[link, 5, lane] * s2 - c1
        dz = p[link, 2, lane] + R[link, 6, lane] * s0 + R[link, 7, lane] * s1 + R[link, 8, lane] * s2 - c2
        hits |= np.int32(1 << lane) if dx * dx + dy * dy + dz * dz < reach * reach else NONE
    if hits == NONE:
        return NONE
    for lane in range(LANES):
        dx = p[link, 0, lane] + R[link, 0, lane] * s0 + R[link, 1, lane] * s1 + R[link, 2, lane] * s2 - c0
        dy = p[link, 1, lane] + R[link, 3, lane] * s0 + R[link, 4, lane] * s1 + R[link, 5, lane] * s2 - c1
        dz = p[link, 2, lane] + R[link, 6, lane] * s0 + R[link, 7, lane] * s1 + R[link, 8, lane] * s2 - c2
        local[0, lane] = a0 * dx + b0 * dy + d0 * dz
        local[1, lane] = a1 * dx + b1 * dy + d1 * dz
        local[2, lane] = a2 * dx + b2 * dy + d2 * dz
        local[3, lane] = math.sqrt(dx * dx + dy * dy + dz * dz) - row[b, 15]
    for k in range(np.int64(row[b, 16]), np.int64(row[b, 17])):
        n0, n1, n2, offset = face[k, 0], face[k, 1], face[k, 2], face[k, 3]
        for lane in range(LANES):
            local[3, lane] = max(
                local[3, lane], n0 * local[0, lane] + n1 * local[1, lane] + n2 * local[2, lane] - offset
            )
    hits = NONE
    for lane in range(LANES):
        hits |= np.int32(1 << lane) if local[3, lane] < radius else NONE
    return hits


@kernel
def _field_hits(row, b, R, p, link, centre, s, radius, heights):
    """A sphere touches a height field if it reaches below the highest corner of a cell under its footprint."""
    s0, s1, s2 = centre[s, 0], centre[s, 1], centre[s, 2]
    c0, c1, c2, begin, rows, columns = (
        row[b, 0],
        row[b, 1],
        row[b, 2],
        np.int64(row[b, 16]),
        np.int64(row[b, 17]),
        np.int64(row[b, 18]),
    )
    hits = NONE
    for lane in range(LANES):
        dx = p[link, 0, lane] + R[link, 0, lane] * s0 + R[link, 1, lane] * s1 + R[link, 2, lane] * s2 - c0
        dy = p[link, 1, lane] + R[link, 3, lane] * s0 + R[link, 4, lane] * s1 + R[link, 5, lane] * s2 - c1
        dz = p[link, 2, lane] + R[link, 6, lane] * s0 + R[link, 7, lane] * s1 + R[link, 8, lane] * s2 - c2
        u = row[b, 3] * dx + row[b, 6] * dy + row[b, 9] * dz
        v = row[b, 4] * dx + row[b, 7] * dy + row[b, 10] * dz
        w = row[b, 5] * dx + row[b, 8] * dy + row[b, 11] * dz
        if abs(u) > row[b, 12] + radius or abs(v) > row[b, 13] + radius:
            continue
        left = min(max(np.int64(math.floor((u - radius + row[b, 12]) / row[b, 19])), 0), columns - 1)
        right = min(max(np.int64(math.ceil((u + radius + row[b, 12]) / row[b, 19])), 0), columns - 1)
        low = min(max(np.int64(math.floor((v - radius + row[b, 13]) / row[b, 20])), 0), rows - 1)
        high = min(max(np.int64(math.ceil((v + radius + row[b, 13]) / row[b, 20])), 0), rows - 1)
        top = f4(-1e30)
        for i in range(low, high + 1):
            for j in range(left, right + 1):
                top = max(top, heights[begin + i * columns + j])
        if w - radius < top:
            hits |= np.int32(1 << lane)
    return hits


@kernel(inline="always")
def _obstacle_hits(kind, row, b, face, height, R, p, local, link, centre, s, radius):
    """Return the lanes, as bits, in which sphere s of a link touches obstacle b."""
    if kind == BOX:
        hits = _box_hits(row, b, R, p, link, centre, s, radius)
    elif kind == CAPSULE:
        hits = _capsule_hits(row, b, R, p, link, centre, s, radius)
    elif kind == CYLINDER:
        hits = _cylinder_hits(row, b, R, p, link, centre, s, radius)
    elif kind == PLANE:
        hits = _plane_hits(row, b, R, p, link, centre, s, radius)
    elif kind == CONVEX:
        hits = _convex_hits(row, b, R, p, link, centre, s, radius, face, local)
    else:
        hits = _field_hits(row, b, R, p, link, centre, s, radius, height)
    return hits


@kernel
def _spheres_meet(R, p, link, centre, s, other, others, t, reach):
    """Return the lanes, as bits, in which sphere s of a link is closer than ``reach`` to sphere t of another."""
    s0, s1, s2 = centre[s, 0], centre[s, 1], centre[s, 2]
    t0, t1, t2 = others[t, 0], others[t, 1], others[t, 2]
    limit, hits = reach * reach, NONE
    for lane in range(LANES):
        dx = p[link, 0, lane] + R[link, 0, lane] * s0 + R[link, 1, lane] * s1 + R[link, 2, lane] * s2
        dy = p[link, 1, lane] + R[link, 3, lane] * s0 + R[link, 4, lane] * s1 + R[link, 5, lane] * s2
        dz = p[link, 2, lane] + R[link, 6, lane] * s0 + R[link, 7, lane] * s1 + R[link, 8, lane] * s2
        dx -= p[other, 0, lane] + R[other, 0, lane] * t0 + R[other, 1, lane] * t1 + R[other, 2, lane] * t2
        dy -= p[other, 1, lane] + R[other, 3, lane] * t0 + R[other, 4, lane] * t1 + R[other, 5, lane] * t2
        dz -= p[other, 2, lane] + R[other, 6, lane] * t0 + R[other, 7, lane] * t1 + R[other, 8, lane] * t2
        hits |= np.int32(1 << lane) if dx * dx + dy * dy + dz * dz < limit else NONE
    return hits


@kernel
def _world_hits(robot, world, lanes, enough):
    """Return the lanes in which a sphere touches an obstacle; stop once a lane of ``enough`` is among them."""
    # Arrays are taken out of their tuples once: doing it per test costs more than the test.
    kinds, row, face, height, checked = world.kind, world.row, world.face, world.height, world.checked
    R, p, local, centre, radius = lanes.R, lanes.p, lanes.local, robot.centre, robot.radius
    own, bare_radius, bare_outer = world.own, robot.self_radius, robot.group_self_radius
    links, middle, outer, begin, hits = (
        robot.group_link,
        robot.group_centre,
        robot.group_radius,
        robot.group_begin,
        NONE,
    )
    for g in range(links.shape[0]):
        link = links[g]
        for b in range(kinds.shape[0]):
            if not checked[g, b]:
                continue
            kind, bare = kinds[b], own[b]
            reach = bare_outer[g] if bare else outer[g]
            if _obstacle_hits(kind, row, b, face, height, R, p, local, link, middle, g, reach) == NONE:
                continue
            for s in range(begin[g], begin[g + 1]):
                reach = bare_radius[s] if bare else radius[s]
                hits |= _obstacle_hits(kind, row, b, face, height, R, p, local, link, centre, s, reach)
                if hits & enough:
                    return hits
    return hits


@kernel
def _self_hits(robot, lanes, enough):
    """Return the lanes in which two groups that must not touch do; stop once a lane of ``enough`` is among them."""
    hits, R, p, centre, radius = NONE, lanes.R, lanes.p, robot.centre, robot.self_radius
    middle, outer = robot.group_centre, robot.group_self_radius
    for k in range(robot.pair.shape[0]):
        a, b = robot.pair[k, 0], robot.pair[k, 1]
        i, j = robot.group_link[a], robot.group_link[b]
        if _spheres_meet(R, p, i, middle, a, j, middle, b, outer[a] + outer[b]) == NONE:
            continue
        for s in range(robot.group_begin[a], robot.group_begin[a + 1]):
            if _spheres_meet(R, p, i, centre, s, j, middle, b, radius[s] + outer[b]) == NONE:
                continue
            for t in range(robot.group_begin[b], robot.group_begin[b + 1]):
                hits |= _spheres_meet(R, p, i, centre, s, j, centre, t, radius[s] + radius[t])
                if hits & enough:
                    return hits
    return hits


@kernel
def lanes_collide(robot, world, lanes, enough):
    """Return the lanes of ``lanes.q``, as bits, whose configuration collides.

    The search ends as soon as one lane of ``enough`` is known to collide: pass EVERY_LANE to learn whether any
    does, NONE to learn exactly which.
    """
    place_links(robot, lanes)
    hits = _world_hits(robot, world, lanes, enough)
    return hits if hits & enough else hits | _self_hits(robot, lanes, enough)


@kernel
def edge_is_free(a, b, per_unit, robot, world, lanes):
    """Check the straight motion from a to b (n,) at ``per_unit`` configurations per radian (or metre).

    The 16 lanes are spread over the whole edge and advance together, so a collision anywhere is found early.
    """
    n, squared = a.shape[0], 0.0
    for i in range(n):
        squared += (a[i] - b[i]) ** 2
    rounds = max(1, math.ceil(math.sqrt(squared) * per_unit / LANES))
    for k in range(rounds):
        offset = f4((rounds - k) / (rounds * LANES))
        for i in range(n):
            start, step, q = f4(a[i]), f4(b[i] - a[i]), lanes.q[i]
            for lane in range(LANES):
                q[lane] = start + step * (f4(lane) * f4(1.0 / LANES) + offset)
        if lanes_collide(robot, world, lanes, EVERY_LANE):
            return False
    return True


@kernel
def edges_free(a, b, per_unit, robot, world, free):
    """Check many straight motions a[i] to b[i] (m, n); write to ``free`` (m,)."""
    lanes = make_lanes(a.shape[1])
    for e in range(a.shape[0]):
        free[e] = edge_is_free(a[e], b[e], per_unit, robot, world, lanes)


@kernel
def configurations_free(q, robot, world, free):
    """Check configurations (m, n), 16 at a time; write to ``free`` (m,)."""
    lanes, m, n = make_lanes(q.shape[1]), q.shape[0], q.shape[1]
    for first in range(0, m, LANES):
        count = min(LANES, m - first)
        for i in range(n):
            for lane in range(LANES):
                lanes.q[i, lane] = f4(q[first + min(lane, count - 1), i])
        hits = lanes_collide(robot, world, lanes, NONE)
        for lane in range(count):
            free[first + lane] = (hits >> lane) & 1 == 0

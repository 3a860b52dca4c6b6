"""Sphere collision checks of 16 configurations in parallel lanes.

Bodies of the robot come as groups of spheres. A group is first tested as one bounding sphere; on a hit, its clusters
are tested, then their spheres. Obstacles are first tested as their bounding boxes.
"""

import math

import numpy as np

from handloom.kernels import inner_kernel, kernel
from handloom.motion.collision.collision_arrays import BARE, LANES
from handloom.motion.collision.lane_links import make_lanes, place_links, place_point

# Values of ``shape.ShapeKind``.
BOX, CAPSULE, CYLINDER, PLANE, CONVEX, HEIGHT_FIELD = 0, 1, 2, 3, 4, 5

f4 = np.float32
ZERO = f4(0.0)
NONE = np.int32(0)

HALF_SIDES, BOUND = 12, 21
"""First columns of ``WorldArrays.row`` with the half sides of a box, and of the bounding box of any obstacle."""


@inner_kernel
def box_hits(row, b, first, point, slot, radius):
    """Return the lanes in which a sphere touches a box whose half sides begin at a column of the obstacle's row.

    The squared distance to a box is the sum over its axes of the squared excess over the half side.
    """
    c0, c1, c2 = row[b, 0], row[b, 1], row[b, 2]
    a0, a1, a2, b0, b1, b2 = row[b, 3], row[b, 4], row[b, 5], row[b, 6], row[b, 7], row[b, 8]
    d0, d1, d2 = row[b, 9], row[b, 10], row[b, 11]
    h0, h1, h2, limit, hits = row[b, first], row[b, first + 1], row[b, first + 2], radius * radius, NONE
    for lane in range(LANES):
        dx, dy, dz = point[slot, lane] - c0, point[slot, lane + 16] - c1, point[slot, lane + 32] - c2
        u = max(abs(a0 * dx + b0 * dy + d0 * dz) - h0, ZERO)
        v = max(abs(a1 * dx + b1 * dy + d1 * dz) - h1, ZERO)
        w = max(abs(a2 * dx + b2 * dy + d2 * dz) - h2, ZERO)
        hits |= np.int32(1 << lane) if u * u + v * v + w * w < limit else NONE
    return hits


@inner_kernel
def _capsule_hits(row, b, point, slot, radius):
    """Squared distance to the segment along the capsule's z axis; a sphere is a capsule of length zero."""
    c0, c1, c2, a2, b2, d2 = row[b, 0], row[b, 1], row[b, 2], row[b, 5], row[b, 8], row[b, 11]
    half, reach, hits = row[b, 13], row[b, 12] + radius, NONE
    limit = reach * reach
    for lane in range(LANES):
        dx, dy, dz = point[slot, lane] - c0, point[slot, lane + 16] - c1, point[slot, lane + 32] - c2
        along = min(max(a2 * dx + b2 * dy + d2 * dz, -half), half)
        u, v, w = dx - along * a2, dy - along * b2, dz - along * d2
        hits |= np.int32(1 << lane) if u * u + v * v + w * w < limit else NONE
    return hits


@inner_kernel
def _cylinder_hits(row, b, point, slot, radius):
    """Excess over the half length and over the radius, combined as for a box."""
    c0, c1, c2, a2, b2, d2 = row[b, 0], row[b, 1], row[b, 2], row[b, 5], row[b, 8], row[b, 11]
    wide, half, limit, hits = row[b, 12], row[b, 13], radius * radius, NONE
    for lane in range(LANES):
        dx, dy, dz = point[slot, lane] - c0, point[slot, lane + 16] - c1, point[slot, lane + 32] - c2
        along = a2 * dx + b2 * dy + d2 * dz
        x, y, z = dx - along * a2, dy - along * b2, dz - along * d2
        u = max(abs(along) - half, ZERO)
        v = max(math.sqrt(x * x + y * y + z * z) - wide, ZERO)
        hits |= np.int32(1 << lane) if u * u + v * v < limit else NONE
    return hits


@inner_kernel
def plane_hits(row, b, point, slot, radius):
    """Height above the plane through the centre, along its z axis."""
    c0, c1, c2, a2, b2, d2, hits = row[b, 0], row[b, 1], row[b, 2], row[b, 5], row[b, 8], row[b, 11], NONE
    for lane in range(LANES):
        dx, dy, dz = point[slot, lane] - c0, point[slot, lane + 16] - c1, point[slot, lane + 32] - c2
        hits |= np.int32(1 << lane) if a2 * dx + b2 * dy + d2 * dz < radius else NONE
    return hits


@inner_kernel
def _convex_hits(row, b, point, slot, radius, face, work):
    """A sphere is clear of a convex solid if a supporting plane separates them.

    The planes include bevels of edges and corners (``world_arrays``), so that few spheres near them are falsely
    reported as touching; a touching sphere is always reported. ``work`` receives coordinates in the solid's frame.
    """
    c0, c1, c2 = row[b, 0], row[b, 1], row[b, 2]
    a0, a1, a2, b0, b1, b2 = row[b, 3], row[b, 4], row[b, 5], row[b, 6], row[b, 7], row[b, 8]
    d0, d1, d2, size, hits = row[b, 9], row[b, 10], row[b, 11], row[b, 15], NONE
    for lane in range(LANES):
        dx, dy, dz = point[slot, lane] - c0, point[slot, lane + 16] - c1, point[slot, lane + 32] - c2
        work[lane] = a0 * dx + b0 * dy + d0 * dz
        work[lane + 16] = a1 * dx + b1 * dy + d1 * dz
        work[lane + 32] = a2 * dx + b2 * dy + d2 * dz
        work[lane + 48] = math.sqrt(dx * dx + dy * dy + dz * dz) - size
    for k in range(np.int64(row[b, 16]), np.int64(row[b, 17])):
        n0, n1, n2, offset = face[k, 0], face[k, 1], face[k, 2], face[k, 3]
        for lane in range(LANES):
            above = n0 * work[lane] + n1 * work[lane + 16] + n2 * work[lane + 32] - offset
            work[lane + 48] = max(work[lane + 48], above)
    for lane in range(LANES):
        hits |= np.int32(1 << lane) if work[lane + 48] < radius else NONE
    return hits


@inner_kernel
def _field_hits(row, b, point, slot, radius, heights):
    """A sphere touches a height field if it reaches below the highest corner of a cell under its footprint."""
    begin, rows, columns, hits = np.int64(row[b, 16]), np.int64(row[b, 17]), np.int64(row[b, 18]), NONE
    for lane in range(LANES):
        dx = point[slot, lane] - row[b, 0]
        dy = point[slot, lane + 16] - row[b, 1]
        dz = point[slot, lane + 32] - row[b, 2]
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


@inner_kernel
def obstacle_hits(kind, row, b, point, slot, radius, face, height, work):
    """Return the lanes, as bits, in which a sphere touches obstacle b."""
    if kind == BOX:
        return box_hits(row, b, HALF_SIDES, point, slot, radius)
    if kind == CAPSULE:
        return _capsule_hits(row, b, point, slot, radius)
    if kind == CYLINDER:
        return _cylinder_hits(row, b, point, slot, radius)
    if kind == PLANE:
        return plane_hits(row, b, point, slot, radius)
    if kind == CONVEX:
        return _convex_hits(row, b, point, slot, radius, face, work)
    return _field_hits(row, b, point, slot, radius, height)


@inner_kernel
def points_meet(point, s, t, reach):
    """Return the lanes, as bits, in which two rows of ``point`` are closer than ``reach``."""
    limit, hits = reach * reach, NONE
    for lane in range(LANES):
        dx = point[s, lane] - point[t, lane]
        dy = point[s, lane + 16] - point[t, lane + 16]
        dz = point[s, lane + 32] - point[t, lane + 32]
        hits |= np.int32(1 << lane) if dx * dx + dy * dy + dz * dz < limit else NONE
    return hits


EVERY_LANE = np.int32((1 << LANES) - 1)


@inner_kernel
def lanes_collide(robot, world, lanes, enough):
    """Return the lanes of ``lanes.q``, as bits, whose configuration collides.

    The search ends as soon as one lane of ``enough`` is known to collide: pass EVERY_LANE to find out whether any does,
    NONE to find out exactly which.
    """
    place_links(robot, lanes)
    for g in range(robot.group_link.shape[0]):
        place_point(lanes.pose, robot.group_link[g], robot.group, g, lanes.point, g)
    hits = _world_hits(robot, world, lanes, enough)
    return hits if hits & enough else hits | _self_hits(robot, lanes, enough)


@inner_kernel
def _world_hits(robot, world, lanes, enough):
    """Return the lanes in which a sphere touches an obstacle; stop once a lane of ``enough`` is among them."""
    # Arrays are unpacked from their tuples once: doing so per test costs more than the test.
    kind, row, checked, group, point, hits = world.kind, world.row, world.checked, robot.group, lanes.point, NONE
    for g in range(checked.shape[0]):
        for b in range(checked.shape[1]):
            # 0: not checked; otherwise the column of the radius to use.
            column = checked[g, b]
            if column == 0:
                continue
            if _bound_hits(kind[b], row, b, point, g, group[g, column]) != NONE:
                hits |= _group_hits(robot, world, lanes, g, b, column, enough)
                if hits & enough:
                    return hits
    return hits


@inner_kernel
def _bound_hits(kind, row, b, point, slot, radius):
    """Return the lanes in which a sphere touches the bounding box of obstacle b, or b itself if it is a plane."""
    if kind == PLANE:
        return plane_hits(row, b, point, slot, radius)
    return box_hits(row, b, BOUND, point, slot, radius)


@inner_kernel
def _group_hits(robot, world, lanes, g, b, column, enough):
    """Return the lanes in which a sphere of group g touches obstacle b; radii are in a column of the sphere arrays."""
    row, face, height, kind, work = world.row, world.face, world.height, world.kind[b], lanes.work
    pose, point, link, slot = lanes.pose, lanes.point, robot.group_link[g], robot.group_link.shape[0]
    cluster, sphere, hits = robot.cluster, robot.sphere, NONE
    for c in range(robot.group_begin[g], robot.group_begin[g + 1]):
        place_point(pose, link, cluster, c, point, slot)
        if obstacle_hits(kind, row, b, point, slot, cluster[c, column], face, height, work) == NONE:
            continue
        for s in range(robot.cluster_begin[c], robot.cluster_begin[c + 1]):
            place_point(pose, link, sphere, s, point, slot)
            hits |= obstacle_hits(kind, row, b, point, slot, sphere[s, column], face, height, work)
            if hits & enough:
                return hits
    return hits


@inner_kernel
def _self_hits(robot, lanes, enough):
    """Return the lanes in which two groups touch that must not; stop once a lane of ``enough`` is among them."""
    pair, group, point, hits = robot.pair, robot.group, lanes.point, NONE
    for k in range(pair.shape[0]):
        a, b = pair[k, 0], pair[k, 1]
        if points_meet(point, a, b, group[a, BARE] + group[b, BARE]) != NONE:
            hits |= _pair_hits(robot, lanes, a, b, enough)
            if hits & enough:
                return hits
    return hits


@inner_kernel
def _pair_hits(robot, lanes, a, b, enough):
    """Return the lanes in which spheres of groups a and b touch."""
    pose, point, links, begin, first = lanes.pose, lanes.point, robot.group_link, robot.group_begin, robot.cluster_begin
    cluster, sphere, outer, i, j, hits = robot.cluster, robot.sphere, robot.group[b, BARE], links[a], links[b], NONE
    one, two, large = links.shape[0], links.shape[0] + 1, links.shape[0] + 2
    for c in range(begin[a], begin[a + 1]):
        place_point(pose, i, cluster, c, point, large)
        if points_meet(point, large, b, cluster[c, BARE] + outer) == NONE:
            continue
        for d in range(begin[b], begin[b + 1]):
            place_point(pose, j, cluster, d, point, two)
            if points_meet(point, large, two, cluster[c, BARE] + cluster[d, BARE]) == NONE:
                continue
            for s in range(first[c], first[c + 1]):
                place_point(pose, i, sphere, s, point, one)
                for t in range(first[d], first[d + 1]):
                    place_point(pose, j, sphere, t, point, two)
                    hits |= points_meet(point, one, two, sphere[s, BARE] + sphere[t, BARE])
                if hits & enough:
                    return hits
    return hits


@inner_kernel
def edge_is_free(a, b, scene, lanes):
    """Check the straight motion from a to b (n,) in a scene (``MotionScene``).

    The 16 lanes are spread over the whole edge and advance together, so that collisions anywhere are found early.
    """
    n, squared, q = a.shape[0], 0.0, lanes.q
    for i in range(n):
        squared += (a[i] - b[i]) ** 2
    rounds = max(1, math.ceil(math.sqrt(squared) * scene.per_unit / LANES))
    for k in range(rounds):
        offset = f4((rounds - k) / (rounds * LANES))
        for i in range(n):
            start, step = f4(a[i]), f4(b[i] - a[i])
            for lane in range(LANES):
                q[i, lane] = start + step * (f4(lane) * f4(1.0 / LANES) + offset)
        if lanes_collide(scene.robot, scene.world, lanes, EVERY_LANE):
            return False
    return True


@kernel
def edges_free(a, b, scene, free):
    """Check many straight motions a[i] to b[i] (m, n); write to ``free`` (m,)."""
    lanes = make_lanes(scene.robot)
    for e in range(a.shape[0]):
        free[e] = edge_is_free(a[e], b[e], scene, lanes)


@kernel
def configurations_free(q, robot, world, free):
    """Check configurations (m, n), 16 at a time; write to ``free`` (m,)."""
    lanes, m, n = make_lanes(robot), q.shape[0], q.shape[1]
    for first in range(0, m, LANES):
        count = min(LANES, m - first)
        for i in range(n):
            for lane in range(LANES):
                lanes.q[i, lane] = f4(q[first + min(lane, count - 1), i])
        hits = lanes_collide(robot, world, lanes, NONE)
        for lane in range(count):
            free[first + lane] = (hits >> lane) & 1 == 0

"""Sphere collision of 16 configurations side by side.

Bodies of the robot come as groups of spheres. A group is tested as one bounding sphere first, then its clusters,
then spheres, where these hit; obstacles are first taken as the boxes around them.
"""

import math

import numpy as np

from handloom.kernels import inner_kernel, kernel
from handloom.motion.collision.arrays import BARE, LANES
from handloom.motion.collision.lane_links import make_lanes, place_links, place_point
from handloom.motion.collision.lane_shapes import BOUND, NONE, PLANE, box_hits, obstacle_hits, plane_hits, points_meet

f4 = np.float32
EVERY_LANE = np.int32((1 << LANES) - 1)


@inner_kernel
def lanes_collide(robot, world, lanes, enough):
    """Return the lanes of ``lanes.q``, as bits, whose configuration collides.

    The search ends as soon as one lane of ``enough`` is known to collide: pass EVERY_LANE to learn whether any
    does, NONE to learn exactly which.
    """
    place_links(robot, lanes)
    for g in range(robot.group_link.shape[0]):
        place_point(lanes.pose, robot.group_link[g], robot.group, g, lanes.point, g)
    hits = _world_hits(robot, world, lanes, enough)
    return hits if hits & enough else hits | _self_hits(robot, lanes, enough)


@inner_kernel
def _world_hits(robot, world, lanes, enough):
    """Return the lanes in which a sphere touches an obstacle; stop once a lane of ``enough`` is among them."""
    # Arrays are taken out of their tuples once: doing it per test costs more than the test.
    kind, row, checked, group, point, hits = world.kind, world.row, world.checked, robot.group, lanes.point, NONE
    for g in range(checked.shape[0]):
        for b in range(checked.shape[1]):
            # 0 is not checked; else the column of the radius to use.
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
    """Return the lanes in which a sphere touches the box around obstacle b, or the plane it is."""
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
    """Return the lanes in which two groups that must not touch do; stop once a lane of ``enough`` is among them."""
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
    """Check the straight motion from a to b (n,) in a scene (``CollisionArrays``).

    The 16 lanes are spread over the whole edge and advance together, so a collision anywhere is found early.
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

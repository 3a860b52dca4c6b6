"""Shortens paths without collisions."""

import math

import numpy as np

from handloom.kernels import inner_kernel, kernel
from handloom.motion.collision.lane_kernels import edge_is_free
from handloom.motion.collision.lane_links import make_lanes
from handloom.motion.planning.trees.rrt_connect import copy_row, uniform

GREEDY_EVERY = 10
"""Random shortcuts between two greedy passes."""

GREEDY_MOST = 8
"""Length beyond which paths are only thinned at first: trying all pairs of their waypoints costs more than random
shortcuts."""


@inner_kernel
def thin(path, count, scene, lanes):
    """Drop every waypoint whose neighbours can be joined directly, in place; return the new count."""
    kept = 0
    for k in range(1, count - 1):
        if not edge_is_free(path[kept], path[k + 1], scene, lanes):
            kept += 1
            copy_row(path[k], path[kept])
    copy_row(path[count - 1], path[kept + 1])
    return kept + 2


@inner_kernel
def skip_waypoints(path, count, scene, lanes):
    """Connect each waypoint to the furthest later one reachable by a straight motion; return the new count."""
    i = 0
    while i < count - 2:
        for j in range(count - 1, i + 1, -1):
            if edge_is_free(path[i], path[j], scene, lanes):
                gap = j - i - 1
                for k in range(j, count):
                    copy_row(path[k], path[k - gap])
                count -= gap
                break
        i += 1
    return count


@inner_kernel
def arc_lengths(path, count, lengths):
    """Write the distance along the path to each waypoint."""
    lengths[0] = 0.0
    for k in range(1, count):
        squared = 0.0
        for i in range(path.shape[1]):
            squared += (path[k, i] - path[k - 1, i]) ** 2
        lengths[k] = lengths[k - 1] + math.sqrt(squared)


@inner_kernel
def place_at(path, lengths, count, distance, q):
    """Write the point of the path at a distance along it; return the waypoint before it."""
    i = 0
    while i < count - 2 and lengths[i + 1] < distance:
        i += 1
    fraction = (distance - lengths[i]) / max(lengths[i + 1] - lengths[i], 1e-12)
    for k in range(q.shape[0]):
        q[k] = path[i, k] + fraction * (path[i + 1, k] - path[i, k])
    return i


@kernel
def shorten(path, count, scene, attempts, seed):
    """Shorten a path (most, n) in place by straight motions between random points on it.

    Greedy passes in between remove waypoints that are no longer needed. About 10 us per attempt among
    ten obstacles.

    Returns:
        The new number of waypoints.
    """
    n, state, lanes = path.shape[1], np.array([np.uint64(seed)]), make_lanes(scene.robot)
    lengths, a, b = np.empty(path.shape[0]), np.empty(n), np.empty(n)
    for attempt in range(attempts):
        if attempt % GREEDY_EVERY == 0:
            if count > GREEDY_MOST:
                count = thin(path, count, scene, lanes)
            else:
                count = skip_waypoints(path, count, scene, lanes)
        if count < 3:
            break
        arc_lengths(path, count, lengths)
        total = lengths[count - 1]
        s, t = uniform(state) * total, uniform(state) * total
        i, j = place_at(path, lengths, count, min(s, t), a), place_at(path, lengths, count, max(s, t), b)
        shift = i + 2 - j
        if i == j or count + shift > path.shape[0]:
            continue
        if edge_is_free(a, b, scene, lanes):
            # New order: ..., i, a, b, j + 1, ...
            _move_tail(path, count, j + 1, shift)
            copy_row(a, path[i + 1])
            copy_row(b, path[i + 2])
            count += shift
    return skip_waypoints(path, count, scene, lanes)


@inner_kernel
def _move_tail(path, count, first, shift):
    """Shift the rows from ``first`` on by ``shift``."""
    if shift < 0:
        for k in range(first, count):
            copy_row(path[k], path[k + shift])
    elif shift > 0:
        for k in range(count - 1, first - 1, -1):
            copy_row(path[k], path[k + shift])

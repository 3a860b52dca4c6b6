"""RRT-Connect: two trees, one from the start and one from all goals, that grow towards each other."""

import math

import numpy as np

from handloom.kernels import inner_kernel, kernel
from handloom.motion.collision.lane_kernels import edge_is_free
from handloom.motion.collision.lane_links import make_lanes

# SplitMix64 (Steele, Lea, Flood 2014): the golden ratio as increment, then two mixing multiplications.
INCREMENT = np.uint64(0x9E3779B97F4A7C15)
MIX_1, MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
S27, S30, S31, S11 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(11)
PER_BIT = 2.0**-53


@inner_kernel
def uniform(state):
    """Return the next number in [0, 1); ``state`` (1,) of 64-bit unsigned integers is advanced."""
    state[0] += INCREMENT
    x = state[0]
    x = (x ^ (x >> S30)) * MIX_1
    x = (x ^ (x >> S27)) * MIX_2
    x ^= x >> S31
    return float(x >> S11) * PER_BIT


@inner_kernel
def copy_row(source, target):
    """Copy a configuration; an assignment of whole rows takes longer to run and much longer to compile."""
    for i in range(source.shape[0]):
        target[i] = source[i]


@inner_kernel
def nearest(nodes, count, q):
    """Return the index of the node closest to q among the first ``count`` rows, and its distance."""
    best, index = math.inf, 0
    for k in range(count):
        squared = 0.0
        for i in range(q.shape[0]):
            squared += (nodes[k, i] - q[i]) ** 2
            if squared >= best:
                break
        if squared < best:
            best, index = squared, k
    return index, math.sqrt(best)


@inner_kernel
def toward(a, b, distance, step, out):
    """Write the point at most ``step`` from a on the way to b, ``distance`` away; return whether it is b."""
    if distance <= step:
        copy_row(b, out)
        return True
    for i in range(a.shape[0]):
        out[i] = a[i] + step / distance * (b[i] - a[i])
    return False


@inner_kernel
def connect(nodes, parents, count, target, step, per_unit, robot, world, lanes, q):
    """Grow a tree from its nearest node straight to a target, step by step, until it collides or arrives.

    Returns:
        The new number of nodes, the last node reached, and whether the target was reached.
    """
    here, distance = nearest(nodes, count, target)
    while count < nodes.shape[0]:
        if distance < 1e-9:
            return count, here, True
        arrived = toward(nodes[here], target, distance, step, q)
        if not edge_is_free(nodes[here], q, per_unit, robot, world, lanes):
            return count, here, False
        copy_row(q, nodes[count])
        parents[count] = here
        here, count = count, count + 1
        if arrived:
            return count, here, True
        distance -= step
    return count, here, False


@inner_kernel
def trace(nodes, parents, node, out, begin, forwards):
    """Write the branch of a node to ``out`` from row ``begin``: root first or node first; return its length."""
    length, k = 0, node
    while k >= 0:
        length, k = length + 1, parents[k]
    k = node
    for i in range(length):
        copy_row(nodes[k], out[begin + (length - 1 - i if forwards else i)])
        k = parents[k]
    return length


@kernel
def rrt_connect(start, goals, lower, upper, step, per_unit, iterations, seed, robot, world, path):
    """Find a collision-free path of straight motions from the start to any of the goals.

    Each iteration draws a sample, extends the smaller tree by one step towards it, and lets the other tree connect to
    the new node. The first sample is the other tree's root, so that free straight motions are found at once.
    Nearest nodes are searched linearly: trees rarely exceed a few hundred nodes.

    Args:
        start: Start configuration (n,).
        goals: Goal configurations (g, n).
        lower: Lower end of the sampling box (n,).
        upper: Upper end of the sampling box (n,).
        step: Longest edge of the trees [rad or m].
        per_unit: Configurations checked per radian or metre.
        iterations: Samples drawn before giving up.
        seed: Seed of the samples.
        robot: ``RobotArrays``.
        world: ``WorldArrays``.
        path: Receives waypoints (most, n); its length also bounds the trees.

    Returns:
        Number of waypoints, 0 when no path was found; iterations used; index of the goal that was reached.
    """
    n, most = start.shape[0], path.shape[0] // 2
    nodes, parents = np.empty((2, most, n)), np.empty((2, most), np.int64)
    count, state, lanes = np.ones(2, np.int64), np.array([np.uint64(seed)]), make_lanes(robot)
    sample, q = np.empty(n), np.empty(n)
    copy_row(start, nodes[0, 0])
    parents[0, 0] = -1
    roots = min(goals.shape[0], most)
    for g in range(roots):
        copy_row(goals[g], nodes[1, g])
        parents[1, g] = -1
    count[1] = roots
    grow = 0
    for iteration in range(iterations):
        other = 1 - grow
        if iteration < roots:
            # Straight to each goal first.
            grow, other = 0, 1
            copy_row(goals[iteration], sample)
        else:
            for i in range(n):
                sample[i] = lower[i] + (upper[i] - lower[i]) * uniform(state)
        near, distance = nearest(nodes[grow], count[grow], sample)
        toward(nodes[grow, near], sample, distance, step, q)
        if count[grow] < most and edge_is_free(nodes[grow, near], q, per_unit, robot, world, lanes):
            fresh = count[grow]
            copy_row(q, nodes[grow, fresh])
            parents[grow, fresh] = near
            count[grow] += 1
            copy_row(q, sample)
            count[other], last, joined = connect(
                nodes[other], parents[other], count[other], sample, step, per_unit, robot, world, lanes, q
            )
            if joined:
                first_half = fresh if grow == 0 else last
                second_half = last if grow == 0 else fresh
                length = trace(nodes[0], parents[0], first_half, path, 0, True)
                # Both halves end in the same configuration; the second copy is overwritten.
                length += trace(nodes[1], parents[1], second_half, path, length - 1, False) - 1
                return length, iteration + 1, _root(parents[1], second_half)
        if count[0] >= most or count[1] >= most:
            return 0, iteration + 1, -1
        grow = (0 if count[0] + roots < count[1] + 1 else 1) if count[0] + roots != count[1] + 1 else iteration & 1
    return 0, iterations, -1


@inner_kernel
def _root(parents, node):
    """Return the root that a node descends from."""
    while parents[node] >= 0:
        node = parents[node]
    return node

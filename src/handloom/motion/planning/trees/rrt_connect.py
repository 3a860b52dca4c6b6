"""RRT-Connect: two trees, one from the start and one from all goals, that grow towards each other."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
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
    """Copy a configuration; assigning whole rows takes longer to run and much longer to compile."""
    for i in range(source.shape[0]):
        target[i] = source[i]


class Tree(NamedTuple):
    """A search tree with room for more nodes."""

    nodes: Array
    """Configurations (most, n)."""
    parents: NDArray[np.int64]
    """Parent of each node (most,); -1 at a root."""


class Budget(NamedTuple):
    """Sampling box and budget of a search."""

    lower: Array
    """Lower limits of the sampling box (n,)."""
    upper: Array
    """Upper limits of the sampling box (n,)."""
    step: float
    """Longest edge of a tree [rad or m]."""
    iterations: int
    """Samples drawn before giving up."""
    seed: int
    """Seed of the samples."""


@inner_kernel
def add_node(tree, count, q, parent):
    """Write a configuration (n,) to row ``count`` of a tree."""
    copy_row(q, tree.nodes[count])
    tree.parents[count] = parent


@inner_kernel
def draw(budget, state, q):
    """Write a uniform sample of the sampling box to q (n,)."""
    lower, upper = budget.lower, budget.upper
    for i in range(q.shape[0]):
        q[i] = lower[i] + (upper[i] - lower[i]) * uniform(state)


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
    """Write the point at most ``step`` from a towards b, which is ``distance`` away; return whether it is b."""
    if distance <= step:
        copy_row(b, out)
        return True
    for i in range(a.shape[0]):
        out[i] = a[i] + step / distance * (b[i] - a[i])
    return False


@inner_kernel
def connect(tree, count, target, step, scene, lanes, q):
    """Grow a tree from its nearest node straight to a target, step by step, until it collides or arrives.

    Returns:
        The new number of nodes, the last node reached, and whether the target was reached.
    """
    nodes = tree.nodes
    here, distance = nearest(nodes, count, target)
    while count < nodes.shape[0]:
        if distance < 1e-9:
            return count, here, True
        arrived = toward(nodes[here], target, distance, step, q)
        if not edge_is_free(nodes[here], q, scene, lanes):
            return count, here, False
        add_node(tree, count, q, here)
        here, count = count, count + 1
        if arrived:
            return count, here, True
        distance -= step
    return count, here, False


@inner_kernel
def trace(tree, node, out, begin, forwards):
    """Write the branch of a node to ``out`` from row ``begin``: root first or node first; return its length."""
    length, k, parents = 0, node, tree.parents
    while k >= 0:
        length, k = length + 1, parents[k]
    k = node
    for i in range(length):
        copy_row(tree.nodes[k], out[begin + (length - 1 - i if forwards else i)])
        k = parents[k]
    return length


@kernel
def plant(start, goals, most):
    """Return two trees of at most ``most`` nodes, rooted at the start (n,) and at the goals (g, n), and their sizes."""
    n = start.shape[0]
    nodes, parents, count = np.empty((2, most, n)), np.empty((2, most), np.int64), np.ones(2, np.int64)
    copy_row(start, nodes[0, 0])
    parents[0, 0] = -1
    count[1] = min(goals.shape[0], most)
    for g in range(count[1]):
        copy_row(goals[g], nodes[1, g])
        parents[1, g] = -1
    return (Tree(nodes[0], parents[0]), Tree(nodes[1], parents[1])), count


@inner_kernel
def join_branches(trees, first, second, path):
    """Write the path through the joined nodes of both trees; return its length and the goal it leads to."""
    length = trace(trees[0], first, path, 0, True)
    # Both halves end in the same configuration; the second copy is overwritten.
    length += trace(trees[1], second, path, length - 1, False) - 1
    while trees[1].parents[second] >= 0:
        second = trees[1].parents[second]
    return length, second


@kernel
def rrt_connect(start, goals, scene, budget, path):
    """Find a collision-free path of straight motions from the start to any of the goals.

    Each iteration draws a sample, extends the smaller tree by one step towards it, and lets the other tree connect to
    the new node. The first sample is the other tree's root, so that free straight motions are found immediately.
    Nearest nodes are searched linearly: trees rarely exceed a few hundred nodes.

    Args:
        start: Start configuration (n,).
        goals: Goal configurations (g, n).
        scene: ``MotionScene``.
        budget: ``Budget``.
        path: Receives waypoints (most, n); its length also bounds the trees.

    Returns:
        Number of waypoints, 0 when no path was found; iterations used; index of the goal that was reached.
    """
    n, most = start.shape[0], path.shape[0] // 2
    trees, count = plant(start, goals, most)
    state, lanes, step = np.array([np.uint64(budget.seed)]), make_lanes(scene.robot), budget.step
    sample, q, roots, grow = np.empty(n), np.empty(n), count[1], 0
    for iteration in range(budget.iterations):
        if iteration < roots:
            # Straight to each goal first.
            grow = 0
            copy_row(goals[iteration], sample)
        else:
            draw(budget, state, sample)
        other, tree = 1 - grow, trees[grow]
        near, distance = nearest(tree.nodes, count[grow], sample)
        toward(tree.nodes[near], sample, distance, step, q)
        if count[grow] < most and edge_is_free(tree.nodes[near], q, scene, lanes):
            fresh = count[grow]
            add_node(tree, fresh, q, near)
            count[grow] += 1
            copy_row(q, sample)
            count[other], last, joined = connect(trees[other], count[other], sample, step, scene, lanes, q)
            if joined:
                first, second = (fresh, last) if grow == 0 else (last, fresh)
                length, goal = join_branches(trees, first, second, path)
                return length, iteration + 1, goal
        if count[0] >= most or count[1] >= most:
            return 0, iteration + 1, -1
        grow = (0 if count[0] + roots < count[1] + 1 else 1) if count[0] + roots != count[1] + 1 else iteration & 1
    return 0, budget.iterations, -1

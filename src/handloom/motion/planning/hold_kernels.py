"""RRT-Connect on the configurations that keep a hold.

Every step towards a target is short and followed by a projection back onto the hold, the descent that inverse
kinematics uses. Trees therefore consist of short edges whose straight motions leave the hold by a negligible amount.
"""

import math
from typing import NamedTuple

import numpy as np

from handloom.arrays import Array
from handloom.kernels import inner_kernel, kernel
from handloom.motion.collision.lane_kernels import edge_is_free
from handloom.motion.collision.lane_links import LaneScratch, make_lanes
from handloom.motion.kinematics.chain import ChainArrays
from handloom.motion.kinematics.ik_kernels import IkProblem, IkScratch, descend, make_scratch
from handloom.motion.planning.rrt_connect import Tree, add_node, copy_row, draw, join_branches, nearest, plant, uniform

HOLD_STEP = 0.08
"""Length of a step before it is projected [rad or m]."""


@inner_kernel
def distance(a, b):
    """Return the distance of two configurations."""
    squared = 0.0
    for i in range(a.shape[0]):
        squared += (a[i] - b[i]) ** 2
    return math.sqrt(squared)


class HeldArm(NamedTuple):
    """An arm and what it must hold."""

    chain: ChainArrays
    problem: IkProblem
    """The projection onto the hold."""
    R: Array
    """A rotation of the tool (3, 3) that keeps the hold."""


class HoldScratch(NamedTuple):
    """Work arrays of one search."""

    lanes: LaneScratch
    ik: IkScratch
    q: Array


@inner_kernel
def march(tree, count, here, target, arm, scene, work, most_steps):
    """Grow a tree from node ``here`` towards a target in projected steps, until blocked, arrived or tired.

    Returns:
        The new number of nodes, the last node reached, and whether the target was reached.
    """
    nodes, q, w, problem = tree.nodes, work.q, work.ik, arm.problem
    left = distance(nodes[here], target)
    for _ in range(most_steps):
        if left < 1e-9:
            return count, here, True
        if count >= nodes.shape[0]:
            break
        step = min(1.0, HOLD_STEP / left)
        for i in range(target.shape[0]):
            q[i] = nodes[here, i] + step * (target[i] - nodes[here, i])
        if step < 1.0:
            # A hold leaves the position free: any point will do as its goal.
            _, tilt = descend(arm.chain, problem, arm.R, w.p, q, w)
            if tilt > problem.rotation_tolerance:
                break
        remaining = distance(q, target)
        # A projection that moves away from the target, or far sideways, leads nowhere.
        if remaining > left - 0.1 * HOLD_STEP or distance(q, nodes[here]) > 3.0 * HOLD_STEP:
            break
        if not edge_is_free(nodes[here], q, scene, work.lanes):
            break
        add_node(tree, count, q, here)
        here, count, left = count, count + 1, remaining
    return count, here, left < 1e-9


@kernel
def hold_rrt_connect(start, goals, arm, scene, budget, path):
    """Find a path from the start to any of the goals along configurations that keep a hold.

    Arguments as in ``rrt_connect``; ``arm`` is a ``HeldArm``, and ``budget.step`` bounds how far a tree grows towards
    one sample.

    Returns:
        Number of waypoints, 0 when no path was found; iterations used; index of the goal that was reached.
    """
    n, most = start.shape[0], path.shape[0] // 2
    trees, count = plant(start, goals, most)
    state, sample, roots = np.array([np.uint64(budget.seed)]), np.empty(n), count[1]
    work = HoldScratch(make_lanes(scene.robot), make_scratch(n), np.empty(n))
    reach = math.ceil(budget.step / HOLD_STEP)
    for iteration in range(budget.iterations):
        grow = iteration & 1
        if iteration < roots:
            grow = 0
            copy_row(goals[iteration], sample)
        else:
            draw(budget, state, sample)
        other, before = 1 - grow, count[grow]
        near, _ = nearest(trees[grow].nodes, before, sample)
        count[grow], fresh, _ = march(trees[grow], before, near, sample, arm, scene, work, reach)
        if count[grow] > before:
            copy_row(trees[grow].nodes[fresh], sample)
            near, _ = nearest(trees[other].nodes, count[other], sample)
            count[other], last, joined = march(trees[other], count[other], near, sample, arm, scene, work, most)
            if joined:
                first, second = (fresh, last) if grow == 0 else (last, fresh)
                length, goal = join_branches(trees, first, second, path)
                return length, iteration + 1, goal
        if count[0] >= most or count[1] >= most:
            return 0, iteration + 1, -1
    return 0, budget.iterations, -1


@kernel
def hold_shorten(path, count, arm, scene, attempts, seed):
    """Replace stretches of a path (most, n) between random waypoints by shorter ones that keep the hold, in place.

    Returns:
        The new number of waypoints.
    """
    n, state = path.shape[1], np.array([np.uint64(seed)])
    nodes = np.empty((path.shape[0], n))
    tree = Tree(nodes, np.empty(path.shape[0], np.int64))
    work = HoldScratch(make_lanes(scene.robot), make_scratch(n), np.empty(n))
    for _ in range(attempts):
        if count < 3:
            break
        i, j = int(uniform(state) * count), int(uniform(state) * count)
        i, j = min(i, j), max(i, j)
        if j - i < 2:
            continue
        add_node(tree, 0, path[i], -1)
        added, _, arrived = march(tree, 1, 0, path[j], arm, scene, work, j - i)
        if not arrived:
            continue
        old = new = 0.0
        for k in range(i, j):
            old += distance(path[k], path[k + 1])
        for k in range(added - 1):
            new += distance(nodes[k], nodes[k + 1])
        if new < old - 1e-6 and added - 1 <= j - i:
            shift = (added - 1) - (j - i)
            for k in range(1, added):
                copy_row(nodes[k], path[i + k])
            for k in range(j + 1, count):
                copy_row(path[k], path[k + shift])
            count += shift
    return count

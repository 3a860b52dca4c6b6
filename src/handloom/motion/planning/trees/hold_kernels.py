"""RRT-Connect on the configurations that keep a hold.

Every step towards a target is short and followed by a projection back onto the hold, by the same descent as in inverse
kinematics. Trees therefore consist of short edges, whose straight motions deviate negligibly from the hold. With two
arms, the first one's joints are sampled and the second one follows: its tool keeps its pose relative to the first.
"""

import math
from typing import NamedTuple

import numpy as np

from handloom.arrays import Array
from handloom.kernels import inner_kernel, kernel
from handloom.motion.collision.lane_kernels import edge_is_free
from handloom.motion.collision.lane_links import LaneScratch, make_lanes
from handloom.motion.kinematics.chain import ChainArrays
from handloom.motion.kinematics.chain_kernels import forward
from handloom.motion.kinematics.ik_kernels import IkProblem, IkScratch, descend, make_scratch
from handloom.motion.planning.trees.rrt_connect import (
    Tree,
    add_node,
    copy_row,
    draw,
    join_branches,
    nearest,
    plant,
    uniform,
)

HOLD_STEP = 0.08
"""Length of a step before it is projected [rad or m]."""


@inner_kernel
def distance(a, b):
    """Return the distance between two configurations, over the joints of the first one."""
    squared = 0.0
    for i in range(a.shape[0]):
        squared += (a[i] - b[i]) ** 2
    return math.sqrt(squared)


class HeldArms(NamedTuple):
    """An arm with its hold constraint and a second arm that follows it; the second has no joints if there is none."""

    first: ChainArrays
    problem: IkProblem
    """The projection of the first arm onto the hold."""
    R: Array
    """A rotation of the tool (3, 3) that keeps the hold."""
    guide: ChainArrays
    """The first arm, from the base of the second to the target pose of the second tool."""
    second: ChainArrays
    follow: IkProblem
    """Tolerances of the second arm's tool at this pose."""


class HoldScratch(NamedTuple):
    """Work arrays of a search."""

    lanes: LaneScratch
    ik: IkScratch
    follow: IkScratch
    R: Array
    p: Array
    q: Array


@kernel
def hold_scratch(arms, scene):
    """Return the work arrays of a search."""
    first, second = arms.first.prismatic.shape[0], arms.second.prismatic.shape[0]
    return HoldScratch(
        make_lanes(scene.robot),
        make_scratch(first),
        make_scratch(second),
        np.empty((3, 3)),
        np.empty(3),
        np.empty(first + second),
    )


@inner_kernel
def project(arms, work):
    """Move the configuration in the scratch onto the hold; return whether that succeeds."""
    n, w, v, follow = arms.first.prismatic.shape[0], work.ik, work.follow, arms.follow
    # A hold leaves the position free: any point is suitable as its goal.
    _, tilt = descend(arms.first, arms.problem, arms.R, w.p, work.q[:n], w)
    if tilt > arms.problem.rotation_tolerance:
        return False
    if work.q.shape[0] == n:
        return True
    forward(arms.guide, work.q[:n], work.R, work.p, w.axes, w.origins)
    distance, angle = descend(arms.second, follow, work.R, work.p, work.q[n:], v)
    return distance <= follow.position_tolerance and angle <= follow.rotation_tolerance


@inner_kernel
def march(tree, count, here, target, arms, scene, work, most_steps):
    """Grow a tree from node ``here`` towards a target in projected steps, until blocked, arrived or out of steps.

    A target (n,) of the first arm alone leaves the second one free to follow.

    Returns:
        The new number of nodes, the last node reached, and whether the target was reached.
    """
    nodes, q, steered = tree.nodes, work.q, target.shape[0]
    left = distance(target, nodes[here])
    for _ in range(most_steps):
        if left < 1e-9:
            return count, here, True
        if count >= nodes.shape[0]:
            break
        step = min(1.0, HOLD_STEP / left)
        copy_row(nodes[here], q)
        for i in range(steered):
            q[i] = nodes[here, i] + step * (target[i] - nodes[here, i])
        if (step < 1.0 or steered < q.shape[0]) and not project(arms, work):
            break
        remaining = distance(target, q)
        # A projection that moves away from the target, or far sideways, makes no progress.
        if remaining > left - 0.1 * HOLD_STEP or distance(q, nodes[here]) > 3.0 * HOLD_STEP:
            break
        if not edge_is_free(nodes[here], q, scene, work.lanes):
            break
        add_node(tree, count, q, here)
        here, count, left = count, count + 1, remaining
    return count, here, left < 1e-9


@kernel
def hold_rrt_connect(start, goals, arms, scene, budget, path):
    """Find a path from the start to any of the goals along configurations that keep a hold.

    Arguments as in ``rrt_connect``; ``arms`` is a ``HeldArms``, and ``budget.step`` bounds how far a tree grows towards
    one sample.

    Returns:
        Number of waypoints, 0 when no path was found; iterations used; index of the goal that was reached.
    """
    n, most = start.shape[0], path.shape[0] // 2
    trees, count = plant(start, goals, most)
    state, sample, roots = np.array([np.uint64(budget.seed)]), np.empty(n), count[1]
    work, steered = hold_scratch(arms, scene), arms.first.prismatic.shape[0]
    reach = math.ceil(budget.step / HOLD_STEP)
    for iteration in range(budget.iterations):
        grow = iteration & 1
        wanted = sample[:steered]
        if iteration < roots:
            grow, wanted = 0, sample[:n]
            copy_row(goals[iteration], sample)
        else:
            draw(budget, state, sample)
        other, before = 1 - grow, count[grow]
        near, _ = nearest(trees[grow].nodes, before, wanted)
        count[grow], fresh, _ = march(trees[grow], before, near, wanted, arms, scene, work, reach)
        if count[grow] > before:
            copy_row(trees[grow].nodes[fresh], sample)
            near, _ = nearest(trees[other].nodes, count[other], sample)
            count[other], last, joined = march(trees[other], count[other], near, sample, arms, scene, work, most)
            if joined:
                first, second = (fresh, last) if grow == 0 else (last, fresh)
                length, goal = join_branches(trees, first, second, path)
                return length, iteration + 1, goal
        if count[0] >= most or count[1] >= most:
            return 0, iteration + 1, -1
    return 0, budget.iterations, -1


@kernel
def hold_shorten(path, count, arms, scene, attempts, seed):
    """Replace sections of a path (most, n) between random waypoints with shorter ones that keep the hold, in place.

    Returns:
        The new number of waypoints.
    """
    n, state = path.shape[1], np.array([np.uint64(seed)])
    nodes = np.empty((path.shape[0], n))
    tree = Tree(nodes, np.empty(path.shape[0], np.int64))
    work = hold_scratch(arms, scene)
    for _ in range(attempts):
        if count < 3:
            break
        i, j = int(uniform(state) * count), int(uniform(state) * count)
        i, j = min(i, j), max(i, j)
        if j - i < 2:
            continue
        add_node(tree, 0, path[i], -1)
        added, _, arrived = march(tree, 1, 0, path[j], arms, scene, work, j - i)
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

"""RRT-Connect on the configurations that keep a hold.

Every step towards a target is short and followed by a projection back onto the hold, the descent that inverse
kinematics uses. Trees therefore consist of short edges whose straight motions leave the hold by a negligible amount.
"""

import math

import numpy as np

from handloom.kernels import inner_kernel, kernel
from handloom.motion.collision.lane_kernels import edge_is_free
from handloom.motion.collision.lane_links import make_lanes
from handloom.motion.kinematics.ik_kernels import descend, make_scratch
from handloom.motion.planning.rrt_connect import copy_row, nearest, trace, uniform

HOLD_STEP = 0.08
"""Length of a step before it is projected [rad or m]."""


@inner_kernel
def distance(a, b):
    """Return the distance of two configurations."""
    squared = 0.0
    for i in range(a.shape[0]):
        squared += (a[i] - b[i]) ** 2
    return math.sqrt(squared)


@inner_kernel
def march(
    nodes, parents, count, here, target, chain, problem, R, per_unit, robot, world, lanes, w, q, current, most_steps
):
    """Grow a tree from node ``here`` towards a target in projected steps, until blocked, arrived or tired.

    Returns:
        The new number of nodes, the last node reached, and whether the target was reached.
    """
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
            _, tilt = descend(chain, problem, R, w.p, q, w, current)
            if tilt > problem.rotation_tolerance:
                break
        remaining = distance(q, target)
        # A projection that moves away from the target, or far sideways, leads nowhere.
        if remaining > left - 0.1 * HOLD_STEP or distance(q, nodes[here]) > 3.0 * HOLD_STEP:
            break
        if not edge_is_free(nodes[here], q, per_unit, robot, world, lanes):
            break
        copy_row(q, nodes[count])
        parents[count] = here
        here, count, left = count, count + 1, remaining
    return count, here, left < 1e-9


@kernel
def hold_rrt_connect(
    start, goals, chain, problem, R, lower, upper, step, per_unit, iterations, seed, robot, world, path
):
    """Find a path from the start to any of the goals along configurations that keep a hold.

    Arguments as in ``rrt_connect``; ``problem`` and ``R`` (3, 3) describe the hold for the projection, and ``step``
    bounds how far a tree grows towards one sample.

    Returns:
        Number of waypoints, 0 when no path was found; iterations used; index of the goal that was reached.
    """
    n, most = start.shape[0], path.shape[0] // 2
    nodes, parents = np.empty((2, most, n)), np.empty((2, most), np.int64)
    count, state, lanes = np.ones(2, np.int64), np.array([np.uint64(seed)]), make_lanes(robot)
    sample, q, w, current = np.empty(n), np.empty(n), make_scratch(n), np.zeros(3)
    copy_row(start, nodes[0, 0])
    parents[0, 0] = -1
    roots = min(goals.shape[0], most)
    for g in range(roots):
        copy_row(goals[g], nodes[1, g])
        parents[1, g] = -1
    count[1] = roots
    reach = math.ceil(step / HOLD_STEP)
    for iteration in range(iterations):
        grow = iteration & 1
        if iteration < roots:
            grow = 0
            copy_row(goals[iteration], sample)
        else:
            for i in range(n):
                sample[i] = lower[i] + (upper[i] - lower[i]) * uniform(state)
        other, before = 1 - grow, count[grow]
        near, _ = nearest(nodes[grow], before, sample)
        count[grow], fresh, _ = march(
            nodes[grow],
            parents[grow],
            before,
            near,
            sample,
            chain,
            problem,
            R,
            per_unit,
            robot,
            world,
            lanes,
            w,
            q,
            current,
            reach,
        )
        if count[grow] > before:
            copy_row(nodes[grow, fresh], sample)
            near, _ = nearest(nodes[other], count[other], sample)
            count[other], last, joined = march(
                nodes[other],
                parents[other],
                count[other],
                near,
                sample,
                chain,
                problem,
                R,
                per_unit,
                robot,
                world,
                lanes,
                w,
                q,
                current,
                most,
            )
            if joined:
                first_half = fresh if grow == 0 else last
                second_half = last if grow == 0 else fresh
                length = trace(nodes[0], parents[0], first_half, path, 0, True)
                length += trace(nodes[1], parents[1], second_half, path, length - 1, False) - 1
                while parents[1, second_half] >= 0:
                    second_half = parents[1, second_half]
                return length, iteration + 1, second_half
        if count[0] >= most or count[1] >= most:
            return 0, iteration + 1, -1
    return 0, iterations, -1


@kernel
def hold_shorten(path, count, chain, problem, R, per_unit, robot, world, attempts, seed):
    """Replace stretches of a path (most, n) between random waypoints by shorter ones that keep the hold, in place.

    Returns:
        The new number of waypoints.
    """
    n, state, lanes = path.shape[1], np.array([np.uint64(seed)]), make_lanes(robot)
    nodes, parents = np.empty((path.shape[0], n)), np.empty(path.shape[0], np.int64)
    q, w, current = np.empty(n), make_scratch(n), np.zeros(3)
    for _ in range(attempts):
        if count < 3:
            break
        i, j = int(uniform(state) * count), int(uniform(state) * count)
        i, j = min(i, j), max(i, j)
        if j - i < 2:
            continue
        copy_row(path[i], nodes[0])
        parents[0] = -1
        added, _, arrived = march(
            nodes, parents, 1, 0, path[j], chain, problem, R, per_unit, robot, world, lanes, w, q, current, j - i
        )
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

"""JT-RRT: grow one tree in joint space, pulled towards a tool pose by the transposed Jacobian.

Vande Weghe, Ferguson and Srinivasa 2007. It needs no inverse kinematics of the goal beforehand, so it also serves
targets with few or no closed solutions nearby; near the target an exact descent finishes.
"""

import math

import numpy as np

from handloom.kernels import inner_kernel, kernel
from handloom.motion.collision.lane_kernels import edge_is_free
from handloom.motion.collision.lane_links import make_lanes
from handloom.motion.kinematics.chain_kernels import forward, jacobian
from handloom.motion.kinematics.ik_kernels import descend, make_scratch, pose_residual
from handloom.motion.planning.rrt_connect import copy_row, nearest, toward, trace, uniform

# Shares of iterations, step sizes and zones as published for this planner.
TO_TARGET, TO_TASK_POINT = 0.4, 0.1
SUBSTEP = 0.025
FAR_SUBSTEPS, NEAR_SUBSTEPS = 6, 50
ZONE_DISTANCE, ZONE_ANGLE, NEAR_SCALE = 0.05, 0.09, 2.0
TURN_WEIGHT = 0.125


@inner_kernel
def task_distance(chain, problem, R, p, q, w, current):
    """Return distance [m] and angle [rad] of the tool at q from a pose; leaves the residual in the scratch."""
    forward(chain, q, w.R, w.p, w.axes, w.origins)
    return pose_residual(problem, R, p, w, current)


@inner_kernel
def pull_step(chain, problem, q, w, out):
    """Write q plus one step of length SUBSTEP along ``J' e`` for the residual in the scratch; False if it vanishes."""
    jacobian(chain.prismatic, w.p, w.axes, w.origins, w.J)
    squared = 0.0
    for k in range(q.shape[0]):
        g = 0.0
        for i in range(3):
            g += w.J[i, k] * w.error[i] + TURN_WEIGHT / problem.rotation_weight * w.J[3 + i, k] * w.error[3 + i]
        out[k] = g
        squared += g * g
    length = math.sqrt(squared)
    if length < 1e-9:
        return False
    for k in range(q.shape[0]):
        out[k] = min(max(q[k] + SUBSTEP / length * out[k], problem.lower[k]), problem.upper[k])
    return True


@inner_kernel
def pull(
    nodes,
    parents,
    scores,
    count,
    node,
    chain,
    problem,
    R,
    p,
    R_goal,
    p_goal,
    per_unit,
    robot,
    world,
    lanes,
    w,
    q,
    current,
):
    """Grow the tree from a node towards a pose by transposed-Jacobian steps while they help; return the new count."""
    most = FAR_SUBSTEPS
    distance, angle = task_distance(chain, problem, R, p, nodes[node], w, current)
    if distance < NEAR_SCALE * ZONE_DISTANCE and angle < NEAR_SCALE * ZONE_ANGLE:
        most = NEAR_SUBSTEPS
    best = distance + TURN_WEIGHT * angle
    for _ in range(most):
        if count >= nodes.shape[0] or not pull_step(chain, problem, nodes[node], w, q):
            break
        distance, angle = task_distance(chain, problem, R, p, q, w, current)
        score = distance + TURN_WEIGHT * angle
        if score >= best - 1e-6 or not edge_is_free(nodes[node], q, per_unit, robot, world, lanes):
            break
        best = score
        copy_row(q, nodes[count])
        parents[count] = node
        distance, angle = task_distance(chain, problem, R_goal, p_goal, q, w, current)
        scores[count] = distance + TURN_WEIGHT * angle
        node, count = count, count + 1
        distance, angle = task_distance(chain, problem, R, p, q, w, current)
    return count


@kernel
def jt_rrt(
    chain, problem, start, R_goal, p_goal, lower, upper, box, step, per_unit, iterations, seed, robot, world, path
):
    """Find a path from a configuration to a tool pose.

    Args:
        chain: ``ChainArrays``.
        problem: ``IkProblem``.
        start: Start configuration (n,).
        R_goal: Rotation of the target (3, 3) in the base.
        p_goal: Position of the target (3,) in the base [m].
        lower: Lower end of the sampling box (n,).
        upper: Upper end of the sampling box (n,).
        box: Lower and upper corner of the task space that is explored (2, 3) [m].
        step: Longest edge when exploring joint space [rad or m].
        per_unit: Configurations checked per radian or metre.
        iterations: Extensions tried before giving up.
        seed: Seed of all random choices.
        robot: ``RobotArrays``.
        world: ``WorldArrays``.
        path: Receives waypoints (most, n); its length also bounds the tree.

    Returns:
        Number of waypoints, 0 when no path was found, and iterations used.
    """
    n, most = start.shape[0], path.shape[0] - 1
    nodes, parents, scores = np.empty((most, n)), np.empty(most, np.int64), np.empty(most)
    state, lanes, w, current = np.array([np.uint64(seed)]), make_lanes(robot), make_scratch(n), np.zeros(3)
    q, point, tried = np.empty(n), np.empty(3), np.zeros(most, np.bool_)
    copy_row(start, nodes[0])
    parents[0], count = -1, 1
    distance, angle = task_distance(chain, problem, R_goal, p_goal, start, w, current)
    scores[0] = distance + TURN_WEIGHT * angle
    finished = 0
    for iteration in range(iterations):
        choice, before = uniform(state), count
        if choice < TO_TARGET or iteration == 0:
            node = _best_untried(scores, tried, count)
            if node >= 0:
                tried[node] = True
                count = pull(
                    nodes,
                    parents,
                    scores,
                    count,
                    node,
                    chain,
                    problem,
                    R_goal,
                    p_goal,
                    R_goal,
                    p_goal,
                    per_unit,
                    robot,
                    world,
                    lanes,
                    w,
                    q,
                    current,
                )
        elif choice < TO_TARGET + TO_TASK_POINT:
            for i in range(3):
                point[i] = box[0, i] + (box[1, i] - box[0, i]) * uniform(state)
            node = int(uniform(state) * count)
            forward(chain, nodes[node], w.R, w.p, w.axes, w.origins)
            count = pull(
                nodes,
                parents,
                scores,
                count,
                node,
                chain,
                problem,
                w.R.copy(),
                point,
                R_goal,
                p_goal,
                per_unit,
                robot,
                world,
                lanes,
                w,
                q,
                current,
            )
        else:
            for i in range(n):
                q[i] = lower[i] + (upper[i] - lower[i]) * uniform(state)
            sample = q.copy()
            near, apart = nearest(nodes, count, sample)
            toward(nodes[near], sample, apart, step, q)
            if edge_is_free(nodes[near], q, per_unit, robot, world, lanes):
                copy_row(q, nodes[count])
                parents[count] = near
                distance, angle = task_distance(chain, problem, R_goal, p_goal, q, w, current)
                scores[count] = distance + TURN_WEIGHT * angle
                count += 1
        for node in range(max(before, finished), count):
            length = _finish(
                nodes, parents, node, chain, problem, R_goal, p_goal, per_unit, robot, world, lanes, w, q, current, path
            )
            if length > 0:
                return length, iteration + 1
        finished = count
        if count >= most - NEAR_SUBSTEPS:
            break
    return 0, iterations


@inner_kernel
def _best_untried(scores, tried, count):
    """Return the node closest to the target that was not yet pulled from, -1 when there is none."""
    best, index = math.inf, -1
    for k in range(count):
        if not tried[k] and scores[k] < best:
            best, index = scores[k], k
    return index


@inner_kernel
def _finish(nodes, parents, node, chain, problem, R_goal, p_goal, per_unit, robot, world, lanes, w, q, current, path):
    """From a node inside the target zone, descend to the target; return the length of the path, 0 if that fails."""
    distance, angle = task_distance(chain, problem, R_goal, p_goal, nodes[node], w, current)
    if distance > ZONE_DISTANCE or angle > ZONE_ANGLE:
        return 0
    copy_row(nodes[node], q)
    distance, angle = descend(chain, problem, R_goal, p_goal, q, w, current)
    if distance > problem.position_tolerance or angle > problem.rotation_tolerance:
        return 0
    if not edge_is_free(nodes[node], q, per_unit, robot, world, lanes):
        return 0
    length = trace(nodes, parents, node, path, 0, True)
    copy_row(q, path[length])
    return length + 1

"""JT-RRT: grow one tree in joint space, pulled towards a tool pose by the transposed Jacobian.

Vande Weghe, Ferguson and Srinivasa 2007. It needs no inverse kinematics of the goal beforehand, so it also serves
targets with few or no closed solutions nearby; near the target an exact descent finishes.
"""

import math
from typing import NamedTuple

import numpy as np

from handloom.arrays import Array
from handloom.kernels import inner_kernel, kernel
from handloom.motion.collision.lane_kernels import edge_is_free
from handloom.motion.collision.lane_links import LaneScratch, make_lanes
from handloom.motion.kinematics.chain import ChainArrays
from handloom.motion.kinematics.chain_kernels import forward, jacobian
from handloom.motion.kinematics.ik_kernels import IkProblem, IkScratch, descend, make_scratch, pose_residual
from handloom.motion.planning.rrt_connect import Tree, add_node, copy_row, draw, nearest, toward, trace, uniform

# Shares of iterations, step sizes and zones as published for this planner.
TO_TARGET, TO_TASK_POINT = 0.4, 0.1
SUBSTEP = 0.025
FAR_SUBSTEPS, NEAR_SUBSTEPS = 6, 50
ZONE_DISTANCE, ZONE_ANGLE, NEAR_SCALE = 0.05, 0.09, 2.0
TURN_WEIGHT = 0.125


class PulledArm(NamedTuple):
    """An arm and the pose its tool is to reach."""

    chain: ChainArrays
    problem: IkProblem
    R: Array
    """Rotation of the target (3, 3) in the base."""
    p: Array
    """Position of the target (3,) in the base [m]."""


class ScoredTree(NamedTuple):
    """A search tree whose nodes know how far they are from the target."""

    tree: Tree
    scores: Array
    """Distance plus weighted angle to the target (most,) [m]."""


class PullScratch(NamedTuple):
    """Work arrays of one search."""

    lanes: LaneScratch
    ik: IkScratch
    q: Array


@inner_kernel
def task_distance(arm, R, p, q, w):
    """Return distance [m] and angle [rad] of the tool at q from a pose; leaves the residual in the scratch."""
    forward(arm.chain, q, w.R, w.p, w.axes, w.origins)
    return pose_residual(arm.problem, R, p, w)


@inner_kernel
def task_score(arm, q, w):
    """Return distance plus weighted angle of the tool at q from the target [m]."""
    distance, angle = task_distance(arm, arm.R, arm.p, q, w)
    return distance + TURN_WEIGHT * angle


@inner_kernel
def pull_step(arm, q, w, out):
    """Write q plus one step of length SUBSTEP along ``J' e`` for the residual in the scratch; False if it vanishes."""
    problem = arm.problem
    jacobian(arm.chain.prismatic, w.p, w.axes, w.origins, w.J)
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
def pull(scored, count, node, arm, R, p, scene, work):
    """Grow the tree from a node towards a pose by transposed-Jacobian steps while they help; return the new count."""
    nodes, most, w, q = scored.tree.nodes, FAR_SUBSTEPS, work.ik, work.q
    distance, angle = task_distance(arm, R, p, nodes[node], w)
    if distance < NEAR_SCALE * ZONE_DISTANCE and angle < NEAR_SCALE * ZONE_ANGLE:
        most = NEAR_SUBSTEPS
    best = distance + TURN_WEIGHT * angle
    for _ in range(most):
        if count >= nodes.shape[0] or not pull_step(arm, nodes[node], w, q):
            break
        distance, angle = task_distance(arm, R, p, q, w)
        score = distance + TURN_WEIGHT * angle
        if score >= best - 1e-6 or not edge_is_free(nodes[node], q, scene, work.lanes):
            break
        best = score
        add_node(scored.tree, count, q, node)
        scored.scores[count] = task_score(arm, q, w)
        node, count = count, count + 1
        task_distance(arm, R, p, q, w)
    return count


@kernel
def jt_rrt(start, arm, box, scene, budget, path):
    """Find a path from a configuration to a tool pose.

    Args:
        start: Start configuration (n,).
        arm: ``PulledArm``.
        box: Lower and upper corner of the task space that is explored (2, 3) [m].
        scene: ``CollisionArrays``.
        budget: ``Budget``; its step is the longest edge when exploring joint space.
        path: Receives waypoints (most, n); its length also bounds the tree.

    Returns:
        Number of waypoints, 0 when no path was found, and iterations used.
    """
    n, most = start.shape[0], path.shape[0] - 1
    scored = ScoredTree(Tree(np.empty((most, n)), np.empty(most, np.int64)), np.empty(most))
    work = PullScratch(make_lanes(scene.robot), make_scratch(n), np.empty(n))
    tree, nodes, w, q = scored.tree, scored.tree.nodes, work.ik, work.q
    state, point, tried = np.array([np.uint64(budget.seed)]), np.empty(3), np.zeros(most, np.bool_)
    add_node(tree, 0, start, -1)
    scored.scores[0], count, finished = task_score(arm, start, w), 1, 0
    for iteration in range(budget.iterations):
        choice, before = uniform(state), count
        if choice < TO_TARGET or iteration == 0:
            node = _best_untried(scored.scores, tried, count)
            if node >= 0:
                tried[node] = True
                count = pull(scored, count, node, arm, arm.R, arm.p, scene, work)
        elif choice < TO_TARGET + TO_TASK_POINT:
            for i in range(3):
                point[i] = box[0, i] + (box[1, i] - box[0, i]) * uniform(state)
            node = int(uniform(state) * count)
            forward(arm.chain, nodes[node], w.R, w.p, w.axes, w.origins)
            count = pull(scored, count, node, arm, w.R.copy(), point, scene, work)
        else:
            draw(budget, state, q)
            sample = q.copy()
            near, apart = nearest(nodes, count, sample)
            toward(nodes[near], sample, apart, budget.step, q)
            if edge_is_free(nodes[near], q, scene, work.lanes):
                add_node(tree, count, q, near)
                scored.scores[count] = task_score(arm, q, w)
                count += 1
        for node in range(max(before, finished), count):
            length = _finish(tree, node, arm, scene, work, path)
            if length > 0:
                return length, iteration + 1
        finished = count
        if count >= most - NEAR_SUBSTEPS:
            break
    return 0, budget.iterations


@inner_kernel
def _best_untried(scores, tried, count):
    """Return the node closest to the target that was not yet pulled from, -1 when there is none."""
    best, index = math.inf, -1
    for k in range(count):
        if not tried[k] and scores[k] < best:
            best, index = scores[k], k
    return index


@inner_kernel
def _finish(tree, node, arm, scene, work, path):
    """From a node inside the target zone, descend to the target; return the length of the path, 0 if that fails."""
    q, w, problem = work.q, work.ik, arm.problem
    distance, angle = task_distance(arm, arm.R, arm.p, tree.nodes[node], w)
    if distance > ZONE_DISTANCE or angle > ZONE_ANGLE:
        return 0
    copy_row(tree.nodes[node], q)
    distance, angle = descend(arm.chain, problem, arm.R, arm.p, q, w)
    if distance > problem.position_tolerance or angle > problem.rotation_tolerance:
        return 0
    if not edge_is_free(tree.nodes[node], q, scene, work.lanes):
        return 0
    length = trace(tree, node, path, 0, True)
    copy_row(q, path[length])
    return length + 1

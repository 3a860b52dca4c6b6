"""JT-RRT: grows one tree in joint space, pulled towards a tool pose of each arm by the transposed Jacobian.

Vande Weghe, Ferguson and Srinivasa 2007. It needs no inverse kinematics of the goal beforehand, so it also handles
targets whose solutions are hard to find; close to the target, an exact descent completes the path.
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
from handloom.motion.planning.trees.rrt_connect import Tree, add_node, copy_row, draw, nearest, toward, trace, uniform

# Fractions of iterations, step sizes and zones, as published for this planner.
TO_TARGET, TO_TASK_POINT = 0.4, 0.1
SUBSTEP = 0.025
FAR_SUBSTEPS, NEAR_SUBSTEPS = 6, 50
ZONE_DISTANCE, ZONE_ANGLE, NEAR_SCALE = 0.05, 0.09, 2.0
TURN_WEIGHT = 0.125


class PulledArm(NamedTuple):
    """An arm and the target pose of its tool."""

    chain: ChainArrays
    problem: IkProblem
    R: Array
    """Rotation of the target (3, 3) in the base."""
    p: Array
    """Position of the target (3,) in the base [m]."""


class PulledArms(NamedTuple):
    """Two arms and their target poses; without a second arm, the second one has no joints."""

    first: PulledArm
    second: PulledArm


class ScoredTree(NamedTuple):
    """A search tree whose nodes store their distance from the target."""

    tree: Tree
    scores: Array
    """Distance plus weighted angle to the target, of all arms (most,) [m]."""


class PullScratch(NamedTuple):
    """Work arrays of a search."""

    lanes: LaneScratch
    first: IkScratch
    second: IkScratch
    q: Array


class Errors(NamedTuple):
    """Errors of the tools relative to their target poses."""

    distance: float
    """The farthest [m]."""
    angle: float
    """The most turned [rad]."""
    score: float
    """Distance plus weighted angle, of all arms [m]."""


@inner_kernel
def task_distance(arm, q, w):
    """Return distance [m] and angle [rad] of a tool at q from its target pose; leaves the residual in the scratch."""
    forward(arm.chain, q, w.R, w.p, w.axes, w.origins)
    return pose_residual(arm.problem, arm.R, arm.p, w)


@inner_kernel
def task_errors(arms, q, work):
    """Return the errors of the tools at q relative to their target poses; leaves the residuals in the scratch."""
    n = arms.first.chain.prismatic.shape[0]
    distance, angle = task_distance(arms.first, q[:n], work.first)
    score = distance + TURN_WEIGHT * angle
    if q.shape[0] > n:
        second, turned = task_distance(arms.second, q[n:], work.second)
        score += second + TURN_WEIGHT * turned
        distance, angle = max(distance, second), max(angle, turned)
    return Errors(distance, angle, score)


@inner_kernel
def pull_gradient(arm, w, out):
    """Write ``J' e`` of an arm for the residual in its scratch to ``out``; return its squared length."""
    jacobian(arm.chain.prismatic, w.p, w.axes, w.origins, w.J)
    squared, weight = 0.0, TURN_WEIGHT / arm.problem.rotation_weight
    for k in range(out.shape[0]):
        g = 0.0
        for i in range(3):
            g += w.J[i, k] * w.error[i] + weight * w.J[3 + i, k] * w.error[3 + i]
        out[k] = g
        squared += g * g
    return squared


@inner_kernel
def pull_step(arms, q, work, out):
    """Write q plus one step of length SUBSTEP along ``J' e`` for the residuals in the scratch; False if it vanishes."""
    n = arms.first.chain.prismatic.shape[0]
    squared = pull_gradient(arms.first, work.first, out[:n])
    if q.shape[0] > n:
        squared += pull_gradient(arms.second, work.second, out[n:])
    length = math.sqrt(squared)
    if length < 1e-9:
        return False
    for k in range(q.shape[0]):
        problem, i = (arms.first.problem, k) if k < n else (arms.second.problem, k - n)
        out[k] = min(max(q[k] + SUBSTEP / length * out[k], problem.lower[i]), problem.upper[i])
    return True


@inner_kernel
def pull(scored, count, node, arms, goals, scene, work):
    """Grow the tree from a node towards poses by transposed-Jacobian steps while they help.

    Args:
        scored: ``ScoredTree``.
        count: Its number of nodes.
        node: Where to start.
        arms: ``PulledArms`` with the final target poses.
        goals: The same with the current target poses.
        scene: ``MotionScene``.
        work: ``PullScratch``.

    Returns:
        The new number of nodes.
    """
    nodes, most, q = scored.tree.nodes, FAR_SUBSTEPS, work.q
    errors = task_errors(goals, nodes[node], work)
    if errors.distance < NEAR_SCALE * ZONE_DISTANCE and errors.angle < NEAR_SCALE * ZONE_ANGLE:
        most = NEAR_SUBSTEPS
    best = errors.score
    for _ in range(most):
        if count >= nodes.shape[0] or not pull_step(goals, nodes[node], work, q):
            break
        score = task_errors(goals, q, work).score
        if score >= best - 1e-6 or not edge_is_free(nodes[node], q, scene, work.lanes):
            break
        best = score
        add_node(scored.tree, count, q, node)
        scored.scores[count] = task_errors(arms, q, work).score
        node, count = count, count + 1
        task_errors(goals, q, work)
    return count


@inner_kernel
def draw_point(box, state, point):
    """Draw a point (3,) of a box (2, 3)."""
    for i in range(3):
        point[i] = box[0, i] + (box[1, i] - box[0, i]) * uniform(state)


@kernel
def jt_rrt(start, arms, boxes, scene, budget, path):
    """Find a path from a configuration to tool poses.

    Args:
        start: Start configuration (n,).
        arms: ``PulledArms``.
        boxes: Lower and upper corner of the explored task space of each tool (2, 2, 3) [m].
        scene: ``MotionScene``.
        budget: ``Budget``; its step is the longest edge when exploring joint space.
        path: Receives waypoints (most, n); its length also bounds the tree.

    Returns:
        Number of waypoints, 0 when no path was found, and iterations used.
    """
    n, most = start.shape[0], path.shape[0] - 1
    scored = ScoredTree(Tree(np.empty((most, n)), np.empty(most, np.int64)), np.empty(most))
    joints = arms.first.chain.prismatic.shape[0]
    work = PullScratch(make_lanes(scene.robot), make_scratch(joints), make_scratch(n - joints), np.empty(n))
    tree, nodes, q = scored.tree, scored.tree.nodes, work.q
    state, points, tried = np.array([np.uint64(budget.seed)]), np.empty((2, 3)), np.zeros(most, np.bool_)
    add_node(tree, 0, start, -1)
    scored.scores[0], count, finished = task_errors(arms, start, work).score, 1, 0
    for iteration in range(budget.iterations):
        choice, before = uniform(state), count
        if choice < TO_TARGET or iteration == 0:
            node = _best_untried(scored.scores, tried, count)
            if node >= 0:
                tried[node] = True
                count = pull(scored, count, node, arms, arms, scene, work)
        elif choice < TO_TARGET + TO_TASK_POINT:
            draw_point(boxes[0], state, points[0])
            node = int(uniform(state) * count)
            if n > joints:
                draw_point(boxes[1], state, points[1])
            task_errors(arms, nodes[node], work)
            first, second = arms.first, arms.second
            goals = PulledArms(
                PulledArm(first.chain, first.problem, work.first.R.copy(), points[0]),
                PulledArm(second.chain, second.problem, work.second.R.copy(), points[1]),
            )
            count = pull(scored, count, node, arms, goals, scene, work)
        else:
            draw(budget, state, q)
            sample = q.copy()
            near, apart = nearest(nodes, count, sample)
            toward(nodes[near], sample, apart, budget.step, q)
            if edge_is_free(nodes[near], q, scene, work.lanes):
                add_node(tree, count, q, near)
                scored.scores[count] = task_errors(arms, q, work).score
                count += 1
        for node in range(max(before, finished), count):
            length = _finish(tree, node, arms, scene, work, path)
            if length > 0:
                return length, iteration + 1
        finished = count
        if count >= most - NEAR_SUBSTEPS:
            break
    return 0, budget.iterations


@inner_kernel
def _best_untried(scores, tried, count):
    """Return the node closest to the target that was not yet extended, -1 if there is none."""
    best, index = math.inf, -1
    for k in range(count):
        if not tried[k] and scores[k] < best:
            best, index = scores[k], k
    return index


@inner_kernel
def descends(arm, q, w):
    """Move q (n,) so that the tool reaches its target pose, in place; return whether that succeeds."""
    distance, angle = descend(arm.chain, arm.problem, arm.R, arm.p, q, w)
    return distance <= arm.problem.position_tolerance and angle <= arm.problem.rotation_tolerance


@inner_kernel
def _finish(tree, node, arms, scene, work, path):
    """From a node inside the target zone, descend to the target; return the number of waypoints, 0 if that fails."""
    q, n = work.q, arms.first.chain.prismatic.shape[0]
    errors = task_errors(arms, tree.nodes[node], work)
    if errors.distance > ZONE_DISTANCE or errors.angle > ZONE_ANGLE:
        return 0
    copy_row(tree.nodes[node], q)
    if not descends(arms.first, q[:n], work.first):
        return 0
    if q.shape[0] > n and not descends(arms.second, q[n:], work.second):
        return 0
    if not edge_is_free(tree.nodes[node], q, scene, work.lanes):
        return 0
    length = trace(tree, node, path, 0, True)
    copy_row(q, path[length])
    return length + 1

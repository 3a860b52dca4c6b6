"""Kernels that filter grasps for collisions and diversity."""

import math

import numpy as np

from handloom.grasping.gjk_kernels import keeps_distance
from handloom.kernels import kernel


@kernel
def place(hand_R, hand_p, R, p, out_R, out_p):
    """Write the pose of a part (R, p in the hand frame) of a hand at hand_R, hand_p."""
    for i in range(3):
        out_p[i] = hand_p[i] + hand_R[i, 0] * p[0] + hand_R[i, 1] * p[1] + hand_R[i, 2] * p[2]
        for j in range(3):
            out_R[i, j] = hand_R[i, 0] * R[0, j] + hand_R[i, 1] * R[1, j] + hand_R[i, 2] * R[2, j]


@kernel
def between(position, rotation, level, g, out_R, out_p):
    """Write part g's pose at a fractional level: positions and matrices mixed, columns made orthonormal again."""
    low = min(int(level), len(position) - 2)
    f = level - low
    for i in range(3):
        out_p[i] = (1.0 - f) * position[low, g, i] + f * position[low + 1, g, i]
        for j in range(3):
            out_R[i, j] = (1.0 - f) * rotation[low, g, i, j] + f * rotation[low + 1, g, i, j]
    x, y = out_R[:, 0], out_R[:, 1]
    x /= np.sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2])
    dot = x[0] * y[0] + x[1] * y[1] + x[2] * y[2]
    y -= dot * x
    y /= np.sqrt(y[0] * y[0] + y[1] * y[1] + y[2] * y[2])
    out_R[0, 2] = x[1] * y[2] - x[2] * y[1]
    out_R[1, 2] = x[2] * y[0] - x[0] * y[2]
    out_R[2, 2] = x[0] * y[1] - x[1] * y[0]


@kernel
def free_poses(
    solid, hand, position, rotation, moving, hand_R, hand_p, needed, arriving, approach_length, segments, margin
):
    """Return whether grasps (n,) touch nothing before the fingers close.

    Two motions are tested against every part of the object: the straight approach of the whole gripper with the
    fingers at the arriving level, and the fingers from there to the needed level, in straight segments.

    Args:
        solid: ``ConvexParts`` of the object.
        hand: ``ConvexParts`` of the gripper.
        position: Part centres (levels, g, 3) in the hand frame [m].
        rotation: Part orientations (levels, g, 3, 3) in the hand frame.
        moving: Whether each part moves (g,).
        hand_R: Hand orientations (n, 3, 3) in the object frame; column 0 is the approach.
        hand_p: Hand positions (n, 3) [m].
        needed: Level (n,) at which the fingers are just clear of the contacts.
        arriving: Level (n,) at which the gripper arrives.
        approach_length: Length of the approach [m].
        segments: Straight pieces of the closing motion.
        margin: Distance to keep [m].

    Cost: at most parts x solids x (1 + segments) distance queries per grasp; most end at the bounding spheres.
    """
    n, parts, solids = len(hand_R), len(hand.kind), len(solid.kind)
    free = np.ones(n, np.bool_)
    W, weight, corner = np.zeros((5, 3)), np.zeros(4), np.zeros(4, np.int64)
    R, p = np.zeros((3, 3)), np.zeros(3)
    R1, p1, R2, p2 = np.zeros((3, 3)), np.zeros(3), np.zeros((3, 3)), np.zeros(3)
    for i in range(n):
        for g in range(parts):
            between(position, rotation, arriving[i], g, R, p)
            place(hand_R[i], hand_p[i], R, p, R1, p1)
            for axis in range(3):
                p2[axis] = p1[axis] - approach_length * hand_R[i, axis, 0]
            for k in range(solids):
                if not keeps_distance(hand, g, R1, p1, R1, p2, solid, k, margin, W, weight, corner):
                    free[i] = False
                    break
            if not free[i]:
                break
            if not moving[g]:
                continue
            for s in range(segments):
                between(position, rotation, arriving[i] + (needed[i] - arriving[i]) * (s + 1) / segments, g, R, p)
                place(hand_R[i], hand_p[i], R, p, R2, p2)
                for k in range(solids):
                    if not keeps_distance(hand, g, R1, p1, R2, p2, solid, k, margin, W, weight, corner):
                        free[i] = False
                        break
                if not free[i]:
                    break
                R1[:] = R2
                p1[:] = p2
            if not free[i]:
                break
    return free


@kernel
def spread_out(centre, R, weight, count, metres_per_radian):
    """Choose grasps one by one, each time the one with the largest weight x distance to those already chosen.

    Distance is |c1 - c2| + metres_per_radian x angle(R1, R2). Farthest-point selection covers the whole set within
    twice the best possible radius; the weight pulls it towards good grasps.

    Args:
        centre: (n, 3) [m].
        R: (n, 3, 3).
        weight: (n,) > 0, larger is better; the largest comes first.
        count: Number of grasps to choose.
        metres_per_radian: Weight of a turn [m/rad].

    Returns:
        Indices (min(count, n),) in the order chosen. Cost: n x count distances.
    """
    n = len(centre)
    chosen = np.zeros(min(count, n), np.int64)
    gap = np.full(n, np.inf)
    at = 0
    for i in range(n):
        if weight[i] > weight[at]:
            at = i
    for c in range(len(chosen)):
        chosen[c] = at
        gap[at] = -1.0
        best, following = -1.0, at
        for i in range(n):
            if gap[i] < 0.0:
                continue
            x, y, z = centre[i, 0] - centre[at, 0], centre[i, 1] - centre[at, 1], centre[i, 2] - centre[at, 2]
            trace = 0.0
            for a in range(3):
                for b in range(3):
                    trace += R[i, a, b] * R[at, a, b]
            angle = math.acos(min(1.0, max(-1.0, 0.5 * (trace - 1.0))))
            gap[i] = min(gap[i], math.sqrt(x * x + y * y + z * z) + metres_per_radian * angle)
            if weight[i] * gap[i] > best:
                best, following = weight[i] * gap[i], i
        at = following
    return chosen

"""Kernel that picks grasps far from each other, good ones first."""

import math

import numpy as np

from handloom.kernels import kernel


@kernel
def spread_out(centre, R, weight, count, metres_per_radian):
    """Choose grasps one by one, each time the one with the largest weight x distance to those already chosen.

    Distance is |c1 - c2| + metres_per_radian x angle(R1, R2). Farthest-point selection covers the whole set within
    twice the best possible radius; the weight pulls it towards good grasps.

    Args:
        centre: (n, 3) [m].
        R: (n, 3, 3).
        weight: (n,) > 0, larger is better; the largest comes first.
        count: How many to choose.
        metres_per_radian: How much a turn counts [m/rad].

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

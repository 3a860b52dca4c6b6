"""The rotation between two orientations, as a vector: for all axes, or for one axis only."""

import math

import numpy as np

from handloom.kernels import inner_kernel, kernel


@inner_kernel
def half_turn(Rg, R, e):
    """Write the rotation vector from R to Rg, which are half a turn apart, in the base frame, to e (3,).

    There ``E = Rg R' = 2 a a' - I`` for the unit axis a, so the row of E with the largest diagonal entry gives a up to
    its sign, which does not matter.
    """
    k, largest = 0, -2.0
    for i in range(3):
        diagonal = Rg[i, 0] * R[i, 0] + Rg[i, 1] * R[i, 1] + Rg[i, 2] * R[i, 2]
        if diagonal > largest:
            k, largest = i, diagonal
    squared = 0.0
    for i in range(3):
        e[i] = Rg[k, 0] * R[i, 0] + Rg[k, 1] * R[i, 1] + Rg[k, 2] * R[i, 2] + (1.0 if i == k else 0.0)
        squared += e[i] * e[i]
    scale = math.pi / math.sqrt(squared)
    for i in range(3):
        e[i] *= scale


@inner_kernel
def rotation_between(Rg, R, e):
    """Write the rotation vector from R to Rg, in the base frame, to e (3,); return its length [rad]."""
    x = y = z = trace = 0.0
    for k in range(3):
        # Entries of E = Rg R' that the axis and the trace need.
        x += Rg[2, k] * R[1, k] - Rg[1, k] * R[2, k]
        y += Rg[0, k] * R[2, k] - Rg[2, k] * R[0, k]
        z += Rg[1, k] * R[0, k] - Rg[0, k] * R[1, k]
        trace += Rg[0, k] * R[0, k] + Rg[1, k] * R[1, k] + Rg[2, k] * R[2, k]
    sine, cosine = 0.5 * math.sqrt(x * x + y * y + z * z), 0.5 * (trace - 1.0)
    angle = math.atan2(sine, cosine)
    if sine > 1e-9:
        scale = 0.5 * angle / sine
        e[0], e[1], e[2] = scale * x, scale * y, scale * z
    elif cosine > 0:
        e[0], e[1], e[2] = 0.0, 0.0, 0.0
    else:
        half_turn(Rg, R, e)
    return angle


@kernel
def axis_between(problem, Rg, R, e, current):
    """As ``rotation_between``, but the smallest rotation that aligns the tool axis with the target.

    The current direction of the axis in the base frame is stored in ``current`` (3,).
    """
    a, goal = problem.tool_axis, np.empty(3)
    for i in range(3):
        current[i] = R[i, 0] * a[0] + R[i, 1] * a[1] + R[i, 2] * a[2]
        goal[i] = Rg[i, 0] * a[0] + Rg[i, 1] * a[1] + Rg[i, 2] * a[2]
    x = current[1] * goal[2] - current[2] * goal[1]
    y = current[2] * goal[0] - current[0] * goal[2]
    z = current[0] * goal[1] - current[1] * goal[0]
    sine = math.sqrt(x * x + y * y + z * z)
    cosine = current[0] * goal[0] + current[1] * goal[1] + current[2] * goal[2]
    angle = math.atan2(sine, cosine)
    if sine > 1e-9:
        e[0], e[1], e[2] = angle / sine * x, angle / sine * y, angle / sine * z
    elif cosine > 0:
        e[0], e[1], e[2] = 0.0, 0.0, 0.0
    else:
        # Exactly opposite: any perpendicular axis is suitable; use one built from the smallest component.
        k = 0
        for i in range(1, 3):
            if abs(current[i]) < abs(current[k]):
                k = i
        i, j = (k + 1) % 3, (k + 2) % 3
        length = math.sqrt(current[i] ** 2 + current[j] ** 2)
        e[k], e[i], e[j] = 0.0, math.pi * current[j] / length, -math.pi * current[i] / length
    return angle

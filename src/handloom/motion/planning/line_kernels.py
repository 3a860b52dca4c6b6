"""Follow a straight Cartesian move with continuous joint motion."""

import math

import numpy as np

from handloom.kernels import inner_kernel, kernel
from handloom.motion.kinematics.ik_kernels import descend, make_scratch

# Why a line ended; ``follow_lines`` returns these.
ARRIVED, UNREACHABLE, JUMPED = 0, 1, 2


@inner_kernel
def turn_by(R, axis, angle, out):
    """Write the rotation R (3, 3), turned about a unit axis of the base by an angle [rad] (Rodrigues), to ``out``."""
    x, y, z, s, c = axis[0], axis[1], axis[2], math.sin(angle), math.cos(angle)
    t = 1.0 - c
    for j in range(3):
        a, b, d = R[0, j], R[1, j], R[2, j]
        dot = x * a + y * b + z * d
        out[0, j] = a * c + s * (y * d - z * b) + t * dot * x
        out[1, j] = b * c + s * (z * a - x * d) + t * dot * y
        out[2, j] = d * c + s * (x * b - y * a) + t * dot * z


@kernel
def follow_lines(chain, problem, R_start, p_start, turn, shift, steps, q_start, jump, out, reached, outcome):
    """Solve each pose on straight lines from the solution of the one before.

    Args:
        chain: ``ChainArrays``.
        problem: ``IkProblem``.
        R_start: Rotations at the start of each line (m, 3, 3).
        p_start: Positions at the start of each line (m, 3) [m].
        turn: Rotation vector of each line in the base (m, 3) [rad].
        shift: Translation of each line (m, 3) [m].
        steps: Number of poses after the start, for every line.
        q_start: Configurations at the start (m, n).
        jump: Largest joint motion between two poses [rad or m].
        out: Receives configurations (m, steps + 1, n).
        reached: Receives how many poses after the start were reached (m,).
        outcome: Receives ARRIVED, UNREACHABLE or JUMPED (m,).
    """
    n = q_start.shape[1]
    w, q, current = make_scratch(n), np.empty(n), np.zeros(3)
    R, p, axis = np.empty((3, 3)), np.empty(3), np.zeros(3)
    for line in range(q_start.shape[0]):
        angle = math.sqrt(turn[line, 0] ** 2 + turn[line, 1] ** 2 + turn[line, 2] ** 2)
        for i in range(3):
            axis[i] = turn[line, i] / angle if angle > 1e-12 else 0.0
        out[line, 0], q[:] = q_start[line], q_start[line]
        reached[line], outcome[line] = 0, ARRIVED
        for k in range(1, steps + 1):
            turn_by(R_start[line], axis, angle * k / steps, R)
            for i in range(3):
                p[i] = p_start[line, i] + shift[line, i] * k / steps
            distance, left = descend(chain, problem, R, p, q, w, current)
            if distance > problem.position_tolerance or left > problem.rotation_tolerance:
                outcome[line] = UNREACHABLE
                break
            largest = 0.0
            for i in range(n):
                largest = max(largest, abs(q[i] - out[line, k - 1, i]))
            if largest > jump:
                outcome[line] = JUMPED
                break
            out[line, k] = q
            reached[line] = k

"""Straight moves of the tool: follow the line with continuous joint motion, judge whether it is free."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.kernels import inner_kernel, kernel
from handloom.motion.kinematics import Chain, IkOptions, IkSolver
from handloom.motion.kinematics.ik_kernels import descend, make_scratch
from handloom.motion.planning.plan_context import PlanContext
from handloom.motion.planning.plan_result import PlanResult, PlanStatus
from handloom.spatial import rotvec_from_matrix

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


class Lines(NamedTuple):
    """Straight moves, each from its own configuration."""

    R: Array
    """Rotations of the tool at the start (m, 3, 3)."""
    p: Array
    """Positions of the tool at the start (m, 3) [m]."""
    turn: Array
    """Rotation vectors in the base (m, 3) [rad]."""
    shift: Array
    """Translations (m, 3) [m]."""
    q: Array
    """Configurations at the start (m, n)."""


class FollowedLines(NamedTuple):
    """What ``follow_lines`` fills."""

    q: Array
    """Configurations (m, steps + 1, n)."""
    reached: NDArray[np.int64]
    """Poses after the start that were reached (m,)."""
    outcome: NDArray[np.int64]
    """ARRIVED, UNREACHABLE or JUMPED (m,)."""


@kernel
def follow_lines(chain, problem, lines, jump, followed):
    """Solve each pose on straight lines from the solution of the one before.

    Args:
        chain: ``ChainArrays``.
        problem: ``IkProblem``.
        lines: ``Lines``.
        jump: Largest joint motion between two poses [rad or m].
        followed: ``FollowedLines``, filled.
    """
    out, reached, outcome, turn = followed.q, followed.reached, followed.outcome, lines.turn
    n, steps = out.shape[2], out.shape[1] - 1
    w, q = make_scratch(n), np.empty(n)
    R, p, axis = np.empty((3, 3)), np.empty(3), np.zeros(3)
    for line in range(out.shape[0]):
        angle = math.sqrt(turn[line, 0] ** 2 + turn[line, 1] ** 2 + turn[line, 2] ** 2)
        for i in range(3):
            axis[i] = turn[line, i] / angle if angle > 1e-12 else 0.0
        out[line, 0], q[:] = lines.q[line], lines.q[line]
        reached[line], outcome[line] = 0, ARRIVED
        for k in range(1, steps + 1):
            turn_by(lines.R[line], axis, angle * k / steps, R)
            for i in range(3):
                p[i] = lines.p[line, i] + lines.shift[line, i] * k / steps
            distance, left = descend(chain, problem, R, p, q, w)
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


TRACKING = 0.1
"""Poses on a line are met to this fraction of the tolerances, so that small errors do not add up to a jitter."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LineResult:
    """Joint motion along one straight move."""

    path: Array
    """Configurations (m, n), as far as the line could be followed."""
    fraction: float
    """Part of the line that was followed, 0 to 1."""
    jumped: bool
    """Whether it ended because the arm would have had to jump."""

    @property
    def arrived(self) -> bool:
        """Whether the end was reached."""
        return self.fraction >= 1.0


class CartesianLine:
    """Moves the tool of a chain along straight lines, turning evenly on the way."""

    def __init__(self, chain: Chain, options: IkOptions, *, step: float, turn: float, jump: float) -> None:
        self._chain, self._step, self._turn, self._jump = chain, step, turn, jump
        self._problem = IkSolver(chain, options).problem(tighten=TRACKING)

    def follow(self, q_start: Array, T_base_goal: Array) -> list[LineResult]:
        """Follow lines from configurations (m, n) to tool poses (m, 4, 4) in the base of the chain."""
        q = np.ascontiguousarray(q_start, float)
        T = self._chain.T_base_tool(q)
        turn = rotvec_from_matrix(T_base_goal[:, :3, :3] @ np.swapaxes(T[:, :3, :3], 1, 2))
        shift = T_base_goal[:, :3, 3] - T[:, :3, 3]
        longest = np.linalg.norm(shift, axis=1).max(initial=0.0) / self._step
        steps = max(1, int(np.ceil(max(longest, np.linalg.norm(turn, axis=1).max(initial=0.0) / self._turn))))
        lines = Lines(
            np.ascontiguousarray(T[:, :3, :3]),
            np.ascontiguousarray(T[:, :3, 3]),
            np.ascontiguousarray(turn),
            np.ascontiguousarray(shift),
            q,
        )
        followed = FollowedLines(
            np.empty((len(q), steps + 1, q.shape[1])), np.zeros(len(q), np.int64), np.zeros(len(q), np.int64)
        )
        follow_lines(self._chain.arrays, self._problem, lines, self._jump, followed)
        return [
            LineResult(
                path=out[: reached + 1],
                fraction=1.0 if outcome == ARRIVED else reached / steps,
                jumped=bool(outcome == JUMPED),
            )
            for out, reached, outcome in zip(*followed, strict=True)
        ]


def judge_line(context: PlanContext, line: LineResult) -> Array | PlanResult:
    """Return the joint path of a straight move (m, n), or the failure.

    Lines are checked exactly and without padding. Contacts at their start are tolerated as deep as they are, up to
    the planner's contact tolerance.
    """
    options = context.options
    if not line.arrived:
        status = PlanStatus.LINE_JUMPS if line.jumped else PlanStatus.LINE_UNREACHABLE
        why = "the arm would have to jump to another configuration" if line.jumped else "no configuration reaches on"
        return context.fail(
            status, f"the straight move ends after {100 * line.fraction:.0f} %: {why}", fraction=line.fraction
        )
    at_start = context.scene.exact.touches(line.path[0])
    allowed = {frozenset((t.part, t.other)): t.depth + 1e-4 for t in at_start if t.depth <= options.contact_tolerance}
    hit = context.scene.first_collision(line.path, step=options.exact_step, allowed=allowed)
    if hit is None:
        return line.path
    fraction = (hit.segment + hit.fraction) / max(1, len(line.path) - 1)
    return context.fail(
        PlanStatus.LINE_IN_COLLISION,
        f"the straight move collides after {100 * fraction:.0f} %: {hit.touch}",
        touches=(hit.touch,),
        fraction=fraction,
    )

"""Straight moves of tools: follow the lines with continuous joint motion and check them for collisions."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.kernels import inner_kernel, kernel
from handloom.motion.kinematics import IkOptions, IkSolver
from handloom.motion.kinematics.ik_kernels import descend, make_scratch
from handloom.motion.planning.arm_group import ArmGroup
from handloom.motion.planning.plan_context import PlanContext
from handloom.motion.planning.plan_result import PlanResult, PlanStatus
from handloom.spatial import rotvec_from_matrix

# Reasons for the end of a line, returned by ``follow_lines``.
ARRIVED, UNREACHABLE, JUMPED = 0, 1, 2


@inner_kernel
def turn_by(R, axis, angle, out):
    """Write the columns of R (3, k), rotated about a unit axis of the base by an angle [rad], to ``out``."""
    x, y, z, s, c = axis[0], axis[1], axis[2], math.sin(angle), math.cos(angle)
    t = 1.0 - c
    for j in range(R.shape[1]):
        a, b, d = R[0, j], R[1, j], R[2, j]
        dot = x * a + y * b + z * d
        out[0, j] = a * c + s * (y * d - z * b) + t * dot * x
        out[1, j] = b * c + s * (z * a - x * d) + t * dot * y
        out[2, j] = d * c + s * (x * b - y * a) + t * dot * z


class Lines(NamedTuple):
    """Straight moves of a point that rotates together with the tool; each from its own configuration."""

    R: Array
    """Rotations of the tool at the start (m, 3, 3)."""
    p: Array
    """Positions of the point at the start (m, 3) [m]."""
    lever: Array
    """Vector from the point to the tool at the start (m, 3, 1) [m]; zero if the tool itself moves straight."""
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
    """Number of poses reached after the start (m,)."""
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
    R, p, axis, lever = np.empty((3, 3)), np.empty(3), np.zeros(3), np.empty((3, 1))
    for line in range(out.shape[0]):
        angle = math.sqrt(turn[line, 0] ** 2 + turn[line, 1] ** 2 + turn[line, 2] ** 2)
        for i in range(3):
            axis[i] = turn[line, i] / angle if angle > 1e-12 else 0.0
        out[line, 0], q[:] = lines.q[line], lines.q[line]
        reached[line], outcome[line] = 0, ARRIVED
        for k in range(1, steps + 1):
            turn_by(lines.R[line], axis, angle * k / steps, R)
            turn_by(lines.lever[line], axis, angle * k / steps, lever)
            for i in range(3):
                p[i] = lines.p[line, i] + lines.shift[line, i] * k / steps + lever[i, 0]
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
"""Fraction of the tolerances to which poses on a line are met, so that small errors do not cause jitter."""
TRACKING_TOGETHER = 0.02
"""The same for several arms: with hands half a metre apart, a quarter of a degree is two millimetres."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LineResult:
    """Joint motion along one straight move."""

    path: Array
    """Configurations (m, n), as far as the line could be followed."""
    fraction: float
    """Fraction of the line that was followed, 0 to 1."""
    jumped: bool
    """Whether it ended because the arm would have to jump."""
    tool: str = ""
    """Tool that could not continue, if there are several."""

    @property
    def arrived(self) -> bool:
        """Whether the end was reached."""
        return self.fraction >= 1.0


class CartesianLine:
    """Moves the tools of one or several arms along straight lines simultaneously, with uniform rotation."""

    def __init__(self, arms: ArmGroup, options: IkOptions, *, step: float, turn: float, jump: float) -> None:
        self.arms = arms
        self._step, self._turn, self._jump = step, turn, jump
        tighten = TRACKING if len(arms) == 1 else TRACKING_TOGETHER
        self._problems = [IkSolver(chain, options).problem(tighten=tighten) for chain in arms.chains]

    def follow(self, q_start: Array, T_base_goal: Array, *, together: bool = False) -> list[LineResult]:
        """Follow lines from configurations (m, n) to tool poses (m, arms, 4, 4), each in the base of its arm.

        Args:
            q_start: Where the lines start.
            T_base_goal: Where they end.
            together: Move the tools as one rigid body, so that the midpoint between them moves straight; their relative
                poses must be the same at start and goal.
        """
        q = np.ascontiguousarray(q_start, float)
        T = self.arms.tools(q)
        turn = rotvec_from_matrix(T_base_goal[..., :3, :3] @ np.swapaxes(T[..., :3, :3], -1, -2))
        p, p_goal = (self.arms.middle(poses) if together else poses[..., :3, 3] for poses in (T, T_base_goal))
        shift, lever = p_goal - p, T[..., :3, 3] - p
        longest = np.linalg.norm(shift, axis=-1).max(initial=0.0) / self._step
        steps = max(1, int(np.ceil(max(longest, np.linalg.norm(turn, axis=-1).max(initial=0.0) / self._turn))))
        whole = np.empty((len(q), steps + 1, q.shape[1]))
        reached, outcome = np.empty((2, len(self.arms), len(q)), np.int64)
        for arm, (chain, columns) in enumerate(zip(self.arms.chains, self.arms.columns, strict=True)):
            values = (T[:, arm, :3, :3], p[:, arm], lever[:, arm, :, None], turn[:, arm], shift[:, arm], q[:, columns])
            out = np.empty((len(q), steps + 1, chain.dof))
            lines, followed = Lines(*map(np.ascontiguousarray, values)), FollowedLines(out, reached[arm], outcome[arm])
            follow_lines(chain.arrays, self._problems[arm], lines, self._jump, followed)
            whole[..., columns] = out
        return [self._result(whole[k], reached[:, k], outcome[:, k]) for k in range(len(q))]

    def _result(self, path: Array, reached: NDArray[np.int64], outcome: NDArray[np.int64]) -> LineResult:
        """Return the motion of all arms, as far as each can follow."""
        steps, first = len(path) - 1, int(np.argmin(reached))
        return LineResult(
            path=path[: reached[first] + 1],
            fraction=1.0 if outcome[first] == ARRIVED else float(reached[first] / steps),
            jumped=bool(outcome[first] == JUMPED),
            tool=self.arms.chains[first].tool if len(self.arms) > 1 else "",
        )


APART, TWIST = 0.001, 0.005
"""Tolerance for equal relative poses at both ends of tools that move as one body [m], [rad]."""


def straight_move(
    context: PlanContext, line: CartesianLine, q: Array, T_base_goal: Array, *, together: bool = False
) -> Array | PlanResult:
    """Return the joint path (m, n) of a straight move from a configuration to poses (arms, 4, 4), or the failure."""
    if together:
        arms = line.arms
        apart, twist = arms.shift(T_base_goal, arms.relative(arms.tools(q)))
        if apart > APART or twist > TWIST:
            reason = f"the goal moves the tools relative to one another by {1000 * apart:.1f} mm and {twist:.3f} rad"
            return context.fail(PlanStatus.HOLD_BROKEN, reason, excess=float(apart))
    return judge_line(context, line.follow(q[None], T_base_goal[None], together=together)[0])


def judge_line(context: PlanContext, line: LineResult) -> Array | PlanResult:
    """Return the joint path of a straight move (m, n), or the failure.

    Lines are checked exactly and without padding. Contacts at the start are tolerated at their current depth, up to the
    planner's contact tolerance.
    """
    options = context.options
    if not line.arrived:
        status = PlanStatus.LINE_JUMPS if line.jumped else PlanStatus.LINE_UNREACHABLE
        why = "the arm would have to jump to another configuration" if line.jumped else "no configuration reaches on"
        whose = f" of {line.tool}" if line.tool else ""
        reason = f"the straight move{whose} ends after {100 * line.fraction:.0f} %: {why}"
        return context.fail(status, reason, fraction=line.fraction)
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

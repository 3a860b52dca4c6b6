"""Straight moves of the tool."""

from dataclasses import dataclass

import numpy as np

from handloom.arrays import Array
from handloom.motion.kinematics import Chain, IkOptions, IkSolver
from handloom.motion.planning.line_kernels import ARRIVED, JUMPED, follow_lines
from handloom.spatial import rotvec_from_matrix

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
        out = np.empty((len(q), steps + 1, q.shape[1]))
        reached, outcome = np.zeros(len(q), np.int64), np.zeros(len(q), np.int64)
        follow_lines(
            self._chain.arrays,
            self._problem,
            np.ascontiguousarray(T[:, :3, :3]),
            np.ascontiguousarray(T[:, :3, 3]),
            np.ascontiguousarray(turn),
            np.ascontiguousarray(shift),
            steps,
            q,
            self._jump,
            out,
            reached,
            outcome,
        )
        return [
            LineResult(
                path=out[i, : reached[i] + 1],
                fraction=1.0 if outcome[i] == ARRIVED else reached[i] / steps,
                jumped=bool(outcome[i] == JUMPED),
            )
            for i in range(len(q))
        ]

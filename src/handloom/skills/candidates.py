"""Choose among candidate poses: the first whose whole chain of moves is possible."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from handloom.motion.planning import Stage as Move
from handloom.skills.plan_failure import plan_failure
from handloom.skills.skill import Skill
from handloom.values import Failure, Stage

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Chosen:
    """The candidate that won."""

    index: int
    paths: tuple[Array | None, ...]
    """Joint path of each move (m, n); None where only the end was tested, so that the controller plans it."""

    def params(self, move: int) -> dict[str, Array]:
        """Return the command parameters that make the controller play the tested path of a move."""
        path = self.paths[move]
        return {} if path is None else {"path": path}


def choose(skill: Skill, moves: Sequence[Move], *, test_mode: str) -> Chosen | None:
    """Return the first candidate that passes, or None after telling the skill why there is none.

    Each move is tested from where the one before ends: testing all of them from the present joints, as published,
    accepts grasps that the arm cannot get to.

    Args:
        skill: The skill that asks.
        moves: Poses (n, 4, 4) of each move, the same candidates in the same order.
        test_mode: ``forward`` plans the whole chain, ``ik`` only looks for free configurations at the poses.
    """
    chosen, failure = _by_ik(skill, moves) if test_mode == "ik" else _by_plan(skill, moves)
    if failure is not None:
        skill.manip_list, skill.failure = [], replace(failure, skill=skill.config.name)
    return chosen


def _by_plan(skill: Skill, moves: Sequence[Move]) -> tuple[Chosen | None, Failure | None]:
    result = skill.controller.plan(moves)
    if not result.ok:
        return None, plan_failure(result)
    return Chosen(index=result.goal, paths=result.segments), None


def _by_ik(skill: Skill, moves: Sequence[Move]) -> tuple[Chosen | None, Failure | None]:
    tests = [skill.controller.reachable(move.T_base_tool, ignore=move.ignore) for move in moves]
    free = np.all([test.free for test in tests], axis=0)
    if free.any():
        return Chosen(index=int(np.argmax(free)), paths=(None,) * len(moves)), None
    reachable = int(np.all([test.reachable for test in tests], axis=0).sum())
    counts = {"given": len(free), "reachable": reachable}
    detail = f"of {len(free)} candidates {reachable} can be reached, none without collision"
    stage, reason = (Stage.PLAN, "goal_in_collision") if reachable else (Stage.REACH, "goal_unreachable")
    return None, Failure(stage=stage, reason=reason, detail=detail, counts=counts)

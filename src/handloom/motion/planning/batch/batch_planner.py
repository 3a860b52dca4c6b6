"""Many planning problems in one call: each with its own robot, obstacles, start and goals."""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from handloom.errors import unknown_name
from handloom.motion.planning.arm_planner import ArmPlanner
from handloom.motion.planning.plan_result import PlanResult

DEVICES = ("cpu", "cuda")


@dataclass(frozen=True, kw_only=True, eq=False)
class PlanProblem:
    """A request to one planner, which defines the robot, its surroundings, and the options with their seed."""

    planner: ArmPlanner
    """Two problems of a batch may share one only if they differ only in start and goals."""
    q_start: ArrayLike
    """Start configuration (n,)."""
    q_goal: ArrayLike
    """Goal configuration (n,), or several alternatives (g, n)."""
    ignore: tuple[str, ...] = ()
    """Obstacles to ignore in this request, by part of their name."""

    def plan(self) -> PlanResult:
        """Plan the problem on the CPU."""
        return self.planner.plan_to_joints(self.q_start, self.q_goal, ignore=self.ignore)


@dataclass(frozen=True, kw_only=True)
class BatchCounts:
    """Where the problems of the last call were solved; ``card`` and the ``processor`` ones add up to ``given``."""

    given: int = 0
    card: int = 0
    """Path found on the GPU and verified exactly on the CPU."""
    processor_ends: int = 0
    """Planned on the CPU: an end is out of limits, collides, or has too little room for the spheres."""
    processor_search: int = 0
    """Planned on the CPU: the GPU rounds found nothing, or the robot is too large for the GPU."""
    processor_verify: int = 0
    """Planned on the CPU: exact verification rejected every path that the GPU found."""
    refused: int = 0
    """GPU paths that exact verification rejected; these were searched again with more padding."""


class BatchPlanner:
    """Plans many problems at once, with the same results as planning them one by one.

    On a GPU, all problems are searched at once, each in its own block, with the same samples as on the CPU. Paths are
    then verified exactly on the CPU, in separate processes. Problems that the GPU cannot solve are planned on the CPU,
    from the moment that this is known.
    Results, statuses and reasons are those of :meth:`ArmPlanner.plan_to_joints`; the same call on the same GPU returns
    the same bits.

    Args:
        device: ``cpu``, or ``cuda`` for an NVIDIA GPU (extra ``gpu``).
        workers: Number of threads that plan and of processes that verify; None uses one per core.
        parts: Number of parts of a batch, which the GPU and the processes work on in turn; None uses the default.

    Raises:
        MissingExtraError: CuPy is not installed.
        StateError: There is no GPU.
    """

    def __init__(self, device: str = "cpu", *, workers: int | None = None, parts: int | None = None) -> None:
        if device not in DEVICES:
            raise unknown_name("device", device, DEVICES)
        self._workers = workers or os.cpu_count() or 1
        self._card: Any = None
        if device == "cuda":
            from handloom.motion.planning.batch.card_batch import PARTS, CardBatch
            from handloom.motion.planning.cuda.card_search import card_search

            self._card = CardBatch(card_search(), workers=self._workers, parts=parts or PARTS)
        self.counts = BatchCounts()
        """Outcome counts of the problems of the last call."""

    def plan(self, problems: Sequence[PlanProblem]) -> list[PlanResult]:
        """Return the result of each problem."""
        if self._card is None:
            self.counts = BatchCounts(given=len(problems))
            return self._on_processor(problems)
        results, self.counts = self._card.plan(problems)
        return results

    def _on_processor(self, problems: Sequence[PlanProblem]) -> list[PlanResult]:
        """Plan problems on threads; problems that share a planner run sequentially."""
        turns: dict[int, list[int]] = {}
        for k, problem in enumerate(problems):
            turns.setdefault(id(problem.planner), []).append(k)
        results: list[Any] = [None] * len(problems)

        def settle(mine: list[int]) -> None:
            for k in mine:
                results[k] = problems[k].plan()

        if self._workers == 1 or len(turns) < 2:
            for mine in turns.values():
                settle(mine)
        else:
            with ThreadPoolExecutor(min(self._workers, len(turns))) as pool:
                list(pool.map(settle, turns.values()))
        return results

    @property
    def timings(self) -> dict[str, float]:
        """Time spent per stage of the last call on a GPU [s]."""
        return {} if self._card is None else dict(self._card.timings)

    def close(self) -> None:
        """Stop the verification processes."""
        if self._card is not None:
            self._card.close()

    def __enter__(self) -> "BatchPlanner":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def as_goals(q_goal: ArrayLike) -> np.ndarray:
    """Return goals as rows (g, n)."""
    return np.atleast_2d(np.asarray(q_goal, float))

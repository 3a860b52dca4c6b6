"""Problems planned on the CPU while a GPU and other processes solve the rest of their batch."""

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import TYPE_CHECKING, Self

from handloom.motion.planning.plan_result import PlanResult

if TYPE_CHECKING:
    from handloom.motion.planning.batch.batch_planner import PlanProblem


class ProcessorPlans:
    """Plans problems on threads as soon as they are given; those that share a planner one after the other.

    Args:
        problems: All problems of the batch.
        workers: Number of threads.
    """

    def __init__(self, problems: Sequence["PlanProblem"], workers: int) -> None:
        self._problems = problems
        self._pool = ThreadPoolExecutor(workers)
        self._turn: dict[int, Lock] = {}
        self._begun: dict[int, Future[PlanResult]] = {}

    def begin(self, k: int) -> None:
        """Begin to plan a problem."""
        turn = self._turn.setdefault(id(self._problems[k].planner), Lock())
        self._begun[k] = self._pool.submit(self._plan, k, turn)

    def results(self) -> dict[int, PlanResult]:
        """Wait for all results, and return them by problem."""
        return {k: future.result() for k, future in self._begun.items()}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def _plan(self, k: int, turn: Lock) -> PlanResult:
        with turn:
            return self._problems[k].plan()

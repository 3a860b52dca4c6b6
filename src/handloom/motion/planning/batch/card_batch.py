"""Solves problems on a GPU: pack, search in rounds, verify, and search again with more padding."""

from collections import deque
from collections.abc import Generator, Sequence
from itertools import pairwise
from time import perf_counter
from typing import Any

from handloom.motion.collision import CollisionRobot
from handloom.motion.planning.batch.batch_planner import BatchCounts, PlanProblem
from handloom.motion.planning.batch.card_part import CardPart
from handloom.motion.planning.batch.pack_problems import KnownRobot, PackedProblems, pack
from handloom.motion.planning.batch.path_judges import PathJudges
from handloom.motion.planning.cuda.card_search import CardSearch
from handloom.motion.planning.plan_result import PlanResult

PARTS, SMALLEST_PART = 4, 64
"""A batch is processed in parts: while one is packed, the GPU searches another and processes verify a third."""


class CardBatch:
    """Solves as much of a batch as possible on a GPU.

    Args:
        search: The searches of a GPU.
        workers: Processes that verify.
    """

    def __init__(self, search: CardSearch, *, workers: int) -> None:
        self._search, self._judges = search, PathJudges(workers)
        self._known: dict[int, KnownRobot] = {}
        self.timings: dict[str, float] = {}
        """Time that this process worked on or waited for each stage of the last call [s]."""

    def plan(self, problems: Sequence[PlanProblem]) -> tuple[list[Any], list[int], BatchCounts]:
        """Return the results, None for unsolved problems; the problems left to the CPU; and the counts."""
        results: list[PlanResult | None] = [None] * len(problems)
        self.timings = {"pack": 0.0, "search": 0.0, "verify": 0.0}
        count = max(1, min(PARTS, len(problems) // SMALLEST_PART))
        edges = [len(problems) * k // count for k in range(count + 1)]
        parts: list[CardPart] = []
        odd = 0
        waiting: deque[Generator[str]] = deque()
        for a, b in pairwise(edges):
            begin = perf_counter()
            packed, left_out = pack(problems[a:b], self._know)
            odd += left_out
            if packed.numbers:
                packed = packed._replace(numbers=[a + k for k in packed.numbers])
                parts.append(self._part(problems, packed))
                waiting.append(parts[-1].steps(results))
                next(waiting[-1])
            self.timings["pack"] += perf_counter() - begin
        while waiting:
            steps, begin = waiting.popleft(), perf_counter()
            stage = next(steps, "")
            if stage:
                waiting.append(steps)
            self.timings[stage or "verify"] += perf_counter() - begin
        left = [k for k, result in enumerate(results) if result is None]
        ends, lost = odd + sum(part.blocked for part in parts), sum(part.lost for part in parts)
        counts = BatchCounts(
            given=len(problems),
            card=len(problems) - len(left),
            processor_ends=ends,
            processor_search=len(left) - ends - lost,
            processor_verify=lost,
            refused=sum(part.refused for part in parts),
        )
        return results, left, counts

    def close(self) -> None:
        """Stop the verification processes."""
        self._judges.close()

    def _part(self, problems: Sequence[PlanProblem], packed: PackedProblems) -> CardPart:
        options = [problems[k].planner.options for k in packed.numbers]
        return CardPart(packed, options, self._search, self._judges)

    def _know(self, robot: CollisionRobot) -> KnownRobot:
        """Return the cached data of a robot, which is kept alive so that its identity stays unique."""
        if id(robot) not in self._known:
            self._known[id(robot)] = KnownRobot(robot, str(len(self._known)))
        return self._known[id(robot)]

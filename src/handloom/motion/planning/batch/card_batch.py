"""Solves problems on a GPU: pack, search in rounds, verify, and search again with more padding."""

import secrets
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from time import perf_counter, sleep

import numpy as np

from handloom.motion.collision import CollisionRobot, Obstacle
from handloom.motion.planning.batch.batch_planner import BatchCounts, PlanProblem
from handloom.motion.planning.batch.card_part import ON_PROCESSOR, CardPart
from handloom.motion.planning.batch.pack_problems import KnownRobot, pack
from handloom.motion.planning.batch.path_judges import PathJudges
from handloom.motion.planning.batch.processor_plans import ProcessorPlans
from handloom.motion.planning.cuda.card_search import CardSearch
from handloom.motion.planning.plan_result import PlanResult

PARTS, SMALLEST_PART = 4, 64
"""A batch is processed in parts: while one is packed, the GPU searches another and processes verify a third."""
LOOK_EVERY = 2e-4
"""Time between two looks at the GPU while there is nothing else to do [s]."""
WAITS = ("search", "verify", "left")
"""What a part can wait for; time in which all parts wait counts for the first one that any of them waits for."""


@dataclass(kw_only=True, eq=False)
class _Working:
    """A part and its steps."""

    part: CardPart
    steps: Generator[str]
    waits: str = "search"
    """What it waits for; empty once it is finished."""


class CardBatch:
    """Solves batches with a GPU, and what it cannot solve on the CPU at the same time.

    Args:
        search: The searches of a GPU.
        workers: Processes that verify, and threads that plan what is left to the CPU from the beginning.
        parts: Number of parts of a batch.
    """

    def __init__(self, search: CardSearch, *, workers: int, parts: int = PARTS) -> None:
        self._search, self._judges = search, PathJudges(workers)
        self._workers, self._parts = workers, parts
        self._known: dict[int, KnownRobot] = {}
        self.timings: dict[str, float] = {}
        """Time that this process worked on or waited for each stage of the last call [s]."""

    def plan(self, problems: Sequence[PlanProblem]) -> tuple[list[PlanResult], BatchCounts]:
        """Return the result of each problem, and where they were found."""
        results: list[PlanResult | None] = [None] * len(problems)
        self.timings = dict.fromkeys(("pack", "upload", "take", *WAITS), 0.0)
        working: list[_Working] = []
        odd = 0
        with ProcessorPlans(problems, self._workers) as plans:
            begin = perf_counter()
            around = [problem.planner.look_around(problem.ignore) for problem in problems]
            self._count("pack", begin)
            for some in self._split(around):
                begin = perf_counter()
                packed = pack([problems[k] for k in some], [around[k] for k in some], self._know)
                for k in set(some) - {some[k] for k in packed.numbers}:
                    plans.begin(k)
                    odd += 1
                if packed.numbers:
                    packed = packed._replace(numbers=[some[k] for k in packed.numbers])
                    options = [problems[k].planner.options for k in packed.numbers]
                    part = CardPart(packed, options, self._search, self._judges)
                    working.append(_Working(part=part, steps=part.steps(results, plans.begin)))
                self._count("pack", begin)
                self._advance(working)
            while self._advance(working):
                self._wait([one.waits for one in working])
            begin = perf_counter()
            for k, result in plans.results().items():
                results[k] = replace(result, notes=(*result.notes, ON_PROCESSOR))
            self._count("left", begin)
        parts = [one.part for one in working]
        for part in parts:
            for stage, seconds in part.timings.items():
                self.timings[stage] += seconds
        ends, lost = odd + sum(part.blocked for part in parts), sum(part.lost for part in parts)
        solved = sum(part.solved for part in parts)
        counts = BatchCounts(
            given=len(problems),
            card=solved,
            processor_ends=ends,
            processor_search=len(problems) - solved - ends - lost,
            processor_verify=lost,
            refused=sum(part.refused for part in parts),
        )
        assert all(result is not None for result in results)
        return [result for result in results if result is not None], counts

    def close(self) -> None:
        """Stop the verification processes."""
        self._judges.close()

    def _split(self, around: Sequence[Sequence[Obstacle]]) -> list[list[int]]:
        """Return the problems of each part, those with the most obstacles first.

        Most of the problems that are left to the CPU are among these, and they decide when the batch is finished.
        """
        order = np.argsort([-len(world) for world in around], kind="stable").tolist()
        count = max(1, min(self._parts, len(order) // SMALLEST_PART))
        edges = [len(order) * k // count for k in range(count + 1)]
        return [order[a:b] for a, b in pairwise(edges) if b > a]

    def _advance(self, working: Sequence[_Working]) -> bool:
        """Let every part do what it can without waiting; return whether any is unfinished."""
        self._judges.pool.collect()
        for one in working:
            if one.waits:
                one.waits = next(one.steps, "")
        return any(one.waits for one in working)

    def _wait(self, waits: Sequence[str]) -> None:
        """Wait for a moment, or until a process has finished a task."""
        begin = perf_counter()
        stage = next(stage for stage in WAITS if stage in waits)
        if stage == "search":
            if not self._judges.pool.collect(LOOK_EVERY):
                sleep(LOOK_EVERY / 4)
        else:
            self._judges.pool.collect(1.0)
        self._count(stage, begin)

    def _count(self, stage: str, begin: float) -> None:
        self.timings[stage] += perf_counter() - begin

    def _know(self, robot: CollisionRobot) -> KnownRobot:
        """Return the cached data of a robot, which is kept alive so that its identity stays unique."""
        if id(robot) not in self._known:
            # With one worker this process judges for several batches, each of which knows other robots.
            self._known[id(robot)] = KnownRobot(robot, secrets.token_hex(8))
        return self._known[id(robot)]

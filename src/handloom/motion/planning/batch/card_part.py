"""Part of a batch, processed by the GPU and the verification processes."""

from collections.abc import Generator, Sequence
from concurrent.futures import Future
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.motion.planning.batch.pack_problems import PackedProblems
from handloom.motion.planning.batch.path_judges import PathJudges, PathToJudge
from handloom.motion.planning.cuda.card_search import JOB, CardSearch, FoundPath
from handloom.motion.planning.cuda.problem_tables import tables_of
from handloom.motion.planning.path_search import MORE_PADDING, ROUNDS
from handloom.motion.planning.plan_result import PlanResult, PlanStatus
from handloom.motion.planning.planner_options import PlannerOptions

Ways = tuple[tuple[float, float, int], ...]
"""Fraction of the tree step, fraction of the padding, and weight of a sample, for searches that run in parallel."""
FIRST: Ways = ((1.0, 1.0, 1),)
"""Every problem is searched once, as in the CPU's first round."""
THEN: Ways = (*((step, 1.0, 1) for step in (0.5, 1.0, 0.5, 1.0)), *((step, 0.0, 4) for step in (0.5, 1.0, 0.25, 0.5)))
"""The remaining problems are searched with several settings at once. The time of a random search has a long tail: the
minimum of several is far below their mean. Without padding passages are wider; a path with padding is preferred unless
it takes four times the samples."""
SAMPLES = ROUNDS[0][0], 0.5
"""Samples of a search, as a fraction of the option: for the first search, and for each of the following ones."""

Verdicts = list[tuple[list[int], list[Future[list[bool]]]]]


class CardPart:
    """Some problems of a batch, searched and verified together."""

    def __init__(
        self, packed: PackedProblems, options: Sequence[PlannerOptions], search: CardSearch, judges: PathJudges
    ) -> None:
        self._packed, self._options, self._judges = packed, options, judges
        tables = tables_of([known.view for known in packed.known], packed.which, packed.rows, packed.checked)
        self._loaded = search.load(tables, packed.starts, packed.goals)
        self._seeds = np.array([option.seed * 1_000_003 % 2**64 for option in options], np.uint64)
        self._given = np.array(
            [(o.iterations, len(goals), o.tree_step, o.shortcuts, o.checks_per_unit, o.padding)
             for o, goals in zip(options, packed.goals, strict=True)]
        )  # fmt: skip
        """Per problem: samples per round, minimum samples, longest edge, shortcuts, checks per unit, padding."""
        self._drawn = np.zeros(len(options), np.int64)
        self._more, self._tight = self._drawn.copy(), np.zeros(len(options), bool)
        self.lost = self.refused = 0

    def steps(self, results: list[PlanResult | None]) -> Generator[str]:
        """Solve the problems, step by step: yields what it waits for instead of waiting."""
        scenes = None
        todo = np.arange(len(self._options))
        while len(todo):
            found, waiting = {}, []
            for number, ways in enumerate((FIRST, THEN)):
                todo = todo[~self._tight[todo]]
                jobs = self._jobs(todo, ways, SAMPLES[number], number * len(FIRST))
                if not len(jobs):
                    continue
                running = self._loaded.start(jobs, max(option.tree_size for option in self._options))
                scenes = self._judges.share(self._packed.scenes) if scenes is None else scenes
                yield "search"
                fresh = self._take(jobs, *running.wait())
                found |= fresh
                todo = np.array([p for p in todo.tolist() if p not in fresh], np.int64)
                waiting += self._submit(fresh, scenes)
            yield "verify"
            todo = np.array(self._judged(found, waiting, results), np.int64)
        if scenes is not None:
            self._judges.give_back(scenes)

    @property
    def blocked(self) -> int:
        """Problems with an end without room for the padded spheres."""
        return int(self._tight.sum())

    def _jobs(self, todo: NDArray[np.int64], ways: Ways, share: float, seed: int) -> NDArray[Any]:
        """Return the search jobs for problems."""
        problem, number = np.repeat(todo, len(ways)), np.tile(np.arange(len(ways)), len(todo))
        given, way, more = self._given[problem], np.array(ways)[number], self._more[problem]
        jobs = np.zeros(len(problem), JOB)
        jobs["seed"] = self._seeds[problem] + (101 * (seed + number) + more).astype(np.uint64)
        jobs["problem"], jobs["number"], jobs["weight"] = problem, number, way[:, 2]
        jobs["iterations"] = np.maximum(np.ceil(share * given[:, 0]), given[:, 1])
        jobs["step"], jobs["shortcuts"], jobs["per_unit"] = way[:, 0] * given[:, 2], given[:, 3], given[:, 4]
        jobs["padding"] = way[:, 1] * given[:, 5] + more * MORE_PADDING
        return jobs

    def _take(self, jobs: NDArray[Any], paths: list[FoundPath | None], rows: NDArray[Any]) -> dict[int, FoundPath]:
        """Return for each problem the path with the fewest weighted samples, the first one on ties."""
        found: dict[int, FoundPath] = {}
        least: dict[int, int] = {}
        cost = (rows["iterations"] * jobs["weight"]).tolist()
        for p, path, taken in zip(jobs["problem"].tolist(), paths, cost, strict=True):
            if path is not None and taken < least.get(p, taken + 1):
                found[p], least[p] = path, taken
        for p, path in found.items():
            self._drawn[p] += path.iterations
        failed = [k for k, p in enumerate(jobs["problem"].tolist()) if p not in found and jobs["number"][k] == 0]
        self._drawn[jobs["problem"][failed]] += rows["iterations"][failed]
        # No search starts at an end without room.
        tight = jobs["problem"][(rows["blocked"] != 0) & (jobs["padding"] <= self._given[jobs["problem"], 5] + 1e-6)]
        self._tight[tight] = True
        return found

    def _submit(self, found: dict[int, FoundPath], scenes: Any) -> Verdicts:
        """Pass paths to the verification processes."""
        waiting: Verdicts = []
        for r, known in enumerate(self._packed.known):
            mine = [p for p in found if self._packed.which[p] == r]
            paths = [PathToJudge(p, self._exact_ends(p, found[p]), self._options[p].exact_step) for p in mine]
            waiting.append((mine, self._judges.submit(known.told, scenes, paths)))
        return waiting

    def _judged(self, found: dict[int, FoundPath], waiting: Verdicts, results: list[PlanResult | None]) -> list[int]:
        """Store the results of free paths; return the problems to search again with more padding."""
        again = []
        for mine, futures in waiting:
            verdicts = [verdict for future in futures for verdict in future.result()]
            for p, free in zip(mine, verdicts, strict=True):
                if free:
                    results[self._packed.numbers[p]] = self._result(p, found[p])
                    continue
                self.refused += 1
                self._more[p] += 1
                if self._more[p] > self._options[p].verify_retries:
                    self.lost += 1
                else:
                    again.append(p)
        return again

    def _exact_ends(self, p: int, path: FoundPath) -> Array:
        """Return the waypoints, within limits, with exactly the requested ends."""
        lower, upper = self._packed.known[self._packed.which[p]].limits
        waypoints = np.minimum(np.maximum(path.waypoints, lower), upper)
        waypoints[0], waypoints[-1] = self._packed.starts[p], self._packed.goals[p][path.goal]
        return waypoints

    def _result(self, p: int, path: FoundPath) -> PlanResult:
        waypoints, options, notes = self._exact_ends(p, path), self._options[p], ()
        if path.padding < options.padding - 1e-6:
            notes = (
                f"the path was searched with {1000 * path.padding:.0f} mm instead of the padding of "
                f"{1000 * options.padding:.0f} mm and is exactly free",
            )
        return PlanResult(
            status=PlanStatus.SUCCESS,
            path=waypoints,
            segments=(waypoints,),
            notes=notes,
            goal=path.goal,
            iterations=int(self._drawn[p]),
        )

"""Part of a batch on its way over the card and the processes that verify."""

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

FIRST_ROUNDS = 1
"""Rounds that are run for all problems at first; those left run the other rounds of the card all at once."""
CARD_ROUNDS = 5
"""Rounds that the card runs; the last one, for few problems, is left to the processor."""

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
        """Of each problem: samples per round, least samples, longest edge, shortcuts, checks per unit, padding."""
        self._drawn = np.zeros(len(options), np.int64)
        self._more, self._first = self._drawn.copy(), self._drawn.copy()
        self.blocked = self.lost = self.refused = 0

    def steps(self, results: list[PlanResult | None]) -> Generator[str]:
        """Settle the problems, step by step: wherever it would have to wait it says for what."""
        scenes = None
        todo = np.arange(len(self._options))
        while len(todo):
            found, waiting = {}, []
            for rounds in (range(FIRST_ROUNDS), range(FIRST_ROUNDS, CARD_ROUNDS)):
                jobs = self._jobs(todo, rounds)
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

    def _jobs(self, todo: NDArray[np.int64], rounds: range) -> NDArray[Any]:
        """Return how rounds of problems are run: as ``Search.run`` does."""
        wanted = np.array(rounds, np.int64)
        problem, number = np.repeat(todo, len(wanted)), np.tile(wanted, len(todo))
        later = number >= self._first[problem]
        problem, number = problem[later], number[later]
        given, effort, more = self._given[problem], np.array(ROUNDS)[number], self._more[problem]
        jobs = np.zeros(len(problem), JOB)
        jobs["seed"] = self._seeds[problem] + (101 * number + more).astype(np.uint64)
        jobs["problem"], jobs["round"] = problem, number
        jobs["iterations"] = np.maximum(np.ceil(effort[:, 0] * given[:, 0]), given[:, 1])
        jobs["step"], jobs["shortcuts"], jobs["per_unit"] = effort[:, 1] * given[:, 2], given[:, 3], given[:, 4]
        jobs["padding"] = effort[:, 2] * given[:, 5] + more * MORE_PADDING
        return jobs

    def _take(self, jobs: NDArray[Any], paths: list[FoundPath | None], rows: NDArray[Any]) -> dict[int, FoundPath]:
        """Return the path of the first round that has one, for problems where there is such a round."""
        found: dict[int, FoundPath] = {}
        blocked = set()
        for p, k, path, drawn, ends in zip(
            jobs["problem"].tolist(), jobs["round"].tolist(), paths, rows["iterations"].tolist(),
            rows["blocked"].tolist(), strict=True,
        ):  # fmt: skip
            if p in found or p in blocked:
                continue
            self._drawn[p] += drawn
            if path is not None:
                found[p] = path
            elif ends and k == 0:
                blocked.add(p)
                # No round is begun from an end without room.
                self._first[p] = CARD_ROUNDS
        self.blocked += len(blocked)
        return found

    def _submit(self, found: dict[int, FoundPath], scenes: Any) -> Verdicts:
        """Hand paths to the processes."""
        waiting: Verdicts = []
        for r, known in enumerate(self._packed.known):
            mine = [p for p in found if self._packed.which[p] == r]
            paths = [PathToJudge(p, self._exact_ends(p, found[p]), self._options[p].exact_step) for p in mine]
            waiting.append((mine, self._judges.submit(known.told, scenes, paths)))
        return waiting

    def _judged(self, found: dict[int, FoundPath], waiting: Verdicts, results: list[PlanResult | None]) -> list[int]:
        """Write the results of paths that are free; return the problems to search again, with more padding."""
        again = []
        for mine, futures in waiting:
            verdicts = [verdict for future in futures for verdict in future.result()]
            for p, free in zip(mine, verdicts, strict=True):
                if free:
                    results[self._packed.numbers[p]] = self._result(p, found[p])
                    continue
                self.refused += 1
                self._more[p] += 1
                # The search goes on at the same round.
                self._first[p] = found[p].round
                if self._more[p] > self._options[p].verify_retries:
                    self.lost += 1
                else:
                    again.append(p)
        return again

    def _exact_ends(self, p: int, path: FoundPath) -> Array:
        """Return the waypoints, within limits, with the ends that were asked for, to the last bit."""
        lower, upper = self._packed.known[self._packed.which[p]].limits
        waypoints = np.minimum(np.maximum(path.waypoints, lower), upper)
        waypoints[0], waypoints[-1] = self._packed.starts[p], self._packed.goals[p][path.goal]
        return waypoints

    def _result(self, p: int, path: FoundPath) -> PlanResult:
        waypoints, options, notes = self._exact_ends(p, path), self._options[p], ()
        padding = ROUNDS[path.round][2] * options.padding + int(self._more[p]) * MORE_PADDING
        if padding < options.padding:
            notes = (
                f"a passage was too narrow for the padding of {1000 * options.padding:.0f} mm; "
                f"the path was searched with {1000 * padding:.0f} mm and is exactly free",
            )
        return PlanResult(
            status=PlanStatus.SUCCESS,
            path=waypoints,
            segments=(waypoints,),
            notes=notes,
            goal=path.goal,
            iterations=int(self._drawn[p]),
        )

"""Part of a batch, processed by the GPU and the verification processes."""

from collections.abc import Callable, Generator, Iterable, Sequence
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.motion.planning.batch.pack_problems import PackedProblems
from handloom.motion.planning.batch.path_judges import (
    PathJudges,
    PathToJudge,
    RobotAt,
    RoundRun,
    RoundToRun,
    SharedScenes,
)
from handloom.motion.planning.batch.worker_pool import PoolTask
from handloom.motion.planning.cuda.card_search import JOB, CardSearch, FoundPath
from handloom.motion.planning.cuda.problem_tables import tables_of
from handloom.motion.planning.path_search import MORE_PADDING, ROUNDS
from handloom.motion.planning.plan_context import narrow_passage, nothing_found
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
ON_PROCESSOR = "planned on the processor"
"""Note on results that the GPU did not find."""
SAMPLES = ROUNDS[0][0], 0.5
"""Samples of a search, as a fraction of the option: for the first search, and for each of the following ones."""

DEEPEST = len(ROUNDS) - 1
"""The CPU's longest round. It is begun as soon as the first search of a problem fails, without knowing whether the next
ones will: it takes about as long as all that the others still do."""

Verdicts = list[tuple[list[int], list[PoolTask]]]


class CardPart:
    """Some problems of a batch, searched and verified together."""

    def __init__(
        self, packed: PackedProblems, options: Sequence[PlannerOptions], search: CardSearch, judges: PathJudges
    ) -> None:
        self._packed, self._options, self._search, self._judges = packed, options, search, judges
        self._tables = tables_of([known.view for known in packed.known], packed.which, packed.rows, packed.checked)
        self._seeds = np.array([option.seed * 1_000_003 % 2**64 for option in options], np.uint64)
        self._given = np.array(
            [(o.iterations, len(goals), o.tree_step, o.shortcuts, o.checks_per_unit, o.padding)
             for o, goals in zip(options, packed.goals, strict=True)]
        )  # fmt: skip
        """Per problem: samples per round, minimum samples, longest edge, shortcuts, checks per unit, padding."""
        self._drawn = np.zeros(len(options), np.int64)
        self._more, self._tight = self._drawn.copy(), np.zeros(len(options), bool)
        self._robots: list[RobotAt] = []
        self._rounds: dict[int, dict[int, PoolTask]] = {}
        self._unneeded: list[PoolTask] = []
        self.lost = self.refused = self.solved = 0
        self.timings = {"upload": 0.0, "take": 0.0}
        """Time that this process worked on each stage [s]."""

    def steps(self, results: list[PlanResult | None], leave: Callable[[int], None]) -> Generator[str]:
        """Solve the problems, step by step: yields what it waits for instead of waiting.

        Args:
            results: Receives the results.
            leave: Called with each problem that must be planned on the CPU from the beginning.
        """
        begin, scenes = perf_counter(), None
        loaded = self._search.load(self._tables, self._packed.starts, self._packed.goals)
        todo = np.arange(len(self._options))
        while len(todo):
            found, waiting = {}, []
            for number, ways in enumerate((FIRST, THEN)):
                jobs = self._jobs(todo, ways, SAMPLES[number], number * len(FIRST))
                if not len(jobs):
                    continue
                running = loaded.start(jobs, max(option.tree_size for option in self._options))
                if scenes is None:
                    scenes = self._share()
                self.timings["upload"] += perf_counter() - begin
                yield "search"
                while not running.done:
                    yield "search"
                begin = perf_counter()
                fresh = self._take(jobs, *running.wait())
                found |= fresh
                todo = np.array([p for p in todo.tolist() if p not in fresh and not self._leaves(p, leave)], np.int64)
                waiting += self._submit(fresh)
                self._prepare_rounds(todo, fresh)
                now = perf_counter()
                self.timings["take"] += now - begin
                begin = now
            for p in todo.tolist():
                self._give_up(p, leave)
            yield "verify"
            while not all(task.done for _, tasks in waiting for task in tasks):
                yield "verify"
            todo = np.array(self._judged(found, waiting, results, leave), np.int64)
            begin = perf_counter()
        for p, tasks in self._rounds.items():
            while not _decided(tasks):
                yield "left"
            self._settle(p, tasks, results, leave)
        if scenes is not None:
            self._judges.give_back(scenes, self._unneeded)
        self._search.release(loaded)

    def _share(self) -> SharedScenes:
        """Put the scenes and robots into the memory of all processes."""
        known = self._packed.known
        scenes = self._judges.share(self._packed.scenes, [one.told for one in known])
        tables = len(scenes.places) - len(known)
        self._robots = [
            RobotAt(one.key, one.kinds, scenes.path, [*scenes.places[:tables], place])
            for one, place in zip(known, scenes.places[tables:], strict=True)
        ]
        return scenes

    def _leaves(self, p: int, leave: Callable[[int], None]) -> bool:
        """Leave a problem to the CPU if an end has no room for the spheres."""
        if self._tight[p]:
            leave(self._packed.numbers[p])
        return bool(self._tight[p])

    def _prepare_rounds(self, todo: NDArray[np.int64], found: Iterable[int]) -> None:
        """Begin the longest round of problems that the first search did not solve; forget those solved since."""
        for p in found:
            self._forget(p)
        if self._judges.processes > 1:
            for p in todo.tolist():
                if self._as_rounds(p) and p not in self._rounds:
                    self._rounds[p] = self._run_rounds(p, [DEEPEST], urgent=False)

    def _forget(self, p: int) -> None:
        """Cancel the rounds of a problem."""
        for task in self._rounds.pop(p, {}).values():
            self._cancel(task)

    def _cancel(self, task: PoolTask) -> None:
        task.cancel()
        self._unneeded.append(task)

    def _as_rounds(self, p: int) -> bool:
        """Return whether the processes plan a problem as the CPU does: its ends and all verdicts are clear."""
        return self._more[p] == 0 and not self._packed.known[self._packed.which[p]].robot.coarse

    def _run_rounds(self, p: int, numbers: Sequence[int], *, urgent: bool) -> dict[int, PoolTask]:
        start, goals, options = self._packed.starts[p], self._packed.goals[p], self._options[p]
        asked = [RoundToRun(p, start, goals, number, options) for number in numbers]
        return self._judges.run_rounds(self._robots[self._packed.which[p]], asked, urgent=urgent)

    def _give_up(self, p: int, leave: Callable[[int], None]) -> None:
        """Have the CPU plan a problem that no search on the GPU solved: all its rounds at once, the longest first."""
        if not self._as_rounds(p):
            self._forget(p)
            leave(self._packed.numbers[p])
            return
        tasks = self._rounds.setdefault(p, {})
        # The last one to be submitted is the first in line.
        for k in range(len(ROUNDS)):
            if k not in tasks:
                tasks |= self._run_rounds(p, [k], urgent=True)
            if self._judges.processes == 1 and _decided(tasks):
                break

    def _settle(
        self, p: int, tasks: dict[int, PoolTask], results: list[PlanResult | None], leave: Callable[[int], None]
    ) -> None:
        """Store the result of the CPU: the path of the first round that has one, as if the others had not begun."""
        drawn, options, number = 0, self._options[p], self._packed.numbers[p]
        for task in tasks.values():
            self._cancel(task)
        for k in sorted(tasks):
            run: RoundRun = tasks[k].result
            drawn += run.iterations
            if run.refused:
                # Every later round depends on this one then.
                leave(number)
                return
            if run.path is not None:
                notes = (narrow_passage(options.padding, run.padding),) if run.padding < options.padding else ()
                results[number] = PlanResult(
                    status=PlanStatus.SUCCESS,
                    path=run.path,
                    segments=(run.path,),
                    notes=(*notes, ON_PROCESSOR),
                    goal=run.goal,
                    iterations=drawn,
                )
                return
        results[number] = PlanResult(
            status=PlanStatus.NO_PATH,
            path=np.empty((0, len(self._packed.starts[p]))),
            reason=nothing_found(drawn),
            notes=(ON_PROCESSOR,),
            iterations=drawn,
        )

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

    def _submit(self, found: dict[int, FoundPath]) -> Verdicts:
        """Pass paths to the verification processes."""
        waiting: Verdicts = []
        for r, robot in enumerate(self._robots):
            mine = [p for p in found if self._packed.which[p] == r]
            paths = [PathToJudge(p, self._exact_ends(p, found[p]), self._options[p].exact_step) for p in mine]
            waiting.append((mine, self._judges.submit(robot, paths)))
        return waiting

    def _judged(
        self,
        found: dict[int, FoundPath],
        waiting: Verdicts,
        results: list[PlanResult | None],
        leave: Callable[[int], None],
    ) -> list[int]:
        """Store the results of free paths; return the problems to search again with more padding."""
        again = []
        for mine, tasks in waiting:
            verdicts = [verdict for task in tasks for verdict in task.result]
            for p, free in zip(mine, verdicts, strict=True):
                if free:
                    self.solved += 1
                    results[self._packed.numbers[p]] = self._result(p, found[p])
                    continue
                self.refused += 1
                self._more[p] += 1
                if self._more[p] > self._options[p].verify_retries:
                    self.lost += 1
                    leave(self._packed.numbers[p])
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


def _decided(tasks: dict[int, PoolTask]) -> bool:
    """Return whether the first round that found a path is known, or that none did."""
    for k in sorted(tasks):
        if not tasks[k].done:
            return False
        if tasks[k].result.path is not None:
            return True
    return len(tasks) == len(ROUNDS)

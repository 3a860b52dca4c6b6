"""From problems to verified paths on a card: pack, search round by round, verify, search again with more padding."""

import math
import pickle
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.motion.collision import CollisionRobot, Obstacle
from handloom.motion.collision.collision_arrays import WorldArrays
from handloom.motion.planning.batch.batch_planner import BatchCounts, PlanProblem, as_goals
from handloom.motion.planning.batch.exact_slots import SlotKind, SlotKinds
from handloom.motion.planning.batch.path_judges import JudgedPath, PathJudges
from handloom.motion.planning.cuda.card_search import JOB, CardSearch, LoadedBatch, Path
from handloom.motion.planning.cuda.problem_tables import (
    RobotView,
    WorldRows,
    checked_tables,
    tables_of,
    view_of,
    world_rows,
)
from handloom.motion.planning.path_search import MORE_PADDING, ROUNDS
from handloom.motion.planning.plan_result import PlanResult, PlanStatus

FIRST_ROUNDS = 1
"""Rounds that are run for all problems at first; those left run the other rounds of the card all at once."""
CARD_ROUNDS = 5
"""Rounds that the card runs; the last one, for few problems, is left to the processor."""
MOST_JOINTS, MOST_GROUPS = 15, 40
"""The largest robot that fits into the memory of a block."""


@dataclass(frozen=True, eq=False)
class _Known:
    """What is kept of a robot between calls."""

    robot: CollisionRobot
    view: RobotView
    kinds: SlotKinds
    pickled: bytes
    key: bytes


@dataclass(eq=False)
class _Packed:
    """The problems that the card is given."""

    numbers: list[int]
    """Their places in the request."""
    starts: list[Array]
    goals: list[Array]
    worlds: list[Sequence[Obstacle]]
    known: list[_Known]
    """Robots, each once."""
    which: NDArray[np.int64]
    rows: WorldRows
    checked: list[NDArray[np.int8]]


class CardBatch:
    """Settles as much of a batch as a card can.

    Args:
        search: The searches of a card.
        workers: Processes that verify.
    """

    def __init__(self, search: CardSearch, *, workers: int) -> None:
        self._search, self._judges = search, PathJudges(workers)
        self._known: dict[int, _Known] = {}
        self.timings: dict[str, float] = {}
        """Time spent per stage of the last call [s]."""

    def plan(self, problems: Sequence[PlanProblem]) -> tuple[list[Any], list[int], BatchCounts]:
        """Return the results, None where there is none; which problems are left to the processor; and the counts."""
        begin = perf_counter()
        packed, odd = self._pack(problems)
        results: list[PlanResult | None] = [None] * len(problems)
        self.timings = {"pack": perf_counter() - begin, "search": 0.0, "verify": 0.0}
        unfit, lost, refused = 0, 0, 0
        if packed.numbers:
            run = _Run(self, problems, packed)
            run.settle(results)
            unfit, lost, refused = run.blocked, run.lost, run.refused
        left = [k for k, result in enumerate(results) if result is None]
        ends = len(odd) + unfit
        counts = BatchCounts(
            given=len(problems),
            card=len(problems) - len(left),
            processor_ends=ends,
            processor_search=len(left) - ends - lost,
            processor_verify=lost,
            refused=refused,
        )
        return results, left, counts

    def close(self) -> None:
        """End the processes that verify."""
        self._judges.close()

    def load(self, packed: _Packed) -> LoadedBatch:
        """Bring problems to the card."""
        tables = tables_of([known.view for known in packed.known], packed.which, packed.rows, packed.checked)
        return self._search.load(tables, packed.starts, packed.goals)

    def submit(
        self, known: _Known, paths: list[JudgedPath], kinds: list[SlotKind], models: dict[SlotKind, Obstacle]
    ) -> list[Future[list[bool]]]:
        """Hand paths of one robot to the judges."""
        return self._judges.submit(known.key, known.pickled, kinds, models, paths)

    def _know(self, robot: CollisionRobot) -> _Known:
        """Return what is kept of a robot; it is held on to, so that its identity stays its own."""
        if id(robot) not in self._known:
            pickled = pickle.dumps(robot)
            key = f"{len(self._known)}".encode() + pickled[:0]
            self._known[id(robot)] = _Known(robot, view_of(robot), SlotKinds(robot), pickled, key)
        return self._known[id(robot)]

    def _pack(self, problems: Sequence[PlanProblem]) -> tuple[_Packed, list[int]]:
        """Return the problems that the card can search, and which ones the processor has to look at first."""
        numbers, starts, goals, worlds, which, odd = [], [], [], [], [], []
        known: dict[int, int] = {}
        for k, problem in enumerate(problems):
            planner = problem.planner
            tree = planner.robot.tree
            start, ends = np.asarray(problem.q_start, float), as_goals(problem.q_goal)
            fits = start.shape == (tree.dof,) and ends.shape[1:] == (tree.dof,) and 0 < len(ends) < 31
            fits = fits and tree.dof <= MOST_JOINTS and len(planner.robot.groups) <= MOST_GROUPS
            # A value that is not a number is not within limits either.
            if not fits or not (
                ((start >= tree.lower) & (start <= tree.upper)).all()
                and ((ends >= tree.lower) & (ends <= tree.upper)).all()
                and (np.abs(ends - start).max(axis=1) >= 1e-9).all()
            ):
                odd.append(k)
                continue
            numbers.append(k)
            starts.append(start)
            goals.append(ends)
            worlds.append(planner.look_around(problem.ignore))
            which.append(known.setdefault(id(planner.robot), len(known)))
        robots = {id(problem.planner.robot): problem.planner.robot for problem in problems}
        kept = [self._know(robots[number]) for number in known]
        rows, robot_of = world_rows(worlds), np.array(which, np.int64)
        checked = checked_tables([one.view for one in kept], robot_of, worlds, rows)
        return _Packed(numbers, starts, goals, worlds, kept, robot_of, rows, checked), odd


class _Run:
    """One batch on its way."""

    def __init__(self, batch: CardBatch, problems: Sequence[PlanProblem], packed: _Packed) -> None:
        self._batch, self._packed = batch, packed
        self._options = [problems[k].planner.options for k in packed.numbers]
        self._loaded = batch.load(packed)
        self.blocked = self.lost = self.refused = 0
        self._slot_kinds: list[dict[SlotKind, int]] = [{} for _ in packed.known]
        self._models: list[dict[SlotKind, Obstacle]] = [{} for _ in packed.known]

    def settle(self, results: list[PlanResult | None]) -> None:
        """Write the results of the problems that are settled."""
        count = len(self._packed.numbers)
        drawn, more = np.zeros(count, np.int64), np.zeros(count, np.int64)
        first = np.zeros(count, np.int64)
        todo = np.arange(count)
        while len(todo):
            found = self._find(todo, first, more, drawn)
            free = self._verify(found)
            again = []
            for p, path in found.items():
                if free[p]:
                    results[self._packed.numbers[p]] = self._result(p, path, int(drawn[p]), int(more[p]))
                    continue
                self.refused += 1
                more[p] += 1
                # The search goes on at the same round.
                first[p] = path.round
                if more[p] > self._options[p].verify_retries:
                    self.lost += 1
                else:
                    again.append(p)
            todo = np.array(again, np.int64)

    def _find(
        self, todo: NDArray[np.int64], first: NDArray[np.int64], more: NDArray[np.int64], drawn: NDArray[np.int64]
    ) -> dict[int, Path]:
        """Return the path of the first round that has one, for problems where there is such a round."""
        begin, found = perf_counter(), {}
        for some in (range(FIRST_ROUNDS), range(FIRST_ROUNDS, CARD_ROUNDS)):
            jobs = [
                self._job(p, k, int(more[p])) for p in todo.tolist() for k in some if p not in found and k >= first[p]
            ]
            if not jobs:
                continue
            told = np.array(jobs, JOB)
            size = max(option.tree_size for option in self._options)
            paths, rows = self._loaded.run(told, size)
            for job, path, row in zip(told, paths, rows, strict=True):
                p = int(job["problem"])
                if p in found:
                    continue
                drawn[p] += int(row["iterations"])
                if path is not None:
                    found[p] = path
                if row["blocked"] and job["round"] == first[p] == 0:
                    self.blocked += 1
                    todo = todo[todo != p]
        self._batch.timings["search"] += perf_counter() - begin
        return found

    def _job(self, p: int, k: int, more: int) -> tuple[Any, ...]:
        """Return how a round of a problem is run: as ``Search.run`` does."""
        options, (share, step, padding) = self._options[p], ROUNDS[k]
        iterations = max(1, len(self._packed.goals[p]), math.ceil(share * options.iterations))
        seed = (options.seed * 1_000_003 + 101 * k + more) % 2**64
        far = padding * options.padding + more * MORE_PADDING
        return (
            seed,
            p,
            k,
            iterations,
            options.shortcuts,
            step * options.tree_step,
            far,
            options.checks_per_unit,
            0,
            0,
            0,
        )

    def _verify(self, found: dict[int, Path]) -> dict[int, bool]:
        """Return whether each path is exactly free."""
        begin, packed = perf_counter(), self._packed
        waiting: list[tuple[list[int], list[Future[list[bool]]]]] = []
        for r, known in enumerate(packed.known):
            mine = [p for p in found if packed.which[p] == r]
            paths = [self._judged(p, r, found[p]) for p in mine]
            kinds = list(self._slot_kinds[r])
            waiting.append((mine, self._batch.submit(known, paths, kinds, self._models[r])))
        free: dict[int, bool] = {}
        for mine, futures in waiting:
            verdicts = [verdict for future in futures for verdict in future.result()]
            free.update(zip(mine, verdicts, strict=True))
        self._batch.timings["verify"] += perf_counter() - begin
        return free

    def _judged(self, p: int, r: int, path: Path) -> JudgedPath:
        packed, rows, known = self._packed, self._packed.rows, self._packed.known[r]
        a, b = rows.begin[p], rows.begin[p + 1]
        numbers, models = self._slot_kinds[r], self._models[r]
        kinds, shown = [], []
        for i, obstacle in enumerate(packed.worlds[p]):
            if obstacle.enabled:
                kind = known.kinds.of(obstacle)
                if kind not in numbers:
                    numbers[kind] = len(numbers)
                    models[kind] = obstacle
                kinds.append(numbers[kind])
                shown.append(a + i)
        whole = len(shown) == b - a
        faces = slice(rows.face_begin[p], rows.face_begin[p + 1] if p + 1 < len(rows.face_begin) else None)
        heights = slice(rows.height_begin[p], rows.height_begin[p + 1] if p + 1 < len(rows.height_begin) else None)
        world = WorldArrays(rows.kind[a:b], rows.row[a:b], rows.face[faces], rows.height[heights], packed.checked[p])
        return JudgedPath(
            tuple(kinds),
            rows.T[a:b] if whole else rows.T[shown],
            rows.size[a:b] if whole else rows.size[shown],
            world,
            self._exact_ends(p, path),
            self._options[p].exact_step,
        )

    def _exact_ends(self, p: int, path: Path) -> Array:
        """Return the waypoints with the ends that were asked for, to the last bit."""
        waypoints = np.clip(path.waypoints, *self._limits(p))
        waypoints[0], waypoints[-1] = self._packed.starts[p], self._packed.goals[p][path.goal]
        return waypoints

    def _limits(self, p: int) -> tuple[Array, Array]:
        tree = self._packed.known[self._packed.which[p]].robot.tree
        return tree.lower, tree.upper

    def _result(self, p: int, path: Path, drawn: int, more: int) -> PlanResult:
        waypoints, options, notes = self._exact_ends(p, path), self._options[p], []
        padding = ROUNDS[path.round][2] * options.padding + more * MORE_PADDING
        if padding < options.padding:
            notes.append(
                f"a passage was too narrow for the padding of {1000 * options.padding:.0f} mm; "
                f"the path was searched with {1000 * padding:.0f} mm and is exactly free"
            )
        return PlanResult(
            status=PlanStatus.SUCCESS,
            path=waypoints,
            segments=(waypoints,),
            notes=tuple(notes),
            goal=path.goal,
            iterations=drawn,
        )

"""Packs problems into tables, for the GPU and for the verification processes."""

import pickle
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.motion.collision import CollisionRobot, Obstacle
from handloom.motion.planning.batch.batch_planner import PlanProblem
from handloom.motion.planning.batch.exact_slots import PLAIN, SlotKind, SlotKinds, placed
from handloom.motion.planning.batch.scenes_table import RobotToJudge, ScenesTable
from handloom.motion.planning.cuda.problem_tables import (
    CheckedTables,
    WorldRows,
    checked_tables,
    view_of,
    world_rows,
)

MOST_JOINTS, MOST_GROUPS, MOST_GOALS = 15, 40, 30
"""The largest robot that fits into the memory of a block, and the maximum number of goals of a problem."""
UNKNOWN = -2
"""Slot type that has not been looked up yet."""
SAME = 1e-9
"""A goal this close to the start in every joint is the start [rad or m]."""


class KnownRobot:
    """Data of a robot that is cached between calls."""

    def __init__(self, robot: CollisionRobot, key: str) -> None:
        self.robot, self.key = robot, key
        self.view, self.slots = view_of(robot), SlotKinds(robot)
        self.limits = robot.tree.lower, robot.tree.upper
        self._numbers: dict[SlotKind, int] = {}
        self._plain: dict[tuple[int, int, int], int] = {}
        self._named: dict[tuple[str, str, int, int, int], int] = {}
        self._models: dict[SlotKind, Obstacle] = {}
        self._told: NDArray[np.uint8] | None = None

    def slots_of(self, rows: WorldRows, mine: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the index of the slot type that some obstacles need; -1 for an ignored obstacle."""
        # A few combinations of kind and contact bits are looked up instead of thousands of obstacles.
        keys = np.stack([rows.shape[mine], rows.contype[mine], rows.conaffinity[mine]], axis=1)
        change = np.append(True, (keys[1:] != keys[:-1]).any(axis=1))[: len(mine)]
        runs = [self._plain.get((a, b, c), UNKNOWN) for a, b, c in keys[change].tolist()]
        slot = np.array(runs, np.int64)[np.cumsum(change) - 1]
        special, names, bodies = self.slots.names, rows.names, rows.bodies
        if not (special.isdisjoint(names) and special.isdisjoint(bodies)):
            for at, k in enumerate(mine.tolist()):
                if names[k] in special or bodies[k] in special:
                    slot[at] = self._named.get((names[k], bodies[k], *keys[at].tolist()), UNKNOWN)
        slot[~rows.enabled[mine]] = -1
        for at in np.flatnonzero(slot == UNKNOWN).tolist():
            slot[at] = self._slot(rows.obstacles[mine[at]])
        return slot

    def _slot(self, obstacle: Obstacle) -> int:
        kind = self.slots.of(obstacle)
        number = self._numbers.get(kind)
        if number is None:
            number = self._numbers[kind] = len(self._numbers)
            self._models[kind], self._told = obstacle, None
        key = int(obstacle.shape.kind), obstacle.contype, obstacle.conaffinity
        if self.slots.is_plain(obstacle):
            self._plain[key] = number
        elif obstacle.shape.kind in PLAIN:
            self._named[obstacle.name, obstacle.body, *key] = number
        return number

    @property
    def told(self) -> NDArray[np.uint8]:
        """The robot as sent to the processes: a pickled ``RobotToJudge``."""
        if self._told is None:
            told = RobotToJudge(self.robot, tuple(self._numbers), dict(self._models))
            self._told = np.frombuffer(pickle.dumps(told), np.uint8)
        return self._told

    @property
    def kinds(self) -> int:
        """Number of slot types known so far."""
        return len(self._numbers)


class PackedProblems(NamedTuple):
    """Problems that the GPU can search."""

    numbers: list[int]
    """Their indices in the request."""
    starts: list[Array]
    goals: list[Array]
    known: list[KnownRobot]
    """Robots, each once."""
    which: NDArray[np.int64]
    """Robot of each problem (p,)."""
    rows: WorldRows
    checked: CheckedTables
    scenes: ScenesTable


def pack(
    problems: Sequence[PlanProblem],
    around: Sequence[Sequence[Obstacle]],
    know: Callable[[CollisionRobot], KnownRobot],
) -> PackedProblems:
    """Return the problems that the GPU can search; the others are left to the CPU.

    Args:
        problems: Some problems.
        around: The obstacles of each.
        know: Returns the cached data of a robot.
    """
    starts = [np.asarray(problem.q_start, float) for problem in problems]
    goals = [np.atleast_2d(np.asarray(problem.q_goal, float)) for problem in problems]
    known: dict[int, int] = {}
    kept: list[KnownRobot] = []
    which = np.empty(len(problems), np.int64)
    for k, problem in enumerate(problems):
        robot = problem.planner.robot
        number = known.setdefault(id(robot), len(kept))
        if number == len(kept):
            kept.append(know(robot))
        which[k] = number
    fits = np.zeros(len(problems), bool)
    for number, one in enumerate(kept):
        mine = np.flatnonzero(which == number)
        fits[mine] = _fits(one, [starts[k] for k in mine], [goals[k] for k in mine])
    numbers = np.flatnonzero(fits).tolist()
    worlds = [around[k] for k in numbers]
    rows, robot_of = world_rows(worlds), which[fits]
    checked = checked_tables([one.view for one in kept], robot_of, rows)
    owner, slot = np.repeat(robot_of, np.diff(rows.begin)), np.empty(len(rows.shape), np.int64)
    for number, one in enumerate(kept):
        mine = np.flatnonzero(owner == number)
        slot[mine] = one.slots_of(rows, mine)
    where = placed(rows.T, rows.shape, rows.size)
    scenes = ScenesTable(
        rows.begin,
        slot,
        *where,
        rows.kind,
        rows.row,
        rows.face,
        rows.height,
        np.append(rows.face_begin, len(rows.face)),
        np.append(rows.height_begin, len(rows.height)),
        checked.flat,
        checked.begin,
    )
    chosen = [starts[k] for k in numbers], [goals[k] for k in numbers]
    return PackedProblems(numbers, *chosen, kept, robot_of, rows, checked, scenes)


def _fits(known: KnownRobot, starts: Sequence[Array], goals: Sequence[Array]) -> NDArray[np.bool_]:
    """Return which problems of a robot have ends within limits and goals that differ from the start."""
    dof = known.robot.tree.dof
    if dof > MOST_JOINTS or len(known.robot.groups) > MOST_GROUPS:
        return np.zeros(len(starts), bool)
    fits = np.array(
        [a.shape == (dof,) and b.ndim == 2 and b.shape[1] == dof and 0 < len(b) <= MOST_GOALS
         for a, b in zip(starts, goals, strict=True)],
        bool,
    )  # fmt: skip
    good = np.flatnonzero(fits).tolist()
    if not good:
        return fits
    counts = [len(goals[k]) for k in good]
    first, ends = np.stack([starts[k] for k in good]), np.concatenate([goals[k] for k in good])
    lower, upper = known.limits
    # A value that is not a number is not within limits.
    inside = ((ends >= lower) & (ends <= upper)).all(axis=1)
    apart = np.abs(ends - np.repeat(first, counts, axis=0)).max(axis=1) >= SAME
    begins = np.cumsum([0, *counts[:-1]])
    fits[good] = np.logical_and.reduceat(inside & apart, begins) & ((first >= lower) & (first <= upper)).all(axis=1)
    return fits

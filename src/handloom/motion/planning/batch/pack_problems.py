"""Packs problems into tables, for the GPU and for the verification processes."""

import pickle
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.motion.collision import CollisionRobot, Obstacle
from handloom.motion.collision.shape import ShapeKind
from handloom.motion.planning.batch.batch_planner import PlanProblem
from handloom.motion.planning.batch.exact_slots import SlotKind, SlotKinds, placed
from handloom.motion.planning.batch.path_judges import RobotToJudge, ScenesTable
from handloom.motion.planning.cuda.problem_tables import (
    WorldRows,
    checked_tables,
    view_of,
    world_rows,
)

MOST_JOINTS, MOST_GROUPS, MOST_GOALS = 15, 40, 30
"""The largest robot that fits into the memory of a block, and the maximum number of goals of a problem."""
SAME = 1e-9
"""A goal this close to the start in every joint is the start [rad or m]."""


class KnownRobot:
    """Data of a robot that is cached between calls."""

    def __init__(self, robot: CollisionRobot, key: str) -> None:
        self.robot, self.key = robot, key
        self.view, self.slots = view_of(robot), SlotKinds(robot)
        self.pickled = pickle.dumps(robot)
        self.limits = robot.tree.lower, robot.tree.upper
        self._numbers: dict[SlotKind, int] = {}
        self._plain: dict[tuple[ShapeKind, int, int], int] = {}
        self._models: dict[SlotKind, Obstacle] = {}
        self._told: RobotToJudge | None = None

    def slot(self, obstacle: Obstacle) -> int:
        """Return the index of the slot type that an obstacle needs; -1 for an ignored obstacle."""
        if not obstacle.enabled:
            return -1
        plain = obstacle.shape.kind, obstacle.contype, obstacle.conaffinity
        if plain in self._plain and self.slots.is_plain(obstacle):
            return self._plain[plain]
        kind = self.slots.of(obstacle)
        number = self._numbers.get(kind)
        if number is None:
            number = self._numbers[kind] = len(self._numbers)
            self._models[kind], self._told = obstacle, None
        if self.slots.is_plain(obstacle):
            self._plain[plain] = number
        return number

    @property
    def told(self) -> RobotToJudge:
        """Data sent to the processes."""
        if self._told is None:
            self._told = RobotToJudge(self.key, self.pickled, tuple(self._numbers), dict(self._models))
        return self._told


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
    checked: list[NDArray[np.int8]]
    scenes: ScenesTable


def pack(problems: Sequence[PlanProblem], know: Callable[[CollisionRobot], KnownRobot]) -> tuple[PackedProblems, int]:
    """Return the problems that the GPU can search, and the number left to the CPU.

    Args:
        problems: Some problems.
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
    worlds = [problems[k].planner.look_around(problems[k].ignore) for k in numbers]
    rows, robot_of = world_rows(worlds), which[fits]
    checked = checked_tables([one.view for one in kept], robot_of, worlds, rows)
    slot = [kept[which[k]].slot(o) for k, world in zip(numbers, worlds, strict=True) for o in world]
    where = placed(rows.T, rows.shape, rows.size)
    scenes = ScenesTable(
        rows.begin,
        np.array(slot, np.int64),
        *where,
        rows.kind,
        rows.row,
        rows.face,
        rows.height,
        np.append(rows.face_begin, len(rows.face)),
        np.append(rows.height_begin, len(rows.height)),
        np.concatenate([np.zeros(0, np.int8), *(table.ravel() for table in checked)]),
        np.cumsum([0, *(table.size for table in checked)]),
    )
    chosen = [starts[k] for k in numbers], [goals[k] for k in numbers]
    return PackedProblems(numbers, *chosen, kept, robot_of, rows, checked, scenes), len(problems) - len(numbers)


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

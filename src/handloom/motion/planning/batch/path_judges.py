"""Processes that verify paths exactly and search what is left, one scene after the other, on all cores."""

import mmap
import pickle
from collections.abc import Sequence
from pathlib import Path
from tempfile import gettempdir
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.motion.collision.collision_arrays import ROW, MotionScene, RobotArrays, WorldArrays
from handloom.motion.collision.lane_kernels import configurations_free
from handloom.motion.planning.batch.scenes_table import RobotToJudge, ScenesTable
from handloom.motion.planning.batch.slot_scene import RobotInSlots
from handloom.motion.planning.batch.worker_pool import PoolTask, WorkerPool
from handloom.motion.planning.path_search import Effort, Search, one_way
from handloom.motion.planning.planner_options import PlannerOptions
from handloom.motion.planning.trees.rrt_connect import Budget, rrt_connect
from handloom.motion.planning.trees.shortcut import shorten
from handloom.render.cuda.shared_arrays import MEMORY, ArrayPlace, SharedArrays, array_at, open_segment

CHUNK = 16
"""Number of paths given to a process at a time."""
MOST_SEGMENTS = 64
"""Segments of shared memory that a process keeps open."""


class SharedScenes(NamedTuple):
    """Location of a table of scenes in shared memory."""

    segment: SharedArrays
    path: str
    places: list[ArrayPlace]
    """Of the table's arrays, then of the pickled robots."""


class RobotAt(NamedTuple):
    """A robot in the shared memory of a table of scenes."""

    key: str
    """Another for every robot."""
    kinds: int
    """Slot types that the table needs."""
    path: str
    places: list[ArrayPlace]
    """Of the table's arrays, then of the robot."""


class PathToJudge(NamedTuple):
    """A path of one problem of a table."""

    problem: int
    waypoints: Array
    """(m, n)."""
    step: float
    """Largest unchecked motion of any joint [rad or m]."""


class RoundToRun(NamedTuple):
    """One of the CPU's ``ROUNDS`` for one problem of a table, both of whose ends have room."""

    problem: int
    start: Array
    goals: Array
    number: int
    options: PlannerOptions


class RoundRun(NamedTuple):
    """What a round found."""

    path: Array | None
    goal: int
    iterations: int
    padding: float
    refused: bool
    """Whether exact verification rejected the path."""


_ROBOTS: dict[str, tuple[RobotInSlots, RobotToJudge]] = {}
"""Robots known to this process."""
_SEGMENTS: dict[str, mmap.mmap] = {}


def _at(robot: RobotAt) -> tuple[RobotInSlots, RobotToJudge, ScenesTable]:
    """Return a robot and a table of scenes in shared memory."""
    if robot.path not in _SEGMENTS:
        if len(_SEGMENTS) >= MOST_SEGMENTS:
            _SEGMENTS.clear()
        _SEGMENTS[robot.path] = open_segment(Path(robot.path))
    *table, told = (array_at(_SEGMENTS[robot.path], place) for place in robot.places)
    known = _ROBOTS.get(robot.key)
    if known is None or len(known[1].kinds) < robot.kinds:
        fresh: RobotToJudge = pickle.loads(told.tobytes())
        known = _ROBOTS[robot.key] = (known[0] if known else RobotInSlots(fresh.robot)), fresh
    return *known, ScenesTable(*table)


def _judge(robot: RobotAt, paths: Sequence[PathToJudge]) -> list[bool]:
    body, told, scenes = _at(robot)
    return [body.in_scene(scenes, one.problem, told).is_free(one.waypoints, step=one.step) for one in paths]


def _run_round(robot: RobotAt, asked: RoundToRun) -> RoundRun:
    """Return what ``Search.run`` finds in one round, if no earlier one found anything."""
    body, told, scenes = _at(robot)
    scene = body.in_scene(scenes, asked.problem, told, per_unit=asked.options.checks_per_unit)
    search = Search(asked.options, body.robot.tree.dof)
    search.reset()
    ends = one_way(asked.start, asked.goals)
    effort = Effort.of_round(asked.options, asked.number, len(asked.goals))
    found = search.attempt(scene, *ends, effort)
    refused = found.path is not None and search.verify(scene, found.path, ends[0]) is not None
    return RoundRun(found.path, found.goal, found.iterations, effort.padding, refused)


def _begin() -> None:
    """Load the compiled kernels of this process, with a robot without spheres in an empty world."""
    numbers, rows = np.zeros(1, np.int32), np.zeros((0, 5), np.float32)
    no_pairs, still = np.zeros((0, 2), np.int32), np.zeros(1, np.bool_)
    robot = RobotArrays(
        numbers, np.eye(1, 12, dtype=np.float32), still, numbers[:0], numbers, numbers, rows, rows, rows, no_pairs
    )
    no_rows, no_faces = np.zeros((0, ROW), np.float32), np.zeros((0, 4), np.float32)
    world = WorldArrays(numbers[:0], no_rows, no_faces, np.zeros(0, np.float32), np.zeros((0, 0), np.int8))
    configurations_free(np.zeros((1, 1)), robot, world, np.empty(1, np.bool_))
    scene, path = MotionScene(robot, world, 32.0), np.empty((16, 1))
    ends = np.zeros(1), np.ones((1, 1))
    count, _, _ = rrt_connect(*ends, scene, Budget(np.zeros(1), np.ones(1), 2.0, 4, 0), path)
    shorten(path, count, scene, 1, 0)


class PathJudges:
    """Verifies paths and searches in worker processes, or in this process if only one is requested.

    Args:
        processes: How many.
    """

    def __init__(self, processes: int) -> None:
        self._folder = MEMORY if MEMORY.is_dir() else Path(gettempdir())
        self._used: list[tuple[SharedArrays, Sequence[PoolTask]]] = []
        self.processes = processes
        if processes > 1:
            # What is missing in the cache of kernels is compiled once, not by every process.
            _begin()
        self.pool = WorkerPool(processes, _begin)

    def share(self, scenes: ScenesTable, robots: Sequence[NDArray[np.uint8]]) -> SharedScenes:
        """Put scenes and pickled robots into shared memory, until they are given back."""
        free = next((k for k, (_, tasks) in enumerate(self._used) if all(task.over for task in tasks)), None)
        segment = SharedArrays(self._folder) if free is None else self._used.pop(free)[0]
        places = segment.write([*scenes, *robots])
        return SharedScenes(segment, str(segment.path), places)

    def give_back(self, scenes: SharedScenes, tasks: Sequence[PoolTask] = ()) -> None:
        """Release the shared memory of scenes for reuse, once tasks that read it are over."""
        self._used.append((scenes.segment, tasks))

    def submit(self, robot: RobotAt, paths: Sequence[PathToJudge]) -> list[PoolTask]:
        """Submit paths of one robot; the tasks return whether each is free, in chunks in the same order."""
        chunks = [paths[k : k + CHUNK] for k in range(0, len(paths), CHUNK)]
        return [self.pool.submit(_judge, robot, chunk) for chunk in chunks]

    def run_rounds(self, robot: RobotAt, asked: Sequence[RoundToRun], *, urgent: bool) -> dict[int, PoolTask]:
        """Submit some of the CPU's rounds of one problem; return their tasks, which return a ``RoundRun`` each."""
        return {one.number: self.pool.submit(_run_round, robot, one, urgent=urgent) for one in asked}

    def close(self) -> None:
        """Stop the processes and free their memory."""
        self.pool.close()
        for segment, _ in self._used:
            segment.remove()

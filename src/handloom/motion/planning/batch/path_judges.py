"""Processes that verify paths exactly, one scene after the other, on all cores."""

import mmap
import os
import pickle
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tempfile import gettempdir
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.motion.collision import CollisionRobot, Obstacle
from handloom.motion.collision.collision_arrays import ROW, RobotArrays, WorldArrays
from handloom.motion.collision.lane_kernels import configurations_free
from handloom.motion.planning.batch.exact_slots import ExactSlots, PlacedSolids, SlotKind
from handloom.render.cuda.shared_arrays import MEMORY, ArrayPlace, SharedArrays, array_at

CHUNK = 12
"""Number of paths given to a process at a time."""


class ScenesTable(NamedTuple):
    """The scenes of many problems, one after the other, in memory shared by all processes."""

    begin: NDArray[np.int64]
    """First obstacle of each problem (p + 1,)."""
    slot: NDArray[np.int64]
    """Index of the slot type that each obstacle needs; -1 for an ignored obstacle."""
    position: Array
    """Position of each obstacle (b, 3) [m]."""
    quat: Array
    """Its orientation (b, 4)."""
    size: Array
    """Three lengths of each obstacle (b, 3) [m]."""
    half: Array
    """Half sides of its bounding box (b, 3) [m]."""
    reach: Array
    """Radius of its bounding sphere (b,) [m]."""
    kind: NDArray[np.int32]
    row: NDArray[np.float32]
    face: NDArray[np.float32]
    height: NDArray[np.float32]
    face_begin: NDArray[np.int64]
    """First plane of each problem (p + 1,)."""
    height_begin: NDArray[np.int64]
    """First height of each problem (p + 1,)."""
    checked: NDArray[np.int8]
    """Flattened tables of groups against obstacles, one after the other."""
    checked_begin: NDArray[np.int64]
    """Start of each of these tables (p + 1,)."""

    def world(self, p: int) -> WorldArrays:
        """Return the obstacles of a problem for the spheres."""
        a, b = self.begin[p], self.begin[p + 1]
        checked = self.checked[self.checked_begin[p] : self.checked_begin[p + 1]]
        return WorldArrays(
            self.kind[a:b],
            self.row[a:b],
            self.face[self.face_begin[p] : self.face_begin[p + 1]],
            self.height[self.height_begin[p] : self.height_begin[p + 1]],
            checked.reshape(-1, b - a) if b > a else checked.reshape(0, 0),
        )

    def placed(self, p: int) -> tuple[NDArray[np.int64], PlacedSolids]:
        """Return the slot types that a problem's obstacles need, and the placements of the obstacles."""
        a, b = self.begin[p], self.begin[p + 1]
        slot = self.slot[a:b]
        shown = slot >= 0
        rows = slice(a, b) if shown.all() else a + np.flatnonzero(shown)
        place = PlacedSolids(self.position[rows], self.quat[rows], self.size[rows], self.half[rows], self.reach[rows])
        return slot[shown], place


class SharedScenes(NamedTuple):
    """Location of a table of scenes in shared memory."""

    segment: SharedArrays
    path: str
    places: list[ArrayPlace]


class PathToJudge(NamedTuple):
    """A path of one problem of a table."""

    problem: int
    waypoints: Array
    """(m, n)."""
    step: float
    """Largest unchecked motion of any joint [rad or m]."""


class RobotToJudge(NamedTuple):
    """A robot as sent to the processes."""

    key: str
    """Another for every robot."""
    pickled: bytes
    kinds: tuple[SlotKind, ...]
    """Slot types by index."""
    models: Mapping[SlotKind, Obstacle]
    """An example obstacle of each slot type."""


class _Judge:
    """Data of a robot cached by a process."""

    def __init__(self, robot: CollisionRobot) -> None:
        self.slots = ExactSlots(robot)
        self.arrays: RobotArrays = robot.arrays(padding=0.0)
        self.coarse = bool(robot.coarse)

    def is_free(self, given: PathToJudge, scenes: ScenesTable, robot: RobotToJudge) -> bool:
        """Return whether a path is collision-free, with the same result as ``SceneCheck.first_collision``."""
        numbers, placed = scenes.placed(given.problem)
        checker = self.slots.put([robot.kinds[k] for k in numbers.tolist()], placed, robot.models)
        world = scenes.world(given.problem)

        def surely_free(q: Array) -> NDArray[np.bool_]:
            free = np.empty(len(q), np.bool_)
            configurations_free(q, self.arrays, world, free)
            return free

        proof = None if self.coarse else surely_free
        return checker.first_collision(given.waypoints, step=given.step, surely_free=proof) is None


_JUDGES: dict[str, _Judge] = {}
"""Robots known to this process."""


def _judge(robot: RobotToJudge, path: str, places: Sequence[ArrayPlace], paths: Sequence[PathToJudge]) -> list[bool]:
    if robot.key not in _JUDGES:
        _JUDGES[robot.key] = _Judge(pickle.loads(robot.pickled))
    with Path(path).open("r+b") as file:
        memory = mmap.mmap(file.fileno(), 0)
    scenes = ScenesTable(*(array_at(memory, place) for place in places))
    return [_JUDGES[robot.key].is_free(one, scenes, robot) for one in paths]


def _begin() -> None:
    """Load the compiled kernels of this process by checking a robot without spheres in an empty world."""
    numbers, rows = np.zeros(1, np.int32), np.zeros((0, 5), np.float32)
    no_pairs, still = np.zeros((0, 2), np.int32), np.zeros(1, np.bool_)
    robot = RobotArrays(
        numbers, np.eye(1, 12, dtype=np.float32), still, numbers[:0], numbers, numbers, rows, rows, rows, no_pairs
    )
    no_rows, no_faces = np.zeros((0, ROW), np.float32), np.zeros((0, 4), np.float32)
    world = WorldArrays(numbers[:0], no_rows, no_faces, np.zeros(0, np.float32), np.zeros((0, 0), np.int8))
    configurations_free(np.zeros((1, 1)), robot, world, np.empty(1, np.bool_))


class PathJudges:
    """Verifies paths in worker processes, or in this process if only one is requested.

    Args:
        processes: How many.
    """

    def __init__(self, processes: int) -> None:
        self._folder = MEMORY if MEMORY.is_dir() else Path(gettempdir())
        self._spare: list[SharedArrays] = []
        self._pool = None
        if processes > 1:
            self._pool = ProcessPoolExecutor(processes, get_context("spawn"))
            for ready in [self._pool.submit(_begin) for _ in range(processes)]:
                ready.result()

    def share(self, scenes: ScenesTable) -> SharedScenes:
        """Put scenes into shared memory, until they are given back."""
        segment = self._spare.pop() if self._spare else SharedArrays(self._folder)
        places = segment.write(scenes)
        return SharedScenes(segment, str(segment.path), places)

    def give_back(self, scenes: SharedScenes) -> None:
        """Release the shared memory of scenes for reuse."""
        self._spare.append(scenes.segment)

    def submit(
        self, robot: RobotToJudge, scenes: SharedScenes, paths: Sequence[PathToJudge]
    ) -> list["Future[list[bool]]"]:
        """Submit paths of one robot; return whether each is free, in chunks in the same order."""
        chunks = [paths[k : k + CHUNK] for k in range(0, len(paths), CHUNK)]
        if self._pool is not None:
            return [self._pool.submit(_judge, robot, scenes.path, scenes.places, chunk) for chunk in chunks]
        done: list[Future[list[bool]]] = []
        for chunk in chunks:
            future: Future[list[bool]] = Future()
            future.set_result(_judge(robot, scenes.path, scenes.places, chunk))
            done.append(future)
        return done

    def close(self) -> None:
        """Stop the processes and free their memory."""
        if self._pool is not None:
            self._pool.shutdown()
        for segment in self._spare:
            segment.remove()


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

"""Processes that verify paths exactly: one scene after the other, all cores at once."""

import os
import pickle
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.motion.collision import CollisionRobot, Obstacle
from handloom.motion.collision.collision_arrays import ROW, RobotArrays, WorldArrays
from handloom.motion.collision.lane_kernels import configurations_free
from handloom.motion.planning.batch.exact_slots import ExactSlots, SlotKind

CHUNK = 8
"""Paths that a process is given at a time."""


class JudgedPath(NamedTuple):
    """A path in its scene."""

    kinds: tuple[int, ...]
    """Slot that each obstacle needs, by its number in the request."""
    T: Array
    """Poses of the obstacles (b, 4, 4)."""
    size: Array
    """Their three lengths (b, 3) [m]."""
    world: WorldArrays
    """All obstacles for the spheres."""
    path: Array
    """Waypoints (m, n)."""
    step: float
    """Largest unchecked motion of any joint [rad or m]."""


class _Judge:
    """What a process keeps of a robot."""

    def __init__(self, robot: CollisionRobot) -> None:
        self.slots = ExactSlots(robot)
        self.arrays: RobotArrays = robot.arrays(padding=0.0)
        self.coarse = bool(robot.coarse)

    def is_free(self, judged: JudgedPath, kinds: Sequence[SlotKind], models: Mapping[SlotKind, Obstacle]) -> bool:
        """Return whether a path touches nothing, as ``SceneCheck.first_collision`` finds it."""
        checker = self.slots.put([kinds[k] for k in judged.kinds], judged.T, judged.size, models)

        def surely_free(q: Array) -> NDArray[np.bool_]:
            free = np.empty(len(q), np.bool_)
            configurations_free(q, self.arrays, judged.world, free)
            return free

        proof = None if self.coarse else surely_free
        return checker.first_collision(judged.path, step=judged.step, surely_free=proof) is None


_JUDGES: dict[bytes, _Judge] = {}
"""Robots that this process knows, by the hash of what it was sent."""


def _judge(
    key: bytes,
    robot: bytes,
    kinds: Sequence[SlotKind],
    models: Mapping[SlotKind, Obstacle],
    paths: Sequence[JudgedPath],
) -> list[bool]:
    if key not in _JUDGES:
        _JUDGES[key] = _Judge(pickle.loads(robot))
    return [_JUDGES[key].is_free(path, kinds, models) for path in paths]


def _begin() -> None:
    """Load the compiled kernels of this process by checking a robot without spheres in an empty world."""
    numbers, rows = np.zeros(1, np.int32), np.zeros((0, 5), np.float32)
    no_pairs, still = np.zeros((0, 2), np.int32), np.zeros(1, np.bool_)
    robot = RobotArrays(
        numbers, np.eye(1, 12, dtype=np.float32), still, numbers[:0], numbers, numbers, rows, rows, rows, no_pairs
    )
    world = WorldArrays(
        numbers[:0],
        np.zeros((0, ROW), np.float32),
        np.zeros((0, 4), np.float32),
        np.zeros(0, np.float32),
        np.zeros((0, 0), np.int8),
    )
    configurations_free(np.zeros((1, 1)), robot, world, np.empty(1, np.bool_))


class PathJudges:
    """Judges paths in processes, or in this one when there is only one core.

    Args:
        processes: How many; every core when None.
    """

    def __init__(self, processes: int | None = None) -> None:
        self.processes = processes or os.cpu_count() or 1
        self._pool = None
        if self.processes > 1:
            self._pool = ProcessPoolExecutor(self.processes, get_context("spawn"))
            for ready in [self._pool.submit(_begin) for _ in range(self.processes)]:
                ready.result()

    def submit(
        self,
        key: bytes,
        robot: bytes,
        kinds: Sequence[SlotKind],
        models: Mapping[SlotKind, Obstacle],
        paths: Sequence[JudgedPath],
    ) -> list["Future[list[bool]]"]:
        """Hand in paths of one robot; return what is free, in chunks in the same order.

        Args:
            key: Known to be another for another robot.
            robot: The robot, pickled.
            kinds: Kinds of slots that the paths' obstacles are numbered by.
            models: An obstacle of each.
            paths: The paths.
        """
        chunks = [paths[k : k + CHUNK] for k in range(0, len(paths), CHUNK)]
        if self._pool is not None:
            return [self._pool.submit(_judge, key, robot, kinds, models, chunk) for chunk in chunks]
        done: list[Future[list[bool]]] = []
        for chunk in chunks:
            future: Future[list[bool]] = Future()
            future.set_result(_judge(key, robot, kinds, models, chunk))
            done.append(future)
        return done

    def close(self) -> None:
        """End the processes."""
        if self._pool is not None:
            self._pool.shutdown()

"""A robot in one scene of a table, for a process that checks many scenes: nothing is compiled per scene."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.motion.collision import CollisionRobot, PathCollision
from handloom.motion.collision.collision_arrays import PADDED, MotionScene, RobotArrays
from handloom.motion.collision.lane_kernels import configurations_free
from handloom.motion.planning.batch.exact_slots import ExactSlots
from handloom.motion.planning.batch.scenes_table import RobotToJudge, ScenesTable


class RobotInSlots:
    """A robot as known to a process."""

    def __init__(self, robot: CollisionRobot) -> None:
        self.robot, self.slots = robot, ExactSlots(robot)
        self._padded: dict[float, RobotArrays] = {0.0: robot.arrays(padding=0.0)}

    def arrays(self, padding: float) -> RobotArrays:
        """Return the spheres with some padding [m], as ``SphereChecker.with_more_padding`` does."""
        if padding not in self._padded:
            bare, by = self._padded[0.0], np.zeros(5, np.float32)
            by[PADDED] = padding
            self._padded[padding] = bare._replace(
                group=bare.group + by, cluster=bare.cluster + by, sphere=bare.sphere + by
            )
        return self._padded[padding]

    def in_scene(self, scenes: ScenesTable, problem: int, told: RobotToJudge, *, per_unit: float = 32.0) -> "SlotScene":
        """Return the robot in the scene of a problem, until the next call."""
        return SlotScene(self, scenes, problem, told, per_unit)


class SlotSpheres(NamedTuple):
    """Spheres in a scene."""

    scene: MotionScene


class SlotScene:
    """One scene; the search sees it as it sees a ``SceneCheck``."""

    def __init__(
        self, robot: RobotInSlots, scenes: ScenesTable, problem: int, told: RobotToJudge, per_unit: float
    ) -> None:
        self._in_slots, self.robot, self._per_unit = robot, robot.robot, per_unit
        self._scenes, self._problem, self._told = scenes, problem, told
        self._world = scenes.world(problem)

    def spheres(self, padding: float) -> SlotSpheres:
        """Return the spheres with some padding [m]."""
        return SlotSpheres(MotionScene(self._in_slots.arrays(padding), self._world, self._per_unit))

    def first_collision(
        self, path: Array, *, step: float, allowed: dict[frozenset[str], float] | None = None
    ) -> PathCollision | None:
        """Return the exact collision of a path, or None, with the same result as ``SceneCheck.first_collision``."""
        numbers, placed = self._scenes.placed(self._problem)
        kinds = self._told.kinds
        checker = self._in_slots.slots.put([kinds[k] for k in numbers.tolist()], placed, self._told.models)
        proof = None if self.robot.coarse else self._surely_free
        return checker.first_collision(path, step=step, allowed=allowed, surely_free=proof)

    def is_free(self, path: Array, *, step: float) -> bool:
        """Return whether a path is collision-free."""
        return self.first_collision(path, step=step) is None

    def _surely_free(self, q: Array) -> NDArray[np.bool_]:
        free = np.empty(len(q), np.bool_)
        configurations_free(q, self._in_slots.arrays(0.0), self._world, free)
        return free

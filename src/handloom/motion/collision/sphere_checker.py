"""Fast collision checks with spheres, for planning."""

from collections.abc import Iterable
from copy import copy

import numpy as np
from numpy.typing import ArrayLike, NDArray

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.motion.collision.collision_arrays import PADDED, MotionScene, world_arrays
from handloom.motion.collision.collision_robot import MOST_PADDING, CollisionRobot
from handloom.motion.collision.lane_kernels import configurations_free, edges_free
from handloom.motion.collision.obstacle import Obstacle
from handloom.motion.threads import for_slices

SMALLEST_SLICE = 2048
"""A configuration takes about half a microsecond."""


class SphereChecker:
    """Checks configurations and straight motions of a robot among obstacles, both as at construction.

    Spheres cover the robot's solids and are enlarged by the padding, so that configurations that pass are almost
    certainly free; planners still confirm this with :class:`ExactChecker`.
    """

    def __init__(
        self, robot: CollisionRobot, world: Iterable[Obstacle], *, padding: float = 0.005, per_unit: float = 32.0
    ) -> None:
        if not 0 <= padding <= MOST_PADDING:
            raise InputError(f"padding must be between 0 and {MOST_PADDING} m, got {padding}")
        obstacles = list(world)
        self.dof = robot.tree.dof
        self._padding = padding
        self.per_unit = per_unit
        """Configurations checked per radian or metre of joint motion."""
        self.robot = robot.arrays(padding=padding)
        """The kernels' view of the robot."""
        self.world = world_arrays(obstacles, robot.checked(obstacles))
        """The kernels' view of the obstacles."""

    @property
    def scene(self) -> MotionScene:
        """Robot, obstacles and checking step, for kernels that check motions."""
        return MotionScene(self.robot, self.world, self.per_unit)

    def with_more_padding(self, more: float) -> "SphereChecker":
        """Return the same checker with larger spheres against the world [m]; very cheap."""
        if self._padding + more > MOST_PADDING:
            raise InputError(f"padding must be between 0 and {MOST_PADDING} m, got {self._padding + more}")
        result = copy(self)
        result._padding = self._padding + more
        by = np.zeros(5, np.float32)
        by[PADDED] = more
        spheres = self.robot.group + by, self.robot.cluster + by, self.robot.sphere + by
        result.robot = self.robot._replace(group=spheres[0], cluster=spheres[1], sphere=spheres[2])
        return result

    def configurations_free(self, q: ArrayLike, *, threads: int | None = None) -> NDArray[np.bool_]:
        """Return whether each configuration (m, n) is collision-free (m,)."""
        rows = self._rows(q)
        free = np.empty(len(rows), np.bool_)
        for_slices(
            len(rows),
            lambda begin, end: configurations_free(rows[begin:end], self.robot, self.world, free[begin:end]),
            threads=threads,
            smallest=SMALLEST_SLICE,
        )
        return free

    def edges_free(self, start: ArrayLike, end: ArrayLike, *, threads: int | None = None) -> NDArray[np.bool_]:
        """Return whether each straight motion from start (m, n) to end (m, n) is free (m,).

        The start itself is not checked; the end is.
        """
        a, b = self._rows(start), self._rows(end)
        if len(a) != len(b):
            raise InputError(f"motions need as many starts as ends, got {len(a)} and {len(b)}")
        free = np.empty(len(a), np.bool_)
        for_slices(
            len(a),
            lambda i, j: edges_free(a[i:j], b[i:j], self.scene, free[i:j]),
            threads=threads,
            smallest=SMALLEST_SLICE // 16,
        )
        return free

    def _rows(self, q: ArrayLike) -> Array:
        rows = np.ascontiguousarray(np.atleast_2d(np.asarray(q, float)))
        if rows.ndim != 2 or rows.shape[1] != self.dof:
            raise InputError(f"configurations must have shape (m, {self.dof}), got {np.shape(q)}")
        return rows

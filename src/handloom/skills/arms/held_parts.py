"""Parts of the tool's pose, or an axis of it, that a move must not change."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from handloom.arrays import Array
from handloom.motion.planning import ArmPlanner, Hold, PlanResult
from handloom.spatial import invert_pose, matrix_from_rotvec, random_directions, rotvec_from_matrix

SHARED = np.array([0.05, 0.05, 0.05, 0.01, 0.01, 0.01])
"""Tolerances within which start and goal count as equal in a held part [rad, rad, rad, m, m, m]."""


@dataclass(frozen=True)
class HeldParts:
    """Published hold weights: [angular x, y, z, linear x, y, z] in the axes of the goal; above 0 is held.

    They weight a cost along the path: the distance of the hand from the goal in these parts. A goal that differs from
    the start in a held part is no contradiction; on a straight line the hand approaches it evenly. The size of a weight
    does not matter: a part is held or it is not.
    """

    weights: tuple[float, float, float, float, float, float]

    @classmethod
    def given(cls, weights: tuple[float, ...] | None) -> "HeldParts | None":
        """Return the parts held by weights, or None when none is held."""
        if weights is None or not any(weight > 0.0 for weight in weights):
            return None
        ax, ay, az, lx, ly, lz = weights
        return cls((ax, ay, az, lx, ly, lz))

    @property
    def held(self) -> NDArray[np.bool_]:
        """Which of the six parts are held (6,)."""
        return np.array(self.weights) > 0.0

    def direction(self, T_base_tool: Array) -> Hold | None:
        """Return the planner's hold if only rotations are held: the direction of one axis of the hand.

        It is the axis about which the hand may turn or, if it may not turn at all, the one nearest to upright with the
        hand at a pose (4, 4), so that its load stays upright.
        """
        turns = self.held[:3]
        if turns.sum() < 2 or self.held[3:].any():
            return None
        free = np.argmin(turns) if not turns.all() else np.argmax(np.abs(T_base_tool[2, :3]))
        x, y, z = np.eye(3)[int(free)].tolist()
        return Hold(tool_axis=(x, y, z))

    def change(self, T_start: Array, T_goal: Array) -> Array:
        """Return the change of each part over a move (6,) [rad, m], 0 for parts that are not held."""
        T_goal_start = invert_pose(T_goal) @ T_start
        change = np.concatenate([rotvec_from_matrix(T_goal_start[:3, :3]), T_goal_start[:3, 3]])
        return np.where(self.held, np.abs(change), 0.0)

    def orientations(self, R_start: Array, count: int, rng: np.random.Generator) -> Array:
        """Return the start, then random orientations, (count, 3, 3) in all, that share its held rotations."""
        free = ~self.held[:3]
        direction = random_directions(rng, count) * free
        size = np.linalg.norm(direction, axis=1, keepdims=True)
        direction = np.divide(direction, size, out=np.zeros_like(direction), where=size > 1e-9)
        angle = rng.uniform(-np.pi, np.pi, (count, 1))
        angle[0] = 0.0
        return R_start @ matrix_from_rotvec(angle * direction)

    def plan(self, planner: ArmPlanner, q: Array, T_goal: ArrayLike, ignore: Iterable[str]) -> PlanResult:
        """Return a path of one arm to a pose (4, 4) that changes the held parts as little as possible.

        A straight line with an even rotation keeps every part that start and goal share, and changes the others no more
        than necessary. If there is no such line, a direction that both share is kept around obstacles; and if the goal
        gives up a held part anyway, any path will do.
        """
        T, start = np.asarray(T_goal, float), planner.chains[0].T_base_tool(q)
        line = planner.plan_straight(q, T, ignore=ignore)
        if line.ok:
            return line
        if np.any(self.change(start, T) > SHARED):
            return planner.plan_to_poses(q, T, ignore=ignore)
        hold = self.direction(start)
        return line if hold is None else planner.plan_to_poses(q, T, ignore=ignore, hold=hold)


@dataclass(frozen=True)
class HeldAxis:
    """One axis of the hand, such as the upright axis of what it holds, keeps its direction during a move."""

    axis_tool: tuple[float, float, float]
    """Axis in the end-effector frame."""

    def plan(self, planner: ArmPlanner, q: Array, T_goal: ArrayLike, ignore: Iterable[str]) -> PlanResult:
        """Return a path of one arm to a pose (4, 4) that keeps the direction of the axis.

        Between poses that share the direction, the even rotation of a straight line is a rotation about the axis.
        """
        hold, T = Hold(tool_axis=self.axis_tool), np.asarray(T_goal, float)
        start, goal = (R[:3, :3] @ hold.unit_axis for R in (planner.chains[0].T_base_tool(q), T))
        if start @ goal >= np.cos(hold.tolerance):
            line = planner.plan_straight(q, T, ignore=ignore)
            if line.ok:
                return line
        return planner.plan_to_poses(q, T, ignore=ignore, hold=hold)


Held = HeldParts | HeldAxis
"""Parts of the hand's pose that a move must keep."""

"""An axis of the hand that a move must not turn."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from handloom.arrays import Array
from handloom.motion.planning import ArmPlanner, Hold, PlanResult
from handloom.skills.held_parts import HeldParts


@dataclass(frozen=True)
class HeldAxis:
    """One axis of the hand, such as the upright axis of what it holds, keeps its direction during a move."""

    axis_tool: tuple[float, float, float]
    """Axis in the end-effector frame."""

    def plan(self, planner: ArmPlanner, q: Array, T_goal: ArrayLike, ignore: Iterable[str]) -> PlanResult:
        """Return a path of one arm to a pose (4, 4) that keeps the direction of the axis.

        Between poses that share the direction, the even turn of a straight line is a turn about the axis.
        """
        hold, T = Hold(tool_axis=self.axis_tool), np.asarray(T_goal, float)
        start, goal = (R[:3, :3] @ hold.unit_axis for R in (planner.chains[0].T_base_tool(q), T))
        if start @ goal >= np.cos(hold.tolerance):
            line = planner.plan_straight(q, T, ignore=ignore)
            if line.ok:
                return line
        return planner.plan_to_poses(q, T, ignore=ignore, hold=hold)


Held = HeldParts | HeldAxis
"""What a move must keep of the hand's pose."""

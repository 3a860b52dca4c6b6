"""Search for a tool pose without solving for its configurations first."""

from collections.abc import Sequence
from time import perf_counter

import numpy as np

from handloom.arrays import Array
from handloom.motion.kinematics import Chain, IkSolver
from handloom.motion.planning.jt_rrt import jt_rrt
from handloom.motion.planning.path_end import PathEnd
from handloom.motion.planning.planner_options import PlannerOptions
from handloom.motion.planning.scene_check import SceneCheck
from handloom.motion.planning.search import Effort, Found, Search

EXPLORED = 0.5
"""Half side of the cube around start and target in which task points are drawn [m]."""


class TaskSpaceSearch(Search):
    """As :class:`Search`, with JT-RRT towards one pose of one arm; there are no goal configurations."""

    def __init__(self, options: PlannerOptions, chain: Chain, T_base_tool: Array) -> None:
        super().__init__(options, chain.dof)
        self._chain, self._T = chain, T_base_tool
        self._problem = IkSolver(chain, options.ik).problem()

    def _attempt(self, scene: SceneCheck, start: PathEnd, goals: Sequence[PathEnd], effort: Effort) -> Found:
        path, checker = self._buffer, scene.spheres(effort.padding)
        lower, upper = scene.robot.tree.sampling_box
        ends = np.stack([self._chain.T_base_tool(start.roomy)[:3, 3], self._T[:3, 3]])
        begin = perf_counter()
        count, drawn = jt_rrt(
            self._chain.arrays,
            self._problem,
            start.roomy,
            np.ascontiguousarray(self._T[:3, :3]),
            np.ascontiguousarray(self._T[:3, 3]),
            lower,
            upper,
            np.stack([ends.min(axis=0) - EXPLORED, ends.max(axis=0) + EXPLORED]),
            effort.step,
            checker.per_unit,
            effort.iterations,
            effort.seed,
            checker.robot,
            checker.world,
            path,
        )
        self.timings["search"] += perf_counter() - begin
        if count == 0:
            return Found(path=None, iterations=drawn)
        return Found(path=self._shorter(scene, count, effort), iterations=drawn)

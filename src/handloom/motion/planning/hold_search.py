"""Search for paths that keep a hold."""

from collections.abc import Sequence
from time import perf_counter

import numpy as np

from handloom.arrays import Array
from handloom.motion.kinematics import Chain
from handloom.motion.planning.hold import Hold
from handloom.motion.planning.hold_kernels import hold_rrt_connect, hold_shorten
from handloom.motion.planning.path_end import PathEnd
from handloom.motion.planning.planner_options import PlannerOptions
from handloom.motion.planning.scene_check import SceneCheck
from handloom.motion.planning.search import Effort, Found, Search

SHORTCUT_FACTOR = 3
"""Attempts to shorten, as a multiple of the option: each replaces only part of a densely sampled path."""


class HoldSearch(Search):
    """As :class:`Search`, on the configurations of one arm that keep a hold."""

    def __init__(self, options: PlannerOptions, chain: Chain, hold: Hold, direction: Array) -> None:
        super().__init__(options, chain.dof)
        self._chain, self._hold, self._direction = chain, hold, direction
        self._problem, self._R = hold.problem(chain), hold.reference(direction)

    def keeps(self, path: Array) -> bool:
        """Tell whether a path keeps the hold, halfway between waypoints too."""
        dense = np.concatenate([path, 0.5 * (path[1:] + path[:-1])])
        return bool(np.all(self._hold.tilt(self._chain, dense, self._direction) <= self._hold.tolerance))

    def _attempt(self, scene: SceneCheck, start: PathEnd, goals: Sequence[PathEnd], effort: Effort) -> Found:
        path, checker = self._buffer, scene.spheres(effort.padding)
        lower, upper = scene.robot.tree.sampling_box
        hold = (self._chain.arrays, self._problem, self._R)
        begin = perf_counter()
        count, drawn, goal = hold_rrt_connect(
            start.roomy,
            np.stack([end.roomy for end in goals]),
            *hold,
            lower,
            upper,
            effort.step,
            checker.per_unit,
            effort.iterations,
            effort.seed,
            checker.robot,
            checker.world,
            path,
        )
        middle = perf_counter()
        self.timings["search"] += middle - begin
        if count == 0:
            return Found(path=None, iterations=drawn)
        attempts = SHORTCUT_FACTOR * self._options.shortcuts
        count = hold_shorten(
            path, count, *hold, checker.per_unit, checker.robot, checker.world, attempts, effort.seed + 1
        )
        self.timings["shorten"] += perf_counter() - middle
        result = path[:count].copy()
        return Found(path=result if self.keeps(result) else None, goal=goal, iterations=drawn)

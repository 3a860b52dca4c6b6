"""Search, shorten, verify: from two ends to a path that is exactly free."""

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from handloom.motion.collision import PathCollision, SphereChecker
from handloom.motion.planning.path_end import PathEnd
from handloom.motion.planning.planner_options import PlannerOptions
from handloom.motion.planning.rrt_connect import rrt_connect
from handloom.motion.planning.scene_check import SceneCheck
from handloom.motion.planning.shortcut import shorten

Array = NDArray[np.float64]

MORE_PADDING = 0.003
"""Added per retry after exact verification refused a path [m]."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Found:
    """Outcome of a search."""

    path: Array | None
    """Waypoints (m, n), or None."""
    goal: int = -1
    """Which goal was reached."""
    iterations: int = 0
    """Samples drawn."""
    refused: PathCollision | None = None
    """Why exact verification refused the last path that was found."""


class Search:
    """Runs RRT-Connect and shortcutting on spheres and verifies the result with exact solids."""

    def __init__(self, options: PlannerOptions, dof: int) -> None:
        self._options = options
        self._buffer = np.empty((2 * options.tree_size, dof))
        self.timings: dict[str, float] = {}
        """Time spent per stage since the last reset [s]."""

    def reset(self) -> None:
        """Forget the timings."""
        self.timings = {"search": 0.0, "shorten": 0.0, "verify": 0.0}

    def run(self, scene: SceneCheck, start: PathEnd, goals: Sequence[PathEnd], *, iterations: int) -> Found:
        """Find a verified path from the start to any of the goals, in at most ``iterations`` samples per attempt."""
        drawn, refused = 0, None
        for attempt in range(self._options.verify_retries + 1):
            found = self._attempt(scene, start, goals, iterations, attempt)
            drawn += found.iterations
            if found.path is None:
                return Found(path=None, iterations=drawn, refused=refused)
            path = _join(start, found.path, goals[found.goal] if found.goal >= 0 else None)
            refused = self.verify(scene, path, start)
            if refused is None:
                return Found(path=path, goal=found.goal, iterations=drawn)
        return Found(path=None, iterations=drawn, refused=refused)

    def verify(self, scene: SceneCheck, path: Array, start: PathEnd) -> PathCollision | None:
        """Return where a path collides exactly, beyond the contacts tolerated at its start."""
        begin = perf_counter()
        allowed = {frozenset((t.part, t.other)): t.depth + 1e-4 for t in start.tolerated}
        refused = scene.first_collision(path, step=self._options.exact_step, allowed=allowed)
        self.timings["verify"] += perf_counter() - begin
        return refused

    def _checker(self, scene: SceneCheck, attempt: int) -> SphereChecker:
        return scene.spheres(self._options.padding + attempt * MORE_PADDING)

    def _attempt(
        self, scene: SceneCheck, start: PathEnd, goals: Sequence[PathEnd], iterations: int, attempt: int
    ) -> Found:
        options, path = self._options, self._buffer
        checker = self._checker(scene, attempt)
        lower, upper = scene.robot.tree.sampling_box
        seed = options.seed * 1_000_003 + attempt
        begin = perf_counter()
        roomy = np.stack([goal.roomy for goal in goals])
        count, drawn, goal = rrt_connect(
            start.roomy,
            roomy,
            lower,
            upper,
            options.tree_step,
            checker.per_unit,
            max(iterations, len(goals)),
            seed,
            checker.robot,
            checker.world,
            path,
        )
        middle = perf_counter()
        self.timings["search"] += middle - begin
        if count == 0:
            return Found(path=None, iterations=drawn)
        count = shorten(path, count, checker.per_unit, checker.robot, checker.world, options.shortcuts, seed + 1)
        self.timings["shorten"] += perf_counter() - middle
        return Found(path=path[:count].copy(), goal=goal, iterations=drawn)


def _join(start: PathEnd, path: Array, goal: PathEnd | None) -> Array:
    """Add the tight ends of a path."""
    before = [start.q[None]] if start.is_tight else []
    after = [goal.q[None]] if goal is not None and goal.is_tight else []
    return np.concatenate([*before, path, *after])

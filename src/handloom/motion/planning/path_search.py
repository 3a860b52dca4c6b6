"""Search, shorten, verify: from two ends to an exactly verified free path, also under a hold or to tool poses."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Protocol

import numpy as np

from handloom.arrays import Array
from handloom.motion.collision import CollisionRobot, PathCollision
from handloom.motion.collision.collision_arrays import MotionScene
from handloom.motion.kinematics import IkSolver
from handloom.motion.planning.arm_group import ArmGroup, no_arm
from handloom.motion.planning.moves import KeptHold
from handloom.motion.planning.path_end import PathEnd
from handloom.motion.planning.planner_options import PlannerOptions
from handloom.motion.planning.trees.hold_kernels import hold_rrt_connect, hold_shorten
from handloom.motion.planning.trees.jt_rrt import PulledArm, PulledArms, jt_rrt
from handloom.motion.planning.trees.rrt_connect import Budget, rrt_connect
from handloom.motion.planning.trees.shortcut import shorten

MORE_PADDING = 0.003
"""Padding added per retry after exact verification rejected a path [m]."""

ROUNDS = ((0.125, 1.0, 1.0), (0.25, 0.5, 1.0), (0.5, 0.5, 0.0), (1.0, 0.25, 0.0), (1.0, 1.0, 0.0), (4.0, 1.0, 0.0))
"""Fractions of the iterations, of the tree step and of the padding, per round until one finds a path.

The time of a random search has a long tail, which restarts cut off. Short steps enter narrow passages that long ones
miss, and without padding passages are wider; verification is exact either way. The last round is for the few
problems of arms beside a torso that need tens of thousands of samples."""


class Spheres(Protocol):
    """Spheres of a robot in a scene, with some padding."""

    @property
    def scene(self) -> MotionScene:
        """Robot, obstacles and checking step, for the kernels."""
        ...


class SearchScene(Protocol):
    """Both collision checkers in one scene: a ``SceneCheck``, or a scene of a batch."""

    robot: CollisionRobot

    def spheres(self, padding: float) -> Spheres:
        """Return the spheres with some padding [m]."""
        ...

    def first_collision(
        self, path: Array, *, step: float, allowed: dict[frozenset[str], float] | None = None
    ) -> PathCollision | None:
        """Return the exact collision of a path, or None."""
        ...


@dataclass(frozen=True, kw_only=True)
class Effort:
    """Settings of one search."""

    iterations: int
    """Samples to draw."""
    step: float
    """Longest edge of the trees [rad or m]."""
    padding: float
    """Distance to keep from obstacles [m]."""
    seed: int
    """Seed of the samples."""

    @classmethod
    def of_round(
        cls,
        options: PlannerOptions,
        number: int,
        goals: int,
        *,
        iterations: int | None = None,
        more: float = 0.0,
        alone: bool = False,
    ) -> "Effort":
        """Return the settings of one of the ``ROUNDS``.

        Args:
            options: Settings of the planner.
            number: Which round.
            goals: Number of goals; each takes a sample.
            iterations: Samples that the round takes its fraction of; None means those of the options.
            more: Padding beyond that of the options [m].
            alone: The round is the only one and takes all samples.
        """
        share, step, padding = ROUNDS[number]
        budget = options.iterations if iterations is None else iterations
        return cls(
            iterations=max(1, goals, math.ceil((1.0 if alone else share) * budget)),
            step=step * options.tree_step,
            padding=padding * options.padding + more,
            seed=options.seed * 1_000_003 + 101 * number + round(more / MORE_PADDING),
        )

    def budget(self, scene: SearchScene) -> Budget:
        """Return the settings for the kernels, with samples from the joint limits of a scene's robot."""
        return Budget(*scene.robot.tree.sampling_box, self.step, self.iterations, self.seed)


@dataclass(frozen=True, kw_only=True, eq=False)
class Found:
    """Outcome of a search."""

    path: Array | None
    """Waypoints (m, n), or None."""
    goal: int = -1
    """Which goal was reached."""
    iterations: int = 0
    """Samples drawn."""
    padding: float = 0.0
    """Clearance of the path from obstacles, measured with spheres [m]."""
    refused: PathCollision | None = None
    """Reason why exact verification rejected the last path found."""


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

    def run(
        self,
        scene: SearchScene,
        start: PathEnd,
        goals: Sequence[PathEnd],
        *,
        iterations: int,
        rounds: int = len(ROUNDS),
    ) -> Found:
        """Find a verified path from the start to any of the goals.

        Args:
            scene: Checkers.
            start: Start of the path.
            goals: Possible ends of the path.
            iterations: Samples to draw; ``ROUNDS`` defines their distribution.
            rounds: Number of rounds to run before giving up.
        """
        options, drawn, refused, more = self._options, 0, None, 0.0
        tries, alone = list(range(len(ROUNDS[:rounds]))), rounds <= 1
        while tries:
            effort = Effort.of_round(options, tries[0], len(goals), iterations=iterations, more=more, alone=alone)
            found = self.attempt(scene, start, goals, effort)
            drawn += found.iterations
            if found.path is None:
                tries.pop(0)
                continue
            path = _join(start, found.path, goals[found.goal] if found.goal >= 0 else None)
            if not self.allows(path):
                tries.pop(0)
                continue
            refused = self.verify(scene, path, start)
            if refused is None:
                return Found(path=path, goal=found.goal, iterations=drawn, padding=effort.padding)
            more += MORE_PADDING
            if more > (options.verify_retries + 0.5) * MORE_PADDING:
                break
        return Found(path=None, iterations=drawn, refused=refused)

    def allows(self, path: Array) -> bool:
        """Return whether a path, including its tight ends, is a requested one."""
        return True

    def verify(self, scene: SearchScene, path: Array, start: PathEnd) -> PathCollision | None:
        """Return the exact collision of a path, beyond the contacts tolerated at its start."""
        begin = perf_counter()
        allowed = {frozenset((t.part, t.other)): t.depth + 1e-4 for t in start.tolerated}
        refused = scene.first_collision(path, step=self._options.exact_step, allowed=allowed)
        self.timings["verify"] += perf_counter() - begin
        return refused

    def attempt(self, scene: SearchScene, start: PathEnd, goals: Sequence[PathEnd], effort: Effort) -> Found:
        """Search once and shorten the result, which is not verified yet."""
        path, begin = self._buffer, perf_counter()
        goal_rows = np.stack([end.roomy for end in goals])
        count, drawn, goal = rrt_connect(
            start.roomy, goal_rows, scene.spheres(effort.padding).scene, effort.budget(scene), path
        )
        self.timings["search"] += perf_counter() - begin
        if count == 0:
            return Found(path=None, iterations=drawn)
        return Found(path=self._shorter(scene, count, effort), goal=goal, iterations=drawn)

    def _shorter(self, scene: SearchScene, count: int, effort: Effort) -> Array:
        """Return the first ``count`` waypoints of the buffer, shortened."""
        begin, path, arrays = perf_counter(), self._buffer, scene.spheres(effort.padding).scene
        count = shorten(path, count, arrays, self._options.shortcuts, effort.seed + 1)
        self.timings["shorten"] += perf_counter() - begin
        return path[:count].copy()


def one_way(start: Array, goals: Array) -> tuple[PathEnd, list[PathEnd]]:
    """Return a start (n,) and goals (g, n) that all have room for the padded spheres as ends of a path."""
    return PathEnd(q=start, roomy=start), [PathEnd(q=goal, roomy=goal) for goal in goals]


def _join(start: PathEnd, path: Array, goal: PathEnd | None) -> Array:
    """Add the tight ends of a path."""
    before = [start.q[None]] if start.is_tight else []
    after = [goal.q[None]] if goal is not None and goal.is_tight else []
    return np.concatenate([*before, path, *after])


SHORTCUT_FACTOR = 3
"""Attempts to shorten, as a multiple of the option: each attempt replaces only part of a densely sampled path."""


class HoldSearch(Search):
    """As :class:`Search`, on the configurations that keep a hold."""

    def __init__(self, options: PlannerOptions, kept: KeptHold, dof: int) -> None:
        super().__init__(options, dof)
        self._kept, self._arms = kept, kept.held_arms()

    def allows(self, path: Array) -> bool:
        """Return whether a path keeps the hold."""
        return self._kept.path_keeps(path)

    def attempt(self, scene: SearchScene, start: PathEnd, goals: Sequence[PathEnd], effort: Effort) -> Found:
        """Search once, keeping the hold, and shorten the result, which is not verified yet."""
        path, arrays = self._buffer, scene.spheres(effort.padding).scene
        begin, goal_rows = perf_counter(), np.stack([end.roomy for end in goals])
        count, drawn, goal = hold_rrt_connect(start.roomy, goal_rows, self._arms, arrays, effort.budget(scene), path)
        middle = perf_counter()
        self.timings["search"] += middle - begin
        if count == 0:
            return Found(path=None, iterations=drawn)
        attempts = SHORTCUT_FACTOR * self._options.shortcuts
        count = hold_shorten(path, count, self._arms, arrays, attempts, effort.seed + 1)
        self.timings["shorten"] += perf_counter() - middle
        return Found(path=path[:count].copy(), goal=goal, iterations=drawn)


EXPLORED = 0.5
"""Half side of the cube around start and target in which task points are drawn [m]."""


class TaskSpaceSearch(Search):
    """As :class:`Search`, with JT-RRT towards one pose per arm; there are no goal configurations."""

    def __init__(self, options: PlannerOptions, arms: ArmGroup, T_base_tool: Array) -> None:
        super().__init__(options, arms.dof)
        self._arms = arms
        pulled = [
            PulledArm(chain.arrays, IkSolver(chain, options.ik).problem(), T[:3, :3].copy(), T[:3, 3].copy())
            for chain, T in zip(arms.chains, T_base_tool, strict=True)
        ]
        second = pulled[1] if len(arms) > 1 else pulled[0]._replace(chain=no_arm(arms.chains[0]))
        self._pulled = PulledArms(pulled[0], second)

    def attempt(self, scene: SearchScene, start: PathEnd, goals: Sequence[PathEnd], effort: Effort) -> Found:
        """Search once with JT-RRT and shorten the result, which is not verified yet."""
        here = self._arms.tools(start.roomy)[:, :3, 3]
        ends = np.stack([here[[0, -1]], [self._pulled.first.p, self._pulled.second.p]])
        boxes = np.stack([ends.min(axis=0) - EXPLORED, ends.max(axis=0) + EXPLORED], axis=1)
        arrays, begin = scene.spheres(effort.padding).scene, perf_counter()
        count, drawn = jt_rrt(start.roomy, self._pulled, boxes, arrays, effort.budget(scene), self._buffer)
        self.timings["search"] += perf_counter() - begin
        if count == 0:
            return Found(path=None, iterations=drawn)
        return Found(path=self._shorter(scene, count, effort), iterations=drawn)

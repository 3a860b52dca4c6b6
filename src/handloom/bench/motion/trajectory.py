"""Timing of planned paths compared with toppra and ruckig: duration, computing time and violation of limits."""

import logging
import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

import numpy as np

from handloom.arrays import Array
from handloom.bench.motion.planning_problems import arm_setup, planning_problems
from handloom.bench.result import BenchResult
from handloom.motion.trajectory import MotionLimits, jerk_limited, time_optimal
from handloom.motion.trajectory.timed_path import TimedPath

Motion = tuple[float, Callable[[Array], tuple[Array, Array, Array]]]

# Published limits of the Franka arm: rad/s, rad/s^2, rad/s^3.
LIMITS = MotionLimits.of(
    [2.175, 2.175, 2.175, 2.175, 2.61, 2.61, 2.61],
    [15.0, 7.5, 10.0, 12.5, 15.0, 20.0, 20.0],
    [7500.0, 3750.0, 5000.0, 6250.0, 7500.0, 10000.0, 10000.0],
)
DEVIATION = 0.01
"""Rounding of corners [rad]."""


def run(paths: int = 100, seed: int = 0) -> BenchResult:
    """Compute the timing of planned paths of the FR3.

    Args:
        paths: Number of paths, from tabletop, shelf and cage problems.
        seed: Seed of the problems.
    """
    given = _planned_paths(paths, seed)
    contenders: list[tuple[str, Callable[[Array], Motion]]] = [
        ("handloom time-optimal", lambda path: _ours(time_optimal(path, LIMITS, deviation=DEVIATION))),
        ("handloom jerk-limited", lambda path: _ours(jerk_limited(path, LIMITS, deviation=DEVIATION))),
    ]
    if find_spec("toppra") is not None:
        contenders.append(("toppra on the same rounded path", _toppra))
    if find_spec("ruckig") is not None:
        contenders.append(("ruckig along each straight part", _ruckig))
    rows = [_row(name, contender, given) for name, contender in contenders]
    _add_ratios(rows)
    return BenchResult(bench="trajectory", rows=tuple(rows))


def _planned_paths(count: int, seed: int) -> list[Array]:
    paths = []
    for problem in planning_problems(arm_setup("fr3"), count + count // 10 + 1, seed=seed):
        result = problem.planner.plan_to_joints(problem.start, problem.goal)
        if result.ok and len(paths) < count:
            paths.append(result.path)
    return paths


def _row(name: str, contender: Callable[[Array], Motion], paths: list[Array]) -> dict[str, Any]:
    contender(paths[0])
    seconds, durations, speeds, forces, jerks = [], [], [], [], []
    for path in paths:
        begin = time.perf_counter()
        duration, sample = contender(path)
        seconds.append(time.perf_counter() - begin)
        _, qd, qdd = sample(np.arange(0.0, duration, 1e-3))
        durations.append(duration)
        speeds.append(float((np.abs(qd) / LIMITS.velocity).max()))
        forces.append(float((np.abs(qdd) / LIMITS.acceleration).max()))
        assert LIMITS.jerk is not None
        jerks.append(float((np.abs(np.diff(qdd, axis=0)) / 1e-3 / LIMITS.jerk).max()))
    return {
        "name": name,
        "paths": len(paths),
        "mean_duration_s": float(np.mean(durations)),
        "median_ms": 1000.0 * float(np.median(seconds)),
        "velocity_violation_percent": 100.0 * max(0.0, max(speeds) - 1.0),
        "acceleration_violation_percent": 100.0 * max(0.0, max(forces) - 1.0),
        "jerk_of_limit": max(jerks),
    }


def _ours(motion: Any) -> Motion:
    return motion.duration, motion.sample


def _toppra(path: Array) -> Motion:
    """Time our rounded path with toppra: same geometry, velocity and acceleration limits."""
    constraint, algorithm = import_module("toppra.constraint"), import_module("toppra.algorithm")
    logging.getLogger("toppra").setLevel(logging.ERROR)
    rounded = _RoundedPath(path)
    limits = [
        constraint.JointVelocityConstraint(np.c_[-LIMITS.velocity, LIMITS.velocity]),
        constraint.JointAccelerationConstraint(
            np.c_[-LIMITS.acceleration, LIMITS.acceleration],
            discretization_scheme=constraint.DiscretizationType.Interpolation,
        ),
    ]
    # Same grid as ours: with fewer points it would cut the rounded corners and exceed the limits there.
    instance = algorithm.TOPPRA(limits, rounded, gridpoints=rounded.grid, parametrizer="ParametrizeConstAccel")
    motion = instance.compute_trajectory(0.0, 0.0)
    return motion.duration, lambda t: (motion(t), motion(t, 1), motion(t, 2))


class _RoundedPath:
    """Our rounded path with the interface that toppra expects; ``duration`` is its length."""

    def __init__(self, path: Array) -> None:
        motion = TimedPath(path, LIMITS, deviation=DEVIATION)
        self._geometry = motion
        self.grid = motion.grid
        self.duration = float(self.grid[-1])
        self.dof = path.shape[1]
        self.path_interval = np.array([0.0, self.duration])
        self.waypoints = None

    def __call__(self, position: Any, order: int = 0) -> Array:
        at = np.asarray(position, float)
        values = self._geometry.along(np.atleast_1d(at))[order]
        return values if at.ndim else values[0]


def _ruckig(path: Array) -> Motion:
    """Stop at every waypoint; one jerk-limited motion along each straight part."""
    import ruckig

    assert LIMITS.jerk is not None
    parts, begin = [], 0.0
    for a, b in pairwise(path):
        length = float(np.linalg.norm(b - a))
        direction = (b - a) / length
        scale = np.maximum(np.abs(direction), 1e-9)
        generator, given = ruckig.Ruckig(1), ruckig.InputParameter(1)
        given.current_position, given.target_position = [0.0], [length]
        given.max_velocity = [float((LIMITS.velocity / scale).min())]
        given.max_acceleration = [float((LIMITS.acceleration / scale).min())]
        given.max_jerk = [float((LIMITS.jerk / scale).min())]
        motion = ruckig.Trajectory(1)
        generator.calculate(given, motion)
        parts.append((begin, a, direction, motion))
        begin += motion.duration
    return begin, lambda t: _sample_parts(parts, t)


def _sample_parts(parts: list[tuple[float, Array, Array, Any]], times: Array) -> tuple[Array, Array, Array]:
    starts = np.array([part[0] for part in parts])
    result = np.empty((3, len(times), len(parts[0][1])))
    for i, t in enumerate(times):
        begin, a, direction, motion = parts[int(np.searchsorted(starts, t, side="right")) - 1]
        position, velocity, acceleration = (value[0] for value in motion.at_time(t - begin)[:3])
        result[:, i] = a + position * direction, velocity * direction, acceleration * direction
    return result[0], result[1], result[2]


def _add_ratios(rows: list[dict[str, Any]]) -> None:
    peer = next((row for row in rows if row["name"].startswith("toppra")), None)
    if peer is not None:
        ours = rows[0]
        ours["duration_of_toppra"] = ours["mean_duration_s"] / peer["mean_duration_s"]
        ours["times_toppra"] = peer["median_ms"] / ours["median_ms"]

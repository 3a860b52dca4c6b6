"""Collision checks per second: spheres, edges, and MuJoCo's exact check on the same configurations."""

import time
from typing import Any

import numpy as np

from handloom.bench.motion.planning_problems import arm_setup
from handloom.bench.result import BenchResult
from handloom.motion.planning import ArmPlanner
from handloom.spatial import make_pose, random_rotations

OBSTACLES = 20


def run(configurations: int = 20_000, exact: int = 2_000, robot: str = "fr3") -> BenchResult:
    """Check random configurations and motions of an arm among 20 random boxes.

    Args:
        configurations: Configurations for the sphere checker.
        exact: Number of these for the exact checker.
        robot: A robot of the zoo.
    """
    setup, rng = arm_setup(robot), np.random.default_rng(0)
    planner = ArmPlanner(setup.model, setup.chain, data=setup.data)
    reach = setup.reach
    for i in range(OBSTACLES):
        # Boxes are around the arm, not in its shoulder, which would then always collide.
        turn, far = rng.uniform(-np.pi, np.pi), reach * rng.uniform(0.4, 1.0)
        place = [far * np.cos(turn), far * np.sin(turn), reach * rng.uniform(0.0, 1.3)]
        planner.world.add_box(f"box {i}", rng.uniform(0.05, 0.25, 3), make_pose(random_rotations(rng, 1)[0], place))
    planner.scene.refresh()
    lower, upper = setup.chain.sampling_box
    q = lower + (upper - lower) * rng.random((configurations, setup.chain.dof))
    truth, exact_row = _exact(planner, q[:exact])
    rows = [_spheres(planner, q, truth, threads) for threads in (1, None)]
    return BenchResult(bench="collision", rows=(*rows, _edges(planner, q), exact_row))


def _exact(planner: ArmPlanner, q: np.ndarray) -> tuple[np.ndarray, dict[str, Any]]:
    begin = time.perf_counter()
    truth = np.array([planner.scene.exact.is_free(row) for row in q])
    seconds = time.perf_counter() - begin
    row = {
        "name": "mujoco exact solids, 1 thread",
        "configurations_per_s": len(q) / seconds,
        "free_percent": 100.0 * float(truth.mean()),
    }
    return truth, row


def _spheres(planner: ArmPlanner, q: np.ndarray, truth: np.ndarray, threads: int | None) -> dict[str, Any]:
    checker = planner.scene.spheres(0.0)
    checker.configurations_free(q[:64])
    begin = time.perf_counter()
    free = checker.configurations_free(q, threads=threads)
    seconds = time.perf_counter() - begin
    known = free[: len(truth)]
    return {
        "name": f"handloom spheres, {'1 thread' if threads == 1 else 'all cores'}",
        "spheres": len(checker.robot.sphere),
        "configurations_per_s": len(q) / seconds,
        "free_percent": 100.0 * float(free.mean()),
        "missed_percent": 100.0 * float(np.mean(known & ~truth)),
        "false_alarm_percent": 100.0 * float(np.mean(~known & truth)),
    }


def _edges(planner: ArmPlanner, q: np.ndarray) -> dict[str, Any]:
    checker = planner.scene.spheres(planner.options.padding)
    ends = q[checker.configurations_free(q)]
    half = len(ends) // 2
    begin = time.perf_counter()
    free = checker.edges_free(ends[:half], ends[half : 2 * half], threads=1)
    seconds = time.perf_counter() - begin
    return {
        "name": "handloom edges between free configurations, 1 thread",
        "edges_per_s": half / seconds,
        "free_percent": 100.0 * float(free.mean()),
    }

"""Motion planning: tabletop, shelf and cage problems per arm, and MotionBenchMaker problems where they are at hand."""

import json
import os
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from handloom.bench.planning_problems import KINDS, PlanningProblem, arm_setup, planning_problems
from handloom.bench.result import BenchResult
from handloom.motion.collision import ExactChecker
from handloom.motion.kinematics import Chain
from handloom.motion.planning import ArmPlanner, PlannerOptions
from handloom.robots import load_robot

PROBLEMS_VARIABLE = "HANDLOOM_MOTION_BENCH"
"""Environment variable with the path of a JSON file of MotionBenchMaker problems for the Panda arm."""

# Joint limits of the Panda, which the problem set was made for [rad].
PANDA_LOWER = (-2.8973, -1.7628, -2.8973, -3.0718, -2.8973, -0.0175, -2.8973)
PANDA_UPPER = (2.8973, 1.7628, 2.8973, -0.0698, 2.8973, 3.7525, 2.8973)

LAST_RESORT_SEEDS = 2
"""An unsolved problem counts as feasible when one of so many other seeds solves it with five times the samples."""


def run(problems: int = 200, robots: tuple[str, ...] = ("fr3",), seed: int = 0) -> BenchResult:
    """Solve random problems from joints to joints and verify every path independently.

    Args:
        problems: Problems per robot, a third of each kind.
        robots: Robots of the zoo.
        seed: Seed of the problems.
    """
    rows = []
    for robot in robots:
        setup = arm_setup(robot)
        given = planning_problems(setup, problems, seed=seed)
        rows += [_row(f"handloom {robot} {kind}", [p for p in given if p.kind == kind]) for kind in KINDS]
        rows.append(_row(f"handloom {robot} all", given))
    file = os.environ.get(PROBLEMS_VARIABLE)
    if file:
        rows += _motion_bench(Path(file))
    return BenchResult(bench="plan", rows=tuple(rows))


def _row(name: str, problems: Sequence[PlanningProblem]) -> dict[str, Any]:
    """Plan each problem once; the scene is packed beforehand, as it is between two requests in one scene."""
    wall, cpu, lengths, verified, unsolved = [], [], [], 0, []
    for problem in problems:
        planner = problem.planner
        # The first request on a scene compiles the exact model and packs the obstacles.
        planner.plan_to_joints(problem.start, problem.start)
        begin, begin_cpu = time.perf_counter(), time.thread_time()
        result = planner.plan_to_joints(problem.start, problem.goal)
        wall.append(time.perf_counter() - begin)
        cpu.append(time.thread_time() - begin_cpu)
        if result.ok:
            lengths.append(result.length)
            verified += _is_free(planner, result.path)
        else:
            unsolved.append(problem)
    feasible = len(problems) - sum(not _feasible(problem) for problem in unsolved)
    solved = len(problems) - len(unsolved)
    return {
        "name": name,
        "problems": len(problems),
        "feasible": feasible,
        "solved_percent": 100.0 * solved / max(1, feasible),
        "median_ms": 1000.0 * float(np.median(wall)),
        "mean_ms": 1000.0 * float(np.mean(wall)),
        "p95_ms": 1000.0 * float(np.percentile(wall, 95)),
        "median_cpu_ms": 1000.0 * float(np.median(cpu)),
        "exact_free_percent": 100.0 * verified / max(1, solved),
        "mean_length_rad": float(np.mean(lengths)) if lengths else None,
    }


def _is_free(planner: ArmPlanner, path: np.ndarray) -> bool:
    """Check a path every 0.01 rad of any joint with a fresh exact checker, leaving nothing out."""
    exact = ExactChecker(planner.robot.tree, planner.robot.parts, list(planner.world), planner.robot.ignored)
    for a, b in pairwise(path):
        count = int(np.ceil(np.abs(b - a).max() / 0.01)) + 1
        if not all(exact.is_free(a + f * (b - a)) for f in np.linspace(0.0, 1.0, count)):
            return False
    return True


def _feasible(problem: PlanningProblem) -> bool:
    """Tell whether a problem can be solved with much more effort."""
    planner = problem.planner
    for seed in range(1, LAST_RESORT_SEEDS + 1):
        options = PlannerOptions(seed=seed, iterations=5 * planner.options.iterations, tree_size=100_000)
        again = ArmPlanner(planner.model, planner.chains, data=planner.data, world=planner.world, options=options)
        if again.plan_to_joints(problem.start, problem.goal).ok:
            return True
    return False


def _motion_bench(file: Path) -> list[dict[str, Any]]:
    """Solve MotionBenchMaker's Panda problems with the zoo's Franka arm, Panda limits and an open hand.

    Problems whose start or goal collides exactly with this arm's solids are not counted; the row says how many are.
    """
    sets = json.loads(file.read_text())
    problems = [_motion_bench_problem(name, given) for name, entries in sets.items() for given in entries]
    valid = [problem for problem in problems if _both_ends_free(problem)]
    rows = [_row(f"handloom MotionBenchMaker {name}", [p for p in valid if p.kind == name]) for name in sets]
    rows.append({**_row("handloom MotionBenchMaker all", valid), "given": len(problems)})
    return rows


def _motion_bench_problem(name: str, given: dict[str, Any]) -> PlanningProblem:
    description = load_robot("fr3")
    model, arm = description.compile(), description.arms[0]
    for joint, low, high in zip(arm.joint_names, PANDA_LOWER, PANDA_UPPER, strict=True):
        model.jnt_range[model.joint(joint).id] = low, high
    data = mujoco.MjData(model)
    for joint in ("fr3_finger_joint1", "fr3_finger_joint2"):
        data.qpos[model.joint(joint).qposadr[0]] = 0.04
    mujoco.mj_forward(model, data)
    chain = Chain.from_model(model, tip=arm.tcp_site, base=arm.base_body, joints=arm.joint_names, qpos=data.qpos)
    planner = ArmPlanner(model, chain, data=data)
    for i, box in enumerate(given["prims"]["box"]):
        planner.world.add_box(f"box {i}", box["dim"], box["T"])
    for i, cylinder in enumerate(given["prims"]["cylinder"]):
        planner.world.add_cylinder(f"cylinder {i}", cylinder["dim"][1], cylinder["dim"][0], cylinder["T"])
    start, goal = np.array(given["start"], float), np.array(given["goal"], float)
    return PlanningProblem(kind=name, planner=planner, start=start, goal=goal)


def _both_ends_free(problem: PlanningProblem) -> bool:
    tree = problem.planner.robot.tree
    problem.planner.scene.refresh()
    return all(
        np.all((q >= tree.lower) & (q <= tree.upper)) and problem.planner.scene.exact.is_free(q)
        for q in (problem.start, problem.goal)
    )

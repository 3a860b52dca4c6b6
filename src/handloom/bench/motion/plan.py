"""Motion planning: tabletop, shelf and cage problems per arm, and MotionBenchMaker problems if available."""

import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from handloom.bench.motion import plan_card
from handloom.bench.motion.planning_problems import KINDS, PlanningProblem, arm_setup, is_free, planning_problems
from handloom.bench.result import BenchResult
from handloom.errors import InputError
from handloom.motion.kinematics import Chain
from handloom.motion.planning import ArmPlanner, PlannerOptions
from handloom.robots import load_robot

PROBLEMS_VARIABLE = "HANDLOOM_MOTION_BENCH"
"""Environment variable with the path of a JSON file of MotionBenchMaker problems for the Panda arm."""

# Joint limits of the Panda that the problem set was made for [rad]. Its fourth joint ends at 0.0175, as in the
# older model files of the Panda, and not at -0.0698 as in newer ones: three goals lie in between.
PANDA_LOWER = (-2.8973, -1.7628, -2.8973, -3.0718, -2.8973, -0.0175, -2.8973)
PANDA_UPPER = (2.8973, 1.7628, 2.8973, 0.0175, 2.8973, 3.7525, 2.8973)
FINGERS = ("fr3_leftfinger", "fr3_rightfinger")
GRASPED = {"cage": "box 0"}
"""Problem set > the object that its goals grasp. In ``cage`` this is a cube of 7 cm between fingers that open to 8 cm.
All goals are aligned with it to within 1 degree and at most 18 mm off its centre, so contact between it and the fingers
is not counted."""

LAST_RESORT_SEEDS = 2
"""An unsolved problem counts as feasible if one of this many other seeds solves it with five times the samples."""


@dataclass(frozen=True, kw_only=True)
class _Outcome:
    """Outcome of one problem."""

    kind: str
    first: float
    """Time of the first request in the scene, which compiles the exact model and packs the obstacles [s]."""
    wall: float
    """Time to plan after that [s]."""
    cpu: float
    solved: bool
    feasible: bool
    exactly_free: bool
    length: float


def run(
    problems: int = 200,
    names: tuple[str, ...] = ("fr3",),
    seed: int = 0,
    *,
    device: str = "cpu",
    overrides: tuple[str, ...] = (),
) -> BenchResult:
    """Solve random joint-space problems and verify every path independently.

    Args:
        problems: Problems per robot, a third of each kind.
        names: Robots of the zoo.
        seed: Seed of the problems.
        device: ``cuda`` measures a GPU instead, with a thousand problems at once.
        overrides: For a GPU, settings of the batch planner to compare, such as ``parts=4,8``.

    Raises:
        InputError: There are such settings without a GPU.
    """
    if device == "cuda":
        return plan_card.run(robot=names[0], seed=seed, overrides=overrides)
    if overrides:
        raise InputError("the benchmark 'plan' takes --set only with --device cuda")
    rows = []
    for robot in names:
        setup = arm_setup(robot)
        outcomes = [_solve(problem) for problem in planning_problems(setup, problems, seed=seed)]
        rows += [_row(f"handloom {robot} {kind}", [o for o in outcomes if o.kind == kind]) for kind in KINDS]
        rows.append(_row(f"handloom {robot} all", outcomes))
    file = os.environ.get(PROBLEMS_VARIABLE)
    if file:
        rows += _motion_bench(Path(file))
    return BenchResult(bench="plan", rows=tuple(rows))


def _solve(problem: PlanningProblem) -> _Outcome:
    """Plan a problem once; the scene is packed beforehand, as for a second request in the same scene."""
    planner, begin = problem.planner, time.perf_counter()
    planner.plan_to_joints(problem.start, problem.start)
    first, begin, begin_cpu = time.perf_counter() - begin, time.perf_counter(), time.thread_time()
    result = planner.plan_to_joints(problem.start, problem.goal)
    wall, cpu = time.perf_counter() - begin, time.thread_time() - begin_cpu
    return _Outcome(
        kind=problem.kind,
        first=first,
        wall=wall,
        cpu=cpu,
        solved=result.ok,
        feasible=result.ok or _feasible(problem),
        exactly_free=result.ok and is_free(planner, result.path),
        length=result.length,
    )


def _row(name: str, outcomes: Sequence[_Outcome]) -> dict[str, Any]:
    solved = [o for o in outcomes if o.solved]
    feasible, wall = sum(o.feasible for o in outcomes), [1000.0 * o.wall for o in outcomes]
    return {
        "name": name,
        "problems": len(outcomes),
        "feasible": feasible,
        "solved_percent": 100.0 * len(solved) / max(1, feasible),
        "median_ms": float(np.median(wall)),
        "mean_ms": float(np.mean(wall)),
        "p95_ms": float(np.percentile(wall, 95)),
        "median_cpu_ms": 1000.0 * float(np.median([o.cpu for o in outcomes])),
        "first_request_ms": 1000.0 * float(np.median([o.first for o in outcomes])),
        "exact_free_percent": 100.0 * sum(o.exactly_free for o in solved) / max(1, len(solved)),
        "mean_length_rad": float(np.mean([o.length for o in solved])) if solved else None,
    }


def _feasible(problem: PlanningProblem) -> bool:
    """Return whether a problem can be solved with much more effort."""
    planner = problem.planner
    for seed in range(1, LAST_RESORT_SEEDS + 1):
        options = PlannerOptions(seed=seed, iterations=5 * planner.options.iterations, tree_size=100_000)
        again = ArmPlanner(planner.model, planner.chains, data=planner.data, world=planner.world, options=options)
        if again.plan_to_joints(problem.start, problem.goal).ok:
            return True
    return False


def _motion_bench(file: Path) -> list[dict[str, Any]]:
    """Solve MotionBenchMaker's Panda problems with the zoo's Franka arm, Panda limits and an open hand.

    Problems whose start or goal collides with this arm's exact solids are not counted; the row has the number counted.
    Fingers may touch the grasped object.
    """
    sets = json.loads(file.read_text(encoding="utf-8"))
    problems = [_motion_bench_problem(name, given) for name, entries in sets.items() for given in entries]
    valid = [problem for problem in problems if _both_ends_free(problem)]
    outcomes = [_solve(problem) for problem in valid]
    rows = [_row(f"handloom MotionBenchMaker {name}", [o for o in outcomes if o.kind == name]) for name in sets]
    rows.append({**_row("handloom MotionBenchMaker all", outcomes), "given": len(problems)})
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
    chain = Chain.from_model(model, tool=arm.tcp_site, base=arm.base_body, joints=arm.joint_names, qpos=data.qpos)
    planner = ArmPlanner(model, chain, data=data)
    for i, box in enumerate(given["prims"]["box"]):
        planner.world.add_box(f"box {i}", box["dim"], box["T"])
    for i, cylinder in enumerate(given["prims"]["cylinder"]):
        planner.world.add_cylinder(f"cylinder {i}", cylinder["dim"][1], cylinder["dim"][0], cylinder["T"])
    if name in GRASPED:
        planner.let_touch(FINGERS, GRASPED[name])
    start, goal = np.array(given["start"], float), np.array(given["goal"], float)
    return PlanningProblem(kind=name, planner=planner, start=start, goal=goal)


def _both_ends_free(problem: PlanningProblem) -> bool:
    tree = problem.planner.robot.tree
    problem.planner.scene.refresh()
    return all(
        np.all((q >= tree.lower) & (q <= tree.upper)) and problem.planner.scene.exact.is_free(q)
        for q in (problem.start, problem.goal)
    )

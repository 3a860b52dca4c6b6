"""``bench plan --device cuda``: a thousand problems in a thousand scenes at once, compared with all CPU cores."""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from handloom.arrays import Array
from handloom.bench.all_cores import cores, on_all_cores
from handloom.bench.motion.planning_problems import PlanningProblem, arm_setup, is_free, planning_problems
from handloom.bench.result import BenchResult
from handloom.motion.collision import CollisionWorld
from handloom.motion.planning import ArmPlanner, PlanResult
from handloom.motion.planning.batch.batch_planner import BatchPlanner, PlanProblem

DRAWN_BY = 16
"""Sets of problems, each with its own seed, that the cores sample in parallel."""
PROBLEMS, WARM = 1000, 64
"""Number of measured problems, and of others planned first, so that everything is compiled and loaded."""


def run(
    problems: int = PROBLEMS, robot: str = "fr3", seed: int = 0, planner: BatchPlanner | None = None
) -> BenchResult:
    """Plan the same problems with one process per core and on a GPU.

    Scenes are new to both; the measured time includes packing and compiling for them.

    Args:
        problems: Number of problems, a third of each kind.
        robot: Robot of the zoo.
        seed: Seed of the problems.
        planner: Plans on the GPU; by default on the first one.

    Raises:
        StateError: There is no GPU.
    """
    card = planner or BatchPlanner("cuda")
    warm, drawn = _problems(robot, problems, seed)
    # The first request compiles the missing kernels; processes inherit them.
    _plan(warm[0])
    theirs, seconds = on_all_cores(_plan, drawn)
    card.plan(8 * _requests(warm))
    begin = time.perf_counter()
    results = card.plan(_requests(drawn))
    taken = time.perf_counter() - begin
    counts, stages = card.counts, {f"{k}_ms": 1000 * v for k, v in card.timings.items()}
    begin = time.perf_counter()
    again = card.plan(_requests(drawn))
    repeated = time.perf_counter() - begin
    same = all(np.array_equal(a.path, b.path) for a, b in zip(results, again, strict=True))
    card.close()
    ours = [(one.ok, one.path) for one in results]
    reference = _row(f"processor, {cores()} processes", drawn, theirs, seconds)
    row = _row("card", drawn, ours, taken)
    both = [(len_of(a[1]), len_of(b[1])) for a, b in zip(ours, theirs, strict=True) if a[0] and b[0]]
    row |= {
        "times_processor": row["problems_per_s"] / reference["problems_per_s"],
        "median_length_ratio": float(np.median([a / b for a, b in both])) if both else None,
        "again_per_s": len(drawn) / repeated,
        "same_bits_again": same,
        "settled_on_card": counts.card,
        "left_to_processor": counts.given - counts.card,
        "refused_paths": counts.refused,
        **stages,
    }
    return BenchResult(bench="plan", rows=(reference, row))


def _requests(problems: Sequence[PlanningProblem]) -> list[PlanProblem]:
    return [PlanProblem(planner=one.planner, q_start=one.start, q_goal=one.goal) for one in problems]


def _problems(robot: str, count: int, seed: int) -> tuple[list[PlanningProblem], list[PlanningProblem]]:
    """Return problems to warm up with and to measure, sampled on all cores; their scenes are not yet packed."""
    setup, each = arm_setup(robot), -(-count // DRAWN_BY)

    def draw(k: int) -> list[tuple[str, CollisionWorld, Array, Array]]:
        given = planning_problems(setup, each if k else min(WARM, count), seed=1000 * seed + k)
        return [(one.kind, one.planner.world, one.start, one.goal) for one in given]

    arm = ArmPlanner(setup.model, setup.chain, data=setup.data)
    sets = [
        [
            PlanningProblem(
                kind=kind,
                planner=ArmPlanner(setup.model, setup.chain, data=setup.data, world=world, robot=arm.robot),
                start=start,
                goal=goal,
            )
            for kind, world, start, goal in told
        ]
        for told in on_all_cores(draw, range(DRAWN_BY + 1))[0]
    ]
    return sets[0], [one for some in sets[1:] for one in some][:count]


def len_of(path: np.ndarray) -> float:
    """Return the length of a path in joint space [rad or m]."""
    return float(np.linalg.norm(np.diff(path, axis=0), axis=1).sum())


def _row(name: str, problems: Sequence[PlanningProblem], found: Sequence[Any], seconds: float) -> Any:
    solved = [(problem, path) for problem, (ok, path) in zip(problems, found, strict=True) if ok]
    free, _ = on_all_cores(_confirm, solved)
    return {
        "name": name,
        "problems": len(problems),
        "problems_per_s": len(problems) / seconds,
        "solved_percent": 100.0 * len(solved) / len(problems),
        "exact_free_percent": 100.0 * sum(free) / max(1, len(free)),
    }


def _plan(problem: PlanningProblem) -> tuple[bool, np.ndarray]:
    result: PlanResult = problem.planner.plan_to_joints(problem.start, problem.goal)
    return result.ok, result.path


def _confirm(given: tuple[PlanningProblem, np.ndarray]) -> bool:
    return is_free(given[0].planner, given[1])

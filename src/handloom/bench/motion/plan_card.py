"""``bench plan --device cuda``: a thousand problems in a thousand scenes at once, compared with all CPU cores."""

import gc
import time
from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from handloom.arrays import Array
from handloom.bench.all_cores import cores, on_all_cores
from handloom.bench.motion.planning_problems import ArmSetup, PlanningProblem, arm_setup, is_free, planning_problems
from handloom.bench.result import BenchResult
from handloom.errors import InputError
from handloom.motion.collision import CollisionWorld
from handloom.motion.planning import ArmPlanner, PlanResult
from handloom.motion.planning.batch.batch_planner import BatchPlanner, PlanProblem

DRAWN_BY = 16
"""Sets of problems, each with its own seed, that the cores sample in parallel."""
PROBLEMS, WARM = 1000, 64
"""Number of measured problems, and of others planned first, so that everything is compiled and loaded."""
WARM_TIMES = 8
"""Every problem to warm up with is planned this many times, so that all processes load everything."""
REPEATS = 3
"""Times that everything is measured; the median is reported."""
SETTINGS = ("parts", "workers")

Told = tuple[str, CollisionWorld, Array, Array]
Outcome = tuple[bool, Array, float]
"""Whether a problem was solved, the path, and the time that it took on its core [s]."""


class _Runs(NamedTuple):
    """Several runs over the same problems."""

    outcomes: list[Outcome]
    """Of the first run."""
    seconds: list[float]
    facts: dict[str, Any]


def run(
    problems: int = PROBLEMS,
    robot: str = "fr3",
    seed: int = 0,
    overrides: Sequence[str] = (),
    planner: BatchPlanner | None = None,
) -> BenchResult:
    """Plan the same problems with one process per core and on a GPU, every one to its end on both.

    Scenes are new to both in every run; the measured time includes packing and compiling for them.

    Args:
        problems: Number of problems, a third of each kind.
        robot: Robot of the zoo.
        seed: Seed of the problems.
        overrides: Settings of the batch planner to compare: ``parts=4,8``, ``workers=8,16``.
        planner: Plans on the GPU; by default one on the first GPU for each setting.

    Raises:
        StateError: There is no GPU.
    """
    choices = _choices(overrides)
    setup = arm_setup(robot)
    # The first requests compile the missing kernels; processes inherit them.
    for one in planning_problems(setup, 3, seed=1000 * seed + 999):
        _plan(one)
    warm, told = _draw(setup, problems, seed)
    arm = ArmPlanner(setup.model, setup.chain, data=setup.data)
    reference = _on_processor(setup, arm, told)
    first = _row(f"processor, {cores()} processes", _problems(setup, arm, told), reference)
    spent = [outcome[2] for outcome in reference.outcomes]
    first |= {"evenly_shared_per_s": len(told) * cores() / sum(spent), "slowest_ms": 1000 * max(spent)}
    rows, paths = [first], None
    for choice in choices:
        with planner or BatchPlanner("cuda", **choice) as card:
            card.plan(_requests(_problems(setup, arm, WARM_TIMES * warm)))
            ours = _on_card(card, setup, arm, told)
        name = ", ".join(["card", *(f"{value} {key}" for key, value in choice.items())])
        row = _row(name, _problems(setup, arm, told), ours) | _compared(ours, reference)
        row["times_processor"] = row["problems_per_s"] / first["problems_per_s"]
        again = [outcome[1] for outcome in ours.outcomes]
        paths = paths or again
        row["same_bits_as_first"] = all(np.array_equal(a, b) for a, b in zip(paths, again, strict=True))
        rows.append(row | ours.facts)
    return BenchResult(bench="plan", rows=tuple(rows))


def _choices(overrides: Sequence[str]) -> list[dict[str, int]]:
    """Return all combinations of the given settings."""
    values: dict[str, list[int]] = {}
    for text in overrides:
        name, _, given = text.partition("=")
        if name not in SETTINGS or not all(one.isdigit() for one in given.split(",")):
            raise InputError(f"the benchmark 'plan' takes --set {'=N,N,... or '.join(SETTINGS)}=N,N,..., got {text!r}")
        values[name] = [int(one) for one in given.split(",")]
    return [dict(zip(values, some, strict=True)) for some in product(*values.values())]


def _on_processor(setup: ArmSetup, arm: ArmPlanner, told: Sequence[Told]) -> _Runs:
    outcomes, seconds = [], []
    for _ in range(REPEATS):
        found, taken = on_all_cores(_plan, _problems(setup, arm, told))
        outcomes.append(found)
        seconds.append(taken)
    return _Runs(outcomes[0], seconds, {})


def _on_card(card: BatchPlanner, setup: ArmSetup, arm: ArmPlanner, told: Sequence[Told]) -> _Runs:
    """Plan everything several times; the stages are those of the run with the median time."""
    outcomes, seconds, facts = [], [], []
    for _ in range(REPEATS):
        given = _requests(_problems(setup, arm, told))
        gc.collect()
        begin = time.perf_counter()
        results = card.plan(given)
        seconds.append(time.perf_counter() - begin)
        outcomes.append([(one.ok, one.path, 0.0) for one in results])
        counts = card.counts
        facts.append(
            {f"{stage}_ms": 1000 * spent for stage, spent in card.timings.items()}
            | {
                "settled_on_card": counts.card,
                "left_to_processor": counts.given - counts.card,
                "refused_paths": counts.refused,
            }
        )
    same = all(np.array_equal(a[1], b[1]) for again in outcomes[1:] for a, b in zip(outcomes[0], again, strict=True))
    middle = int(np.argsort(seconds)[len(seconds) // 2])
    return _Runs(outcomes[0], seconds, facts[middle] | {"same_bits_again": same})


def _compared(ours: _Runs, theirs: _Runs) -> dict[str, Any]:
    """Return which problems were solved by whom; those that neither solves were searched to the end by both."""
    pairs = list(zip(ours.outcomes, theirs.outcomes, strict=True))
    both = [(len_of(a[1]), len_of(b[1])) for a, b in pairs if a[0] and b[0]]
    return {
        "solved_by_both": len(both),
        "solved_by_card_only": sum(a[0] and not b[0] for a, b in pairs),
        "solved_by_processor_only": sum(b[0] and not a[0] for a, b in pairs),
        "solved_by_neither": sum(not a[0] and not b[0] for a, b in pairs),
        "median_length_ratio": float(np.median([a / b for a, b in both])) if both else None,
    }


def _requests(problems: Sequence[PlanningProblem]) -> list[PlanProblem]:
    return [PlanProblem(planner=one.planner, q_start=one.start, q_goal=one.goal) for one in problems]


def _draw(setup: ArmSetup, count: int, seed: int) -> tuple[list[Told], list[Told]]:
    """Return problems to warm up with and to measure, sampled on all cores."""
    each = -(-count // DRAWN_BY)

    def draw(k: int) -> list[Told]:
        given = planning_problems(setup, each if k else min(WARM, count), seed=1000 * seed + k)
        return [(one.kind, one.planner.world, one.start, one.goal) for one in given]

    sets = on_all_cores(draw, range(DRAWN_BY + 1))[0]
    return sets[0], [one for some in sets[1:] for one in some][:count]


def _problems(setup: ArmSetup, arm: ArmPlanner, told: Sequence[Told]) -> list[PlanningProblem]:
    """Return problems whose scenes nobody has packed yet."""
    return [
        PlanningProblem(
            kind=kind,
            planner=ArmPlanner(setup.model, setup.chain, data=setup.data, world=world, robot=arm.robot),
            start=start,
            goal=goal,
        )
        for kind, world, start, goal in told
    ]


def len_of(path: Array) -> float:
    """Return the length of a path in joint space [rad or m]."""
    return float(np.linalg.norm(np.diff(path, axis=0), axis=1).sum())


def _row(name: str, problems: Sequence[PlanningProblem], runs: _Runs) -> dict[str, Any]:
    solved = [(problem, path) for problem, (ok, path, _) in zip(problems, runs.outcomes, strict=True) if ok]
    free, _ = on_all_cores(_confirm, solved)
    seconds = float(np.median(runs.seconds))
    return {
        "name": name,
        "problems": len(problems),
        "problems_per_s": len(problems) / seconds,
        "median_ms": 1000 * seconds,
        "fastest_ms": 1000 * min(runs.seconds),
        "slowest_run_ms": 1000 * max(runs.seconds),
        "solved_percent": 100.0 * len(solved) / len(problems),
        "exact_free_percent": 100.0 * sum(free) / max(1, len(free)),
    }


def _plan(problem: PlanningProblem) -> Outcome:
    begin = time.perf_counter()
    result: PlanResult = problem.planner.plan_to_joints(problem.start, problem.goal)
    return result.ok, result.path, time.perf_counter() - begin


def _confirm(given: tuple[PlanningProblem, Array]) -> bool:
    return is_free(given[0].planner, given[1])

"""Success rate of the scripted expert on each task of the library, and its cost."""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from handloom.bench.result import BenchResult
from handloom.engine import Executor, InlineExecutor, ProcessExecutor, Receipt
from handloom.engine.attempt import Stopwatch, receipt_of, simulate
from handloom.engine.warmup import warm_up
from handloom.errors import InputError
from handloom.tasks import SamplingError, Task, library, load_task


@dataclass(frozen=True, kw_only=True)
class TaskTrial:
    """A few seeds of one task, small enough to pass to a worker."""

    task: str
    """Task of the library, or a YAML file."""
    first: int
    """First attempt."""
    count: int
    seed: int
    """Seed of the run that the attempts belong to."""
    overrides: tuple[str, ...]
    robot: str | None = None
    """Robot that performs it; None means the one named in the file."""


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """The outcome of one attempt and its cost."""

    receipt: Receipt
    cpu_s: float
    """CPU time of everything from sampling to the last frame [s]."""
    layout: int = 0
    """Number of earlier layouts of the attempt for which the expert found no plan."""


def run(
    names: Sequence[str] = (),
    seeds: int = 50,
    seed: int = 0,
    overrides: Sequence[str] = (),
    workers: int = 2,
    robot: str | None = None,
) -> BenchResult:
    """Let the expert attempt every task without images; one row per task.

    Args:
        names: Tasks of the library or YAML files; none means the whole library.
        seeds: Attempts per task.
        seed: Seed of the run; seed 0 was used for tuning the tasks.
        overrides: Changes to every task, such as ``data.variant=randomized``.
        workers: Processes; 1 runs everything here.
        robot: Robot for tasks that any robot can do; None means the one named in each file.
    """
    if seeds < 1:
        raise InputError(f"a task needs at least 1 seed to be measured, got {seeds}")
    wanted = list(names) or list(library())
    for name in wanted:
        load_task(name, overrides=overrides, robot=robot)  # mistakes in a task file are shown before the first attempt
    warm_up()
    executor: Executor = InlineExecutor() if workers == 1 else ProcessExecutor(workers)
    trials = [
        TaskTrial(
            task=name,
            first=first,
            count=min(PER_TRIAL, seeds - first),
            seed=seed,
            overrides=tuple(overrides),
            robot=robot,
        )
        for name in wanted
        for first in range(0, seeds, PER_TRIAL)
    ]
    done: dict[str, list[Attempt]] = {name: [] for name in wanted}
    for finished in executor.run(run_trial, iter(trials)):
        done[finished.item.task] += finished.result or _crashed(finished.item, finished.crash)
    return BenchResult(bench="tasks", rows=tuple(_row(name, attempts) for name, attempts in done.items()))


def run_trial(trial: TaskTrial) -> list[Attempt]:
    """Attempt the seeds of a trial, in a worker."""
    task = _loaded(trial.task, trial.overrides, trial.robot)
    return [attempt_task(task, trial.seed, episode) for episode in range(trial.first, trial.first + trial.count)]


PER_TRIAL = 5
"""Number of attempts that a worker makes between two reports."""


@lru_cache(maxsize=4)
def _loaded(name: str, overrides: tuple[str, ...], robot: str | None) -> Task:
    return load_task(name, overrides=overrides, robot=robot)


def attempt_task(task: Task, seed: int, episode: int) -> Attempt:
    """Let the expert attempt a task once, without images."""
    watch, begin, layout = Stopwatch(), time.process_time(), 0
    try:
        _, record = simulate(task, seed, episode, watch)
        receipt, layout = receipt_of(record, watch), record.instance.layout
    except SamplingError as error:
        failure = error.failure
        receipt = Receipt(episode=episode, success=False, reason=failure.reason, detail=failure.detail)
    return Attempt(receipt=receipt, cpu_s=time.process_time() - begin, layout=layout)


def _crashed(trial: TaskTrial, crash: str) -> list[Attempt]:
    lost = range(trial.first, trial.first + trial.count)
    return [Attempt(receipt=Receipt(episode=e, success=False, reason="crash", detail=crash), cpu_s=0.0) for e in lost]


def _row(name: str, attempts: list[Attempt]) -> dict[str, Any]:
    """Summarize the attempts of a task, in CPU time, so that other programs do not count."""
    receipts = [attempt.receipt for attempt in attempts]
    wins = [receipt for receipt in receipts if receipt.success]
    reasons = Counter(receipt.reason for receipt in receipts if not receipt.success)
    stages = Counter[str]()
    for receipt in receipts:
        stages.update(receipt.seconds)
    simulated = sum(receipt.frames / receipt.fps for receipt in receipts)
    work = sum(stages.values())
    return {
        "name": name,
        "attempts": len(receipts),
        "success_percent": 100.0 * len(wins) / len(receipts),
        "episode_s": sum(r.frames / r.fps for r in wins) / max(1, len(wins)),
        "planning_percent": 100.0 * stages["plan"] / work if work else 0.0,
        "realtime_factor": simulated / max(1e-9, sum(attempt.cpu_s for attempt in attempts)),
        "failures": ", ".join(f"{count} {reason}" for reason, count in reasons.most_common()),
    }

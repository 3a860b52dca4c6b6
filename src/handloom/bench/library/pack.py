"""Success of the scripted expert on the tasks of a pack, compared with published results for the same tasks."""

import math
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import lru_cache
from pathlib import Path
from typing import Any

from handloom.bench.result import BenchResult
from handloom.bench.trials import TrialOutcome, TrialRecord, attempt_outcome, attempts_in_time, executor_of, fingerprint
from handloom.engine.executors.executor import Finished
from handloom.engine.warmup import warm_up
from handloom.errors import HandloomError, InputError, unknown_name
from handloom.tasks import Task, load_task
from handloom.tasks.config.packs import Pack, load_pack, pack_names

Z = 1.96
"""Half width of a 95 % interval, in standard deviations."""


@dataclass(frozen=True, kw_only=True)
class PackTrial:
    """One attempt at a task, as passed to a worker."""

    task: str
    robot: str
    seed: int
    episode: int


def run(
    names: Sequence[str] = (),
    robot: str = "",
    tasks: Sequence[str] = (),
    attempts: int = 10,
    seed: int = 0,
    processes: int = 2,
    limit: float = math.inf,
    record: Path | None = None,
) -> BenchResult:
    """Attempt the tasks of a pack without images; one row per task, and one for all.

    Args:
        names: The pack.
        robot: Robot that performs the tasks; empty means the first robot of the pack.
        tasks: Names or patterns such as ``KITCHEN*``; none means all.
        attempts: Attempts per task.
        seed: Seed of the run.
        processes: Worker processes; 1 runs everything here.
        limit: No attempt starts after this time [s].
        record: JSON file of the outcomes; outcomes of unchanged tasks are reused.
    """
    begin = time.monotonic()
    if len(names) != 1:
        raise InputError(
            f"name one pack, one of: {', '.join(pack_names())}; e.g. handloom bench pack {pack_names()[0]}"
        )
    if attempts < 1 or processes < 1 or not limit > 0:
        raise InputError("attempts, processes and the time limit must be positive")
    pack = load_pack(names[0])
    robot = robot or pack.config.robots[0]
    wanted = chosen(pack, tasks)
    prints = {name: _fingerprint(f"{pack.name}/{name}", robot) for name in wanted}
    done = TrialRecord(record, verb="bench pack", of={"pack": pack.name, "robot": robot, "seed": seed}, prints=prints)
    todo = [
        PackTrial(task=f"{pack.name}/{name}", robot=robot, seed=seed, episode=episode)
        for episode in range(attempts)  # One attempt of each task first, so that the limit affects all tasks evenly.
        for name in wanted
        if not prints[name].startswith(REFUSED)
        if episode not in {outcome.episode for outcome in done.outcomes[name]}
    ]
    if todo:
        warm_up()
        for finished in attempts_in_time(executor_of(processes), run_trial, todo, until=begin + limit):
            done.add(finished.item.task.partition("/")[2], finished.result or _crashed(finished))
    done.write()
    rows = [_row(pack, name, robot, prints[name], done.outcomes[name], attempts) for name in wanted]
    return BenchResult(bench=f"pack {pack.name} on {robot}, seed {seed}", rows=(*rows, _all(pack, robot, wanted, rows)))


def chosen(pack: Pack, patterns: Sequence[str]) -> list[str]:
    """Return the tasks of a pack selected by names, patterns or group names.

    Raises:
        NotFoundError: One of them matches no task.
    """
    wanted: list[str] = []
    for given in patterns:
        plain = given.removeprefix(f"{pack.name}/")
        found = list(pack.config.groups.get(plain, ())) or [name for name in pack.tasks if fnmatch(name, plain)]
        if not found:
            raise unknown_name(f"task of the pack {pack.name}", plain, pack.tasks)
        wanted += found
    return list(dict.fromkeys(wanted)) if patterns else list(pack.tasks)


def interval(wins: int, attempts: int) -> tuple[float, float]:
    """Return the Wilson 95 % interval of a success rate [%]."""
    if not attempts:
        return 0.0, 100.0
    share, n = wins / attempts, attempts
    middle = (share + Z * Z / (2 * n)) / (1 + Z * Z / n)
    half = Z / (1 + Z * Z / n) * math.sqrt(share * (1 - share) / n + Z * Z / (4 * n * n))
    return 100.0 * max(0.0, middle - half), 100.0 * min(1.0, middle + half)


REFUSED = "refused: "
"""Prefix of the placeholder fingerprint of a task that a robot cannot do."""


def run_trial(trial: PackTrial) -> TrialOutcome:
    """Make one attempt, in a worker."""
    return attempt_outcome(_loaded(trial.task, trial.robot), trial.seed, trial.episode)


@lru_cache(maxsize=256)
def _loaded(name: str, robot: str) -> Task:
    return load_task(name, robot=robot)


def _crashed(finished: Finished) -> TrialOutcome:
    return TrialOutcome(episode=finished.item.episode, success=False, reason="crash", detail=finished.crash)


def _fingerprint(name: str, robot: str) -> str:
    """Return a hash of the resolved task, or the reason why the robot cannot do it."""
    try:
        task = _loaded(name, robot)
    except HandloomError as error:
        return f"{REFUSED}{error}"
    return fingerprint(task)


def _row(pack: Pack, name: str, robot: str, print_: str, outcomes: list[TrialOutcome], attempts: int) -> dict[str, Any]:
    outcomes = [outcome for outcome in outcomes if outcome.episode < attempts]
    wins = [outcome for outcome in outcomes if outcome.success]
    low, high = interval(len(wins), len(outcomes))
    reasons = Counter(outcome.reason for outcome in outcomes if not outcome.success)
    return {
        "name": name,
        "attempts": len(outcomes),
        "success_percent": 100.0 * len(wins) / len(outcomes) if outcomes else None,
        "low_percent": low,
        "high_percent": high,
        "published_percent": pack.published(name, robot),
        "episode_s": sum(one.episode_s for one in wins) / max(1, len(wins)),
        "cpu_s": sum(one.cpu_s for one in outcomes) / max(1, len(outcomes)),
        "failures": print_ if print_.startswith(REFUSED) else ", ".join(f"{n} {r}" for r, n in reasons.most_common()),
    }


def _all(pack: Pack, robot: str, wanted: Sequence[str], rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the mean over all tasks, and the published mean of the same tasks."""
    rates = [row["success_percent"] for row in rows if row["success_percent"] is not None]
    theirs = [rate for name in wanted if (rate := pack.published(name, robot)) is not None]
    tried, wins = (
        sum(row["attempts"] for row in rows),
        sum(round(row["attempts"] * (row["success_percent"] or 0.0) / 100.0) for row in rows),
    )
    low, high = interval(wins, tried)
    good = sum(rate >= 90.0 for rate in rates)
    return {
        "name": f"all {len(wanted)} tasks",
        "attempts": tried,
        "success_percent": sum(rates) / len(rates) if rates else None,
        "low_percent": low,
        "high_percent": high,
        "published_percent": sum(theirs) / len(theirs) if theirs else None,
        "episode_s": sum(row["episode_s"] for row in rows) / len(rows),
        "cpu_s": sum(row["cpu_s"] for row in rows) / len(rows),
        "failures": f"{good} of {len(rows)} tasks at 90 % or more",
    }

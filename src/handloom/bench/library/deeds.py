"""Success rates of robot-independent tasks with each robot: the matrix of ``handloom list tasks``."""

import json
import math
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from handloom.bench.result import BenchResult, machine_facts
from handloom.bench.tasks import attempt_task
from handloom.bench.trials import attempts_in_time, executor_of
from handloom.dataset.files.durable import atomic_write
from handloom.engine.warmup import warm_up
from handloom.errors import HandloomError, InputError, unknown_name
from handloom.tasks import Task, load_task
from handloom.tasks.config.deed_form import workplaces
from handloom.tasks.config.loading import deeds, shipped
from handloom.version import VERSION

OUT_OF_REACH = "out_of_reach"
"""Failure reason of a scene in which no region is within reach of the robot."""
GOOD = 90.0
"""Success rate from which a cell counts as good [%]."""


@dataclass(frozen=True, kw_only=True)
class DeedTrial:
    """One attempt at a task by a robot, as passed to a worker."""

    deed: str
    robot: str
    seed: int
    episode: int


def run(
    names: Sequence[str] = (),
    robot: str | None = None,
    attempts: int = 20,
    seed: int = 1,
    processes: int = 2,
    limit: float = math.inf,
    record: Path | None = None,
) -> BenchResult:
    """Attempt the robot-independent tasks without images; one row per task and robot, and one for all.

    Args:
        names: Tasks; none means all.
        robot: One robot; None means all that work at a table.
        attempts: Attempts per cell.
        seed: Seed of the run; seed 0 was used for tuning the tasks.
        processes: Worker processes; 1 runs everything here.
        limit: No attempt starts after this time [s].
        record: JSON file of the outcomes; repeating the command continues from it.
    """
    begin = time.monotonic()
    robots = [robot] if robot is not None else [*workplaces(shipped())]
    for name in names:
        if name not in deeds():
            raise unknown_name("deed", name, deeds())
    if attempts < 1 or processes < 1:
        raise InputError("attempts and processes must be at least 1")
    cells = [(name, who) for name in names or deeds() for who in robots]
    refused = {cell: why for cell in cells if (why := _refusal(*cell))}
    done, redrawn = _read(record, seed, "cells"), _read(record, seed, "redrawn")
    todo = [
        DeedTrial(deed=name, robot=who, seed=seed, episode=episode)
        for episode in range(attempts)
        for name, who in cells
        if (name, who) not in refused and str(episode) not in done.get(f"{name} {who}", {})
    ]
    if todo:
        warm_up()
    saved = time.monotonic()
    for trial, (reason, layout) in _attempted(todo, processes, begin + limit):
        done.setdefault(f"{trial.deed} {trial.robot}", {})[str(trial.episode)] = reason
        if layout:
            redrawn.setdefault(f"{trial.deed} {trial.robot}", {})[str(trial.episode)] = layout
        if record is not None and time.monotonic() - saved > 10.0:
            saved = time.monotonic()
            _write(record, seed, refused, done, redrawn)
    if record is not None:
        _write(record, seed, refused, done, redrawn)
    rows = [_row(name, who, refused.get((name, who), ""), done.get(f"{name} {who}", {})) for name, who in cells]
    return BenchResult(bench=f"deeds, seed {seed}", rows=(*rows, _all(rows, sum(map(len, redrawn.values())))))


def _attempted(todo: Sequence[DeedTrial], processes: int, until: float) -> Iterator[tuple[DeedTrial, tuple[str, int]]]:
    for finished in attempts_in_time(executor_of(processes), run_trial, todo, until=until):
        yield finished.item, ("crash", 0) if finished.result is None else finished.result


def run_trial(trial: DeedTrial) -> tuple[str, int]:
    """Make one attempt, in a worker; return the failure reason (empty for a success) and the number of its layout."""
    attempt = attempt_task(_loaded(trial.deed, trial.robot), trial.seed, trial.episode)
    return "" if attempt.receipt.success else attempt.receipt.reason or "unknown", attempt.layout


@lru_cache(maxsize=8)
def _loaded(name: str, robot: str) -> Task:
    return load_task(name, robot=robot)


def _refusal(name: str, robot: str) -> str:
    """Return why a robot is not given a task, such as one that needs two arms."""
    try:
        _loaded(name, robot)
    except HandloomError as error:
        return str(error).rpartition(": ")[2]
    return ""


def _read(record: Path | None, seed: int, key: str) -> dict[str, dict[str, Any]]:
    """Return the outcomes, or the layouts, of a record by cell and attempt; older records have no layouts."""
    if record is None or not record.exists():
        return {}
    try:
        values = json.loads(record.read_text(encoding="utf-8"))
        if values["seed"] != seed:
            raise InputError(f"{record}: its seed is {values['seed']}; name another file")
        return {cell: dict(outcomes) for cell, outcomes in values.get(key, {}).items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{record}: not a record of bench deeds ({error}); name another file") from error


def _write(
    record: Path,
    seed: int,
    refused: Mapping[tuple[str, str], str],
    done: Mapping[str, Mapping[str, str]],
    redrawn: Mapping[str, Mapping[str, int]],
) -> None:
    why = {f"{name} {robot}": text for (name, robot), text in refused.items()}
    values = {"handloom": VERSION, "machine": machine_facts(), "seed": seed, "refused": why, "cells": done}
    values["redrawn"] = redrawn
    record.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(record) as partial:
        partial.write_text(json.dumps(values, indent=1, sort_keys=True), encoding="utf-8")


def _row(name: str, robot: str, refused: str, outcomes: Mapping[str, str]) -> dict[str, Any]:
    wins = sum(not reason for reason in outcomes.values())
    reasons = Counter(reason for reason in outcomes.values() if reason)
    beyond = bool(outcomes) and reasons[OUT_OF_REACH] == len(outcomes)
    rate = 100.0 * wins / len(outcomes) if outcomes and not beyond else None
    told = ", ".join(f"{count} {reason}" for reason, count in reasons.most_common())
    return {
        "name": f"{name} on {robot}",
        "attempts": len(outcomes),
        "success_percent": rate,
        "failures": refused or ("out of reach" if beyond else told),
    }


def _all(rows: Sequence[Mapping[str, Any]], redrawn: int) -> dict[str, Any]:
    """Return the number of good cells among those within reach, and of attempts that needed another layout."""
    rates = [row["success_percent"] for row in rows if row["success_percent"] is not None]
    good = sum(rate >= GOOD for rate in rates)
    return {
        "name": f"all {len(rates)} cells within reach",
        "attempts": sum(row["attempts"] for row in rows),
        "success_percent": sum(rates) / len(rates) if rates else None,
        "failures": f"{good} of {len(rates)} cells at {GOOD:g} % or more; {redrawn} attempts in another layout",
    }

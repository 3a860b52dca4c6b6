"""Accuracy of ``handloom check`` on tasks and robots with a measured success rate: false alarms and misses."""

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from handloom.bench.result import BenchResult
from handloom.bench.trials import attempts_in_time, executor_of
from handloom.engine.trial import TRIES, fails, tries_of
from handloom.engine.warmup import warm_up
from handloom.errors import HandloomError, InputError
from handloom.tasks import load_task
from handloom.tasks.config.deed_form import workplaces
from handloom.tasks.config.deed_rates import deed_rates
from handloom.tasks.config.loading import deeds, shipped
from handloom.tasks.rehearsal import rehearse

BAD = 50.0
"""A task with a lower success rate counts as bad [%]."""


@dataclass(frozen=True, kw_only=True)
class CheckedCell:
    """A task and a robot, as passed to a worker."""

    deed: str
    robot: str
    tries: int
    rate: float
    """Measured success rate [%]."""


def run(
    names: Sequence[str] = (),
    robot: str | None = None,
    attempts: int = TRIES,
    processes: int = 2,
    limit: float = math.inf,
    record: Path | None = None,
) -> BenchResult:
    """Check tasks on robots with a measured success rate; one row per cell that check gets wrong, and one for all.

    Args:
        names: Tasks; none means all.
        robot: One robot; None means all.
        attempts: Maximum number of tries of check.
        processes: Worker processes; 1 runs everything here.
        limit: No check starts after this time [s].
        record: Record of ``handloom bench deeds`` with the measured success rates; None means the one that ships.
    """
    until, rates = time.monotonic() + limit, deed_rates(record)
    robots = [robot] if robot is not None else [*workplaces(shipped())]
    cells = [
        CheckedCell(deed=name, robot=who, tries=attempts, rate=rate)
        for name in names or deeds()
        for who in robots
        if (rate := rates.rate(name, who)) is not None
    ]
    if not cells:
        raise InputError(
            "no success rate was measured for these tasks and robots; first run handloom bench deeds --record FILE"
        )
    warm_up()
    verdicts = [*_checked(cells, processes, until)]
    rows = [_row(cell, wrong) for cell, wrong in verdicts if wrong != (cell.rate < BAD)]
    return BenchResult(bench="check", rows=(*rows, _all(verdicts)))


def _checked(cells: Sequence[CheckedCell], processes: int, until: float) -> Iterator[tuple[CheckedCell, bool]]:
    for finished in attempts_in_time(executor_of(processes), called_wrong, cells, until=until):
        yield finished.item, True if finished.result is None else finished.result


def called_wrong(cell: CheckedCell) -> bool:
    """Return whether ``handloom check`` rejects a task."""
    try:
        task = load_task(cell.deed, robot=cell.robot)
        return bool(rehearse(task, hands=False).mistakes) or fails(tries_of(task, cell.tries))
    except HandloomError:
        return True


def _row(cell: CheckedCell, wrong: bool) -> dict[str, Any]:
    said = "called wrong" if wrong else "called right"
    return {"name": f"{cell.deed} on {cell.robot}", "success_percent": cell.rate, "check": said}


def _all(verdicts: Sequence[tuple[CheckedCell, bool]]) -> dict[str, Any]:
    bad = [wrong for cell, wrong in verdicts if cell.rate < BAD]
    good = [wrong for cell, wrong in verdicts if cell.rate >= BAD]
    return {
        "name": f"all {len(verdicts)} cells",
        "false_alarms_percent": 100.0 * sum(good) / len(good) if good else None,
        "found_percent": 100.0 * sum(bad) / len(bad) if bad else None,
        "check": f"{sum(good)} of {len(good)} good ones rejected, {sum(bad)} of {len(bad)} bad ones found",
    }

"""Runs attempts until there are enough demonstrations, then merges them into a dataset."""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from handloom.dataset import folder_name, merge_episodes, remove_unfinished
from handloom.engine.executor import Executor
from handloom.engine.receipt import Receipt
from handloom.engine.run_directory import RunDirectory
from handloom.engine.unit import Unit, quarantine, run_unit
from handloom.errors import InputError

MAX_TRIES = 3
"""How often a unit may crash its worker before the attempt it crashed on is quarantined."""


@dataclass(frozen=True, kw_only=True)
class Goal:
    """When a run is done. Exactly one of the two is given."""

    successes: int | None = None
    """Demonstrations wanted: the lowest-numbered successful attempts."""
    attempts: int | None = None
    """Attempts to make, whatever comes out."""
    max_attempts: int | None = None
    """Bound on the attempts when successes are wanted; None allows ten per success and at least 50."""

    def __post_init__(self) -> None:
        """Refuse goals that say nothing or cannot be reached."""
        given = [value for value in (self.successes, self.attempts) if value is not None]
        if len(given) != 1 or given[0] < 1:
            raise InputError("say how much to make: -n SUCCESSES or --attempts ATTEMPTS, at least 1")

    @property
    def bound(self) -> int:
        """Most attempts that are made."""
        if self.attempts is not None:
            return self.attempts
        return self.max_attempts or max(50, 10 * (self.successes or 0))

    def last_attempt(self, receipts: dict[int, Receipt]) -> int | None:
        """Return the number of attempts after which the run is done, or None while it is not.

        Only an unbroken row of finished attempts counts, so that the answer is the same in whatever order they ran.
        """
        wins = 0
        for episode in range(self.bound):
            if episode not in receipts:
                return None
            wins += receipts[episode].success
            if self.successes is not None and wins >= self.successes:
                return episode + 1
        return self.bound


@dataclass(frozen=True, kw_only=True)
class RunOutcome:
    """What a call of ``generate_run`` achieved."""

    run: RunDirectory
    receipts: dict[int, Receipt]
    """Attempts that count towards the goal."""
    complete: bool
    """False when it was stopped, or when this was one shard of several."""


def generate_run(
    run: RunDirectory,
    goal: Goal,
    executor: Executor,
    *,
    shard: tuple[int, int] = (0, 1),
    on_receipts: Callable[[dict[int, Receipt]], None] = lambda _: None,
) -> RunOutcome:
    """Run what is missing, then merge.

    Args:
        run: The run directory; what is finished in it is kept.
        goal: When to stop.
        executor: Runs the work units.
        shard: ``(i, n)`` runs every n-th unit from i on, for jobs that share a run directory; they do not merge.
        on_receipts: Told about all finished attempts whenever some more are.
    """
    part = "" if shard == (0, 1) else f".{shard[0]}-{shard[1]}"
    with run.locked(part):
        run.stop_file.unlink(missing_ok=True)
        if shard == (0, 1) and run.episodes.is_dir():
            remove_unfinished(run.episodes)  # what killed workers left; other shards may be at work, so only alone
        receipts = run.receipts()
        on_receipts(receipts)
        _run_units(run, goal, executor, shard, receipts, on_receipts)
        end = goal.last_attempt(receipts)
        if end is not None:
            counted = {episode: receipts[episode] for episode in range(end)}  # in order, however they came
            merge_run(run, counted)
            return RunOutcome(run=run, receipts=counted, complete=True)
        return RunOutcome(run=run, receipts=receipts, complete=False)


def merge_run(run: RunDirectory, receipts: dict[int, Receipt]) -> None:
    """Merge the demonstrations of these attempts into ``dataset/``, the kept failures into ``failures/``."""
    for success, out in ((True, run.dataset), (False, run.failures)):
        folders = [run.episodes / folder_name(e) for e, receipt in receipts.items() if receipt.success == success]
        present = [folder for folder in folders if folder.is_dir()]
        if present:
            merge_episodes(present, out, success=success, replace=True)


def _run_units(
    run: RunDirectory,
    goal: Goal,
    executor: Executor,
    shard: tuple[int, int],
    receipts: dict[int, Receipt],
    on_receipts: Callable[[dict[int, Receipt]], None],
) -> None:
    """Run units in order until the goal is met; a unit that crashed its worker goes back to the front."""
    again: list[Unit] = []
    tries: dict[int, int] = {}
    fresh = _missing_units(run, goal, shard, receipts)

    def units() -> Iterator[Unit]:
        while not run.stop_file.exists() and goal.last_attempt(receipts) is None:
            unit = again.pop(0) if again else next(fresh, None)
            if unit is None:
                return
            yield unit

    while True:
        for finished in executor.run(run_unit, units()):
            unit: Unit = finished.item
            if finished.crash:
                _after_crash(unit, finished.crash, tries)
                again.append(unit)
            receipts.update(run.journal(unit.index).read())
            on_receipts(receipts)
        if not again or run.stop_file.exists():
            return


def _after_crash(unit: Unit, crash: str, tries: dict[int, int]) -> None:
    tries[unit.index] = tries.get(unit.index, 0) + 1
    if tries[unit.index] >= MAX_TRIES:
        quarantine(unit, "worker_crash", f"{crash}, {MAX_TRIES} times")
        tries[unit.index] = 0


def _missing_units(
    run: RunDirectory, goal: Goal, shard: tuple[int, int], receipts: dict[int, Receipt]
) -> Iterator[Unit]:
    """Yield this shard's units that are not finished, in order."""
    size = run.settings.unit_size
    for index in itertools.count(shard[0], shard[1]):
        first = index * size
        if first >= goal.bound:
            return
        unit = Unit(run=str(run.path), index=index, first=first, count=min(size, goal.bound - first))
        if any(episode not in receipts for episode in unit.attempts):
            yield unit

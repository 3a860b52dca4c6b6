"""Runs attempts until there are enough demonstrations, then merges them into a dataset."""

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

from handloom.config.own_code import with_permission
from handloom.dataset import remove_unfinished
from handloom.engine.attempt import Unit, run_unit
from handloom.engine.executor import MAX_TRIES, Executor
from handloom.engine.journal import Receipt
from handloom.engine.merge_run import merge_run
from handloom.engine.remote_attempt import run_remotely, store_result
from handloom.engine.run_directory import ALL, RunDirectory
from handloom.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Goal:
    """When a run is done. Exactly one of the two is given."""

    successes: int | None = None
    """Demonstrations wanted: the lowest-numbered successful attempts."""
    attempts: int | None = None
    """Attempts to make, whatever comes out."""
    max_attempts: int | None = None
    """Bound on the attempts; None allows ten per wanted success and at least 50."""

    def __post_init__(self) -> None:
        """Refuse goals that say nothing or cannot be reached."""
        given = [value for value in (self.successes, self.attempts) if value is not None]
        if len(given) != 1 or given[0] < 1:
            raise InputError("say how much to make: -n SUCCESSES or --attempts ATTEMPTS, at least 1")
        if self.max_attempts is not None and self.max_attempts < 1:
            raise InputError(f"--max-attempts must be at least 1, got {self.max_attempts}")

    @property
    def bound(self) -> int:
        """Most attempts that are made."""
        if self.attempts is not None:
            return min(self.attempts, self.max_attempts or self.attempts)
        return self.max_attempts or max(50, 10 * (self.successes or 0))


class GoalTracker:
    """Finds the attempt with which a goal is reached, looking at every attempt once.

    Only an unbroken row of finished attempts counts, so that the answer is the same in whatever order they ran.
    """

    def __init__(self, goal: Goal) -> None:
        self.goal = goal
        self.end: int | None = None
        """Number of attempts after which the run is done; None while it is not."""
        self._next = 0
        self._wins = 0

    def update(self, receipts: Mapping[int, Receipt]) -> int | None:
        """Go on through the attempts that are known by now; return ``end``."""
        while self.end is None and self._next in receipts:
            self._wins += receipts[self._next].success
            self._next += 1
            if self._next >= self.goal.bound or self._wins == self.goal.successes:
                self.end = self._next
        return self.end


ReceiptCallback = Callable[[dict[int, Receipt]], None]


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
    shard: tuple[int, int] = ALL,
    staging: str = "",
    on_receipts: ReceiptCallback = lambda _: None,
) -> RunOutcome:
    """Run what is missing, then merge.

    Args:
        run: The run directory; what is finished in it is kept.
        goal: When to stop.
        executor: Runs the work units.
        shard: ``(i, n)`` runs every n-th unit from i on, for jobs that share a run directory; the one that finds all
            attempts finished merges.
        staging: URL by way of which episodes come back from workers that do not see the folder; empty for the way the
            executor has for results.
        on_receipts: Told about the attempts that were finished before, then about more whenever there are some.
    """
    with run.held(shard):
        run.stop_file(shard).unlink(missing_ok=True)
        _tidy(run, shard)
        receipts = run.receipts()
        on_receipts(receipts)
        work = _Work(run, goal, shard, receipts, staging)
        if work.goal_tracker.update(receipts) is None:
            run.note_finished(None)
        try:
            work.carry_out(executor, on_receipts)
        finally:
            _tidy(run, shard)
        end = work.goal_tracker.update(receipts)
        if end is None:
            return RunOutcome(run=run, receipts=receipts, complete=False)
        counted = {episode: receipts[episode] for episode in range(end)}  # in order, however they came
        merge_run(run, counted)
        run.note_finished(end)
        return RunOutcome(run=run, receipts=counted, complete=True)


def _tidy(run: RunDirectory, shard: tuple[int, int]) -> None:
    """Remove what killed workers left; other shards may be at work, so only alone."""
    if shard == ALL and run.episodes.is_dir():
        remove_unfinished(run.episodes)


class _Work:
    """The units of a run that are still to do; a unit that crashed its worker goes back to the front."""

    def __init__(
        self, run: RunDirectory, goal: Goal, shard: tuple[int, int], receipts: dict[int, Receipt], staging: str
    ) -> None:
        self.run = run
        self.staging = staging
        self.shard = shard
        self.stop_file = run.stop_file(shard)
        self.receipts = receipts
        self.goal_tracker = GoalTracker(goal)
        self.again: list[Unit] = []
        self.crashes = Counter[int]()
        """How often a worker was lost, by the attempt it was at."""
        self.fresh = _missing_units(run, goal, shard, receipts)

    def carry_out(self, executor: Executor, on_receipts: ReceiptCallback) -> None:
        """Run units in order until the goal is met, or the run is stopped, or nothing is left."""
        away = not executor.shares_files
        if away:
            self.fresh = _one_by_one(self.fresh, self.receipts)
        function = partial(run_remotely, staging=self.staging) if away else run_unit
        while self._goes_on():
            for finished in executor.run(with_permission(function), self._units()):
                unit: Unit = finished.item
                if finished.crash:
                    self._after_crash(unit, finished.crash)
                elif away:
                    store_result(self.run, unit, finished.result, staging=self.staging)
                # Other shards bring the goal nearer, too; alone, only this unit can have news.
                known = self.run.journal(unit.index).read() if self.shard == ALL else self.run.receipts()
                news = {episode: receipt for episode, receipt in known.items() if episode not in self.receipts}
                self.receipts.update(news)
                on_receipts(news)
                if finished.crash and any(episode not in self.receipts for episode in unit.attempts):
                    self.again.append(unit)
            if not self.again:
                return

    def _goes_on(self) -> bool:
        return not self.stop_file.exists() and self.goal_tracker.update(self.receipts) is None

    def _units(self) -> Iterator[Unit]:
        while self._goes_on():
            unit = self.again.pop(0) if self.again else next(self.fresh, None)
            if unit is None:
                return
            yield unit

    def _after_crash(self, unit: Unit, crash: str) -> None:
        """Charge a crash to the attempt that ran, the first without a receipt; after MAX_TRIES it counts as failed."""
        journal = self.run.journal(unit.index)
        done = journal.read()
        attempt = next((episode for episode in unit.attempts if episode not in done), None)
        if attempt is None:
            return
        self.crashes[attempt] += 1
        if self.crashes[attempt] == MAX_TRIES:
            detail = f"{crash}, {MAX_TRIES} times"
            journal.append(
                Receipt(episode=attempt, success=False, stage="execute", reason="worker_crash", detail=detail)
            )


def _missing_units(
    run: RunDirectory, goal: Goal, shard: tuple[int, int], receipts: dict[int, Receipt]
) -> Iterator[Unit]:
    """Yield this shard's units that are not finished, in order."""
    size = run.settings.unit_size
    for index in itertools.count(shard[0], shard[1]):
        first = index * size
        if first >= goal.bound:
            return
        unit = Unit(
            run=str(run.path),
            settings=run.settings,
            shard=shard,
            index=index,
            first=first,
            count=min(size, goal.bound - first),
        )
        if any(episode not in receipts for episode in unit.attempts):
            yield unit


def _one_by_one(units: Iterator[Unit], receipts: dict[int, Receipt]) -> Iterator[Unit]:
    """Yield the unfinished attempts of units as units of their own: nothing is known of a lost worker's progress."""
    for unit in units:
        for episode in unit.attempts:
            if episode not in receipts:
                yield replace(unit, first=episode, count=1)

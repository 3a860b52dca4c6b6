"""Run attempts in units until there are enough demonstrations, retry those that hit machine faults, then merge."""

import itertools
from collections import ChainMap, Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial

from handloom.config.own_code import with_permission
from handloom.dataset import remove_unfinished
from handloom.engine.attempt import Unit, run_unit
from handloom.engine.executors.executor import MAX_TRIES, Executor, Finished
from handloom.engine.executors.remote_attempt import run_remotely, store_result
from handloom.engine.runs.goal import Goal, GoalTracker
from handloom.engine.runs.journal import Receipt
from handloom.engine.runs.ledger import PACK
from handloom.engine.runs.merge_run import merge_run
from handloom.engine.runs.run_directory import ALL, RunDirectory
from handloom.errors import FileError, MachineError

ReceiptCallback = Callable[[dict[int, Receipt]], None]

STUCK = {"memory": "out_of_memory", "time": "hang", "killed": "worker_killed"}
"""Kinds of machine fault that the attempt itself may cause > failure reason with ``skip_stuck``."""


class Work:
    """Runs units, and distinguishes failures of an attempt from faults of the machine.

    An attempt whose own code ends its worker is tried ``MAX_TRIES`` times and then counts as failed. An attempt that
    hit a machine fault is not counted: it is retried alone once no other work is left. If that fails as well, the run
    stops.

    Args:
        run: The run.
        goal_tracker: When the run is done.
        receipts: The finished attempts; updated.
        shard: Part of the run.
        staging: URL through which episodes are returned; empty for the executor's own way.
        skip_stuck: Count attempts of the kinds in ``STUCK`` as failed instead of stopping.
    """

    def __init__(
        self,
        run: RunDirectory,
        goal_tracker: GoalTracker,
        receipts: dict[int, Receipt],
        *,
        shard: tuple[int, int] = ALL,
        staging: str = "",
        skip_stuck: bool = False,
    ) -> None:
        self.run = run
        self.goal_tracker = goal_tracker
        self.receipts = receipts
        self.stop_file = run.stop_file(shard)
        self.staging = staging
        self.skip_stuck = skip_stuck
        self._again: list[Unit] = []
        self._waiting: dict[int, tuple[Unit, Finished]] = {}
        """Attempts that hit a machine fault, by index, and the latest fault."""
        self._losses = Counter[tuple[int, bool]]()
        """Number of times without a result, by attempt and by whether it was a machine fault."""
        self._alone = shard == ALL
        self._finished_units = 0
        self._in_a_row = 0
        """Machine faults since the last finished attempt."""
        self._supposed = GoalTracker(goal_tracker.goal)

    def run_units(self, executor: Executor, units: Iterator[Unit], on_receipts: ReceiptCallback) -> None:
        """Run units in order until the goal is met, or the run is stopped, or nothing is left.

        Raises:
            MachineError: The machine fails repeatedly.
        """
        away = not executor.shares_files
        if away:
            units = _one_by_one(units, self.receipts)
        function = with_permission(partial(run_remotely, staging=self.staging) if away else run_unit)
        while self._goes_on():
            for finished in executor.run(function, self._handed_out(units)):
                self._take_in(finished, on_receipts, away=away)
                if self._in_a_row >= MAX_TRIES + executor.workers - 1:
                    raise self._stopped()
            if self._again and self._supposed.update(self._with_waiting()) is None:
                continue
            if not self._tried_alone(executor, function, on_receipts, away=away):
                return

    def _goes_on(self) -> bool:
        return not self.stop_file.exists() and self.goal_tracker.update(self.receipts) is None

    def _handed_out(self, units: Iterator[Unit]) -> Iterator[Unit]:
        """Yield units until the goal is met even if all waiting attempts fail."""
        while self._goes_on() and self._supposed.update(self._with_waiting()) is None:
            unit = self._again.pop(0) if self._again else next(units, None)
            if unit is None:
                return
            yield unit

    def _with_waiting(self) -> ChainMap[int, Receipt]:
        supposed = {episode: Receipt(episode=episode, success=False) for episode in self._waiting}
        return ChainMap(self.receipts, supposed)

    def _tried_alone(
        self,
        executor: Executor,
        function: Callable[[Unit], object],
        on_receipts: ReceiptCallback,
        *,
        away: bool,
    ) -> bool:
        """Retry attempts that hit a machine fault, one at a time; return whether there were any."""
        suspects = sorted(self._waiting.items())
        for episode, (unit, _) in suspects:
            while episode in self._waiting and self._losses[episode, True] < MAX_TRIES and self._goes_on():
                for finished in executor.run(function, iter([unit])):
                    self._take_in(finished, on_receipts, away=away)
        self._supposed = GoalTracker(self.goal_tracker.goal)
        if self._waiting and self._goes_on():
            raise self._stopped()
        return bool(suspects)

    def _take_in(self, finished: Finished, on_receipts: ReceiptCallback, *, away: bool) -> None:
        unit: Unit = finished.item
        if away and not finished.crash:
            try:
                store_result(self.run, unit, finished.result, staging=self.staging)
            except MachineError as error:
                finished = Finished(unit, crash=str(error), fault=error.kind)
        news = self._news(unit)
        if news:
            self._in_a_row = 0
            self._finished_units += 1
            if self._alone and self._finished_units % PACK == 0:
                self.run.pack_journals()
        if finished.crash:
            self._after_loss(unit, finished)
            news |= self._news(unit)
        on_receipts(news)

    def _news(self, unit: Unit) -> dict[int, Receipt]:
        """Add the new receipts in the journal of a unit, and return them."""
        known = self.run.journal(unit.index).read()
        news = {episode: receipt for episode, receipt in known.items() if episode not in self.receipts}
        self.receipts.update(news)
        for episode in news:
            self._waiting.pop(episode, None)
        return news

    def _after_loss(self, unit: Unit, finished: Finished) -> None:
        """Attribute a loss to the attempt that was running, the first without a receipt; requeue the rest."""
        left = [episode for episode in unit.attempts if episode not in self.receipts]
        if not left:
            return
        attempt = left[0]
        if left[1:]:
            self._again.append(replace(unit, first=left[1], count=unit.attempts.stop - left[1]))
        single = replace(unit, first=attempt, count=1)
        self._losses[attempt, bool(finished.fault)] += 1
        given_up = self._losses[attempt, bool(finished.fault)] >= MAX_TRIES
        if finished.fault:
            self._waiting[attempt] = single, finished
            reason = STUCK.get(finished.fault, "") if self.skip_stuck else ""
            self._in_a_row += not reason
        else:
            reason = "worker_crash"
            if not given_up:
                self._again.append(single)
        if given_up and reason:
            detail = f"{finished.crash}, {MAX_TRIES} times"
            receipt = Receipt(episode=attempt, success=False, stage="execute", reason=reason, detail=detail)
            self.run.journal(unit.index).append(receipt)

    def _stopped(self) -> MachineError:
        """Return the error that ends the run, about the attempt with the most tries; nothing is recorded for it."""
        episode = max(self._waiting, key=lambda number: (self._losses[number, True], -number))
        _, finished = self._waiting[episode]
        tries = "once" if self._losses[episode, True] == 1 else f"{self._losses[episode, True]} times"
        others = len(self._waiting) - 1
        ways = ["fix that and run the same command again; it resumes"]
        if finished.fault in ("memory", "killed"):
            ways.append("fewer --workers leave more memory for each")
        if finished.fault == "time":
            ways.append("--attempt-seconds allows more time")
        if finished.fault in STUCK:
            ways.append("--skip-stuck counts such attempts as failed")
        said = finished.crash.removeprefix(f"attempt {episode} cannot continue: ")
        text = (
            f"{said} (attempt {episode}, tried {tries}{f', and {others} more' if others else ''}); this is a machine "
            f"fault, so nothing was recorded: {'; '.join(ways)}"
        )
        return MachineError(text, kind=finished.fault)


def missing_units(
    run: RunDirectory,
    end: int,
    receipts: dict[int, Receipt],
    *,
    shard: tuple[int, int] = ALL,
    stop: tuple[int, int] | None = None,
    first: int = 0,
) -> Iterator[Unit]:
    """Yield the unfinished units of a shard, in order.

    Args:
        run: The run.
        end: Number of attempts.
        receipts: The finished attempts.
        shard: ``(i, n)`` yields every n-th unit from i on.
        stop: Shard whose stop file the workers obey; default: the same shard.
        first: First attempt.
    """
    size = run.settings.unit_size
    for index in itertools.count(shard[0], shard[1]):
        begin, after = max(index * size, first), min((index + 1) * size, end)
        if index * size >= end:
            return
        if begin >= after:
            continue
        unit = Unit(
            run=str(run.path),
            settings=run.settings,
            shard=shard if stop is None else stop,
            index=index,
            first=begin,
            count=after - begin,
        )
        if any(episode not in receipts for episode in unit.attempts):
            yield unit


def _one_by_one(units: Iterator[Unit], receipts: dict[int, Receipt]) -> Iterator[Unit]:
    """Yield the unfinished attempts of units as separate units: the progress of a lost worker is unknown."""
    for unit in units:
        for episode in unit.attempts:
            if episode not in receipts:
                yield replace(unit, first=episode, count=1)


@dataclass(frozen=True, kw_only=True)
class RunOutcome:
    """Result of a call of ``generate_run``."""

    run: RunDirectory
    receipts: dict[int, Receipt]
    """Attempts that count towards the goal."""
    complete: bool
    """False if it was stopped, or if this was one of several shards."""
    shard_done: bool = False
    """Whether this shard has finished its part while others have not."""


def generate_run(
    run: RunDirectory,
    goal: Goal,
    executor: Executor,
    *,
    shard: tuple[int, int] = ALL,
    staging: str = "",
    skip_stuck: bool = False,
    on_receipts: ReceiptCallback = lambda _: None,
) -> RunOutcome:
    """Run the missing attempts, then merge.

    Args:
        run: The run directory; finished attempts in it are kept.
        goal: When to stop.
        executor: Runs the work units.
        shard: ``(i, n)``: of the attempts that are certainly needed (``Goal.least``), run every n-th unit from i on,
            for jobs that share a run directory. The last shard to finish runs any further attempts, and merges.
        staging: URL through which workers that cannot see the folder return episodes; empty for the executor's own
            way of returning results.
        skip_stuck: Count attempts as failed that ran out of memory or time, or lost their worker, in every try; by
            default the run stops, since they might succeed on another machine.
        on_receipts: Called with the attempts finished earlier, then with new ones as they finish.

    Raises:
        MachineError: The machine failed repeatedly; finished work is kept, and the same call continues from there.
    """
    with run.held(shard):
        run.stop_file(shard).unlink(missing_ok=True)
        _tidy(run, shard)
        if shard == ALL:
            run.pack_journals()
        receipts = run.receipts()
        on_receipts(receipts)
        work = Work(run, GoalTracker(goal), receipts, shard=shard, staging=staging, skip_stuck=skip_stuck)
        if work.goal_tracker.update(receipts) is None:
            run.note_finished(None)
        try:
            if shard != ALL:
                work.run_units(executor, missing_units(run, goal.least, receipts, shard=shard), on_receipts)
            with _rest_of_the_run(run, goal, shard, receipts) as ours:
                if ours:
                    work.run_units(
                        executor, missing_units(run, goal.bound, receipts, stop=shard, first=goal.first), on_receipts
                    )
        finally:
            _tidy(run, shard)
        end = work.goal_tracker.update(receipts)
        if end is None:
            part = missing_units(run, goal.least, receipts, shard=shard)
            done = shard != ALL and next(part, None) is None and not run.stop_file(shard).exists()
            return RunOutcome(run=run, receipts=receipts, complete=False, shard_done=done)
        counted = {episode: receipts[episode] for episode in range(goal.first, end)}  # in order, regardless of arrival
        merge_run(run, counted)
        run.note_finished(end)
        return RunOutcome(run=run, receipts=counted, complete=True)


@contextmanager
def _rest_of_the_run(
    run: RunDirectory, goal: Goal, shard: tuple[int, int], receipts: dict[int, Receipt]
) -> Iterator[bool]:
    """Return whether this process runs the remaining attempts: of several shards, the last one to finish does.

    Args:
        run: The run.
        goal: Its goal.
        shard: The present shard.
        receipts: Updated with the attempts that other shards have finished.
    """
    if shard == ALL:
        yield True
        return
    with ExitStack() as stack:
        with run.locked(".rest", wait=True):  # Two shards that finish at the same moment check one after the other.
            receipts.update(run.receipts())
            ours = all(episode in receipts for episode in range(goal.least))
            if ours:
                try:
                    stack.enter_context(run.locked(".last"))
                except FileError as error:
                    if not isinstance(error.__cause__, BlockingIOError):
                        raise
                    ours = False
        yield ours


def _tidy(run: RunDirectory, shard: tuple[int, int]) -> None:
    """Remove leftovers of killed workers; only if no other shard is running."""
    if shard == ALL and run.episodes.is_dir():
        remove_unfinished(run.episodes)

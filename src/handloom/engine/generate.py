"""Runs attempts until there are enough demonstrations, then merges them into a dataset."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from handloom.dataset import remove_unfinished
from handloom.engine.executors.executor import Executor
from handloom.engine.runs.goal import Goal, GoalTracker
from handloom.engine.runs.journal import Receipt
from handloom.engine.runs.merge_run import merge_run
from handloom.engine.runs.run_directory import ALL, RunDirectory
from handloom.engine.work import ReceiptCallback, Work, missing_units
from handloom.errors import FileError


@dataclass(frozen=True, kw_only=True)
class RunOutcome:
    """What a call of ``generate_run`` achieved."""

    run: RunDirectory
    receipts: dict[int, Receipt]
    """Attempts that count towards the goal."""
    complete: bool
    """False when it was stopped, or when this was one shard of several."""
    shard_done: bool = False
    """Whether this shard has done its part, and others have not."""


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
    """Run what is missing, then merge.

    Args:
        run: The run directory; what is finished in it is kept.
        goal: When to stop.
        executor: Runs the work units.
        shard: ``(i, n)``: of the attempts that the goal needs in any case (``Goal.least``), run every n-th unit from i
            on, for jobs that share a run directory. The one that ends last runs what else it takes, and merges.
        staging: URL by way of which episodes come back from workers that do not see the folder; empty for the way the
            executor has for results.
        skip_stuck: Count attempts as failed that ran out of memory or time, or lost their worker, whenever they were
            tried; by default the run stops, since another machine might well have made them.
        on_receipts: Told about the attempts that were finished before, then about more whenever there are some.

    Raises:
        MachineError: The machine failed, time and again; what was finished is kept, and the same call goes on with it.
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
                work.carry_out(executor, missing_units(run, goal.least, receipts, shard=shard), on_receipts)
            with _rest_of_the_run(run, goal, shard, receipts) as ours:
                if ours:
                    work.carry_out(
                        executor, missing_units(run, goal.bound, receipts, stop=shard, first=goal.first), on_receipts
                    )
        finally:
            _tidy(run, shard)
        end = work.goal_tracker.update(receipts)
        if end is None:
            part = missing_units(run, goal.least, receipts, shard=shard)
            done = shard != ALL and next(part, None) is None and not run.stop_file(shard).exists()
            return RunOutcome(run=run, receipts=receipts, complete=False, shard_done=done)
        counted = {episode: receipts[episode] for episode in range(goal.first, end)}  # in order, however they came
        merge_run(run, counted)
        run.note_finished(end)
        return RunOutcome(run=run, receipts=counted, complete=True)


@contextmanager
def _rest_of_the_run(
    run: RunDirectory, goal: Goal, shard: tuple[int, int], receipts: dict[int, Receipt]
) -> Iterator[bool]:
    """Tell whether this process runs what is left; of several shards, the one does that finds all others at an end.

    Args:
        run: The run.
        goal: Its goal.
        shard: The present shard.
        receipts: Brought up to date with what other shards have finished.
    """
    if shard == ALL:
        yield True
        return
    with ExitStack() as stack:
        with run.locked(".rest", wait=True):  # Two that end in the same moment look one after the other.
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
    """Remove what killed workers left; other shards may be at work, so only alone."""
    if shard == ALL and run.episodes.is_dir():
        remove_unfinished(run.episodes)

"""An attempt that keeps crashing its worker is left out with a reason; a worker that is lost once costs nothing."""

import errno
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from handloom.engine import (
    Goal,
    InlineExecutor,
    Receipt,
    RunDirectory,
    RunSettings,
    attempt,
    generate_run,
    verify_dataset,
)
from handloom.engine.executors.executor import Finished, with_retries
from handloom.errors import FileError
from handloom.tasks import load_task


class FragileExecutor(InlineExecutor):
    """Loses its worker on some units, a number of times each, as a segfault or the system's memory guard would."""

    def __init__(self, losses: dict[int, int]) -> None:
        self.losses = dict(losses)

    def run(self, function, items):
        for item in items:
            if self.losses.get(item.index, 0):
                self.losses[item.index] -= 1
                yield Finished(item, crash="the worker was ended by SIGSEGV")
            else:
                yield Finished(item, function(item))


def new_run(folder, *, unit_size=1) -> RunDirectory:
    settings = RunSettings.of_task(load_task("fr3_pick_cube"), seed=0, unit_size=unit_size, render="none")
    return RunDirectory.begin(folder, settings)


def test_a_poison_attempt_is_quarantined_after_three_tries_and_the_rest_goes_on(tmp_path):
    executor = FragileExecutor({1: 99})
    outcome = generate_run(new_run(tmp_path / "run"), Goal(attempts=3), executor)
    assert outcome.complete
    assert [receipt.success for receipt in outcome.receipts.values()] == [True, False, True]
    poison = outcome.receipts[1]
    assert (poison.reason, poison.stage) == ("worker_crash", "execute")
    assert poison.detail == "the worker was ended by SIGSEGV, 3 times"
    assert executor.losses[1] == 99 - 3


def test_a_unit_whose_worker_was_lost_twice_is_made_all_the_same(tmp_path):
    outcome = generate_run(new_run(tmp_path / "run"), Goal(attempts=2), FragileExecutor({0: 2}))
    assert [receipt.success for receipt in outcome.receipts.values()] == [True, True]


class ImpatientExecutor(InlineExecutor):
    """Ends its worker whenever it has run a number of attempts of a unit, as a time limit would."""

    def __init__(self, attempts: int) -> None:
        self.attempts = attempts

    def run(self, function, items):
        for item in items:
            done = len(RunDirectory.open(Path(item.run)).journal(item.index).read())
            function(replace(item, count=min(item.count, done + self.attempts)))
            late = done + self.attempts < item.count
            yield Finished(item, crash="no result after 900 s of wall time" if late else "")


def test_a_unit_that_needs_several_workers_loses_none_of_its_attempts(tmp_path, monkeypatch):
    monkeypatch.setattr(
        attempt, "run_attempt", lambda settings, task, episode, _: Receipt(episode=episode, success=False)
    )
    run = new_run(tmp_path / "run", unit_size=8)
    outcome = generate_run(run, Goal(attempts=8), ImpatientExecutor(2))
    assert [receipt.reason for receipt in outcome.receipts.values()] == [""] * 8


class TwoWorkers(InlineExecutor):
    """Has two units at work, and loses the worker of the second when the first is finished."""

    def run(self, function, items):
        first, second = next(items, None), next(items, None)
        if first is None:
            return
        yield Finished(first, function(first))
        yield Finished(second, crash="the worker was ended by SIGKILL")


def test_a_worker_lost_beyond_the_goal_does_not_hold_the_run_up(tmp_path):
    outcome = generate_run(new_run(tmp_path / "run"), Goal(successes=1), TwoWorkers())
    assert outcome.complete
    assert list(outcome.receipts) == [0]


@pytest.mark.parametrize(
    "error",
    [
        np.linalg.LinAlgError("SVD did not converge"),
        KeyError("x"),
        RuntimeError("odd"),
        FileNotFoundError(errno.ENOENT, "No such file or directory", "policy.onnx"),
    ],
)
def test_an_unforeseen_error_fails_its_attempt_and_not_the_run(tmp_path, monkeypatch, error):
    def sometimes(settings, task, episode, episodes):
        if episode == 1:
            raise error
        return Receipt(episode=episode, success=False, stage="plan", reason="no_path")

    monkeypatch.setattr(attempt, "run_attempt", sometimes)
    outcome = generate_run(new_run(tmp_path / "run"), Goal(attempts=3), InlineExecutor())
    assert [receipt.reason for receipt in outcome.receipts.values()] == ["no_path", "internal_error", "no_path"]
    assert f"{type(error).__name__}: {error} (test_crashes.py:" in outcome.receipts[1].detail


def test_an_error_beside_the_attempts_is_not_blamed_on_the_lock(tmp_path):
    def beside(_):
        raise FileNotFoundError(errno.ENOENT, "No such file or directory", "notes.txt")

    with pytest.raises(FileNotFoundError, match=r"No such file or directory: 'notes.txt'$"):
        generate_run(new_run(tmp_path / "run"), Goal(attempts=1), InlineExecutor(), on_receipts=beside)


class Losing(InlineExecutor):
    """Loses its worker a number of times for every item."""

    def __init__(self, times: int) -> None:
        self.times = times
        self.lost: dict[str, int] = {}

    def run(self, function, items):
        for item in items:
            self.lost[item] = self.lost.get(item, 0) + 1
            lost = self.lost[item] <= self.times
            yield Finished(item, crash="SIGKILL") if lost else Finished(item, function(item))


@pytest.mark.parametrize(("times", "crashes"), [(0, 0), (2, 0), (3, 2)])
def test_work_that_lost_its_worker_is_given_up_after_three_tries(times, crashes):
    finished = list(with_retries(Losing(times), str, ["a", "b"]))
    assert [f.item for f in finished] == ["a", "b"]
    assert sum(bool(f.crash) for f in finished) == crashes


def test_an_episode_whose_verifier_is_killed_is_not_called_damaged(tmp_path):
    run = new_run(tmp_path / "run")
    generate_run(run, Goal(attempts=1), InlineExecutor())

    assert [v.verdict for v in verify_dataset(run.path, Losing(2))] == ["exact"]
    assert [v.verdict for v in verify_dataset(run.path, Losing(3))] == ["damaged"]


def test_a_damaged_journal_is_named(tmp_path):
    run = new_run(tmp_path / "run")
    generate_run(run, Goal(attempts=1), FragileExecutor({0: 9}))
    journal = run.journal(0).path
    journal.write_text("{" + journal.read_text())
    with pytest.raises(FileError, match=r"unit_000000.jsonl is not valid JSON \(key must be a string"):
        run.receipts()


def test_shards_that_both_see_the_end_do_not_merge_at_once(tmp_path):
    run = new_run(tmp_path / "run")
    assert not generate_run(run, Goal(attempts=2), InlineExecutor(), shard=(0, 2)).complete
    with run.locked(".0-2"), pytest.raises(FileError, match="another handloom is writing"):
        generate_run(run, Goal(attempts=2), InlineExecutor(), shard=(0, 2))
    assert generate_run(run, Goal(attempts=2), InlineExecutor(), shard=(1, 2)).complete
    written = (run.dataset / "meta" / "info.json").stat().st_mtime_ns
    assert generate_run(run, Goal(attempts=2), InlineExecutor(), shard=(0, 2)).complete
    assert (run.dataset / "meta" / "info.json").stat().st_mtime_ns == written

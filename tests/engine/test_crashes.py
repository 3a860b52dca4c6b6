"""An attempt that keeps crashing its worker is left out with a reason; a worker that is lost once costs nothing."""

import pytest

from handloom.engine import Goal, InlineExecutor, RunDirectory, RunSettings, generate_run
from handloom.engine.executor import Finished
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


def new_run(folder, **options) -> RunDirectory:
    settings = RunSettings.of_task(load_task("fr3_pick_cube"), seed=0, unit_size=1, render="none", **options)
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


def test_shards_that_both_see_the_end_do_not_merge_at_once(tmp_path):
    run = new_run(tmp_path / "run")
    assert not generate_run(run, Goal(attempts=2), InlineExecutor(), shard=(0, 2)).complete
    with run.locked(".0-2"), pytest.raises(FileError, match="another handloom is writing"):
        generate_run(run, Goal(attempts=2), InlineExecutor(), shard=(0, 2))
    assert generate_run(run, Goal(attempts=2), InlineExecutor(), shard=(1, 2)).complete
    written = (run.dataset / "meta" / "info.json").stat().st_mtime_ns
    assert generate_run(run, Goal(attempts=2), InlineExecutor(), shard=(0, 2)).complete
    assert (run.dataset / "meta" / "info.json").stat().st_mtime_ns == written

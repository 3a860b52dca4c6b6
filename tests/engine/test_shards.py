"""Shards divide the attempts that a goal needs in any case; the one that ends last makes the rest."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from handloom.config import allow_code
from handloom.engine import Goal, InlineExecutor, RunDirectory, generate_run

sys.path.insert(0, str(Path(__file__).parent))
faults = importlib.import_module("test_machine_faults")
digest, new_run = faults.digest, faults.new_run

SOURCE = "faulty_source:Mildly"
"""Attempts 1, 3, 5 ... fail."""


@pytest.fixture(autouse=True)
def _allowed() -> Iterator[None]:
    with allow_code():
        yield


def made_by(run: RunDirectory, goal: Goal, shard: tuple[int, int]) -> tuple[list[int], bool, bool]:
    before = set(run.receipts())
    outcome = generate_run(run, goal, InlineExecutor(), shard=shard)
    return sorted(set(run.receipts()) - before), outcome.shard_done, outcome.complete


def test_shards_one_after_another_make_no_more_attempts_than_one_run(tmp_path: Path):
    whole = new_run(tmp_path / "whole", SOURCE, unit_size=1)
    generate_run(whole, Goal(successes=3), InlineExecutor())
    assert sorted(whole.receipts()) == [0, 1, 2, 3, 4]
    run, goal = new_run(tmp_path / "run", SOURCE, unit_size=1), Goal(successes=3)
    assert made_by(run, goal, (0, 3)) == ([0], True, False)
    assert made_by(run, goal, (0, 3)) == ([], True, False)
    assert made_by(run, goal, (2, 3)) == ([2], True, False)
    assert made_by(run, goal, (1, 3)) == ([1, 3, 4], False, True), "the last one makes up for the failures"
    assert digest(run.dataset) == digest(whole.dataset)
    assert made_by(run, goal, (2, 3)) == ([], False, True)


def test_only_one_of_the_shards_that_end_together_makes_the_rest(tmp_path: Path):
    run, goal = new_run(tmp_path / "run", SOURCE, unit_size=1), Goal(successes=2)
    assert made_by(run, goal, (0, 2)) == ([0], True, False)
    with run.locked(".last"):
        assert made_by(run, goal, (1, 2)) == ([1], True, False)
    assert made_by(run, goal, (0, 2)) == ([2], False, True)

"""Shards divide the attempts that a goal needs in any case; the one that ends last makes the rest."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from handloom.config import allow_code
from handloom.dataset import DatasetReader
from handloom.dataset.merging.merge_shards import merge_shards
from handloom.engine import Goal, InlineExecutor, RunDirectory, generate_run
from handloom.engine.runs.shards import is_uploaded, shard_goal, shard_place, shard_urls, upload_shard
from handloom.engine.verification.verify import dataset_faults
from handloom.errors import FileError, InputError

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


def uploaded(folder: Path, url: str, shard: tuple[int, int], attempts: int = 7) -> RunDirectory:
    """Make a shard in a folder that no other sees, and upload it."""
    run, goal = new_run(folder, SOURCE, unit_size=2), shard_goal(Goal(attempts=attempts), shard)
    generate_run(run, goal, InlineExecutor())
    upload_shard(run, shard_place(url, shard))
    return run


def test_shards_that_share_nothing_but_a_url_become_the_dataset_of_one_run(tmp_path: Path):
    pytest.importorskip("fsspec", reason="needs the extra cloud")
    whole = new_run(tmp_path / "whole", SOURCE, unit_size=2)
    generate_run(whole, Goal(attempts=7), InlineExecutor())
    url = f"file://{tmp_path}/store"
    made = [set(uploaded(tmp_path / f"machine{n}", url, (n, 3)).receipts()) for n in (2, 0)]
    assert made == [{4, 5, 6}, {0, 1}]
    with pytest.raises(FileError, match="lacks 1 shards, 1 first"):
        shard_urls([url])
    uploaded(tmp_path / "machine1", url, (1, 3))
    assert is_uploaded(shard_place(url, (1, 3)))
    merge_shards(shard_urls([url]), f"{url}/dataset")
    made_apart, made_at_once = DatasetReader(tmp_path / "store/dataset"), DatasetReader(whole.dataset)
    assert [dict(e.columns) for e in made_apart.episodes] == [dict(e.columns) for e in made_at_once.episodes]
    for index in range(made_at_once.episode_count):
        assert made_apart.rows(index).equals(made_at_once.rows(index))
    assert not dataset_faults(tmp_path / "store/dataset")


def test_a_shard_in_which_nothing_succeeds_is_done_too(tmp_path: Path):
    pytest.importorskip("fsspec", reason="needs the extra cloud")
    url = f"file://{tmp_path}/store"
    for number in (0, 1):  # Attempt 1 fails.
        uploaded(tmp_path / f"machine{number}", url, (number, 2), attempts=2)
    assert [place[-14:] for place in shard_urls([url])] == ["00000-of-00002"]
    assert is_uploaded(shard_place(url, (1, 2)))


def test_shards_apart_count_attempts_only():
    with pytest.raises(InputError, match="--upload needs --attempts N and --shard I/N"):
        shard_goal(Goal(successes=5), (0, 2))
    with pytest.raises(InputError, match="3 attempts are fewer than 4 shards"):
        shard_goal(Goal(attempts=3), (0, 4))
    parts = [shard_goal(Goal(attempts=10), (n, 4)) for n in range(4)]
    assert [(part.first, part.attempts) for part in parts] == [(0, 2), (2, 5), (5, 7), (7, 10)]

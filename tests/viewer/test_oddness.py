"""A planted bad episode stands first when episodes are sorted by oddness, and the page says in what it is odd."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from handloom.viewer.episode_table import oddness_of

FEATURES = {"action": {"dtype": "float32", "shape": [3], "names": ["a", "b", "gripper"]}}


def written(folder: Path, count: int, *, bad: int | None = None, seed: int = 0) -> Path:
    """Write statistics of episodes whose gripper closes, but for one."""
    rng = np.random.default_rng(seed)
    high = np.concatenate([rng.normal(1.0, 0.2, (count, 2)), np.ones((count, 1))], axis=1)
    low = np.concatenate([rng.normal(-1.0, 0.2, (count, 2)), np.zeros((count, 1))], axis=1)
    if bad is not None:
        high[bad, 2] = 0.0
    table = {"stats/action/max": high.tolist(), "stats/action/min": low.tolist(), "episode_index": list(range(count))}
    pq.write_table(pa.table(table), folder / "file.parquet")
    return folder / "file.parquet"


@pytest.mark.parametrize("seed", range(20))
def test_a_gripper_that_never_closes_is_the_oddest_of_two_hundred(tmp_path: Path, seed: int) -> None:
    bad = int(np.random.default_rng(seed).integers(200))
    lengths = np.random.default_rng(seed).integers(60, 90, 200).tolist()
    scores, because = oddness_of([written(tmp_path, 200, bad=bad, seed=seed)], lengths, FEATURES)
    assert int(np.argmax(scores)) == bad
    assert because[bad] == "max of action gripper is 0, usually 1"


def test_a_length_unlike_the_others_is_odd_and_few_episodes_never_are(tmp_path: Path) -> None:
    lengths = [70, 71, 69, 72, 70, 300, 68, 71, 70, 70]
    scores, because = oddness_of([written(tmp_path, 10)], lengths, FEATURES)
    assert int(np.argmax(scores)) == 5
    assert because[5] == "length is 300, usually 70"
    assert set(oddness_of([written(tmp_path, 4)], [9, 9, 9, 99], FEATURES)[0]) == {0.0}


def test_statistics_that_are_none_or_missing_are_left_out(tmp_path: Path) -> None:
    pq.write_table(pa.table({"stats/action/max": [[1.0]] * 9 + [None], "x": [1] * 10}), tmp_path / "a.parquet")
    scores, _ = oddness_of([tmp_path / "a.parquet"], [5] * 10, FEATURES)
    assert scores == [0.0] * 10


def test_the_page_is_told_the_oddness_of_a_dataset(asked, ours: Path, plain: Path) -> None:
    told = asked(ours, plain).json("/api/datasets/d0/oddness")
    assert len(told["d0"]["scores"]) == len(told["d0"]["because"]) == 6
    assert asked(ours, plain).json("/api/datasets/d1/oddness")["d1"]["scores"] == [0.0] * 3

"""Several datasets become one; what does not fit is told by the names the user gave."""

import shutil
from pathlib import Path

import pytest

from handloom.dataset import (
    DatasetReader,
    FeatureTable,
    check_layout,
    find_episodes,
    merge_datasets,
    merge_episodes,
)
from handloom.errors import FileError, InputError


@pytest.fixture
def make_dataset(samples):
    """Write a dataset of the sample episodes with these numbers."""

    def make(folder: Path, indices: range, **options: object) -> Path:
        for index in indices:
            samples.make_episode(folder / "episodes", index, **options)
        success = bool(options.get("success", True))
        return merge_episodes(find_episodes([folder / "episodes"]), folder / "dataset", success=success)

    return make


def test_two_datasets_become_the_one_of_all_their_episodes(make_dataset, tmp_path: Path) -> None:
    first, second = make_dataset(tmp_path / "a", range(2)), make_dataset(tmp_path / "b", range(2, 5))
    together = make_dataset(tmp_path / "c", range(5))
    merged = merge_datasets([first, second], tmp_path / "merged")
    data = "data/chunk-000/file-000.parquet"
    assert (merged / data).read_bytes() == (together / data).read_bytes()
    assert [e.columns["attempt_index"] for e in DatasetReader(merged).episodes] == [0, 1, 2, 3, 4]
    assert check_layout(merged) == ()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "c", "merged"]


def test_datasets_of_different_features_are_named_as_they_were_given(make_dataset, samples, tmp_path: Path) -> None:
    first = make_dataset(tmp_path / "a", range(1))
    slower = FeatureTable(fps=15, features=samples.TABLE.features)
    second = make_dataset(tmp_path / "b", range(1, 2), table=slower)
    with pytest.raises(FileError, match=r"a/dataset and .*b/dataset cannot share a dataset: fps 30 and 15"):
        merge_datasets([first, second], tmp_path / "merged")
    assert not (tmp_path / "merged").exists()


def test_an_episode_given_twice_is_named_with_its_datasets(make_dataset, tmp_path: Path) -> None:
    first, second = make_dataset(tmp_path / "a", range(2)), make_dataset(tmp_path / "b", range(1, 3))
    with pytest.raises(InputError, match=r"episode 1 of .*a/dataset and episode 0 of .*b/dataset are the same"):
        merge_datasets([first, second], tmp_path / "merged")


def test_successes_and_failures_stay_apart(make_dataset, tmp_path: Path) -> None:
    first, second = make_dataset(tmp_path / "a", range(1)), make_dataset(tmp_path / "b", range(1, 2), success=False)
    with pytest.raises(FileError, match=r"a/dataset contains successes and .*b/dataset failures"):
        merge_datasets([first, second], tmp_path / "merged")


def test_a_merge_killed_while_it_tidied_up_is_given_again(make_dataset, tmp_path: Path, monkeypatch) -> None:
    first, second = make_dataset(tmp_path / "a", range(2)), make_dataset(tmp_path / "b", range(2, 4))

    class Killed(BaseException):
        pass

    def die_half_way(folder: Path, **_: object) -> None:
        """Remove one file of what is to be removed, and end."""
        for file in sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix == ".parquet"):
            file.unlink()
            raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", die_half_way)
        with pytest.raises(Killed):
            merge_datasets([first, second], tmp_path / "merged")
    assert [path.name for path in tmp_path.iterdir() if "partial" in path.name], "it was killed before it was done"
    merged = merge_datasets([first, second], tmp_path / "merged")
    assert check_layout(merged) == ()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "merged"]

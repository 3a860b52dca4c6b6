"""Flags stay with their episodes, and a merge takes or leaves what is flagged."""

from pathlib import Path

import pytest

from handloom.cli.main import main
from handloom.dataset import DatasetReader, merge_datasets
from handloom.dataset.episodes.flags import flag_key, flags_file, read_flags, write_flag
from handloom.errors import FileError, InputError


@pytest.fixture
def dataset(shards: Path, tmp_path: Path) -> DatasetReader:
    from handloom.dataset import find_episodes, merge_episodes

    return DatasetReader(merge_episodes(find_episodes([shards]), tmp_path / "all"))


def key_of(dataset: DatasetReader, index: int) -> str:
    episode = dataset.episode(index)
    return flag_key(index, {"length": episode.length, **episode.columns})


def attempts(root: Path) -> list[int]:
    return [episode.columns["attempt_index"] for episode in DatasetReader(root).episodes]


def test_a_merge_drops_or_takes_what_is_flagged(dataset: DatasetReader, tmp_path: Path) -> None:
    every = attempts(dataset.root)
    write_flag(dataset.root, key_of(dataset, 1), "bad")
    assert attempts(merge_datasets([dataset.root], tmp_path / "good", flagged=False)) == [every[0], *every[2:]]
    assert attempts(merge_datasets([dataset.root], tmp_path / "bad", flagged=True)) == [every[1]]
    assert attempts(merge_datasets([dataset.root], tmp_path / "same")) == every


def test_the_flags_of_merge_do_the_same_and_want_a_place(dataset: DatasetReader, tmp_path: Path, capsys) -> None:
    write_flag(dataset.root, key_of(dataset, 0), "")
    out = tmp_path / "out"
    assert main(["merge", str(dataset.root), "--drop-flagged", "-o", str(out)]) == 0
    assert len(DatasetReader(out).episodes) == len(dataset.episodes) - 1
    assert main(["merge", str(dataset.root), "--only-flagged"]) == 2
    assert "give its folder with -o" in capsys.readouterr().err
    assert main(["merge", str(dataset.root), "--only-flagged", "--drop-flagged", "-o", str(out)]) == 2


def test_a_selection_that_leaves_nothing_is_an_error(dataset: DatasetReader, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is flagged"):
        merge_datasets([dataset.root], tmp_path / "none", flagged=True)


def test_a_damaged_file_of_flags_says_so(dataset: DatasetReader) -> None:
    flags_file(dataset.root).write_text('{"flags": 3}', encoding="utf-8")
    with pytest.raises(FileError, match=r"flags\.json"):
        read_flags(dataset.root)

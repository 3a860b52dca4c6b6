"""Episodes taken out of a dataset and merged again give the same dataset."""

from pathlib import Path

import pytest

from handloom.dataset import DatasetReader, extract_episode, find_episodes, folder_name, merge_episodes
from handloom.errors import FileError


def contents(folder: Path) -> dict[str, bytes]:
    return {str(f.relative_to(folder)): f.read_bytes() for f in sorted(folder.rglob("*")) if f.is_file()}


def test_extracting_and_merging_again_changes_no_byte(shards: Path, tmp_path: Path) -> None:
    whole = merge_episodes(find_episodes([shards]), tmp_path / "whole")
    dataset = DatasetReader(whole)
    folders = [extract_episode(dataset, i, tmp_path / "out" / folder_name(i)).path for i in range(4)]
    again = merge_episodes(folders, tmp_path / "again")
    assert contents(again) == contents(whole)


def test_a_dataset_is_extended_by_its_own_episodes_and_new_ones(shards: Path, tmp_path: Path) -> None:
    folders = find_episodes([shards])
    first = DatasetReader(merge_episodes(folders[:2], tmp_path / "first"))
    kept = [extract_episode(first, i, tmp_path / "out" / folder_name(i)).path for i in range(2)]
    extended = merge_episodes([*kept, *folders[2:]], tmp_path / "extended")
    assert contents(extended) == contents(merge_episodes(folders, tmp_path / "whole"))


def test_an_extracted_episode_has_what_it_had(shards: Path, tmp_path: Path) -> None:
    dataset = DatasetReader(merge_episodes(find_episodes([shards]), tmp_path / "d"))
    episode = extract_episode(dataset, 2, tmp_path / "episode_000003")
    assert episode.outcome.index == 3
    assert episode.faults() == ()
    assert episode.archive().instance["index"] == 3
    assert episode.frames().equals(dataset.rows(2).select(episode.frames().column_names))


def test_a_dataset_of_others_cannot_be_taken_apart(shards: Path, tmp_path: Path) -> None:
    dataset = DatasetReader(merge_episodes(find_episodes([shards]), tmp_path / "d"))
    (dataset.archive_folder(0) / "episode.json").unlink()
    with pytest.raises(FileError, match="only datasets merged by Handloom"):
        extract_episode(dataset, 0, tmp_path / "x")

"""Our own reader returns what was written."""

from pathlib import Path

import numpy as np
import pytest

from handloom.dataset import DatasetReader, MergeOptions, find_episodes, merge_episodes
from handloom.errors import FileError, InputError, NotFoundError

ATTEMPTS = ((0, 6), (1, 7), (3, 9), (5, 11))


@pytest.fixture(scope="module", params=["one file", "many files"])
def dataset(request, shards: Path, tmp_path_factory: pytest.TempPathFactory) -> DatasetReader:
    few = MergeOptions(chunks_size=2, data_files_size_in_mb=0.0017, video_files_duration_s=0.5)
    options = MergeOptions() if request.param == "one file" else few
    return DatasetReader(
        merge_episodes(find_episodes([shards]), tmp_path_factory.mktemp("read") / "dataset", options=options)
    )


def test_the_metadata_is_that_of_the_episodes(dataset: DatasetReader, samples) -> None:
    assert dataset.table == samples.TABLE
    assert dataset.tasks == ("pick the cube", "place the mug")
    assert dataset.subtasks == ("reach", "grasp", "idle")
    assert [(episode.columns["attempt_index"], episode.length) for episode in dataset.episodes] == list(ATTEMPTS)
    assert dataset.episode(2).columns["object"] == "cube"
    assert dataset.statistics["index"]["max"] == [32]


def test_columns_come_back_exactly(dataset: DatasetReader, samples) -> None:
    for number, (index, length) in enumerate(ATTEMPTS):
        frames = dataset.frames(number)
        for name, values in samples.columns(index, length).items():
            assert frames[name].dtype == np.float32
            np.testing.assert_array_equal(frames[name], values)


def test_single_images_and_ranges_are_the_right_ones(dataset: DatasetReader, samples) -> None:
    for number, (index, length) in enumerate(ATTEMPTS):
        for camera in (samples.HEAD, samples.WRIST):
            whole = list(dataset.images(number, camera))
            assert len(whole) == length
            for frame in (0, 3, length - 1):
                truth = samples.picture(camera, index, frame)
                image = dataset.image(number, camera, frame)
                np.testing.assert_array_equal(image, whole[frame])
                assert np.abs(image[: truth.shape[0], : truth.shape[1]].astype(float) - truth).mean() < 2


def test_archives_are_checked_when_read(dataset: DatasetReader) -> None:
    assert dataset.archive(2).instance["index"] == 3


def test_wrong_questions_are_answered_with_what_exists(dataset: DatasetReader, samples, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"episode 4 is out of range \(0 to 3\)"):
        dataset.frames(4)
    with pytest.raises(NotFoundError, match=r"did you mean 'observation\.images\.head'"):
        dataset.image(0, "observation.image.head", 0)
    with pytest.raises(InputError, match="episode 0 has 6 frames; 6 to 7 is out of range"):
        dataset.image(0, samples.HEAD, 6)
    with pytest.raises(FileError, match=r"is not a LeRobot dataset: meta/info\.json is missing"):
        DatasetReader(tmp_path)


def test_a_data_file_that_was_replaced_is_opened_again(shards: Path, tmp_path: Path) -> None:
    folders = find_episodes([shards])
    reader = DatasetReader(merge_episodes(folders, tmp_path / "dataset"))
    before = reader.rows(0)
    other = merge_episodes(folders[1:], tmp_path / "other")
    name = "data/chunk-000/file-000.parquet"
    (other / name).replace(reader.root / name)
    assert not reader.rows(0).equals(before)

"""Datasets become one, file by file, under URLs: the episodes are those of one merge, and every check holds."""

import os
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from handloom.dataset import DatasetReader, MergeOptions, check_layout, merge_episodes
from handloom.dataset.episodes import archive_pack
from handloom.dataset.lerobot import dataset_reader, tables
from handloom.dataset.lerobot.file_list import changed_files
from handloom.dataset.lerobot.statistics import QUANTILES
from handloom.dataset.lerobot.table_check import check_tables
from handloom.dataset.merging import merge_shards
from handloom.dataset.merging.merge_shards import upload_dataset
from handloom.errors import FileError, InputError

pytest.importorskip("fsspec", reason="needs the extra cloud")
OPTIONS = MergeOptions(chunks_size=2, data_files_size_in_mb=0.001, video_files_size_in_mb=0.02)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_pack, "PACK", 3)
    for name, value in (("ROWS_PER_GROUP", 2), ("ROWS_PER_FILE", 5)):
        for module in (tables, dataset_reader):
            monkeypatch.setattr(module, name, value)


@pytest.fixture(scope="module")
def episodes(samples: SimpleNamespace, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("episodes")
    made = [
        samples.make_episode(folder, i, length=5 + i % 4, task="fold the towel" if i == 5 else "lift the cube").path
        for i in range(9)
    ]
    (made[1] / "words.json").write_text('{"plan": ["go"]}')
    return made


def shards_of(episodes: list[Path], folder: Path, cuts: tuple[int, ...] = (0, 4, 5, 9)) -> list[str]:
    urls = []
    for number, (start, stop) in enumerate(pairwise(cuts)):
        part = merge_episodes(episodes[start:stop], folder / f"part{number}", options=OPTIONS)
        urls.append(f"file://{folder}/store/shard-{number}")
        upload_dataset(part, urls[-1])
    return urls


def test_the_episodes_are_those_of_one_merge(episodes: list[Path], tmp_path: Path) -> None:
    urls, out = shards_of(episodes, tmp_path), tmp_path / "store/all"
    merge_shards.merge_shards(urls, f"file://{out}")
    whole = DatasetReader(merge_episodes(episodes, tmp_path / "whole", options=OPTIONS))
    made = DatasetReader(out)
    assert made.tasks == whole.tasks
    assert made.subtasks == whole.subtasks
    for index, wanted in enumerate(whole.episodes):
        found = made.episodes[index]
        assert (found.length, found.tasks, found.first_frame) == (wanted.length, wanted.tasks, wanted.first_frame)
        assert dict(found.columns) == dict(wanted.columns)
        assert made.rows(index).equals(whole.rows(index))
        assert sorted(made.archive_files(index).names()) == sorted(whole.archive_files(index).names())
        assert made.archive(index).certificate == whole.archive(index).certificate
        for camera in (feature.name for feature in whole.table.videos):
            assert np.array_equal(made.image(index, camera, 3), whole.image(index, camera, 3))
    assert not check_layout(out)
    assert not check_tables(out)
    assert not changed_files(out)


def test_statistics_are_those_of_one_merge(episodes: list[Path], tmp_path: Path) -> None:
    urls, out = shards_of(episodes, tmp_path), tmp_path / "store/all"
    merge_shards.merge_shards(urls, f"file://{out}")
    whole = DatasetReader(merge_episodes(episodes, tmp_path / "whole", options=OPTIONS)).statistics
    made = DatasetReader(out).statistics
    assert list(made) == list(whole)
    for name, wanted in whole.items():
        for statistic, values in wanted.items():
            exact = statistic in ("min", "max", "count", *QUANTILES)
            np.testing.assert_allclose(made[name][statistic], values, rtol=0 if exact else 1e-12, atol=1e-14)


def test_videos_and_packs_are_copied_as_they_are(episodes: list[Path], tmp_path: Path) -> None:
    urls, out = shards_of(episodes, tmp_path), tmp_path / "store/all"
    merge_shards.merge_shards(urls, f"file://{out}")
    packs = sorted(os.listdir(out / "extras/chunk-000"))
    firsts = [name for name in packs if name.startswith("episodes")]
    assert firsts == [f"episodes-{first:06d}.zip" for first in (0, 3, 4, 5, 8)]
    first = tmp_path / "part0/extras/chunk-000/episodes-000000.zip"
    assert (out / "extras/chunk-000/episodes-000000.zip").read_bytes() == first.read_bytes()
    assert not list((out / "extras").glob("episode_*"))


def test_called_again_it_goes_on_or_does_nothing(
    episodes: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    urls = shards_of(episodes, tmp_path)
    merge_shards.merge_shards(urls, f"file://{tmp_path}/store/whole")
    with monkeypatch.context() as patch:
        patch.setattr(merge_shards._Joint, "_meta", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            merge_shards.merge_shards(urls, f"file://{tmp_path}/store/all")
    with pytest.raises(FileError, match=r"has no meta/files.json: it is unfinished"):
        merge_shards.merge_shards([f"file://{tmp_path}/store/all"], f"file://{tmp_path}/store/other")
    merge_shards.merge_shards(urls, f"file://{tmp_path}/store/all")
    before = {f: f.stat().st_mtime_ns for f in (tmp_path / "store/all").rglob("*") if f.is_file()}
    merge_shards.merge_shards(urls, f"file://{tmp_path}/store/all")
    assert {f: f.stat().st_mtime_ns for f in before} == before
    for file in before:
        name = file.relative_to(tmp_path / "store/all")
        assert file.read_bytes() == (tmp_path / "store/whole" / name).read_bytes()
    with pytest.raises(InputError, match="contains another dataset"):
        merge_shards.merge_shards(urls[:2], f"file://{tmp_path}/store/all")


def test_a_damaged_shard_is_named(episodes: list[Path], tmp_path: Path) -> None:
    urls = shards_of(episodes, tmp_path)
    file = tmp_path / "store/shard-1/data/chunk-000/file-000.parquet"
    file.write_bytes(file.read_bytes() + b" ")
    with pytest.raises(FileError, match=r"shard-1/data/chunk-000/file-000.parquet has changed since it was written"):
        merge_shards.merge_shards(urls, f"file://{tmp_path}/store/all")


def test_a_dataset_made_of_shards_grows_by_a_merge_of_all(episodes: list[Path], tmp_path: Path) -> None:
    from handloom.dataset.lerobot.extend import extend_dataset

    urls = shards_of(episodes[:6], tmp_path, (0, 4, 6))
    merge_shards.merge_shards(urls, f"file://{tmp_path}/store/all")
    assert not extend_dataset(tmp_path / "store/all", episodes[6:], options=OPTIONS)


def test_the_same_episodes_are_given_once(episodes: list[Path], tmp_path: Path) -> None:
    urls = shards_of(episodes, tmp_path)
    with pytest.raises(InputError, match="shard-0 contains the same episodes as an earlier one"):
        merge_shards.merge_shards([*urls, urls[0]], f"file://{tmp_path}/store/all")

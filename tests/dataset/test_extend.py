"""Episodes that are added to a dataset give the bytes of one merge; what is there already is kept as it is."""

import os
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest
from tests.dataset.stopping import stopped_after

from handloom.dataset import MergeOptions, merge_episodes
from handloom.dataset.lerobot import extend as extending
from handloom.dataset.lerobot import merge_plan
from handloom.dataset.lerobot.extend import extend_dataset, finish_extension
from handloom.dataset.lerobot.file_list import changed_files
from handloom.dataset.lerobot.table_check import check_tables
from handloom.errors import FileError, InputError

SMALL = MergeOptions(data_files_size_in_mb=0.001, video_files_size_in_mb=0.02)
LARGE = MergeOptions()


def contents(folder: Path) -> dict[str, bytes]:
    return {str(f.relative_to(folder)): f.read_bytes() for f in sorted(folder.rglob("*")) if f.is_file()}


@pytest.fixture(scope="module")
def episodes(samples: SimpleNamespace, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("episodes")
    return [samples.make_episode(folder, i, length=5 + i % 4).path for i in range(9)]


@pytest.mark.parametrize("options", [SMALL, LARGE, replace(LARGE, language=True)], ids=["small", "large", "language"])
@pytest.mark.parametrize("first", [1, 6])
def test_an_extended_dataset_has_the_bytes_of_one_merge(
    episodes: list[Path], tmp_path: Path, options: MergeOptions, first: int
) -> None:
    whole = merge_episodes(episodes, tmp_path / "whole", options=options)
    out = merge_episodes(episodes[:first], tmp_path / "out", options=options)
    assert extend_dataset(out, episodes[first:], options=options)
    assert contents(out) == contents(whole)
    assert sorted(os.listdir(tmp_path)) == ["out", "whole"]


def test_a_dataset_is_extended_again_and_again(episodes: list[Path], tmp_path: Path) -> None:
    out = merge_episodes(episodes[:1], tmp_path / "out", options=SMALL)
    for episode in episodes[1:]:
        assert extend_dataset(out, [episode], options=SMALL)
    assert contents(out) == contents(merge_episodes(episodes, tmp_path / "whole", options=SMALL))
    assert not changed_files(out)


@pytest.mark.parametrize("first", [2, 3, 4, 6])
def test_a_data_file_has_a_limited_number_of_episodes(
    episodes: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: int
) -> None:
    monkeypatch.setattr(merge_plan, "MOST_EPISODES", 3)
    whole = merge_episodes(episodes[:8], tmp_path / "whole", options=LARGE)
    files = sorted((whole / "data").rglob("*.parquet"))
    assert [pq.ParquetFile(file).num_row_groups for file in files] == [3, 3, 2]
    out = merge_episodes(episodes[:first], tmp_path / "out", options=LARGE)
    assert extend_dataset(out, episodes[first:8], options=LARGE)
    assert contents(out) == contents(whole)
    assert not check_tables(out)


def test_row_groups_of_the_episode_table_are_filled(
    episodes: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from handloom.dataset.lerobot import merge, tables

    for module in (merge, tables, extending):
        for name, value in (("ROWS_PER_GROUP", 2), ("ROWS_PER_FILE", 5)):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, value)
    whole = contents(merge_episodes(episodes, tmp_path / "whole"))
    for first in range(1, 9):
        out = merge_episodes(episodes[:first], tmp_path / f"out{first}")
        assert extend_dataset(out, episodes[first:], options=LARGE)
        assert contents(out) == whole


def test_full_files_and_archives_are_kept_and_not_read(episodes: list[Path], tmp_path: Path) -> None:
    out = merge_episodes(episodes[:8], tmp_path / "out", options=SMALL)
    full = [out / "data/chunk-000/file-000.parquet", *(out / "extras").rglob("*.*")]
    before = {file: file.stat().st_ino for file in full}
    sheets = [file for file in full if file.name != "episode.json"]
    assert extend_dataset(out, episodes[8:], options=SMALL)
    assert {file: file.stat().st_ino for file in full} == before
    assert len(sheets) > 30


def test_files_of_others_in_a_dataset_stay(episodes: list[Path], tmp_path: Path) -> None:
    out = merge_episodes(episodes[:3], tmp_path / "out")
    for name in ("notes.txt", "meta/mine.txt", "extras/episode_000000/photo.png", "own/a/b.txt"):
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text(name)
    assert extend_dataset(out, episodes[3:], options=LARGE)
    assert all((out / name).read_text() == name for name in ("notes.txt", "meta/mine.txt", "own/a/b.txt"))
    assert (out / "extras/episode_000000/photo.png").is_file()


def test_a_file_of_others_in_the_way_is_named(episodes: list[Path], tmp_path: Path) -> None:
    out = merge_episodes(episodes[:3], tmp_path / "out")
    mine = out / "extras/episode_000003/episode.json"
    mine.parent.mkdir()
    mine.write_text("mine")
    with pytest.raises(FileError, match=r"episode_000003/episode.json is not one of the dataset's files"):
        extend_dataset(out, episodes[3:], options=LARGE)
    assert mine.read_text() == "mine"
    mine.unlink()
    assert extend_dataset(out, episodes[3:], options=LARGE)
    assert contents(out) == contents(merge_episodes(episodes, tmp_path / "whole"))


@pytest.mark.parametrize(
    ("change", "extended"),
    [
        ({"columns": {"distance_m": 0.5, "object": "cube", "more": 1}}, False),
        ({"columns": {"distance_m": "far", "object": "cube"}}, False),
        ({"columns": {"distance_m": 2, "object": "cube"}}, True),
        ({"columns": {"object": None}}, True),
        ({"robot": "ur5"}, True),
        ({"task": "fold the towel"}, True),
        ({"segments": ()}, True),
    ],
)
def test_what_does_not_fit_is_left_to_a_merge(
    samples: SimpleNamespace, episodes: list[Path], tmp_path: Path, change: dict[str, object], extended: bool
) -> None:
    new = samples.make_episode(tmp_path / "new", 20, **change).path
    out = merge_episodes(episodes[:3], tmp_path / "out")
    before = contents(out)
    assert extend_dataset(out, [new], options=LARGE) is extended
    if extended:
        assert contents(out) == contents(merge_episodes([*episodes[:3], new], tmp_path / "whole"))
    else:
        assert contents(out) == before


def test_other_options_are_left_to_a_merge(episodes: list[Path], tmp_path: Path) -> None:
    out = merge_episodes(episodes[:3], tmp_path / "out", options=SMALL)
    assert not extend_dataset(out, episodes[3:], options=LARGE)


def test_an_episode_is_added_once(episodes: list[Path], tmp_path: Path) -> None:
    out = merge_episodes(episodes[:3], tmp_path / "out")
    with pytest.raises(InputError, match="are the same episode"):
        extend_dataset(out, episodes[2:4], options=LARGE)


@pytest.mark.parametrize(
    "name", ["meta/info.json", "data/chunk-000/file-000.parquet", "meta/episodes/chunk-000/file-000.parquet"]
)
def test_a_changed_file_that_is_needed_is_refused(episodes: list[Path], tmp_path: Path, name: str) -> None:
    out = merge_episodes(episodes[:3], tmp_path / "out")
    (out / name).write_bytes((out / name).read_bytes() + b" ")
    before = contents(out)
    with pytest.raises(FileError, match=r"has changed"):
        extend_dataset(out, episodes[3:], options=LARGE)
    assert contents(out) == before


def test_a_changed_archive_keeps_the_hash_it_had(episodes: list[Path], tmp_path: Path) -> None:
    out = merge_episodes(episodes[:3], tmp_path / "out")
    changed = out / "extras/episode_000001/instance.json"
    content = changed.read_bytes()
    changed.unlink()  # It is a link to the episode's own file.
    changed.write_bytes(content + b" ")
    assert extend_dataset(out, episodes[3:], options=LARGE)
    assert changed_files(out) == {"extras/episode_000001/instance.json": "was changed after it was written"}


def test_links_are_not_followed(episodes: list[Path], tmp_path: Path) -> None:
    out = merge_episodes(episodes[:3], tmp_path / "out")
    (out / "extras").rename(tmp_path / "elsewhere")
    (out / "extras").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FileError, match="extras is a link"):
        extend_dataset(out, episodes[3:], options=LARGE)
    assert not (tmp_path / "elsewhere/episode_000003").exists()


@pytest.mark.parametrize("point", range(0, 60, 7))
def test_stopped_anywhere_it_goes_on(
    episodes: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, point: int
) -> None:
    """Every rename, link and removal is a moment at which the process may be gone."""
    out = merge_episodes(episodes[:3], tmp_path / "out", options=SMALL)
    with stopped_after(point, monkeypatch):
        extend_dataset(out, episodes[3:], options=SMALL)
    finish_extension(out)
    if not (out / "extras/episode_000008").is_dir():
        assert extend_dataset(out, episodes[3:], options=SMALL)
    shutil.rmtree(tmp_path / "out.more.partial", ignore_errors=True)
    assert contents(out) == contents(merge_episodes(episodes, tmp_path / "whole", options=SMALL))

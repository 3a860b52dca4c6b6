"""Full hundreds of archives are packs: the same files, read one by one, whatever was cut where."""

import json
import os
import random
import shutil
import warnings
import zipfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from tests.dataset.stopping import stopped_after

from handloom.dataset import DatasetReader, MergeOptions, check_layout, extract_episode, merge_datasets, merge_episodes
from handloom.dataset.episodes import archive_pack
from handloom.dataset.episodes.archive import ARCHIVE_FILES
from handloom.dataset.episodes.archive_pack import find_pack, open_pack, write_pack
from handloom.dataset.episodes.episode_files import EpisodeFiles
from handloom.dataset.episodes.episode_folder import SHEET
from handloom.dataset.files.durable import write_json
from handloom.dataset.files.parquet_files import numpy_column
from handloom.dataset.lerobot.extend import extend_dataset, finish_extension
from handloom.dataset.lerobot.feature import BOOKKEEPING
from handloom.dataset.lerobot.file_list import changed_files, list_files, write_list
from handloom.dataset.lerobot.statistics import column_statistics
from handloom.dataset.lerobot.table_check import check_tables
from handloom.errors import FileError

OPTIONS = MergeOptions(data_files_size_in_mb=0.001, video_files_size_in_mb=0.02)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(f.relative_to(folder)): f.read_bytes() for f in sorted(folder.rglob("*")) if f.is_file()}


@pytest.fixture(scope="module")
def episodes(samples: SimpleNamespace, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("episodes")
    made = [samples.make_episode(folder, i, length=5 + i % 4).path for i in range(8)]
    for i in (0, 4):  # As labels that were made after the episode.
        (made[i] / "words.json").write_text('{"plan": ["go"]}')
    return made


@pytest.fixture(autouse=True)
def packs_of_three(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_pack, "PACK", 3)


def test_full_hundreds_are_packs_and_the_rest_are_folders(episodes: list[Path], tmp_path: Path) -> None:
    out = merge_episodes(episodes, tmp_path / "out", options=OPTIONS)
    assert sorted(path.name for path in (out / "extras").iterdir()) == ["chunk-000", "episode_000006", "episode_000007"]
    packs = ["episodes-000000.zip", "episodes-000003.zip", "labels-000000.zip", "labels-000003.zip"]
    assert sorted(os.listdir(out / "extras/chunk-000")) == packs
    assert not check_layout(out)
    assert not check_tables(out)
    reader = DatasetReader(out)
    for index, source in enumerate(episodes):
        files = reader.archive_files(index)
        for name in (*ARCHIVE_FILES, SHEET):
            assert files.read(name) == (source / name).read_bytes()
        assert files.has("words.json") == (index in (0, 4))
        assert reader.archive(index).instance == reader.archive(index, check=False).instance


def test_any_tool_opens_a_pack(episodes: list[Path], tmp_path: Path) -> None:
    out = merge_episodes(episodes, tmp_path / "out")
    with zipfile.ZipFile(out / "extras/chunk-000/episodes-000003.zip") as archive:
        assert archive.testzip() is None
        names = [f"{number:03d}/{name}" for number in range(3) for name in (*ARCHIVE_FILES, SHEET)]
        assert archive.namelist() == names
        assert archive.read("001/instance.json") == (episodes[4] / "instance.json").read_bytes()


@pytest.mark.parametrize("first", [1, 2, 3, 5, 6, 7])
def test_a_dataset_that_grows_has_the_bytes_of_one_merge(episodes: list[Path], tmp_path: Path, first: int) -> None:
    whole = merge_episodes(episodes, tmp_path / "whole", options=OPTIONS)
    out = merge_episodes(episodes[:first], tmp_path / "out", options=OPTIONS)
    assert extend_dataset(out, episodes[first:], options=OPTIONS)
    assert contents(out) == contents(whole)
    assert not changed_files(out)


def test_packs_that_are_there_are_neither_read_nor_written(episodes: list[Path], tmp_path: Path) -> None:
    out = merge_episodes(episodes[:7], tmp_path / "out", options=OPTIONS)
    pack = out / "extras/chunk-000/episodes-000000.zip"
    pack.write_bytes(b"whoever reads this stops")
    assert extend_dataset(out, episodes[7:], options=OPTIONS)
    assert pack.read_bytes() == b"whoever reads this stops"


def test_a_users_file_in_the_folder_of_an_archive_stays(episodes: list[Path], tmp_path: Path) -> None:
    out = merge_episodes(episodes[:2], tmp_path / "out", options=OPTIONS)
    (out / "extras/episode_000001/photo.png").write_text("mine")
    assert extend_dataset(out, episodes[2:], options=OPTIONS)
    assert os.listdir(out / "extras/episode_000001") == ["photo.png"]
    assert not (out / "extras/episode_000000").exists()
    assert DatasetReader(out).archive(1).instance


@pytest.mark.parametrize("point", range(0, 75, 5))
def test_stopped_anywhere_it_goes_on(
    episodes: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, point: int
) -> None:
    """Every rename, link and removal is a moment at which the process may be gone."""
    out = merge_episodes(episodes[:2], tmp_path / "out", options=OPTIONS)
    with stopped_after(point, monkeypatch):
        extend_dataset(out, episodes[2:], options=OPTIONS)
    finish_extension(out)
    if not (out / "extras/episode_000007").is_dir():
        assert extend_dataset(out, episodes[2:], options=OPTIONS)
    shutil.rmtree(tmp_path / "out.more.partial", ignore_errors=True)
    assert contents(out) == contents(merge_episodes(episodes, tmp_path / "whole", options=OPTIONS))


def test_episodes_are_taken_out_of_packs_as_they_were(episodes: list[Path], tmp_path: Path) -> None:
    out = merge_episodes(episodes, tmp_path / "out", options=OPTIONS)
    taken = extract_episode(DatasetReader(out), 4, tmp_path / "episode_000004")
    assert not taken.faults()
    for name in (*ARCHIVE_FILES, SHEET, "words.json"):
        assert (taken.path / name).read_bytes() == (episodes[4] / name).read_bytes()
    again = merge_datasets([out], tmp_path / "again")
    assert contents(again) == contents(merge_episodes(episodes, tmp_path / "direct"))


def test_a_hundred_that_takes_too_much_room_stays_in_folders(
    episodes: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive_pack, "PACK_BYTES", 1000)
    out = merge_episodes(episodes, tmp_path / "out")
    assert sorted(os.listdir(out / "extras/chunk-000")) == ["labels-000000.zip", "labels-000003.zip"]
    assert not check_layout(out)
    assert DatasetReader(out).archive_files(4).has("words.json")


def test_a_pack_that_was_moved_serves_other_numbers(tmp_path: Path) -> None:
    extras = tmp_path / "extras"
    write_pack(extras / "chunk-000/episodes-099990.zip", [[("a.json", b"%d" % i)] for i in range(20)])
    write_pack(extras / "chunk-001/episodes-100010.zip", [[("a.json", b"last")]])
    for index in (99_990, 99_999, 100_000, 100_009):
        assert EpisodeFiles.at(extras / f"episode_{index:06d}").read("a.json") == b"%d" % (index - 99_990)
    assert EpisodeFiles.at(extras / "episode_100010").read("a.json") == b"last"
    assert not EpisodeFiles.at(extras / "episode_100011").exists()
    assert find_pack(extras, "episodes", 99_989) is None


def _flipped(pack: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(pack))
    return pack[:at] + bytes([pack[at] ^ (1 << chance.randrange(8))]) + pack[at + 1 :]


def test_a_damaged_pack_is_refused_or_says_the_same(tmp_path: Path) -> None:
    files = [[("instance.json", b"{}" * 40), ("states.npz", bytes(range(200)))] for _ in range(3)]
    write_pack(tmp_path / "good.zip", files)
    good, chance, refused = (tmp_path / "good.zip").read_bytes(), random.Random(0), 0
    path = tmp_path / "extras/chunk-000/episodes-000000.zip"
    path.parent.mkdir(parents=True)
    for trial in range(600):
        path.unlink(missing_ok=True)
        path.write_bytes(good[: chance.randrange(len(good))] if trial % 3 == 0 else _flipped(good, chance))
        try:
            pack = open_pack(path)
            for number, wanted in enumerate(files):
                for name, content in wanted:
                    assert pack.read(pack.files[number, name]) == content  # What changed was a date, or the like.
        except (FileError, KeyError):
            refused += 1
    assert refused > 400


@pytest.mark.parametrize(
    "names", [["../instance.json"], ["000/../../a.json"], ["000/a.json", "000/a.json"], ["/etc/passwd"], ["000/A b"]]
)
def test_a_pack_of_strange_names_is_refused(tmp_path: Path, names: list[str]) -> None:
    path = tmp_path / "episodes-000000.zip"
    with warnings.catch_warnings(), zipfile.ZipFile(path, "w") as archive:
        warnings.simplefilter("ignore")  # Of names that are there twice.
        for name in names:
            archive.writestr(name, b"{}")
    with pytest.raises(FileError, match="is not a pack of archives"):
        open_pack(path)


def test_a_compressed_pack_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "episodes-000000.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("000/instance.json", b"0" * 10**6)
    with pytest.raises(FileError, match="is not a pack of archives"):
        open_pack(path)


def test_a_dataset_of_an_earlier_version_is_read_checked_and_packed_when_it_grows(
    episodes: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive_pack, "PACK", 100)
    out = merge_episodes(episodes[:5], tmp_path / "out", options=OPTIONS)
    reader = DatasetReader(out)
    statistics = dict(reader.statistics)
    dtypes = {f.name: f.dtype for f in reader.table.columns} | BOOKKEEPING | {"subtask_index": "int64"}
    for name, dtype in dtypes.items():
        values = [numpy_column(reader.rows(index), name, dtype) for index in range(5)]
        statistics[name] = column_statistics(np.concatenate(values)).as_lists()  # As it was: exact quantiles.
    write_json(out / "meta/stats.json", statistics, indent=4)
    receipt = json.loads((out / "meta/merge.json").read_text())
    write_json(out / "meta/merge.json", {key: receipt[key] for key in ("fingerprint", "versions")})
    (out / "meta/totals.parquet").unlink()
    (out / "meta/files.json").unlink()
    write_list(out, list_files(out))
    assert not check_layout(out)
    assert not check_tables(out)
    monkeypatch.setattr(archive_pack, "PACK", 3)
    assert not extend_dataset(out, episodes[5:], options=OPTIONS), "the caller merges all of it again"
    folders = [extract_episode(DatasetReader(out), i, tmp_path / f"taken/episode_{i:06d}").path for i in range(5)]
    again = merge_episodes([*folders, *episodes[5:]], out, options=OPTIONS, replace=True)
    assert contents(again) == contents(merge_episodes(episodes, tmp_path / "whole", options=OPTIONS))

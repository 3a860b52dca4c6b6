"""Only what Handloom wrote is replaced; files of others are carried over, and kills leave nothing behind."""

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from handloom.dataset import merge_episodes
from handloom.dataset.files.durable import json_bytes
from handloom.dataset.files.replacing import check_replaceable, foreign_files, remove_dataset, settle, swap_in
from handloom.errors import FileError


def contents(folder: Path) -> dict[str, bytes]:
    return {str(f.relative_to(folder)): f.read_bytes() for f in sorted(folder.rglob("*")) if f.is_file()}


@pytest.fixture(scope="module")
def episodes(samples: SimpleNamespace, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("episodes")
    return [samples.make_episode(folder, i, length=4).path for i in range(2)]


def test_a_dataset_of_ours_is_replaced_and_files_of_others_are_carried_over(
    episodes: list[Path], tmp_path: Path
) -> None:
    out = merge_episodes(episodes[:1], tmp_path / "out")
    mine = {
        "notes.txt": b"mine",
        "own/deep/list.csv": b"1",
        "meta/remark.txt": b"2",
        "extras/episode_000000/a.png": b"3",
    }
    for name, content in mine.items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_bytes(content)
    (out / "link").symlink_to("/etc")
    assert sorted(foreign_files(out)) == sorted([*mine, "link"])
    merge_episodes(episodes[1:], out, replace=True)
    (out / "link").unlink()
    assert contents(out) == {**contents(merge_episodes(episodes[1:], tmp_path / "direct")), **mine}
    assert sorted(os.listdir(tmp_path)) == ["direct", "out"]


@pytest.mark.parametrize("kind", ["folder", "file", "link", "someone's dataset"])
def test_anything_else_is_refused_and_stays(episodes: list[Path], tmp_path: Path, kind: str) -> None:
    out = tmp_path / "out"
    if kind == "file":
        out.write_text("thesis")
    elif kind == "link":
        (tmp_path / "elsewhere").mkdir()
        out.symlink_to(tmp_path / "elsewhere")
    else:
        name = "thesis.txt" if kind == "folder" else "meta/info.json"
        (out / name).parent.mkdir(parents=True)
        (out / name).write_text("thesis")
    before = contents(tmp_path)
    with pytest.raises(FileError, match="nothing was changed; choose another"):
        merge_episodes(episodes, out, replace=True)
    assert contents(tmp_path) == before


def test_a_file_of_ours_that_was_changed_is_not_lost(episodes: list[Path], tmp_path: Path) -> None:
    out = merge_episodes(episodes[:1], tmp_path / "out")
    (out / "meta/info.json").write_text("{}")
    with pytest.raises(FileError, match=r"info\.json was changed after it was written"):
        merge_episodes(episodes, out, replace=True)
    assert (out / "meta/info.json").read_text() == "{}"


def test_a_file_of_others_in_the_way_is_named(episodes: list[Path], tmp_path: Path) -> None:
    out = merge_episodes(episodes[:1], tmp_path / "out")
    (out / "extras/episode_000001").mkdir()
    (out / "extras/episode_000001/episode.json").write_text("mine")
    with pytest.raises(FileError, match="in the way of a new one"):
        merge_episodes(episodes, out, replace=True)
    assert (out / "extras/episode_000001/episode.json").read_text() == "mine"


def test_an_empty_folder_may_be_filled(episodes: list[Path], tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    merge_episodes(episodes, tmp_path / "out", replace=True)
    check_replaceable(tmp_path / "out")


def test_a_kill_between_the_two_renames_loses_nothing(episodes: list[Path], tmp_path: Path) -> None:
    out = merge_episodes(episodes[:1], tmp_path / "out")
    (out / "notes.txt").write_text("mine")
    before = contents(out)
    out.rename(tmp_path / "out.replaced.partial")
    settle(out)
    assert contents(out) == before
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize("removed", [0, 5, 1000])
def test_a_kill_while_the_old_one_is_removed_leaves_it_to_the_next_call(
    episodes: list[Path], tmp_path: Path, removed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = merge_episodes(episodes[:1], tmp_path / "out")
    new = merge_episodes(episodes[1:], tmp_path / "new")
    expected = contents(new)
    (out / "notes.txt").write_text("mine")
    count = [removed]
    unlink = Path.unlink

    def dying(self: Path, *, missing_ok: bool = False) -> None:
        count[0] -= 1
        if count[0] < 0:
            raise KeyboardInterrupt
        unlink(self, missing_ok=missing_ok)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", dying)
        if removed < 1000:
            with pytest.raises(KeyboardInterrupt):
                swap_in(new, out)
        else:
            swap_in(new, out)
    settle(out)
    assert contents(out) == {**expected, "notes.txt": b"mine"}
    assert os.listdir(tmp_path) == ["out"]


def test_a_list_that_names_files_elsewhere_is_refused(episodes: list[Path], tmp_path: Path) -> None:
    out = merge_episodes(episodes, tmp_path / "out")
    (tmp_path / "thesis.txt").write_text("precious")
    listing = out / "meta/files.json"
    for name in ("../thesis.txt", str(tmp_path / "thesis.txt"), "a//b", "."):
        listing.write_bytes(json_bytes({name: {"bytes": 8, "sha256": "0" * 64}}))
        with pytest.raises(FileError, match="which is not a file of the dataset"):
            remove_dataset(out)
    assert (tmp_path / "thesis.txt").is_file()

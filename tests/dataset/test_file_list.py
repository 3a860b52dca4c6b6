"""Every file of a dataset is listed with its hash; what was changed, lost, added or leads elsewhere is found."""

import json
import os
import shutil
from pathlib import Path

import pytest

from handloom.dataset import find_episodes, merge_episodes
from handloom.dataset.files.durable import json_bytes
from handloom.dataset.lerobot.file_list import FILE_LIST, changed_files, check_files, list_bytes, refuse_strange_files
from handloom.errors import FileError


@pytest.fixture(scope="module")
def whole(shards: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return merge_episodes(find_episodes([shards]), tmp_path_factory.mktemp("whole") / "dataset")


@pytest.fixture
def root(whole: Path, tmp_path: Path) -> Path:
    return shutil.copytree(whole, tmp_path / "dataset")


def test_a_dataset_as_written_passes(root: Path) -> None:
    check_files(root)
    (root / "README.md").write_text("Ours, beside the dataset's own folders.")
    check_files(root)


def test_changed_lost_and_added_files_are_named(root: Path) -> None:
    (root / "meta/stats.json").write_text("{}")
    (root / "meta/tasks.parquet").unlink()
    shutil.copytree(root / "extras/episode_000000", root / "extras/episode_000099")
    found = changed_files(root)
    assert found["meta/stats.json"] == "was changed after it was written"
    assert found["meta/tasks.parquet"] == "is missing"
    assert found["extras/episode_000099/states.npz"] == "was added after the files were listed"
    with pytest.raises(FileError, match=r"and .* more; restore it, or use it with --skip-hashes"):
        check_files(root)
    check_files(root, hashes=False)


def test_a_blank_more_in_the_list_itself_is_found(root: Path) -> None:
    text = (root / FILE_LIST).read_text()
    (root / FILE_LIST).write_text(text.replace("{", "{ ", 1))
    assert changed_files(root) == {FILE_LIST: "has changed since it was written"}


@pytest.mark.parametrize("name", ["../../secret", "/etc/passwd", "/dev/zero", "data", ""])
def test_names_that_lead_elsewhere_are_never_followed(root: Path, name: str) -> None:
    listing = json.loads((root / FILE_LIST).read_text())
    listing[name] = {"bytes": 0, "sha256": "0" * 64}
    (root / FILE_LIST).write_text(json.dumps(listing, indent=4) + "\n")
    assert changed_files(root) == {name: "is missing"}


def test_a_list_far_longer_than_there_are_files_is_not_read(root: Path) -> None:
    listing = {f"data/{i:0200d}": {"bytes": 0, "sha256": "0" * 64} for i in range(1000)}
    (root / FILE_LIST).write_text(json.dumps(listing, indent=4) + "\n")
    with pytest.raises(FileError, match=r"files\.json has .* bytes, at most"):
        changed_files(root)


def test_links_pipes_and_holes_are_refused(root: Path, tmp_path: Path) -> None:
    (tmp_path / "private").write_text("key")
    place = root / "extras" / "x"
    for make in (
        lambda: place.symlink_to(tmp_path / "private"),
        lambda: place.symlink_to("/dev/zero"),
        lambda: place.symlink_to(tmp_path),
        lambda: place.symlink_to(root / "meta"),
        lambda: place.symlink_to("nowhere"),
        lambda: place.symlink_to(place),
    ):
        make()
        with pytest.raises(FileError, match=r"extras/x is a link to a folder or out of"):
            refuse_strange_files(root)
        place.unlink()
    os.mkfifo(place)
    with pytest.raises(FileError, match="extras/x is not a regular file"):
        check_files(root, hashes=False)
    place.unlink()
    place.touch()
    os.truncate(place, 2**40)
    with pytest.raises(FileError, match="is mostly empty"):
        check_files(root, hashes=False)
    place.unlink()
    place.symlink_to(root / "meta" / "info.json")
    refuse_strange_files(root)


def test_the_list_is_written_as_json_is():
    entry = {"bytes": 12, "sha256": "0" * 64}
    for listing in ({}, {"a": entry}, {'ü"\\n/x.json': entry, "b/c": entry}):
        assert list_bytes(listing) == json_bytes(listing, indent=4)

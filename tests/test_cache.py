"""The cache folder is where the user says, or a temporary one where that cannot be written."""

import os
import stat
from pathlib import Path

import pytest

from handloom import cache
from handloom.errors import FileError


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANDLOOM_CACHE", "")  # What falling back sets is taken away again afterwards.
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    cache._usable.cache_clear()


def test_the_variable_wins_over_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache.user_cache() == tmp_path / "home" / ".cache" / "handloom"
    monkeypatch.setenv("HANDLOOM_CACHE", str(tmp_path / "mine"))
    assert cache.user_cache() == tmp_path / "mine"


def test_a_home_that_cannot_be_written_is_replaced_with_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HOME", str(tmp_path / "file"))
    folder = cache.user_cache()
    assert folder.parent == tmp_path / "temporary"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert cache.user_cache() == folder == Path(os.environ["HANDLOOM_CACHE"])
    assert [record.getMessage().count("\n") for record in caplog.records] == [0]
    assert f"{tmp_path / 'file' / '.cache' / 'handloom'} cannot be created" in caplog.text


def test_the_next_process_finds_the_same_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HANDLOOM_CACHE", str(tmp_path / "file" / "cache"))
    first = cache.user_cache()
    monkeypatch.setenv("HANDLOOM_CACHE", str(tmp_path / "file" / "cache"))
    cache._usable.cache_clear()
    assert cache.user_cache() == first
    assert list((tmp_path / "temporary").iterdir()) == [first]


def test_what_a_read_only_cache_holds_is_taken_along(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "image" / "kernels").mkdir(parents=True)
    (tmp_path / "image" / "kernels" / "warm").write_text("compiled")
    monkeypatch.setenv("HANDLOOM_CACHE", str(tmp_path / "image"))
    monkeypatch.setattr("os.access", lambda *_: False)  # Root may write everywhere but on a read-only file system.
    folder = cache.user_cache()
    assert folder != tmp_path / "image"
    assert (folder / "kernels" / "warm").read_text() == "compiled"
    (folder / "kernels" / "new").write_text("can be written")


def test_a_folder_that_others_can_write_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    planted = tmp_path / "temporary" / f"handloom-{os.getuid()}"
    planted.mkdir()
    (planted / "kernels").mkdir()
    planted.chmod(0o777)
    monkeypatch.setenv("HANDLOOM_CACHE", str(tmp_path / "file" / "cache"))
    assert cache.user_cache() != planted


def test_without_any_folder_the_error_names_the_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HANDLOOM_CACHE", str(tmp_path / "file" / "cache"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "file"))
    with pytest.raises(FileError, match="HANDLOOM_CACHE"):
        cache.user_cache()

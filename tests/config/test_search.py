"""Paths of a file stay in its own surroundings."""

from pathlib import Path

import pytest

from handloom.config import find_file, load_config
from handloom.config.model import Config
from handloom.config.search import PACKAGE, enclosing_folders, is_inside
from handloom.errors import ConfigError, NotAllowedError


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a home folder with a project in it, and something that is nobody else's business."""
    monkeypatch.setenv("HOME", str(tmp_path / "home" / "me"))
    project = tmp_path / "home" / "me" / "project" / "tasks"
    project.mkdir(parents=True)
    (tmp_path / "home" / "me" / "secret.yaml").write_text("word: hush\n")
    (project.parent / "camera.yaml").write_text("word: hello\n")
    return tmp_path / "home" / "me"


def test_the_folders_of_a_project_end_below_the_home_folder(home: Path) -> None:
    assert enclosing_folders(home / "project" / "tasks") == (home / "project" / "tasks", home / "project")
    assert enclosing_folders(home) == (home,)
    assert home in enclosing_folders(home / "project" / "tasks", allow_outside=True)


def test_a_file_of_the_project_is_found_and_one_of_the_home_folder_is_not(home: Path) -> None:
    near = home / "project" / "tasks"
    assert find_file("camera.yaml", near=near) == home / "project" / "camera.yaml"
    with pytest.raises(ConfigError, match="was not found; searched"):
        find_file("secret.yaml", near=near)
    assert find_file("secret.yaml", near=near, allow_outside=True) == home / "secret.yaml"


@pytest.mark.parametrize("name", ["../../secret.yaml", "{home}/secret.yaml", "~/secret.yaml", "link.yaml"])
def test_dots_absolute_paths_and_links_do_not_lead_out(home: Path, name: str) -> None:
    near = home / "project" / "tasks"
    (near / "link.yaml").symlink_to(home / "secret.yaml")
    with pytest.raises(NotAllowedError, match=r"key: .*secret|link.* lies outside .* --allow-outside"):
        find_file(name.format(home=home), near=near, what="key")
    assert find_file(name.format(home=home), near=near, allow_outside=True).read_text() == "word: hush\n"


def test_an_asset_root_and_our_package_are_inside(home: Path, tmp_path: Path) -> None:
    (tmp_path / "assets").mkdir()
    file = tmp_path / "assets" / "mug.obj"
    file.write_text("")
    near = home / "project"
    assert find_file("mug.obj", near=near, asset_root=tmp_path / "assets") == file
    assert find_file(str(file), near=near, asset_root=tmp_path / "assets") == file
    assert is_inside(PACKAGE / "tasks" / "library", [near])


def test_a_user_or_a_loop_of_links_that_does_not_exist_is_no_traceback(home: Path) -> None:
    near = home / "project"
    (near / "loop").symlink_to(near / "loop")
    for name in ("~nobody_of_this_name/x.yaml", "loop/x.yaml", "a" * 5000, "nul\0"):
        with pytest.raises(ConfigError):
            find_file(name, near=near)


class Word(Config):
    """A file for the tests."""

    word: str


def test_a_base_does_not_lead_out_either(home: Path) -> None:
    file = home / "project" / "tasks" / "mine.yaml"
    file.write_text("base: ../../secret.yaml\n")
    with pytest.raises(NotAllowedError, match=r"mine.yaml:1: base: .*secret.yaml lies outside"):
        load_config(file, Word)

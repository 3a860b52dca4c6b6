"""Whatever a name is, its path stays where it belongs."""

import string
from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest

from handloom.errors import NotAllowedError
from handloom.safe_paths import MOST_BYTES, below, safe_name

HOSTILE = [
    "/etc/passwd",
    "../../../esc",
    "..",
    ".",
    "",
    "...",
    "a/b",
    "a\\b",
    "..\\..\\x",
    "C:\\x",
    "C:x",
    "nul",
    "COM1.txt",
    "a\0b",
    "a\nb",
    "~root",
    "~",
    "x" * 5000,
    "ü" * 300,
    "\ud800",
    "\u202egnp.exe",
    " a ",
    ".hidden",
    "-rf",
    "a:b",
    "%2e%2e%2f",
    "$HOME",
    "*",
]


@pytest.mark.parametrize("name", HOSTILE, ids=lambda name: repr(name[:20]))
def test_any_text_becomes_one_part_of_a_path(name: str, tmp_path: Path) -> None:
    safe = safe_name(name)
    assert PurePosixPath(safe).parts == PureWindowsPath(safe).parts == (safe,)
    assert not PureWindowsPath(safe).drive
    assert safe not in {"", ".", ".."}
    assert len(safe.encode()) <= MOST_BYTES
    (tmp_path / f"{safe}.xml").write_text("x")
    assert [file.name for file in tmp_path.iterdir()] == [f"{safe}.xml"]


@pytest.mark.parametrize("name", ["mug_3", "fr3_pick_cube", "Eierbecher (groß)", "a.b-c", "can,2", "drawer [1]"])
def test_plain_names_stay_as_they_are(name: str) -> None:
    assert safe_name(name) == name


def test_the_ending_of_a_file_stays() -> None:
    assert safe_name("a/b.stl").endswith(".stl")
    assert safe_name("x" * 5000 + ".png").endswith(".png")


def test_names_that_had_to_be_changed_stay_apart() -> None:
    names = [f"a{mark}b" for mark in string.punctuation] + ["x" * 5000, "x" * 5001, "", ".", ".."]
    assert len({safe_name(name) for name in names}) == len(names)


@pytest.mark.parametrize("name", ["/etc/passwd", "../x", "a/../../x", "a\\b", "..\\x", "C:/x", "a\0b", "", ".", "~/x"])
def test_a_path_below_a_folder_does_not_lead_out(name: str, tmp_path: Path) -> None:
    with pytest.raises(NotAllowedError, match=r"task\.yaml"):
        below(tmp_path, name, what="task.yaml")


def test_a_link_out_of_a_folder_is_no_way_out(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "real").mkdir(parents=True)
    (root / "in").symlink_to("real")
    (root / "out").symlink_to(tmp_path)
    (root / "ring").symlink_to("ring")
    assert below(root, "in/x", what="it") == root / "in" / "x"
    for name in ("out", "out/x", "ring/x"):
        with pytest.raises(NotAllowedError, match="by a link"):
            below(root, name, what="it")


def test_a_path_of_several_parts_is_found_below_a_folder(tmp_path: Path) -> None:
    assert below(tmp_path, "meshes/door.obj", what="it") == tmp_path / "meshes" / "door.obj"

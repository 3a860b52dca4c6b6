"""The page of the task library lists what there is."""

import importlib.util
from pathlib import Path

import pytest

from handloom.tasks import library

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("write_task_library", ROOT / "tools" / "write_task_library.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_up_to_date(tool) -> None:
    assert tool.PAGE.read_text() == tool.page(), "run: python tools/write_task_library.py"


def test_every_task_has_a_small_picture(tool) -> None:
    for name in library():
        picture = tool.PICTURES / f"{name}.jpg"
        assert picture.is_file(), f"run: python tools/write_task_library.py --draw {name}"
        assert picture.stat().st_size < 60_000, name


def test_every_shipped_task_was_measured_and_succeeds(tool) -> None:
    text = tool.PAGE.read_text()
    assert "not measured" not in text

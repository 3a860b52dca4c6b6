"""The page of what demonstrations are worth says what was measured."""

import importlib.util
import json
import shlex
from pathlib import Path

import pytest

from handloom.engine.policy.evaluation import wilson
from handloom.tasks import library

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("write_worth", ROOT / "tools" / "write_worth.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_up_to_date(tool) -> None:
    assert tool.PAGE.read_text() == tool.page(), "run: python tools/write_worth.py"


def test_the_rows_add_up(tool) -> None:
    for row in json.loads(tool.ROWS.read_text()):
        assert row["task"] in library() or (ROOT / "examples" / "train" / row["task"]).is_file()
        assert row["successes"] + sum(row["failure_reasons"].values()) == row["scenes"]
        assert row["interval"] == pytest.approx(wilson(row["successes"], row["scenes"]))
        assert row["demonstrations"] <= 1000
        assert row["seed"] >= 1_000_000_000  # Scenes that generate never uses.


def test_a_recipe_is_a_command_of_the_example(tool) -> None:
    known = (ROOT / "examples" / "train" / "worth.py").read_text()
    for row in json.loads(tool.ROWS.read_text()):
        python, program, task, *words = shlex.split(row["recipe"])
        assert (python, program) == ("python", "worth.py")
        if "policy" not in row:
            assert task == row["task"]
        for word in words:
            if word.startswith("--"):
                assert f"    {word[2:].replace('-', '_')}:" in known, word


def test_the_newest_row_of_a_task_is_kept(tool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool, "ROWS", tmp_path / "rows.json")
    for number in (1, 2):
        (tmp_path / "new.json").write_text(json.dumps([{"task": "a", "successes": number}]))
        tool.add([str(tmp_path / "new.json")])
    assert json.loads(tool.ROWS.read_text()) == [{"task": "a", "successes": 2}]

"""The tables of docs/architecture.md are true: the path of the data, and where to find what."""

import ast
import re
import sys
from itertools import pairwise
from pathlib import Path

import pytest

import handloom
from handloom.cli.runs import generate
from handloom.cli.runs.run_flags import DatasetFlags

SRC = Path(handloom.__file__).parent
TEXT = (Path(__file__).parents[2] / "docs" / "architecture.md").read_text(encoding="utf-8")
MOST_FILES = 20
MOST_SWITCHES = 12
UNDRAWN = DatasetFlags(render="none")


def rows(title: str) -> list[list[str]]:
    """Return the cells in backticks of a table, by the title of its section."""
    section = TEXT.split(f"## {title}\n")[1].split("\n## ")[0]
    found = [re.findall(r"`([^`]+)`", line) for line in section.splitlines() if line.startswith("|")]
    return [cells for cells in found if cells]


PATH = [(row[0], row[1]) for row in rows("The path of the data")]


def test_the_path_of_the_data_is_short():
    files = [file for file, _ in PATH]
    folders = [file.split("/")[0] for file in files]
    assert len(set(files)) <= MOST_FILES
    assert sum(a != b for a, b in pairwise(folders)) <= MOST_SWITCHES


@pytest.mark.parametrize(("file", "function"), PATH)
def test_every_function_of_the_path_is_in_its_file(file, function):
    tree = ast.parse((SRC / file).read_text(encoding="utf-8"))
    assert function in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.mark.slow
def test_a_run_takes_the_path_in_its_order(tmp_path):
    wanted = {(str(SRC / file), function): row for row, (file, function) in enumerate(PATH)}
    order: list[int] = []

    def called(frame, event, _):
        row = wanted.get((frame.f_code.co_filename, frame.f_code.co_name)) if event == "call" else None
        if row is not None and row not in order:
            order.append(row)

    sys.setprofile(called)
    try:
        code = generate.run(
            "fr3_pick_cube", n=1, output=tmp_path / "run", executor="inline", writing=UNDRAWN, json=True
        )
    finally:
        sys.setprofile(None)
    assert code == 0
    assert [PATH[row] for row in order] == PATH


@pytest.mark.parametrize("places", rows("Where to find"), ids=lambda places: places[-1])
def test_what_the_table_names_is_there(places):
    assert not [place for place in places if not (SRC / place).exists()]
    assert all(place.startswith(places[0]) for place in places)

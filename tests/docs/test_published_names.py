"""The page of published names is what the tables say, and every name on it can be imported, or says why not."""

import importlib
import importlib.util
import re
from pathlib import Path

import pytest

from handloom.compat.isaacteleop import NotHereError

ROOT = Path(__file__).parents[2]
spec = importlib.util.spec_from_file_location("write_published_names", ROOT / "tools" / "write_published_names.py")
tool = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tool)


def test_the_page_is_up_to_date() -> None:
    assert tool.PAGE.read_text(encoding="utf-8") == tool.page(), "run: python tools/write_published_names.py"


def rows() -> list[tuple[str, str, str]]:
    """Return module, name and status of every row of the page."""
    found, module = [], ""
    for line in tool.PAGE.read_text(encoding="utf-8").splitlines():
        if heading := re.match(r"### (?:handloom\.compat\.)?([\w.]+)$", line):
            module = {"so101_page": "isaacteleop.so101_page"}.get(heading[1], heading[1])
        elif line.startswith("## "):
            module = ""
        elif module and (row := re.match(r"\| `(\w+)` \| (.*) \|$", line)):
            found.append((f"handloom.compat.{module}", row[1], row[2]))
    return found


def test_every_row_has_a_status_and_what_is_not_here_says_why() -> None:
    """Names that are here come from the tables whose every row the tests of ``compat`` import."""
    assert not [row for row in rows() if not re.match(r"same$|here: .+|different: .+|not here: .+", row[2])]
    for module, name in [(module, name) for module, name, status in rows() if status.startswith("not here")]:
        with pytest.raises(NotHereError):
            getattr(importlib.import_module(module), name)


def test_the_page_lists_what_was_published() -> None:
    listed = {name for _, name, _ in rows()}
    assert len(rows()) > 190
    assert {"SO101ClutchRetargeter", "TriHandMotionControllerRetargeter", "HapticSink", "SingleArticulation"} <= listed

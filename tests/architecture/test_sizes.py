"""Files and folders stay small enough to be looked over: the rule of docs/architecture.md, counted."""

from collections import Counter
from pathlib import Path

SRC = Path(__file__).parents[2] / "src" / "handloom"
MOST_LINES = 400
MOST_FILES = 15
"""In a folder, its ``__init__.py`` not counted."""


def test_no_file_is_longer_than_400_lines():
    lengths = {file: len(file.read_text(encoding="utf-8").splitlines()) for file in SRC.rglob("*.py")}
    assert not {str(file.relative_to(SRC)): count for file, count in lengths.items() if count > MOST_LINES}


def test_no_folder_has_more_than_15_files():
    counts = Counter(file.parent for file in SRC.rglob("*.py") if file.name != "__init__.py")
    assert not {str(folder.relative_to(SRC)): count for folder, count in counts.items() if count > MOST_FILES}

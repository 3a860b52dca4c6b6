"""Text files are UTF-8 whatever the locale says."""

import ast
from pathlib import Path

from source_trees import tree_of

SRC = Path(__file__).parents[2] / "src" / "handloom"
TEXT = {"read_text": 0, "write_text": 1}
"""Methods of Path that read or write text, and how many arguments come before the encoding."""


def without_encoding(file: Path) -> list[int]:
    """Return the lines that read or write text in the encoding of the locale."""
    lines = []
    for node in ast.walk(tree_of(file)):
        if not isinstance(node, ast.Call) or any(keyword.arg == "encoding" for keyword in node.keywords):
            continue
        name = getattr(node.func, "attr", None)
        text_method = name in TEXT and len(node.args) <= TEXT[name]
        plain_open = isinstance(node.func, ast.Name) and node.func.id == "open"
        modes = [a.value for a in node.args[1:2] if isinstance(a, ast.Constant)]
        if text_method or (plain_open and not any("b" in str(mode) for mode in modes)):
            lines.append(node.lineno)
    return lines


def test_every_text_file_is_read_and_written_as_utf_8() -> None:
    found = {str(file.relative_to(SRC)): without_encoding(file) for file in sorted(SRC.rglob("*.py"))}
    assert not {file: lines for file, lines in found.items() if lines}

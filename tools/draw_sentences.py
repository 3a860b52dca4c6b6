"""Draw random sentences of docstrings, messages and documentation, to check their wording.

Usage: ``python tools/draw_sentences.py [COUNT] [SEED]``. Figure of merit: how many of 200 a native robotics engineer
would not have written.
"""

import ast
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
LEAST_WORDS = 4
RAISED = ("Error", "Warning", "warn", "print")
"""Calls with these words in their name take messages for people."""


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text, without code blocks and tables."""
    text = re.sub(r"```.*?```", " ", text, flags=re.DOTALL)
    paragraphs = re.split(r"\n\s*\n|\n\s*(?:[-*]|\d+\.) ", text)
    for paragraph in paragraphs:
        if paragraph.lstrip().startswith(("|", "#", ">>>", "!")):
            continue
        for sentence in re.split(r"(?<=[.;:!?])\s+(?=[A-Z`])", " ".join(paragraph.split())):
            if len(sentence.split()) >= LEAST_WORDS:
                yield sentence


def code_texts(file: Path) -> Iterator[tuple[int, str]]:
    """Yield the line number and text of every docstring and message of a source file."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, node.value.value
        elif isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if any(word in name for word in RAISED):
                yield from ((node.lineno, _plain(argument)) for argument in node.args if _plain(argument))


def _plain(node: ast.expr) -> str:
    """Return the text of a string or an f-string, with ``{}`` for each expression."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return ""


def everything() -> list[str]:
    """Return every sentence as ``file:line: sentence``."""
    found = []
    for file in sorted((ROOT / "src" / "handloom").rglob("*.py")):
        for line, text in code_texts(file):
            found += [f"{file.relative_to(ROOT)}:{line}: {sentence}" for sentence in sentences(text)]
    for file in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        found += [f"{file.relative_to(ROOT)}: {s}" for s in sentences(file.read_text(encoding="utf-8"))]
    return found


def main(count: int = 200, seed: int = 0) -> None:
    """Print ``count`` of them."""
    population = everything()
    drawn = random.Random(seed).sample(population, min(count, len(population)))
    print(f"{len(drawn)} of {len(population)} sentences")  # noqa: T201
    print("\n".join(sorted(drawn)))  # noqa: T201


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))

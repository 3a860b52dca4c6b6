"""Messages about a task file, each at the line of the text that it is about."""

import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

PLACE = re.compile(r"^(?P<file>.+?\.ya?ml):(?P<line>\d+): (?P<what>.*)$", re.DOTALL)
BASE = re.compile(r"^\s*base\s*:", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Remark:
    """Something said about a task file."""

    text: str
    line: int = 0
    """Line of the edited text, from 1; 0 when it is about no line."""
    file: str = ""
    """Another file that it is about; empty for the edited one."""

    def plain(self) -> dict[str, Any]:
        """Return it as JSON."""
        return asdict(self)


def remarks(message: str, path: Path, text: str) -> list[Remark]:
    """Return the lines of an error message, each with the line of the edited text that it belongs to.

    A mistake in a file that the text names as its base is shown at the line that names it.

    Args:
        message: One mistake per line, ``file:line: key: what``; lines without a place continue the one before.
        path: The edited file.
        text: Its present text.
    """
    found: list[Remark] = []
    for line in message.splitlines():
        place = PLACE.match(line)
        if place is None:
            if found and line.startswith((" ", "\t")):
                found[-1] = Remark(text=f"{found[-1].text}\n{line}", line=found[-1].line, file=found[-1].file)
            else:
                found.append(Remark(text=_without_path(line, path)))
            continue
        own = place["file"] == str(path)
        number = int(place["line"]) if own else _base_line(text)
        file = "" if own else Path(place["file"]).name
        said = place["what"] if own else f"in {file}, line {place['line']}: {place['what']}"
        found.append(Remark(text=said, line=number, file=file))
    return found


def _without_path(line: str, path: Path) -> str:
    return line.removeprefix(f"{path}: ")


def _base_line(text: str) -> int:
    found = BASE.search(text)
    return text.count("\n", 0, found.end()) + 1 if found else 0

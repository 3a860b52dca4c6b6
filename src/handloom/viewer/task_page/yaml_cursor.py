"""The context of a cursor in possibly incomplete YAML: the enclosing keys, and whether it is at a key or a value."""

import re
from dataclasses import dataclass, field

WORD = re.compile(r"[\w./:-]*$")
ENTRY = re.compile(r"^(?P<dashes>(?:- +)*)(?:(?P<key>[\w.-]+|\"[^\"]*\"|'[^']*') *:(?= |$))?")


@dataclass
class Level:
    """One mapping or list around the cursor."""

    indent: int
    """Column at which its entries begin; -1 inside brackets."""
    key: str = ""
    """Last key read of a mapping; empty in a list and before the first key."""
    seen: dict[str, str] = field(default_factory=dict)
    """Keys of the mapping so far, with their values if those are plain words."""
    is_list: bool = False


@dataclass(frozen=True, kw_only=True)
class Cursor:
    """The context of a cursor."""

    path: tuple[str, ...]
    """Keys from the top to the mapping or list that the cursor is in; ``*`` stands for an item of a list."""
    seen: dict[str, str]
    """Keys of the mapping that the cursor is in, with their values so far."""
    key: str
    """Key whose value is being written; empty if a key is being written."""
    word: str
    """The part of the current word before the cursor."""


def cursor_at(text: str, place: int) -> Cursor:
    """Return the context of a position, in characters from the start of a text."""
    before = text[:place]
    word = (WORD.search(before) or [""])[0]
    levels, brackets = [Level(indent=0)], list[Level]()
    *above, last = before.split("\n")
    for line in above:
        if line.strip() and (brackets or not line.lstrip().startswith("#")):
            _read_line(line, levels, brackets)
    _read_line(last, levels, brackets)
    return _described([*levels, *brackets], word)


def _read_line(line: str, levels: list[Level], brackets: list[Level]) -> None:
    """Process a line, updating the open ``levels`` and ``brackets``."""
    if brackets:
        _read_brackets(line, brackets)
        return
    content = line.lstrip(" ")
    column = len(line) - len(content)
    if content == "-":
        content = "- "
    found = ENTRY.match(content)
    dashes = found["dashes"] if found else ""
    _close(levels, column)
    for _ in range(dashes.count("-")):
        levels.append(Level(indent=column, is_list=True))
        column += 2
    if dashes or column > levels[-1].indent:
        levels.append(Level(indent=column))
    level = levels[-1]
    if found is None or found["key"] is None:
        level.key = ""
        _read_brackets(content[len(dashes) :], brackets)
        return
    level.key = found["key"].strip("\"'")
    value = content[found.end() :]
    level.seen[level.key] = value.split(" #")[0].strip()
    _read_brackets(value, brackets)


def _close(levels: list[Level], column: int) -> None:
    """Close the levels that do not contain an entry at a column; list items may start in the column of their key."""
    while len(levels) > 1:
        top = levels[-1]
        ends = top.indent > column or (top.is_list and top.indent == column)
        if not ends:
            return
        levels.pop()


def _read_brackets(text: str, brackets: list[Level]) -> None:
    """Process a value, or its continuation on further lines, character by character."""
    quote, word = "", ""
    for k, sign in enumerate(text):
        if quote:
            quote = "" if sign == quote else quote
            continue
        here = brackets[-1] if brackets else None
        if sign in "\"'" and not word.strip():
            quote = sign
        elif sign == "#" and (k == 0 or text[k - 1] == " "):
            break
        elif sign in "{[" and (brackets or not word.strip()):
            brackets.append(Level(indent=-1, is_list=sign == "["))
            word = ""
        elif here is not None and sign in "}]":
            brackets.pop()
            word = ""
            if not brackets:
                return
        elif here is not None and sign == ":" and not here.is_list and text[k + 1 : k + 2] in (" ", ""):
            here.key = word.strip().strip("\"'")
            here.seen[here.key] = ""
            word = ""
        elif here is not None and sign == ",":
            if here.key:
                here.seen[here.key] = here.seen[here.key] or word.strip()
            here.key, word = "", ""
        else:
            word += sign
    if brackets and brackets[-1].key and word.strip():
        brackets[-1].seen[brackets[-1].key] = word.strip()


def _described(levels: list[Level], word: str) -> Cursor:
    path = ["*" if level.is_list else level.key for level in levels[:-1]]
    last = levels[-1]
    if last.is_list:
        path.append("*")
    key = "" if last.is_list else last.key
    return Cursor(path=tuple(part for part in path if part), seen=dict(last.seen), key=key, word=word)

"""Flags: a person's notes about episodes, kept in one file beside the dataset, never in it.

They are keyed by the hash of the states, so they stay with the episode when its dataset is merged again or grows.
"""

import datetime
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from typing_extensions import TypedDict

from handloom.dataset.files.durable import write_json
from handloom.dataset.files.reading import read_json
from handloom.dataset.files.shapes import Text
from handloom.errors import InputError

LONGEST_NOTE = 2000
"""Maximum length of a note."""
MOST_FLAGS = 100_000


class FlagEntry(TypedDict):
    """A flag in the file."""

    note: Text
    at: Text


class FlagFile(TypedDict):
    """``NAME.flags.json`` beside the dataset ``NAME``."""

    flags_version: int
    flags: dict[str, FlagEntry]


def flags_file(root: Path) -> Path:
    """Return the file with the flags of a dataset."""
    root = root.resolve()
    return root.with_name(f"{root.name}.flags.json")


def flag_key(index: int, row: Mapping[str, Any]) -> str:
    """Return the key of an episode: the hash of its states, or its index and length in datasets without hashes.

    Args:
        index: Number of the episode in its dataset.
        row: Its row in the table of episodes.
    """
    return str(row.get("state_hash") or f"episode {index}, {row.get('length')} frames")


def read_flags(root: Path) -> dict[str, FlagEntry]:
    """Return the flags of a dataset by ``flag_key``; none if there is no file."""
    file = flags_file(root)
    return read_json(file, FlagFile)["flags"] if file.is_file() else {}


def write_flag(root: Path, key: str, note: str | None) -> FlagEntry | None:
    """Set the flag of an episode, or remove it with None; return the resulting flags.

    Raises:
        InputError: The note is too long, or there are too many flags.
        FileError: The file cannot be written.
    """
    flags = read_flags(root)
    if note is None:
        flags.pop(key, None)
    else:
        if len(note) > LONGEST_NOTE:
            raise InputError(f"a note may have at most {LONGEST_NOTE} characters, got {len(note)}")
        if len(flags) >= MOST_FLAGS and key not in flags:
            raise InputError(f"at most {MOST_FLAGS} episodes can be flagged")
        at = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        flags[key] = {"note": note.encode("utf-8", "replace").decode(), "at": at}
    write_json(flags_file(root), {"flags_version": 1, "flags": flags})
    return flags.get(key)

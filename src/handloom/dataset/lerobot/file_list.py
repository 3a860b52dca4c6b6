"""The list of a dataset's files with their hashes, which reveals any changed, lost or foreign file."""

import os
import re
import stat
from bisect import insort
from collections.abc import Mapping
from json.encoder import encode_basestring
from pathlib import Path
from typing import Any

from handloom.dataset.files.durable import PARTIAL, atomic_write, sha256_of
from handloom.dataset.files.reading import checked_size, parse_json, read_bytes, read_json
from handloom.dataset.files.shapes import FileList
from handloom.errors import FileError

FILE_LIST = "meta/files.json"
OWN_FOLDERS = ("data", "extras", "meta", "videos")
"""Folders that belong to the dataset; users may keep other files beside them."""

LINE = 1024
"""Space per file in the list [bytes]; more than the longest name needs."""
LIST_LIMIT = 2**30
"""Largest list that is read if the number of files is unknown [bytes]: some five million files."""


_OUTSIDE = re.compile(r"(^|/)\.{0,2}(/|$)|[\\\x00]")
"""Matches path components that are empty or lead elsewhere."""


def list_files(root: Path, known: Mapping[str, dict[str, Any]] | None = None) -> dict[str, dict[str, Any]]:
    """Return size and SHA-256 of every file below a folder, by its relative path; the list itself is not included.

    Args:
        root: The folder.
        known: Files that were compared with their hashes when they were copied, so need not be read again.
    """
    known = known or {}
    files = (file for file in sorted(root.rglob("*")) if file.is_file() and not file.name.endswith(PARTIAL))
    names = ((file, file.relative_to(root).as_posix()) for file in files)
    return {
        name: known[name] if name in known else {"bytes": file.stat().st_size, "sha256": sha256_of(file)}
        for file, name in names
        if name != FILE_LIST
    }


def refuse_strange_files(root: Path) -> None:
    """Refuse a folder with links to folders or out of it, pipes, devices or sparse files.

    Raises:
        FileError: It has one; the message names it.
    """
    home = root.resolve()
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            path = Path(folder, name)
            mode = path.lstat().st_mode
            if stat.S_ISLNK(mode) and (path.is_dir() or not _inside(path, home)):
                raise FileError(
                    f"{path} is a link to a folder or out of {root}, through which a dataset could reach other files; "
                    "replace it by a copy"
                )
            if not stat.S_ISDIR(mode):
                checked_size(path)


def _inside(link: Path, home: Path) -> bool:
    try:
        return link.resolve(strict=True).is_relative_to(home)
    except (OSError, RuntimeError):  # A broken or circular link.
        return False


def check_files(root: Path, *, hashes: bool = True) -> None:
    """Refuse a dataset whose files have changed.

    Args:
        root: Folder of the dataset.
        hashes: Compare every file with the list; otherwise only links and similar entries are refused.

    Raises:
        FileError: Files have changed; the message names the first ones.
    """
    refuse_strange_files(root)
    changed = changed_files(root) if hashes else {}
    if changed:
        told = "; ".join(f"{name} {problem}" for name, problem in list(changed.items())[:3])
        more = f"; and {len(changed) - 3} more" if len(changed) > 3 else ""
        raise FileError(
            f"{root} has changed since it was written: {told}{more}; restore it, or use it with --skip-hashes"
        )


def read_list(root: Path) -> dict[str, dict[str, Any]]:
    """Read the list of a dataset's files.

    Raises:
        FileError: It is damaged, or names files outside the dataset.
    """
    listing = read_json(root / FILE_LIST, FileList, limit=LIST_LIMIT)
    for name in listing:
        if _OUTSIDE.search(name):
            raise FileError(f"{root / FILE_LIST} names {name!r}, which is not a file of the dataset; restore the list")
    return listing


def list_bytes(listing: dict[str, dict[str, Any]]) -> bytes:
    """Return a list as ``json_bytes`` writes it with an indent of 4, but twenty times as fast."""
    entries = (
        f'    {encode_basestring(name)}: {{\n        "bytes": {entry["bytes"]},\n'
        f'        "sha256": "{entry["sha256"]}"\n    }}'
        for name, entry in listing.items()
    )
    return ("{\n" + ",\n".join(entries) + "\n}\n").encode() if listing else b"{}\n"


def write_list(root: Path, listing: dict[str, dict[str, Any]]) -> None:
    """Write the list of a dataset's files atomically."""
    with atomic_write(root / FILE_LIST) as partial:
        partial.write_bytes(list_bytes(listing))


def longer_list(listing: dict[str, dict[str, Any]], added: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return a list with added or replaced files, in the order of ``list_files``."""
    names = list(listing)
    for name in added:
        if name not in listing:
            insort(names, name, key=lambda name: name.split("/"))
    both = {**listing, **added}
    return {name: both[name] for name in names}


def changed_files(root: Path) -> dict[str, str]:
    """Return a description of each file that differs from the list; empty if there is no list."""
    if not (root / FILE_LIST).is_file():
        return {}
    present = {
        file.relative_to(root).as_posix()
        for folder in OWN_FOLDERS
        for file in (root / folder).rglob("*")
        if file.is_file() and not file.name.endswith(PARTIAL)
    }
    raw = read_bytes(root / FILE_LIST, limit=LINE * (len(present) + 16))
    listing = parse_json(raw, FileList, source=str(root / FILE_LIST))
    changed = {} if raw == list_bytes(listing) else {FILE_LIST: "has changed since it was written"}
    changed |= dict.fromkeys(sorted(present - {*listing, FILE_LIST}), "was added after the files were listed")
    for name, written in listing.items():
        if name not in present:
            changed[name] = "is missing"
        elif checked_size(root / name) != written["bytes"] or sha256_of(root / name) != written["sha256"]:
            changed[name] = "was changed after it was written"
    return changed

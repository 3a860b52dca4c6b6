"""The list of a dataset's files with their hashes: what finds a changed byte anywhere."""

from pathlib import Path
from typing import Any

from handloom.dataset.durable import PARTIAL, damage_named, read_json, sha256_of

FILE_LIST = "meta/files.json"


def list_files(root: Path) -> dict[str, dict[str, Any]]:
    """Return size and SHA-256 of every file below a folder, by its path there; the list itself is not listed."""
    files = (file for file in sorted(root.rglob("*")) if file.is_file() and not file.name.endswith(PARTIAL))
    names = ((file, file.relative_to(root).as_posix()) for file in files)
    return {
        name: {"bytes": file.stat().st_size, "sha256": sha256_of(file)} for file, name in names if name != FILE_LIST
    }


def changed_files(root: Path) -> dict[str, str]:
    """Return what is wrong with each listed file that is not as it was written; empty where there is no list."""
    listing = root / FILE_LIST
    if not listing.is_file():
        return {}
    changed = {}
    with damage_named(listing):
        for name, written in read_json(listing).items():
            file = root / name
            if not file.is_file():
                changed[name] = "is missing"
            elif file.stat().st_size != written["bytes"] or sha256_of(file) != written["sha256"]:
                changed[name] = "was changed after it was written"
    return changed

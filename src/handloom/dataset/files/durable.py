"""Files that are either complete or absent, no matter when a process is killed.

A file is written under a temporary name, synced, and renamed; renaming within a folder is atomic. Operating system
errors (disk full, no permission, a missing folder) are raised as a ``FileError`` that names the file.
"""

import errno
import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from handloom.errors import FileError

PARTIAL = ".partial"
"""Suffix of unfinished files and folders."""

REMOVED = f"{PARTIAL}-removed"
"""Suffix of a folder that is being removed."""

_ADVICE = {
    errno.ENOSPC: "the disk is full; free some space and run the same command again; it resumes",
    errno.EDQUOT: "the disk quota is used up; free some space and run the same command again; it resumes",
    errno.EFBIG: "the file would exceed the allowed file size; raise the limit (ulimit -f) and run again",
    errno.EACCES: "no permission; choose another output folder or change its permissions",
    errno.EPERM: "not permitted; choose another output folder or change its permissions",
    errno.EROFS: "the file system is read-only; choose another output folder",
    errno.ENOENT: "it does not exist; check the path",
    errno.ENOTDIR: "a part of the path is a file, not a folder; check the path",
    errno.EISDIR: "it is a folder where a file is needed; check the path",
}


@contextmanager
def file_errors(action: str, path: Path) -> Iterator[None]:
    """Convert operating system errors into a ``FileError`` with the file and advice.

    Args:
        action: The action, e.g. ``"write"``.
        path: The file or folder concerned.
    """
    try:
        yield
    except FileError:
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        advice = _ADVICE.get(error.errno or 0, "check the file and the disk, then run the same command again")
        raise FileError(error.errno or 0, f"cannot {action} {path}: {reason}; {advice}") from error


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield a temporary path to write to; if the block succeeds it is synced and renamed to ``path``.

    If the block raises, the temporary file is removed; if the machine dies, the next attempt overwrites it.
    """
    partial = path.with_name(path.name + PARTIAL)
    with file_errors("write", path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            yield partial
            sync_file(partial)
            os.replace(partial, path)
            sync_folder(path.parent)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise


@contextmanager
def atomic_folder(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder to fill; if the block succeeds it is synced and renamed to the new ``folder``."""
    with file_errors("write", folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=f"{folder.name}{PARTIAL}-", dir=folder.parent))
        try:
            yield work
            name_folder(work, folder)
        finally:
            shutil.rmtree(work, ignore_errors=True)


def name_folder(work: Path, folder: Path) -> None:
    """Sync the files of a folder and rename it.

    Raises:
        OSError: The name already exists.
    """
    for part in sorted(work.rglob("*"), reverse=True):
        if part.is_dir():
            sync_folder(part)
        else:
            sync_file(part)
    sync_folder(work)
    os.chmod(work, 0o755)
    os.rename(work, folder)
    sync_folder(folder.parent)


def remove_folder(folder: Path) -> None:
    """Remove a folder, if it exists; it is renamed first, so that leftovers of a kill never look complete.

    Called again, it removes the leftovers of an interrupted call.
    """
    doomed = folder.with_name(folder.name + REMOVED)
    if os.path.lexists(doomed):
        shutil.rmtree(doomed, ignore_errors=True)
    try:
        os.replace(folder, doomed)
    except FileNotFoundError:
        return
    shutil.rmtree(doomed, ignore_errors=True)


def name_of_call(out: Path, how: bytes) -> Path:
    """Return the folder in which a call prepares ``out``, named after its settings, so that the same call resumes it.

    Args:
        out: The output.
        how: All inputs on which the result depends.
    """
    return out.with_name(f"{out.name}.{hashlib.sha256(how).hexdigest()[:8]}{PARTIAL}")


def interrupted_calls(out: Path) -> list[Path]:
    """Return leftover folders of killed calls that made ``out`` with other settings."""
    pattern = re.compile(re.escape(out.name) + r"\.[0-9a-f]{8}" + re.escape(PARTIAL) + f"({re.escape(REMOVED)})?")
    found = [entry for entry in out.parent.iterdir() if pattern.fullmatch(entry.name) and not entry.is_symlink()]
    folders = {entry.with_name(entry.name.removesuffix(REMOVED)) for entry in found if entry.is_dir()}
    return sorted(
        folder
        for folder in folders
        if not folder.is_dir() or all(entry.name.startswith("episode_") for entry in folder.iterdir())
    )


def sync_file(path: Path) -> None:
    """Wait until the contents of a file are on disk."""
    with open(path, "rb+") as file:
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on disk (if the system can open folders)."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_json(path: Path, value: Any, *, indent: int | None = None) -> None:
    """Write JSON atomically: keys in the given order, UTF-8, no NaN, a newline at the end."""
    with atomic_write(path) as partial:
        partial.write_bytes(json_bytes(value, indent=indent))


def json_bytes(value: Any, *, indent: int | None = None) -> bytes:
    """Return JSON as bytes; the same value gives the same bytes everywhere."""
    separators = (",", ":") if indent is None else None
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent, separators=separators)
    return (text + "\n").encode()


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file as hexadecimal text."""
    with file_errors("read", path), open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def link_or_copy(source: Path, target: Path) -> None:
    """Make ``target`` the same file as ``source``: a hard link where possible, otherwise a copy.

    Links cost nothing and leave the source in place, so that an interrupted merge never loses an archive.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, target)
    except FileExistsError:
        if sha256_of(source) != sha256_of(target):
            raise FileError(f"{target} exists and differs from {source}; remove it and run again") from None
    except OSError as error:
        # Links across file systems, or on systems without hard links, fail; all other errors are reported.
        if error.errno not in (errno.EXDEV, errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK):
            raise
        with atomic_write(target) as partial:
            shutil.copyfile(source, partial)

"""Cache folder for results that can be computed again: compiled kernels, sphere models, grasp annotations."""

import logging
import os
import shutil
import stat
import sys
import tempfile
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from handloom.errors import FileError

VARIABLE = "HANDLOOM_CACHE"


def user_cache() -> Path:
    """Return Handloom's cache folder; the variable ``HANDLOOM_CACHE`` overrides the default.

    If it is not writable (a container without a home, a read-only image), a temporary folder with a copy of its content
    is used, and one line on standard error reports that.

    Raises:
        FileError: There is no temporary folder either.
    """
    return _usable(os.environ.get(VARIABLE), os.environ.get("XDG_CACHE_HOME"), os.environ.get("HOME"))


@lru_cache(maxsize=8)
def _usable(given: str | None, xdg: str | None, _home: str | None) -> Path:
    try:
        wanted = Path(given) if given else _default(xdg)
    except RuntimeError:
        wanted, why = None, "there is no home folder"
    else:
        why = _obstacle(wanted)
        if why is None:
            return wanted
    folder = _temporary(wanted)
    # Child processes use the same folder and need not print the line again.
    os.environ[VARIABLE] = str(folder)
    logging.getLogger("handloom").warning(
        "handloom: %s; the cache is in %s until you name a folder in %s", why, folder, VARIABLE
    )
    return folder


def _default(xdg: str | None) -> Path:
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "handloom"
    return Path(xdg or Path.home() / ".cache") / "handloom"


def _obstacle(folder: Path) -> str | None:
    """Create a folder if needed; return why it cannot be written, or None."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        return f"{folder} cannot be created: {error.strerror}"
    return None if os.access(folder, os.W_OK | os.X_OK) else f"{folder} cannot be written"


def _temporary(wanted: Path | None) -> Path:
    """Return this user's temporary folder, the same one every time unless another user has taken its name."""
    try:
        fresh = Path(tempfile.mkdtemp(prefix="handloom-"))
    except OSError as error:
        raise FileError(f"no folder for the cache can be written; name one in {VARIABLE}: {error}") from error
    shared = fresh.parent / f"handloom-{os.getuid()}"
    if not _ours(shared):
        with suppress(OSError):
            if wanted is not None and wanted.is_dir():
                shutil.copytree(wanted, fresh, dirs_exist_ok=True)
        for path in (fresh, *fresh.rglob("*")):
            path.chmod(0o700)  # copytree also copied the modes of the original.
        with suppress(OSError):
            fresh.rename(shared)
    if _ours(shared):
        shutil.rmtree(fresh, ignore_errors=True)
        return shared
    return fresh


def _ours(folder: Path) -> bool:
    """Return whether only this user can write to the folder; code in it will be executed."""
    try:
        facts = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.getuid() and not facts.st_mode & 0o077

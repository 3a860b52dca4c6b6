"""Paths in files: they may point into the folders around the file, and elsewhere only if the user allows it."""

import os
import tempfile
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

from handloom.errors import ConfigError, NotAllowedError

PACKAGE = Path(__file__).resolve().parents[1]
"""Handloom's own folder; any file may name the files in it."""


def find_file(
    name: str,
    *,
    near: Path,
    asset_root: Path | None = None,
    what: str = "file",
    allow_outside: bool = False,
    folders: Sequence[Path] | None = None,
) -> Path:
    """Return the file or folder a config names.

    A relative path is searched in the folder of the YAML file and those around it, nearest first, then in the working
    folder, then in ``asset_root``, itself taken relative to each of these.

    Args:
        name: Path as written in the config.
        near: Folder of the YAML file.
        asset_root: Folder that is searched last.
        what: Start of the error message, e.g. ``task.yaml:3: robots.0.robot_config_file``.
        allow_outside: Also return files outside these folders.
        folders: These folders, if already known.

    Raises:
        ConfigError: It does not exist; the message lists the folders searched.
        NotAllowedError: It is outside these folders.
    """
    folders = search_folders(near, asset_root, allow_outside=allow_outside) if folders is None else folders
    try:
        given = Path(name).expanduser()
    except RuntimeError as error:
        raise ConfigError(f"{what}: {name}: {error}") from error
    written = str(given)
    for folder in ("",) if given.is_absolute() else folders:
        if _exists(os.path.join(folder, written)):
            place = Path(folder, given)
            if not allow_outside:
                demand_inside(place, folders, what=what)
            return place
    if given.is_absolute():
        raise ConfigError(f"{what}: {name} does not exist")
    raise ConfigError(f"{what}: {name} was not found; {searched(near, asset_root, allow_outside=allow_outside)}")


def search_folders(near: Path, asset_root: Path | None = None, *, allow_outside: bool = False) -> tuple[Path, ...]:
    """Return the folders that relative paths of a file in ``near`` are searched in, in order."""
    around, here = enclosing_folders(near, allow_outside=allow_outside), Path.cwd()
    if here not in around and (allow_outside or here not in shared_folders()):
        around = (*around, here)
    return (*around, *asset_roots(asset_root, around))


def asset_roots(asset_root: Path | None, around: Iterable[Path]) -> tuple[Path, ...]:
    """Return the ``asset_root`` folders that exist below any of these folders; only the first if none exists."""
    if asset_root is None:
        return ()
    root = os.path.expanduser(asset_root)
    places = [root] if os.path.isabs(root) else [os.path.join(folder, root) for folder in around]
    return tuple(Path(place) for place in [place for place in places if _exists(place)] or places[:1])


def searched(near: Path, asset_root: Path | None = None, *, allow_outside: bool = False) -> str:
    """Describe where relative paths of a file in ``near`` are searched: at most three places."""
    around = enclosing_folders(near, allow_outside=allow_outside)
    nearest, *others = around
    places = [f"{nearest} and the folders around it up to {others[-1]}" if others else str(nearest)]
    if Path.cwd() not in around:
        places.append(f"the working folder {Path.cwd()}")
    if asset_root is not None:
        places.append(
            f"asset_root {asset_root} below these" if not asset_root.is_absolute() else f"asset_root {asset_root}"
        )
    return f"searched {', '.join(places)}"


def enclosing_folders(folder: Path, *, most: int | None = None, allow_outside: bool = False) -> tuple[Path, ...]:
    """Return a folder and those around it that belong to the same project, nearest first.

    They end below folders with all sorts of files: the home folder and its parents, the folder of temporary files, the
    root of the file system.

    Args:
        folder: Folder to start from.
        most: Maximum number of folders around it; None: all.
        allow_outside: Do not end there.
    """
    return _enclosing(str(folder.absolute()), most, frozenset() if allow_outside else shared_folders())


@lru_cache(maxsize=256)
def _enclosing(name: str, most: int | None, shared: frozenset[Path]) -> tuple[Path, ...]:
    folder = Path(name).resolve()
    around = list(folder.parents)[:most]
    end = next((i for i, parent in enumerate(around) if parent in shared), len(around))
    return (folder, *around[:end]) if folder not in shared else (folder,)


def demand_inside(file: Path, folders: Iterable[Path | str], *, what: str) -> None:
    """Refuse a file or folder that resolves to a path outside the given folders and Handloom's package.

    Raises:
        NotAllowedError: It is outside; the message says how to allow it.
    """
    if not is_inside(file, folders):
        raise NotAllowedError(
            f"{what}: {file} lies outside the folders of the file that names it; if you trust that file, allow it with "
            "--allow-outside"
        )


def is_inside(file: Path, folders: Iterable[Path | str]) -> bool:
    """Return whether a file, with links resolved, is in one of the given folders or in Handloom's package."""
    try:
        real, folders = file.resolve(), (*folders, PACKAGE)
        around = {str(real), *map(str, real.parents)}
        # A resolved file inside an unresolved folder needs no resolving of the folder.
        return any(str(folder) in around for folder in folders) or any(
            str(Path(folder).expanduser().resolve()) in around for folder in folders
        )
    except (OSError, RuntimeError, ValueError):  # A loop of links, a home that does not exist, a name with a null byte.
        return False


def shared_folders() -> frozenset[Path]:
    """Return the folders that belong to no project."""
    home = os.path.expanduser("~")  # Unchanged if there is no home folder.
    return _shared_folders("" if home == "~" else home, tempfile.gettempdir())


@lru_cache(maxsize=8)
def _shared_folders(*homes: str) -> frozenset[Path]:
    shared = {Path("/")}
    for home in filter(None, homes):
        try:
            place = Path(home).resolve()
        except (OSError, RuntimeError):
            continue
        shared |= {place, *place.parents}
    return frozenset(shared)


def _exists(path: str) -> bool:
    """Return whether the path exists; a symlink loop or an over-long name counts as not there."""
    try:
        return os.path.exists(path)
    except (OSError, ValueError):
        return False

"""Where a path in a file may point: to the file's own surroundings, and nowhere else unless the user allows it."""

import tempfile
from collections.abc import Iterable
from pathlib import Path

from handloom.errors import ConfigError, NotAllowedError

MAX_PARENTS = 8
"""How many enclosing folders are searched; deeper layouts name an ``asset_root``."""
PACKAGE = Path(__file__).resolve().parents[1]
"""Our own folder; what ships in it may be named from anywhere."""


def find_file(
    name: str, *, near: Path, asset_root: Path | None = None, what: str = "file", allow_outside: bool = False
) -> Path:
    """Return the file or folder a config names.

    A relative path is searched in the folder of the YAML file, then in those around it, then in ``asset_root``.

    Args:
        name: Path as written in the config.
        near: Folder of the YAML file.
        asset_root: Last place to look.
        what: Start of the error message, e.g. ``task.yaml:3: robots.0.robot_config_file``.
        allow_outside: Return files outside these folders, too.

    Raises:
        ConfigError: Nothing is there; the text lists the folders that were searched.
        NotAllowedError: It is outside these folders.
    """
    folders = [*enclosing_folders(near, allow_outside=allow_outside), *([asset_root] if asset_root else [])]
    try:
        given = Path(name).expanduser()
        places = [given] if given.is_absolute() else [Path(folder).expanduser() / given for folder in folders]
    except RuntimeError as error:
        raise ConfigError(f"{what}: {name}: {error}") from error
    for place in places:
        if _exists(place):
            if not allow_outside:
                demand_inside(place, folders, what=what)
            return place
    if given.is_absolute():
        raise ConfigError(f"{what}: {name} does not exist")
    searched = ", ".join(str(f) for f in folders)
    raise ConfigError(f"{what}: {name} was not found; searched {searched}")


def enclosing_folders(folder: Path, *, most: int = MAX_PARENTS, allow_outside: bool = False) -> tuple[Path, ...]:
    """Return a folder and those around it that belong to the same project, nearest first.

    They end below folders that hold all sorts of files: the home folder and those around it, the folder of temporary
    files, the root of the file system.

    Args:
        folder: Where to begin.
        most: How many folders around it at most.
        allow_outside: Do not end there.
    """
    folder = folder.resolve()
    around = list(folder.parents)[:most]
    shared = set() if allow_outside else shared_folders()
    end = next((i for i, parent in enumerate(around) if parent in shared), len(around))
    return (folder, *around[:end]) if folder not in shared else (folder,)


def demand_inside(file: Path, folders: Iterable[Path | str], *, what: str) -> None:
    """Refuse a file or folder that lies, links followed, outside some folders and outside our package.

    Raises:
        NotAllowedError: It does; the text says how to allow it.
    """
    if not is_inside(file, folders):
        raise NotAllowedError(
            f"{what}: {file} lies outside the folders of the file that names it; if you trust that file, allow it with "
            "--allow-outside"
        )


def is_inside(file: Path, folders: Iterable[Path | str]) -> bool:
    """Return whether a file lies, links followed, in one of some folders or in our package."""
    try:
        real = file.resolve()
        return any(real.is_relative_to(Path(folder).expanduser().resolve()) for folder in (*folders, PACKAGE))
    except (OSError, RuntimeError, ValueError):  # A loop of links, a home that does not exist, a name with a zero.
        return False


def shared_folders() -> set[Path]:
    """Return the folders that no project owns."""
    shared = {Path("/")}
    for find in (Path.home, lambda: Path(tempfile.gettempdir())):
        try:
            place = find().resolve()
        except (OSError, RuntimeError):
            continue
        shared |= {place, *place.parents}
    return shared


def _exists(path: Path) -> bool:
    """Return whether the path exists; a symlink loop or an over-long name counts as not there."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False

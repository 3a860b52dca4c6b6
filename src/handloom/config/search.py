"""Where a relative path in a YAML file may point."""

from pathlib import Path

from handloom.errors import ConfigError

MAX_PARENTS = 8
"""How many enclosing folders are searched; deeper layouts name an ``asset_root``."""


def find_file(name: str, *, near: Path, asset_root: Path | None = None, what: str = "file") -> Path:
    """Return the file or folder a config names.

    A relative path is searched in the folder of the YAML file, then in its parents, then in ``asset_root``.

    Args:
        name: Path as written in the config.
        near: Folder of the YAML file.
        asset_root: Last place to look.
        what: Start of the error message, e.g. ``task.yaml:3: robots.0.robot_config_file``.

    Raises:
        ConfigError: Nothing is there; the text lists the folders that were searched.
    """
    given = Path(name).expanduser()
    if given.is_absolute():
        if _exists(given):
            return given
        raise ConfigError(f"{what}: {name} does not exist")
    near = near.resolve()
    folders = [near, *list(near.parents)[:MAX_PARENTS]]
    if asset_root is not None:
        folders.append(Path(asset_root).expanduser())
    for folder in folders:
        if _exists(folder / given):
            return folder / given
    searched = ", ".join(str(f) for f in folders)
    raise ConfigError(f"{what}: {name} was not found; searched {searched}")


def _exists(path: Path) -> bool:
    """Return whether the path exists; a symlink loop or an over-long name counts as not there."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False

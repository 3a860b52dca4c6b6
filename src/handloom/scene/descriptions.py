"""Robot descriptions, each read and compiled once."""

from collections.abc import Mapping
from functools import lru_cache
from json import dumps, loads
from pathlib import Path
from typing import Any

from handloom.robots import RobotDescription, load_robot, robot_names


def robot_description(source: str, overrides: Mapping[str, Any]) -> RobotDescription:
    """Return a robot of the zoo or of a file; the same one again as long as its files do not change.

    Args:
        source: Robot of the zoo, or the path of a robot folder or file.
        overrides: Keys of ``robot.yaml`` that are replaced.
    """
    stamp = () if source in robot_names() else _stamp(Path(source))
    return _read(source, dumps(dict(overrides), sort_keys=True), stamp)


@lru_cache(maxsize=64)
def _read(source: str, overrides: str, _stamp: tuple[int, ...]) -> RobotDescription:
    return load_robot(source, overrides=loads(overrides))


def _stamp(path: Path) -> tuple[int, ...]:
    files = sorted(path.glob("*.*ml")) if path.is_dir() else [path, *sorted(path.parent.glob("*.xml"))]
    return tuple(file.stat().st_mtime_ns for file in files if file.is_file())

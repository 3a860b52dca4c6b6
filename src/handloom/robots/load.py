"""Robots by name, folder or file: the zoo, registered ones and templates."""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from handloom.config import Document, Mark, UnusedKey, parse_config, read_document
from handloom.config.search import demand_inside
from handloom.errors import ConfigError, unknown_name
from handloom.robots.robot_config import RobotConfig
from handloom.robots.robot_description import RobotDescription

# Name on the command line and in task files > folder in zoo/.
ZOO: dict[str, str] = {
    "aloha": "aloha",
    "fr3": "fr3",
    "fr3_pair": "fr3_pair",
    "fr3_suction": "fr3_suction",
    "franka_robotiq85": "franka_robotiq85",
    "genie1": "genie1",
    "go2": "go2",
    "h1": "h1",
    "jetbot": "jetbot",
    "kaya": "kaya",
    "leatherback": "leatherback",
    "nova_carter": "nova_carter",
    "lift2": "lift2",
    "so101": "so101",
    "split_aloha": "split_aloha",
    "ur5e_robotiq85": "ur5e_robotiq85",
}

# Published wrapper class (``target_class``) > folder in zoo/ whose model and names replace it.
TARGET_CLASSES: dict[str, str] = {
    "Aloha": "aloha",
    "FR3": "fr3",
    "FR3Pair": "fr3_pair",
    "FR3Suction": "fr3_suction",
    "FrankaRobotiq85": "franka_robotiq85",
    "FrankaRobotiq": "franka_robotiq85",
    "Genie1": "genie1",
    "Lift2": "lift2",
    "SO101": "so101",
    "SplitAloha": "split_aloha",
    "UR5eRobotiq85": "ur5e_robotiq85",
}


def robot_names() -> tuple[str, ...]:
    """Return the names of the robots that ship with Handloom, sorted."""
    return tuple(sorted(ZOO))


ZOO_FOLDER = Path(__file__).parent / "zoo"


def load_robot(name_or_path: str | Path, *, overrides: Mapping[str, Any] | None = None) -> RobotDescription:
    """Read a robot.

    Args:
        name_or_path: A name of :func:`robot_names`, a folder with ``robot.yaml`` and its model, or a YAML file. A
            published YAML file, which has no model beside it, is completed from the zoo folder of its ``target_class``.
        overrides: Keys that replace those of the file, for example from a task file.

    Raises:
        NotFoundError: Neither a known name nor an existing path.
        ConfigError: A key is unknown, missing or wrong, or disagrees with the model.
    """
    file, name = _find(name_or_path)
    document = read_document(file)
    if not isinstance(document.values, dict):
        raise ConfigError(f"{file}: a robot file must be a mapping of keys, not a {type(document.values).__name__}")
    folder = file.parent
    if "model" not in document.values and not (folder / "model.xml").is_file():
        folder = _folder_of_class(document)
        _complete(document, read_document(folder / "robot.yaml"))
    for key, value in (overrides or {}).items():
        document.values[key] = value
        document.marks[(key,)] = Mark(f"override of {file}")
    config = parse_config(document, RobotConfig)
    return RobotDescription(name=name, config=config, folder=folder, config_file=file)


def _find(name_or_path: str | Path) -> tuple[Path, str]:
    if isinstance(name_or_path, str) and name_or_path in ZOO:
        return ZOO_FOLDER / ZOO[name_or_path] / "robot.yaml", name_or_path
    path = Path(name_or_path)
    if path.is_dir():
        return path / "robot.yaml", path.resolve().name
    if path.is_file():
        return path, path.resolve().parent.name if path.stem == "robot" else path.stem
    raise unknown_name("robot, robot folder or robot file", str(name_or_path), robot_names())


def _folder_of_class(document: Document) -> Path:
    target = document.values.get("target_class")
    if not isinstance(target, str):
        raise ConfigError(f"{document.path}: no model.xml beside it and no target_class that names a known robot")
    if target not in TARGET_CLASSES:
        raise unknown_name(f"target_class (in {document.mark(('target_class',))})", target, TARGET_CLASSES)
    return ZOO_FOLDER / TARGET_CLASSES[target]


def published_robot(file: Path, folders: Sequence[Path] = ()) -> tuple[str, dict[str, Any]] | None:
    """Return the zoo robot that corresponds to a published file, and the keys in which the file differs from it.

    Args:
        file: A robot file.
        folders: Folders that may contain the robot's USD file, with the curve of ``extra_depth_file`` beside it.

    Returns:
        None if the file has its own model.
    """
    found = _published(file, file.stat().st_mtime_ns)
    if found is None:
        return None
    name, keys, config = found
    return name, {**keys, **(_extra_depth(config, folders) if config.extra_depth_file else {})}


@lru_cache(maxsize=64)
def _published(file: Path, _changed: int) -> tuple[str, dict[str, Any], RobotConfig] | None:
    document = read_document(file)
    if not isinstance(document.values, dict) or "model" in document.values or (file.parent / "model.xml").is_file():
        return None
    folder = _folder_of_class(document)
    given = set(document.values)
    _complete(document, read_document(folder / "robot.yaml"))
    ours, theirs = _parsed(folder / "robot.yaml"), parse_config(document, RobotConfig)
    dumped = theirs.model_dump(mode="json")
    fields = RobotConfig.model_fields.items()
    unused = {name for name, info in fields if any(isinstance(mark, UnusedKey) for mark in info.metadata)}
    keys = sorted(key for key in given - unused - {"extra_depth_file"} if getattr(ours, key) != getattr(theirs, key))
    name = next(name for name, zoo in ZOO.items() if zoo == folder.name)
    return name, {key: dumped[key] for key in keys}, theirs


@lru_cache(maxsize=32)
def _parsed(file: Path) -> RobotConfig:
    return parse_config(read_document(file), RobotConfig)


def _extra_depth(config: RobotConfig, folders: Sequence[Path]) -> dict[str, Any]:
    """Return the curve beside a robot's USD file, and the widths at its ends, as keys; empty if there is no curve."""
    near = (folder / Path(config.path).parent / config.extra_depth_file for folder in folders)
    file = next((place for place in near if place.is_file()), None) if config.extra_depth_file else None
    if file is None:
        return {}
    demand_inside(file, folders, what=f"extra_depth_file {config.extra_depth_file!r}")
    try:
        first, *rest = [
            (float(row["width"]), float(row["offset"])) for row in json.loads(file.read_text(encoding="utf-8")).values()
        ]
        widths, offsets = zip(*sorted(rest), strict=True)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(f"{file}: expected names with a width and an offset [m] each: {error}") from error
    # The first entry is not used, but it is an entry: it must be the narrowest.
    curve = {"width": [min(first[0], widths[0] - 1e-6), *widths], "offset": [first[1], *offsets]}
    return {"extra_depth": curve, "gripper_min_width": max(0.0, widths[0]), "gripper_max_width": widths[-1]}


def _complete(document: Document, zoo: Document) -> None:
    """Add the keys that a published file lacks: joint names, gripper targets, the model."""
    document.values = {**zoo.values, **document.values}
    document.marks = {**zoo.marks, **document.marks}

"""Read a robot by name, folder or file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from handloom.config import Document, Mark, parse_config, read_document
from handloom.errors import ConfigError, unknown_name
from handloom.robots.catalog import TARGET_CLASSES, ZOO, robot_names
from handloom.robots.robot_config import RobotConfig
from handloom.robots.robot_description import RobotDescription

ZOO_FOLDER = Path(__file__).parent / "zoo"


def load_robot(name_or_path: str | Path, *, overrides: Mapping[str, Any] | None = None) -> RobotDescription:
    """Read a robot.

    Args:
        name_or_path: A name of :func:`robot_names`, a folder with ``robot.yaml`` and its model, or a YAML file. A
            published YAML file, which brings no model beside it, is completed from the zoo folder its
            ``target_class`` stands for.
        overrides: Keys that replace those of the file, as a task file may give them.

    Raises:
        NotFoundError: Neither a known name nor an existing path.
        ConfigError: A key is unknown, missing or wrong, or disagrees with the model.
    """
    file, name = _find(name_or_path)
    document = read_document(file)
    if not isinstance(document.values, dict):
        raise ConfigError(f"{file}: a robot file has keys and values, this has {document.values!r}")
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


def _complete(document: Document, zoo: Document) -> None:
    """Add the keys a published file lacks: joint names, gripper targets, the model."""
    document.values = {**zoo.values, **document.values}
    document.marks = {**zoo.marks, **document.marks}

"""Small YAML files beside an asset that say how it is handled."""

from pathlib import Path
from typing import Any

from handloom.config import read_document
from handloom.errors import FileError
from handloom.objects import ObjectAsset


def asset_notes(asset: ObjectAsset, name: str) -> tuple[Path | None, dict[str, Any]]:
    """Return the path and the content of a YAML file beside an asset; no path where there is no such file.

    Args:
        asset: The object; one of the library has no folder and so no files beside it.
        name: File name, e.g. ``dexpick_pose.yaml``.

    Raises:
        ConfigError: The file is no YAML.
        FileError: It is no mapping.
    """
    source = asset.parameters.get("path")
    file = None if source is None else Path(str(source)).parent / name
    if file is None or not file.is_file():
        return None, {}
    content = read_document(file).values
    if not isinstance(content, dict):
        raise FileError(f"{file}: a mapping was expected, got {type(content).__name__}")
    return file, content

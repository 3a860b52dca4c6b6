"""Names of a room's fixtures and their parts in the short form of skills."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from handloom.config import Document, find_file
from handloom.config.parsing import KeyPath
from handloom.errors import HandloomError
from handloom.scene.rooms.furnish import Room
from handloom.scene.rooms.room_config import RoomConfig, parts_by_name


def room_of(task: Mapping[str, Any]) -> Room | None:
    """Return the room of an unchecked task, for looking up names; None if there is none, or a wrong one.

    Mistakes in it are reported when the task is checked.
    """
    if task.get("room") is None:
        return None
    try:
        return RoomConfig.model_validate(task["room"]).example()
    except (ValidationError, HandloomError):
        return None


def fixture_entries(task: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the fixtures of a task's room as entries of objects, by name."""
    room = room_of(task)
    if room is None:
        return {}
    entries = (standing.entry for standing in room.standing)
    return {
        entry.name: {"name": entry.name, "category": entry.category, "parameters": entry.parameters}
        for entry in entries
    }


def named_part(name: Any, task: Mapping[str, Any]) -> Any:
    """Return a fixture's part that is named alone as ``{drawers: drawer_2}``, with its fixture; else the name."""
    if not isinstance(name, str) or any(_name(entry) == name for entry in task.get("objects") or ()):
        return name
    room = room_of(task)
    part = None if room is None else parts_by_name(room).get(name)
    return name if part is None else {part[0]: part[1]}


def _name(entry: Any) -> str:
    return str(entry.get("name")) if isinstance(entry, Mapping) else ""


def locate_room_files(document: Document, root: KeyPath, *, allow_outside: bool) -> None:
    """Expand the paths of layouts and styles that are files beside the task's file, in place.

    Raises:
        ConfigError: There is no such file, or it lies outside the task's folders and was not allowed.
    """
    task: Any = document.values
    for key in root:
        task = task[key]
    room = task.get("room") if isinstance(task, dict) else None
    if not isinstance(room, dict):
        return
    for key in ("layout", "style"):
        given = room.get(key)
        if isinstance(given, str):
            room[key] = _located(given, document, (*root, "room", key), allow_outside)
        elif isinstance(given, list):
            room[key] = [_located(name, document, (*root, "room", key), allow_outside) for name in given]


def _located(name: Any, document: Document, keys: KeyPath, allow_outside: bool) -> Any:
    if not isinstance(name, str) or not name.endswith((".yaml", ".yml")):
        return name
    what = f"{document.mark(keys)}: {'.'.join(str(key) for key in keys[-2:])}"
    return str(
        find_file(name, near=Path(document.path).parent, asset_root=None, what=what, allow_outside=allow_outside)
    )

"""Completion in task files: keys with their meaning, objects, skills, robots and other names."""

import re
from collections.abc import Iterable
from functools import cache
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin

import yaml

from handloom.config.model import Config, UnusedKey, field_docs
from handloom.objects.materials import COLORS
from handloom.objects.registry import CATEGORIES
from handloom.render.textures import TEXTURES
from handloom.robots import robot_names
from handloom.scene.fixtures import FIXTURES
from handloom.skills.configs import SKILL_CONFIGS
from handloom.tasks.config.loading import shipped
from handloom.tasks.config.short_form.skills import VERBS, WHERE
from handloom.tasks.config.task_config import TaskConfig
from handloom.viewer.task_page.yaml_cursor import Cursor, cursor_at

MOST = 60
"""Maximum number of suggestions."""
OBJECT_KEYS = frozenset(
    {"object", "objects", "target", "target2", "container", "container_name", "look_at", *VERBS, *WHERE}
)
"""Keys whose values name objects of the task."""
SHORT_KEYS = (*WHERE, "into", "from", "to", "by", "arm")
"""Keys that go with a short skill."""

Item = dict[str, str]


def completions(text: str, place: int) -> dict[str, Any]:
    """Return the completions at a position in a text.

    Args:
        text: The text of a task file, possibly incomplete.
        place: Position of the cursor, in characters from the start.

    Returns:
        ``from`` and ``to``: the range that the choice replaces; ``items``: each with ``text``, ``kind`` and ``doc``.
    """
    place = max(0, min(place, len(text)))
    cursor = cursor_at(text, place)
    items = _values(cursor, text) if cursor.key or (cursor.path and cursor.path[-1] == "*") else []
    if not cursor.key:
        items = [*_keys(cursor, text), *items]
    chosen = _matching(items, cursor.word)
    return {"from": place - len(cursor.word), "to": place, "items": chosen[:MOST]}


def _matching(items: Iterable[Item], word: str) -> list[Item]:
    """Return the items that match a word: those that begin with it, then those that contain it."""
    unique = list({item["text"]: item for item in items}.values())
    low = word.lower()
    first = [item for item in unique if item["text"].lower().startswith(low)]
    return first + [item for item in unique if low in item["text"].lower() and item not in first]


def _named(names: Iterable[str], kind: str, doc: str = "") -> list[Item]:
    return [{"text": str(name), "kind": kind, "doc": doc} for name in names]


def _keys(cursor: Cursor, text: str) -> list[Item]:
    """Return the keys that can still be added to the mapping at the cursor."""
    path = _inside(cursor.path)
    if path[:1] == ("skills",):
        return _skill_keys(cursor, path, text)
    model = _model(TaskConfig, path)
    items = _fields(model) if model is not None else []
    if not path:
        items = [
            *items,
            *_named(("base",), "key", "A task of the library, or your own file, that this one modifies."),
        ]
    return [item for item in items if item["text"] not in cursor.seen]


def _skill_keys(cursor: Cursor, path: tuple[str, ...], text: str) -> list[Item]:
    name = cursor.seen.get("name", "").strip("\"'")
    if name in SKILL_CONFIGS:
        return [item for item in _fields(SKILL_CONFIGS[name]) if item["text"] not in cursor.seen]
    if set(cursor.seen) & set(VERBS):
        return [item for item in _named(SHORT_KEYS, "key") if item["text"] not in cursor.seen]
    if "name" in cursor.seen:
        return []
    verbs = _named(VERBS, "skill", "Short form of a skill.")
    if len(path) >= 3:  # Stage and robot are already present.
        return [*_named(("left", "right"), "arm"), *verbs, *_named(("name",), "key", "A skill by its published name.")]
    return [*verbs, *_named(_names_in(text, "robots"), "robot"), *_named(("name",), "key")]


def _values(cursor: Cursor, text: str) -> list[Item]:
    """Return the possible values of a key."""
    path = _inside(cursor.path)
    key = cursor.key or next((part for part in reversed(path) if part != "*"), "")
    objects = _named(_names_in(text, "objects"), "object")
    tables: dict[str, Iterable[str]] = {
        "category": sorted(CATEGORIES),
        "categories": sorted(CATEGORIES),
        "robot_config_file": robot_names(),
        "colors": sorted(COLORS),
        "color": sorted(COLORS),
        "textures": sorted(TEXTURES),
        "texture": sorted(TEXTURES),
        "base": [f"setups/{file.name}" for file in sorted((shipped() / "setups").glob("*.yaml"))],
        "arena_file": [f"arenas/{file.name}" for file in sorted((shipped() / "arenas").glob("*.yaml"))],
        "arm": ("left", "right"),
    }
    if path[:1] == ("skills",):
        if key == "name":
            return _named(sorted(SKILL_CONFIGS), "skill")
        if key in ("skills", "left", "right"):
            return _named(("home",), "skill")
    if path[:1] == ("robots",) and key == "name":
        return _named(robot_names(), "robot")
    if key in OBJECT_KEYS:
        fixtures = _named(FIXTURES, "fixture") if key in ("target", "target2", *WHERE) else []
        return [*objects, *_named(_names_in(text, "robots") if key == "object" else (), "robot"), *fixtures]
    if key in tables:
        return _named(tables[key], key)
    return _field_values(path, key, cursor)


def _field_values(path: tuple[str, ...], key: str, cursor: Cursor) -> list[Item]:
    name = cursor.seen.get("name", "").strip("\"'")
    model = SKILL_CONFIGS.get(name) if path[:1] == ("skills",) else _model(TaskConfig, path)
    field = model.model_fields.get(key) if model is not None else None
    if model is None or field is None:
        return []
    found = list(_choices(field.annotation))
    return _named(found, "value", field_docs(model).get(key, ""))


def _choices(annotation: Any) -> Iterable[str]:
    """Yield the words that a type allows, if there are only a few."""
    if annotation is bool:
        yield from ("true", "false")
    if get_origin(annotation) is Literal:
        yield from map(str, get_args(annotation))
        return
    for part in get_args(annotation):
        yield from _choices(part)


def _inside(path: tuple[str, ...]) -> tuple[str, ...]:
    """Return the path within the task, since files may contain a list of tasks."""
    return path[2:] if path[:2] == ("tasks", "*") else path


def _model(model: type[Config], path: tuple[str, ...]) -> type[Config] | None:
    """Return the config at a path of keys."""
    found: type[Config] | None = model
    for key in path:
        if key == "*":
            continue
        field = found.model_fields.get(key) if found is not None else None
        found = None if field is None else _config_in(field.annotation)
    return found


def _config_in(annotation: Any) -> type[Config] | None:
    """Return the config in a type: itself, an optional one, or that of a list."""
    if isinstance(annotation, type) and issubclass(annotation, Config):
        return annotation
    if get_origin(annotation) in (Annotated, None) and not get_args(annotation):
        return None
    parts = [part for part in get_args(annotation) if part not in (NoneType, Ellipsis)]
    return next((found for part in parts if (found := _config_in(part)) is not None), None)


@cache
def _fields(model: type[Config]) -> list[Item]:
    """Return the keys of a config with their meaning, except those without an effect."""
    items = []
    for name, field in model.model_fields.items():
        if any(isinstance(mark, UnusedKey) for mark in field.metadata):
            continue
        doc = re.sub(r"``([^`]*)``", r"\1", " ".join(field_docs(model).get(name, "").split()))
        items.append({"text": field.alias or name, "kind": "key", "doc": doc})
    return items


def _names_in(text: str, section: str) -> tuple[str, ...]:
    """Return the names of the entries of a section, as far as the text can be parsed."""
    names: dict[str, None] = {}
    stack: list[Any] = []  # Key of each mapping, None for a list.
    key: str | None = None
    waiting: list[bool] = []
    try:
        for part in yaml.parse(text, Loader=yaml.SafeLoader):
            if isinstance(part, yaml.MappingStartEvent):
                stack.append(key)
                waiting.append(True)
                key = None
            elif isinstance(part, yaml.SequenceStartEvent):
                stack.append(key)
                waiting.append(False)
            elif isinstance(part, yaml.CollectionEndEvent):
                mapping = waiting.pop()
                before = stack.pop()
                key = None if waiting and waiting[-1] else before
                if not mapping:
                    key = None if waiting and waiting[-1] else before
            elif isinstance(part, yaml.ScalarEvent):
                if waiting and waiting[-1] and key is None:
                    key = part.value
                else:
                    if key == "name" and section in stack[-2:]:
                        names[part.value] = None
                    if waiting and waiting[-1]:
                        key = None
    except yaml.YAMLError:
        pass
    return tuple(names)

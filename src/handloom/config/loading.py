"""From a document to a typed config: overrides, references, validation; every mistake with file and line."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from handloom.config.document import Document, read_document
from handloom.config.model import Config
from handloom.config.parsing import KeyPath, Mark, dotted, parse_text
from handloom.config.references import resolved
from handloom.errors import ConfigError, suggest


def apply_overrides(document: Document, overrides: Iterable[str], *, root: KeyPath = ()) -> None:
    """Write overrides into a document, in order.

    The last key may be absent from the file: the model then decides whether it is valid, and its error names the
    override. All keys before it must exist.

    Args:
        document: Changed in place.
        overrides: Texts like ``data.max_episode_length=500``; list items by index, values in YAML.
        root: Path to which the overrides are relative, e.g. ``("tasks", 0)``.
    """
    for override in overrides:
        dotted, equals, text = override.partition("=")
        if not equals or not dotted.strip():
            raise ConfigError(f"--set {override}: write it as key.path=value, e.g. data.max_episode_length=500")
        value, _ = parse_text(text, f"--set {dotted}")
        _write(document, dotted.strip(), value, root, Mark(f"--set {override}"))


def _write(document: Document, dotted: str, value: Any, root: KeyPath, mark: Mark) -> None:
    keys = dotted.split(".")
    container: Any = document.values
    for key in root:
        container = container[key]
    path: KeyPath = root
    for i, key in enumerate(keys):
        last = i == len(keys) - 1
        step = _step(container, key, ".".join(keys[:i]) or "top level", mark, new_key_allowed=last)
        path = (*path, step)
        if last:
            container[step] = value
            _drop_marks_below(document, path)
            document.marks[path] = mark
        else:
            container = container[step]


def _step(container: Any, key: str, where: str, mark: Mark, *, new_key_allowed: bool) -> str | int:
    """Return the key or index to follow in ``container``, or raise with the ones that exist."""
    if isinstance(container, dict):
        if key in container or new_key_allowed:
            return key
        raise ConfigError(f"{mark}: {where} has no key {key!r}; {suggest(key, map(str, container))}")
    if isinstance(container, list):
        if key.isdigit() and int(key) < len(container):
            return int(key)
        raise ConfigError(
            f"{mark}: {where} is a list of {len(container)}; give an index from 0 to {len(container) - 1}"
        )
    raise ConfigError(f"{mark}: {where} is the value {container!r} and has no keys inside")


def _drop_marks_below(document: Document, path: KeyPath) -> None:
    for known in [p for p in document.marks if p[: len(path)] == path]:
        del document.marks[known]


Model = TypeVar("Model", bound=Config)


def load_config(path: str | Path, model: type[Model], *, overrides: Iterable[str] = ()) -> Model:
    """Read a YAML file into a frozen config.

    Args:
        path: The file.
        model: Class of the config.
        overrides: ``a.b.c=value`` texts applied before validation.

    Raises:
        ConfigError: One line per mistake, ``file:line: key.path: what``.
    """
    document = read_document(path)
    apply_overrides(document, overrides)
    return parse_config(document, model)


def parse_config(document: Document, model: type[Model], *, root: KeyPath = ()) -> Model:
    """Validate a document, or the part of it at ``root``, after resolving ``${...}`` over the whole document."""
    values = resolved(document)
    for key in root:
        values = values[key]
    if not isinstance(values, dict):
        found = "nothing" if values is None else type(values).__name__
        raise ConfigError(f"{document.mark(root)}: expected keys and values of {model.__name__}, found {found}")
    try:
        return model.model_validate(values)
    except ValidationError as error:
        lines = dict.fromkeys(_line(document, root, values, item) for item in _own_errors(error))
        raise ConfigError("\n".join(lines)) from error


def _own_errors(error: ValidationError) -> list[Any]:
    """Return the errors without those that only result from others, such as a list left empty by its bad items."""
    items = error.errors(include_url=False)
    places = [item["loc"] for item in items]
    return [
        item
        for item in items
        if item["type"] != "too_short" or not any(p[: len(item["loc"])] == item["loc"] != p for p in places)
    ]


def _line(document: Document, root: KeyPath, values: Any, item: Any) -> str:
    """Write one pydantic error as ``file:line: key.path: what``."""
    loc = list(item["loc"])
    if item["type"] == "unknown_key":
        loc.append(item["ctx"]["key"])
    loc += item.get("ctx", {}).get("keys", ())
    path = _existing(values, loc)
    what = item["msg"].removeprefix("Value error, ")
    what = what[0].lower() + what[1:]
    given = item.get("input")
    if item["type"] == "missing":
        what = "this key is required and missing"
    elif item["type"] == "tuple_type":
        what = f"must be a list, such as [{given!r}, ...], got {given!r}"
    elif item["type"] != "unknown_key" and isinstance(given, str | int | float | bool | type(None)):
        what = f"{what}, got {given!r}"
    shown = document.as_written((*root, *path))[len(root) :]
    return f"{document.mark((*root, *path))}: {dotted(shown)}: {what}"


def _existing(values: Any, loc: list[str | int]) -> KeyPath:
    """Drop the parts of a pydantic location that are not keys of the file, such as the tag of a union."""
    path: KeyPath = ()
    here: Any = values
    for i, part in enumerate(loc):
        items: Any = dict(enumerate(here)) if isinstance(here, list) else here
        if not isinstance(items, dict) or (part not in items and i < len(loc) - 1):
            continue
        path = (*path, part)  # The last key may be the missing one.
        here = items.get(part)
    return path

"""From a document to a typed config, with every mistake reported at its file and line."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from handloom.config.document import Document, read_document
from handloom.config.marks import KeyPath
from handloom.config.model import Config
from handloom.config.overrides import apply_overrides
from handloom.config.references import resolved
from handloom.errors import ConfigError

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
    """Return the errors without those that only follow from others, such as a list left empty by its bad items."""
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
    path = _existing(values, loc)
    what = item["msg"].removeprefix("Value error, ")
    what = what[0].lower() + what[1:]
    given = item.get("input")
    if item["type"] == "missing":
        what = "this key is required and missing"
    elif item["type"] != "unknown_key" and isinstance(given, str | int | float | bool | type(None)):
        what = f"{what}, got {given!r}"
    dotted = ".".join(str(part) for part in path) or "top level"
    return f"{document.mark((*root, *path))}: {dotted}: {what}"


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

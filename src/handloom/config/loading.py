"""From a document to a typed config: overrides, references, validation; every mistake with file and line."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from handloom.config.document import Document, read_document
from handloom.config.model import Config
from handloom.config.parsing import KeyPath, Mark, dotted, parse_text
from handloom.errors import ConfigError, suggest


def apply_overrides(document: Document, overrides: Iterable[str], *, root: KeyPath = ()) -> None:
    """Write overrides into a document, in order.

    The last key may be absent from the file: the model then decides whether it exists, and its error names the
    override. Every key before it must be there.

    Args:
        document: Changed in place.
        overrides: Texts like ``data.max_episode_length=500``; list items by index, values in YAML.
        root: Where the paths start, e.g. ``("tasks", 0)``.
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
    """Return the key or index to follow in ``container``, or say what exists there."""
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


MAX_SIZE = 10_000_000
"""Most characters and values that the references of a document may bring; a few lines can ask for any number."""
_REFERENCE = re.compile(r"\$\{([\w.\[\]-]+)\}")


def resolved(document: Document) -> Any:
    """Return the values of a document with their references resolved; those without any skip the work.

    Raises:
        ConfigError: A reference leads nowhere or in a circle, is no plain path, or all together bring too much.
    """
    if not _Sizes(document).look_over():
        return document.values
    from omegaconf import OmegaConf  # costs 0.1 s, needed by few files
    from omegaconf.errors import OmegaConfBaseException

    try:
        config = OmegaConf.create(document.values)
        return OmegaConf.to_container(config, resolve=True)
    except (OmegaConfBaseException, RecursionError) as error:
        key = getattr(error, "full_key", None) or ""
        what = str(error).splitlines()[0] if str(error) else "references in a circle"
        raise ConfigError(f"{document.mark(_keys(key))}: {key or 'interpolation'}: {what}") from error


class _Sizes:
    """Adds up what a document holds once its references are resolved, without resolving them."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.known: dict[str, int] = {}

    def look_over(self) -> bool:
        """Return whether there are references, and refuse those that cannot be resolved in bounds."""
        if self._size(self.document.values, (), ()) > MAX_SIZE:
            raise ConfigError(f"{self.document.path}: references bring more than {MAX_SIZE} characters and values")
        return bool(self.known)

    def _size(self, value: Any, path: KeyPath, chain: tuple[str, ...]) -> int:
        if isinstance(value, dict):
            return 1 + sum(self._size(item, (*path, key), chain) for key, item in value.items())
        if isinstance(value, list):
            return 1 + sum(self._size(item, (*path, i), chain) for i, item in enumerate(value))
        if not isinstance(value, str) or "${" not in value:
            return len(value) if isinstance(value, str) else 1
        names = _REFERENCE.findall(value)
        if len(names) != value.count("${"):
            raise ConfigError(
                f"{self.document.mark(path)}: {dotted(path)}: a reference is written ${{a.b.0}}, got {value[:60]!r}"
            )
        return len(value) + sum(self._brought(name, path, chain) for name in names)

    def _brought(self, name: str, path: KeyPath, chain: tuple[str, ...]) -> int:
        """Return the size of what a reference brings; one that leads nowhere is refused when it is resolved."""
        if name in chain:
            raise ConfigError(f"{self.document.mark(path)}: {dotted(path)}: references in a circle: ${{{name}}}")
        if name not in self.known:
            here: Any = self.document.values
            keys = _keys(name)
            for key in keys:
                items: Any = dict(enumerate(here)) if isinstance(here, list) else here
                here = items.get(key) if isinstance(items, dict) else None
            self.known[name] = self._size(here, keys, (*chain, name))
        return self.known[name]


def _keys(name: str) -> KeyPath:
    parts = name.replace("[", ".").replace("]", "").split(".")
    return tuple(int(part) if part.isdigit() else part for part in parts if part)


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

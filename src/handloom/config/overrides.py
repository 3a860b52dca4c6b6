"""Overrides from the command line: ``a.b.c=value``, each naming a key that exists."""

from collections.abc import Iterable
from typing import Any

from handloom.config.document import Document
from handloom.config.marks import KeyPath, Mark
from handloom.config.parsing import parse_text
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

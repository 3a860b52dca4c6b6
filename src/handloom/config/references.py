"""References inside a YAML document: ``${tasks.0.robots.0.name}`` stands for the value at that path."""

import re
from typing import Any

from handloom.config.document import Document
from handloom.config.parsing import KeyPath, dotted
from handloom.errors import ConfigError, suggest

MAX_SIZE = 10_000_000
"""Maximum number of characters and values that the references of a document may add; a few lines can expand to any
amount."""
_CAN_REFER = (str, dict, list)
_REFERENCE = re.compile(r"\$\{([\w.\[\]-]+)\}")


def resolved(document: Document) -> Any:
    """Return the values of a document with their references resolved; documents without references skip the work.

    A value that is a single reference is replaced by its target, of any type; references inside a text are substituted.
    Paths start at the top of the file.

    Raises:
        ConfigError: A reference is broken, circular or not a plain path, or the references expand to too much.
    """
    if not _Sizes(document).look_over():
        return document.values
    return _resolve(document, document.values, ())


def _resolve(document: Document, value: Any, path: KeyPath) -> Any:
    if isinstance(value, dict):
        return {
            key: _resolve(document, item, (*path, key)) if isinstance(item, _CAN_REFER) else item
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [
            _resolve(document, item, (*path, i)) if isinstance(item, _CAN_REFER) else item
            for i, item in enumerate(value)
        ]
    if not isinstance(value, str) or "${" not in value:
        return value
    whole = _REFERENCE.fullmatch(value)
    if whole:
        return _at(document, whole[1], path)
    return _REFERENCE.sub(lambda found: _text(document, found[1], path), value)


def _at(document: Document, name: str, path: KeyPath) -> Any:
    """Return the target of a reference at ``path``, its own references resolved; circular ones were refused before."""
    here: Any = document.values
    keys = _keys(name)
    for k, key in enumerate(keys):
        items: Any = dict(enumerate(here)) if isinstance(here, list) else here
        if not isinstance(items, dict) or key not in items:
            inside = dotted(keys[:k]) if k else "the file"
            known = suggest(str(key), map(str, items)) if isinstance(items, dict) and items else "it has no keys"
            raise ConfigError(
                f"{document.mark(path)}: {dotted(path)}: ${{{name}}} leads nowhere: {inside} has no {key!r}; {known}"
            )
        here = items[key]
    return _resolve(document, here, keys)


def _text(document: Document, name: str, path: KeyPath) -> str:
    value = _at(document, name, path)
    if isinstance(value, dict | list):
        raise ConfigError(
            f"{document.mark(path)}: {dotted(path)}: ${{{name}}} inside a text must be one word or number"
        )
    return str(value)


class _Sizes:
    """Computes the size of a document with its references resolved, without resolving them."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.known: dict[str, int] = {}

    def look_over(self) -> bool:
        """Return whether there are references; refuse those that expand to too much."""
        if self._size(self.document.values, (), ()) > MAX_SIZE:
            raise ConfigError(f"{self.document.path}: references add more than {MAX_SIZE} characters and values")
        return bool(self.known)

    def _size(self, value: Any, path: KeyPath, chain: tuple[str, ...]) -> int:
        if isinstance(value, dict | list):
            return 1 + self._inside(value, path, chain)
        if not isinstance(value, str) or "${" not in value:
            return len(value) if isinstance(value, str) else 1
        names = _REFERENCE.findall(value)
        if len(names) != value.count("${"):
            raise ConfigError(
                f"{self.document.mark(path)}: {dotted(path)}: a reference is written ${{a.b.0}}, got {value[:60]!r}"
            )
        return len(value) + sum(self._brought(name, path, chain) for name in names)

    def _inside(self, values: dict[str, Any] | list[Any], path: KeyPath, chain: tuple[str, ...]) -> int:
        """Return the size of the items of a mapping or list; plain ones are counted here, without a call each."""
        total = 0
        for key, item in values.items() if isinstance(values, dict) else enumerate(values):
            if isinstance(item, str) and "${" not in item:
                total += len(item)
            elif isinstance(item, str | dict | list):
                total += self._size(item, (*path, key), chain)
            else:
                total += 1
        return total

    def _brought(self, name: str, path: KeyPath, chain: tuple[str, ...]) -> int:
        """Return the size to which a reference expands; a broken one is refused when it is resolved."""
        if name in chain:
            raise ConfigError(f"{self.document.mark(path)}: {dotted(path)}: circular reference: ${{{name}}}")
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

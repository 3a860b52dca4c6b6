"""``${a.b.0.c}``: references from one value of a document to another."""

import re
from typing import Any

from handloom.config.document import Document
from handloom.config.marks import KeyPath, dotted
from handloom.errors import ConfigError

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

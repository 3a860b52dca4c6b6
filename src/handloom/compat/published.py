"""How a module of published names finds our objects: a literal table, read when a name is first asked for."""

import importlib
from collections.abc import Callable, Mapping
from typing import Any

from handloom.errors import suggest


def published(module: str, table: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a module whose names live elsewhere.

    Args:
        module: Name of the module, for the error text.
        table: Published name > ``"module:object"``.
    """

    def getattribute(name: str) -> Any:
        if name not in table:
            raise AttributeError(f"module {module!r} has no attribute {name!r}; {suggest(name, table)}")
        place, _, attribute = table[name].partition(":")
        return getattr(importlib.import_module(place), attribute)

    return getattribute, lambda: sorted(table)

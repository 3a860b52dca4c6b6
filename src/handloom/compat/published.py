"""Modules of published names: built from a literal table, each object imported when its name is first used."""

import importlib
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from handloom.errors import HandloomError, suggest


class NotHereError(HandloomError, ImportError):
    """A published name that is out of scope; the message gives the reason."""


class NotHere(str):
    """A table row for a name that is not provided, with the reason."""


class PublishedModule(ModuleType):
    """A module whose objects are defined elsewhere.

    Args:
        name: Full name of the module.
        table: Published name > ``"module:object"``, or ``NotHere`` with the reason.
        doc: One-line description of the module.
    """

    def __init__(self, name: str, table: Mapping[str, str], doc: str) -> None:
        super().__init__(name, doc)
        self.__path__ = []  # An unknown submodule then raises a plain ModuleNotFoundError.
        self.__all__ = sorted(name for name, row in table.items() if not isinstance(row, NotHere))
        self._table = table

    def __getattr__(self, name: str) -> Any:
        return resolve(self.__name__, self._table, name)

    def __dir__(self) -> list[str]:
        return self.__all__


def resolve(module: str, table: Mapping[str, str], name: str) -> Any:
    """Return the object behind a published name.

    Raises:
        NotHereError: The name is published but out of scope.
        AttributeError: The module does not have the name; the message suggests an existing one.
    """
    row = table.get(name)
    if isinstance(row, NotHere):
        raise NotHereError(f"{module}.{name} is out of scope: {row}")
    if row is None:
        raise AttributeError(f"module {module!r} has no attribute {name!r}; {suggest(name, table)}")
    place, _, attribute = row.partition(":")
    return getattr(importlib.import_module(place), attribute)


def same_names(module: str, names: str) -> dict[str, str]:
    """Return the rows of published names that we provide, e.g. ``"TensorType TensorGroup"``."""
    return {name: f"{module}:{name}" for name in names.split()}


def not_here(names: str, why: str) -> dict[str, str]:
    """Return the rows of published names that are out of scope."""
    return dict.fromkeys(names.split(), NotHere(why))


def add_modules(package: str, tables: Mapping[str, Mapping[str, str]]) -> None:
    """Make every module of ``tables``, and its parents, importable below ``package``."""
    for path, table in sorted(tables.items()):
        parents = path.split(".")
        for depth in range(1, len(parents) + 1):
            name = ".".join((package, *parents[:depth]))
            if name not in sys.modules or depth == len(parents):
                rows = table if depth == len(parents) else {}
                module = PublishedModule(name, rows, f"Published names of {'.'.join(parents[:depth])}.")
                sys.modules[name] = module
                parent, _, last = name.rpartition(".")
                if last not in getattr(sys.modules[parent], "_table", {}):  # Its own name has precedence.
                    setattr(sys.modules[parent], last, module)
                if depth > 1 and last not in sys.modules[parent].__all__:
                    sys.modules[parent].__all__.append(last)

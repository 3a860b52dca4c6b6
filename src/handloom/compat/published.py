"""Modules of published names: built from a literal table, each object imported when its name is first used."""

import importlib
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from handloom.errors import suggest


class PublishedModule(ModuleType):
    """A module whose names live elsewhere.

    Args:
        name: Full name of the module.
        table: Published name > ``"module:object"``.
        doc: One line about the module.
    """

    def __init__(self, name: str, table: Mapping[str, str], doc: str) -> None:
        super().__init__(name, doc)
        self.__path__ = []  # An unknown submodule is then a plain ModuleNotFoundError.
        self.__all__ = sorted(table)
        self._table = table

    def __getattr__(self, name: str) -> Any:
        return resolve(self.__name__, self._table, name)

    def __dir__(self) -> list[str]:
        return self.__all__


def resolve(module: str, table: Mapping[str, str], name: str) -> Any:
    """Return the object behind a published name.

    Raises:
        AttributeError: The module does not have the name; the text suggests one that exists.
    """
    if name not in table:
        raise AttributeError(f"module {module!r} has no attribute {name!r}; {suggest(name, table)}")
    place, _, attribute = table[name].partition(":")
    return getattr(importlib.import_module(place), attribute)


def same_names(module: str, names: str) -> dict[str, str]:
    """Return the rows of names that are published and ours, e.g. ``"TensorType TensorGroup"``."""
    return {name: f"{module}:{name}" for name in names.split()}


def add_modules(package: str, tables: Mapping[str, Mapping[str, str]]) -> None:
    """Make every module of ``tables`` importable below ``package``; parents of a listed module exist too."""
    for path, table in sorted(tables.items()):
        parents = path.split(".")
        for depth in range(1, len(parents) + 1):
            name = ".".join((package, *parents[:depth]))
            if name not in sys.modules or depth == len(parents):
                rows = table if depth == len(parents) else {}
                module = PublishedModule(name, rows, f"Published names of {'.'.join(parents[:depth])}.")
                sys.modules[name] = module
                parent, _, last = name.rpartition(".")
                setattr(sys.modules[parent], last, module)

"""Every public name resolves, is listed once, and every public thing says what it is."""

import ast
import importlib
import inspect
import pkgutil
from pathlib import Path

import handloom
from source_trees import tree_of

PACKAGES = sorted(module.name for module in pkgutil.walk_packages(handloom.__path__, "handloom.") if module.ispkg)


def test_every_public_name_resolves_is_listed_once_and_has_a_docstring():
    for package in PACKAGES:
        module = importlib.import_module(package)
        names = list(getattr(module, "__all__", ()))
        assert len(set(names)) == len(names), package
        for name in names:
            thing = getattr(module, name)
            assert thing is not None, f"{package}.{name}"
            if inspect.isclass(thing) or inspect.isfunction(thing):
                assert inspect.getdoc(thing), f"{package}.{name} has no docstring"


def test_no_two_public_classes_share_a_name():
    found: dict[str, list[str]] = {}
    for file in Path(handloom.__path__[0]).rglob("*.py"):
        for node in tree_of(file).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found.setdefault(node.name, []).append(file.name)
    assert not {name: files for name, files in found.items() if len(files) > 1}

"""Import paths of earlier versions still lead to the same objects, and say where these are now."""

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from handloom.compat.moved import FOLDERS, MODULES, NAMES, RENAMED, new_place

OLD_PATHS = json.loads(Path(__file__).with_name("old_paths.json").read_text())
"""Every module before the first move > the public names of its folder, where it is one."""
OPTIONAL = ("handloom.gym",)
HIDDEN = ("handloom.dataset.merge_datasets", "handloom.engine.merge_run")
"""Modules that are named like a function of their folder; importing one by its old path would hide the function."""


@pytest.mark.filterwarnings("ignore:.* is now :DeprecationWarning")
@pytest.mark.parametrize("folder", sorted({path.split(".")[1] for path in OLD_PATHS if "." in path}))
def test_every_old_path_imports_and_has_its_names(folder):
    for path, names in OLD_PATHS.items():
        if path.split(".")[1:2] != [folder] or path.startswith(OPTIONAL):
            continue
        if path in HIDDEN:
            with pytest.raises(ModuleNotFoundError, match=f"is now {new_place(path)}; "):
                importlib.import_module(path)
            continue
        module = importlib.import_module(path)
        assert not [name for name in names.split() if not hasattr(module, name)], path
        place = new_place(path)
        if place is not None and path not in FOLDERS:
            assert module is importlib.import_module(place)
        elif place is not None:
            for name in names.split():
                assert getattr(module, name) is getattr(importlib.import_module(place), name)


def test_an_old_path_says_where_its_module_is():
    sys.modules.pop("handloom.dataset.merge_plan", None)
    with pytest.warns(DeprecationWarning, match=r"merge_plan is now handloom\.dataset\.lerobot\.merge_plan"):
        importlib.import_module("handloom.dataset.merge_plan")
    with pytest.warns(DeprecationWarning, match="robots.make_robot is now handloom.isaac.articulation.make_robot"):
        from handloom.robots import make_robot  # noqa: F401


def test_a_path_that_never_was_is_an_import_error():
    with pytest.raises(ModuleNotFoundError, match=r"handloom\.datasets"):
        importlib.import_module("handloom.datasets")
    with pytest.raises(ImportError, match="nobody"):
        from handloom.robots import nobody  # noqa: F401


def test_no_row_leads_from_a_path_that_is_in_use_or_to_one_that_is_not():
    source = Path(importlib.import_module("handloom").__file__).parents[1]

    def exists(module: str) -> bool:
        path = source / module.replace(".", "/")
        return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()

    moved = [f"{old}.{name}" for (old, _), names in MODULES.items() for name in names.split()]
    old = (*moved, *FOLDERS, *RENAMED)
    assert not [path for path in old if exists(path)]
    assert not [path for path in old if not exists(str(new_place(path)))]
    assert not [row for row in NAMES.values() if not exists(row.partition(":")[0])]


def test_importing_handloom_reads_no_table():
    code = "import sys, handloom, handloom.errors; assert 'handloom.compat' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)

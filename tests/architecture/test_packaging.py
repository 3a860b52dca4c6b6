"""pyproject.toml lists what the code imports: nothing is missing, nothing is there for nobody."""

import ast
import re
import sys
import tomllib
from functools import cache
from pathlib import Path

from source_trees import tree_of

ROOT = Path(__file__).parents[2]
SRC = ROOT / "src" / "handloom"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
DISTRIBUTIONS = {
    "PIL": "pillow",
    "collada": "pycollada",
    "cupy": "cupy-cuda12x",
    "pxr": "usd-core",
    "rerun": "rerun-sdk",
    "yaml": "pyyaml",
}
"""Module > the distribution that brings it, where the names differ."""
WITH_ANOTHER = {"llvmlite", "pydantic_core"}
"""Imported, and always there with a declared one: Numba and pydantic are built on them."""
BY_URL = {"s3fs", "gcsfs"}
"""Never imported by name: fsspec does, for s3:// and gs://."""
IF_INSTALLED = {"lerobot", "toppra", "torch"}
"""Used where somebody installed it: LeRobot, which has an environment of its own, a peer of the benchmarks without
wheels for every Python, and TorchScript."""


@cache
def imported(file: Path) -> set[str]:
    """Return the distributions that a source file imports, by statement or by name."""
    text = file.read_text(encoding="utf-8")
    modules = set(re.findall(r"(?:require|import_module|find_spec)\(\s*\"([\w.]+)", text))
    for node in ast.walk(tree_of(file)):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            modules.add(node.module)
    roots = {module.partition(".")[0] for module in modules} - set(sys.stdlib_module_names) - {"handloom"}
    return {DISTRIBUTIONS.get(root, root) for root in roots}


def names(requirements: list[str]) -> set[str]:
    return {re.split(r"[^\w-]", requirement, maxsplit=1)[0] for requirement in requirements}


TOOLS = {"dev", "docs"}
"""Extras of people who work on this repository; no module of the package imports what is in them."""
NEEDED = names(PROJECT["dependencies"])
EXTRAS = {extra: names(found) for extra, found in PROJECT["optional-dependencies"].items() if extra not in TOOLS}
FILES = sorted(SRC.rglob("*.py"))


def test_everything_that_is_imported_is_declared():
    found = set().union(*map(imported, FILES))
    assert found - WITH_ANOTHER - IF_INSTALLED <= NEEDED | set().union(*EXTRAS.values())


def test_everything_that_is_needed_is_imported_outside_the_benchmarks():
    found = set().union(*(imported(file) for file in FILES if not file.is_relative_to(SRC / "bench")))
    assert found >= NEEDED


def test_every_extra_unlocks_something():
    found = set().union(*map(imported, FILES))
    assert all(packages <= found | BY_URL for packages in EXTRAS.values())


def test_only_the_benchmarks_need_their_extra():
    found = set().union(*(imported(file) for file in FILES if not file.is_relative_to(SRC / "bench")))
    assert not found & EXTRAS["bench"]


def test_the_private_class_of_numba_is_capped():
    assert any(re.fullmatch(r"numba>=[\d.]+,<[\d.]+", requirement) for requirement in PROJECT["dependencies"])

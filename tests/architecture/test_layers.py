"""Hold the layer diagram of docs/architecture.md."""

import ast
from pathlib import Path

import pytest

from source_trees import imports_of

SRC = Path(__file__).parents[2] / "src" / "handloom"

# Lowest first. A folder may import from rows below its own, never from its
# own row or from above. Reordering this table is an architecture decision.
LAYERS = (
    {"arrays", "errors", "version"},
    {"cache", "graphics", "child_process", "onnx_file", "safe_paths"},
    {"kernels"},
    {"spatial", "seeding"},
    {"config"},
    {"values"},
    {"sim", "dataset", "web"},
    {"render"},
    {"robots", "objects"},
    {"motion"},
    {"scene", "grasping"},
    {"judging"},
    {"skills", "retarget"},
    {"tasks"},
    {"episode"},
    {"labels"},
    {"engine"},
    {"teleop", "viewer", "gym", "isaac"},
    {"bench", "compat"},
    {"cli"},
)
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}


def imported_folders(file: Path) -> set[str]:
    """Return the first-level handloom folders that a source file imports."""
    package = ["handloom", *file.relative_to(SRC).parts[:-1]]
    found = set()
    for node in imports_of(file):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            base = package[: len(package) - node.level + 1] if node.level else []
            stem = ".".join([*base, *([node.module] if node.module else [])])
            names = [f"{stem}.{alias.name}" for alias in node.names]
        for name in names:
            parts = name.split(".")
            if parts[0] != "handloom":
                continue
            # `from handloom import World` inside the package hides its layer.
            owned = len(parts) > 2 or (len(parts) == 2 and parts[1] in LEVEL)
            assert owned, f"{file}: import from the folder that owns {name}, not the root"
            found.add(parts[1])
    return found


@pytest.mark.parametrize("unit", sorted({f.relative_to(SRC).parts[0].removesuffix(".py") for f in SRC.rglob("*.py")}))
def test_imports_point_down(unit: str) -> None:
    """Every import goes to a lower layer, or stays in its own folder."""
    if unit in {"__init__", "__main__"}:
        return  # The root re-exports the public names and starts the CLI.
    assert unit in LEVEL, f"{unit} is not in the layer table; add it to LAYERS"
    for file in sorted((SRC / unit).rglob("*.py")) or [SRC / f"{unit}.py"]:
        for other in imported_folders(file) - {unit}:
            assert LEVEL[other] < LEVEL[unit], (
                f"{file.relative_to(SRC)} imports handloom.{other}, which is not below "
                f"handloom.{unit}. Pass the value in, or move the shared part down."
            )

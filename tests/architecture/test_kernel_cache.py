"""Compiled kernels are thrown away when any kernel source of their part changes, not only their own file."""

import importlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import handloom
from handloom.kernels import GENERATE, STEPS, cache_folder, kernel_parts, kernel_sources, warm_marker

ROOT = Path(handloom.__file__).parent


@pytest.fixture
def copy(tmp_path):
    folder = tmp_path / "handloom"
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns("__pycache__", "zoo"))
    return folder


def folders_seen_from(package: Path) -> dict[str, str]:
    code = "from handloom.kernels import *; print(*(f'{p}={cache_folder(p)}' for p in kernel_parts()))"
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=package.parent, capture_output=True, text=True, check=True,
        env={"PYTHONPATH": str(package.parent), "HOME": str(package.parent)},
    )  # fmt: skip
    return dict(word.split("=") for word in result.stdout.split())


def test_an_edit_changes_the_cache_folders_of_the_kernels_that_it_may_change_and_no_others(copy):
    source = kernel_sources()[-1].relative_to(ROOT)
    before = folders_seen_from(copy)
    for edited, parts in (("errors.py", set()), (source, {source.parts[0]}), ("kernels.py", set(kernel_parts()))):
        file = copy / edited
        file.write_text(file.read_text() + "\n# changed\n")
        after = folders_seen_from(copy)
        assert {part for part in before if before[part] != after[part]} == parts, edited
        before = after


def test_a_kernel_is_cached_in_the_folder_of_its_part():
    from handloom.render.cpu.rays.space import bounds

    assert Path(bounds._cache.cache_path).is_relative_to(cache_folder("render"))


def test_a_second_installation_finds_the_kernels_of_the_first(copy):
    # The one kernel that does not pull in the rest of its part: quick to compile.
    code = (
        "import numpy as np; from handloom.dataset.video.video_writer import colour_planes as k;"
        "k(np.zeros((2, 2, 3), np.uint8), *np.zeros((3, 2, 2), np.uint8)); print(sum(k.stats.cache_hits.values()))"
    )

    def hits(package: Path) -> str:
        environment = {"PYTHONPATH": str(package.parent), "HANDLOOM_CACHE": str(copy.parent / "cache")}
        command = [sys.executable, "-c", code]
        return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout.strip()

    assert hits(copy) == "0"
    elsewhere = copy.parent / "elsewhere" / "handloom"
    shutil.copytree(copy, elsewhere, copy_function=shutil.copyfile)  # other path, other dates
    assert hits(elsewhere) == "1"


@pytest.mark.parametrize("part", kernel_parts())
def test_no_kernel_file_imports_kernels_of_another_part(part):
    theirs = [file for file in kernel_sources() if file.relative_to(ROOT).parts[0] != part]
    modules = {
        "handloom." + ".".join(file.with_suffix("").relative_to(ROOT).parts)
        for file in theirs
        if re.search(r"^@(picture_|inner_)?kernel", file.read_text(), re.MULTILINE)
    }
    for file in kernel_sources():
        if file.relative_to(ROOT).parts[0] == part:
            assert not modules & set(re.findall(r"^from (\S+) import", file.read_text(), re.MULTILINE)), file


def test_nobody_compiles_outside_the_kernels_module():
    offenders = [
        file.relative_to(ROOT)
        for file in ROOT.rglob("*.py")
        if file.name != "kernels.py" and ("numba.njit" in (text := file.read_text()) or "from numba import" in text)
    ]
    assert offenders == []


def test_the_warm_up_table_covers_every_part_and_names_code_that_exists():
    assert {part for step in STEPS.values() for part in step.parts} == set(kernel_parts())
    for step in STEPS.values():
        module, _, function = step.code.partition(":")
        assert callable(getattr(importlib.import_module(module), function))
    assert len({warm_marker(name) for name in STEPS}) == len(STEPS)


def test_a_run_compiles_no_kernel_of_the_isaac_shell():
    assert "isaac" not in {part for name in GENERATE for part in STEPS[name].parts}
    code = "import sys, handloom.cli.runs.generate, handloom.engine.warmup; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "handloom.engine.warmup" in loaded
    assert not [module for module in loaded if module.startswith("handloom.isaac")]

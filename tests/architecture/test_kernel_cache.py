"""Compiled kernels are thrown away when any kernel source changes, not only their own file."""

import shutil
import subprocess
import sys
from pathlib import Path

import handloom
from handloom.kernels import cache_folder, kernel_sources

ROOT = Path(handloom.__file__).parent


def folder_seen_from(package_parent: Path) -> str:
    code = "from handloom.kernels import cache_folder; print(cache_folder())"
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=package_parent, capture_output=True, text=True, check=True,
        env={"PYTHONPATH": str(package_parent), "HOME": str(package_parent)},
    )  # fmt: skip
    return Path(result.stdout.strip()).name


def test_editing_any_kernel_source_changes_the_cache_folder(tmp_path):
    copy = tmp_path / "handloom"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns("__pycache__", "zoo"))
    before = folder_seen_from(tmp_path)
    callee = copy / kernel_sources()[-1].relative_to(ROOT)
    callee.write_text(callee.read_text() + "\n# changed\n")
    assert folder_seen_from(tmp_path) != before


def test_editing_a_file_without_kernels_keeps_the_cache_folder(tmp_path):
    copy = tmp_path / "handloom"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns("__pycache__", "zoo"))
    before = folder_seen_from(tmp_path)
    (copy / "errors.py").write_text((copy / "errors.py").read_text() + "\n# changed\n")
    assert folder_seen_from(tmp_path) == before


def test_numba_uses_the_keyed_folder():
    from numba.core import config

    assert str(cache_folder()) == config.CACHE_DIR


def test_nobody_compiles_outside_the_kernels_module():
    offenders = [
        file.relative_to(ROOT)
        for file in ROOT.rglob("*.py")
        if file.name != "kernels.py" and ("numba.njit" in (text := file.read_text()) or "from numba import" in text)
    ]
    assert offenders == []

"""`handloom doctor` finds what is missing, whatever is missing, and advertises only what does something."""

import importlib.metadata
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from handloom.cli.main import DONE, main
from handloom.cli.verbs.doctor import _requirements

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
MODULES = {"pyyaml": "yaml"}
"""Packages that are imported by another name than they are installed by."""
MISSING = ("av", "mujoco", "numpy", "pyyaml", "rich", "tyro", "pydantic")
"""One of each kind: needed by several looks, by all, by the command line, by none."""
WITHOUT = """
import importlib.metadata, sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split('.')[0] == {module!r}:
            raise ModuleNotFoundError(f'No module named {{name!r}}', name=name)
sys.meta_path.insert(0, Refuse())
version = importlib.metadata.version
def without(name):
    if name == {package!r}:
        raise importlib.metadata.PackageNotFoundError(name)
    return version(name)
importlib.metadata.version = without
from handloom.cli import main
raise SystemExit(main(['doctor']))
"""


@pytest.mark.parametrize("package", MISSING)
def test_a_package_that_is_missing_is_a_finding(package: str, tmp_path: Path) -> None:
    code = WITHOUT.format(package=package, module=MODULES.get(package, package))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert "Traceback" not in done.stderr
    if package == "tyro":  # Reads the command line, so that nothing else can be said.
        assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
        assert "'tyro' is not installed" in done.stderr
        return
    assert done.returncode == 1
    assert f"gap  packages    not installed: {package}; pip install {package}" in done.stdout


def test_an_installation_without_metadata_is_a_finding(capsys, monkeypatch) -> None:
    def nothing(name: str) -> list[str]:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.requires", nothing)
    assert main(["doctor"]) != DONE
    assert "gap  packages    the package 'handloom' is not installed" in capsys.readouterr().out


def test_every_extra_is_asked_for_somewhere_and_brings_what_is_asked() -> None:
    source = "\n".join(file.read_text(encoding="utf-8") for file in (ROOT / "src").rglob("*.py"))
    asked = set(re.findall(r'require\([^)]*extra="(\w+)"\)', source))
    # The peers of the benchmarks are measured where they are installed, the tools of the docs are for our own pages.
    offered = set(PROJECT["optional-dependencies"]) - {"dev", "bench", "docs"}
    assert offered == asked


def test_needed_packages_and_extras_are_those_of_the_metadata() -> None:
    needed, extras = _requirements()
    assert set(needed) >= {"av", "mujoco", "numba"}
    assert extras["hdf5"] == ["h5py"]
    assert "dev" not in extras

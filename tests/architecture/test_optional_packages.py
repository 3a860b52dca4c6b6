"""The base install works without any optional package, and says what to install when one is needed."""

import subprocess
import sys

import pytest

from handloom.errors import MissingExtraError, require

OPTIONAL = (
    "torch",
    "ray",
    "pxr",
    "trimesh",
    "coacd",
    "warp",
    "onnxruntime",
    "rerun",
    "gymnasium",
    "h5py",
    "lerobot",
    "websockets",
    "cryptography",
    "uvicorn",
)


def test_importing_every_module_works_without_optional_packages():
    code = f"""
import importlib, pkgutil, sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split('.')[0] in {OPTIONAL!r}:
            raise ModuleNotFoundError(f'optional package {{name}} imported at module level', name=name)
sys.meta_path.insert(0, Refuse())
import handloom
from handloom.errors import MissingExtraError
for module in pkgutil.walk_packages(handloom.__path__, 'handloom.', onerror=lambda name: None):
    if module.name.endswith('__main__'):
        continue
    try:
        importlib.import_module(module.name)
    except MissingExtraError:
        assert module.name.startswith('handloom.gym'), module.name  # It is nothing but an interface of Gymnasium's.
"""
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)


def test_a_missing_package_names_the_extra_that_brings_it():
    with pytest.raises(MissingExtraError, match=r"pip install 'handloom\[ray\]'"):
        require("a_package_nobody_has", extra="ray")

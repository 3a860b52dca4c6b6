"""Tasks written for one test; the values they are made of are importable under ``--import-mode=importlib``."""

import sys
from pathlib import Path

import pytest
import yaml

from handloom.tasks import load_task

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def write(tmp_path):
    """Write a task of one robot at a table, with the given objects, regions and other keys."""
    from task_files import ARENA, task_values

    def write_task(**keys):
        (tmp_path / "arena.yaml").write_text(yaml.safe_dump(ARENA))
        file = tmp_path / "task.yaml"
        file.write_text(yaml.safe_dump(task_values(**keys), sort_keys=False))
        return file

    return write_task


@pytest.fixture
def make(write):
    """Write and load a task."""
    return lambda **keys: load_task(write(**keys))


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """Return a checkout of the published shape with one task file of every family."""
    from reference_files import FAMILIES, write_checkout

    root = tmp_path_factory.mktemp("checkout")
    write_checkout(root, len(FAMILIES))
    return root

"""Things that many tests look at and that take a moment to make."""

import os
import sys
from pathlib import Path

import pytest

from handloom.episode import run_episode
from handloom.scene import build_scene
from handloom.seeding import generator
from handloom.skills import Schedule
from handloom.tasks import load_task, sample_task

sys.path.insert(0, str(Path(__file__).parent))  # Modules that tests of several folders share.
# Tests start some two hundred programs: without bytecode each of them would compile the whole package, for a second.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

PICK = "fr3_pick_cube"


@pytest.fixture(scope="session")
def pick_record():
    """A recorded episode of the FR3 that picks up a cube."""
    task = load_task(PICK, overrides=["cameras.0.size=[32, 32]", "cameras.1.size=[32, 32]"])
    scene = build_scene(sample_task(task, 0, 0))
    return run_episode(scene, Schedule(scene, task.config.skills, generator(0, 0, "skills")))

"""A recorded episode, and the browser beside the tests."""

import sys
from pathlib import Path

import pytest

from handloom.engine.attempt import Stopwatch, simulate
from handloom.scene import Scene
from handloom.tasks import load_task
from handloom.values import EpisodeRecord

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[2])]


@pytest.fixture(scope="session")
def picked() -> tuple[Scene, EpisodeRecord]:
    """Return an episode in which a cube is put on a plate."""
    scene, record = simulate(load_task("fr3_pick_place"), 0, 0, Stopwatch())
    assert record.success
    return scene, record

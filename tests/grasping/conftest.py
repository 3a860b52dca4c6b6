"""Grippers and objects that several tests share."""

import pytest

from handloom.grasping import GripperShape
from handloom.robots import load_robot


@pytest.fixture(scope="session")
def fr3() -> GripperShape:
    return GripperShape.of(load_robot("fr3"))


@pytest.fixture(scope="session")
def so101() -> GripperShape:
    return GripperShape.of(load_robot("so101"))


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    """Keep grasp files of tests away from the user's; compiled kernels have found their folder by now."""
    monkeypatch.setenv("HANDLOOM_CACHE", str(tmp_path_factory.mktemp("cache")))

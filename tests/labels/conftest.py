"""Episodes with all labels, made once."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))

from labelled_episodes import Labelled, labelled

SMALL = ("cameras.0.size=[96, 80]", "cameras.1.size=[81, 64]")


@pytest.fixture(scope="session")
def picked(tmp_path_factory) -> Labelled:
    """A cube that goes onto a plate."""
    return labelled("fr3_pick_place", 5, tmp_path_factory.mktemp("picked"), *SMALL)


@pytest.fixture(scope="session")
def opened(tmp_path_factory) -> Labelled:
    """A drawer that opens."""
    return labelled("fr3_open_drawer", 5, tmp_path_factory.mktemp("opened"), *SMALL)


@pytest.fixture(params=["picked", "opened"])
def episode(request) -> Labelled:
    return request.getfixturevalue(request.param)

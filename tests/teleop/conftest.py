"""Make the helpers beside the tests importable under ``--import-mode=importlib``; a hand that carries out a task."""

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE / "leader"), str(HERE.parent)]


@pytest.fixture(scope="session")
def hand():
    """The input of a hand that succeeds in the first scene of the sessions of these tests."""
    from expert_hand import expert_record, hand_recording
    from test_teleop_run import SEED, task_of

    return hand_recording(expert_record(task_of(), SEED, 0))

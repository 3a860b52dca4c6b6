"""Generators depend on seed, episode and stream name, and on nothing else."""

import subprocess
import sys

import numpy as np
import pytest

from handloom.errors import InputError
from handloom.seeding import generator


def test_the_same_key_gives_the_same_numbers_in_another_process():
    code = "from handloom.seeding import generator; print(generator(7, 3, 'objects').integers(1 << 62))"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(other.stdout) == generator(7, 3, "objects").integers(1 << 62)


def test_seed_episode_and_stream_each_change_the_numbers():
    keys = [(0, 0, "a"), (1, 0, "a"), (0, 1, "a"), (0, 0, "b")]
    draws = {int(generator(*key).integers(1 << 62)) for key in keys}
    assert len(draws) == 4


def test_two_tasks_at_one_seed_share_no_numbers():
    draws = {int(generator(0, 0, "lights", task=task).integers(1 << 62)) for task in ("", "pick", "place")}
    assert len(draws) == 3


def test_streams_are_independent():
    draws = np.stack([generator(0, i, s).standard_normal(500) for i in range(20) for s in ("a", "b")])
    correlation = np.corrcoef(draws) - np.eye(40)
    assert np.abs(correlation).max() < 0.25


@pytest.mark.parametrize("key", [(-1, 0, "a"), (0, -1, "a"), (0, 0, ""), (0.5, 0, "a"), (True, 0, "a")])
def test_keys_that_are_not_seeds_are_refused(key):
    with pytest.raises(InputError):
        generator(*key)

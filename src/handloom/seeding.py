"""Random generators that depend on (run seed, task, episode index, stream name) and on nothing else."""

import hashlib

import numpy as np

from handloom.errors import InputError

TEST_SEEDS = 1_000_000_000
"""Run seeds from this value on are reserved for scenes that policies are tested on: do not train on them."""


def generator(run_seed: int, episode: int, stream: str, *, task: str = "") -> np.random.Generator:
    """Return the generator of one named stream of one episode.

    Streams are independent: drawing more from ``"objects"`` never changes what ``"cameras"`` gives.

    Args:
        run_seed: Seed of the run, >= 0.
        episode: Attempt index within the run, >= 0.
        stream: Purpose of the random numbers, e.g. ``"objects"``; any non-empty text.
        task: Name of the task, so that two tasks with the same seed share no lights or textures; may be empty.
    """
    for name, value in (("run_seed", run_seed), ("episode", episode)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
            raise InputError(f"{name} must be an integer >= 0, got {value!r}")
    if not stream:
        raise InputError("a random stream needs a name")
    return np.random.Generator(
        np.random.PCG64(
            np.random.SeedSequence(
                int(run_seed), spawn_key=(int(episode), _stream_key(f"{task}/{stream}" if task else stream))
            )
        )
    )


def _stream_key(stream: str) -> int:
    """Return a 32-bit key of the stream's name that is the same in every process (unlike ``hash``)."""
    return int.from_bytes(hashlib.sha256(stream.encode()).digest()[:4], "little")

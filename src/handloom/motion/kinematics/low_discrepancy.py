"""Halton points: deterministic samples that fill a box evenly, starting with the first points."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array

# The first primes, one per dimension; enough for two arms with a mobile base.
PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89)


@lru_cache(maxsize=64)
def halton(count: int, dimensions: int, *, seed: int = 0) -> Array:
    """Return Halton points (count, dimensions) in [0, 1), shifted as a whole by a vector drawn from ``seed``.

    A larger ``count`` only appends points. Dimensions beyond the table of primes are filled with plain random
    numbers, since Halton points with large bases are badly correlated there. The array is shared and cannot be
    written to: planners request the same points again and again.
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    shift = rng.random(dimensions)
    known = min(dimensions, len(PRIMES))
    points = np.empty((count, dimensions))
    for d in range(known):
        # Skipping index 0 keeps the corner of the box out of the sequence.
        points[:, d] = _radical_inverse(np.arange(1, count + 1), PRIMES[d])
    points[:, known:] = rng.random((count, dimensions - known))
    result = (points + shift) % 1.0
    result.flags.writeable = False
    return result


def _radical_inverse(indices: NDArray[np.int64], radix: int) -> Array:
    """Return the digits of each index in ``radix``, mirrored at the radix point."""
    remaining, result, weight = indices.copy(), np.zeros(len(indices)), 1.0 / radix
    while remaining.any():
        result += weight * (remaining % radix)
        remaining //= radix
        weight /= radix
    return result

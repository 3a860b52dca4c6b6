"""Random numbers between two bounds of a config."""

import numpy as np
from numpy.typing import ArrayLike

from handloom.arrays import Array


def between(rng: np.random.Generator, one: ArrayLike, other: ArrayLike, size: tuple[int, ...] | None = None) -> Array:
    """Return uniform draws between two bounds, whichever of them is the larger; both bounds may be arrays."""
    return np.asarray(rng.uniform(np.minimum(one, other), np.maximum(one, other), size))

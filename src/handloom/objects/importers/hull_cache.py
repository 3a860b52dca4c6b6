"""Convex pieces of meshes, kept between runs: cutting one takes seconds, and every worker needs it."""

import hashlib
import os
import tempfile
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.cache import user_cache

_RECIPE = "coacd threshold 0.05, 24 parts, 24 vertices, seed 0"
"""Changes whenever the pieces of an unchanged mesh would."""


def cached_hulls(vertices: Array, faces: NDArray[np.int32], cut: Callable[[], list[Array]]) -> list[Array]:
    """Return the pieces (each (n, 3) [m]) of a surface from the cache, or cut and keep them."""
    digest = hashlib.sha256(_RECIPE.encode())
    digest.update(np.ascontiguousarray(vertices).tobytes())
    digest.update(np.ascontiguousarray(faces).tobytes())
    file = user_cache() / "hulls" / f"{digest.hexdigest()}.npz"
    if file.is_file():
        with np.load(file) as stored:
            return [stored[name] for name in sorted(stored.files)]
    pieces = cut()
    file.parent.mkdir(parents=True, exist_ok=True)
    # Written aside and renamed, so that another worker never reads half a file.
    handle, aside = tempfile.mkstemp(dir=file.parent, suffix=".npz")
    with os.fdopen(handle, "wb") as stream:
        np.savez(stream, allow_pickle=False, **{f"{k:03d}": piece for k, piece in enumerate(pieces)})
    os.replace(aside, file)
    return pieces

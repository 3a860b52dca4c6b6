"""Columns of label files: lists of structs per frame, built from flat arrays without a loop over rows."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

Fields = Mapping[str, pa.Array]
"""Values of the items of all frames, concatenated, by field."""


def vectors(values: ArrayLike, *, dtype: Any = np.float32) -> pa.Array:
    """Return numbers (n, m) as n lists of m numbers each."""
    array = np.ascontiguousarray(values, dtype=dtype)
    return pa.FixedSizeListArray.from_arrays(pa.array(array.reshape(-1)), array.shape[1])


def numbers(values: ArrayLike, *, dtype: Any = np.float32) -> pa.Array:
    """Return numbers (n,)."""
    return pa.array(np.ascontiguousarray(values, dtype=dtype))


def names(choices: Sequence[str], which: ArrayLike) -> pa.Array:
    """Return strings given by their index among a few choices."""
    table = pa.array(list(choices), pa.string())
    return table.take(pa.array(np.asarray(which, np.int64)))


def ragged(counts: ArrayLike, fields: Fields) -> pa.Array:
    """Return one list of structs per frame.

    Args:
        counts: Number of items per frame (k,).
        fields: The items of all frames in order.
    """
    flat = pa.StructArray.from_arrays(list(fields.values()), names=list(fields))
    return lists(counts, flat)


def lists(counts: ArrayLike, values: pa.Array) -> pa.Array:
    """Return one list per row of the given lengths."""
    offsets = np.concatenate([[0], np.cumsum(np.asarray(counts, np.int64))])
    return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), values)


def every_frame(frames: int, choices: Sequence[Any]) -> NDArray[np.int64]:
    """Return the numbers 0 .. n - 1 of choices once for every frame (frames * n,)."""
    return np.tile(np.arange(len(choices)), frames)

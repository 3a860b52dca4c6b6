"""How far the outlines of two segmentations are apart."""

import numpy as np
from numpy.typing import NDArray

FAR = 99
"""Distance where one of the two does not show something at all [px]."""


def outline_distance(first: NDArray[np.int32], second: NDArray[np.int32]) -> dict[int, int]:
    """Return, by id, how far a pixel of it in one picture is at most from the nearest one in the other [px].

    A pixel without a neighbour of its kind is no part of an outline: where two surfaces meet, a graphics card leaves a
    pixel out now and then, through which what lies behind shines.

    Args:
        first: Ids (h, w).
        second: Ids (h, w).
    """
    ids = np.union1d(np.unique(first), np.unique(second))
    return {
        int(k): max(_furthest(_solid(first == k), second == k), _furthest(_solid(second == k), first == k)) for k in ids
    }


def _solid(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return a mask without single pixels."""
    wide = np.pad(mask, 1)
    height, width = mask.shape
    around = sum(wide[y : y + height, x : x + width].astype(int) for y in range(3) for x in range(3))
    return mask & (around > 1)


def _furthest(of: NDArray[np.bool_], to: NDArray[np.bool_]) -> int:
    """Return how far the pixels of one mask are at most from another, by rows, columns and diagonals."""
    for distance in range(12):
        if not np.any(of & ~to):
            return distance
        to = _grown(to)
    return FAR


def _grown(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    wide = np.pad(mask, 1)
    height, width = mask.shape
    parts = [wide[y : y + height, x : x + width] for y in range(3) for x in range(3)]
    return np.any(parts, axis=0)

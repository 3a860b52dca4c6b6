"""Statistics of features: minimum, maximum, mean, deviation and quantiles of all frames, not averages of averages.

Quantiles are those of ``numpy.quantile`` (linear interpolation) over every frame of the dataset. For columns they come
from the values themselves; for images from histograms, whose sum is the histogram of the whole dataset.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array

QUANTILES: Mapping[str, float] = {"q01": 0.01, "q10": 0.10, "q50": 0.50, "q90": 0.90, "q99": 0.99}
"""LeRobot's names."""

STATISTICS = ("min", "max", "mean", "std", "count", *QUANTILES)
"""Names of all statistics, in the order they are written."""


@dataclass(frozen=True, kw_only=True)
class Statistics:
    """Statistics of one feature; arrays have one entry per entry of the feature (per channel for images)."""

    min: NDArray[Any]
    max: NDArray[Any]
    mean: Array
    std: Array
    count: int
    """Number of frames they were taken from."""
    quantiles: Mapping[str, Array]
    """By LeRobot's names, e.g. ``q50``."""

    def as_lists(self, *, image: bool = False) -> dict[str, list[Any]]:
        """Return plain lists by statistic; for images each entry is ``[[x]]``, i.e. shape (channels, 1, 1)."""
        arrays = {"min": self.min, "max": self.max, "mean": self.mean, "std": self.std, **self.quantiles}
        lists = {
            name: array.reshape(-1, 1, 1).tolist() if image else array.reshape(-1).tolist()
            for name, array in arrays.items()
        }
        lists["count"] = [self.count]
        return {name: lists[name] for name in STATISTICS}


def column_statistics(values: NDArray[Any]) -> Statistics:
    """Return the statistics of a column ``(frames, n)``.

    Booleans count as 0 and 1. Sums are taken in float64 around the minimum, so that a column of one value has exactly
    that mean and no deviation.
    """
    numbers = values.astype(np.int64) if values.dtype == np.bool_ else values
    low, high = numbers.min(axis=0), numbers.max(axis=0)
    centred = numbers.astype(np.float64) - low.astype(np.float64)
    mean = centred.mean(axis=0)
    levels = np.quantile(numbers.astype(np.float64), list(QUANTILES.values()), axis=0)
    return Statistics(
        min=low,
        max=high,
        mean=mean + low,
        std=np.sqrt(np.square(centred - mean).mean(axis=0)),
        count=len(numbers),
        quantiles=dict(zip(QUANTILES, levels, strict=True)),
    )

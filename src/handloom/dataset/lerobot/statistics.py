"""Statistics of features: minimum, maximum, mean, deviation and quantiles of all frames, not averages of averages.

Quantiles are those of ``numpy.quantile`` (linear interpolation) over every frame of the dataset. For columns they come
from the values themselves; for images from histograms, whose sum is the histogram of the whole dataset.
"""

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.errors import InputError

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
    """Number of frames they were computed from."""
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

    Booleans count as 0 and 1. Sums are taken in float64 relative to the minimum, so that a constant column has
    exactly that mean and zero deviation.
    """
    numbers = values.astype(np.int64) if values.dtype == np.bool_ else values
    low, high = numbers.min(axis=0), numbers.max(axis=0)
    base = low.astype(np.float64)
    mean = _sum_of_rows(numbers, lambda block: block - base) / len(numbers)
    variance = _sum_of_rows(numbers, lambda block: np.square(block - base - mean)) / len(numbers)
    levels = np.stack([_quantiles(numbers[:, entry]) for entry in range(numbers.shape[1])], axis=1)
    return Statistics(
        min=low,
        max=high,
        mean=mean + low,
        std=np.sqrt(variance),
        count=len(numbers),
        quantiles=dict(zip(QUANTILES, levels, strict=True)),
    )


ROWS_AT_ONCE = 8192
"""Number of rows summed together: the sums equal those of all rows at once, and the rows fit into the cache."""


def _sum_of_rows(numbers: NDArray[Any], terms: Callable[[Array], Array]) -> Array:
    """Return the sum over all rows ``(n,)`` of ``terms``, row after row."""
    if numbers.shape[1] == 1:  # NumPy sums a single column pairwise, so it is summed in one call.
        return terms(numbers.astype(np.float64)).sum(axis=0)
    total = np.zeros(numbers.shape[1])
    for start in range(0, len(numbers), ROWS_AT_ONCE):
        block = terms(numbers[start : start + ROWS_AT_ONCE].astype(np.float64))
        total = np.concatenate([total[None], block]).sum(axis=0)
    return total


def _quantiles(numbers: NDArray[Any]) -> Array:
    """Return the quantiles of a column of numbers, those of ``numpy.quantile``, without sorting all of them."""
    below, above, both, share = _ranks(len(numbers))
    sorted_there = np.partition(numbers, both)
    first, second = sorted_there[below].astype(np.float64), sorted_there[above].astype(np.float64)
    step = second - first
    return np.where(share >= 0.5, second - step * (1 - share), first + step * share)


@lru_cache(maxsize=10_000)
def _ranks(count: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], Array]:
    """Return the ranks below and above each quantile of a number of values, all ranks, and the shares in between."""
    places: Array = np.array(list(QUANTILES.values())) * (count - 1)
    below = np.floor(places).astype(np.int64)
    above = np.minimum(below + 1, count - 1)
    return below, above, np.unique([below, above]), places - below


class ImageHistogram:
    """Counts of pixel values per channel, for statistics over any number of images that are not averages of averages.

    Every ``FRAME_STEP``-th frame and every ``PIXEL_STEP``-th row and column are counted: a few thousand pixels of a
    frame fix a quantile to far less than one grey level, and counting costs under 1 % of encoding the frame.
    """

    FRAME_STEP = 5
    PIXEL_STEP = 2

    def __init__(self, *, channels: int, levels: int = 256) -> None:
        self.counts = np.zeros((channels, levels), np.int64)
        """Pixels per channel and value ``(channels, levels)``."""
        self.frame_count = 0
        """Frames counted so far."""
        self._seen = 0

    def add(self, image: NDArray[np.unsignedinteger]) -> None:
        """Count a frame ``(h, w, channels)`` or ``(h, w)``; frames between two steps are skipped."""
        if self._seen % self.FRAME_STEP == 0:
            pixels = image[:: self.PIXEL_STEP, :: self.PIXEL_STEP].reshape(-1, len(self.counts))
            levels = self.counts.shape[1]
            self.counts += [np.bincount(channel, minlength=levels) for channel in pixels.T]
            self.frame_count += 1
        self._seen += 1

    def merge(self, other: "ImageHistogram") -> None:
        """Add the counts of another histogram."""
        self.counts += other.counts
        self.frame_count += other.frame_count

    def statistics(self, values: Array) -> Statistics:
        """Return the statistics, given the value of each level ``(levels,)``: ``level / 255``, or metres."""
        present = self.counts > 0
        first = present.argmax(axis=1)
        last = self.counts.shape[1] - 1 - present[:, ::-1].argmax(axis=1)
        total = self.counts.sum(axis=1)
        low, high = values[first], values[last]
        centred = values[None, :] - low[:, None]
        mean = (self.counts * centred).sum(axis=1) / total
        variance = (self.counts * np.square(centred - mean[:, None])).sum(axis=1) / total
        return Statistics(
            min=low,
            max=high,
            mean=mean + low,
            std=np.sqrt(variance),
            count=self.frame_count,
            quantiles={name: self._quantile(level, values) for name, level in QUANTILES.items()},
        )

    def _quantile(self, level: float, values: Array) -> Array:
        """Return one quantile per channel, interpolated as if all pixels were sorted in a row."""
        result = np.empty(len(self.counts))
        for channel, counts in enumerate(self.counts):
            ends = counts.cumsum()
            position = level * (ends[-1] - 1)
            below = int(np.floor(position))
            lower = values[np.searchsorted(ends, below, side="right")]
            upper = values[np.searchsorted(ends, min(below + 1, ends[-1] - 1), side="right")]
            result[channel] = lower + (upper - lower) * (position - below)
        return result

    def to_json(self) -> dict[str, Any]:
        """Return plain values; the counts are one string (base64 of little-endian int64), which is fast to read."""
        text = base64.b64encode(self.counts.astype("<i8").tobytes()).decode()
        return {"channels": len(self.counts), "frames": self.frame_count, "counts": text}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "ImageHistogram":
        """Read what ``to_json`` wrote."""
        counts = np.frombuffer(base64.b64decode(value["counts"]), "<i8").reshape(value["channels"], -1)
        if counts.min(initial=0) < 0 or not 0 < counts.sum(dtype=float) < 2**53:
            raise InputError("a histogram must have pixel counts that are not all zero")
        histogram = cls(channels=counts.shape[0], levels=counts.shape[1])
        histogram.counts += counts
        histogram.frame_count = value["frames"]
        return histogram

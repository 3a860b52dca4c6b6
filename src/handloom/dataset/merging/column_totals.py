"""Statistics of all columns of a dataset, stored so that episodes can be added without reading the others again.

Minimum, maximum, mean and standard deviation follow from those of the episodes, one after another. Quantiles come
from counts of values in bins whose width is a fixed fraction of the value: the counts add up to the same numbers no
matter how the episodes are divided into files and runs. The result depends only on the episodes and their order, so
the statistics of a dataset that grew equal, bit for bit, those of a dataset merged in one step.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import Field, FiniteFloat
from typing_extensions import TypedDict

from handloom.arrays import Array
from handloom.dataset.files.parquet_files import open_parquet, write_groups
from handloom.dataset.files.reading import damage_named, parse_json
from handloom.dataset.files.shapes import Count, Text
from handloom.dataset.lerobot.feature import COLUMN_DTYPES
from handloom.dataset.lerobot.statistics import QUANTILES, Statistics
from handloom.errors import FileError

TOTALS = "meta/totals.parquet"
"""File of the totals behind the column statistics, needed to add episodes."""
BITS = 9
"""A bin contains values that share this many bits after the first: its width is 1/1024 to 1/512 of its values."""
SMALLEST, LARGEST = -20, 43
"""Values below two to the power of the first count as zero, values above the second are clipped."""
_LOWEST = (1023 + SMALLEST) << BITS
_CODES = (LARGEST - SMALLEST) << BITS
_AT_ONCE = 2**20
"""Number of values counted in one batch."""
_KEY = b"handloom.totals"
_SCHEMA = pa.schema([("column", pa.string()), ("entry", pa.int32()), ("bin", pa.int32()), ("count", pa.int64())])


class _Facts(TypedDict):
    """The data of a column in the file of totals, apart from its counts."""

    dtype: Text
    count: Count
    min: list[FiniteFloat]
    max: list[FiniteFloat]
    mean: list[FiniteFloat]
    spread: Annotated[list[FiniteFloat], Field(description="sum of squared deviations")]


class ColumnTotals:
    """The statistics of some columns over the episodes seen so far.

    Args:
        dtypes: Type of each column, by name.
        widths: Entries of each column.
    """

    def __init__(self, dtypes: Mapping[str, str], widths: Mapping[str, int]) -> None:
        self.dtypes, self.widths = dict(dtypes), {name: widths[name] for name in dtypes}
        total = sum(self.widths.values())
        self.count = 0
        """Frames seen so far."""
        self._low, self._high = np.full(total, np.inf), np.full(total, -np.inf)
        self._mean, self._spread = np.zeros(total), np.zeros(total)
        self._bins = {name: _Bins(width) for name, width in self.widths.items()}

    def add(self, statistics: Mapping[str, Mapping[str, list[Any]]]) -> None:
        """Add the next episode; ``tally`` counts its values, at any time.

        Args:
            statistics: Its ``min``, ``max``, ``mean``, ``std`` and ``count`` by column.
        """
        told = [statistics[name] for name in self.dtypes]
        low, high, mean, std = (
            np.array([value for column in told for value in column[key]], np.float64)
            for key in ("min", "max", "mean", "std")
        )
        frames = int(told[0]["count"][0])
        if mean.shape != self._mean.shape:
            raise FileError("the statistics of an episode do not fit its columns; generate it again")
        self._low, self._high = np.minimum(self._low, low), np.maximum(self._high, high)
        # Merge two groups of values (Chan, Golub and LeVeque 1979): equal means stay equal, bit for bit.
        step, both = mean - self._mean, self.count + frames
        self._mean = self._mean + step * (frames / both)
        self._spread += np.square(std) * frames + np.square(step) * (self.count * frames / both)
        self.count = both

    def tally(self, values: Mapping[str, NDArray[Any]]) -> None:
        """Count values of columns ``(frames, n)``; their order does not matter."""
        for name, bins in self._bins.items():
            bins.add(name, values[name])

    def statistics(self) -> dict[str, Statistics]:
        """Return the statistics of every column."""
        found, at = {}, 0
        for name, dtype in self.dtypes.items():
            part = slice(at, at + self.widths[name])
            at += self.widths[name]
            kind = np.dtype(np.int64 if dtype == "bool" else COLUMN_DTYPES[dtype])
            low, high = self._low[part], self._high[part]
            levels = self._bins[name].quantiles(whole=kind.kind == "i")
            found[name] = Statistics(
                min=low.astype(kind),
                max=high.astype(kind),
                mean=self._mean[part],
                std=np.sqrt(self._spread[part] / max(self.count, 1)),
                count=self.count,
                quantiles={level: np.clip(levels[i], low, high) for i, level in enumerate(QUANTILES)},
            )
        return found

    def write(self, path: Path) -> None:
        """Write everything needed to continue."""
        facts, at = {}, 0
        for name, dtype in self.dtypes.items():
            part = slice(at, at + self.widths[name])
            at += self.widths[name]
            numbers = {"min": self._low, "max": self._high, "mean": self._mean, "spread": self._spread}
            plain = {key: array[part].tolist() for key, array in numbers.items()}
            facts[name] = {"dtype": dtype, "count": self.count, **plain}
        schema = _SCHEMA.with_metadata({_KEY: json.dumps(facts, allow_nan=False)})
        rows = [(name, *bins.rows()) for name, bins in self._bins.items()]
        arrays = [
            pa.array(np.repeat([row[0] for row in rows], [len(row[1]) for row in rows]), pa.string()),
            *(pa.array(np.concatenate([row[k] for row in rows]), _SCHEMA.field(k).type) for k in (1, 2, 3)),
        ]
        write_groups(path, schema, [pa.Table.from_arrays(arrays, schema=schema)])

    @classmethod
    def read(cls, path: Path) -> "ColumnTotals":
        """Read what ``write`` wrote.

        Raises:
            FileError: It is damaged, or is not such a file.
        """
        with damage_named(path), open_parquet(path) as file:
            schema = file.schema_arrow
            if not schema.equals(_SCHEMA) or _KEY not in (schema.metadata or {}):
                raise FileError(f"{path} does not contain the totals of columns; merge the dataset again")
            facts = parse_json(schema.metadata[_KEY], dict[str, _Facts], source=str(path))
            table = file.read(use_threads=False)
            totals = cls({n: f["dtype"] for n, f in facts.items()}, {n: len(f["mean"]) for n, f in facts.items()})
            totals.count = max((fact["count"] for fact in facts.values()), default=0)
            keys = ("min", "max", "mean", "spread")
            flat = (np.array([v for fact in facts.values() for v in fact[key]], np.float64) for key in keys)
            totals._low, totals._high, totals._mean, totals._spread = flat
            names = table["column"].combine_chunks().dictionary_encode()
            numbers = names.indices.to_numpy()
            entry, code, count = (table[name].to_numpy() for name in ("entry", "bin", "count"))
            for number, name in enumerate(names.dictionary.to_pylist()):
                there = numbers == number
                totals._bins[name].restore(entry[there], code[there], count[there])
        return totals

    def merge(self, other: "ColumnTotals") -> None:
        """Add the counts and the extremes of later episodes."""
        step, both = other._mean - self._mean, max(self.count + other.count, 1)
        self._low, self._high = np.minimum(self._low, other._low), np.maximum(self._high, other._high)
        self._mean = self._mean + step * (other.count / both)
        self._spread += other._spread + np.square(step) * (self.count * other.count / both)
        self.count += other.count
        for name, bins in self._bins.items():
            bins.restore(*other._bins[name].rows())

    @classmethod
    def of_parts(cls, parts: Mapping[str, "ColumnTotals"]) -> "ColumnTotals":
        """Return the totals of some columns, each taken from other totals over the same frames."""
        totals = cls({n: part.dtypes[n] for n, part in parts.items()}, {n: p.widths[n] for n, p in parts.items()})
        totals.count = max(part.count for part in parts.values())
        flat: list[list[Array]] = [[], [], [], []]
        for name, part in parts.items():
            before = list(part.widths)[: list(part.widths).index(name)]
            at = sum(part.widths[other] for other in before)
            place = slice(at, at + part.widths[name])
            for store, array in zip(flat, (part._low, part._high, part._mean, part._spread), strict=True):
                store.append(array[place])
            totals._bins[name] = part._bins[name]
        totals._low, totals._high, totals._mean, totals._spread = (np.concatenate(store) for store in flat)
        return totals

    def differs_from(self, other: "ColumnTotals") -> Iterator[str]:
        """Yield the columns whose counts differ."""
        for name, bins in self._bins.items():
            mine, theirs = bins.rows(), other._bins[name].rows() if name in other._bins else ()
            if len(theirs) != 3 or not all(np.array_equal(a, b) for a, b in zip(mine, theirs, strict=True)):
                yield name


class _Bins:
    """Counts of the values of a column's entries."""

    def __init__(self, width: int) -> None:
        self._first, self._counts = 0, np.zeros((width, 0), np.int64)
        self._waiting: list[NDArray[Any]] = []
        self._size, self._name = 0, ""

    def add(self, name: str, values: NDArray[Any]) -> None:
        """Count values ``(frames, n)``."""
        if values.ndim != 2 or values.shape[1] != len(self._counts):
            raise FileError(f"the column {name!r} has the shape {values.shape}, which does not match")
        self._name = name
        self._waiting.append(values)
        self._size += values.size
        if self._size >= _AT_ONCE:
            self._settle()

    def restore(self, entry: NDArray[Any], code: NDArray[Any], count: NDArray[Any]) -> None:
        """Add counts by entry and bin."""
        if len(code) == 0:
            return
        if min(entry) < 0 or max(entry) >= len(self._counts) or max(np.abs(code)) > _CODES or min(count) < 0:
            raise ValueError("counts of bins that do not exist")
        self._make_room(int(code.min()), int(code.max()))
        np.add.at(self._counts, (entry, code - self._first), count)

    def rows(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Return entry, bin and count of all non-empty bins."""
        self._settle()
        entry, place = np.nonzero(self._counts)
        return entry.astype(np.int32), (place + self._first).astype(np.int32), self._counts[entry, place]

    def quantiles(self, *, whole: bool) -> Array:
        """Return the quantiles ``(levels, n)``; ``whole`` marks integer values."""
        self._settle()
        edges = _edges(self._first, self._counts.shape[1])
        result = np.zeros((len(QUANTILES), len(self._counts)))
        for entry, counts in enumerate(self._counts):
            ends = counts.cumsum()
            places = np.array(list(QUANTILES.values())) * (ends[-1] - 1)
            below = np.floor(places).astype(np.int64)
            first, second = (
                _value(np.minimum(rank, ends[-1] - 1), ends, counts, edges, whole=whole) for rank in (below, below + 1)
            )
            share, step = places - below, second - first
            result[:, entry] = np.where(share >= 0.5, second - step * (1 - share), first + step * share)
        return result

    def _settle(self) -> None:
        """Count the pending values."""
        if not self._waiting:
            return
        values = np.concatenate(self._waiting)
        self._waiting, self._size = [], 0
        if not np.isfinite(values).all():
            raise FileError(
                f"the column {self._name!r} contains numbers that are not finite; leave out the episodes that have them"
            )
        codes = _codes(values)
        self._make_room(int(codes.min()), int(codes.max()))
        width, room = self._counts.shape
        codes += np.arange(width) * room - self._first
        self._counts += np.bincount(codes.ravel(), minlength=width * room).reshape(width, room)

    def _make_room(self, low: int, high: int) -> None:
        width, room = self._counts.shape
        first = min(self._first, low) if room else low
        last = max(self._first + room, high + 1) if room else high + 1
        if (first, last - first) != (self._first, room):
            counts = np.zeros((width, last - first), np.int64)
            counts[:, self._first - first : self._first - first + room] = self._counts
            self._first, self._counts = first, counts


def _codes(values: NDArray[Any]) -> NDArray[np.int64]:
    """Return the bin of every value: zero for zero, negative bins for negative values."""
    numbers = np.ascontiguousarray(values, dtype=np.float64)
    size = (np.abs(numbers).view(np.int64) >> (52 - BITS)) - (_LOWEST - 1)
    np.clip(size, 0, _CODES, out=size)
    return np.where(numbers < 0, -size, size)


def _edges(first: int, count: int) -> tuple[Array, Array]:
    """Return the lower and upper ends of bins."""
    codes = np.arange(first, first + count)
    size = np.maximum(np.abs(codes), 1) + (_LOWEST - 1)
    near, far = ((size + more << (52 - BITS)).astype(np.int64).view(np.float64) for more in (0, 1))
    low, high = np.where(codes < 0, -far, near), np.where(codes < 0, -near, far)
    return np.where(codes == 0, 0.0, low), np.where(codes == 0, 0.0, high)


def _value(
    rank: NDArray[np.int64], ends: NDArray[Any], counts: NDArray[Any], edges: tuple[Array, Array], *, whole: bool
) -> Array:
    """Return the values at ranks, counted from the smallest; values are assumed to be spread evenly over their bin."""
    place = np.searchsorted(ends, rank, side="right")
    low, high = edges[0][place], edges[1][place]
    share = (rank - (ends[place] - counts[place]) + 0.5) / counts[place]
    spread = low + (high - low) * share
    if not whole:
        return spread
    single = np.where(low < 0, high, low)  # The only integer in a narrow bin is the end closer to zero.
    return np.where(high - low <= 1, single, np.rint(spread))

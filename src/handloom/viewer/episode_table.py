"""The episodes of a dataset as columns to filter and sort by, and how unusual each one is."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from handloom.dataset.files.parquet_files import open_parquet
from handloom.dataset.files.reading import damage_named
from handloom.errors import FileError

TEXTS = ("task_name", "robot", "failure_reason", "failure_stage", "failure_detail", "state_hash")
NUMBERS = ("seed", "attempt_index", "attempts")
FLAGS = ("success", "recovery")
SHOWN = ("words", "length", *TEXTS[:-2], *NUMBERS, *FLAGS)
"""Columns sent to the grid; the others are sent per episode."""


@dataclass(frozen=True, kw_only=True)
class EpisodeTable:
    """One list per column, all of the same length; None for missing values."""

    columns: Mapping[str, list[Any]]
    """``words``, ``length`` and the columns in ``TEXTS``, ``NUMBERS`` and ``FLAGS``."""
    rows: Mapping[str, list[Any]]
    """Every column of the table, unchanged, by name."""

    @property
    def count(self) -> int:
        """Number of episodes."""
        return len(self.columns["length"])

    def row(self, index: int) -> dict[str, Any]:
        """Return all columns of an episode."""
        return {name: values[index] for name, values in self.rows.items()}


def table_of(rows: Mapping[str, list[Any]]) -> EpisodeTable:
    """Return the table with LeRobot's columns, and ours where present."""
    count = len(rows["length"])
    columns: dict[str, list[Any]] = {name: rows.get(name) or [None] * count for name in (*TEXTS, *NUMBERS, *FLAGS)}
    columns["length"] = rows["length"]
    columns["words"] = [" · ".join(map(str, words)) if words else "" for words in rows.get("tasks", [()] * count)]
    return EpisodeTable(columns=columns, rows=rows)


def read_episode_table(files: Iterable[Path]) -> EpisodeTable:
    """Read the parquet files of ``meta/episodes`` from any writer, without statistics.

    Raises:
        FileError: A file is damaged, or the episodes are not numbered from 0.
    """
    tables = []
    for path in files:
        with damage_named(path), open_parquet(path) as file:
            names = [name for name in file.schema_arrow.names if not name.startswith("stats/")]
            tables.append(file.read(columns=names, use_threads=False))
    if not tables:
        raise FileError("the dataset has no table of episodes: meta/episodes/ has no parquet file")
    table = pa.concat_tables(tables, promote_options="permissive")
    missing = {"episode_index", "length", "data/chunk_index", "data/file_index"} - set(table.column_names)
    if missing:
        raise FileError(f"the table of episodes has no column {min(missing)!r}; it is not a LeRobot v3 dataset")
    rows = {name: table.column(name).to_pylist() for name in table.column_names}
    if rows["episode_index"] != list(range(table.num_rows)):
        raise FileError("the episodes of the dataset are not numbered from 0; merge it again")
    return table_of(rows)


STATISTICS = ("min", "max", "mean", "std")
MOST_ENTRIES = 64
"""Maximum entries of a feature to compare; longer ones are flattened images."""
LEAST_EPISODES = 8
"""Minimum number of episodes; with fewer, usual values are not defined."""
LEAST_SHARE = 0.02
"""Deviations below this fraction of a number's usual range are ignored."""
TO_DEVIATION = 1.4826
"""Ratio of standard deviation to median absolute deviation for normally distributed numbers."""
HIGHEST = 99.0


def oddness_of(
    files: Iterable[Path], lengths: Sequence[int], features: Mapping[str, Mapping[str, Any]]
) -> tuple[list[float], list[str]]:
    """Return each episode's largest deviation from the median, in standard deviations, and its column.

    Args:
        files: Parquet files of ``meta/episodes``.
        lengths: Frames of every episode.
        features: Features of each frame, as in ``meta/info.json``.
    """
    named = {"length": np.asarray(lengths, np.float64)}
    names = {
        f"stats/{feature}/{statistic}": (feature, statistic)
        for feature, described in features.items()
        if str(described.get("dtype", "")).startswith("float") and len(described.get("shape") or ()) == 1
        for statistic in STATISTICS
    }
    parts: dict[str, list[Any]] = {}
    for path in files:
        with damage_named(path), open_parquet(path) as file:
            there = [name for name in names if name in file.schema_arrow.names]
            table = file.read(columns=there, use_threads=False)
            for name in there:
                parts.setdefault(name, []).extend(table.column(name).to_pylist())
    for name, rows in parts.items():
        feature, statistic = names[name]
        entries = features[feature].get("names")
        values = _matrix(rows, len(lengths))
        for place in range(values.shape[1]):
            entry = entries[place] if isinstance(entries, list) and len(entries) == values.shape[1] else place
            named[f"{statistic} of {feature} {entry}"] = values[:, place]
    return _scores(named)


def _matrix(rows: list[Any], count: int) -> NDArray[np.float64]:
    """Return statistics as (episodes, entries); empty if they have no common shape."""
    try:
        values = np.array(rows, np.float64).reshape(len(rows), -1)
    except (TypeError, ValueError):
        return np.zeros((count, 0))
    return values if values.shape[0] == count and values.shape[1] <= MOST_ENTRIES else np.zeros((count, 0))


def _scores(named: Mapping[str, NDArray[np.float64]]) -> tuple[list[float], list[str]]:
    count = len(named["length"])
    best, because = np.zeros(count), [""] * count
    if count < LEAST_EPISODES:
        return best.tolist(), because
    for name, values in named.items():
        known = np.isfinite(values)
        if not known.any():
            continue
        usual = float(np.median(values[known]))
        away = np.where(known, np.abs(values - usual), 0.0)
        low, high = np.quantile(values[known], (0.02, 0.98))
        spread = max(
            TO_DEVIATION * float(np.median(away[known])), LEAST_SHARE * float(high - low), 1e-3 * abs(usual), 1e-6
        )
        score = np.minimum(away / spread, HIGHEST)
        for index in np.flatnonzero(score > best).tolist():
            because[index] = f"{name} is {values[index]:.3g}, usually {usual:.3g}"
        best = np.maximum(best, score)
    return np.round(best, 2).tolist(), because

"""The episodes of a dataset as columns: what a grid of ten thousand of them is filtered and sorted by."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from handloom.dataset.files.parquet_files import open_parquet
from handloom.dataset.files.reading import damage_named
from handloom.errors import FileError

TEXTS = ("task_name", "robot", "failure_reason", "failure_stage", "failure_detail", "state_hash")
NUMBERS = ("seed", "attempt_index", "attempts")
FLAGS = ("success", "recovery")
SHOWN = ("words", "length", *TEXTS[:-2], *NUMBERS, *FLAGS)
"""Columns that the grid gets; the others are told one episode at a time."""


@dataclass(frozen=True, kw_only=True)
class EpisodeTable:
    """One list per column, all of the same length; what a dataset does not say is None."""

    columns: Mapping[str, list[Any]]
    """``words``, ``length`` and those of ``TEXTS``, ``NUMBERS`` and ``FLAGS``."""
    rows: Mapping[str, list[Any]]
    """Every column of the table as it stands there, by its own name."""

    @property
    def count(self) -> int:
        """Number of episodes."""
        return len(self.columns["length"])

    def row(self, index: int) -> dict[str, Any]:
        """Return everything that is known of an episode."""
        return {name: values[index] for name, values in self.rows.items()}


def table_of(rows: Mapping[str, list[Any]]) -> EpisodeTable:
    """Return the table of columns that have the names of LeRobot's, and of ours where they are there."""
    count = len(rows["length"])
    columns: dict[str, list[Any]] = {name: rows.get(name) or [None] * count for name in (*TEXTS, *NUMBERS, *FLAGS)}
    columns["length"] = rows["length"]
    columns["words"] = [" · ".join(map(str, words)) if words else "" for words in rows.get("tasks", [()] * count)]
    return EpisodeTable(columns=columns, rows=rows)


def read_episode_table(files: Iterable[Path]) -> EpisodeTable:
    """Read the parquet files of ``meta/episodes``, whoever wrote them; statistics are left out.

    Raises:
        FileError: A file is damaged, or the episodes are not numbered from 0.
    """
    tables = []
    for path in files:
        with damage_named(path), open_parquet(path) as file:
            names = [name for name in file.schema_arrow.names if not name.startswith("stats/")]
            tables.append(file.read(columns=names, use_threads=False))
    if not tables:
        raise FileError("the dataset has no table of episodes: meta/episodes/ holds no parquet file")
    table = pa.concat_tables(tables, promote_options="permissive")
    missing = {"episode_index", "length", "data/chunk_index", "data/file_index"} - set(table.column_names)
    if missing:
        raise FileError(f"the table of episodes has no column {min(missing)!r}; it is no LeRobot v3 dataset")
    rows = {name: table.column(name).to_pylist() for name in table.column_names}
    if rows["episode_index"] != list(range(table.num_rows)):
        raise FileError("the episodes of the dataset are not numbered from 0 on; merge it again")
    return table_of(rows)

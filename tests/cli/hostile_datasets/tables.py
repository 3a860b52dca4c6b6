"""Parquet files with wrong columns, wrong numbers and far too many of them."""

import struct
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hostile_datasets.kinds import DATA, EPISODES, TASKS, kind


def edit_table(file: Path, change: Callable[[pa.Table], pa.Table], *, group: int | None = None) -> None:
    table = change(pq.read_table(file))
    if group is None and table.num_rows:
        with pq.ParquetFile(file) as old:
            group = max(old.metadata.row_group(0).num_rows, 1)
    file.unlink()
    pq.write_table(table, file, row_group_size=group)


def with_column(table: pa.Table, name: str, column: Any) -> pa.Table:
    place = table.column_names.index(name)
    return table.set_column(place, name, column)


@kind
def parquet_types(run: Path, rng: Random) -> None:
    """A column of another type."""
    file = run / rng.choice([DATA, EPISODES, TASKS, EPISODES])

    def change(table: pa.Table) -> pa.Table:
        names = [name for name in table.column_names if not name.startswith("stats/")]
        n = table.num_rows
        columns = [
            pa.array(["x"] * n), pa.array([None] * n, pa.int64()), pa.array([b"\xff"] * n), pa.array([1.5] * n),
            pa.array([[1, 2]] * n), pa.array([{"a": 1}] * n), pa.array([True] * n), pa.array([-1] * n),
            pa.array([2**62] * n), pa.array([float("nan")] * n), pa.array([["a", None]] * n), pa.array([10**6] * n),
        ]  # fmt: skip
        return with_column(table, rng.choice(names), rng.choice(columns))

    edit_table(file, change)


@kind
def parquet_columns(run: Path, rng: Random) -> None:
    """Columns missing, doubled or renamed."""
    file = run / rng.choice([DATA, EPISODES, TASKS])

    def change(table: pa.Table) -> pa.Table:
        name = rng.choice([name for name in table.column_names if not name.startswith("stats/")])
        deed = rng.randrange(3)
        if deed == 0:
            return table.drop_columns([name])
        if deed == 1:
            return table.append_column(name, table.column(name))
        return table.rename_columns({name: rng.choice(["", "x\x00y", "\x1b[2J", "z" * 10_000])})

    edit_table(file, change)


@kind
def parquet_rows(run: Path, rng: Random) -> None:
    file = run / rng.choice([DATA, EPISODES, TASKS])
    deed = rng.randrange(3)
    if deed == 0:
        edit_table(file, lambda table: table.slice(0, rng.randrange(table.num_rows)))
    elif deed == 1:
        edit_table(file, lambda table: pa.concat_tables([table] * 3))
    else:
        edit_table(file, lambda table: table.take(list(range(table.num_rows))[::-1]))


@kind
def episode_numbers(run: Path, rng: Random) -> None:
    """Places and lengths that cannot be."""
    names = ["length", "dataset_from_index", "dataset_to_index", "data/chunk_index", "episode_index", "attempt_index"]
    name = rng.choice(names)
    numbers = [10**9, 10**15, -1, 2**62, 0]
    edit_table(run / EPISODES, lambda t: with_column(t, name, pa.array([rng.choice(numbers)] * t.num_rows)))


@kind
def episode_times(run: Path, rng: Random) -> None:
    number = rng.choice([float("nan"), float("inf"), -1.0, 1e300, 1e9])
    name = f"videos/observation.images.front/{rng.choice(['from', 'to'])}_timestamp"
    edit_table(run / EPISODES, lambda table: with_column(table, name, pa.array([number] * table.num_rows)))


@kind
def episode_words(run: Path, rng: Random) -> None:
    words = rng.choice(["\x1b[2J\x1b]0;x\x07", "a" * 10**6, "<script>alert(1)</script>", "\u202e\u0000", ""])
    edit_table(run / EPISODES, lambda table: with_column(table, "tasks", pa.array([[words]] * table.num_rows)))


@kind
def parquet_list_bomb(run: Path, rng: Random) -> None:
    """One row with a list of 200 million times the same, in some hundred bytes."""
    file, name = rng.choice([(run / EPISODES, "tasks"), (run / DATA, "action")])
    count = 200_000_000
    values = np.zeros(count, np.int8)
    ends = [0] + [count] * pq.read_metadata(file).num_rows
    edit_table(
        file, lambda table: with_column(table, name, pa.ListArray.from_arrays(pa.array(ends, pa.int32()), values))
    )


@kind
def parquet_null_bomb(run: Path, rng: Random) -> None:
    """Hundreds of millions of rows of nothing."""
    count = 60_000_000
    file = run / rng.choice([DATA, EPISODES, TASKS])
    schema = pq.read_schema(file)
    name = rng.choice(["length", "action", "task_index"])
    column = pa.nulls(count, schema.field(name).type if name in schema.names else pa.int64())
    file.unlink()
    pq.write_table(pa.table({name: column}), file, row_group_size=count)


@kind
def parquet_wide(run: Path, rng: Random) -> None:
    """Thousands of columns."""
    file = run / rng.choice([EPISODES, DATA])
    rows = pq.read_metadata(file).num_rows
    file.unlink()
    pq.write_table(pa.table({f"c{i}": pa.nulls(rows, pa.int8()) for i in range(5000)}), file)


@kind
def parquet_noise(run: Path, rng: Random) -> None:
    """A flipped footer, half a file, or something else altogether."""
    file = run / rng.choice([DATA, EPISODES, TASKS])
    raw = bytearray(file.read_bytes())
    deed = rng.randrange(4)
    if deed == 0:
        for _ in range(20):
            raw[rng.randrange(len(raw) - 600, len(raw) - 8)] = rng.randrange(256)
    elif deed == 1:
        raw = raw[: rng.randrange(len(raw))]
    elif deed == 2:
        raw[-8:-4] = struct.pack("<I", rng.choice([2**32 - 1, 2**31, 0, 10**6]))
    else:
        raw = bytearray(b"PAR1" + b"\0" * 100 + b"PAR1")
    file.write_bytes(raw)

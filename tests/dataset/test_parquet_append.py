"""Row groups added to a Parquet file give the bytes that writing them all at once gives."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from handloom.dataset.files import parquet_append
from handloom.dataset.files.parquet_append import append_groups
from handloom.dataset.files.parquet_files import write_plain
from handloom.errors import FileError

SCHEMA = pa.schema(
    [
        ("episode_index", pa.int64()),
        ("tasks", pa.list_(pa.string())),
        ("state", pa.list_(pa.float32(), 3)),
        ("success", pa.bool_()),
        ("note", pa.string()),
    ]
)


def group(number: int, rows: int = 5) -> pa.Table:
    rng = np.random.default_rng(number)
    made = [
        {
            "episode_index": number,
            "tasks": [f"task {number % 3}"],
            "state": rng.normal(size=3).astype(np.float32).tolist(),
            "success": bool(row % 2),
            "note": None if row % 3 else f"row {row} of {number}",
        }
        for row in range(rows)
    ]
    return pa.Table.from_pylist(made, schema=SCHEMA)


@pytest.mark.parametrize("first", [1, 7, 14, 15, 200])
@pytest.mark.parametrize("more", [1, 20])
def test_appended_groups_give_the_bytes_of_one_write(tmp_path: Path, first: int, more: int) -> None:
    groups = [group(i) for i in range(first + more)]
    write_plain(tmp_path / "old", SCHEMA, groups[:first])
    write_plain(tmp_path / "whole", SCHEMA, groups)
    append_groups(tmp_path / "old", tmp_path / "new", SCHEMA, groups[first:])
    assert (tmp_path / "new").read_bytes() == (tmp_path / "whole").read_bytes()


@pytest.mark.parametrize("first", [1, 3, 120])
def test_a_last_group_that_grows_is_replaced(tmp_path: Path, first: int) -> None:
    groups = [group(i) for i in range(first)]
    write_plain(tmp_path / "old", SCHEMA, [*groups[:-1], groups[-1].slice(0, 2)])
    write_plain(tmp_path / "whole", SCHEMA, [*groups, group(999)])
    append_groups(tmp_path / "old", tmp_path / "new", SCHEMA, [groups[-1], group(999)], last=True)
    assert (tmp_path / "new").read_bytes() == (tmp_path / "whole").read_bytes()


def test_old_groups_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_append, "open_parquet", None)
    write_plain(tmp_path / "old", SCHEMA, [group(i) for i in range(9)])
    append_groups(tmp_path / "old", tmp_path / "new", SCHEMA, [group(9)])
    assert pq.read_metadata(tmp_path / "new").num_row_groups == 10


def test_a_file_of_another_writer_is_written_again(tmp_path: Path) -> None:
    groups = [group(i) for i in range(5)]
    with pq.ParquetWriter(tmp_path / "old", SCHEMA, write_page_index=True, store_schema=False) as writer:
        for table in groups[:4]:
            writer.write_table(table)
    write_plain(tmp_path / "whole", SCHEMA, groups)
    append_groups(tmp_path / "old", tmp_path / "new", SCHEMA, groups[4:])
    assert (tmp_path / "new").read_bytes() == (tmp_path / "whole").read_bytes()


def test_a_file_that_was_cut_short_is_refused(tmp_path: Path) -> None:
    write_plain(tmp_path / "old", SCHEMA, [group(0)])
    (tmp_path / "old").write_bytes((tmp_path / "old").read_bytes()[:-3])
    with pytest.raises(FileError, match="damaged or cut short"):
        append_groups(tmp_path / "old", tmp_path / "new", SCHEMA, [group(1)])

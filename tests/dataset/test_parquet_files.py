"""Tables of others: a few bytes that stand for gigabytes are refused, and columns are what they should be."""

import resource
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from handloom.dataset.files.parquet_files import numpy_column, open_parquet
from handloom.errors import FileError

PAIR = pa.list_(pa.float32(), 2)
LIST_BOMB = """
import sys
import numpy, pyarrow, pyarrow.parquet
count = 100_000_000
ends = pyarrow.array([0, count], pyarrow.int32())
column = pyarrow.ListArray.from_arrays(ends, pyarrow.array(numpy.zeros(count, numpy.int64)))
pyarrow.parquet.write_table(pyarrow.table({"tasks": column}), sys.argv[1])
"""


def test_a_list_that_is_too_long_to_be_true_is_refused(tmp_path: Path) -> None:
    # In another process: room that was taken before can be had again.
    subprocess.run([sys.executable, "-c", LIST_BOMB, tmp_path / "a.parquet"], check=True)
    assert (tmp_path / "a.parquet").stat().st_size < 10_000
    before = resource.getrlimit(resource.RLIMIT_DATA)
    with pytest.raises(FileError, match="far more memory than its"), open_parquet(tmp_path / "a.parquet") as file:
        file.read().to_pylist()
    assert resource.getrlimit(resource.RLIMIT_DATA) == before


def test_more_rows_than_bytes_are_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": pa.nulls(1_000_000, pa.int64())}), tmp_path / "a.parquet")
    with pytest.raises(FileError, match="hold 1000000 rows"), open_parquet(tmp_path / "a.parquet"):
        pass


def test_memory_is_bounded_within_the_block_only(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [1]}), tmp_path / "a.parquet")
    with pytest.raises(FileError, match="far more memory"), open_parquet(tmp_path / "a.parquet"):
        bytearray(2 * 2**30)
    assert len(bytearray(2**30)) == 2**30


@pytest.mark.parametrize(
    "column",
    [pa.array(["x", "y"]), pa.array([1.0, None], pa.float32()), pa.array([1, 2]), pa.array([[1.0], [2.0]]),
     pa.array([[1.0, 2.0], None], PAIR), pa.array([[1.0, None], [1.0, 2.0]], PAIR)],
    ids=lambda column: str(column.type),
)  # fmt: skip
def test_a_column_of_another_type_or_with_gaps_is_refused(column: pa.Array) -> None:
    with pytest.raises(FileError, match="the column 'a' must hold float32 without gaps"):
        numpy_column(pa.table({"a": column}), "a", "float32")


def test_readers_that_overlap_leave_the_limit_on_memory_as_it_was(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [1]}), tmp_path / "a.parquet")
    before = resource.getrlimit(resource.RLIMIT_DATA)
    first, second = open_parquet(tmp_path / "a.parquet"), open_parquet(tmp_path / "a.parquet")
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert resource.getrlimit(resource.RLIMIT_DATA)[0] > 0, "the other is still bounded"
    second.__exit__(None, None, None)
    assert resource.getrlimit(resource.RLIMIT_DATA) == before


def test_columns_can_be_chosen_by_name(tmp_path: Path) -> None:
    table = pa.table({"a": [1, 2], "b": [[1], [2, 3]], "c": pa.array([{"d": 1, "e": "x"}, {"d": 2, "e": "y"}])})
    pq.write_table(table, tmp_path / "a.parquet")
    with open_parquet(tmp_path / "a.parquet") as file:
        assert file.read(columns=["b", "a"]).to_pydict() == {"b": [[1], [2, 3]], "a": [1, 2]}
        assert file.read_row_group(0, columns=["c.e"]).to_pylist() == [{"c": {"e": "x"}}, {"c": {"e": "y"}}]
        assert file.read().to_pydict() == table.to_pydict()

"""Parquet with every option pinned: equal tables give equal bytes, on any number of threads, at any time."""

import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from handloom.dataset.files.durable import atomic_write, file_errors
from handloom.dataset.files.reading import checked_size
from handloom.dataset.lerobot.feature import BOOKKEEPING, COLUMN_DTYPES, Feature
from handloom.errors import FileError

OPTIONS: dict[str, Any] = {
    "version": "2.6",
    "data_page_version": "1.0",
    "compression": "snappy",
    "use_dictionary": ["episode_index", "task_index", "subtask_index", "tasks.list.element"],
    "write_statistics": True,
    "data_page_size": 1 << 20,
    "write_page_index": False,
    "write_page_checksum": True,
    "store_schema": True,
}
"""Columns whose values rarely repeat are stored plainly; the few that repeat use dictionaries."""

LEAST_BOUND = 512 * 2**20
"""Memory that reading any file may take [bytes]."""
PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
"""[bytes]"""
MOST_RATIO = 16
"""Additional memory that it may take, as a multiple of the file's size."""

ARROW_DTYPES = {"float32": pa.float32(), "float64": pa.float64(), "int64": pa.int64(), "bool": pa.bool_()}


def column_field(feature: Feature) -> pa.Field:
    """Return the Arrow field of a column: a plain value for one entry, a fixed-size list for more."""
    entry = ARROW_DTYPES[feature.dtype]
    return pa.field(feature.name, entry if feature.shape == (1,) else pa.list_(entry, feature.shape[0]))


def column_array(feature: Feature, values: NDArray[Any]) -> pa.Array:
    """Return a column ``(frames, n)`` as an Arrow array."""
    flat = pa.array(np.ascontiguousarray(values).reshape(-1), type=ARROW_DTYPES[feature.dtype])
    return flat if feature.shape == (1,) else pa.FixedSizeListArray.from_arrays(flat, feature.shape[0])


def numpy_column(table: pa.Table, name: str, dtype: str) -> NDArray[Any]:
    """Return a column of a table as an array ``(frames, n)``."""
    column = table.column(name)
    array = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    array = array.chunk(0) if isinstance(array, pa.ChunkedArray) else array
    lists = pa.types.is_fixed_size_list(array.type)
    width = array.type.list_size if lists else 1
    flat = array.values.slice(array.offset * width, len(array) * width) if lists else array
    if flat.type != ARROW_DTYPES[dtype] or array.null_count or flat.null_count:
        raise FileError(f"the column {name!r} must hold {dtype} without gaps; it is {array.type}")
    return np.asarray(flat.to_numpy(zero_copy_only=False), dtype=COLUMN_DTYPES[dtype]).reshape(-1, width)


def bookkeeping_field(name: str) -> pa.Field:
    """Return the Arrow field of a column that the format adds."""
    return pa.field(name, ARROW_DTYPES[BOOKKEEPING[name]])


def write_groups(path: Path, schema: pa.Schema, tables: Iterable[pa.Table]) -> None:
    """Write a Parquet file atomically, with one row group per table."""
    with atomic_write(path) as partial:
        write_plain(partial, schema, tables)


def write_plain(path: Path, schema: pa.Schema, tables: Iterable[pa.Table]) -> None:
    """Write a Parquet file with one row group per table; not synced yet."""
    with file_errors("write", path), pq.ParquetWriter(str(path), schema, **OPTIONS) as writer:
        for table in tables:
            writer.write_table(table.cast(schema).combine_chunks(), row_group_size=max(table.num_rows, 1))


def read_table(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """Read a Parquet file; raise an error if it is missing or damaged."""
    with open_parquet(path) as file:
        return file.read(columns=None if columns is None else list(columns), use_threads=False)


@contextmanager
def open_parquet(
    path: Path, *, content: pa.BufferReader | None = None, footer: pq.FileMetaData | None = None
) -> Iterator[pq.ParquetFile]:
    """Open a Parquet file for reading; problems are raised as a ``FileError``.

    Within the block, memory is bounded by the size of the file: a few bytes can encode any number of equal values,
    which is known only when they are read.

    Args:
        path: The file, for error messages.
        content: Its content, if it is part of another file.
        footer: Its metadata, if already known.
    """
    if content is None and not path.exists():
        raise FileError(f"{path} is missing; generate or merge again")
    size = checked_size(path) if content is None else content.size()
    with file_errors("read", path), _memory.within(LEAST_BOUND + MOST_RATIO * size):
        try:
            source = str(path) if content is None else content
            with _ParquetFile(source, metadata=footer, page_checksum_verification=True, pre_buffer=True) as file:
                # A row takes at least one byte.
                if file.metadata.num_rows > size:
                    raise FileError(
                        f"{path} claims that its {size} bytes hold {file.metadata.num_rows} rows; it is damaged"
                    )
                yield file
        except MemoryError as error:
            raise FileError(f"{path} expands to far more memory than its {size} bytes; it is malicious") from error
        except (pa.ArrowException, UnicodeDecodeError) as error:
            first = (str(error).splitlines() or [type(error).__name__])[0]
            raise FileError(f"{path} is damaged or cut short ({first}); generate or merge again") from error


class _ParquetFile(pq.ParquetFile):
    """A file that looks up its columns' names only if columns are chosen by name, which takes half of opening it."""

    def _build_nested_paths(self) -> defaultdict[str, list[int]]:
        return defaultdict(list)

    def _get_column_indices(self, column_names: Sequence[str] | None, use_pandas_metadata: bool = False) -> Any:
        if column_names is not None and not self._nested_paths_by_prefix:
            self._nested_paths_by_prefix = super()._build_nested_paths()
        return super()._get_column_indices(column_names, use_pandas_metadata)


class _MemoryBound:
    """The limit on this process's data while files are read, by any number of concurrent readers."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._bounds: list[int] = []
        """One limit per reader [bytes]; the smallest applies."""
        self._before = (0, 0)
        """Soft and hard limit without readers [bytes]."""

    @contextmanager
    def within(self, more: int) -> Iterator[None]:
        """Limit the additional memory of this process [bytes] within the block, where the system supports it."""
        try:
            file = os.open("/proc/self/statm", os.O_RDONLY)
            try:
                taken = int(os.read(file, 200).split()[5]) * PAGE  # Data and stack.
            finally:
                os.close(file)
        except OSError:
            yield
            return
        bound = taken + more
        self._change(self._bounds.append, bound)
        try:
            yield
        finally:
            self._change(self._bounds.remove, bound)

    def _change(self, change: Callable[[int], None], bound: int) -> None:
        import resource  # Not on Windows.

        with self._lock:
            if not self._bounds:
                self._before = resource.getrlimit(resource.RLIMIT_DATA)
            change(bound)
            soft, hard = self._before
            limits = [limit for limit in (soft, hard, *self._bounds) if limit != resource.RLIM_INFINITY]
            least = min(limits, default=resource.RLIM_INFINITY) if self._bounds else soft
            resource.setrlimit(resource.RLIMIT_DATA, (least, hard))


_memory = _MemoryBound()


def names_table(names: Sequence[str], column: str) -> pa.Table:
    """Return a table as pandas would store it: the names are the index, and ``column`` contains their numbers.

    LeRobot reads ``tasks.parquet`` with pandas and looks tasks up by index, hence the description in the schema.
    """
    described = {
        "index_columns": ["__index_level_0__"],
        "column_indexes": [
            {
                "name": None,
                "field_name": None,
                "pandas_type": "unicode",
                "numpy_type": "object",
                "metadata": {"encoding": "UTF-8"},
            }
        ],
        "columns": [
            {"name": column, "field_name": column, "pandas_type": "int64", "numpy_type": "int64", "metadata": None},
            {
                "name": None,
                "field_name": "__index_level_0__",
                "pandas_type": "unicode",
                "numpy_type": "object",
                "metadata": None,
            },
        ],
        "attributes": {},
        "creator": {"library": "pyarrow", "version": pa.__version__},
        "pandas_version": "2.2.0",
    }
    table = pa.table(
        {column: pa.array(range(len(names)), pa.int64()), "__index_level_0__": pa.array(list(names), pa.string())}
    )
    return table.replace_schema_metadata({"pandas": json.dumps(described)})

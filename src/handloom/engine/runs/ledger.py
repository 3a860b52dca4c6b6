"""Receipts of many attempts in few files: parts of the ledger, which replace the journals of complete units.

A run of a million attempts has a quarter of a million journals, which take minutes to read. Journals of finished
units are therefore packed, a few hundred at a time, into a parquet file that is never rewritten.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, repeat
from pathlib import Path
from typing import Any

import pyarrow as pa

from handloom.arrays import Array
from handloom.dataset.files.durable import atomic_write
from handloom.dataset.files.parquet_files import open_parquet
from handloom.dataset.files.reading import check_shape, damage_named
from handloom.engine.runs.journal import Journal, Receipt, ReceiptLine
from handloom.errors import FileError

PACK = 500
"""Number of journals packed at a time."""
PART = re.compile(r"ledger_(\d+)\.parquet")
_NUMBERS = pa.map_(pa.string(), pa.float64())
SCHEMA = pa.schema(
    [
        ("episode", pa.int64()),
        ("success", pa.bool_()),
        ("stage", pa.dictionary(pa.int32(), pa.string())),
        ("reason", pa.dictionary(pa.int32(), pa.string())),
        ("detail", pa.string()),
        ("frames", pa.int64()),
        ("fps", pa.int64()),
        ("seconds", _NUMBERS),
        ("cpu_seconds", pa.float64()),
        ("skills", _NUMBERS),
        ("take", pa.int64()),
        ("disturbed", pa.list_(pa.string())),
    ]
)
NEW = ("disturbed",)
"""Columns missing in parts written by earlier versions."""


def ledger_parts(folder: Path) -> list[Path]:
    """Return the parts of the ledger in the journal folder, in order."""
    return sorted(file for file in folder.glob("ledger_*.parquet") if PART.fullmatch(file.name))


def pack_journals(folder: Path, unit_size: int, *, at_least: int = PACK) -> int:
    """Pack the journals of finished units; return their number. Nothing else may write to the folder at the same time.

    A kill at any moment loses nothing: a part is complete or absent, and journals are removed after it exists.
    Receipts in both are read once.

    Args:
        folder: Journal folder.
        unit_size: Attempts per unit; a unit with fewer receipts is not finished.
        at_least: Do nothing while there are fewer journals.
    """
    files = sorted(folder.glob("unit_*.jsonl"))
    if len(files) < at_least:
        return 0
    packed = 0
    for start in range(0, len(files), PACK):
        whole = [
            (file, found) for file in files[start : start + PACK] if len(found := Journal(file).read()) >= unit_size
        ]
        if whole:
            write_part(folder, [receipt for _, found in whole for receipt in found.values()])
            for file, _ in whole:
                file.unlink()
            packed += len(whole)
    return packed


def write_part(folder: Path, receipts: Sequence[Receipt]) -> Path:
    """Write the next part of the ledger."""
    import pyarrow.parquet as pq  # This import takes a tenth of a second, which runs without a ledger avoid.

    parts = ledger_parts(folder)
    number = int(parts[-1].stem.rpartition("_")[2]) + 1 if parts else 0
    rows = {name: [getattr(receipt, name) for receipt in receipts] for name in SCHEMA.names}
    for name in ("seconds", "skills"):
        rows[name] = [list(values.items()) for values in rows[name]]
    table = pa.table({name: pa.array(rows[name], SCHEMA.field(name).type) for name in SCHEMA.names}, schema=SCHEMA)
    file = folder / f"ledger_{number:06d}.parquet"
    with atomic_write(file) as partial:
        pq.write_table(table, partial, compression="zstd")
    return file


def read_part(file: Path) -> Iterator[Receipt]:
    """Yield the receipts of a part.

    Raises:
        FileError: It is damaged, or is not such a file.
    """
    with damage_named(file), open_parquet(file) as stored:
        names = stored.schema_arrow.names
        if names not in (SCHEMA.names, [name for name in SCHEMA.names if name not in NEW]):
            raise FileError(f"{file} is not part of a ledger; remove it, and the missing attempts are run again")
        table = stored.read(use_threads=False)
        # All rows have the same schema, so checking the first one suffices.
        for row in table.slice(0, 1).to_pylist():
            line = {**row, "seconds": dict(row["seconds"]), "skills": dict(row["skills"])}
            check_shape(line, ReceiptLine, source=str(file))
        yield from _receipts(table)


def _receipts(table: pa.Table) -> Iterator[Receipt]:
    names = [name for name in SCHEMA.names if name not in ("seconds", "skills", *NEW)]
    plain = [table[name].to_pylist() for name in names]
    spent = [_figures(table[name].combine_chunks()) for name in ("seconds", "skills")]
    there = "disturbed" in table.column_names
    disturbed = map(tuple, table["disturbed"].to_pylist()) if there else repeat((), table.num_rows)
    for *values, seconds, skills, moved in zip(*plain, *spent, disturbed, strict=True):
        yield Receipt(**dict(zip(names, values, strict=True)), seconds=seconds, skills=skills, disturbed=moved)


def _figures(column: pa.MapArray) -> Iterator["Figures"]:
    """Yield the maps of a column; they share its memory, so that a million of them take little space."""
    known: dict[str, str] = {}
    keys = tuple(known.setdefault(key, key) for key in column.keys.to_pylist())
    values = column.items.to_numpy(zero_copy_only=False)
    for start, stop in pairwise(column.offsets.to_pylist()):
        yield Figures(keys, values, start, stop)


class Figures(Mapping[str, float]):
    """A view of a few named numbers in the shared columns."""

    __slots__ = ("_keys", "_start", "_stop", "_values")

    def __init__(self, keys: tuple[str, ...], values: Array, start: int, stop: int) -> None:
        self._keys, self._values, self._start, self._stop = keys, values, start, stop

    def __getitem__(self, name: str) -> float:
        return float(self._values[self._keys.index(name, self._start, self._stop)])

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys[self._start : self._stop])

    def __len__(self) -> int:
        return self._stop - self._start

    def __contains__(self, name: object) -> bool:
        return name in self._keys[self._start : self._stop]

    def items(self) -> Any:
        """Return names and numbers."""
        return list(zip(self, self._values[self._start : self._stop].tolist(), strict=True))

    def __repr__(self) -> str:
        return repr(dict(self.items()))

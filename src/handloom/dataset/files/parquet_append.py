"""Append row groups to a Parquet file by copying bytes; the result equals a file with all groups written at once.

A Parquet file consists of row groups and a footer with their positions. Arrow cannot append to a file, so the
new groups are written to a separate file; their bytes go after the old ones and their entries, with shifted offsets
and numbers, go after the old entries of the footer. The entries of old groups are copied without parsing them:
appending costs as much as the new groups plus a copy.
"""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from handloom.dataset.files.parquet_files import OPTIONS, open_parquet, write_plain
from handloom.errors import FileError

MAGIC = b"PAR1"
STRUCT, LIST, I16, I32, I64 = 12, 9, 4, 5, 6
"""Types of Thrift's compact protocol, in which footers are written."""
MOST_GROUPS = 2**15 - 1
"""Maximum number of row groups in the format."""

_Struct = list[tuple[int, int, Any]]
"""Number, type and value of every field."""


def append_groups(
    old: Path, target: Path, schema: pa.Schema, tables: Sequence[pa.Table], *, last: bool = False
) -> None:
    """Write the row groups of a file and further ones to another file; not synced yet.

    Args:
        old: The file; it is not changed.
        target: The file to write.
        schema: Schema of both.
        tables: The added rows, one row group per table.
        last: The first table replaces the file's last row group.

    Raises:
        FileError: The file is damaged.
    """
    try:
        _append(old, target, schema, tables, last=last)
    except _OtherWriterError:
        # Written by another version of Arrow, whose footers look different: every group is read and rewritten.
        with open_parquet(old) as file:
            kept = [file.read_row_group(i, use_threads=False) for i in range(file.num_row_groups - last)]
        write_plain(target, schema, [*kept, *tables])


class _OtherWriterError(Exception):
    """A footer differs from one that the installed Arrow would write."""


def _append(old: Path, target: Path, schema: pa.Schema, tables: Sequence[pa.Table], *, last: bool) -> None:
    with open(old, "rb") as file:
        footer, end = _read_footer(file, old)
        start, rows, count, groups_at = _heading(footer)
        added, tail = _written(schema, tables)
        if not footer.endswith(tail) or count + len(tables) > MOST_GROUPS:
            raise _OtherWriterError
        entries = footer[groups_at : len(footer) - len(tail)]
        if last:
            group = _last_group(old)
            again, _ = _written(schema, [group])
            size = len(again.bytes) - len(MAGIC)
            entry = again.entries(moved=end - size - len(MAGIC), first=count - 1)
            if not entries.endswith(entry):
                raise _OtherWriterError
            entries, end = entries[: -len(entry)], end - size
            rows, count = rows - group.num_rows, count - 1
        entries += added.entries(moved=end - len(MAGIC), first=count)
        rows, count = rows + sum(table.num_rows for table in tables), count + len(tables)
        if _heading_bytes(start, *_heading(footer)[1:3]) != footer[:groups_at]:
            raise _OtherWriterError
        new_footer = _heading_bytes(start, rows, count) + entries + tail
        with open(target, "wb") as out:
            file.seek(0)
            _copy(file, out, end)
            out.write(added.bytes[len(MAGIC) :])
            out.write(new_footer + len(new_footer).to_bytes(4, "little") + MAGIC)


class _Added:
    """Row groups written to memory as a separate file."""

    def __init__(self, content: bytes, groups: list[_Struct]) -> None:
        self.bytes = content
        """The magic number and the groups."""
        self._groups = groups

    def entries(self, *, moved: int, first: int) -> bytes:
        """Return the groups' entries in a footer, shifted by this many bytes and numbered from ``first``."""
        return b"".join(_encoded(STRUCT, _moved(group, moved, first + i)) for i, group in enumerate(self._groups))


def _written(schema: pa.Schema, tables: Sequence[pa.Table]) -> tuple[_Added, bytes]:
    """Write row groups to memory; return them and the rest of the footer after the groups."""
    sink = io.BytesIO()
    with pq.ParquetWriter(sink, schema, **OPTIONS) as writer:
        for table in tables:
            writer.write_table(table.cast(schema).combine_chunks(), row_group_size=max(table.num_rows, 1))
    sink.seek(0)
    footer, end = _read_footer(sink, None)
    _, _, count, at = _heading(footer)
    reader = _Reader(footer, at)
    groups = [reader.value(STRUCT) for _ in range(count)]
    return _Added(sink.getvalue()[:end], groups), footer[reader.at :]


def _moved(group: _Struct, by: int, number: int) -> _Struct:
    """Return the entry of a row group moved to another position in a file."""
    # RowGroup: 1 columns, 5 file_offset, 7 ordinal. ColumnChunk: 2 file_offset, 3 meta_data. In that, 9, 10 and 11
    # are page offsets. Zero means that there is none.
    changed: _Struct = []
    for field, kind, value in group:
        if field == 1:
            kept = [_shifted(column, {2}, by) for column in value[1]]
            columns = [[(f, k, _shifted(v, {9, 10, 11}, by) if f == 3 else v) for f, k, v in column] for column in kept]
            changed.append((field, kind, (value[0], columns)))
        elif field == 7:
            changed.append((field, kind, number))
        else:
            changed += _shifted([(field, kind, value)], {5}, by)
    return changed


def _shifted(struct: _Struct, fields: set[int], by: int) -> _Struct:
    return [(f, kind, value + by if f in fields and value else value) for f, kind, value in struct]


def _last_group(path: Path) -> pa.Table:
    with open_parquet(path) as file:
        return file.read_row_group(file.num_row_groups - 1, use_threads=False)


def _read_footer(file: Any, path: Path | None) -> tuple[bytes, int]:
    """Return the footer of a file and its offset."""
    size = file.seek(0, io.SEEK_END)
    file.seek(max(size - 8, 0))
    ending = file.read(8)
    length = int.from_bytes(ending[:4], "little")
    if ending[4:] != MAGIC or length + 12 > size:
        raise FileError(f"{path} is damaged or cut short (no footer); generate or merge again")
    file.seek(size - 8 - length)
    return file.read(length), size - 8 - length


def _heading(footer: bytes) -> tuple[bytes, int, int, int]:
    """Return the bytes before the row count, the row count, the group count, and the offset of the group entries."""
    reader, number = _Reader(footer, 0), 0
    start, rows = 0, 0
    try:
        while True:
            before = reader.at
            number, kind = reader.field(number)
            if number == 4 and kind == LIST:
                entry, count = reader.list_heading()
                if entry != STRUCT:
                    raise _OtherWriterError
                return footer[:start], rows, count, reader.at
            value = reader.value(kind)
            if number == 3:
                start, rows = before, value
    except (IndexError, ValueError) as error:
        raise _OtherWriterError from error


def _heading_bytes(start: bytes, rows: int, count: int) -> bytes:
    groups = bytes([0x10 | LIST]) + _list_heading(STRUCT, count)
    return start + bytes([0x10 | I64]) + _varint(_zigzag(rows)) + groups


def _copy(source: Any, target: Any, size: int) -> None:
    while size:
        block = source.read(min(size, 1 << 20))
        if not block:
            raise FileError("a file became shorter while it was being copied; run the same command again")
        target.write(block)
        size -= len(block)


class _Reader:
    """Reads values of the compact protocol."""

    def __init__(self, data: bytes, at: int) -> None:
        self.data = data
        self.at = at

    def byte(self) -> int:
        """Read a byte."""
        self.at += 1
        return self.data[self.at - 1]

    def varint(self) -> int:
        """Read a variable-length number."""
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def integer(self) -> int:
        """Read a signed number."""
        value = self.varint()
        return (value >> 1) ^ -(value & 1)

    def field(self, before: int) -> tuple[int, int]:
        """Read the number and type of a field, given the number of the one before it; type 0 ends a struct."""
        byte = self.byte()
        if byte == 0:
            return 0, 0
        return (before + (byte >> 4) if byte >> 4 else self.integer()), byte & 0x0F

    def list_heading(self) -> tuple[int, int]:
        """Read the type and number of a list's entries."""
        byte = self.byte()
        return byte & 0x0F, self.varint() if byte >> 4 == 0x0F else byte >> 4

    def value(self, kind: int) -> Any:
        """Read a value."""
        if kind in (1, 2):
            return kind
        if kind in (I16, I32, I64):
            return self.integer()
        if kind == 8:
            size = self.varint()
            self.at += size
            return self.data[self.at - size : self.at]
        if kind == LIST:
            entry, count = self.list_heading()
            read = self.byte if entry in (1, 2) else lambda: self.value(entry)
            return entry, [read() for _ in range(count)]
        if kind == STRUCT:
            fields: _Struct = []
            number, of = self.field(0)
            while of:
                fields.append((number, of, self.value(of)))
                number, of = self.field(number)
            return fields
        raise _OtherWriterError


def _encoded(kind: int, value: Any) -> bytes:
    if kind in (I16, I32, I64):
        return _varint(_zigzag(value))
    if kind == 8:
        return _varint(len(value)) + value
    if kind == LIST:
        entry, values = value
        entries = bytes(values) if entry in (1, 2) else b"".join(_encoded(entry, v) for v in values)
        return _list_heading(entry, len(values)) + entries
    if kind != STRUCT:
        return b""  # True and false are encoded as types.
    parts, before = [], 0
    for number, of, content in value:
        step = number - before
        parts.append(bytes([step << 4 | of]) if 0 < step < 16 else bytes([of]) + _varint(_zigzag(number)))
        parts.append(_encoded(of, content))
        before = number
    return b"".join(parts) + b"\0"


def _list_heading(kind: int, count: int) -> bytes:
    return bytes([count << 4 | kind]) if count < 15 else bytes([0xF0 | kind]) + _varint(count)


def _zigzag(value: int) -> int:
    return value << 1 if value >= 0 else (-value << 1) - 1


def _varint(value: int) -> bytes:
    parts = bytearray()
    while value >= 0x80:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*parts, value])

"""TFRecord files and ``tf.train.Example`` messages, written and read without TensorFlow.

A record is its length (uint64), a masked CRC-32C of those eight bytes, the message, and a masked CRC-32C of it. An
example is a map from names to lists of bytes, float32 or int64, in the wire format of protocol buffers.
"""

import struct
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from handloom.errors import FileError
from handloom.kernels import kernel

POLYNOMIAL = 0x82F63B78


def _tables() -> np.ndarray:
    table = np.zeros((8, 256), np.uint32)
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = crc >> 1 ^ (POLYNOMIAL if crc & 1 else 0)
        table[0, byte] = crc
    for byte in range(256):
        for k in range(1, 8):
            before = int(table[k - 1, byte])
            table[k, byte] = before >> 8 ^ int(table[0, before & 0xFF])
    return table


TABLES = _tables()


@kernel
def _crc(data, tables):
    """Return the CRC-32C of bytes (n,), with one lookup in each of eight tables per eight bytes."""
    crc = np.uint32(0xFFFFFFFF)
    n, k = len(data), 0
    while k + 8 <= n:
        low = crc ^ (
            np.uint32(data[k])
            | np.uint32(data[k + 1]) << np.uint32(8)
            | np.uint32(data[k + 2]) << np.uint32(16)
            | np.uint32(data[k + 3]) << np.uint32(24)
        )
        crc = (
            tables[7, low & np.uint32(0xFF)]
            ^ tables[6, (low >> np.uint32(8)) & np.uint32(0xFF)]
            ^ tables[5, (low >> np.uint32(16)) & np.uint32(0xFF)]
            ^ tables[4, low >> np.uint32(24)]
            ^ tables[3, data[k + 4]]
            ^ tables[2, data[k + 5]]
            ^ tables[1, data[k + 6]]
            ^ tables[0, data[k + 7]]
        )
        k += 8
    while k < n:
        crc = tables[0, (crc ^ np.uint32(data[k])) & np.uint32(0xFF)] ^ (crc >> np.uint32(8))
        k += 1
    return crc ^ np.uint32(0xFFFFFFFF)


def crc32c(data: np.ndarray) -> int:
    """Return the CRC-32C of bytes (n,)."""
    return int(_crc(np.ascontiguousarray(data, np.uint8), TABLES))


Value = Sequence[bytes] | NDArray[Any]
"""Texts and images as bytes, numbers as an array; floats become float32, everything else int64."""
MASK = 0xA282EAD8


def masked_crc(data: bytes) -> int:
    """Return the checksum of TFRecord files: CRC-32C, rotated by 15 bits, plus a constant."""
    crc = int(crc32c(np.frombuffer(data, np.uint8)))
    return (((crc >> 15) | (crc << 17)) + MASK) & 0xFFFFFFFF


def write_record(file: BinaryIO, message: bytes) -> None:
    """Append a record."""
    length = struct.pack("<Q", len(message))
    file.write(length + struct.pack("<I", masked_crc(length)) + message + struct.pack("<I", masked_crc(message)))


def read_records(path: Path) -> Iterator[bytes]:
    """Yield the messages of a file; raise an error if it is damaged."""
    with path.open("rb") as file:
        while head := file.read(12):
            length, check = struct.unpack("<QI", head)
            message, tail = file.read(length), file.read(4)
            if check != masked_crc(head[:8]) or len(tail) < 4 or struct.unpack("<I", tail)[0] != masked_crc(message):
                raise FileError(f"{path} is damaged: the checksum of a record is wrong")
            yield message


def example(features: Mapping[str, Value]) -> bytes:
    """Return an example as bytes; names are sorted, so that equal features give equal bytes."""
    entries = b""
    for name in sorted(features):
        entry = _field(1, name.encode()) + _field(2, _feature(features[name]))
        entries += _field(1, entry)
    return _field(1, entries)


def _feature(value: Value) -> bytes:
    if not isinstance(value, np.ndarray):
        return _field(1, b"".join(_field(1, item) for item in value))
    flat = value.reshape(-1)
    if flat.dtype.kind == "f":
        return _field(2, _field(1, flat.astype("<f4").tobytes()))
    return _field(3, _field(1, b"".join(_varint(int(number) & 0xFFFFFFFFFFFFFFFF) for number in flat)))


def _field(number: int, content: bytes) -> bytes:
    """Return a field of bytes: key, length, content."""
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(number: int) -> bytes:
    parts = bytearray()
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    parts.append(number)
    return bytes(parts)


def parse_example(message: bytes) -> dict[str, list[bytes] | NDArray[Any]]:
    """Return the features of an example: lists of bytes, float32 or int64 arrays."""
    found: dict[str, list[bytes] | NDArray[Any]] = {}
    for _, entries in _fields(message):
        for _, entry in _fields(entries):
            parts = dict(_fields(entry))
            for kind, content in _fields(parts[2]):
                items = [item for _, item in _fields(content)]
                if kind == 1:
                    found[parts[1].decode()] = items
                elif kind == 2:
                    found[parts[1].decode()] = np.frombuffer(b"".join(items), "<f4")
                else:
                    found[parts[1].decode()] = np.array(list(_varints(b"".join(items))), np.int64)
    return found


def _fields(content: bytes) -> Iterator[tuple[int, bytes]]:
    place = 0
    while place < len(content):
        key, place = _read_varint(content, place)
        length, place = _read_varint(content, place)
        yield key >> 3, content[place : place + length]
        place += length


def _varints(content: bytes) -> Iterator[int]:
    place = 0
    while place < len(content):
        number, place = _read_varint(content, place)
        yield number - (1 << 64) if number >> 63 else number


def _read_varint(content: bytes, place: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = content[place]
        number |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if not byte & 0x80:
            return number, place

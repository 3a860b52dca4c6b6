"""NumPy archives whose bytes depend on the arrays only: fixed dates, sorted names, no pickles."""

import io
import math
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from handloom.dataset.durable import file_errors
from handloom.dataset.reading import checked_size, damage_named
from handloom.errors import FileError, InputError

_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The earliest date a zip file can hold."""

_KINDS = "biufU"
"""Kinds of arrays that archives hold: truth values, numbers and text."""

MOST_ARRAYS = 100
LEAST_BOUND = 256 * 2**20
"""Arrays of this size together are read from any file [bytes]."""
MOST_RATIO = 50
"""How much larger than its file larger arrays may be."""

_LEVEL = 1
"""Deflate level: simulation states shrink almost as far as at level 9, in a tenth of the time."""


def write_npz(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write named arrays so that ``numpy.load`` reads them and equal arrays give equal bytes; not synced yet."""
    with file_errors("write", path), zipfile.ZipFile(path, "w", allowZip64=True) as archive:
        for name in sorted(arrays):
            array = np.asarray(arrays[name])
            if array.dtype.hasobject:
                raise InputError(f"array {name!r} holds Python objects; archives keep plain numbers and text only")
            entry = zipfile.ZipInfo(f"{name}.npy", _EPOCH)
            entry.external_attr = 0o644 << 16
            entry.create_system = 3
            archive.writestr(entry, _npy(array), compress_type=zipfile.ZIP_DEFLATED, compresslevel=_LEVEL)


def read_npz(path: Path) -> dict[str, NDArray[Any]]:
    """Read all arrays of an archive, or say that it is missing or damaged.

    What an array says it takes is compared with what the file holds before any room is made for it.
    """
    most = max(LEAST_BOUND, MOST_RATIO * checked_size(path))
    with file_errors("read", path), damage_named(path), zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        total = sum(member.file_size for member in members)
        if len(members) > MOST_ARRAYS or total > most:
            raise FileError(
                f"{path} says that it holds {len(members)} arrays of {total} bytes; at most {MOST_ARRAYS} of {most} "
                "are read from a file of its size; it is damaged or made to do harm"
            )
        return {_array_name(path, member.filename): _read_array(archive, member) for member in members}


def _array_name(path: Path, member: str) -> str:
    if not member.endswith(".npy"):
        raise FileError(f"{path} holds {member!r}, which is no array; generate the episode again")
    return member.removesuffix(".npy")


def _read_array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[Any]:
    """Read one array whose header agrees with the bytes that follow it."""
    with cast(zipfile.ZipExtFile, archive.open(member)) as stream:
        version = np.lib.format.read_magic(stream)
        if version != (1, 0):
            raise ValueError(f"{member.filename} has the array format {version}, not 1.0")
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream)
        if dtype.kind not in _KINDS or min(shape, default=0) < 0:
            raise ValueError(f"{member.filename} is an array of {dtype} with the shape {shape}")
        size = math.prod(shape) * dtype.itemsize
        if size != member.file_size - stream.tell():
            raise ValueError(f"{member.filename} has the shape {shape}, which does not fit its size")
        array = np.empty(shape, dtype, order="F" if fortran else "C")
        if stream.readinto(array.reshape(-1, order="A").view(np.uint8)) != size or stream.read(1):
            raise ValueError(f"{member.filename} is cut short")
    return array


def _npy(array: NDArray[Any]) -> bytes:
    """Return an array in NumPy's file format, in C order and little-endian."""
    plain = np.ascontiguousarray(array).reshape(array.shape)
    plain = plain.astype(plain.dtype.newbyteorder("<"), copy=False)
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, plain, version=(1, 0), allow_pickle=False)
    return buffer.getvalue()

"""NumPy archives whose bytes depend on the arrays only: fixed dates, sorted names, no pickles."""

import io
import struct
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handloom.dataset.durable import file_errors
from handloom.errors import FileError, InputError

_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The earliest date a zip file can hold."""

_DAMAGE = (zipfile.BadZipFile, zlib.error, struct.error, ValueError, EOFError, KeyError, NotImplementedError)
"""What reading a zip file with wrong bytes may raise."""

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
    """Read all arrays of an archive, or say that it is missing or damaged."""
    with file_errors("read", path):
        try:
            with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
                return {name: archive[name] for name in archive.files}
        except _DAMAGE as error:
            raise FileError(f"{path} is damaged ({error}); generate the episode again") from error


def _npy(array: NDArray[Any]) -> bytes:
    """Return an array in NumPy's file format, in C order and little-endian."""
    plain = np.ascontiguousarray(array).reshape(array.shape)
    plain = plain.astype(plain.dtype.newbyteorder("<"), copy=False)
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, plain, version=(1, 0), allow_pickle=False)
    return buffer.getvalue()

"""Untrusted files: reading one gives plain values or a ``FileError``, regardless of its content.

Only regular files of a bounded size are read. JSON must have a declared shape, without NaN, infinity, lone surrogates
or excessive nesting; the resulting values need no further checks.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json

from handloom.dataset.files.durable import file_errors
from handloom.dataset.files.shapes import Plain
from handloom.errors import FileError, HandloomError, NotAllowedError

JSON_LIMIT = 16 * 2**20
"""Maximum size of a JSON file [bytes]; lists of empty lists take thirty times as much memory."""

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)
_HOLLOW = 64
"""A file that is this much larger than its space on disk counts as sparse."""


@contextmanager
def damage_named(path: Path) -> Iterator[None]:
    """Convert any error caused by malformed content of a file or folder into a ``FileError`` with its name."""
    try:
        yield
    except NotAllowedError:
        raise
    except HandloomError as error:
        # System errors have their own number and file, and so do errors that were already converted.
        if isinstance(error, FileError) and (error.errno or str(path) in str(error)):
            raise
        raise FileError(f"{path} cannot be used: {error}") from error
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _NO_ROOM:
            raise  # A write error is not the fault of the file being read.
        raise FileError(f"{path} is damaged ({type(error).__name__}: {error}); restore it or make it again") from error


def checked_size(path: Path) -> int:
    """Return the size of a file [bytes] that can be read: not a pipe, device, folder or sparse file."""
    with file_errors("read", path):
        facts = os.stat(path)
    if not stat.S_ISREG(facts.st_mode):
        raise FileError(f"{path} is not a regular file; remove it, or restore the file")
    # For smaller files, compressing file systems report too little.
    if facts.st_size > 2**28 and getattr(facts, "st_blocks", 2**62) * 512 * _HOLLOW < facts.st_size:
        raise FileError(f"{path} claims {facts.st_size} bytes but is mostly empty; restore the file")
    return facts.st_size


def read_bytes(path: Path, *, limit: int) -> bytes:
    """Return the contents of a file; raise an error if it is missing, not regular or larger than ``limit`` [bytes]."""
    size = checked_size(path)
    if size > limit:
        raise FileError(f"{path} has {size} bytes, at most {limit} are read; it is damaged or not part of a dataset")
    with file_errors("read", path), open(path, "rb") as file:
        return file.read(size)  # Python allocates as much memory as it may read.


def read_json(path: Path, shape: Any = Plain, *, limit: int = JSON_LIMIT) -> Any:
    """Read a JSON file; raise an error if it is missing, damaged or of the wrong shape.

    Args:
        path: The file.
        shape: Type made of ``dict``, ``list``, ``TypedDict``, numbers and text, see ``shapes``.
        limit: Largest size [bytes].
    """
    return parse_json(read_bytes(path, limit=limit), shape, source=str(path))


def parse_json(raw: bytes, shape: Any = Plain, *, source: str) -> Any:
    """Return the values of a JSON text of the given shape; the error names ``source`` otherwise."""
    try:
        value = from_json(raw, allow_inf_nan=False)
    except ValueError as error:
        raise FileError(f"{source} is not valid JSON ({error}); it is damaged, restore or remove it") from error
    check_shape(value, shape, source=source)
    return value


def check_shape(value: Any, shape: Any, *, source: str) -> None:
    """Refuse plain values of the wrong shape; the error names ``source`` and the location of the first mistake."""
    try:
        _adapter(shape).validate_python(value, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part)[:80] for part in first["loc"]) or "top level"
        raise FileError(f"{source}: {place}: {first['msg']}; it is damaged, restore or remove it") from error


@cache
def _adapter(shape: Any) -> TypeAdapter[Any]:
    return TypeAdapter(shape)

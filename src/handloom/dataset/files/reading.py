"""Files that anyone may have made: whatever is in them, reading one ends with plain values or with a ``FileError``.

Only regular files of a bounded size are read. JSON has a stated shape, without NaN, infinity, lone surrogates or
nesting without end; the values that come out can be used without looking at them again.
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
"""Largest JSON file [bytes]; lists of nothing take thirty times as much memory."""

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)
_HOLLOW = 64
"""A file that is this much larger than the room it takes on the disk is made of holes."""


@contextmanager
def damage_named(path: Path) -> Iterator[None]:
    """Turn whatever malformed contents of a file or folder lead to into a ``FileError`` with its name."""
    try:
        yield
    except NotAllowedError:
        raise
    except HandloomError as error:
        # What the system refuses has a number and its own file; so has what was named before.
        if isinstance(error, FileError) and (error.errno or str(path) in str(error)):
            raise
        raise FileError(f"{path} cannot be used: {error}") from error
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _NO_ROOM:
            raise  # What is read is not to blame for what cannot be written.
        raise FileError(f"{path} is damaged ({type(error).__name__}: {error}); restore it or make it again") from error


def checked_size(path: Path) -> int:
    """Return the size of a file [bytes] that can be read: no pipe, no device, no folder, not made of holes."""
    with file_errors("read", path):
        facts = os.stat(path)
    if not stat.S_ISREG(facts.st_mode):
        raise FileError(f"{path} is not a regular file; remove it, or restore the file")
    # Below this, compressing file systems tell less than the truth.
    if facts.st_size > 2**28 and getattr(facts, "st_blocks", 2**62) * 512 * _HOLLOW < facts.st_size:
        raise FileError(f"{path} claims {facts.st_size} bytes and is empty for the most part; restore the file")
    return facts.st_size


def read_bytes(path: Path, *, limit: int) -> bytes:
    """Return the contents of a file, or say that it is missing, no regular file or larger than ``limit`` [bytes]."""
    size = checked_size(path)
    if size > limit:
        raise FileError(f"{path} has {size} bytes, at most {limit} are read; it is damaged or no file of a dataset")
    with file_errors("read", path), open(path, "rb") as file:
        return file.read(size)  # Python takes as much memory as may be read.


def read_json(path: Path, shape: Any = Plain, *, limit: int = JSON_LIMIT) -> Any:
    """Read a JSON file, or say that it is missing, damaged or not of the shape it should have.

    Args:
        path: The file.
        shape: Type made of ``dict``, ``list``, ``TypedDict``, numbers and text, see ``shapes``.
        limit: Largest size [bytes].
    """
    return parse_json(read_bytes(path, limit=limit), shape, source=str(path))


def parse_json(raw: bytes, shape: Any = Plain, *, source: str) -> Any:
    """Return the values of a JSON text of the given shape; ``source`` is named when it is not that."""
    try:
        value = from_json(raw, allow_inf_nan=False)
    except ValueError as error:
        raise FileError(f"{source} is not valid JSON ({error}); it is damaged, restore or remove it") from error
    check_shape(value, shape, source=source)
    return value


def check_shape(value: Any, shape: Any, *, source: str) -> None:
    """Refuse plain values that are not of a shape; ``source`` is named with the place of the first mistake."""
    try:
        _adapter(shape).validate_python(value, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part)[:80] for part in first["loc"]) or "top level"
        raise FileError(f"{source}: {place}: {first['msg']}; it is damaged, restore or remove it") from error


@cache
def _adapter(shape: Any) -> TypeAdapter[Any]:
    return TypeAdapter(shape)

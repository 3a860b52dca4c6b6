"""Arrays in shared memory: one process packs them and sends the offsets, the other views them in place.

A segment is a file in an in-memory folder that the owner of the run removes, so no segment outlives it. Arrays keep
their segment mapped, so there is nothing to release explicitly.
"""

import mmap
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

ALIGNMENT = 64
MEMORY = Path("/dev/shm")
"""Folder of in-memory files on Linux."""


class ArrayPlace(NamedTuple):
    """Location of an array in a segment."""

    start: int
    shape: tuple[int, ...]
    dtype: str


Shape = tuple[tuple[int, ...], DTypeLike]


class SharedArrays:
    """A segment that is replaced by a larger one when arrays do not fit.

    Args:
        folder: Folder of the segments.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._map: mmap.mmap | None = None
        self.path = folder

    def places(self, shapes: Sequence[Shape]) -> list[ArrayPlace]:
        """Return the locations of consecutive arrays of these shapes and types in a segment, enlarged if needed."""
        start, found = 0, []
        for shape, dtype in shapes:
            found.append(ArrayPlace(start, tuple(shape), np.dtype(dtype).str))
            start += -(-int(np.prod(shape)) * np.dtype(dtype).itemsize // ALIGNMENT) * ALIGNMENT
        if self._map is None or len(self._map) < start:
            self.remove()
            self.path = self._folder / secrets.token_hex(8)
            with self.path.open("w+b") as file:
                file.truncate(max(start, ALIGNMENT))
                self._map = mmap.mmap(file.fileno(), 0)
        return found

    def array(self, place: ArrayPlace) -> NDArray[Any]:
        """Return an array of the segment."""
        assert self._map is not None
        return array_at(self._map, place)

    def write(self, arrays: Sequence[NDArray[Any]]) -> list[ArrayPlace]:
        """Copy arrays into the segment and return their locations."""
        places = self.places([(array.shape, array.dtype) for array in arrays])
        for array, place in zip(arrays, places, strict=True):
            self.array(place)[...] = array
        return places

    def remove(self) -> None:
        """Remove the segment; existing arrays in it stay valid."""
        if self._map is not None:
            self.path.unlink(missing_ok=True)
            self._map = None


def array_at(memory: mmap.mmap, place: ArrayPlace) -> NDArray[Any]:
    """Return an array in a segment."""
    return np.ndarray(place.shape, place.dtype, memory, place.start)


def open_segment(path: Path) -> mmap.mmap:
    """Return a segment made by another process."""
    with path.open("r+b") as file:
        return mmap.mmap(file.fileno(), 0)


def address_of(memory: mmap.mmap) -> int:
    """Return the address of a segment in this process."""
    return np.frombuffer(memory, np.uint8, 1).ctypes.data

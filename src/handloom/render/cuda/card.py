"""An NVIDIA card, through CuPy."""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from handloom.render.cpu.layout import LANES
from handloom.render.cuda.source import OPTIONS, Settings, source

TO_CARD, FROM_CARD = 1, 2
"""Directions of a copy, as the CUDA runtime numbers them."""


class CardMemory:
    """A piece of the card's memory."""

    def __init__(self, pointer: Any) -> None:
        self.address = int(pointer.ptr)
        self._pointer = pointer


class Card:
    """Memory and launches of one card; all on one stream, in order.

    Args:
        cupy: The package, imported.
        number: Which card.
    """

    def __init__(self, cupy: Any, number: int = 0) -> None:
        self._cupy = cupy
        self._device = cupy.cuda.Device(number)
        with self._device:
            self._stream = cupy.cuda.Stream(non_blocking=True)
        self._builds: dict[Settings, Any] = {}
        self._staging = np.zeros(0, np.uint8)

    @property
    def name(self) -> str:
        """What the card is called."""
        return self._cupy.cuda.runtime.getDeviceProperties(self._device.id)["name"].decode()

    def empty(self, size: int) -> CardMemory:
        with self._device:
            return CardMemory(self._cupy.cuda.alloc(max(size, 1)))

    def host_array(self, count: int, dtype: DTypeLike) -> NDArray[Any]:
        with self._device:
            pinned = self._cupy.cuda.alloc_pinned_memory(max(count * np.dtype(dtype).itemsize, 1))
        return np.frombuffer(pinned, dtype, count)

    def write(self, memory: CardMemory, content: NDArray[Any]) -> None:
        flat = np.ascontiguousarray(content).reshape(-1).view(np.uint8)
        self._stream.synchronize()
        if self._staging.nbytes < flat.nbytes:
            self._staging = self.host_array(flat.nbytes, np.uint8)
        self._staging[: flat.nbytes] = flat
        copy = self._cupy.cuda.runtime.memcpyAsync
        copy(memory.address, self._staging.ctypes.data, flat.nbytes, TO_CARD, self._stream.ptr)

    def read(self, memory: CardMemory, start: int, out: NDArray[Any]) -> None:
        copy = self._cupy.cuda.runtime.memcpyAsync
        copy(out.ctypes.data, memory.address + start, out.nbytes, FROM_CARD, self._stream.ptr)
        self._stream.synchronize()

    def launch(
        self, settings: Settings, entry: str, grid: tuple[int, int], addresses: list[int], shared: int
    ) -> None:
        with self._device, self._stream:
            if settings not in self._builds:
                self._builds[settings] = self._cupy.RawModule(code=source(settings), options=OPTIONS)
            kernel = self._builds[settings].get_function(entry)
            kernel(grid, (LANES,), tuple(np.uint64(address) for address in addresses), shared_mem=shared)

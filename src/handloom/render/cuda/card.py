"""An NVIDIA GPU, through CuPy."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from handloom.render.cpu.layout import LANES
from handloom.render.cuda.source import OPTIONS, Settings, source

TO_CARD, FROM_CARD = 1, 2
"""Directions of a copy, as the CUDA runtime numbers them."""


class CardMemory:
    """A block of GPU memory."""

    def __init__(self, pointer: Any) -> None:
        self.address = int(pointer.ptr)
        self.staging = np.zeros(0, np.uint8)
        """Pinned host memory for uploads to the GPU."""
        self._pointer = pointer


class Card:
    """Memory and launches of one GPU: launches on one stream, copies back on another.

    Args:
        cupy: The imported package.
        number: Index of the GPU.
    """

    def __init__(self, cupy: Any, number: int = 0) -> None:
        self._cupy = cupy
        self._device = cupy.cuda.Device(number)
        with self._device:
            self._stream, self._copies = (cupy.cuda.Stream(non_blocking=True) for _ in range(2))
        self._builds: dict[Settings, Any] = {}
        self._shared: set[int] = set()
        self._copy = cupy.cuda.runtime.memcpyAsync

    @property
    def name(self) -> str:
        """Name of the GPU."""
        return self._cupy.cuda.runtime.getDeviceProperties(self._device.id)["name"].decode()

    def empty(self, size: int) -> CardMemory:
        """Return a block of this many bytes, with undefined content."""
        with self._device:
            return CardMemory(self._cupy.cuda.alloc(max(size, 1)))

    def host_array(self, count: int, dtype: DTypeLike) -> NDArray[Any]:
        """Return a flat array in pinned memory that the GPU can write to."""
        with self._device:
            pinned = self._cupy.cuda.alloc_pinned_memory(max(count * np.dtype(dtype).itemsize, 1))
        return np.frombuffer(pinned, dtype, count)

    def share(self, address: int, size: int) -> None:
        """Pin host memory so that the GPU can access it directly; if that fails, copies are slower."""
        with self._device, suppress(self._cupy.cuda.runtime.CUDARuntimeError):
            self._cupy.cuda.runtime.hostRegister(address, size, 0)
            self._shared.add(address)

    def unshare(self, address: int) -> None:
        """Undo ``share``, before the memory is freed."""
        if address in self._shared:
            self._shared.discard(address)
            with self._device:
                self._cupy.cuda.runtime.hostUnregister(address)

    def write(self, memory: CardMemory, content: NDArray[Any]) -> None:
        """Copy through pinned memory; the caller waits for the result before writing to it again."""
        size = content.nbytes
        if memory.staging.nbytes < size:
            memory.staging = self.host_array(size, np.uint8)
        memory.staging[:size] = content.reshape(-1).view(np.uint8)
        self._copy(memory.address, memory.staging.ctypes.data, size, TO_CARD, self._stream.ptr)

    def read(self, copies: Sequence[tuple[CardMemory, int, NDArray[Any]]]) -> Any:
        """Start copying memory, from a byte offset, into arrays, after all launches; return an event to wait for."""
        with self._device:
            self._copies.wait_event(self._stream.record())
            for memory, start, out in copies:
                self._copy(out.ctypes.data, memory.address + start, out.nbytes, FROM_CARD, self._copies.ptr)
            return self._copies.record()

    def wait(self, copy: Any) -> None:
        """Wait for copies that ``read`` started."""
        if copy is not None:
            copy.synchronize()

    def launch(self, settings: Settings, entry: str, grid: tuple[int, int], addresses: list[int], shared: int) -> None:
        """Start a kernel; each build is compiled when first needed, and cached by CuPy for later processes."""
        with self._device, self._stream:
            if settings not in self._builds:
                self._builds[settings] = self._cupy.RawModule(code=source(settings), options=OPTIONS)
            kernel = self._builds[settings].get_function(entry)
            kernel(grid, (LANES,), tuple(np.uint64(address) for address in addresses), shared_mem=shared)

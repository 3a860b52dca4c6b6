"""Interface of a device that runs kernels: memory, copies and launches, for ``CardDrawer``."""

from collections.abc import Sequence
from typing import Any, Protocol

from numpy.typing import DTypeLike, NDArray


class Memory(Protocol):
    """A block of the device's memory."""

    @property
    def address(self) -> int:
        """Its address."""
        ...


class Machine(Protocol):
    """A GPU, or a stand-in for one."""

    def empty(self, size: int) -> Memory:
        """Return a block of this many bytes, with undefined content."""
        ...

    def host_array(self, count: int, dtype: DTypeLike) -> NDArray[Any]:
        """Return a flat array, with undefined content, that ``read`` can fill quickly."""
        ...

    def share(self, address: int, size: int) -> None:
        """Let the GPU access host memory directly, which makes copies twice as fast."""
        ...

    def unshare(self, address: int) -> None:
        """Undo ``share``, before the memory is freed."""
        ...

    def write(self, memory: Any, content: NDArray[Any]) -> None:
        """Copy an array to the beginning of memory."""
        ...

    def read(self, copies: Sequence[tuple[Any, int, NDArray[Any]]]) -> Any:
        """Start copying memory, from a byte offset, into arrays, after all launches; return an event to wait for."""
        ...

    def wait(self, copy: Any) -> None:
        """Wait for copies started by ``read``; None means no copy."""
        ...

    def launch(
        self, settings: tuple[int, int, int], entry: str, grid: tuple[int, int], addresses: list[int], shared: int
    ) -> None:
        """Start a kernel: a block of LANES threads per grid cell, with ``shared`` bytes per block."""
        ...

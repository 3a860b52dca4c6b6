"""Where kernels run: memory, copies and launches, as ``CardDrawer`` asks for them."""

from collections.abc import Sequence
from typing import Any, Protocol

from numpy.typing import DTypeLike, NDArray


class Memory(Protocol):
    """A piece of the machine's memory."""

    @property
    def address(self) -> int:
        """Where it begins."""
        ...


class Machine(Protocol):
    """A GPU, or a stand-in for one."""

    def empty(self, size: int) -> Memory:
        """Return memory of so many bytes, with undefined content."""
        ...

    def host_array(self, count: int, dtype: DTypeLike) -> NDArray[Any]:
        """Return a flat array that ``read`` fills fast, with undefined content."""
        ...

    def share(self, address: int, size: int) -> None:
        """Let the card read and write memory of this machine by itself, which copies there twice as fast."""
        ...

    def unshare(self, address: int) -> None:
        """End ``share``, before the memory goes."""
        ...

    def write(self, memory: Any, content: NDArray[Any]) -> None:
        """Copy an array to the beginning of memory."""
        ...

    def read(self, copies: Sequence[tuple[Any, int, NDArray[Any]]]) -> Any:
        """Start to copy memory, from a byte on, into arrays, after all launches; return what to wait for."""
        ...

    def wait(self, copy: Any) -> None:
        """Wait for copies that ``read`` started; None is no copy."""
        ...

    def launch(
        self, settings: tuple[int, int, int], entry: str, grid: tuple[int, int], addresses: list[int], shared: int
    ) -> None:
        """Start a kernel: a block of LANES threads per place of the grid, with ``shared`` bytes per block."""
        ...

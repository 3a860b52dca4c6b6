"""Where kernels run: memory, copies and launches, as ``CardDrawer`` asks for them."""

from typing import Any, Protocol

from numpy.typing import DTypeLike, NDArray


class Memory(Protocol):
    """A piece of the machine's memory."""

    @property
    def address(self) -> int: ...


class Machine(Protocol):
    """A card, or whatever stands in for one."""

    def empty(self, size: int) -> Memory:
        """Return memory of so many bytes, with undefined content."""
        ...

    def host_array(self, count: int, dtype: DTypeLike) -> NDArray[Any]:
        """Return a flat array that ``read`` fills fast, with undefined content."""
        ...

    def write(self, memory: Memory, content: NDArray[Any]) -> None:
        """Copy an array to the beginning of memory."""
        ...

    def read(self, memory: Memory, start: int, out: NDArray[Any]) -> None:
        """Copy memory from byte ``start`` on into an array, once all launches before are done."""
        ...

    def launch(
        self, settings: tuple[int, int, int], entry: str, grid: tuple[int, int], addresses: list[int], shared: int
    ) -> None:
        """Start a kernel: a block of LANES threads per place of the grid, with ``shared`` bytes per block."""
        ...

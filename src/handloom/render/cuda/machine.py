"""Where kernels run: memory, copies and launches, as ``CardDrawer`` asks for them."""

from functools import cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from handloom.render.cuda.constants import definitions

KERNELS = Path(__file__).parent / "kernels"
SOURCE = '#include "draw.cu"\n'
# The pictures are the same bits as the processor's: nothing is contracted, nothing approximated.
OPTIONS = ("--std=c++17", "--fmad=false", "--prec-div=true", "--prec-sqrt=true", "--ftz=false")
INFINITE = "#define INFINITE __int_as_float(0x7f800000)\n"


class Settings(tuple[int, int, int]):
    """What a build of the kernels is specialised on: shadows, occlusion, smoothing."""


class Memory(Protocol):
    """A piece of the machine's memory."""

    @property
    def address(self) -> int: ...


class Machine(Protocol):
    """A card, or whatever stands in for one."""

    def empty(self, size: int) -> Memory:
        """Return memory of so many bytes, with undefined content."""
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

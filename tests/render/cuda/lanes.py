"""A stand-in for a card: the CUDA source compiled as C++, its lanes run one after the other."""

import ctypes
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from cpp_library import COMPILER, cpp_library
from handloom.render.cuda.source import source

__all__ = ["COMPILER", "Lanes", "sizes_of_rows"]
ENTRIES = {
    "place_worlds": "(const Model*)a[0], (const World*)a[1]",
    "place_eyes": "(const Model*)a[0], (const World*)a[1], (const Eye*)a[2]",
    **dict.fromkeys(
        ("draw_views", "smooth_views", "add_mirror_images"),
        "(const Model*)a[0], (const World*)a[1], (const Eye*)a[2], (const View*)a[3]",
    ),
}
STRUCTURES = ("Model", "World", "Eye", "View")


@cache
def compiled(settings: tuple[int, int, int]) -> ctypes.CDLL:
    """Return the kernels of one setting as a library of this machine."""
    text = source(settings)
    for entry, arguments in ENTRIES.items():
        text += (
            f'extern "C" void run_{entry}(int width, int height, int shared, void** a) '
            f"{{ run_grid(width, height, shared, [=] {{ {entry}({arguments}); }}); }}\n"
        )
    for name in STRUCTURES:
        text += f'extern "C" int size_of_{name}() {{ return sizeof({name}); }}\n'
    # -ffp-contract=off: what the card's compiler is told, too.
    return cpp_library(text, "-ffp-contract=off", "-fno-stack-protector", f"-I{Path(__file__).parent}")


class Bytes:
    """A piece of memory."""

    def __init__(self, size: int) -> None:
        # Nothing may count on fresh memory: it is full of what is neither zero nor a likely number.
        self.content = np.full(size + 64, 0xA5, np.uint8)
        self.address = self.content.ctypes.data + -self.content.ctypes.data % 64


class Lanes:
    """Runs kernels lane by lane."""

    def empty(self, size: int) -> Bytes:
        return Bytes(size)

    def host_array(self, count: int, dtype: DTypeLike) -> NDArray[Any]:
        return np.empty(count, dtype)

    def share(self, address: int, size: int) -> None:
        self.shared = getattr(self, "shared", 0) + 1

    def unshare(self, address: int) -> None:
        self.shared -= 1

    def write(self, memory: Bytes, content: NDArray[Any]) -> None:
        flat = np.ascontiguousarray(content).reshape(-1).view(np.uint8)
        ctypes.memmove(memory.address, flat.ctypes.data, flat.nbytes)

    def read(self, copies: Sequence[tuple[Bytes, int, NDArray[Any]]]) -> None:
        for memory, start, out in copies:
            assert out.flags.c_contiguous
            ctypes.memmove(out.ctypes.data, memory.address + start, out.nbytes)

    def wait(self, copy: None) -> None:
        pass

    def launch(
        self, settings: tuple[int, int, int], entry: str, grid: tuple[int, int], addresses: list[int], shared: int
    ) -> None:
        arguments = (ctypes.c_void_p * len(addresses))(*addresses)
        getattr(compiled(settings), f"run_{entry}")(*grid, shared, arguments)


def sizes_of_rows() -> dict[str, int]:
    """Return how long the kernels' structures are."""
    library = compiled((1, 1, 1))
    return {name: getattr(library, f"size_of_{name}")() for name in STRUCTURES}

"""A stand-in for a card: the searches' CUDA source compiled as C++, the threads of a block run as fibres."""

import ctypes
from functools import cache
from pathlib import Path

import numpy as np

from cpp_library import COMPILER, cpp_library

__all__ = ["COMPILER", "launch"]
FIBRES = Path(__file__).parents[3] / "render" / "cuda" / "lane_by_lane.h"
RUN = """
extern "C" void plan_all_blocks(long long blocks, void** a) {
    run_grid(blocks, 1, 0, [&] {
        plan_all((const Tables*)a[0], (const Problem*)a[1], (const float*)a[2], (const float*)a[3], (const Job*)a[4],
                 (int*)a[5], (float*)a[6], (int*)a[7], (Found*)a[8], (float*)a[9]);
    });
}
extern "C" void check_all_blocks(long long blocks, void** a) {
    run_grid(blocks, 1, 0, [&] {
        check_all((const Tables*)a[0], (const Problem*)a[1], (const int*)a[2], (const float*)a[3], *(int*)a[4],
                  *(float*)a[5], (int*)a[6]);
    });
}
"""


@cache
def compiled(build: str) -> ctypes.CDLL:
    definitions, _, rest = build.partition("// RRT-Connect")
    text = f'{definitions}#include "{FIBRES}"\n// {rest}{RUN}'
    return cpp_library(text, "-ffp-contract=off", "-march=native")


def launch(build, name, blocks, *arguments):
    """Run the blocks of a kernel one after the other."""
    arrays = [np.array(value) if np.isscalar(value) else value for value in arguments]
    places = (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))
    getattr(compiled(build), f"{name}_blocks")(ctypes.c_int64(blocks), places)

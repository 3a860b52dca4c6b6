"""The CUDA source of the searches as one string, with the constants of the CPU code."""

import math
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from handloom.motion.planning.trees import rrt_connect, shortcut

FOLDER = Path(__file__).parent
OPTIONS = ("--std=c++17", "--fmad=false", "--prec-div=true", "--prec-sqrt=true", "--ftz=false")
"""As on the CPU: no contraction, no approximation, so that both find the same configurations free."""
LANES, CONFIGS, PATH = 256, 32, 128
"""Threads per block, configurations checked at a time, and maximum waypoints of a path before it is shortened."""
BLOCKS_AT_ONCE = 2


class Sizes(NamedTuple):
    """Size limits of a build: the largest robot of a batch."""

    joints: int
    groups: int


@cache
def source(sizes: Sizes) -> str:
    """Return the source of one build."""
    text = (FOLDER / "plan.cu").read_text("utf-8")
    for name in ("touch.cuh", "shorten.cuh"):
        part = (FOLDER / name).read_text("utf-8").replace("#pragma once\n", "")
        text = text.replace(f'#include "{name}"\n', part)
    return "".join(f"#define {name} {value}\n" for name, value in definitions(sizes).items()) + text


def definitions(sizes: Sizes) -> dict[str, Any]:
    """Return the constants of a build."""
    sine = {f"SINE_{k}": _float((-1) ** (k // 2) / math.factorial(k)) for k in (3, 5, 7, 9)}
    cosine = {f"COSINE_{k}": _float((-1) ** (k // 2) / math.factorial(k)) for k in (4, 6, 8, 10)}
    return {
        "LANES": LANES,
        "WARP": 32,
        "CONFIGS": CONFIGS,
        "PATH": PATH,
        "BLOCKS_AT_ONCE": BLOCKS_AT_ONCE,
        "JOINTS": sizes.joints,
        "LINKS": sizes.joints + 1,
        "GROUPS": sizes.groups,
        **sine,
        **cosine,
        "TURN": _float(2.0 * math.pi),
        "PER_TURN": _float(0.5 / math.pi),
        "INCREMENT": f"{int(rrt_connect.INCREMENT)}ull",
        "MIX_1": f"{int(rrt_connect.MIX_1)}ull",
        "MIX_2": f"{int(rrt_connect.MIX_2)}ull",
        "PER_BIT": repr(rrt_connect.PER_BIT),
        "GREEDY_EVERY": shortcut.GREEDY_EVERY,
        "GREEDY_MOST": shortcut.GREEDY_MOST,
    }


def _float(value: float) -> str:
    return f"({float(np.float32(value))!r}f)"

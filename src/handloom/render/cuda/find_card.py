"""Detection of GPUs without risk to this process, which a broken driver could end."""

import json
from functools import cache
from typing import Any, NamedTuple

from handloom.child_process import run_trial
from handloom.errors import StateError, require

TRIAL = """
import json
import cupy
runtime = cupy.cuda.runtime
names = [runtime.getDeviceProperties(k)["name"].decode() for k in range(runtime.getDeviceCount())]
kernel = cupy.RawKernel('extern "C" __global__ void twice(float* x) { x[threadIdx.x] *= 2.0f; }', "twice")
for k in range(len(names)):
    with cupy.cuda.Device(k):
        x = cupy.arange(4, dtype=cupy.float32)
        kernel((1,), (4,), (x,))
        assert x.get().tolist() == [0, 2, 4, 6]
print("CARDS", json.dumps({"names": names, "cuda": runtime.runtimeGetVersion(), "cupy": cupy.__version__}))
"""
MARK = "CARDS "
INSTALL = "pip install 'handloom[gpu]'"
NO_PACKAGE = f"needs CuPy and an NVIDIA GPU; {INSTALL}"


class Cards(NamedTuple):
    """The GPUs of this machine that compile and run a kernel."""

    names: tuple[str, ...]
    reason: str
    """Their names and driver, or the reason why there are none."""


@cache
def find_cards() -> Cards:
    """Return the GPUs, after compiling and running a kernel on each in a child process."""
    trial = run_trial(TRIAL)
    if trial.error is not None:
        missing = "No module named 'cupy'" in trial.error
        return Cards((), NO_PACKAGE if missing else f"no GPU can be used: {trial.error}")
    line = next((line for line in trial.output.splitlines() if line.startswith(MARK)), "")
    if not line:
        return Cards((), "no GPU can be used: the test gave no output")
    told = json.loads(line.removeprefix(MARK))
    if not told["names"]:
        return Cards((), "there is no NVIDIA GPU")
    major, minor = told["cuda"] // 1000, told["cuda"] % 1000 // 10
    drives = f"CUDA {major}.{minor}, CuPy {told['cupy']}"
    return Cards(tuple(told["names"]), f"renders on {', '.join(told['names'])} ({drives})")


def cupy_and_cards() -> Any:
    """Return CuPy, or raise an error that names what is missing.

    Raises:
        MissingExtraError: CuPy is not installed.
        StateError: There is no GPU, or it cannot be used.
    """
    cupy = require("cupy", extra="gpu")
    cards = find_cards()
    if not cards.names:
        raise StateError(f"the backend 'cuda' cannot render here: {cards.reason}; the backend 'cpu' needs no GPU")
    return cupy

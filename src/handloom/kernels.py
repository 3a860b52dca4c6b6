"""The one way to compile a Numba kernel here: ``@kernel`` for commands, ``@picture_kernel`` for images.

Numba's own cache notices a change in the file of a kernel, but not in a kernel it calls from another file.
The cache folder is therefore keyed by a hash over every source file of the package that defines kernels.
"""

import hashlib
import re
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numba
from numba import prange
from numba.core import config as numba_config

from handloom.cache import user_cache

__all__ = ["cache_folder", "kernel", "kernel_sources", "picture_kernel", "prange"]


_DEFINES_KERNELS = re.compile(rb"^from handloom\.kernels import [^\n]*\b(picture_)?kernel\b", re.MULTILINE)


def kernel_sources() -> tuple[Path, ...]:
    """Return this file and every source file in a folder that defines kernels, sorted.

    Whole folders, because kernels bake in the constants of the modules beside them.
    """
    root = Path(__file__).parent
    folders = {file.parent for file in root.rglob("*.py") if _DEFINES_KERNELS.search(file.read_bytes())}
    return (Path(__file__), *sorted(file for folder in folders for file in folder.glob("*.py")))


@cache
def cache_folder() -> Path:
    """Return the folder of compiled kernels, ``<user cache>/handloom/kernels-<hash of all kernel sources>``."""
    digest = hashlib.sha256()
    root = Path(__file__).parent
    for file in kernel_sources():
        digest.update(str(file.relative_to(root)).encode())
        digest.update(file.read_bytes())
    return user_cache() / f"kernels-{digest.hexdigest()[:16]}"


numba_config.CACHE_DIR = str(cache_folder())  # pyright: ignore[reportAttributeAccessIssue]


def kernel(function: Any = None, /, *, parallel: bool = False, inline: Literal["never", "always"] = "never") -> Any:
    """Compile a pure function over arrays: cached on disk, releases the GIL, IEEE arithmetic.

    The same inputs give the same bits on every run and thread count, so the result may reach a command.
    """

    def compile_it(f: Any) -> Any:
        return numba.njit(f, cache=True, nogil=True, error_model="numpy", parallel=parallel, inline=inline)

    return compile_it if function is None else compile_it(function)


def picture_kernel(function: Any) -> Any:
    """Compile a kernel whose result is looked at, never acted on; IEEE arithmetic, as ``kernel``.

    Reassociation and contraction would gain 7 to 10 % here. They are off because the code of a kernel just compiled
    and of the same kernel loaded from the cache then differs in the last bits: callees are optimised in another
    context. IEEE arithmetic makes images the same bits everywhere, with AVX2 and with AVX-512.
    """
    return numba.njit(function, cache=True, nogil=True, error_model="numpy")

"""Decorators that compile Numba kernels: ``@kernel`` for commands, ``@picture_kernel`` for images.

``@inner_kernel`` is for kernels that only other kernels call.

Numba's own cache notices a change in the file of a kernel, but not in a kernel it calls from another file.
Each part of the package (``motion``, ``render``, ...) therefore has a cache folder keyed by a hash over all its
folders that define kernels; a test holds that no kernel calls one of another part. The hash identifies the sources
completely, so install path and dates do not matter: a second installation of the same version compiles nothing.
"""

import hashlib
import os
import platform
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numba
from numba import prange
from numba.core import caching

from handloom.cache import user_cache

__all__ = [
    "GENERATE",
    "STEPS",
    "WarmStep",
    "cache_folder",
    "inner_kernel",
    "is_warm",
    "kernel",
    "kernel_cache",
    "kernel_parts",
    "kernel_sources",
    "picture_kernel",
    "prange",
    "warm_marker",
]

ROOT = Path(__file__).parent
_DEFINES_KERNELS = re.compile(rb"^from handloom\.kernels import [^\n]*\b(picture_|inner_)?kernel\b", re.MULTILINE)


@dataclass(frozen=True)
class WarmStep:
    """One warm-up step: an example whose run compiles kernels."""

    code: str
    """``module:function`` of the example."""
    parts: tuple[str, ...]
    """Parts of the package whose kernels it compiles."""
    generates: bool = True
    """Whether ``generate`` and similar commands need these kernels."""


STEPS = {
    "drawing": WarmStep("handloom.engine.warmup:draw", ("render", "dataset")),
    "planning": WarmStep("handloom.engine.warmup:plan_and_write", ("motion", "grasping")),
    "pouring": WarmStep("handloom.engine.warmup:pour", ("scene",)),
    "labels": WarmStep("handloom.engine.warmup:label", ("labels",), generates=False),
    "motion policies": WarmStep("handloom.isaac.motion_generation.warmup:follow", ("isaac",), generates=False),
}
"""Steps that are compiled in parallel, the longest first."""
GENERATE = tuple(name for name, step in STEPS.items() if step.generates)
"""The steps that come before a run; labels come before one that writes them, motion policies are no part of it."""


@cache
def kernel_sources() -> tuple[Path, ...]:
    """Return every source file in a folder that defines kernels, sorted.

    Whole folders count, because kernels have the constants of neighbouring modules compiled in.
    """
    folders = {file.parent for file in ROOT.rglob("*.py") if _DEFINES_KERNELS.search(file.read_bytes())}
    return tuple(sorted(file for folder in folders for file in folder.glob("*.py")))


def kernel_parts() -> tuple[str, ...]:
    """Return the names of the package's folders with kernels below them, sorted."""
    return tuple(sorted({_part(file) for file in kernel_sources()}))


@cache
def cache_folder(part: str) -> Path:
    """Return the folder of the compiled kernels of one part, ``<user cache>/kernels/<part>-<hash of its sources>``."""
    return kernel_cache() / f"{part}-{_digest(file for file in kernel_sources() if _part(file) == part)}"


def is_warm(steps: Iterable[str] = GENERATE) -> bool:
    """Return whether these rows of ``STEPS`` were compiled on this machine with this version."""
    return all(warm_marker(name).is_file() for name in steps)


def warm_marker(step: str) -> Path:
    """Return the marker file of a step: it exists if the step has compiled the current kernels of its parts here.

    Numba's cache depends on the versions of Numba and Python and on the processor, so each combination has its own
    marker.
    """
    from llvmlite import binding

    made_by = (step, numba.__version__, platform.python_version(), binding.get_host_cpu_name())
    suffix = hashlib.sha256(repr(made_by).encode()).hexdigest()[:8]
    sources = (file for file in kernel_sources() if _part(file) in STEPS[step].parts)
    return kernel_cache() / f"warm-{_digest(sources)}-{suffix}"


def kernel_cache() -> Path:
    """Return the folder of all compiled kernels, ``<user cache>/kernels``."""
    return user_cache() / "kernels"


def _part(file: Path) -> str:
    return file.relative_to(ROOT).parts[0]


def _digest(files: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for file in (Path(__file__), *files):
        digest.update(str(file.relative_to(ROOT)).encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def kernel(function: Any = None, /, *, parallel: bool = False, inline: Literal["never", "always"] = "never") -> Any:
    """Compile a pure function over arrays: cached on disk, releases the GIL, IEEE arithmetic.

    The same inputs give the same bits on every run and thread count, so the result may reach a command.
    """

    def compile_it(f: Any) -> Any:
        return _compiled(f, parallel=parallel, inline=inline)

    return compile_it if function is None else compile_it(function)


def inner_kernel(function: Any) -> Any:
    """Compile a kernel that allocates nothing and is called only by kernels.

    It has no reference counts, which took a third of the run time of the collision kernels, and no wrappers for calls
    from Python, which took a third of their compile time.
    """
    return _compiled(function, _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def picture_kernel(
    function: Any = None, /, *, entry: bool = False, inline: Literal["never", "always"] = "never"
) -> Any:
    """Compile a kernel for images, whose result never affects a command; IEEE arithmetic, as in ``kernel``.

    Like ``inner_kernel`` it cannot make arrays and counts no references: with views of tables in every loop, that saves
    a fifth of the time of a frame. Only an ``entry`` can be called from Python. Small kernels are inlined, because
    every separate kernel takes a fifth of a second to compile.

    Reassociation and contraction would gain 7 to 10 % here. They are off because results of a kernel just compiled and
    of the same kernel loaded from the cache would then differ in the last bits: callees are optimised in another
    context. IEEE arithmetic makes images the same bits everywhere, with AVX2 and with AVX-512.
    """

    def compile_it(f: Any) -> Any:
        return _compiled(f, inline=inline, _nrt=False, no_cpython_wrapper=not entry, no_cfunc_wrapper=not entry)

    return compile_it if function is None else compile_it(function)


def _compiled(function: Any, **options: Any) -> Any:
    # ``_nrt`` is set for every kernel: otherwise the kernel that is compiled first decides it.
    options = {"_nrt": True, "nogil": True, "error_model": "numpy", **options}
    dispatcher: Any = numba.njit(function, **options)
    if Path(function.__code__.co_filename).is_relative_to(ROOT):
        dispatcher._cache = _SourceCache(function)
    else:
        dispatcher.enable_caching()  # A user's own kernel: cached beside its file, by path and date.
    return dispatcher


class _SourceLocator(caching._CacheLocator):  # pyright: ignore[reportPrivateUsage]
    """Puts compiled code into the folder of its part, whose name is the hash of the sources."""

    def __init__(self, function: Any, file: Path) -> None:
        self.line = function.__code__.co_firstlineno
        self.folder = cache_folder(_part(file)) / "-".join(file.relative_to(ROOT).parent.parts)

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> "_SourceLocator":
        return cls(py_func, Path(py_file))

    def ensure_cache_path(self) -> None:
        os.makedirs(self.folder, exist_ok=True)

    def get_cache_path(self) -> Any:
        return str(self.folder)

    def get_source_stamp(self) -> Any:
        return ""  # The folder's name identifies the source.

    def get_disambiguator(self) -> Any:
        return str(self.line)


class _SourceCacheFiles(caching.CompileResultCacheImpl):
    _locator_classes = [_SourceLocator]  # noqa: RUF012 - the name and type Numba looks for


class _SourceCache(caching.FunctionCache):
    _impl_class = _SourceCacheFiles

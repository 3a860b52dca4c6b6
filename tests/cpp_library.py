"""C++ source compiled and loaded: how the tests run CUDA kernels on machines without a card."""

import ctypes
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

COMPILER = shutil.which("g++") or shutil.which("clang++")


def cpp_library(source: str, *options: str) -> ctypes.CDLL:
    """Return the functions of a source as a library of this machine; no file of it stays behind."""
    with TemporaryDirectory(prefix="handloom_cpp_") as folder:
        (file := Path(folder) / "source.cpp").write_text(source, encoding="utf-8")
        library = file.with_suffix(".so")
        command = [str(COMPILER), "-std=c++17", "-O2", "-shared", "-fPIC", *options, str(file), "-o", str(library)]
        subprocess.run(command, check=True)
        return ctypes.CDLL(str(library))  # It stays in memory without its file.

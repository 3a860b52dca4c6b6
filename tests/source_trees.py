"""Syntax trees of source files, parsed once per test process: the tests of the architecture all read every file."""

import ast
from functools import cache
from pathlib import Path


@cache
def tree_of(file: Path) -> ast.Module:
    """Return the tree of a file; read it, do not change it."""
    return ast.parse(file.read_bytes())

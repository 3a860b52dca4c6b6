"""Syntax trees of source files, parsed once per test process: the tests of the architecture all read every file."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path


@cache
def tree_of(file: Path) -> ast.Module:
    """Return the tree of a file; read it, do not change it."""
    return ast.parse(file.read_bytes())


@cache
def imports_of(file: Path) -> tuple[ast.Import | ast.ImportFrom, ...]:
    """Return the imports of a file, wherever they stand."""
    return tuple(node for node in statements(tree_of(file)) if isinstance(node, ast.Import | ast.ImportFrom))


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the statements below a node; expressions, nine tenths of a tree, are passed over."""
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        inside = getattr(node, field, None)
        for statement in inside if isinstance(inside, list) else ():
            yield statement
            yield from statements(statement)

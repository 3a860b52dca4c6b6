"""The table of hostile cases. A kind writes files into a folder and returns the command lines that read them."""

import random
from collections.abc import Callable
from pathlib import Path

Kind = Callable[[Path, random.Random], list[list[str]]]
KINDS: list[Kind] = []


def kind(function: Kind) -> Kind:
    """Add a kind to the table."""
    KINDS.append(function)
    return function


def cases(count: int, seed: int) -> list[tuple[str, Kind, random.Random]]:
    """Return name, kind and generator of that many cases, all kinds in turn; other seeds give other files."""
    turns = [KINDS[i % len(KINDS)] for i in range(count)]
    return [(f"{i:03d}_{made.__name__}", made, random.Random(f"{seed} {i}")) for i, made in enumerate(turns)]

"""Long lists of cases, of which each fast test takes a part: the other parts of the list are marked slow.

Tests over the whole library take turns, so that every task is looked at by some fast test and by all slow ones.
"""

from collections.abc import Iterable
from typing import Any

import pytest


def every(cases: Iterable[Any], step: int, first: int = 0) -> list[Any]:
    """Return all cases, of which those that are not ``first``, ``first + step`` and so on are slow."""
    return [
        case
        if number % step == first
        else pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.slow)
        for number, case in enumerate(cases)
    ]

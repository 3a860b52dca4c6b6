"""Success terms, how long they remain valid, and the judge of a whole task."""

import importlib
from typing import Any

from handloom.judging.checks import CHECKS, NATURES, Nature, holds
from handloom.judging.joint_terms import kept_terms
from handloom.judging.judge import Bystanders, Judge, Step
from handloom.judging.lasting import not_lasting, standing_goals

__all__ = [
    "CHECKS",
    "NATURES",
    "Bystanders",
    "Judge",
    "Nature",
    "Step",
    "holds",
    "kept_terms",
    "not_lasting",
    "standing_goals",
]


def __getattr__(name: str) -> Any:
    """Return a name that was moved to another module."""
    return importlib.import_module("handloom.compat.moved").moved_name(__name__, name)

"""What is asked of the oracle, and its answer."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class Deed:
    """One thing that a task's words ask for."""

    kind: Literal[
        "in",
        "insert",
        "on",
        "stack_on",
        "beside",
        "open",
        "close",
        "turn",
        "pour",
        "pick",
        "rest",
        "within",
        "left_of",
        "right_of",
        "in_front_of",
        "behind",
        "at",
        "facing",
    ]
    obj: str
    target: str = ""
    part: str = ""
    """Drawer of ``in``; joint of ``open``, ``close`` and ``turn``."""
    side: str = "right"
    amount: float = 0.6
    by: float = 0.0
    """Of ``turn``: the angle that was asked for [deg], if it was."""
    upright: bool = True
    """Whether a thing that stands must stand."""
    gap: tuple[float, float] = (0.0, 0.1)
    """Of ``left_of`` and the like: least and largest gap [m]."""
    spot: tuple[float, float] = (0.0, 0.0)
    """Of ``at``: where its middle is to be, in the world [m]."""
    heading: float = 0.0
    axis: tuple[float, float, float] = (1.0, 0.0, 0.0)
    """Of ``facing``: where an axis of it, in its own frame, is to point [deg]; 0 along x, 90 along y. Of ``insert``:
    the point that goes in first, in its own frame [m]."""


@dataclass(frozen=True)
class Verdict:
    """Whether deeds were done, and what speaks against it; None where it cannot be said."""

    done: bool | None
    why: str = ""

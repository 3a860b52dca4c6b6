"""Result of a planner: a path, or the reason why there is none."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from handloom.arrays import Array
from handloom.motion.collision import Touch


class PlanStatus(Enum):
    """Every way a request can end."""

    SUCCESS = "success"
    INVALID_REQUEST = "invalid request"
    """A value is not finite, or there is no goal."""
    START_OUT_OF_LIMITS = "start out of limits"
    START_IN_COLLISION = "start in collision"
    GOAL_OUT_OF_LIMITS = "goal out of limits"
    GOAL_IN_COLLISION = "goal in collision"
    """Every reachable goal collides."""
    HOLD_BROKEN = "hold broken"
    """The goal violates the hold."""
    GOAL_UNREACHABLE = "goal unreachable"
    """No configuration brings the tool to any goal pose."""
    NO_PATH = "no path"
    """The search budget was used up."""
    LINE_UNREACHABLE = "line unreachable"
    """The arm cannot follow a straight move to its end."""
    LINE_JUMPS = "line jumps"
    """The arm could only follow a straight move by jumping to another branch."""
    LINE_IN_COLLISION = "line in collision"
    """A straight move collides."""
    VERIFICATION_FAILED = "verification failed"
    """Paths were found, but exact collision checking rejected all of them."""


@dataclass(frozen=True, kw_only=True)
class CandidateCounts:
    """Outcome counts of the candidate goals; they add up to ``given``."""

    given: int = 0
    """Candidates in the request."""
    untried: int = 0
    """Worse than the chosen one, or beyond the budget."""
    hold_broken: int = 0
    """Violate the hold."""
    unreachable: int = 0
    """No configuration within limits."""
    in_collision: int = 0
    """Reachable, but every configuration collides."""
    line_failed: int = 0
    """A later straight move of the chain fails."""
    not_connected: int = 0
    """Reachable and free, but no path was found."""
    chosen: int = 0
    """1 if a candidate was chosen."""

    def __str__(self) -> str:
        parts = [f"{value} {name.replace('_', ' ')}" for name, value in vars(self).items() if value and name != "given"]
        return f"{self.given} candidates: " + (", ".join(parts) or "none tried")


@dataclass(frozen=True, kw_only=True, eq=False)
class PlanResult:
    """A path in joint space, or why there is none."""

    status: PlanStatus
    path: Array
    """Waypoints (m, n), start first; straight joint motions in between are free. Empty (0, n) on failure."""
    segments: tuple[Array, ...] = ()
    """The path of each stage; one for a single goal."""
    reason: str = ""
    """On failure, one sentence with the problem, its location and its magnitude."""
    notes: tuple[str, ...] = ()
    """Tolerated or corrected problems, such as a start moved into the limits."""
    touches: tuple[Touch, ...] = ()
    """Contacts behind a collision, deepest first."""
    joint: str = ""
    """Joint that is out of limits."""
    excess: float = 0.0
    """Distance of that joint beyond its limit [rad or m]."""
    fraction: float = 0.0
    """Possible fraction of a straight move, 0 to 1."""
    goal: int = -1
    """Index of the candidate that was reached."""
    counts: CandidateCounts = CandidateCounts()
    """Outcome counts of the candidates."""
    iterations: int = 0
    """Samples drawn by the searches."""
    timings: Mapping[str, float] = field(default_factory=dict)
    """Time spent per stage [s]."""

    @property
    def ok(self) -> bool:
        """Whether there is a path."""
        return self.status is PlanStatus.SUCCESS

    @property
    def length(self) -> float:
        """Length of the path in joint space [rad or m]."""
        return float(np.linalg.norm(np.diff(self.path, axis=0), axis=1).sum())

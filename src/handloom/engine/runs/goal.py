"""How many demonstrations or attempts a run is to make, and with which attempt that is reached."""

from collections.abc import Mapping
from dataclasses import dataclass

from handloom.engine.runs.journal import Receipt
from handloom.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Goal:
    """When a run is done. Exactly one of the two is given."""

    successes: int | None = None
    """Demonstrations wanted: the lowest-numbered successful attempts."""
    attempts: int | None = None
    """Attempts to make, whatever comes out."""
    failures: int | None = None
    """Failed attempts wanted beside the successes; None: whatever comes."""
    max_attempts: int | None = None
    """Bound on the attempts; None allows ten per wanted success and at least 50."""
    first: int = 0
    """Attempt to begin with; those before it are neither made nor counted."""

    def __post_init__(self) -> None:
        """Refuse goals that say nothing or cannot be reached."""
        given = [value for value in (self.successes, self.attempts) if value is not None]
        if len(given) != 1 or given[0] < 1:
            raise InputError("say how much to make: -n SUCCESSES or --attempts ATTEMPTS, at least 1")
        if self.max_attempts is not None and self.max_attempts < 1:
            raise InputError(f"--max-attempts must be at least 1, got {self.max_attempts}")
        if not 0 <= self.first < self.bound:
            raise InputError(f"the first attempt must be between 0 and {self.bound - 1}, got {self.first}")

    @property
    def bound(self) -> int:
        """Most attempts that are made."""
        if self.attempts is not None:
            return min(self.attempts, self.max_attempts or self.attempts)
        return self.max_attempts or max(50, 10 * (self.successes or 0))

    @property
    def least(self) -> int:
        """Attempts that are made in any case, whatever comes out: what shards divide among them."""
        return min(self.bound, self.successes or self.bound)


class GoalTracker:
    """Finds the attempt with which a goal is reached, looking at every attempt once.

    Only an unbroken row of finished attempts counts, so that the answer is the same in whatever order they ran.
    """

    def __init__(self, goal: Goal) -> None:
        self.goal = goal
        self.end: int | None = None
        """Number of attempts after which the run is done; None while it is not."""
        self._next = goal.first
        self._wins = 0
        self._losses = 0

    def update(self, receipts: Mapping[int, Receipt]) -> int | None:
        """Go on through the attempts that are known by now; return ``end``."""
        while self.end is None and self._next in receipts:
            receipt = receipts[self._next]
            self._wins += receipt.success
            self._losses += not receipt.success and receipt.frames > 0
            self._next += 1
            goal = self.goal
            enough = goal.successes is not None and self._wins >= goal.successes
            if self._next >= goal.bound or (enough and self._losses >= (goal.failures or 0)):
                self.end = self._next
        return self.end

"""Number of demonstrations or attempts that a run should make, and the attempt that reaches it."""

from collections.abc import Mapping
from dataclasses import dataclass

from handloom.engine.runs.journal import Receipt
from handloom.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Goal:
    """When a run is done. Exactly one of ``successes`` and ``attempts`` is given."""

    successes: int | None = None
    """Demonstrations wanted: the lowest-numbered successful attempts."""
    attempts: int | None = None
    """Attempts to make, regardless of their outcome."""
    failures: int | None = None
    """Failed attempts wanted in addition to the successes; None: no requirement."""
    max_attempts: int | None = None
    """Limit on the attempts; None allows ten per wanted success and at least 50."""
    first: int = 0
    """First attempt; those before it are neither made nor counted."""

    def __post_init__(self) -> None:
        """Refuse goals that are empty or cannot be reached."""
        given = [value for value in (self.successes, self.attempts) if value is not None]
        if len(given) != 1 or given[0] < 1:
            raise InputError("give the amount: -n SUCCESSES or --attempts ATTEMPTS, at least 1")
        if self.max_attempts is not None and self.max_attempts < 1:
            raise InputError(f"--max-attempts must be at least 1, got {self.max_attempts}")
        if not 0 <= self.first < self.bound:
            raise InputError(f"the first attempt must be between 0 and {self.bound - 1}, got {self.first}")

    @property
    def bound(self) -> int:
        """Maximum number of attempts."""
        if self.attempts is not None:
            return min(self.attempts, self.max_attempts or self.attempts)
        return self.max_attempts or max(50, 10 * (self.successes or 0))

    @property
    def least(self) -> int:
        """Attempts that are needed regardless of their outcome, which shards divide among themselves."""
        return min(self.bound, self.successes or self.bound)


class GoalTracker:
    """Finds the attempt that reaches a goal, examining every attempt once.

    Only an unbroken sequence of finished attempts counts, so that the answer does not depend on the order in which
    they ran.
    """

    def __init__(self, goal: Goal) -> None:
        self.goal = goal
        self.end: int | None = None
        """Number of attempts after which the run is done; None before that."""
        self._next = goal.first
        self._wins = 0
        self._losses = 0

    def update(self, receipts: Mapping[int, Receipt]) -> int | None:
        """Process the attempts that are known so far; return ``end``."""
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

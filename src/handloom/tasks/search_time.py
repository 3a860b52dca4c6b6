"""Time that a search may take, and a line now and then about how far it is."""

from collections.abc import Callable
from time import monotonic

EVERY = 15.0
"""Time between two lines about a search [s]."""


class SearchOverError(Exception):
    """A search has used up its time."""


class SearchTime:
    """Time of a search, to be asked in each of its steps.

    Args:
        seconds: Time that it may take [s].
        tell: Receives lines about its progress.
        clock: Returns the time [s].
    """

    def __init__(self, seconds: float, tell: Callable[[str], None], *, clock: Callable[[], float] = monotonic) -> None:
        self._tell, self._clock, self.seconds = tell, clock, seconds
        self._begin = self._told = clock()
        self._steps = 0

    def step(self, what: str) -> None:
        """Count one step; tell about it from time to time.

        Args:
            what: What is being tried.

        Raises:
            SearchOverError: The time is over.
        """
        now = self._clock()
        self._steps += 1
        if now - self._begin > self.seconds:
            raise SearchOverError(f"the search ended after {self.seconds:.0f} s and {self._steps} trials")
        if now - self._told > EVERY:
            self._told = now
            self._tell(f"{what}: {self._steps} tried in {now - self._begin:.0f} of at most {self.seconds:.0f} s")


def unlimited(what: str) -> None:
    """Take a step of a search without a limit."""

"""Where commands come from: a skill schedule, a teleoperator, a policy, a recording."""

from collections.abc import Sequence
from typing import Protocol

from handloom.arrays import Array
from handloom.values import Failure, SkillSpan


class Source(Protocol):
    """Gives the actuator targets of one frame after the other."""

    @property
    def failure(self) -> Failure | None:
        """Why the task was not done; None while it runs and after success."""
        ...

    @property
    def timeline(self) -> Sequence[SkillSpan]:
        """What was done when; empty for sources without skills."""
        ...

    @property
    def recording(self) -> bool:
        """Whether the frame asked for last belongs to the demonstration."""
        ...

    def next(self, frame: int) -> Array | None:
        """Return targets (controls,) [m or rad], NaN where nothing is asked; None at the end.

        Args:
            frame: Number of frames carried out so far; the scene is in the state after them.
        """
        ...

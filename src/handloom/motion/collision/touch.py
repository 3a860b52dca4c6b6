"""Two solids that touch."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, order=True)
class Touch:
    """A contact between a part of the robot and something else, deepest first when sorted."""

    distance: float
    """Signed distance [m]; negative is how deep they overlap."""
    part: str
    """Body of the robot."""
    other: str
    """Other body of the robot, or obstacle."""

    @property
    def depth(self) -> float:
        """How deep the two overlap [m], 0 when they are apart."""
        return max(0.0, -self.distance)

    def __str__(self) -> str:
        if self.distance < 0:
            return f"{self.part} overlaps {self.other} by {1000 * self.depth:.1f} mm"
        return f"{self.part} is {1000 * self.distance:.1f} mm from {self.other}"

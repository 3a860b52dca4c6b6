"""Options of the grasp search."""

from dataclasses import dataclass

import numpy as np

from handloom.errors import InputError

FRICTIONS = tuple(round(0.1 * k, 1) for k in range(1, 11))
"""Published scores: the lowest coefficient of friction at which a grasp holds, out of these."""
DEPTHS = (0.005, 0.01, 0.02, 0.03, 0.04)
"""Published depths [m]."""


@dataclass(frozen=True, kw_only=True)
class AnnotateOptions:
    """Settings of ``annotate``; the defaults suit hand-sized objects."""

    count: int = 300
    """Maximum number of rows returned."""
    samples: int = 1200
    """Number of surface points tried as contacts."""
    rays: int = 3
    """Closing directions per point: the inward normal, then random ones in the friction cone."""
    approaches: int = 8
    """Approach directions per pair of contacts, half of them along the object's own axes, half random."""
    frictions: tuple[float, ...] = FRICTIONS
    """Coefficients of friction, ascending; the lowest one that holds is the score."""
    max_friction: float = 0.6
    """Grasps that need more friction than this are dropped; rubber on wood has about 1."""
    patch: float = 0.003
    """Reach of the contact patch [m]: a contact must tolerate a shift by this much in four directions. Each direction
    in which it would slip off the object, or onto a surface more than ``patch_step`` away, costs one level of score."""
    patch_step: float = 0.0015
    """[m]"""
    depths: tuple[float, ...] = DEPTHS
    """Reach of the fingertips past the contacts [m]; depths beyond the pads are skipped."""
    clearance: float = 0.0015
    """Gap between each finger and its contact before closing [m]."""
    margin: float = 0.0005
    """Clearance of every gripper part during the approach [m], less than ``clearance``."""
    edge: float = 0.0015
    """Distance of a contact from the edge of the pad [m]."""
    approach_length: float = 0.08
    """Length of the straight approach that must be free [m]."""
    preshape: bool = False
    """Approach with the fingers at the width of the row; False approaches fully open, as the pick skill does."""
    opening: float | None = None
    """Finger opening during the approach [m], the same for all rows; None: fully open, or according to ``preshape``."""
    enough: int = 4
    """The search ends once it has this many times ``count`` grasps to choose from."""
    poses: int = 12000
    """Maximum number of hand poses tested for collisions at points drawn from the whole surface."""
    neighbours: int = 20000
    """Maximum number of hand poses tested next to grasps already found, for objects that leave little room, such as
    bowls."""
    step: float = 0.015
    """Distance to a neighbouring grasp [m]."""

    def __post_init__(self) -> None:
        """Refuse settings that cannot find any grasp."""
        for name in ("count", "samples", "rays", "approaches", "enough", "poses"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} must be at least 1, got {getattr(self, name)}")
        if not 0.0 < self.margin < self.clearance:
            raise InputError(f"margin must lie between 0 and clearance {self.clearance}, got {self.margin}")
        if self.opening is not None and (self.preshape or self.opening <= 2.0 * self.clearance):
            raise InputError(
                f"opening excludes preshape, and must be wider than twice the clearance of "
                f"{self.clearance} m, got {self.opening}"
            )
        if not self.frictions or min(self.frictions) <= 0.0 or np.any(np.diff(self.frictions) <= 0.0):
            raise InputError(f"frictions must be positive and ascending, got {self.frictions}")
        if not self.depths or min(self.depths) <= 0.0:
            raise InputError(f"depths must be positive, got {self.depths}")

"""What an inverse kinematics request asks for and how hard to try."""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from handloom.errors import InputError


class Orientation(IntEnum):
    """How much of the target's orientation counts; the values are read by the kernels."""

    FREE = 0
    """Position only."""
    FULL = 1
    """All three angles."""
    AXIS = 2
    """One axis of the tool must point as in the target; the tool may turn about it."""


@dataclass(frozen=True, kw_only=True)
class IkOptions:
    """Settings of :class:`IkSolver`."""

    position_tolerance: float = 1e-3
    """Largest accepted distance from the target [m]."""
    rotation_tolerance: float = float(np.deg2rad(0.5))
    """Largest accepted angle from the target [rad]."""
    orientation: Orientation = Orientation.FULL
    """Which part of the orientation counts."""
    tool_axis: tuple[float, float, float] = (0.0, 0.0, 1.0)
    """Axis in the tool frame that must point as in the target when ``orientation`` is AXIS."""
    position_axes: tuple[bool, bool, bool] = (True, True, True)
    """Which axes of the target's frame fix the position; a free axis may be missed by any distance."""
    max_seeds: int = 64
    """Starting points to try per target before giving up."""
    iterations: int = 40
    """Descent steps per starting point."""
    rotation_weight: float = 0.15
    """Length that makes one radian as bad as that many metres of position error [m]. Of 0.1 to 0.5 m, this value
    needed the fewest starting points on a 7-joint arm of 0.85 m reach."""
    tighten: float = 0.5
    """A solution is refined until its errors are below this fraction of the tolerances, to leave room for rounding."""
    limit_margin: float = 0.0
    """Distance to keep from every joint limit [rad or m]."""
    seed_bias: float = 0.0
    """Fraction of the way back to the seed that redundant joints go per refinement step, 0 to 1."""
    limit_bias: float = 0.0
    """Fraction of the way to the middle of their range that redundant joints go per refinement step, 0 to 1."""
    bias_steps: int = 15
    """Refinement steps when a bias is set."""
    threads: int | None = None
    """Most threads for a batch; None uses every core. The result does not depend on it."""

    def __post_init__(self) -> None:
        """Refuse settings that cannot be met."""
        positive = ("position_tolerance", "rotation_tolerance", "rotation_weight", "max_seeds", "iterations")
        for name in positive:
            if not getattr(self, name) > 0:
                raise InputError(f"IkOptions.{name} must be > 0, got {getattr(self, name)}")
        if not 0.0 < self.tighten <= 1.0:
            raise InputError(f"IkOptions.tighten must be in (0, 1], got {self.tighten}")
        if self.limit_margin < 0.0:
            raise InputError(f"IkOptions.limit_margin must be >= 0, got {self.limit_margin}")
        if not (self.seed_bias >= 0.0 and self.limit_bias >= 0.0 and self.seed_bias + self.limit_bias <= 1.0):
            raise InputError("IkOptions.seed_bias and limit_bias must be >= 0 and add up to at most 1")
        if not np.linalg.norm(self.tool_axis) > 1e-9:
            raise InputError("IkOptions.tool_axis has length zero")
        if self.orientation == Orientation.FREE and not any(self.position_axes):
            raise InputError("IkOptions fixes neither position nor orientation, so every configuration is a solution")

"""How fast joints may move."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from handloom.arrays import Array
from handloom.errors import InputError


@dataclass(frozen=True, kw_only=True, eq=False)
class MotionLimits:
    """Symmetric limits per joint."""

    velocity: Array
    """Largest speed (n,) [rad/s or m/s]."""
    acceleration: Array
    """Largest acceleration (n,) [rad/s^2 or m/s^2]."""
    jerk: Array | None = None
    """Largest jerk (n,) [rad/s^3 or m/s^3]; only jerk-limited motion needs it."""

    @classmethod
    def of(
        cls, velocity: ArrayLike, acceleration: ArrayLike, jerk: ArrayLike | None = None, *, dof: int | None = None
    ) -> "MotionLimits":
        """Build limits from numbers or sequences; ``dof`` repeats plain numbers.

        Raises:
            InputError: A limit is not positive or the lengths differ.
        """
        given = {"velocity": velocity, "acceleration": acceleration, "jerk": jerk}
        arrays = {name: np.atleast_1d(np.asarray(v, float)) for name, v in given.items() if v is not None}
        count = dof or max(len(values) for values in arrays.values())
        for name, values in arrays.items():
            if values.shape not in {(1,), (count,)}:
                raise InputError(f"{name} limits have shape {values.shape}, expected ({count},)")
            if not np.all(values > 0) or not np.all(np.isfinite(values)):
                raise InputError(f"{name} limits must be finite and > 0, got {values}")
        return cls(**{name: np.broadcast_to(values, (count,)).copy() for name, values in arrays.items()})

    def scaled(self, speed: float) -> "MotionLimits":
        """Return the limits under which every motion takes ``1 / speed`` times as long."""
        if not speed > 0.0:
            raise InputError(f"a speed factor must be > 0, got {speed}")
        jerk = None if self.jerk is None else self.jerk * speed**3
        return MotionLimits(velocity=self.velocity * speed, acceleration=self.acceleration * speed**2, jerk=jerk)

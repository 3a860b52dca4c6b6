"""A motion over time, and joint limits."""

from abc import ABC, abstractmethod
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


class Trajectory(ABC):
    """Joint positions as a function of time, from rest at time 0 to rest at ``duration``."""

    @property
    @abstractmethod
    def duration(self) -> float:
        """Length [s]."""

    @property
    @abstractmethod
    def dof(self) -> int:
        """Number of joints."""

    @abstractmethod
    def _sample(self, times: Array) -> tuple[Array, Array, Array]:
        """Return positions, velocities and accelerations (m, n) at times (m,) within [0, duration]."""

    def sample(self, t: ArrayLike) -> tuple[Array, Array, Array]:
        """Return position, velocity and acceleration at times (...): three arrays (..., n).

        Before the start and after the end the joints rest at the first and last position.
        """
        times = np.asarray(t, float)
        if not np.all(np.isfinite(times)):
            raise InputError("a trajectory cannot be sampled at times that are not finite")
        flat = np.ascontiguousarray(np.clip(times, 0.0, self.duration).reshape(-1))
        shape = (*times.shape, self.dof)
        q, qd, qdd = self._sample(flat)
        outside = ((times < 0.0) | (times > self.duration)).reshape(-1)
        qd[outside], qdd[outside] = 0.0, 0.0
        return q.reshape(shape), qd.reshape(shape), qdd.reshape(shape)

    def sampled(self, rate: float) -> tuple[Array, Array]:
        """Return times (m,) [s] and positions (m, n) at a rate [Hz]; the last sample is the end."""
        if not rate > 0:
            raise InputError(f"a sampling rate must be > 0, got {rate}")
        count = int(np.ceil(self.duration * rate - 1e-9))
        times = np.append(np.arange(count) / rate, self.duration)
        return times, self.sample(times)[0]


class WaypointTrajectory(Trajectory):
    """A trajectory through waypoints (m, n), with the times at which its pieces join."""

    _times: Array
    """Increasing from 0 [s]."""
    _waypoints: Array
    """[rad or m]"""

    @property
    def duration(self) -> float:
        """Length [s]."""
        return float(self._times[-1])

    @property
    def dof(self) -> int:
        """Number of joints."""
        return self._waypoints.shape[1]

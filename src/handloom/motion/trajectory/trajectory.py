"""A motion over time."""

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import ArrayLike

from handloom.arrays import Array
from handloom.errors import InputError


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

"""The fastest straight joint motion from rest to rest under velocity, acceleration and jerk limits."""

import numpy as np

from handloom.arrays import Array
from handloom.motion.trajectory import MotionLimits, Trajectory


class SCurve(Trajectory):
    """All joints run one S-curve from 0 to 1 together, as fast as the slowest of them allows.

    Phases: jerk, greatest acceleration, jerk, greatest speed, and the same backwards.

    Args:
        start: Configuration (n,).
        end: Configuration (n,), another one than the start.
        limits: Velocity, acceleration and jerk limits.
    """

    def __init__(self, start: Array, end: Array, limits: MotionLimits) -> None:
        self._start, self._move = np.asarray(start, float), np.asarray(end, float) - start
        moves = np.abs(self._move)
        on = moves > 1e-12
        jerk = limits.jerk if limits.jerk is not None else np.full_like(moves, 1e12)
        v, a, j = (float(np.min(values[on] / moves[on])) for values in (limits.velocity, limits.acceleration, jerk))
        short, flat, cruise = _phases(v, a, j)
        self._edges = np.cumsum([0.0, short, flat, short, cruise, short, flat, short])
        self._jerks = np.array([j, 0.0, -j, 0.0, -j, 0.0, j])
        self._states = np.zeros((8, 3))
        for k, step in enumerate(np.diff(self._edges)):
            self._states[k + 1] = _advance(self._states[k], self._jerks[k], step)

    @property
    def duration(self) -> float:
        """Length [s]."""
        return float(self._edges[-1])

    @property
    def dof(self) -> int:
        """Number of joints."""
        return len(self._start)

    def _sample(self, times: Array) -> tuple[Array, Array, Array]:
        phase = np.clip(np.searchsorted(self._edges, times, side="right") - 1, 0, 6)
        s, sd, sdd = _advance(self._states[phase].T, self._jerks[phase], times - self._edges[phase])
        # Rounding leaves the end short by some 1e-16; the motion ends exactly at its goal.
        s = np.where(times >= self.duration, 1.0, s)
        return self._start + s[:, None] * self._move, sd[:, None] * self._move, sdd[:, None] * self._move


def _advance(state: Array, jerk: Array | float, t: Array | float) -> Array:
    s, v, a = state
    return np.array([s + v * t + a * t**2 / 2 + jerk * t**3 / 6, v + a * t + jerk * t**2 / 2, a + jerk * t])


def _phases(v: float, a: float, j: float) -> tuple[float, float, float]:
    """Return the lengths of a jerk phase, of the constant acceleration and of the constant speed for a way of 1 [s]."""
    short = a / j if v * j >= a * a else np.sqrt(v / j)
    flat = v / (j * short) - short
    way = v * (2 * short + flat)  # Speeding up and slowing down.
    if way <= 1.0:
        return short, max(flat, 0.0), (1.0 - way) / v
    peak = a / 2 * (np.sqrt((a / j) ** 2 + 4 / a) - a / j)
    if peak * j >= a * a:
        return a / j, peak / a - a / j, 0.0
    return (1.0 / (2.0 * j)) ** (1 / 3), 0.0, 0.0

"""Give a path its times: as fast as velocity and acceleration limits allow, or with limited jerk too."""

import numpy as np
from numpy.typing import ArrayLike

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.motion.trajectory.timed_path import TimedPath
from handloom.motion.trajectory.trajectory import MotionLimits, Trajectory

# Gauss-Legendre nodes and weights on [0, 1]; exact for polynomials of degree 15.
NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)
NODES, WEIGHTS = 0.5 * (NODES + 1.0), 0.5 * WEIGHTS

WINDOW_STEPS = 11
"""Windows tried between the shortest and the longest that can be needed."""

MEASURE_RATE = 500.0
"""Rate at which jerk is measured when the window is chosen, besides where accelerations jump [Hz]."""


class SmoothedTrajectory(Trajectory):
    """The average of a fast motion over a short moving window.

    An average of velocities stays within the velocity limits, and one of accelerations within theirs. The jerk
    becomes the change of acceleration across the window divided by its length, so a long enough window keeps any jerk
    limit, at the price of that much more time. A trapezoidal motion turns into the familiar S-curve.
    """

    def __init__(self, motion: TimedPath, limits: MotionLimits) -> None:
        assert limits.jerk is not None
        self._motion = motion
        self._window = self._shortest_window(limits)

    @property
    def duration(self) -> float:
        """Length [s]."""
        return self._motion.duration + self._window if self._motion.duration > 0 else 0.0

    @property
    def dof(self) -> int:
        """Number of joints."""
        return self._motion.dof

    @property
    def window(self) -> float:
        """Length of the moving window [s]."""
        return self._window

    def jerk(self, times: Array) -> Array:
        """Return the jerk (m, n) at times (m,)."""
        return self._jerk(times, self._window)

    def _jerk(self, times: Array, window: float) -> Array:
        return (self._motion.sample(times)[2] - self._motion.sample(times - window)[2]) / window

    def _shortest_window(self, limits: MotionLimits) -> float:
        """Return a short window that keeps the jerk limits, found by halving; the longest one always does."""
        assert limits.jerk is not None
        shortest = float((limits.acceleration / limits.jerk).max())
        if self._motion.duration == 0.0:
            return shortest
        # Accelerations jump by up to twice their limit, which a window of twice the shortest absorbs.
        windows = (shortest * np.linspace(1.0, 2.0, WINDOW_STEPS)).tolist()
        low, high = 0, WINDOW_STEPS - 1
        while low < high:
            middle = (low + high) // 2
            jerk = np.abs(self._jerk(self._telling_times(windows[middle]), windows[middle]))
            low, high = (low, middle) if np.all(jerk <= limits.jerk * (1.0 + 1e-9)) else (middle + 1, high)
        return windows[high]

    def _telling_times(self, window: float) -> Array:
        """Return times (m,) at which the jerk is largest: just around jumps of the acceleration, and evenly spread."""
        span = self._motion.duration + window
        jumps = (self._motion.knots[:, None] + np.array([0.0, window])).reshape(-1)
        even = np.linspace(0.0, span, int(span * MEASURE_RATE) + 2)
        return np.sort(np.concatenate([jumps - 1e-9, jumps + 1e-9, even]))

    def _sample(self, times: Array) -> tuple[Array, Array, Array]:
        window, motion = self._window, self._motion
        # Positions are integrated by quadrature; their derivatives are exact differences across the window.
        q_now, qd_now, _ = motion.sample(times)
        q_then, qd_then, _ = motion.sample(times - window)
        inside = motion.sample(times[:, None] - window * NODES)[0]
        # Averaging differences keeps a joint that rests exactly where it is.
        q = q_now + np.einsum("k,mkn->mn", WEIGHTS, inside - q_now[:, None])
        return q, (q_now - q_then) / window, (qd_now - qd_then) / window


def time_optimal(path: ArrayLike, limits: MotionLimits, *, deviation: float = 0.01) -> Trajectory:
    """Return the fastest motion along a path under velocity and acceleration limits.

    Args:
        path: Waypoints (m, n) [rad or m], joined by straight joint motions.
        limits: Velocity and acceleration limits.
        deviation: How far rounded corners may stay from the waypoints [rad or m]; 0 stops at every waypoint.
    """
    return TimedPath(path, limits, deviation=deviation)


def jerk_limited(path: ArrayLike, limits: MotionLimits, *, deviation: float = 0.01) -> Trajectory:
    """Return a fast motion along a path under velocity, acceleration and jerk limits.

    It is the time-optimal motion averaged over the shortest window that keeps the jerk limits, and takes longer by
    that window. Besides the rounding of corners it stays within ``acceleration * window^2 / 24`` of the path: 7e-6 rad
    for an arm with 10 rad/s^2 and 5000 rad/s^3.

    Args:
        path: Waypoints (m, n) [rad or m], joined by straight joint motions.
        limits: Velocity, acceleration and jerk limits.
        deviation: How far rounded corners may stay from the waypoints [rad or m]; 0 stops at every waypoint.
    """
    if limits.jerk is None:
        raise InputError("jerk-limited motion needs MotionLimits with jerk; time_optimal does without")
    return SmoothedTrajectory(TimedPath(path, limits, deviation=deviation), limits)

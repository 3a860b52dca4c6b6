"""Motion through configurations at given times: a clamped cubic spline, or straight lines."""

import numpy as np

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.motion.trajectory import Trajectory

MODES = ("cubic_spline", "linear")


class TimedWaypoints(Trajectory):
    """Passes each waypoint exactly at its time.

    The cubic spline starts and ends at rest and has continuous acceleration; lines have constant velocity each.

    Args:
        times: Ascending, from 0 (m,) [s].
        waypoints: Configurations (m, n).
        mode: ``cubic_spline`` or ``linear``.
    """

    def __init__(self, times: Array, waypoints: Array, mode: str) -> None:
        if mode not in MODES:
            raise InputError(f"interpolation_mode is one of {', '.join(MODES)}, got {mode!r}")
        if len(times) < 2:
            raise InputError("a trajectory needs at least two waypoints")
        self._times, self._waypoints, self._linear = times, waypoints, mode == "linear"
        h, d = np.diff(times)[:, None], np.diff(waypoints, axis=0)
        if self._linear:
            self._coefficients = np.stack([waypoints[:-1], d / h, np.zeros_like(d), np.zeros_like(d)])
            return
        # Velocities at the knots make accelerations agree there: a tridiagonal system, zero at both ends.
        m = len(times)
        A, b = np.eye(m), np.zeros_like(waypoints)
        for k in range(1, m - 1):
            one, two = h[k - 1, 0], h[k, 0]
            A[k, k - 1 : k + 2] = 1 / one, 2 / one + 2 / two, 1 / two
            b[k] = 3 * (d[k - 1] / one**2 + d[k] / two**2)
        v = np.linalg.solve(A, b)
        second = (3 * d / h - 2 * v[:-1] - v[1:]) / h
        third = (v[:-1] + v[1:] - 2 * d / h) / h**2
        self._coefficients = np.stack([waypoints[:-1], v[:-1], second, third])

    @property
    def duration(self) -> float:
        """Length [s]."""
        return float(self._times[-1])

    @property
    def dof(self) -> int:
        """Number of joints."""
        return self._waypoints.shape[1]

    def _sample(self, times: Array) -> tuple[Array, Array, Array]:
        k = np.clip(np.searchsorted(self._times, times, side="right") - 1, 0, len(self._times) - 2)
        t, (a, b, c, d) = (times - self._times[k])[:, None], self._coefficients[:, k]
        return a + t * (b + t * (c + t * d)), b + t * (2 * c + 3 * t * d), 2 * c + 6 * t * d

    def exceeded(
        self, lower: Array, upper: Array, velocity: Array, acceleration: Array | None, jerk: Array | None
    ) -> str | None:
        """Return which limits the motion exceeds, None when none; extremes of cubics are found exactly."""
        a, b, c, d = self._coefficients
        h = np.diff(self._times)[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            turn = np.where(d != 0, -c / (3 * d), 0.0)
            root = np.sqrt(np.maximum(c**2 - 3 * b * d, 0.0))
            stops = [np.where(d != 0, (-c + sign * root) / (3 * d), -b / (2 * c)) for sign in (1.0, -1.0)]
        for t in (np.zeros_like(a), h + 0 * a, *(np.nan_to_num(np.clip(stop, 0.0, h)) for stop in stops)):
            q = a + t * (b + t * (c + t * d))
            if np.any(q < lower - 1e-9) or np.any(q > upper + 1e-9):
                return "position limits"
        for t in (np.zeros_like(a), h + 0 * a, np.clip(turn, 0.0, h)):
            if np.any(np.abs(b + t * (2 * c + 3 * t * d)) > velocity * (1 + 1e-9)):
                return "velocity limits"
        peaks = np.maximum(np.abs(2 * c), np.abs(2 * c + 6 * h * d))
        if acceleration is not None and not self._linear and np.any(peaks > acceleration * (1 + 1e-9)):
            return "acceleration limits"
        if jerk is not None and not self._linear and np.any(np.abs(6 * d) > jerk * (1 + 1e-9)):
            return "jerk limits"
        return None

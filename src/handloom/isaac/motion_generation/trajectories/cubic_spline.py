"""Motion through configurations at given times: clamped cubic spline, straight lines, or a smooth start and stop."""

import numpy as np

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.motion.trajectory import MotionLimits, Trajectory, WaypointTrajectory


class SCurve(Trajectory):
    """All joints follow one S-curve from 0 to 1 together, as fast as the slowest of them allows.

    Phases: jerk, maximum acceleration, jerk, maximum speed, then the same in reverse.

    Args:
        start: Configuration (n,).
        end: Configuration (n,), different from the start.
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
        # Rounding leaves the end about 1e-16 short; the motion must end exactly at its goal.
        s = np.where(times >= self.duration, 1.0, s)
        return self._start + s[:, None] * self._move, sd[:, None] * self._move, sdd[:, None] * self._move


def _advance(state: Array, jerk: Array | float, t: Array | float) -> Array:
    s, v, a = state
    return np.array([s + v * t + a * t**2 / 2 + jerk * t**3 / 6, v + a * t + jerk * t**2 / 2, a + jerk * t])


def _phases(v: float, a: float, j: float) -> tuple[float, float, float]:
    """Return the durations of the jerk, constant-acceleration and constant-speed phases for a distance of 1 [s]."""
    short = a / j if v * j >= a * a else np.sqrt(v / j)
    flat = v / (j * short) - short
    way = v * (2 * short + flat)  # Speeding up and slowing down.
    if way <= 1.0:
        return short, max(flat, 0.0), (1.0 - way) / v
    peak = a / 2 * (np.sqrt((a / j) ** 2 + 4 / a) - a / j)
    if peak * j >= a * a:
        return a / j, peak / a - a / j, 0.0
    return (1.0 / (2.0 * j)) ** (1 / 3), 0.0, 0.0


MODES = ("cubic_spline", "linear")


class TimedWaypoints(WaypointTrajectory):
    """Motion that passes each waypoint exactly at its time.

    The cubic spline starts and ends at rest and has continuous acceleration; each line has constant velocity.

    Args:
        times: Ascending, from 0 (m,) [s].
        waypoints: Configurations (m, n).
        mode: ``cubic_spline`` or ``linear``.
    """

    def __init__(self, times: Array, waypoints: Array, mode: str) -> None:
        if mode not in MODES:
            raise InputError(f"interpolation_mode must be one of {', '.join(MODES)}, got {mode!r}")
        if len(times) < 2:
            raise InputError("a trajectory needs at least two waypoints")
        self._times, self._waypoints, self._linear = times, waypoints, mode == "linear"
        h, d = np.diff(times)[:, None], np.diff(waypoints, axis=0)
        if self._linear:
            self._coefficients = np.stack([waypoints[:-1], d / h, np.zeros_like(d), np.zeros_like(d)])
            return
        # Velocities at the knots make accelerations continuous: a tridiagonal system, with zero velocity at both ends.
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

    def _sample(self, times: Array) -> tuple[Array, Array, Array]:
        k = np.clip(np.searchsorted(self._times, times, side="right") - 1, 0, len(self._times) - 2)
        t, (a, b, c, d) = (times - self._times[k])[:, None], self._coefficients[:, k]
        return a + t * (b + t * (c + t * d)), b + t * (2 * c + 3 * t * d), 2 * c + 6 * t * d

    def exceeded(
        self, lower: Array, upper: Array, velocity: Array, acceleration: Array | None, jerk: Array | None
    ) -> str | None:
        """Return the limits that the motion exceeds, None if none; extrema of cubics are found exactly."""
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

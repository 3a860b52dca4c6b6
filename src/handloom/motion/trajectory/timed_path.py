"""A timed path with rounded corners: as fast as velocity and acceleration limits allow, or with limited jerk."""

import numpy as np
from numpy.typing import ArrayLike

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.motion.trajectory.topp_kernels import (
    IntervalEnds,
    PathGrid,
    RoundedPath,
    corner_trims,
    evaluate,
    fastest_profile,
    interval_ends,
    make_grid,
    sample_profile,
)
from handloom.motion.trajectory.trajectory import MotionLimits, Trajectory, WaypointTrajectory

PER_LINE, PER_BLEND = 24, 16
"""Intervals per straight part and per corner. Doubling both shortens motions by 0.4 % and doubles the time."""

CHECKS = 4
"""Points per interval at which the limits are checked."""

BETWEEN_CHECKS = 1e-3
"""Fraction by which limits may be exceeded between these points; the motion is stretched by the same amount."""


class TimedPath(WaypointTrajectory):
    """The fastest motion from rest to rest along a path whose corners are rounded.

    Args:
        path: Waypoints (m, n) [rad or m].
        limits: Velocity and acceleration limits.
        deviation: Largest distance of rounded corners from the waypoints [rad or m]; 0 stops at every waypoint.
    """

    def __init__(self, path: ArrayLike, limits: MotionLimits, *, deviation: float = 0.01) -> None:
        self._waypoints = distinct_waypoints(path)
        self._check(limits, deviation)
        self._build(deviation)
        self._time(limits)

    @property
    def knots(self) -> Array:
        """Times at which the path acceleration changes [s]."""
        return self._times

    @property
    def grid(self) -> Array:
        """Positions along the path between which the path acceleration is constant."""
        return np.concatenate([[0.0], np.cumsum(self._grid.steps)])

    def along(self, positions: Array) -> tuple[Array, Array, Array]:
        """Return points and first and second derivatives (m, n) of the rounded path at positions (m,) along it."""
        edges = self.grid
        k = np.clip(np.searchsorted(edges, positions, side="right") - 1, 0, len(self._grid.steps) - 1)
        q, D, K = (np.empty((len(positions), self.dof)) for _ in range(3))
        for row, (i, at) in enumerate(zip(k, positions, strict=True)):
            inside = self._grid.starts[i] + min(at - edges[i], self._grid.steps[i])
            evaluate(self._path, self._grid.pieces[i], inside, q[row], D[row], K[row])
        return q, D, K

    def _check(self, limits: MotionLimits, deviation: float) -> None:
        if limits.velocity.shape != (self.dof,):
            raise InputError(f"the path has {self.dof} joints but the limits {len(limits.velocity)}")
        if not deviation >= 0:
            raise InputError(f"deviation must be >= 0, got {deviation}")

    def _build(self, deviation: float) -> None:
        """Round the corners and divide the path into intervals."""
        waypoints = self._waypoints
        m = len(waypoints)
        self._path = RoundedPath(waypoints, np.linalg.norm(np.diff(waypoints, axis=0), axis=1), np.zeros(m))
        most = max(1, (m - 1) * PER_LINE + max(0, m - 2) * PER_BLEND)
        grid, count = PathGrid(np.zeros(most, np.int64), np.zeros(most), np.zeros(most)), 0
        if m > 1:
            corner_trims(waypoints, self._path.lengths, float(deviation), self._path.trims)
            count = make_grid(self._path, PER_LINE, PER_BLEND, grid)
        self._grid = PathGrid(grid.pieces[:count], grid.starts[:count], grid.steps[:count])

    def _time(self, limits: MotionLimits) -> None:
        """Find the fastest motion, then stretch it by the largest excess over the limits between grid points."""
        count = len(self._grid.steps)
        self._x, self._times = np.zeros(count + 1), np.zeros(count + 1)
        if count == 0:
            return
        ends = IntervalEnds(*(np.empty((count, self.dof)) for _ in range(4)))
        interval_ends(self._path, self._grid, ends)
        # Without a blend, two straight parts meet at a corner that can only be passed at rest.
        stops = np.zeros(count, bool)
        pieces = self._grid.pieces
        stops[1:] = (pieces[1:] % 2 == 0) & (pieces[1:] - pieces[:-1] == 2)
        fastest_profile(ends, self._grid.steps, stops, limits.velocity, limits.acceleration, self._x)
        self._stretch(1.0)
        self._stretch(self._excess(limits))

    def _stretch(self, factor: float) -> None:
        """Lengthen the motion by a factor and compute the time of each grid point."""
        self._x /= factor**2
        speeds = np.sqrt(self._x)
        self._times = np.concatenate([[0.0], np.cumsum(2.0 * self._grid.steps / (speeds[1:] + speeds[:-1]))])

    def _excess(self, limits: MotionLimits) -> float:
        """Return the factor by which the motion must be stretched so that no limit is exceeded."""
        inner = (np.arange(CHECKS) + 0.5) / CHECKS
        times = (self._times[:-1, None] + np.diff(self._times)[:, None] * inner).reshape(-1)
        _, qd, qdd = self._sample(times)
        speed = float((np.abs(qd) / limits.velocity).max())
        force = float(np.sqrt((np.abs(qdd) / limits.acceleration).max()))
        return max(1.0, speed, force) * (1.0 + BETWEEN_CHECKS)

    def _sample(self, times: Array) -> tuple[Array, Array, Array]:
        motion = np.zeros((3, len(times), self.dof))
        if len(self._grid.steps) == 0:
            motion[0] = self._waypoints[0]
        else:
            sample_profile(self._path, self._grid, self._x, self._times, times, motion)
        return motion[0], motion[1], motion[2]


def distinct_waypoints(path: ArrayLike) -> Array:
    """Return waypoints (m, n) without repetitions; a path without motion becomes one waypoint."""
    points = np.asarray(path, float)
    if points.ndim != 2 or len(points) == 0 or not np.all(np.isfinite(points)):
        raise InputError(f"a path must have finite waypoints (m, n), got shape {points.shape}")
    keep = np.concatenate([[True], np.linalg.norm(np.diff(points, axis=0), axis=1) > 1e-9])
    result = points[keep]
    # Dropping near repetitions must not move the end.
    result[-1] = points[-1] if len(result) > 1 else result[-1]
    return np.ascontiguousarray(result)


# Gauss-Legendre nodes and weights on [0, 1]; exact for polynomials of degree 15.
NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)
NODES, WEIGHTS = 0.5 * (NODES + 1.0), 0.5 * WEIGHTS

WINDOW_STEPS = 11
"""Number of windows tried between the shortest and the longest possible ones."""

MEASURE_RATE = 500.0
"""Rate at which jerk is sampled to choose the window, in addition to the acceleration jumps [Hz]."""


class SmoothedTrajectory(Trajectory):
    """The average of a fast motion over a short moving window.

    An average of velocities stays within the velocity limits, and one of accelerations within theirs. The jerk
    becomes the change of acceleration across the window divided by its length, so a long enough window satisfies any
    jerk limit, at the cost of the same amount of time. A trapezoidal motion turns into the familiar S-curve.
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
        """Return a short window that satisfies the jerk limits, found by halving; the longest one always does."""
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
        # Averaging differences keeps a joint at rest exactly at its position.
        q = q_now + np.einsum("k,mkn->mn", WEIGHTS, inside - q_now[:, None])
        return q, (q_now - q_then) / window, (qd_now - qd_then) / window


def time_optimal(path: ArrayLike, limits: MotionLimits, *, deviation: float = 0.01) -> Trajectory:
    """Return the fastest motion along a path under velocity and acceleration limits.

    Args:
        path: Waypoints (m, n) [rad or m], joined by straight joint motions.
        limits: Velocity and acceleration limits.
        deviation: Largest distance of rounded corners from the waypoints [rad or m]; 0 stops at every waypoint.
    """
    return TimedPath(path, limits, deviation=deviation)


def jerk_limited(path: ArrayLike, limits: MotionLimits, *, deviation: float = 0.01) -> Trajectory:
    """Return a fast motion along a path under velocity, acceleration and jerk limits.

    It is the time-optimal motion averaged over the shortest window that satisfies the jerk limits, and is longer by
    that window. Besides the rounding of corners it stays within ``acceleration * window^2 / 24`` of the path: 7e-6 rad
    for an arm with 10 rad/s^2 and 5000 rad/s^3.

    Args:
        path: Waypoints (m, n) [rad or m], joined by straight joint motions.
        limits: Velocity, acceleration and jerk limits.
        deviation: Largest distance of rounded corners from the waypoints [rad or m]; 0 stops at every waypoint.
    """
    if limits.jerk is None:
        raise InputError("jerk-limited motion needs MotionLimits with jerk; time_optimal does not")
    return SmoothedTrajectory(TimedPath(path, limits, deviation=deviation), limits)

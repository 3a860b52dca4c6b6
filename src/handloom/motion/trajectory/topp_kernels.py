"""Time-optimal motion along a path with rounded corners, in closed form.

A path of straight motions is rounded at its corners by quartic blends with continuous curvature. Along it, the
squared path speed x and the path acceleration u obey ``|D u + K x| <= a`` and ``|D| sqrt(x) <= v`` per joint, with D
and K the first and second derivative of the path. On a grid with constant u per interval, the largest controllable x
follows from a backward pass and the fastest motion from a forward pass (TOPP-RA, Pham and Pham 2018). With two
unknowns, each step is the smallest intersection of a lower with an upper line: no solver is needed.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.kernels import inner_kernel, kernel

FLAT = 1e-9


class RoundedPath(NamedTuple):
    """Straight motions whose corners are rounded."""

    waypoints: Array
    """Corners (m, n)."""
    lengths: Array
    """Lengths of the straight motions (m - 1,)."""
    trims: Array
    """Distance before and after each corner at which its blend begins and ends (m,), see ``corner_trims``."""


class PathGrid(NamedTuple):
    """Intervals of a rounded path with constant path acceleration."""

    pieces: NDArray[np.int64]
    """Piece of each interval: ``2 i`` is the straight part after corner i, ``2 i + 1`` the blend at corner i + 1."""
    starts: Array
    """Distance of each interval from the beginning of its piece."""
    steps: Array
    """Length of each interval."""


class IntervalEnds(NamedTuple):
    """First and second derivative of the path at the beginning (0) and the end (1) of every interval (count, n)."""

    D0: Array
    K0: Array
    D1: Array
    K1: Array


@kernel
def corner_trims(waypoints, lengths, deviation, trims):
    """Write the distance before and after each waypoint at which its blend begins and ends [rad or m].

    The blend passes the corner at ``0.375 trim sin(angle / 2)``, angle being the change of direction.
    """
    m, n = waypoints.shape
    trims[0], trims[m - 1] = 0.0, 0.0
    for i in range(1, m - 1):
        cosine = 0.0
        for c in range(n):
            before = (waypoints[i, c] - waypoints[i - 1, c]) / lengths[i - 1]
            cosine += before * (waypoints[i + 1, c] - waypoints[i, c]) / lengths[i]
        half = math.sqrt(max(0.5 * (1.0 - min(cosine, 1.0)), 1e-12))
        trims[i] = min(0.5 * lengths[i - 1], 0.5 * lengths[i], deviation / (0.375 * half))


@kernel
def evaluate(path, piece, along, q, D, K):
    """Point, first and second derivative of a rounded path.

    Args:
        path: ``RoundedPath``.
        piece: See ``PathGrid.pieces``.
        along: Distance from the beginning of the piece.
        q: Receives the point (n,).
        D: Receives the first derivative (n,).
        K: Receives the second derivative (n,).
    """
    waypoints, lengths, trims = path.waypoints, path.lengths, path.trims
    i, n = piece // 2, waypoints.shape[1]
    if piece % 2 == 0:
        for c in range(n):
            D[c] = (waypoints[i + 1, c] - waypoints[i, c]) / lengths[i]
            K[c] = 0.0
            q[c] = waypoints[i, c] + (trims[i] + along) * D[c]
        return
    R = trims[i + 1]
    t = along / (2.0 * R)
    T = 1.0 - t
    # f(t) = 2 t - 2 t^3 + t^4 runs from 0 to 1 with slope 2 at the beginning and no slope or curvature at the end.
    f, f1, f2 = 2 * t - 2 * t**3 + t**4, 2 - 6 * t**2 + 4 * t**3, -12 * t + 12 * t**2
    g, g1, g2 = 1 - (2 * T - 2 * T**3 + T**4), 2 - 6 * T**2 + 4 * T**3, 12 * T - 12 * T**2
    for c in range(n):
        a = (waypoints[i + 1, c] - waypoints[i, c]) / lengths[i]
        b = (waypoints[i + 2, c] - waypoints[i + 1, c]) / lengths[i + 1]
        q[c] = waypoints[i + 1, c] + R * (a * (f - 1.0) + b * g)
        D[c] = 0.5 * (a * f1 + b * g1)
        K[c] = 0.25 * (a * f2 + b * g2) / R


@kernel
def make_grid(path, per_line, per_blend, grid):
    """Divide a rounded path into intervals; return their number.

    Args:
        path: ``RoundedPath``.
        per_line: Intervals per straight part.
        per_blend: Intervals per blend.
        grid: ``PathGrid`` with room for all, filled.
    """
    count, lengths, trims = 0, path.lengths, path.trims
    for piece in range(2 * lengths.shape[0] - 1):
        i = piece // 2
        length = 2.0 * trims[i + 1] if piece % 2 else lengths[i] - trims[i] - trims[i + 1]
        if length < 1e-9:
            continue
        parts = per_blend if piece % 2 else per_line
        for k in range(parts):
            grid.pieces[count], grid.starts[count], grid.steps[count] = piece, length * k / parts, length / parts
            count += 1
    return count


@inner_kernel
def _add_line(alpha, beta, gamma, upper, lower, counts, x_most):
    """Sort ``alpha u + beta x <= gamma`` into bounds ``u <= a - b x`` or ``u >= a - b x``; return the bound on x."""
    if alpha > FLAT:
        upper[counts[0], 0], upper[counts[0], 1] = gamma / alpha, beta / alpha
        counts[0] += 1
    elif alpha < -FLAT:
        lower[counts[1], 0], lower[counts[1], 1] = gamma / alpha, beta / alpha
        counts[1] += 1
    elif beta > FLAT:
        return min(x_most, gamma / beta)
    return x_most


@inner_kernel
def _interval_lines(D0, K0, D1, K1, h, a_max, upper, lower, counts):
    """Collect the acceleration bounds of an interval at its beginning and end; return the bound on x.

    At the end, x has grown by ``2 h u``, so the bound there reads ``(D1 + 2 h K1) u + K1 x <= a``.
    """
    counts[0], counts[1], x_most = 0, 0, math.inf
    for c in range(a_max.shape[0]):
        for sign in (1.0, -1.0):
            x_most = _add_line(sign * D0[c], sign * K0[c], a_max[c], upper, lower, counts, x_most)
            alpha = sign * (D1[c] + 2.0 * h * K1[c])
            x_most = _add_line(alpha, sign * K1[c], a_max[c], upper, lower, counts, x_most)
    return x_most


@inner_kernel
def _largest_x(x_most, upper, lower, counts):
    """Return the largest x for which some u satisfies all bounds: lower lines must stay below upper ones."""
    for j in range(counts[1]):
        for k in range(counts[0]):
            slope = upper[k, 1] - lower[j, 1]
            if slope > FLAT:
                x_most = min(x_most, (upper[k, 0] - lower[j, 0]) / slope)
    return x_most


@kernel
def fastest_profile(ends, steps, stops, v_max, a_max, x):
    """Squared path speed at the ends of all intervals for the fastest motion from rest to rest.

    Args:
        ends: ``IntervalEnds``.
        steps: Interval lengths (count,).
        stops: Whether the motion must rest at the beginning of an interval (count,).
        v_max: Velocity limits (n,).
        a_max: Acceleration limits (n,).
        x: Receives the squared path speed (count + 1,).
    """
    n, count, D0, K0, D1, K1 = v_max.shape[0], steps.shape[0], ends.D0, ends.K0, ends.D1, ends.K1
    upper, lower, counts = np.empty((4 * n + 1, 2)), np.empty((4 * n, 2)), np.zeros(2, np.int64)
    for i in range(count + 1):
        x[i] = 0.0 if i in {0, count} or stops[min(i, count - 1)] else math.inf
        for c in range(n):
            fastest = max(abs(D0[i, c]) if i < count else 0.0, abs(D1[i - 1, c]) if i > 0 else 0.0)
            if fastest > FLAT:
                x[i] = min(x[i], (v_max[c] / fastest) ** 2)
    for i in range(count - 1, -1, -1):
        x_most = _interval_lines(D0[i], K0[i], D1[i], K1[i], steps[i], a_max, upper, lower, counts)
        # The next speed must be controllable too: x + 2 h u <= x[i + 1].
        x_most = _add_line(2.0 * steps[i], 1.0, x[i + 1], upper, lower, counts, x_most)
        x[i] = min(x[i], _largest_x(x_most, upper, lower, counts))
    for i in range(count):
        _interval_lines(D0[i], K0[i], D1[i], K1[i], steps[i], a_max, upper, lower, counts)
        u = math.inf
        for k in range(counts[0]):
            u = min(u, upper[k, 0] - upper[k, 1] * x[i])
        x[i + 1] = min(x[i + 1], max(x[i] + 2.0 * steps[i] * u, 0.0))


@kernel
def sample_profile(path, grid, x, times, at, motion):
    """Sample the timed path at ascending or descending times ``at`` (m,).

    Within an interval the path acceleration is constant: ``u = (x1 - x0) / (2 h)``, ``s' = sqrt(x0) + u t``.

    Args:
        path: ``RoundedPath``.
        grid: ``PathGrid``.
        x: Squared path speed at the ends of the intervals (count + 1,).
        times: Times there (count + 1,) [s].
        at: Times to sample (m,) [s].
        motion: Receives position, velocity and acceleration (3, m, n).
    """
    n, steps, k = path.waypoints.shape[1], grid.steps, 0
    D, K, q, qd, qdd = np.empty(n), np.empty(n), motion[0], motion[1], motion[2]
    for row in range(at.shape[0]):
        while k > 0 and times[k] > at[row]:
            k -= 1
        while k < steps.shape[0] - 1 and times[k + 1] < at[row]:
            k += 1
        u, t = (x[k + 1] - x[k]) / (2.0 * steps[k]), at[row] - times[k]
        speed = max(math.sqrt(x[k]) + u * t, 0.0)
        along = min(max(math.sqrt(x[k]) * t + 0.5 * u * t * t, 0.0), steps[k])
        evaluate(path, grid.pieces[k], grid.starts[k] + along, q[row], D, K)
        for c in range(n):
            qd[row, c] = D[c] * speed
            qdd[row, c] = D[c] * u + K[c] * speed * speed


@kernel
def interval_ends(path, grid, ends):
    """Fill ``IntervalEnds`` for a path and its grid."""
    q = np.empty(path.waypoints.shape[1])
    for i in range(grid.steps.shape[0]):
        evaluate(path, grid.pieces[i], grid.starts[i], q, ends.D0[i], ends.K0[i])
        evaluate(path, grid.pieces[i], grid.starts[i] + grid.steps[i], q, ends.D1[i], ends.K1[i])

"""Joint paths played at true speed."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

GRID = 0.01
"""Distance of the points at which limits are kept, along the path in joint space [rad or m]."""
ROUNDING = 0.02
"""Corners are rounded over this length before and after them; that moves the path by at most a third of it."""
SMOOTHING = 5
"""Frames over which positions are averaged, so that accelerations build up instead of jumping."""


@dataclass(frozen=True, eq=False)
class PlayedPath:
    """A joint path sampled once per frame."""

    positions: Array
    """Joint targets (frames, n) [rad]; the last row is the goal."""

    def __len__(self) -> int:
        return len(self.positions)


def play(path: Array, *, speed: Array, acceleration: Array, fps: int) -> PlayedPath:
    """Time a joint path so that it starts and ends at rest and keeps the limits, and sample it once per frame.

    Along the rounded path q(s) a joint moves with q' v and accelerates with q'' v^2 + q' a. The largest speed v(s) that
    keeps both limits follows from one pass forwards and one backwards over v^2, which grows by at most 2 a ds.

    Args:
        path: Way points (k, n) [rad or m], straight joint motions in between.
        speed: Joint speed limits (n,) [rad/s].
        acceleration: Joint acceleration limits (n,) [rad/s^2].
        fps: Frames per second.
    """
    q, ds = _even_path(np.asarray(path, float))
    if ds == 0.0:
        return PlayedPath(q[-1:].copy())
    slope, bend = np.abs(np.gradient(q, ds, axis=0)), np.abs(_second_difference(q, ds))
    tiny = 1e-12
    v2 = np.minimum(
        (speed / np.maximum(slope, tiny)).min(axis=1) ** 2,
        (0.7 * acceleration / np.maximum(bend, tiny)).min(axis=1),
    )
    along = ((acceleration - bend * v2[:, None]) / np.maximum(slope, tiny)).min(axis=1)
    v2[[0, -1]] = 0.0
    v = np.sqrt(_reachable(_reachable(v2, along, ds)[::-1], along[::-1], ds)[::-1])
    return PlayedPath(_sampled(q, v, ds, fps))


def _even_path(path: Array) -> tuple[Array, float]:
    """Return the path resampled at even distances, corners rounded, and the distance; 0 when it does not move."""
    arc = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))])
    length = float(arc[-1])
    if length < 1e-9:
        return path, 0.0
    count = max(8, int(np.ceil(length / GRID)))
    grid = np.linspace(0.0, length, count + 1)
    q = np.stack([np.interp(grid, arc, column) for column in path.T], axis=1)
    half = min(round(ROUNDING * count / length), count // 4)
    rounded = _averaged(q, half)
    rounded[[0, -1]] = path[[0, -1]]
    return rounded, length / count


def _averaged(q: Array, half: int) -> Array:
    """Return the running mean over ``2 half + 1`` rows; point reflection at both ends keeps them where they are."""
    if half < 1:
        return q
    before, after = 2 * q[0] - q[half:0:-1], 2 * q[-1] - q[-2 : -half - 2 : -1]
    total = np.cumsum(np.concatenate([np.zeros((1, q.shape[1])), before, q, after]), axis=0)
    width = 2 * half + 1
    return (total[width:] - total[:-width]) / width


def _second_difference(q: Array, ds: float) -> Array:
    inner = (q[2:] - 2 * q[1:-1] + q[:-2]) / ds**2
    return np.concatenate([inner[:1], inner, inner[-1:]])


def _reachable(v2: Array, along: Array, ds: float) -> Array:
    """Return the largest squared speeds below ``v2`` that accelerate by at most ``along`` from point to point."""
    gain = np.concatenate([[0.0], np.cumsum(2.0 * ds * np.minimum(along[:-1], along[1:]))])
    return gain + np.minimum.accumulate(v2 - gain)


def _sampled(q: Array, v: Array, ds: float, fps: int) -> Array:
    """Return the path once per frame, the last row at its end."""
    step = 2.0 * ds / (v[1:] + v[:-1])
    time = np.concatenate([[0.0], np.cumsum(step)])
    frames = max(1, int(np.ceil(time[-1] * fps)))
    t = np.arange(1, frames + 1) * (time[-1] / frames)
    i = np.clip(np.searchsorted(time, t, side="left") - 1, 0, len(step) - 1)
    tau = t - time[i]
    done = v[i] * tau + 0.5 * (v[i + 1] - v[i]) / step[i] * tau**2
    share = np.clip(done / ds, 0.0, 1.0)[:, None]
    positions = q[i] * (1.0 - share) + q[i + 1] * share
    half = SMOOTHING // 2
    held = np.concatenate([np.repeat(q[:1], SMOOTHING, axis=0), positions, np.repeat(q[-1:], SMOOTHING, axis=0)])
    mean = np.stack([held[k : len(held) - SMOOTHING + 1 + k] for k in range(SMOOTHING)]).mean(axis=0)
    # The mean stands still for half a window at the start, which is dropped, and comes to rest that much later.
    moving = mean[half + 1 : len(positions) + 2 * half + 1]
    moving[-1] = q[-1]
    return moving

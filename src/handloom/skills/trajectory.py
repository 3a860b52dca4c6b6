"""Joint paths played at true speed."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

PEAK_SPEED = 1.875
PEAK_ACCELERATION = 5.7735
"""Largest first and second derivative of the quintic s(t) = 10t^3 - 15t^4 + 6t^5 on [0, 1]."""


@dataclass(frozen=True, eq=False)
class PlayedPath:
    """A joint path sampled once per frame."""

    positions: Array
    """Joint targets (frames, n) [rad]; the last row is the goal."""

    def __len__(self) -> int:
        return len(self.positions)


def play(path: Array, *, speed: Array, acceleration: Array, fps: int) -> PlayedPath:
    """Time a joint path so that it starts and ends at rest and keeps the limits, and sample it once per frame.

    The arc length follows a quintic, which is smooth up to the acceleration; its duration is the shortest that keeps
    every joint's speed and, for straight joint paths, its acceleration.

    Args:
        path: Way points (k, n) [rad], evenly spaced along the path.
        speed: Joint speed limits (n,) [rad/s].
        acceleration: Joint acceleration limits (n,) [rad/s^2].
        fps: Frames per second.
    """
    steps = np.abs(np.diff(path, axis=0))
    if len(steps) == 0 or not np.any(steps > 1e-12):
        return PlayedPath(path[-1:].copy())
    # Speed at parameter s is |dq/ds| ds/dt with |dq/ds| <= the largest step times the number of steps.
    slope = steps.max(axis=0) * len(steps)
    by_speed = PEAK_SPEED * (slope / speed).max()
    by_acceleration = np.sqrt(PEAK_ACCELERATION * (slope / acceleration).max())
    frames = max(1, int(np.ceil(max(by_speed, by_acceleration) * fps)))
    t = np.arange(1, frames + 1) / frames
    s = t**3 * (10.0 - 15.0 * t + 6.0 * t**2)
    grid = np.linspace(0.0, 1.0, len(path))
    return PlayedPath(np.stack([np.interp(s, grid, path[:, j]) for j in range(path.shape[1])], axis=1))

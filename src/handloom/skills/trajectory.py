"""Joint paths played at true speed."""

import numpy as np
from numpy.typing import ArrayLike

from handloom.arrays import Array
from handloom.motion.trajectory import MotionLimits, jerk_limited

ROUNDING = 0.01
"""How far rounded corners may stay from the way points [rad or m]."""


def play(path: ArrayLike, limits: MotionLimits, *, fps: int) -> Array:
    """Return joint targets (frames, n) along a path from rest to rest, one per frame; the last row is its end.

    Differences of targets are averages of speeds and accelerations between frames, so they keep the limits too.

    Args:
        path: Way points (k, n) [rad or m], straight joint motions in between.
        limits: Velocity, acceleration and jerk limits.
        fps: Frames per second.
    """
    motion, end = jerk_limited(path, limits, deviation=ROUNDING), np.asarray(path, float)[-1]
    # Stretched to whole frames.
    frames = max(1, int(np.ceil(motion.duration * fps - 1e-9)))
    targets = motion.sample(np.arange(1, frames + 1) * (motion.duration / frames))[0]
    targets[-1] = end
    return targets

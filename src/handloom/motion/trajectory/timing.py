"""Give a path its times."""

from numpy.typing import ArrayLike

from handloom.errors import InputError
from handloom.motion.trajectory.motion_limits import MotionLimits
from handloom.motion.trajectory.smoothed_trajectory import SmoothedTrajectory
from handloom.motion.trajectory.timed_path import TimedPath
from handloom.motion.trajectory.trajectory import Trajectory


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

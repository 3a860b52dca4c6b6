"""Timing: from a path to a motion under velocity, acceleration and jerk limits."""

from handloom.motion.trajectory.timed_path import jerk_limited, time_optimal
from handloom.motion.trajectory.trajectory import MotionLimits, Trajectory, WaypointTrajectory

__all__ = ["MotionLimits", "Trajectory", "WaypointTrajectory", "jerk_limited", "time_optimal"]

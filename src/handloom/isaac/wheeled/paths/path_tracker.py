"""Timed paths in the plane, and a tracker that corrects the reference motion by the pose error of the base."""

import math
from dataclasses import dataclass

import numpy as np

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.isaac.wheeled.planar_odometry import PlanarPose, normalize_angle


@dataclass(frozen=True, kw_only=True, eq=False)
class DrivePath:
    """Samples of a motion that starts and ends at rest; between samples it is interpolated linearly."""

    name: str
    """Name of the path, e.g. ``square``."""
    times: Array
    """(n,) [s], ascending from 0."""
    poses: Array
    """(n, 3) x [m], y [m], yaw [rad]; the yaw is continuous, not wrapped."""
    twists: Array
    """(n, 3) vx [m/s], vy [m/s], w [rad/s] in the frame of the base."""

    def __post_init__(self) -> None:
        """Reject samples whose sizes do not match."""
        n = len(self.times)
        if n < 2 or self.poses.shape != (n, 3) or self.twists.shape != (n, 3):
            raise InputError(
                f"path {self.name!r} needs n >= 2 times and (n, 3) poses and twists, "
                f"got {self.times.shape}, {self.poses.shape}, {self.twists.shape}"
            )
        if np.any(np.diff(self.times) <= 0.0):
            raise InputError(f"path {self.name!r}: times must ascend")

    @property
    def duration(self) -> float:
        """[s]."""
        return float(self.times[-1])

    @property
    def length(self) -> float:
        """Distance driven [m]."""
        return float(np.sum(np.hypot(*np.diff(self.poses[:, :2], axis=0).T)))

    def at(self, time: float) -> tuple[Array, Array]:
        """Return pose (3,) and body twist (3,) at a time [s]; before the start and after the end the twist is zero."""
        pose = np.array([np.interp(time, self.times, column) for column in self.poses.T])
        moving = self.times[0] <= time <= self.times[-1]
        twist = np.array([np.interp(time, self.times, column) for column in self.twists.T]) if moving else np.zeros(3)
        return pose, twist


@dataclass(frozen=True, kw_only=True)
class PathTracker:
    """Turns pose errors into a body twist.

    A base that can move in every direction gets the reference twist plus a fraction of the pose error. One that cannot
    move sideways gets Kanayama's law [Kanayama et al., ICRA 1990]: with the reference at (ex, ey, et) in the frame of
    the base, ``v = vr cos et + kx ex`` and ``w = wr + vr (ky ey) sin(et) / et + kt et``; the lateral error is reduced
    by turning while the base moves.
    """

    slides: bool
    """Whether the base can move sideways."""
    along: float = 3.0
    """kx [1/s]; also used sideways if the base can move sideways."""
    across: float = 40.0
    """ky [1/m^2]; near the path the lateral error obeys e'' + kt e' + ky vr^2 e = 0."""
    turn: float = 4.0
    """kt [1/s]."""

    def twist(self, pose: PlanarPose, path: DrivePath, time: float) -> Array:
        """Return the body twist (3,) that follows the path.

        Args:
            pose: Current pose of the base.
            path: The path to follow.
            time: Time since the start of the path [s].
        """
        target, (vx, vy, w) = path.at(time)
        dx, dy = target[0] - pose.x, target[1] - pose.y
        cos, sin = math.cos(pose.yaw), math.sin(pose.yaw)
        ex, ey = cos * dx + sin * dy, -sin * dx + cos * dy
        et = normalize_angle(float(target[2]) - pose.yaw)
        if self.slides:
            c, s = math.cos(et), math.sin(et)
            return np.array([c * vx - s * vy + self.along * ex, s * vx + c * vy + self.along * ey, w + self.turn * et])
        lean = math.sin(et) / et if abs(et) > 1e-6 else 1.0
        return np.array([vx * math.cos(et) + self.along * ex, 0.0, w + vx * self.across * ey * lean + self.turn * et])

"""A path in the plane with a timetable: where a base should be, and how it should move, at each moment."""

from dataclasses import dataclass

import numpy as np

from handloom.arrays import Array
from handloom.errors import InputError


@dataclass(frozen=True, kw_only=True, eq=False)
class DrivePath:
    """Samples of a motion that starts and ends at rest; between samples it is interpolated linearly."""

    name: str
    """What the path is called, e.g. ``square``."""
    times: Array
    """(n,) [s], ascending from 0."""
    poses: Array
    """(n, 3) x [m], y [m], yaw [rad]; the yaw runs on without jumps."""
    twists: Array
    """(n, 3) vx [m/s], vy [m/s], w [rad/s] in the frame of the base."""

    def __post_init__(self) -> None:
        """Refuse samples that do not belong together."""
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
        """Return pose (3,) and body twist (3,) at a time [s]; before the start and after the end it stands still."""
        pose = np.array([np.interp(time, self.times, column) for column in self.poses.T])
        moving = self.times[0] <= time <= self.times[-1]
        twist = np.array([np.interp(time, self.times, column) for column in self.twists.T]) if moving else np.zeros(3)
        return pose, twist

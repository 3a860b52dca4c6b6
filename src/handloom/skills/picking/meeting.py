"""Predicted motion of objects on a belt, rolling or in another hand, and of a hand beside them."""

from dataclasses import dataclass

import numpy as np

from handloom.arrays import Array
from handloom.skills.arms.arm_controller import ArmController
from handloom.spatial import invert_pose

EASE = 0.15
"""Fraction of the approach to a rolling object in which the hand accelerates, and in which it brakes."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Meeting:
    """A planned grasp of a moving object."""

    begin: float
    """Place of the object along its path, from the hand's start, at which the hand starts moving [m]."""
    targets: Array
    """Joint targets (frames, n) until the fingers close."""
    ride: Array
    """Joint targets (frames, n) while they close."""
    lift: Array
    """Joint path (k, n) of the lift."""
    lifted: Array
    """Pose T_base_tool (4, 4) at the end of the lift."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Motion:
    """Predicted motion of an object from its last observed state: straight on, slowing down if it rolls."""

    way: float
    """Place along its path, from the hand's start [m]."""
    velocity: Array
    """(3,) [m/s]."""
    slowing: float = 0.0
    """Loss of speed by rolling friction [m/s^2]."""

    @property
    def speed(self) -> float:
        """Present speed [m/s]."""
        return float(np.linalg.norm(self.velocity))

    def speed_at(self, place: float) -> float:
        """Return the speed at a later place [m/s]; zero if it stops before that."""
        if self.slowing == 0.0:
            return self.speed
        return float(np.sqrt(max(self.speed**2 - 2.0 * self.slowing * (place - self.way), 0.0)))


def lasting(seconds: float, slowing: float, speed: float) -> float:
    """Return the time [s] in which an object at constant speed moves as far as one that slows down from that speed.

    Negative seconds refer to earlier times.
    """
    return seconds - slowing * seconds**2 / (2.0 * speed)


@dataclass(frozen=True, kw_only=True, eq=False)
class Carried:
    """Future poses of an object that another arm holds, from the path that the arm is playing."""

    holder: ArmController
    joints: Array
    """Joint targets (k, n) of the holder, from the current frame on [rad]."""
    poses: Array
    """T_world_object (k, 4, 4) in the same frames."""

    @classmethod
    def by(cls, holder: ArmController, name: str) -> "Carried":
        """Return the future motion of an object held by a moving arm."""
        T_world_base, joints = holder.arm.T_world_base, np.vstack([holder.target[None], holder.upcoming])
        T_tool_object = invert_pose(T_world_base @ holder.tool_pose()) @ holder.scene.object_pose(name)
        poses = T_world_base @ np.stack([holder.chain.T_base_tool(q) for q in joints]) @ T_tool_object
        return cls(holder=holder, joints=joints, poses=poses)

    def moved(self, since: int, until: int) -> Array:
        """Return the world motion (4, 4) of the object between two frames."""
        return self.poses[until] @ invert_pose(self.poses[since])


def evenly(path: Array, frames: int) -> Array:
    """Return joint targets (frames, n) along a path (k, n) at even speed except for a short start and end.

    A hand that eases in and out as in a free move falls behind an object that rolls beside it, then overtakes it, so
    that a finger can land on the object.
    """
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))])
    t = np.arange(1, frames + 1) / frames
    s = np.where(t < EASE, t**2 / (2.0 * EASE), t - EASE / 2.0)
    s = np.where(t > 1.0 - EASE, 1.0 - EASE - (1.0 - t) ** 2 / (2.0 * EASE), s) / (1.0 - EASE)
    return np.stack([np.interp(s * length[-1], length, column) for column in path.T], axis=1)


def stretched(targets: Array, frames: int) -> Array:
    """Return joint targets (max(frames, k - 1), n) along given ones (k, n), evenly slowed; the first is left out."""
    count = max(frames, len(targets) - 1)
    at = np.linspace(0.0, len(targets) - 1.0, count + 1)[1:]
    columns = [np.interp(at, np.arange(len(targets)), column) for column in targets.T]
    return np.stack(columns, axis=1)

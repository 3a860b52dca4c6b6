"""Key frames of the hand on a joint: approach, contact, and the path along the joint."""

from dataclasses import dataclass

import numpy as np

from handloom.arrays import Array
from handloom.skills.configs.articulated import (
    BASE_MOTIONS,
    Motion,
    PlannerSetting,
    RandomPose,
)
from handloom.spatial import make_pose, matrix_from_euler_deg, matrix_from_rotvec

ARC_STEP = 0.06
"""Angle between poses on an arc [rad]: chords of a door 0.4 m wide stay within 0.2 mm of it."""


@dataclass(frozen=True, kw_only=True, eq=False)
class JointAxis:
    """The axis of a joint in the arm base."""

    axis: Array
    """Unit vector (3,)."""
    anchor: Array
    """Point (3,) of the axis [m]."""
    pivot: float = 1.0
    """Fraction of a hinge's rotation that the hand follows, 0 to 1: a round bar along the hinge lets it lag behind."""

    def turned(self, T: Array, angles: Array, contact: Array) -> Array:
        """Return hand poses (n, 4, 4) after the joint turned by angles (n,) [rad], with a point of the hand on it."""
        full, part = (matrix_from_rotvec(share * angles[:, None] * self.axis) for share in (1.0, self.pivot))
        R, p = T[:3, :3], T[:3, 3]
        moved = self.anchor + full @ (R @ contact + p - self.anchor)
        return make_pose(part @ R, moved - part @ (R @ contact))


@dataclass(frozen=True, kw_only=True, eq=False)
class HandMotions:
    """Moves a hand pose by published motions."""

    joint: JointAxis
    approach: Array
    """Unit vector (3,) in the tool frame along which the hand reaches."""
    contact: Array
    """Point of the hand (3,), in the tool frame, that follows the joint's path [m]."""

    def way(self, T: Array, motion: Motion) -> list[Array]:
        """Return the poses (4, 4) along one motion; the last one is its end."""
        if isinstance(motion, str):
            return [_shifted(T, np.asarray(BASE_MOTIONS[motion]))]
        word, amount = motion
        if word == "rotate":
            count = max(1, int(np.ceil(abs(amount) / ARC_STEP)))
            return list(self.joint.turned(T, amount * np.arange(1, count + 1) / count, self.contact))
        if word == "slide":
            return [_shifted(T, amount * self.joint.axis)]
        local = self.approach if word == "approach" else np.eye(3)["xyz".index(word[-1])]
        return [_shifted(T, amount * (T[:3, :3] @ local))]

    def end(self, T: Array, motion: Motion) -> Array:
        """Return the pose (4, 4) after a motion."""
        return self.way(T, motion)[-1]


@dataclass(frozen=True, kw_only=True, eq=False)
class KeyFrames:
    """Motion of the hand for one goal pose."""

    approach: list[Array]
    """Poses before and at the contact; the first is reached on any free path, the others in straight lines."""
    actuation: list[Array]
    """Poses after it, dense along arcs."""

    @staticmethod
    def first(goal: Array, setting: PlannerSetting, motions: HandMotions) -> Array:
        """Return the first pose (4, 4) of the frames around a goal."""
        for motion in setting.pre_actuation_motions:
            goal = motions.end(goal, motion)
        return goal

    @classmethod
    def of(cls, goal: Array, setting: PlannerSetting, motions: HandMotions) -> "KeyFrames":
        """Lay out the frames around a goal pose (4, 4)."""
        before, T = [], goal
        for motion in setting.pre_actuation_motions:
            T = motions.end(T, motion)
            before.append(T)
        ways, T = [], goal
        for motion in setting.post_actuation_motions:
            ways.append(motions.way(T, motion))
            T = ways[-1][-1]
        # Frame 0 is the current pose; the contact is counted from there.
        early = max(0, setting.contact_pose_index - len(before) - 1)
        approach = [*before[::-1], goal, *(way[-1] for way in ways[:early])]
        return cls(approach=approach, actuation=[pose for way in ways[early:] for pose in way])


def perturbed(T: Array, spread: RandomPose, rng: np.random.Generator) -> Array:
    """Return hand poses (n, 4, 4) turned and shifted at random in their own frames."""
    if not spread.orientation and not spread.position:
        return T

    def drawn(ranges: dict[str, float]) -> Array:
        low, high = ([ranges.get(f"{a}_{side}", 0.0) for a in "xyz"] for side in ("min", "max"))
        return rng.uniform(np.minimum(low, high), np.maximum(low, high), (len(T), 3))

    return T @ make_pose(matrix_from_euler_deg(drawn(spread.orientation)), drawn(spread.position))


def _shifted(T: Array, shift: Array) -> Array:
    moved = T.copy()
    moved[:3, 3] += shift
    return moved

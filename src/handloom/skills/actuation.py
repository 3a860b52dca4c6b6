"""Key frames of the hand on a joint: where it comes from, where it touches, and the way along the joint's own path."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from handloom.arrays import Array
from handloom.objects import Link
from handloom.skills.configs.articulated import (
    BASE_MOTIONS,
    KeypointConstraint,
    Motion,
    PlannerSetting,
    RandomPose,
)
from handloom.spatial import make_pose, matrix_from_euler_deg, matrix_from_rotvec

ARC_STEP = 0.06
"""Angle between poses on an arc [rad]: chords of a door 0.4 m wide stay within 0.2 mm of it."""
APPROACH = 0.08
"""Length of the straight way to the contact [m]."""
NEAR = 0.05
"""The same where the hand leans [m]."""
SHY = 0.012
"""How far a hand that leans holds back: its fingertips would meet what the handle stands on [m]."""
PRESS = 0.003
"""How far fingers press on after a joint has met its stop [m]."""
LEAD = 1.08
"""How far the hand goes for a motion of 1: a handle yields between the fingers."""
OPENED = 0.85
"""Share of the wanted motion that counts as opened or turned."""
SHUT = 0.03
"""Share of the range within which a joint counts as closed."""
TILT, ROLL, POINT = 0.35, 0.06, 0.002
"""Tolerances of grasps on handles: tilt about the handle, squareness to it [rad], place [m]."""
PUSH_TILT, PUSH_ROLL = 0.25, 0.4
"""How far from the surface's normal the fingers may push, and be turned about it [rad]; friction holds them there."""


@dataclass(frozen=True, kw_only=True, eq=False)
class JointAxis:
    """The axis of a joint in the arm base."""

    axis: Array
    """Unit vector (3,)."""
    anchor: Array
    """Point (3,) of the axis [m]."""
    pivot: float = 1.0
    """How much of a hinge's turn the hand makes too, 0 to 1: a round bar along the hinge lets it lag behind."""

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
    """Point of the hand (3,), in the tool frame, that keeps to the joint's path [m]."""

    def way(self, T: Array, motion: Motion) -> list[Array]:
        """Return the poses (4, 4) on the way of one motion, the last one its end."""
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
    """What the hand does with one goal pose."""

    approach: list[Array]
    """Poses before and at the contact; the first is reached on any free way, the others straight."""
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
        # Frame 0 is the present pose; the contact is counted from there.
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


def grasp_setting(link: Link, delta: float, wider: float = 0.0) -> PlannerSetting:
    """Return how a hand takes hold of a handle and moves the joint by ``delta`` [m or rad].

    Args:
        link: The moving part.
        delta: Motion of the joint.
        wider: How much further than usual the hand may lean, about the handle and along it [rad].
    """
    move: Motion = ("rotate" if link.kind == "hinge" else "slide", LEAD * delta)
    normal = link.grip or link.normal
    turns_in_hand = link.kind == "hinge" and abs(np.dot(link.axis, normal)) > 0.9
    return PlannerSetting(
        constraint_list=(
            _meets("articulated_object_head", POINT),
            _hand("tool_tail", normal, 1.0, ROLL if turns_in_hand else TILT + wider),
            _hand("tool_tail", link.contact_axis, 0.0, ROLL + (0.0 if turns_in_hand else wider)),
            _hand("tool_side", link.contact_axis, 0.0, ROLL),
        ),
        modify_actuation_motion=None if wider == 0.0 else ("approach", -SHY),
        pre_actuation_motions=(("approach", -APPROACH if wider == 0.0 else -NEAR),),
        post_actuation_motions=(move,),
        success_threshold=OPENED * abs(delta),
    )


def push_setting(link: Link, delta: float, tip: float, wider: float = 0.0) -> PlannerSetting:
    """Return how closed fingers push a surface until the joint has moved by ``delta`` [m or rad].

    Args:
        link: The moving part.
        delta: Motion of the joint.
        tip: How far the fingertips reach past the hand's ``tool_head`` [m].
        wider: How much further than usual the hand may lean from the surface's normal [rad].
    """
    move: Motion = ("rotate" if link.kind == "hinge" else "slide", delta)
    return PlannerSetting(
        constraint_list=(
            _meets("link_contact_point", POINT),
            _hand("tool_tail", link.normal, 1.0, PUSH_TILT + wider),
            # The hand is wide where its fingers close: that way lies along the handle, not across it.
            _hand("tool_side", np.cross(link.normal, link.contact_axis).tolist(), 0.0, PUSH_ROLL),
        ),
        modify_actuation_motion=("approach", -tip),
        pre_actuation_motions=(("approach", -APPROACH if wider == 0.0 else -NEAR),),
        post_actuation_motions=(move, ("approach", PRESS)),
        success_threshold=SHUT * (link.range[1] - link.range[0]),
    )


def _meets(target: str, tolerance: float) -> KeypointConstraint:
    return KeypointConstraint(
        name="fingers_contact_with_link0",
        keypoint_name="tool_head",
        target_keypoint_name=target,
        tolerance=tolerance,
    )


def _hand(to: str, axis: Sequence[float], cosine: float, tolerance: float) -> KeypointConstraint:
    x, y, z = axis
    return KeypointConstraint(
        name="hand_parallel_to_link0_edge",
        axis_from_keypoint_name="tool_head",
        axis_to_keypoint_name=to,
        target_axis=(x, y, z),
        target_inner_product=cosine,
        tolerance=tolerance,
    )


def _shifted(T: Array, shift: Array) -> Array:
    moved = T.copy()
    moved[:3, 3] += shift
    return moved

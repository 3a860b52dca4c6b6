"""Strategies for moving a joint, from an object's keypoints: hold its handle, push it, sweep it from behind."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from handloom.arrays import Array
from handloom.grasping import GripperShape
from handloom.judging.joint_terms import is_knob
from handloom.objects import Link
from handloom.objects.parts import Point
from handloom.robots import Arm
from handloom.skills.configs.articulated import (
    ArticulatedSkillConfig,
    KeypointConstraint,
    Motion,
    PlannerSetting,
    RotateConfig,
)
from handloom.spatial import matrix_from_rotvec

APPROACH = 0.08
"""Length of the straight way to the contact [m]."""
NEAR = 0.05
"""The same if the hand is tilted [m]."""
SHY = 0.012
"""How far a tilted hand stays back: its fingertips would hit the surface behind the handle [m]."""
PRESS = 0.003
"""How far fingers keep pressing after a joint has met its stop [m]."""
LEAD = 1.08
"""Fraction of a joint's motion that the hand makes: more than 1, since a handle yields between the fingers."""
OPENED = 0.85
"""Fraction of the wanted motion that counts as opened or turned."""
SHUT = 0.03
"""Fraction of the range within which a joint counts as closed."""
STEEPEST = 1.35
"""Largest angle between the fingers' direction and the inward normal of a standing lid behind which they reach
[rad]."""
TILT, ROLL, POINT = 0.35, 0.06, 0.002
"""Tolerances of grasps on handles: tilt about the handle, squareness to it [rad], position [m]."""
SWEEP_TILT = 0.12
"""Largest angle of sweeping fingers from the closed lid's normal [rad]: the palm passes close over handles."""
PUSH_TILT, PUSH_ROLL = 0.25, 0.4
"""Largest angle of pushing fingers from the surface's normal, and about it [rad]; friction holds them there."""

PIVOTS = (1.0, 0.5, 0.0)
"""How far the hand turns with a hinge if it may pivot on the handle, tried in this order."""
WIDER = (0.0, 0.35, 0.7, 1.2)
"""How much further the hand may tilt at a handle or a surface, tried in this order [rad]: short wrists need it."""
DRAWN_AGAIN = (1.2, 1.2, 1.2)
"""Further tilts at a knob [rad]: few of the hand poses of one draw let a tilted hand turn round with it."""
STANDING = 1.0
"""From this angle on [rad], a lid or door is swept shut from behind rather than pushed squarely."""
ZERO_NEAR = 0.1
"""A joint whose zero is within this fraction of its range of either end is closed at zero."""
LEVER = 0.015
"""A handle at least this far from its axis is a lever; a nearer one is a knob [m]."""
CLEAR = 0.003
"""Distance at which the fingers reach behind a standing lid [m]."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Strategy:
    """One strategy for moving a joint: the hand's pose on the moving part, and its motion along the joint."""

    grips: bool
    """Whether the fingers hold the part or push it."""
    setting: PlannerSetting
    """Constraints and motions of the hand."""
    contact: Array
    """Point of the hand (3,), in the tool frame, that follows the joint's path [m]."""
    told: bool = False
    """Whether the setting is that of the task, whose turns are about the annotated axis."""
    place: Point | None = None
    """Grasp point of the moving part, in its frame [m]; None: at its head."""
    lift: float = 0.0
    """Distance of ``link_contact_point`` in front of the surface [m]."""
    pivots: Sequence[float] = (1.0,)
    """Fractions of a hinge's rotation that the hand follows, tried in this order."""
    wider: float = 0.0
    """How much further than usual the hand may tilt [rad]; it then slips off more easily."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Job:
    """A motion of a joint that is to be made, and the hand that makes it."""

    link: Link
    """The moving part."""
    delta: float
    """How far the joint is to move [m or rad]."""
    shuts: bool
    """Whether it is closed."""
    gripper: GripperShape
    """The hand."""
    lead: float = LEAD
    """Fraction of the joint's motion that a hand at its handle makes."""

    @property
    def enough(self) -> float:
        """How far the joint may be from closed, or must have moved, to count as shut or opened [m or rad]."""
        low, high = self.link.range
        return SHUT * (high - low) if self.shuts else OPENED * abs(self.delta)


def turns_by_angle(config: ArticulatedSkillConfig, link: Link) -> bool:
    """Return whether a hinge is to be turned by a given angle, and not by more, rather than at least so far."""
    return isinstance(config, RotateConfig) and config.by is not None and link.kind == "hinge"


def shut_end(link: Link) -> float:
    """Return the closed position of a joint [m or rad]: zero, or its shut end if zero is far from both ends.

    Some files have doors ajar, and their joints count from there.
    """
    low, high = link.range
    if min(abs(low), abs(high)) <= ZERO_NEAR * (high - low) or low > 0.0 or high < 0.0:
        return min(max(0.0, low), high)
    return low if abs(high) >= abs(low) else high


def shut_terms(link: Link, start: float) -> dict[str, Any]:
    """Return threshold and mode for closing a joint from a start position [m or rad]; see ``joint_state``."""
    low, high = link.range
    near = SHUT * (high - low)
    if abs(shut_end(link) - min(max(0.0, low), high)) <= near:
        return {"threshold": near, "mode": "zero"}
    return {"threshold": max(0.0, abs(shut_end(link) - start) - near), "mode": "dis_to_init"}


def hand_point(arm: Arm) -> Array:
    """Return the point between the fingers (3,) in the tool frame [m]."""
    return np.asarray(arm.keypoints.tool_head[:3], float)


def holding(job: Job) -> Iterator[Strategy]:
    """Yield strategies for moving a joint by its handle, with increasing tilt of the hand."""
    link = job.link
    # With a bar along the hinge, the hand may turn less than the joint.
    along = link.kind == "hinge" and abs(np.dot(link.axis, link.contact_axis)) > 0.9
    pivots, contact = PIVOTS if along else PIVOTS[:1], hand_point(job.gripper.arm)
    knob = is_knob(link) and lever_arm(link) <= LEVER
    for wider in (*WIDER, *DRAWN_AGAIN) if knob else WIDER:
        setting = grasp_setting(link, job.delta, wider, lead=job.lead)
        if job.shuts:
            setting = setting.model_copy(update={"success_threshold": SHUT * (link.range[1] - link.range[0])})
        yield Strategy(grips=True, setting=setting, contact=contact, pivots=pivots, wider=wider)


def pushing(job: Job) -> Iterator[Strategy]:
    """Yield strategies for pushing a joint with closed fingers; an open part is swept shut from behind."""
    link, delta, arm = job.link, job.delta, job.gripper.arm
    if link.kind == "slide" and abs(np.dot(link.axis, link.normal)) < 0.5:
        return  # A panel that slides across its front has no surface to push against.
    head = hand_point(arm)
    tip, thick = job.gripper.fingertip(0) - float(head @ arm.approach), job.gripper.finger_thickness(0) + CLEAR
    shut = job.enough
    pushes = (
        Strategy(grips=False, setting=push_setting(link, delta, tip, shut, wider), contact=head, wider=wider)
        for wider in WIDER
    )
    if link.kind == "slide":
        yield from pushes
        return
    swept = sweep_setting(link, delta, tip, thick).model_copy(update={"success_threshold": shut})
    sweep = Strategy(grips=False, setting=swept, contact=head + tip * arm.approach, lift=thick, pivots=(0.0,))
    if abs(delta) > STANDING:
        yield sweep
    yield from pushes
    if abs(delta) <= STANDING:
        yield sweep


def grasp_setting(link: Link, delta: float, wider: float = 0.0, *, lead: float = LEAD) -> PlannerSetting:
    """Return the strategy in which a hand grasps a handle and moves the joint by ``delta`` [m or rad].

    Args:
        link: The moving part.
        delta: Motion of the joint.
        wider: How much further than usual the hand may tilt, about the handle and along it [rad].
        lead: Fraction of that motion that the hand makes.
    """
    move: Motion = ("rotate" if link.kind == "hinge" else "slide", lead * delta)
    normal = link.held_from
    turns_in_hand = link.kind == "hinge" and abs(np.dot(link.axis, normal)) > 0.9
    if wider > 0.0 and turns_in_hand and lever_arm(link) > LEVER:
        turns_in_hand = False  # The hand moves round with a lever, and need not be square to its plane.
    return PlannerSetting(
        constraint_list=(
            meets("articulated_object_head", POINT),
            # A hand that tilts at a knob turns round with it: a wrist close to the robot's stand has no other room.
            hand_at("tool_tail", normal, 1.0, (ROLL if turns_in_hand else TILT) + wider),
            hand_at("tool_tail", link.contact_axis, 0.0, ROLL + wider),
            hand_at("tool_side", link.contact_axis, 0.0, ROLL),
        ),
        modify_actuation_motion=None if wider == 0.0 else ("approach", -SHY),
        pre_actuation_motions=(("approach", -APPROACH if wider == 0.0 else -NEAR),),
        post_actuation_motions=(move,),
        success_threshold=OPENED * abs(delta),
    )


def lever_arm(link: Link) -> float:
    """Return the distance of a hinge's handle from its axis [m]."""
    return float(np.linalg.norm(np.cross(link.axis, np.asarray(link.head) - np.asarray(link.anchor))))


def push_setting(link: Link, delta: float, tip: float, threshold: float, wider: float = 0.0) -> PlannerSetting:
    """Return the strategy in which closed fingers push a surface until the joint has moved by ``delta`` [m or rad].

    Args:
        link: The moving part.
        delta: Motion of the joint.
        tip: Distance of the fingertips beyond the hand's ``tool_head`` [m].
        threshold: Minimum motion of the joint, or largest distance from closed [m or rad].
        wider: How much further than usual the hand may tilt from the surface's normal [rad].
    """
    move: Motion = ("rotate" if link.kind == "hinge" else "slide", delta)
    return PlannerSetting(
        constraint_list=(
            meets("link_contact_point", POINT),
            hand_at("tool_tail", link.normal, 1.0, PUSH_TILT + wider),
            # The hand is wide along its closing direction, which therefore lies along the handle, not across it.
            hand_at("tool_side", np.cross(link.normal, link.contact_axis).tolist(), 0.0, PUSH_ROLL),
        ),
        modify_actuation_motion=("approach", -tip),
        pre_actuation_motions=(("approach", -APPROACH if wider == 0.0 else -NEAR),),
        post_actuation_motions=(move, ("approach", PRESS)),
        success_threshold=threshold,
    )


def sweep_setting(link: Link, delta: float, tip: float, thick: float) -> PlannerSetting:
    """Return the strategy of closed fingers that reach behind a standing lid or door and sweep it by ``delta`` [rad].

    The hand does not turn with the lid: it points in the direction that pushes the closed lid in, so that the fingers
    start flat behind the standing lid and end with their tips on it.

    Args:
        link: The moving part.
        delta: Motion of the joint.
        tip: Distance of the fingertips beyond the hand's ``tool_head`` [m].
        thick: Initial distance of the fingertips from the surface [m]: their thickness.
    """
    turn = float(np.clip(delta, -STEEPEST, STEEPEST)) * np.asarray(link.axis)
    back = matrix_from_rotvec(turn) @ np.asarray(link.normal)
    return PlannerSetting(
        constraint_list=(
            meets("link_contact_point", POINT),
            hand_at("tool_tail", back.tolist(), 1.0, SWEEP_TILT),
            hand_at("tool_side", np.cross(back, link.contact_axis).tolist(), 0.0, PUSH_ROLL),
        ),
        modify_actuation_motion=("approach", -tip),
        pre_actuation_motions=(("approach", -APPROACH),),
        post_actuation_motions=(("rotate", delta), ("approach", thick)),
        success_threshold=SHUT * (link.range[1] - link.range[0]),
    )


def meets(target: str, tolerance: float) -> KeypointConstraint:
    """Return the term that puts the middle of the fingers at a keypoint of the object within a tolerance [m]."""
    return KeypointConstraint(
        name="fingers_contact_with_link0",
        keypoint_name="tool_head",
        target_keypoint_name=target,
        tolerance=tolerance,
    )


def hand_at(to: str, axis: Sequence[float], cosine: float, tolerance: float) -> KeypointConstraint:
    """Return the term about the cosine between the hand's vector to a keypoint of it and an axis of the moving part."""
    x, y, z = axis
    return KeypointConstraint(
        name="hand_parallel_to_link0_edge",
        axis_from_keypoint_name="tool_head",
        axis_to_keypoint_name=to,
        target_axis=(x, y, z),
        target_inner_product=cosine,
        tolerance=tolerance,
    )

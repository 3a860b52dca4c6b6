"""Closed fingers that shut lids, doors and flaps with little rotation: over a front edge, or tilted on a face.

A pushing fingertip need not point along the face's normal, as long as its tip follows the joint's path.
Short arms cannot turn with a wide door, and cannot reach from above over a lid that stands higher than their base.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from handloom.arrays import Array
from handloom.objects import Link
from handloom.objects.geometry import vertices_of
from handloom.objects.parts import point
from handloom.scene import Scene
from handloom.skills.arms.traffic import solid_geoms_of
from handloom.skills.articulated_objects.door_edges import LeafEdge
from handloom.skills.articulated_objects.joint_strategies import (
    APPROACH,
    CLEAR,
    NEAR,
    POINT,
    PRESS,
    PUSH_ROLL,
    PUSH_TILT,
    STEEPEST,
    Job,
    Strategy,
    hand_at,
    hand_point,
    meets,
)
from handloom.skills.configs.articulated import Motion, PlannerSetting
from handloom.spatial import matrix_from_rotvec

LEANS = (
    *((0.0, 1.0, wider) for wider in (0.25, 0.5)),
    *((0.0, 0.5, wider) for wider in (0.0, 0.35)),
    *((0.5, 0.5, wider) for wider in (0.0, 0.35, 0.7)),
)
"""Fraction of a hinge's rotation that the hand follows, fraction of the rest by which it is turned in advance, and
extra tilt [rad], tried in this order."""
PIVOTS = (1.0, 0.5, 0.0)
"""Fraction of a door's rotation followed by a finger that is parallel to the hinge, tried in this order."""
UPWARDS = 0.7
"""Minimum upward component of the face normal of a shut lid."""
RIM = 0.015
"""Points this near to the outermost point of a lid belong to its free edge [m]."""
BAR = 0.006
"""Half the thickness of a handle [m]."""
BEYOND = 0.025
"""How far fingers reach over the free edge [m]."""
STEEP = 0.5
"""Downward angle of a hand that comes over an edge from the front [rad]."""
SLACK = (0.4, 0.7)
"""Deviations from that angle, tried in this order [rad]."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LidEdge:
    """The middle of the free edge of a lid that opens upwards, in the current frame of the lid."""

    place: Array
    """On the outer face (3,) [m]."""
    front: Array
    """Unit vector (3,) from the hinge to the edge when the lid is shut."""
    up: Array
    """Unit vector (3,) upwards."""
    radius: float
    """Distance from the hinge [m]."""


def lid_edge(scene: Scene, body: str, link: Link, delta: float) -> LidEdge | None:
    """Return the free edge of a lid that faces up once the joint has moved by ``delta``; None for any other part."""
    T, solids = scene.world.body_pose(body), solid_geoms_of(scene, [body])
    axis, normal = np.asarray(link.axis), np.asarray(link.normal)
    up = T[:3, :3].T @ np.array([0.0, 0.0, 1.0])
    shut = matrix_from_rotvec(delta * axis)
    if link.kind != "hinge" or not solids or float(shut @ normal @ up) < UPWARDS:
        return None
    corners = np.concatenate([vertices_of(scene.world.model, scene.world.data, g) for g in solids])
    corners = (corners - T[:3, 3]) @ T[:3, :3]
    out = corners.mean(axis=0) - np.asarray(link.anchor)
    free = out - (out @ axis) * axis - (out @ normal) * normal
    if np.linalg.norm(free) < RIM:
        return None
    free /= np.linalg.norm(free)
    reach = corners @ free
    rim = corners[reach > reach.max() - RIM]
    along, level = (rim @ axis).max() + (rim @ axis).min(), float((rim @ normal).max())
    place = reach.max() * free + level * normal + along / 2.0 * axis
    radius = float(np.linalg.norm(np.cross(place - np.asarray(link.anchor), axis)))
    return LidEdge(place=place, front=shut @ free, up=up, radius=radius)


def over_edge(job: Job, edge: LidEdge) -> Iterator[Strategy]:
    """Yield strategies for pressing a lid shut from the front: fingers that reach over its edge move down with it."""
    tail = np.cos(STEEP) * edge.front + np.sin(STEEP) * edge.up
    yield from _beside(job, edge.place, -tail, np.asarray(job.link.axis), edge.radius, (0.0,))


def along_hinge(job: Job, edge: LeafEdge) -> Iterator[Strategy]:
    """Yield strategies for shutting a door from above: fingers that point down push its face at its free end."""
    place = np.asarray(edge.place) + edge.thickness / 2.0 * np.asarray(job.link.normal)
    free = np.asarray(edge.free)
    yield from _beside(job, place, -np.asarray(edge.up), free, edge.width, PIVOTS)


def under_handle(job: Job, up: Array) -> Iterator[Strategy]:
    """Yield strategies for shutting a flap that folds down: fingers that point down push its handle along.

    Args:
        job: The motion of the joint; the hinge is level.
        up: Unit vector (3,) upwards, in the frame of the flap.
    """
    link = job.link
    axis, out = np.asarray(link.axis), np.asarray(link.head) - np.asarray(link.anchor)
    way = np.sign(job.delta) * np.cross(axis, out)
    way = way + matrix_from_rotvec(job.delta * axis) @ way
    down = np.cross(axis, way / np.linalg.norm(way))
    down *= -np.sign(down @ up)
    place = np.asarray(link.head) + BAR * np.asarray(link.normal)
    yield from _beside(job, place, down, axis, float(np.linalg.norm(np.cross(out, axis))), (0.0, 0.5))


def _beside(
    job: Job, place: Array, down: Array, flat: Array, radius: float, pivots: tuple[float, ...]
) -> Iterator[Strategy]:
    """Yield strategies whose fingers lie in front of a point of the part (3,) [m] and push it with their side.

    Args:
        job: The motion of the joint.
        place: Contact point, in the frame of the part.
        down: Unit vector (3,) along the fingers.
        flat: Unit vector (3,) across the fingers, along the part.
        radius: Distance of the contact point from the hinge [m].
        pivots: Fraction of the hinge's rotation that the hand follows.
    """
    arm, thick = job.gripper.arm, job.gripper.finger_thickness(0) + CLEAR
    head = hand_point(arm)
    behind = job.gripper.fingertip(0) - float(head @ arm.approach) - BEYOND
    for slack in SLACK:
        setting = PlannerSetting(
            constraint_list=(
                meets("articulated_object_head", POINT),
                hand_at("tool_tail", (-down).tolist(), 1.0, slack),
                hand_at("tool_side", np.cross(down, flat).tolist(), 0.0, PUSH_ROLL),
            ),
            modify_actuation_motion=("approach", -behind),
            pre_actuation_motions=(("approach", -NEAR),),
            post_actuation_motions=(_pressed(job.delta, CLEAR, radius),),
            success_threshold=job.enough,
        )
        contact, at = head + behind * arm.approach, point(place + thick * np.asarray(job.link.normal))
        yield Strategy(grips=False, setting=setting, contact=contact, place=at, pivots=pivots, wider=slack)


def leaning(job: Job) -> Iterator[Strategy]:
    """Yield strategies for pushing a hinged part with fingertips that turn less than the part does."""
    link, delta, arm = job.link, job.delta, job.gripper.arm
    head = hand_point(arm)
    tip, thick = job.gripper.fingertip(0) - float(head @ arm.approach), job.gripper.finger_thickness(0) + CLEAR
    axis, pushed = np.asarray(link.axis), np.asarray(link.push or link.head)
    radius = float(np.linalg.norm(np.cross(pushed - np.asarray(link.anchor), axis)))
    for pivot, ahead, wider in LEANS:
        turn = float(np.clip(ahead * (1.0 - pivot) * delta, -STEEPEST, STEEPEST))
        back = matrix_from_rotvec(turn * axis) @ np.asarray(link.normal)
        setting = PlannerSetting(
            constraint_list=(
                meets("link_contact_point", POINT),
                hand_at("tool_tail", back.tolist(), 1.0, PUSH_TILT + wider),
                hand_at("tool_side", np.cross(back, link.contact_axis).tolist(), 0.0, PUSH_ROLL),
            ),
            modify_actuation_motion=("approach", -tip),
            pre_actuation_motions=(("approach", -APPROACH if wider == 0.0 else -NEAR),),
            post_actuation_motions=(_pressed(delta, thick, radius),),
            success_threshold=job.enough,
        )
        contact = head + tip * arm.approach
        yield Strategy(grips=False, setting=setting, contact=contact, lift=thick, pivots=(pivot,), wider=wider)


def _pressed(delta: float, gap: float, radius: float) -> Motion:
    """Return the rotation by ``delta`` [rad] of a joint after which fingers that start a gap [m] away press on it."""
    return ("rotate", delta + float(np.sign(delta)) * (gap + PRESS) / max(radius, gap + PRESS))

"""Grasps of a door that stands ajar: by its upper edge, from above, with one finger on each side of its leaf."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from handloom.objects import Link
from handloom.objects.geometry import vertices_of
from handloom.objects.parts import Point, point
from handloom.scene import Scene
from handloom.skills.arms.traffic import solid_geoms_of
from handloom.skills.articulated_objects.joint_strategies import (
    LEAD,
    OPENED,
    POINT,
    ROLL,
    TILT,
    Job,
    Strategy,
    hand_at,
    hand_point,
    meets,
)
from handloom.skills.configs.articulated import PlannerSetting

UPRIGHT = 0.9
"""Minimum vertical component of a hinge axis for which the door has an upper edge."""
INSET = 0.015
"""Distance of the grasp from the free edge of a leaf [m]: half the width of fingers."""
DEPTH = 0.015
"""Depth of the middle of the fingers below the upper edge [m]."""
ABOVE = 0.06
"""Length of the straight way down to there [m]."""
LEANS = (0.0, 0.5)
"""How much further than usual the hand may tilt, tried in this order [rad]."""
ROOM = 0.02
"""Smallest gap behind the free edge that admits a finger [m]."""
THICKEST = 0.04
"""Largest thickness of a leaf that fingers can hold [m]."""


@dataclass(frozen=True, kw_only=True)
class LeafEdge:
    """The upper edge of a door leaf near its free end, in the frame of the leaf."""

    place: Point
    """Middle of its thickness [m]."""
    up: Point
    """Unit vector along the hinge, upwards."""
    free: Point
    """Unit vector away from the hinge."""
    width: float
    """Distance of the contact point from the hinge [m]."""
    thickness: float
    """Thickness of the leaf [m]."""


def upper_edge(scene: Scene, body: str, link: Link) -> LeafEdge | None:
    """Return the upper edge of a door on an upright hinge; None if the part is no such door, or too thick to hold."""
    R_world_link = scene.world.body_pose(body)[:3, :3]
    axis = np.asarray(link.axis)
    rises = float((R_world_link @ axis)[2])
    solids = solid_geoms_of(scene, [body])
    if link.kind != "hinge" or abs(rises) < UPRIGHT or not solids:
        return None
    T = scene.world.body_pose(body)
    pieces = [(vertices_of(scene.world.model, scene.world.data, g) - T[:3, 3]) @ T[:3, :3] for g in solids]
    up, normal = np.sign(rises) * axis, np.asarray(link.normal)
    panel = max(pieces, key=lambda p: float(np.prod(np.ptp(p, axis=0))))
    out = panel.mean(axis=0) - np.asarray(link.anchor)
    free = out - (out @ up) * up - (out @ normal) * normal
    if np.ptp(panel @ normal) > THICKEST or np.linalg.norm(free) < INSET:
        return None
    free /= np.linalg.norm(free)
    far = float((panel @ free).max()) - INSET
    middle, thickness = float((panel @ normal).max() + (panel @ normal).min()) / 2.0, float(np.ptp(panel @ normal))
    place = far * free + float((panel @ up).max()) * up + middle * normal
    width = far - float(np.asarray(link.anchor) @ free)
    return LeafEdge(place=point(place), up=point(up), free=point(free), width=width, thickness=thickness)


def by_edge(job: Job, edge: LeafEdge, ajar: float) -> Iterator[Strategy]:
    """Yield strategies for opening a door by its upper edge, if it stands ajar far enough [rad] for a finger."""
    if edge.width * np.sin(min(abs(ajar), np.pi / 2.0)) < ROOM:
        return
    for wider in LEANS:
        setting = PlannerSetting(
            constraint_list=(
                meets("articulated_object_head", POINT),
                hand_at("tool_tail", edge.up, 1.0, TILT + wider),
                hand_at("tool_side", edge.free, 0.0, ROLL),
                hand_at("tool_side", edge.up, 0.0, ROLL),
            ),
            modify_actuation_motion=("approach", DEPTH),
            pre_actuation_motions=(("approach", -ABOVE),),
            post_actuation_motions=(("rotate", LEAD * job.delta),),
            success_threshold=OPENED * abs(job.delta),
        )
        yield Strategy(grips=True, setting=setting, contact=hand_point(job.gripper.arm), place=edge.place, wider=wider)

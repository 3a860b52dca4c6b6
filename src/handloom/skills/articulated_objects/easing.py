"""Hand poses beside the one that a setting asks for, where its fingers find no room: aside, or less deep."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from handloom.arrays import Array
from handloom.objects.geometry import vertices_of
from handloom.skills.arms.traffic import solid_geoms_of
from handloom.skills.articulated_objects.moving_part import MovingPart
from handloom.skills.configs.articulated import Motion, PlannerSetting

ASIDE = (0.0, 0.6, 1.0)
"""How far a hand goes aside, as fractions of what its opening leaves: the finger behind a door that is ajar needs less
room the nearer it is to the door. The fingers pull the door to their middle when they close."""
APART = 0.002
"""Distance that the nearer finger keeps then [m]."""
DEPTHS = (1.0, 0.6, 0.2)
"""How much of the way from the goal to the contact is gone: a palm meets an edge before short fingers are at their
depth."""
ACROSS = 0.7
"""Least part of the fingers' line along the motion of the joint for which going aside makes room."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Easing:
    """One way to ease a setting."""

    aside: float
    """Fraction of the room in the gripper's opening by which the hand is shifted the way the joint opens."""
    setting: PlannerSetting
    """The setting, with its way from the goal to the contact shortened."""


def easings(setting: PlannerSetting) -> Iterator[Easing]:
    """Yield easings of a setting, the slightest first."""
    count = max(0, setting.contact_pose_index - len(setting.pre_actuation_motions) - 1)
    depths = DEPTHS if count else DEPTHS[:1]
    for aside, depth in sorted(((a, d) for a in ASIDE for d in depths), key=lambda e: e[0] + 1.0 - e[1]):
        if aside or depth < 1.0:
            after = tuple(_shorter(m, depth) if k < count else m for k, m in enumerate(setting.post_actuation_motions))
            yield Easing(aside=aside, setting=setting.model_copy(update={"post_actuation_motions": after}))


def room_aside(part: MovingPart, opening: float) -> float:
    """Return how far a hand around the head of a moving part may go the way it opens [m], its fingers free of the part.

    Args:
        part: The moving part.
        opening: Opening of the gripper [m].
    """
    model, data = part.scene.world.model, part.scene.world.data
    head, face = part.in_world(part.link.head), part.pose_in_world[:3, :3] @ np.asarray(part.link.normal)
    corners = [vertices_of(model, data, geom) for geom in solid_geoms_of(part.scene, [part.body])]
    behind = max((float(((head - points) @ face).max()) for points in corners), default=0.0)
    return opening / 2.0 - behind - APART


def shifted(goals: Array, outward: Array, closing: Array, distance: float) -> Array:
    """Return hand poses (m, 4, 4) moved along the line on which the fingers close, the way a joint opens.

    Poses whose fingers close across that way are left out: going aside makes no room for them.

    Args:
        goals: Poses T_base_tool (n, 4, 4).
        outward: Unit vector (3,) in the base.
        closing: Unit vector (3,) in the tool frame along which the fingers close.
        distance: How far [m].
    """
    if distance == 0.0:
        return goals
    lines = goals[:, :3, :3] @ closing
    along = lines @ outward
    moved = goals.copy()
    moved[:, :3, 3] += distance * np.sign(along)[:, None] * lines
    return moved[np.abs(along) > ACROSS]


def _shorter(motion: Motion, share: float) -> Motion:
    """Return a motion of the hand that goes a share of its way; turns about the joint stay."""
    if isinstance(motion, str) or motion[0] == "rotate":
        return motion
    word, amount = motion
    return (word, share * amount)

"""Alternatives to a setting's hand pose if its fingers have no room: moved aside, or less deep."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from handloom.arrays import Array
from handloom.objects.geometry import vertices_of
from handloom.skills.arms.traffic import solid_geoms_of
from handloom.skills.articulated_objects.moving_part import MovingPart
from handloom.skills.configs.articulated import Motion, PlannerSetting

ASIDE = (0.0, 0.6, 1.0)
"""Sideways shifts of the hand, as fractions of the free room in its opening: the finger behind a door that is ajar
needs less room the nearer it is to the door. The fingers centre the door between them when they close."""
APART = 0.002
"""Distance that the nearer finger then keeps [m]."""
DEPTHS = (1.0, 0.6, 0.2)
"""Fractions of the path from the goal to the contact: with short fingers, the palm meets an edge before they reach full
depth."""
ACROSS = 0.7
"""Minimum component of the closing direction along the joint's motion for which moving aside makes room."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Easing:
    """One way to relax a planner setting."""

    aside: float
    """Fraction of the room in the gripper's opening by which the hand is shifted in the opening direction of the
    joint."""
    setting: PlannerSetting
    """The setting, with its path from the goal to the contact shortened."""


def easings(setting: PlannerSetting) -> Iterator[Easing]:
    """Yield the ways to relax a setting, smallest change first."""
    count = max(0, setting.contact_pose_index - len(setting.pre_actuation_motions) - 1)
    depths = DEPTHS if count else DEPTHS[:1]
    for aside, depth in sorted(((a, d) for a in ASIDE for d in depths), key=lambda e: e[0] + 1.0 - e[1]):
        if aside or depth < 1.0:
            after = tuple(_shorter(m, depth) if k < count else m for k, m in enumerate(setting.post_actuation_motions))
            yield Easing(aside=aside, setting=setting.model_copy(update={"post_actuation_motions": after}))


def room_aside(part: MovingPart, opening: float) -> float:
    """Return how far a hand around the head of a moving part may shift in its opening direction [m].

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
    """Return hand poses (m, 4, 4) moved along the fingers' closing line, towards a joint's opening side.

    Poses whose fingers close across that direction are left out: moving aside makes no room for them.

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
    """Return a motion of the hand scaled to a share of its length; rotations about the joint are unchanged."""
    if isinstance(motion, str) or motion[0] == "rotate":
        return motion
    word, amount = motion
    return (word, share * amount)

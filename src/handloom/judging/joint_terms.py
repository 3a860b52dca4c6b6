"""Success terms about the joints of objects: moved far enough, at rest, and the other parts left alone."""

from collections.abc import Iterable, Mapping, Sequence

import mujoco
import numpy as np

from handloom.judging.checks import Nature, check
from handloom.objects import Link
from handloom.scene import Scene
from handloom.values import Check

NUDGED = 0.25
"""Fraction of its range by which a part that no skill names may have moved: a drawer that came out a little."""
KNOB_NUDGED = float(np.deg2rad(15.0))
"""The same for a knob [rad]: one that is turned further is on."""
OVERTURNED = float(np.deg2rad(15.0))
OVERTURNED_SHARE = 0.25
"""How far a joint turned by a given angle may turn beyond it: 15 degrees, or a quarter of the angle if that is more."""
ABOUT_ITSELF = 0.9
"""Minimum cosine between the axis of a hinge and the direction from which it is held, for it to be a knob."""


@check(Nature.JOINT)
def joint_state(
    scene: Scene,
    *,
    object: str,
    joint: str,
    start: float,
    threshold: float,
    mode: str,
    most: float | None = None,
) -> bool:
    """Return whether a joint of an object is at its target; all lengths and angles [m or rad].

    Args:
        scene: The scene.
        object: The object.
        joint: Name of the joint in the object.
        start: Position of the joint at the start of the skill.
        threshold: The limit of the mode.
        mode: ``abs`` and ``dis_to_init``: it moved by at least the threshold; ``normal``: the same in positive
            direction; ``zero``: it is at most the threshold away from closed.
        most: For ``abs``, ``dis_to_init`` and ``normal``: how far it may have moved; None: any distance.
    """
    q = scene.world.joint_position(f"{object}/{joint}")
    if mode == "zero":
        return abs(q) <= threshold
    moved = q - start if mode == "normal" else abs(q - start)
    return moved >= abs(threshold) and (most is None or moved <= most)


@check()
def joint_still(scene: Scene, *, object: str, joint: str, speed: float) -> bool:
    """Return whether a joint of an object moves slower than ``speed`` [m/s or rad/s]."""
    return abs(scene.world.joint_velocity(f"{object}/{joint}")) < speed


@check(Nature.JOINT)
def other_joints_kept(
    scene: Scene, *, object: str, joints: Sequence[str], start: Sequence[float], within: Sequence[float]
) -> bool:
    """Return whether the joints of an object that no skill names are where they began.

    Args:
        scene: The scene.
        object: The object.
        joints: Their names in the object (n,).
        start: Their initial positions (n,) [m or rad].
        within: How far each may have moved (n,) [m or rad].
    """
    return not moved_joints(scene, object, joints, start, within)


def moved_joints(
    scene: Scene, name: str, joints: Sequence[str], start: Sequence[float], within: Sequence[float]
) -> tuple[str, ...]:
    """Return which joints of an object moved by more than they may; see ``other_joints_kept``."""
    known = zip(joints, start, within, strict=True)
    return tuple(j for j, q, room in known if abs(scene.world.joint_position(f"{name}/{j}") - q) > room)


def kept_terms(scene: Scene, terms: Iterable[Check]) -> tuple[Check, ...]:
    """Return the terms that the other joints of all objects with a moved joint end where they began.

    Args:
        scene: The scene in its first state.
        terms: Terms of all skills of the task; the joints that they are about may move.
    """
    named: dict[str, set[str]] = {}
    moved: dict[str, None] = {}
    for term in terms:
        about = term.arguments
        if about.get("joint") is not None:
            named.setdefault(about["object"], set()).add(about["joint"])
            moved |= {about["object"]: None} if term.name in ("joint_state", "joint_between") else {}
    return tuple(term for name in moved for term in _kept(scene, name, named))


def _kept(scene: Scene, name: str, named: Mapping[str, set[str]]) -> tuple[Check, ...]:
    """Return the term for one object; none if it has no other joints."""
    free = named[name] | _coupled(scene, name, named[name])
    links = [link for link in scene.assets[name].joints if link.joint not in free and np.isfinite(link.range).all()]
    if not links:
        return ()
    start = [scene.world.joint_position(f"{name}/{link.joint}") for link in links]
    about = {"joints": [link.joint for link in links], "start": start, "within": [_nudge(link) for link in links]}
    return (Check(name=other_joints_kept.__name__, arguments={"object": name, **about}),)


def _coupled(scene: Scene, name: str, joints: Iterable[str]) -> set[str]:
    """Return the joints of an object that move together with some of its joints, as two leaves of a cutter do."""
    model = scene.world.model
    ids = {scene.world.joint_index(f"{name}/{joint}") for joint in joints}
    pairs = np.stack([model.eq_obj1id, model.eq_obj2id], axis=1)[model.eq_type == mujoco.mjtEq.mjEQ_JOINT]
    together = {int(j) for pair in pairs if ids & set(pair.tolist()) for j in pair if j >= 0}
    return {model.joint(j).name.partition("/")[2] for j in together}


def _nudge(link: Link) -> float:
    """Return how far a part may move by accident [m or rad]."""
    low, high = link.range
    return min(NUDGED * (high - low), KNOB_NUDGED if is_knob(link) else np.inf)


def is_knob(link: Link) -> bool:
    """Return whether a part turns about the direction from which it is held: a knob, or the lever of a tap."""
    return link.kind == "hinge" and abs(np.dot(link.axis, link.held_from)) > ABOUT_ITSELF


def most_turn(angle: float) -> float:
    """Return how far a joint that is to be turned by an angle may have turned [rad]."""
    return abs(angle) + max(OVERTURNED, OVERTURNED_SHARE * abs(angle))

"""Success terms about named points and sides of objects: left of, pressed, struck, shaken, facing."""

from collections.abc import Sequence

import numpy as np

from handloom.arrays import Array
from handloom.judging.checks import Nature, check, grasped
from handloom.judging.world_terms import PART, TOUCHING, in_hand
from handloom.scene import Scene
from handloom.scene.measures import world_box
from handloom.scene.named_points import named_point, point_of

SAME_LEVEL = 0.04
"""Largest height difference between the lowest points of objects on one support [m]: plates and mats have a foot."""
NOTHING = 0.02
"""Minimum force that counts as a touch [N]."""
BOTH = 2
"""Number of hands that hold an object together."""
ASTRAY = 0.03
"""Lateral offset that is always allowed for an object left of, or in front of, another [m]."""


@check(Nature.PLACED)
def apart_along(
    scene: Scene, *, object: str, target: str, way: Sequence[float], low: float, high: float, level: float = SAME_LEVEL
) -> bool:
    """Return whether an object stands on one side of a target, straight, on the same level, with a gap between them.

    Straight: its middle is no farther to the side than the target's own edge, or than 3 cm if that is more.

    Args:
        scene: The scene.
        object: The object.
        target: Reference object for left of, right of, in front of or behind.
        way: Unit vector (2,) along a world axis from the target to the object.
        low: Minimum gap between their boxes along that direction [m].
        high: Largest gap [m].
        level: Largest difference of their lowest points [m].
    """
    a, b = world_box(scene, object), world_box(scene, target)
    k = int(np.argmax(np.abs(way)))
    gap = a[0, k] - b[1, k] if way[k] > 0.0 else b[0, k] - a[1, k]
    off = abs(float((a - b).mean(axis=0)[1 - k]))
    straight = max(ASTRAY, 0.5 * float(b[1, 1 - k] - b[0, 1 - k]))
    apart = max(low, -TOUCHING) if low > 0.0 else -TOUCHING
    return bool(apart <= gap <= high and off <= straight and abs(a[0, 2] - b[0, 2]) <= level)


@check()
def pressed_at(
    scene: Scene,
    *,
    object: str,
    point: str,
    way: Sequence[float],
    force: float = 0.0,
    joint: str | None = None,
    start: float = 0.0,
    travel: float = 0.0,
    within: float = PART,
) -> bool:
    """Return whether fingers press on a named point of an object along a direction, pushing in its joint.

    Args:
        scene: The scene.
        object: What is pressed.
        point: Where.
        way: Direction of the press (3,), in the frame of the point's body.
        force: Minimum force along that direction [N].
        joint: Joint that must have moved; None requires no motion.
        start: Initial position of that joint [m or rad].
        travel: Signed motion that it must have made [m or rad].
        within: Largest distance of the contact from the point [m].
    """
    if joint is not None:
        moved = scene.world.joint_position(f"{object}/{joint}") - start
        if moved * np.sign(travel) < abs(travel):
            return False
    fingers = {body for robot in scene.robots.values() for arm in robot.arms for body in arm.finger_parts}
    body = point_of(scene.assets[object], object, point).body
    along = scene.world.body_pose(f"{object}/{body}")[:3, :3] @ np.asarray(way, float)
    return _push(scene, fingers, object, named_point(scene, object, point), along, within) >= max(force, NOTHING)


@check()
def used_on(
    scene: Scene,
    *,
    object: str,
    target: str,
    point: str | None = None,
    target_point: str | None = None,
    force: float = 0.0,
    within: float = PART,
    stroke: int = 0,
    apart: bool = False,
) -> bool:
    """Return whether a held object touches a target with one of its named points.

    Args:
        scene: The scene.
        object: The held tool: a hammer, a seal.
        target: What it touches.
        point: Its point that must touch; None: any part of it.
        target_point: Named point of the target that must be touched; None: any part of it.
        force: Minimum force between the two [N].
        within: Largest distance of the contact from the points [m].
        stroke: Index of the stroke; several strokes come in order.
        apart: Whether the two must instead not touch at all, as between two strokes.
    """
    if not in_hand(scene, object=object):
        return False
    world, bodies = scene.world, scene.world.subtree
    own, other = bodies(scene.body_of(object)), bodies(scene.body_of(target))
    if apart:
        return not world.touching(own, other)
    named = [(name, where) for name, where in ((object, point), (target, target_point)) if where is not None]
    ends = [named_point(scene, name, where) for name, where in named]
    total = 0.0
    for contact in world.contacts():
        pair = {contact.body_a, contact.body_b}
        if pair.isdisjoint(own) or pair.isdisjoint(other) or contact.distance > 0.0:
            continue
        if all(float(np.linalg.norm(contact.position - end)) <= within for end in ends):
            total += float(np.linalg.norm(contact.force))
    return total >= max(force, NOTHING)


@check()
def swings(scene: Scene, *, object: str, way: Sequence[float], speed: float, stroke: int) -> bool:
    """Return whether a held object moves along a direction with at least a given speed; one stroke of a shake.

    Args:
        scene: The scene.
        object: What is shaken.
        way: Unit vector (3,) in the world.
        speed: Minimum speed along it [m/s].
        stroke: Index of the stroke; those of a shake come in order.
    """
    twist = np.asarray(scene.world.body_velocity(scene.body_of(object)), float)
    return bool(float(twist[:3] @ np.asarray(way, float)) >= speed and in_hand(scene, object=object))


@check()
def held_by_both(scene: Scene, *, object: str) -> bool:
    """Return whether two hands hold an object at the same time."""
    arms = [(name, arm.name) for name, robot in scene.robots.items() for arm in robot.arms]
    return sum(grasped(scene, robot=robot, arm=arm, object=object) for robot, arm in arms) >= BOTH


@check()
def in_one_hand(scene: Scene, *, object: str) -> bool:
    """Return whether exactly one hand holds an object."""
    arms = [(name, arm.name) for name, robot in scene.robots.items() for arm in robot.arms]
    return sum(grasped(scene, robot=robot, arm=arm, object=object) for robot, arm in arms) == 1


def _push(scene: Scene, bodies: set[str], name: str, at: Array, along: Array, within: float) -> float:
    """Return the force [N] along a direction (3,) that bodies exert on an object within a distance of a point (3,)."""
    own, pressed = set(scene.world.subtree(scene.body_of(name))), 0.0
    for contact in scene.world.contacts():
        if float(np.linalg.norm(contact.position - at)) > within:
            continue
        if contact.body_a in bodies and contact.body_b in own:
            pressed += float(contact.force @ along)
        elif contact.body_b in bodies and contact.body_a in own:
            pressed -= float(contact.force @ along)
    return pressed

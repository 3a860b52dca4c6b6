"""Success terms of placing: functions of the scene and plain arguments."""

import numpy as np

from handloom.scene import Scene
from handloom.skills.boxes import box_overlap, world_box
from handloom.spatial import invert_pose


def overlapping(scene: Scene, *, object: str, target: str, above: float, part: str | None = None) -> bool:
    """Return whether the boxes of two objects overlap by more than ``above`` (intersection over union)."""
    return box_overlap(world_box(scene, object), world_box(scene, target, part)) > above


def over_box(scene: Scene, *, object: str, target: str, margin: float = 0.015, part: str | None = None) -> bool:
    """Return whether the origin of an object lies, seen from above, inside a target's box less ``margin`` [m]."""
    p, box = scene.object_pose(object)[:2, 3], world_box(scene, target, part)[:, :2]
    return bool(np.all(p > box[0] + margin) and np.all(p < box[1] - margin))


def lower_than(scene: Scene, *, object: str, robot: str, arm: str, height: float) -> bool:
    """Return whether the origin of an object lies below a height [m] in the base of an arm."""
    T_base_object = invert_pose(scene.robot(robot).arm(arm).T_world_base) @ scene.object_pose(object)
    return bool(T_base_object[2, 3] < height)


def left_of(scene: Scene, *, object: str, target: str, distance: float, part: str | None = None) -> bool:
    """Return whether the origin of an object is more than ``distance`` [m] beside a target's box in world -x."""
    return bool(scene.object_pose(object)[0, 3] < world_box(scene, target, part)[0, 0] - distance)


def right_of(scene: Scene, *, object: str, target: str, distance: float, part: str | None = None) -> bool:
    """Return whether the origin of an object is more than ``distance`` [m] beside a target's box in world +x."""
    return bool(scene.object_pose(object)[0, 3] > world_box(scene, target, part)[1, 0] + distance)


def raised_above(scene: Scene, *, object: str, target: str, by: float, part: str | None = None) -> bool:
    """Return whether the lowest point of an object is more than ``by`` [m] above the lowest point of a target."""
    return bool(world_box(scene, object)[0, 2] > world_box(scene, target, part)[0, 2] + by)


def touches(scene: Scene, *, object: str, target: str) -> bool:
    """Return whether an object touches a target."""
    world = scene.world
    return world.touching(world.subtree(scene.body_of(object)), world.subtree(scene.body_of(target)))


def released(scene: Scene, *, object: str, robot: str, arm: str) -> bool:
    """Return whether no finger of an arm touches an object, and no cup holds it."""
    side = scene.robot(robot).arm(arm)
    bodies = scene.world.subtree(scene.body_of(object))
    held = () if side.suction is None else side.suction.gripped_objects
    return not set(held) & set(bodies) and not scene.world.touching(side.finger_bodies, bodies)


def above_bottom(scene: Scene, *, object: str, target: str, part: str | None = None) -> bool:
    """Return whether the origin of an object is not below the lowest point of a target."""
    return bool(scene.object_pose(object)[2, 3] >= world_box(scene, target, part)[0, 2])

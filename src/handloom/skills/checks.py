"""Success terms as data: named functions of the scene, so that a replay can judge again."""

from collections.abc import Callable

from handloom.errors import unknown_name
from handloom.scene import Scene
from handloom.scene.stacking import gripper_open, lying_still, stacked
from handloom.skills import hand_checks, place_checks
from handloom.values import Check


def holds(scene: Scene, check: Check) -> bool:
    """Return whether a success term is true in the present state of the scene."""
    if check.name not in CHECKS:
        raise unknown_name("check", check.name, CHECKS)
    return CHECKS[check.name](scene, **check.arguments)


def grasped(scene: Scene, *, robot: str, arm: str, object: str, fingers: int = 2) -> bool:
    """Return whether at least ``fingers`` fingers of an arm press on an object.

    The published check asks for one finger only and so calls an object that leans on the hand grasped. Of a gripper
    that holds by suction, all cups must hold the object.
    """
    side = scene.robot(robot).arm(arm)
    bodies = scene.world.subtree(scene.body_of(object))
    if side.suction is not None:
        return side.suction.is_closed() and set(side.suction.gripped_objects) <= set(bodies)
    pressing = sum(scene.world.touching([finger], bodies) for finger in side.finger_bodies)
    return pressing >= min(fingers, len(side.finger_bodies))


def lifted(scene: Scene, *, object: str, from_z: float, by: float) -> bool:
    """Return whether an object is more than ``by`` [m] above the height ``from_z`` [m]."""
    return bool(scene.object_pose(object)[2, 3] - from_z > by)


def calm(scene: Scene, *, object: str, speed: float = 5.0) -> bool:
    """Return whether the robots and an object move slower than ``speed`` [m/s or rad/s].

    Other objects do not count: what one arm has just dropped says nothing about what the other holds.
    """
    robots = abs(scene.world.data.qvel[scene.robot_dofs]).max(initial=0.0)
    return bool(robots < speed and abs(scene.world.body_velocity(scene.body_of(object))).max() < speed)


CHECKS: dict[str, Callable[..., bool]] = {
    "above_bottom": place_checks.above_bottom,
    "ahead": hand_checks.ahead,
    "calm": calm,
    "grasped": grasped,
    "gripper_open": gripper_open,
    "hand_at": hand_checks.hand_at,
    "joints_at": hand_checks.joints_at,
    "left_of": place_checks.left_of,
    "lifted": lifted,
    "lower_than": place_checks.lower_than,
    "lying_still": lying_still,
    "near": hand_checks.near,
    "over_box": place_checks.over_box,
    "overlapping": place_checks.overlapping,
    "point_at": hand_checks.point_at,
    "points_up": hand_checks.points_up,
    "raised_above": place_checks.raised_above,
    "released": place_checks.released,
    "right_of": place_checks.right_of,
    "stacked": stacked,
    "touches": place_checks.touches,
    "turned_to": hand_checks.turned_to,
}
"""Name of a success term > function of the scene and the term's arguments."""

"""Success terms by name: functions of the scene and plain arguments, so that a dataset can test them again."""

from collections.abc import Callable, Sequence
from enum import Enum
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.errors import ConfigError, unknown_name
from handloom.scene import Scene
from handloom.scene.measures import box_overlap, gripper_open, lying_still, share_inside, stacked, world_box
from handloom.spatial import invert_pose, pose_error, pose_from_pos_quat, quat_angle, quat_from_matrix
from handloom.values import Check

Term = TypeVar("Term", bound=Callable[..., bool])

CALM = 1.0
"""Maximum speed of joints [m/s or rad/s] and of an object [m/s] at the end of a skill. Published: 5, which even an
object that is flung away satisfies. At the end of an episode everything must lie still, whatever was dropped."""
TUMBLE = 6.0
"""Maximum rotation speed of an object [rad/s] then: a can that has just been dropped may roll."""
VIEW_ANGLE = 0.35
"""Half the opening angle of a scanner's view [rad]."""


class Nature(Enum):
    """How long a success term remains valid."""

    MOMENT = "moment"
    """It ends with its skill: a hand at a pose, a grasp."""
    PLACED = "placed"
    """Placement of an object; valid until the object is picked up again."""
    CONTAINED = "contained"
    """Content of a container; valid wherever the container is carried, until it is taken out."""
    CONTENTS = "contents"
    """Fill level of an object; valid wherever the object is put later."""
    JOINT = "joint"
    """Position of an object's joint; valid until that joint is moved again."""


CHECKS: dict[str, Callable[..., bool]] = {}
"""Name of a success term > function of the scene and the term's arguments."""
NATURES: dict[str, Nature] = {}
"""Name of a success term > how long it remains valid."""


def check(nature: Nature = Nature.MOMENT) -> Callable[[Term], Term]:
    """Enter a function into the table of success terms under its own name."""

    def enter(function: Term) -> Term:
        CHECKS[function.__name__] = function
        NATURES[function.__name__] = nature
        return function

    return enter


check()(gripper_open)
check(Nature.PLACED)(lying_still)
check(Nature.PLACED)(stacked)


@check()
def hand_at(
    scene: Scene,
    *,
    robot: str,
    arm: str,
    position: Sequence[float],
    quat: Sequence[float],
    distance: float | None = None,
    angle: float | None = None,
    either: bool = False,
) -> bool:
    """Return whether the hand is at a pose in the arm base.

    Args:
        scene: The scene.
        robot: Name of the robot.
        arm: ``left`` or ``right``.
        position: Wanted place (3,) [m].
        quat: Wanted orientation, wxyz.
        distance: Largest distance [m]; None disables this check.
        angle: Largest rotation [rad]; None disables this check.
        either: Whether one of the two is enough, as in the published test of free motions.
    """
    side = scene.robot(robot).arm(arm)
    T_base_tool = invert_pose(side.T_world_base) @ scene.world.body_pose(side.tool_body)
    off, turn = pose_error(T_base_tool, pose_from_pos_quat(position, quat))
    terms = [float(error) < limit for error, limit in ((off, distance), (turn, angle)) if limit is not None]
    return any(terms) if either else all(terms)


@check()
def joints_at(scene: Scene, *, robot: str, arm: str, joints: Sequence[float], distance: float) -> bool:
    """Return whether the joints of an arm are within ``distance`` (norm) [rad] of a configuration."""
    return bool(np.linalg.norm(scene.robot(robot).arm(arm).joints - np.asarray(joints, float)) < distance)


@check()
def base_at(scene: Scene, *, robot: str, pose: Sequence[float], distance: float, angle: float) -> bool:
    """Return whether a base is within ``distance`` [m] and ``angle`` [rad] of x, y [m], yaw [rad] in the world."""
    base = scene.robot(robot).base
    if base is None:
        raise ConfigError(f"the base of {robot} is fixed")
    off = base.pose - np.asarray(pose, float)
    turn = (off[2] + np.pi) % (2.0 * np.pi) - np.pi
    return bool(np.hypot(off[0], off[1]) < distance and abs(turn) < angle)


@check()
def base_clear(scene: Scene, *, robot: str, held: Sequence[str]) -> bool:
    """Return whether a robot touches only the objects that it holds."""
    world, own = scene.world, (f"{robot}/", *(f"{name}/" for name in held))
    others = [name for name in world.bodies if not name.startswith(own)]
    return not world.touching([name for name in world.bodies if name.startswith(f"{robot}/")], others)


@check()
def near(scene: Scene, *, object: str, target: str, distance: float, flat: bool = False) -> bool:
    """Return whether the origins of two objects are closer than ``distance`` [m]; ``flat`` ignores the height."""
    offset = scene.object_pose(object)[:3, 3] - scene.object_pose(target)[:3, 3]
    return bool(np.linalg.norm(offset[:2] if flat else offset) < distance)


@check()
def turned_to(scene: Scene, *, object: str, quat: Sequence[float], angle: float) -> bool:
    """Return whether an object is within ``angle`` [rad] of a world orientation, wxyz."""
    return bool(quat_angle(quat_from_matrix(scene.object_pose(object)[:3, :3]), np.asarray(quat, float)) < angle)


@check()
def point_at(scene: Scene, *, object: str, point: Sequence[float], position: Sequence[float], distance: float) -> bool:
    """Return whether a point of an object, in its own frame [m], is within ``distance`` [m] of a place in the world."""
    T = scene.object_pose(object)
    now = T[:3, :3] @ np.asarray(point, float) + T[:3, 3]
    return bool(np.linalg.norm(now - np.asarray(position, float)) < distance)


@check(Nature.PLACED)
def points_up(scene: Scene, *, object: str, axis: Sequence[float], angle: float) -> bool:
    """Return whether an axis of an object is within ``angle`` [rad] of up."""
    direction = scene.object_pose(object)[:3, :3] @ np.asarray(axis, float)
    cosine = direction[2] / np.linalg.norm(direction)
    return bool(np.arccos(np.clip(cosine, -1.0, 1.0)) < angle)


@check()
def tilted(scene: Scene, *, object: str, axis: Sequence[float], low: float, high: float) -> bool:
    """Return whether the angle between an axis of an object and up lies between two bounds [rad]."""
    direction = scene.object_pose(object)[:3, :3] @ np.asarray(axis, float)
    return bool(low <= np.arccos(np.clip(direction[2] / np.linalg.norm(direction), -1.0, 1.0)) <= high)


@check(Nature.PLACED)
def ahead(scene: Scene, *, object: str, robot: str, arm: str, low: float, high: float) -> bool:
    """Return whether an object lies between two distances [m] ahead of the base of an arm."""
    T_base_object = invert_pose(scene.robot(robot).arm(arm).T_world_base) @ scene.object_pose(object)
    return bool(low < T_base_object[0, 3] < high)


@check(Nature.PLACED)
def overlapping(scene: Scene, *, object: str, target: str, above: float, part: str | None = None) -> bool:
    """Return whether the boxes of two objects overlap by more than ``above`` (intersection over union)."""
    return box_overlap(world_box(scene, object), world_box(scene, target, part)) > above


@check(Nature.PLACED)
def over_box(scene: Scene, *, object: str, target: str, margin: float = 0.015, part: str | None = None) -> bool:
    """Return whether the origin of an object lies, seen from above, inside a target's box less ``margin`` [m]."""
    p, box = scene.object_pose(object)[:2, 3], world_box(scene, target, part)[:, :2]
    return bool(np.all(p > box[0] + margin) and np.all(p < box[1] - margin))


@check(Nature.PLACED)
def lower_than(scene: Scene, *, object: str, robot: str, arm: str, height: float) -> bool:
    """Return whether the origin of an object lies below a height [m] in the base of an arm."""
    T_base_object = invert_pose(scene.robot(robot).arm(arm).T_world_base) @ scene.object_pose(object)
    return bool(T_base_object[2, 3] < height)


@check(Nature.PLACED)
def left_of(scene: Scene, *, object: str, target: str, distance: float, part: str | None = None) -> bool:
    """Return whether the origin of an object is more than ``distance`` [m] beside a target's box in world -x."""
    return bool(scene.object_pose(object)[0, 3] < world_box(scene, target, part)[0, 0] - distance)


@check(Nature.PLACED)
def right_of(scene: Scene, *, object: str, target: str, distance: float, part: str | None = None) -> bool:
    """Return whether the origin of an object is more than ``distance`` [m] beside a target's box in world +x."""
    return bool(scene.object_pose(object)[0, 3] > world_box(scene, target, part)[1, 0] + distance)


@check(Nature.PLACED)
def raised_above(scene: Scene, *, object: str, target: str, by: float, part: str | None = None) -> bool:
    """Return whether the lowest point of an object is more than ``by`` [m] above the lowest point of a target."""
    return bool(world_box(scene, object)[0, 2] > world_box(scene, target, part)[0, 2] + by)


@check(Nature.PLACED)
def touches(scene: Scene, *, object: str, target: str, through: bool = False) -> bool:
    """Return whether an object touches a target or, with ``through``, something in or on it: a second egg in a bowl."""
    world = scene.world
    bodies, waiting, seen = world.subtree(scene.body_of(object)), [target], {object, target}
    while waiting:
        support = world.subtree(scene.body_of(waiting.pop()))
        if world.touching(bodies, support):
            return True
        for other in [name for name in scene.assets if through and name not in seen]:
            inside = over_box(scene, object=other, target=target, margin=0.0)
            inside = inside and above_bottom(scene, object=other, target=target)
            if inside and world.touching(world.subtree(scene.body_of(other)), support):
                seen.add(other)
                waiting.append(other)
    return False


@check(Nature.PLACED)
def released(scene: Scene, *, object: str, robot: str, arm: str) -> bool:
    """Return whether no finger of an arm touches an object, and no cup holds it."""
    side = scene.robot(robot).arm(arm)
    bodies = scene.world.subtree(scene.body_of(object))
    held = () if side.suction is None else side.suction.gripped_objects
    return not set(held) & set(bodies) and not scene.world.touching(side.finger_bodies, bodies)


@check(Nature.PLACED)
def above_bottom(scene: Scene, *, object: str, target: str, part: str | None = None) -> bool:
    """Return whether the origin of an object is not below the lowest point of a target."""
    return bool(scene.object_pose(object)[2, 3] >= world_box(scene, target, part)[0, 2])


@check(Nature.CONTAINED)
def inside(scene: Scene, *, object: str, target: str, share: float, part: str | None = None) -> bool:
    """Return whether more than a fraction of an object lies inside a target's own bounding box."""
    return share_inside(scene, object, target, part) > share


@check(Nature.PLACED)
def level(scene: Scene, *, object: str, angle: float) -> bool:
    """Return whether the axis of an object nearest to up is within ``angle`` [rad] of it: it lies flat, or stands."""
    return bool(np.abs(scene.object_pose(object)[2, :3]).max() > np.cos(angle))


def scanner_view(scene: Scene, scanner: str) -> tuple[Array, Array]:
    """Return the window (3,) [m] of a scanner and its view direction (3,), in its own frame.

    Raises:
        ConfigError: The object is not a scanner.
    """
    asset = scene.assets[scanner]
    if "window" not in asset.keypoints or "view" not in asset.axes:
        raise ConfigError(f"{scanner} ({asset.name}) cannot scan: it has no keypoint 'window' or no axis 'view'")
    return np.array(asset.keypoints["window"].position), np.array(asset.axes["view"].direction, float)


@check()
def in_view(scene: Scene, *, object: str, scanner: str, distance: float, angle: float = VIEW_ANGLE) -> bool:
    """Return whether the middle of an object's box is in front of a scanner's window, in its cone of view."""
    window, view = scanner_view(scene, scanner)
    T = scene.object_pose(scanner)
    off = world_box(scene, object).mean(axis=0) - (T[:3, :3] @ window + T[:3, 3])
    length = float(np.linalg.norm(off))
    return length < distance and float(off @ (T[:3, :3] @ view)) > length * np.cos(angle)


@check()
def grasped(scene: Scene, *, robot: str, arm: str, object: str, fingers: int = 2) -> bool:
    """Return whether at least ``fingers`` fingers of an arm press on an object.

    The published check requires only one finger and so counts an object leaning on the hand as grasped. For a suction
    gripper, all cups must hold the object.
    """
    side = scene.robot(robot).arm(arm)
    bodies = scene.world.subtree(scene.body_of(object))
    if side.suction is not None:
        return side.suction.is_closed() and set(side.suction.gripped_objects) <= set(bodies)
    pressing = sum(scene.world.touching([finger], bodies) for finger in side.finger_bodies)
    return pressing >= min(fingers, len(side.finger_bodies))


@check()
def grasped_moving(scene: Scene, *, robot: str, arm: str, object: str, speed: float) -> bool:
    """Return whether a hand holds an object that moves faster than ``speed`` [m/s]."""
    moves = np.linalg.norm(scene.world.body_velocity(scene.body_of(object))[:3]) > speed
    return bool(moves) and grasped(scene, robot=robot, arm=arm, object=object)


@check()
def held_up(scene: Scene, *, object: str) -> bool:
    """Return whether a hand holds an object in the air: apart from robots, it touches only objects in or above it."""
    arms = [(name, arm.name) for name, robot in scene.robots.items() for arm in robot.arms]
    if not any(grasped(scene, robot=robot, arm=arm, object=object) for robot, arm in arms):
        return False
    others = [name for name in scene.assets if name != object]
    inside = [name for name in others if over_box(scene, object=name, target=object, margin=0.0)]
    inside = [name for name in inside if above_bottom(scene, object=name, target=object)]
    own = tuple(f"{name}/" for name in (object, *inside, *scene.robots))
    supports = [name for name in scene.world.bodies if not name.startswith(own)]
    return not scene.world.touching(scene.world.subtree(scene.body_of(object)), supports)


@check()
def fingers_only(scene: Scene, *, robot: str, arm: str, object: str, base: str) -> bool:
    """Return whether no forbidden link of an arm touches an object, and no finger touches its body ``base``."""
    side, world = scene.robot(robot).arm(arm), scene.world
    forbidden = [side.prefix + body for body in side.spec.forbidden_bodies]
    if world.touching(forbidden, world.subtree(scene.body_of(object))):
        return False
    return not world.touching(side.finger_bodies, [f"{object}/{base}"])


@check()
def lifted(scene: Scene, *, object: str, from_z: float, by: float) -> bool:
    """Return whether an object is more than ``by`` [m] above the height ``from_z`` [m]."""
    return bool(scene.object_pose(object)[2, 3] - from_z > by)


def _grains(scene: Scene, container: str) -> NDArray[np.bool_]:
    """Return which grains (n,) lie in a container."""
    if scene.grains is None:
        raise ConfigError(f"nothing can be poured into {container}: the task has no fluid")
    return scene.grains.inside(container)


@check(Nature.CONTENTS)
def poured(scene: Scene, *, container: str, target: str, share: float, spilled: float) -> bool:
    """Return whether a fraction of all grains is in a target, and few are in neither the target nor their container."""
    there, left = _grains(scene, target), _grains(scene, container)
    lost = len(there) - int((there | left).sum())
    return bool(there.sum() >= share * len(there) and lost <= spilled * len(there))


@check(Nature.CONTENTS)
def filled(scene: Scene, *, container: str, radius: float, above: int, below: int) -> bool:
    """Return whether the number of grains in a container, nearer to its middle than a radius [m], is within bounds.

    The published term counts grains at any height, so that it holds while a full bottle is held over an empty cup.
    """
    flat = (scene.grain_positions() - scene.object_pose(container)[:3, 3])[:, :2]
    count = int((_grains(scene, container) & (np.linalg.norm(flat, axis=1) < radius)).sum())
    return above < count < below


@check()
def calm(scene: Scene, *, object: str, speed: float = CALM, robot: str | None = None, arm: str | None = None) -> bool:
    """Return whether the robots' joints and an object move slower than ``speed`` [m/s or rad/s].

    Other objects are ignored: an object that one arm has just dropped is irrelevant to the other.

    Args:
        scene: The scene.
        object: The object.
        speed: The speed; an object may turn at up to ``TUMBLE``.
        robot: Robot of ``arm``.
        arm: The arm whose joints count, if another one does something else meanwhile; absent: all joints count.
    """
    dofs = scene.robot_dofs if robot is None or arm is None else scene.robot(robot).arm(arm).dofs
    robots = abs(scene.world.data.qvel[dofs]).max(initial=0.0)
    moving = np.abs(scene.world.body_velocity(scene.body_of(object)))
    return bool(robots < speed and moving[:3].max() < speed and moving[3:].max() < TUMBLE)


def holds(scene: Scene, check: Check) -> bool:
    """Return whether a success term is true in the current state of the scene."""
    if check.name not in CHECKS:
        raise unknown_name("check", check.name, CHECKS)
    return CHECKS[check.name](scene, **check.arguments)

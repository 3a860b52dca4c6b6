"""Success terms about the world alone: in, on, at, beside, open, held. They hold for every source of commands."""

from collections.abc import Iterator, Sequence

import numpy as np

from handloom.arrays import Array
from handloom.errors import unknown_name
from handloom.judging.bearers import bearers_of, is_fixed, is_stuck_in
from handloom.judging.checks import Nature, check, grasped
from handloom.judging.depth_inside import hollow_of, is_long, sticks_out_of
from handloom.judging.overhang import lies_over
from handloom.scene import Scene
from handloom.scene.measures import world_box
from handloom.scene.named_points import named_point

MOST = 0.5
"""Fraction of an object's points that must be enclosed if its foot is not."""
TOUCHING = 0.004
"""Largest distance between objects that count as touching side by side [m]."""
FALLEN = 0.7
"""Cosine of the tilt above which an object has fallen over: 45 degrees."""
THIN = 0.008
"""Objects on a mat thinner than this also touch the table [m]."""
INSET = 0.008
"""Minimum distance of an object's middle inside the edge of its support [m]."""
INWARDS = 0.004
"""Distance from a contact at which a point is tested, towards the centre of the object [m]."""
RISES = (0.003, 0.012, 0.024)
"""Heights above it [m]: walls have holes."""
SUNK = 0.4
"""Minimum fraction of an object's height between the walls for it to be wedged in a cavity, not lying on its rim."""
GAP = float(np.deg2rad(150.0))
"""Largest angle between neighbouring contacts with a rim that holds an object from all around [rad]."""
RING, LEVELS = (0.1, 0.9), 24
"""Range of an object's height, and number of levels, within which a surrounding ring is searched."""
HOLE = 0.25
"""Fraction of these levels below which a ring does not hold an object that is free below: 0.3 of its height."""
WIPING = 0.01
"""Minimum speed at which an object touching a surface wipes it [m/s]."""
PART = 0.025
"""Contacts within this distance of a named point belong to it [m]."""
STEEP = 0.5
"""Horizontal component of an axis, as a fraction of its length, below which it has no heading: 60 degrees."""
GRID = 3
"""Sample points along each side of an object's box."""


@check(Nature.CONTAINED)
def in_cavity(scene: Scene, *, object: str, target: str, part: str | None = None) -> bool:
    """Return whether an object lies in a cavity of a target: a floor below it and walls around it, or a roof above.

    An object that lies on a roof, hangs over a rim or leans against the outside is not in it. A long one may stick out:
    at least a third of its length is inside, from its lower end on.

    Args:
        scene: The scene.
        object: The object in it.
        target: The hollow object: a bowl, a drawer cabinet, a microwave.
        part: Body of the target above whose floor it must lie, such as ``drawer_1``; absent, any.
    """
    box, room = world_box(scene, object), world_box(scene, target)
    middle = box.mean(axis=0)
    if not _over_box(middle, room) or box[0, 2] > room[1, 2] or is_stuck_in(scene, object, target):
        return False
    return _lies_in(scene, object, target, part, box) or sticks_out_of(scene, object, target, part)


def _lies_in(scene: Scene, object: str, target: str, part: str | None, box: Array) -> bool:
    """Return whether most of an object with a world box (2, 3) is in a cavity, or its foot is and carries it there."""
    shape, T, middle = hollow_of(scene, target), scene.object_pose(target), box.mean(axis=0)
    up = T[2, :3]

    def enclosed(point: Array) -> bool:
        return shape.encloses(T[:3, :3].T @ (point - T[:3, 3]), up, part)

    foot, lowest = _feet(scene, object, box)
    points = _points(scene, object)
    share = float(np.mean([enclosed(point) for point in points]))
    levels = box[0, 2] + np.linspace(*RING, LEVELS) * (box[1, 2] - box[0, 2])
    rings = [enclosed(np.array([*middle[:2], z])) for z in levels]
    ringed = float(np.mean(rings))
    if share >= MOST or all(any(map(enclosed, _rising(point))) for point in (foot, lowest)):
        bearers = list(bearers_of(scene, object))
        bearers = bearers or [held for held in bearers_of(scene, object, steep=True) if held.owner == target]
        if any(bearer.owner != target and is_fixed(scene, bearer.owner) for bearer in bearers):
            return False  # It was pushed through the floor and rests on the table.
        inside = [bearer.owner != target or any(map(enclosed, _inwards(bearer.at, middle))) for bearer in bearers]
        if share >= MOST or ringed >= SUNK:
            return any(inside) or _surrounded(middle, [bearer.at for bearer in bearers])
        # A banana across a rim sags between its ends: there its distance from the floor exceeds the wall's height.
        # From a little above the foot, which has sunk into a floor that it lies on, often by a tenth of a millimetre.
        above = foot + np.array([0.0, 0.0, RISES[0]])
        sag = max(0.0, shape.met(T[:3, :3].T @ (above - T[:3, 3]), -up[None]).below - RISES[0])
        # What lies on other things in the container is in it, unless it is long and lies across them and the rim.
        heap = not is_long(scene, object)
        low = [
            (heap and bearer.owner != target) or any(map(enclosed, _inwards(bearer.at, middle, sag)))
            for bearer in bearers
        ]
        borne = np.maximum([bearer.force for bearer in bearers], 0.0)
        return float(borne[low].sum()) > MOST * float(borne.sum())
    # A tube in a rack is free below, and surrounded by a hole further up; a cucumber across a bowl only dips in.
    below = shape.met(T[:3, :3].T @ (foot - T[:3, 3]), -up[None])
    return bool(below.hit[0]) and any(rings[int(HOLE * LEVELS) :])


@check(Nature.PLACED)
def carried_by(scene: Scene, *, object: str, target: str, part: str | None = None) -> bool:
    """Return whether an object rests only on a target, or on objects that themselves rest on it.

    Its middle and most of it are above the target, so that it does not overhang an edge, and only the target supports
    it.

    Args:
        scene: The scene.
        object: The object that rests on it.
        target: The supporting object.
        part: Body of the target that must carry it; absent, any.
    """
    if not _over(scene, object, target, part) or is_stuck_in(scene, object, target):
        return False
    waiting, seen, reached, room = [object], {object}, False, world_box(scene, target, part)
    thin = float(room[1, 2] - room[0, 2]) < THIN
    while waiting:
        name = waiting.pop()
        for owner, body, at, _ in bearers_of(scene, name):
            if owner == target:
                reached |= part is None or body in scene.world.subtree(f"{target}/{part}")
            elif owner in scene.assets and not is_fixed(scene, owner):
                waiting += [owner] if owner not in seen else []
                seen.add(owner)
            elif name == object and not (thin and _over_box(at, room)):
                return False  # It overhangs an edge.
    return reached and lies_over(scene, object, target, part)


@check(Nature.PLACED)
def let_go(scene: Scene, *, object: str) -> bool:
    """Return whether no robot touches an object, and no cup holds it: an object leaning on a hand would roll away."""
    bodies = scene.world.subtree(scene.body_of(object))
    arms = [arm for robot in scene.robots.values() for arm in robot.arms]
    if any(arm.suction is not None and set(arm.suction.gripped_objects) & set(bodies) for arm in arms):
        return False
    robots = tuple(f"{name}/" for name in scene.robots)
    return not scene.world.touching([name for name in scene.world.bodies if name.startswith(robots)], bodies)


@check()
def in_hand(scene: Scene, *, object: str) -> bool:
    """Return whether some hand holds an object."""
    arms = [(name, arm.name) for name, robot in scene.robots.items() for arm in robot.arms]
    return any(grasped(scene, robot=robot, arm=arm, object=object) for robot, arm in arms)


@check(Nature.JOINT)
def joint_between(scene: Scene, *, object: str, joint: str, low: float, high: float) -> bool:
    """Return whether a joint of an object is between two positions [m or rad]."""
    return low <= scene.world.joint_position(f"{object}/{joint}") <= high


@check(Nature.PLACED)
def placed_at(scene: Scene, *, object: str, low: Sequence[float], high: Sequence[float]) -> bool:
    """Return whether the middle of an object's box lies, seen from above, between two corners (2,) in the world [m]."""
    middle = world_box(scene, object).mean(axis=0)[:2]
    return bool(np.all(middle >= np.asarray(low, float)) and np.all(middle <= np.asarray(high, float)))


@check(Nature.PLACED)
def headed(
    scene: Scene,
    *,
    object: str,
    yaw: float,
    angle: float,
    fold: int = 1,
    axis: Sequence[float] = (1.0, 0.0, 0.0),
) -> bool:
    """Return whether an object has a heading about the vertical.

    Args:
        scene: The scene.
        object: The object.
        yaw: Heading of its axis in the world [rad].
        angle: Largest deviation [rad].
        fold: Order of its rotational symmetry.
        axis: Facing axis in its own frame (3,): x, or the object's front. An axis that points up or down has no
            heading.
    """
    x = scene.object_pose(object)[:2, :3] @ np.asarray(axis, float)
    if float(np.hypot(*x)) < STEEP:
        return False
    turn = 2.0 * np.pi / fold
    off = (float(np.arctan2(x[1], x[0])) - yaw + turn / 2.0) % turn - turn / 2.0
    return abs(off) <= angle


@check(Nature.PLACED)
def next_to(scene: Scene, *, object: str, target: str, within: float, side: str | None = None) -> bool:
    """Return whether an object stands beside a target, not in, on or under it.

    Args:
        scene: The scene.
        object: The object.
        target: The object beside which it stands.
        within: Largest gap between them, seen from above [m].
        side: ``left``: in world -x, ``right``: +x, ``front``: -y, ``behind``: +y; absent, any.
    """
    a, b = world_box(scene, object), world_box(scene, target)
    gaps = np.maximum(a[0, :2] - b[1, :2], b[0, :2] - a[1, :2])
    if float(gaps.max()) < -TOUCHING or float(np.hypot(*np.maximum(gaps, 0.0))) > within:
        return False
    off = (a.mean(axis=0) - b.mean(axis=0))[:2]
    if side is None:
        return True
    axis, sign = {"left": (0, -1.0), "right": (0, 1.0), "front": (1, -1.0), "behind": (1, 1.0)}[side]
    return bool(gaps[axis] >= -TOUCHING and sign * off[axis] > 0.0)


@check(Nature.PLACED)
def between(scene: Scene, *, object: str, first: str, second: str, within: float) -> bool:
    """Return whether an object is between two others, no farther than ``within`` [m] from their line."""
    p, a, b = (world_box(scene, name).mean(axis=0)[:2] for name in (object, first, second))
    along = b - a
    share = float((p - a) @ along) / float(along @ along)
    return bool(0.0 < share < 1.0 and np.linalg.norm(p - a - share * along) <= within)


@check(Nature.PLACED)
def unmoved(scene: Scene, *, object: str, position: Sequence[float], up: Sequence[float], distance: float) -> bool:
    """Return whether an object is within a distance [m] of its initial place, and has not fallen over.

    Args:
        scene: The scene.
        object: The object.
        position: Initial position of its origin (3,) [m].
        up: Initial up direction, in its own frame (3,).
        distance: How far it may have moved [m].
    """
    T = scene.object_pose(object)
    moved = float(np.linalg.norm(T[:3, 3] - np.asarray(position, float)))
    return moved <= distance and float(T[2, :3] @ np.asarray(up, float)) >= FALLEN


@check()
def pushed_down(scene: Scene, *, object: str, force: float = 0.5) -> bool:
    """Return whether a finger presses on an object from above with at least a force [N]."""
    bodies = set(scene.world.subtree(scene.body_of(object)))
    fingers = {body for robot in scene.robots.values() for arm in robot.arms for body in arm.finger_bodies}
    pressed = 0.0
    for contact in scene.world.contacts():
        if contact.body_a in fingers and contact.body_b in bodies:
            pressed -= float(contact.force[2])
        elif contact.body_b in fingers and contact.body_a in bodies:
            pressed += float(contact.force[2])
    return pressed >= force


@check()
def wipes(scene: Scene, *, object: str, target: str, part: str | None = None, speed: float = WIPING) -> bool:
    """Return whether an object rubs on a target: it touches it and moves over it.

    Args:
        scene: The scene.
        object: The wiping object.
        target: What is wiped.
        part: Body or named point of the object that must touch, to ``PART`` around a point; absent: any part.
        speed: Minimum speed of the contact over the target [m/s].
    """
    world, tool, below = scene.world, scene.body_of(object), scene.body_of(target)
    bodies, points = world.subtree(tool), scene.assets[object].keypoints
    if part is not None and part not in points:
        bodies = tuple(body for body in bodies if body == f"{object}/{part}")
        if not bodies:
            known = (*(body.partition("/")[2] for body in world.subtree(tool)), *points)
            raise unknown_name(f"part of {object}", part, known)
    at = None if part is None or part not in points else named_point(scene, object, part)
    own, other = set(bodies), set(world.subtree(below))
    for contact in world.contacts():
        pair = {contact.body_a, contact.body_b}
        if not pair & own or not pair & other:
            continue
        place = np.asarray(contact.position, float)
        if at is not None and np.linalg.norm(place - at) > PART:
            continue
        if np.linalg.norm(_velocity(scene, tool, place) - _velocity(scene, below, place)) >= speed:
            return True
    return False


def _velocity(scene: Scene, body: str, at: Array) -> Array:
    """Return the velocity of a body at a point (3,), in the world [m/s]."""
    twist = np.asarray(scene.world.body_velocity(body), float)
    return twist[:3] + np.cross(twist[3:], at - scene.world.body_pose(body)[:3, 3])


def _points(scene: Scene, name: str) -> Array:
    """Return sample points (n, 3) of an object in the world: a grid in its own box."""
    low, high = scene.assets[name].aabb
    ticks = (np.arange(GRID) + 0.5) / GRID
    grid = np.stack(np.meshgrid(ticks, ticks, ticks, indexing="ij"), axis=-1).reshape(-1, 3)
    T = scene.object_pose(name)
    return (low + grid * (high - low)) @ T[:3, :3].T + T[:3, 3]


def _feet(scene: Scene, name: str, box: Array) -> tuple[Array, Array]:
    """Return the point below an object's middle and the one below the lowest part of its box, at its lowest height."""
    z = box[0, 2]
    middle = box.mean(axis=0)
    points = _points(scene, name)
    lowest = points[int(np.argmin(points[:, 2]))]
    return np.array([middle[0], middle[1], z]), np.array([lowest[0], lowest[1], z])


def _inwards(at: Array, middle: Array, least: float = 0.0) -> Iterator[Array]:
    """Yield points near a contact (3,), above it and closer to the middle of the supported object (3,).

    Args:
        at: The contact.
        middle: The middle of the object.
        least: Their least height above it, up to the largest of ``RISES`` [m].
    """
    way = middle[:2] - at[:2]
    length = float(np.linalg.norm(way))
    step = way * min(1.0, INWARDS / length) if length > 0.0 else way
    return _rising(np.array([at[0] + step[0], at[1] + step[1], at[2]]), least)


def _rising(point: Array, least: float = 0.0) -> Iterator[Array]:
    """Yield points above a point (3,), by ``least`` [m] or more, up to the largest of ``RISES``."""
    for rise in RISES:
        if rise >= min(least, RISES[-1]):
            yield point + np.array([0.0, 0.0, rise])


def _over(scene: Scene, name: str, target: str, part: str | None) -> bool:
    """Return whether a straight line down from the middle of an object hits a target."""
    if not scene.assets[target].model.ngeom:
        return False
    middle, room = world_box(scene, name).mean(axis=0), world_box(scene, target, part)
    if not _over_box(middle, room):
        return False
    shape, T = hollow_of(scene, target), scene.object_pose(target)
    inset = min(INSET, 0.15 * float((room[1] - room[0])[:2].min()))
    around = [(0.0, 0.0), (inset, 0.0), (-inset, 0.0), (0.0, inset), (0.0, -inset)]
    starts = [middle + np.array([x, y, 0.0]) for x, y in around]
    return all(shape.met(T[:3, :3].T @ (start - T[:3, 3]), -T[2, :3][None]).hit[0] for start in starts)


def _over_box(point: Array, box: Array) -> bool:
    """Return whether a point (3,) lies, seen from above, in a box (2, 3)."""
    return bool(np.all(point[:2] >= box[0, :2]) and np.all(point[:2] <= box[1, :2]))


def _surrounded(middle: Array, places: Sequence[Array]) -> bool:
    """Return whether points (3,) surround a middle (3,), as the rim of a cup surrounds an egg.

    An object lying across a rim also dips into the cavity, and is supported on two sides.
    """
    angles = np.sort([np.arctan2(at[1] - middle[1], at[0] - middle[0]) for at in places])
    return len(angles) > 2 and float(np.diff([*angles, angles[0] + 2.0 * np.pi]).max()) < GAP

"""How far an object is inside a cavity, along its own length: a pen in its cup, a carrot that sticks out of a pan."""

from typing import NamedTuple

import numpy as np

from handloom.arrays import Array
from handloom.judging.bearers import bearers_of, is_fixed
from handloom.judging.checks import Nature, check
from handloom.scene import Scene
from handloom.scene.cavities import AROUND, Hollow, hollow
from handloom.scene.measures import local_box
from handloom.scene.named_points import point_of

LONG = 2.0
"""Ratio of an object's longest side to the next from which it may stick out of a container."""
LEAST_INSIDE = 1.0 / 3.0
"""Minimum fraction of its length inside then, from its lower end."""
LEAST_DEEP = 0.25
"""Minimum depth of that end below the rim, as a fraction of the cavity's depth: a spoon that lies across a glass and
the rim of the bin around both is not in the bin."""
DEEP = 0.5
"""Minimum depth of an inserted point below the rim, as a fraction of the cavity's depth."""
LEAST_BORNE = 0.1
"""Minimum fraction of its weight that is borne inside; what lies across a cavity is borne by two rims."""
RISE = 0.003
"""Height above a contact at which a point is tested: walls give way a little [m]."""
ALONG = 40
"""Number of points along an object that are tested."""


class Inside(NamedTuple):
    """How far an object is inside a cavity."""

    share: float
    """Fraction of its length that is inside."""
    below_rim: float
    """Depth of its end below the rim [m]; 0 if it is not below it."""
    depth: float
    """Depth of the cavity there, from the rim to its floor [m]."""
    roofed: bool
    """Whether something is above the rim, as in a cup that has fallen over."""

    @property
    def deep(self) -> bool:
        """Whether its end is in the lower half of the cavity."""
        return self.below_rim > 0.0 and self.below_rim >= DEEP * self.depth


NOT_INSIDE = Inside(share=0.0, below_rim=0.0, depth=0.0, roofed=False)


@check(Nature.CONTAINED)
def inserted(scene: Scene, *, object: str, target: str, point: str, part: str | None = None) -> bool:
    """Return whether a named point of an object is inside a cavity of a target that carries the object.

    The point is in the lower half of the cavity: at least half of its depth below the rim. The rest may stick out.

    Args:
        scene: The scene.
        object: The object in it.
        target: The hollow object: a cup, a pen holder, a rack.
        point: Named point of the object that went in first.
        part: Body of the target above whose floor it must be; absent, any.
    """
    end = np.asarray(point_of(scene.assets[object], object, point).position, float)
    return inside_from(scene, object, target, end, part).deep and _carried_in(scene, object, target)


def sticks_out_of(scene: Scene, name: str, target: str, part: str | None = None) -> bool:
    """Return whether a long object is in a cavity with one end, far enough, and sticks out of its top with the other.

    At least a third of its length is inside, its end is a quarter of the depth below the rim, and its weight rests
    there as well as on the rim.
    """
    ends = _ends(scene, name)
    if ends is None:
        return False
    found = inside_from(scene, name, target, ends[0], part)
    if found.roofed or found.share < LEAST_INSIDE or not 0.0 < LEAST_DEEP * found.depth <= found.below_rim:
        return False
    if not _carried_in(scene, name, target):
        return False
    shape, T = hollow_of(scene, target), scene.object_pose(target)
    borne = [(max(bearer.force, 0.0), bearer.at + np.array([0.0, 0.0, RISE])) for bearer in bearers_of(scene, name)]
    inside = [force for force, at in borne if shape.encloses(T[:3, :3].T @ (at - T[:3, 3]), T[2, :3], part)]
    return sum(inside) >= LEAST_BORNE * sum(force for force, _ in borne) > 0.0


def inside_from(scene: Scene, name: str, target: str, end: Array, part: str | None = None) -> Inside:
    """Return how far an object is inside a cavity of a target.

    Args:
        scene: The scene.
        name: The object.
        target: The hollow object.
        end: The end that is inside, in the object's own frame (3,) [m].
        part: Body of the target above whose floor it must be; None, any.
    """
    shape, T, T_world_object = hollow_of(scene, target), scene.object_pose(target), scene.object_pose(name)
    up, middle = T[2, :3], local_box(scene, name)[0].mean(axis=0)
    along = 2.0 * (np.arange(ALONG) + 0.5)[:, None] / ALONG
    line = (end + along * (middle - end)) @ T_world_object[:3, :3].T + T_world_object[:3, 3]
    points = (line - T[:3, 3]) @ T[:3, :3]
    inside = np.flatnonzero([shape.encloses(point, up, part) for point in points])
    # Below a hole, as in a rack, the end is between open sides, but it has a floor below.
    if len(inside) == 0 or not shape.met(points[0], -up[None]).hit[0]:
        return NOT_INSIDE
    rim = points[inside[-1]]
    walls = shape.met(rim, shape.directions(up))
    middle = _middle(rim, walls.around, shape.directions(up)[2:])
    depth = float((rim - middle) @ up) + shape.met(middle, -up[None]).below
    share, below_rim = len(inside) / ALONG, max(0.0, float((rim - points[0]) @ up))
    return Inside(share, below_rim, depth if np.isfinite(depth) else 0.0, bool(walls.hit[1]))


def how_far_in(scene: Scene, object: str, target: str, part: str | None = None, point: str | None = None) -> str:
    """Return how much of an object is inside a target, and what is required, for a message; empty if it is compact.

    Args:
        scene: The scene.
        object: The object.
        target: The hollow object.
        part: Body of the target above whose floor it must be; None, any.
        point: Named point of the object that must be inside; None for its lower end.
    """
    if point is not None:
        end = np.asarray(point_of(scene.assets[object], object, point).position, float)
        found = inside_from(scene, object, target, end, part)
        if found.depth <= 0.0:
            return f"its {point} is not in it"
        below, needed = 100.0 * found.below_rim, 100.0 * DEEP * found.depth
        return f"its {point} is {below:.1f} cm below the rim, {needed:.1f} cm required"
    ends = _ends(scene, object)
    if ends is None:
        return ""
    found = inside_from(scene, object, target, ends[0], part)
    if found.share < LEAST_INSIDE or sticks_out_of(scene, object, target, part):
        return f"{found.share:.0%} of its length is inside, {LEAST_INSIDE:.0%} required"
    if found.below_rim < LEAST_DEEP * found.depth:
        return (
            f"its end is {100 * found.below_rim:.1f} cm below the rim, {100 * LEAST_DEEP * found.depth:.1f} cm required"
        )
    fixed = [one.owner for one in bearers_of(scene, object) if one.owner != target and is_fixed(scene, one.owner)]
    return f"it rests on {fixed[0]}" if fixed else "something else than the floor of the cavity bears it"


def hollow_of(scene: Scene, name: str) -> Hollow:
    """Return an object with its joints at their current positions, to test what is inside it."""
    asset = scene.assets[name]
    joints = {link.joint: scene.world.joint_position(f"{name}/{link.joint}") for link in asset.joints}
    return hollow(asset, joints)


def is_long(scene: Scene, name: str) -> bool:
    """Return whether an object is at least twice as long as wide."""
    return _ends(scene, name) is not None


def _ends(scene: Scene, name: str) -> tuple[Array, Array] | None:
    """Return the lower and the upper end of a long object, in its own frame (3,) [m]; None for a compact object."""
    low, high = local_box(scene, name)[0]
    sides = np.sort(high - low)
    if sides[2] < LONG * sides[1]:
        return None
    axis = int(np.argmax(high - low))
    first, last = 0.5 * (low + high), 0.5 * (low + high)
    first[axis], last[axis] = low[axis], high[axis]
    return (first, last) if scene.object_pose(name)[2, axis] >= 0.0 else (last, first)


def _carried_in(scene: Scene, name: str, target: str) -> bool:
    """Return whether a target, or what lies loose in it, touches an object, and nothing fixed supports it instead."""
    if any(bearer.owner != target and is_fixed(scene, bearer.owner) for bearer in bearers_of(scene, name)):
        return False
    touched = {bearer.owner for bearer in bearers_of(scene, name, steep=True)}
    return target in touched or bool(touched & set(scene.assets))


def _middle(point: Array, around: Array, level: Array) -> Array:
    """Return the middle (3,) between walls at distances (n,) [m] from a point (3,) in level directions (n, 3)."""
    half = AROUND // 2
    off = 0.5 * (around[:half] - around[half:])
    off = np.where(np.isfinite(off), off, 0.0)
    # The middles of the chords through a point of a circle are on average half as far away as its centre.
    return point + 2.0 * (off[:, None] * level[:half]).mean(axis=0)

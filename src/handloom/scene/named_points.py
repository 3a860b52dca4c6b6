"""Named points and axes of the objects in a scene, and left, right, away and toward from the robot's point of view."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np

from handloom.arrays import Array
from handloom.errors import ConfigError, suggest
from handloom.objects import ObjectAsset
from handloom.objects.parts import Axis, Keypoint, point
from handloom.scene.scene import Scene
from handloom.spatial import matrix_from_quat
from handloom.values import ObjectInstance, RobotInstance

FRONT: Final = "front"
CLEARLY = 0.25
"""Distance of a point from the middle that puts it on one side of an object, as a fraction of its size."""
"""Axis that defines the direction in which an object faces."""
LEAN: Final = "lean"
"""Axis of a stand that points away from the slope on which an object leans."""
FACING: Final[Mapping[str, float]] = {"right": 0.0, "away": 90.0, "left": 180.0, "toward": 270.0}
"""Word > heading from the robot's point of view [deg]: 0 to its right, 90 away from it."""
SIDES: Final[Mapping[str, tuple[float, float]]] = {
    "left_of": (-1.0, 0.0),
    "right_of": (1.0, 0.0),
    "in_front_of": (0.0, -1.0),
    "behind": (0.0, 1.0),
}
"""Relation > direction from the other object to this one: right, away, as seen by the robot."""


TABLE: Final = "table"
"""Category of the work surface."""


class ObjectPoint(NamedTuple):
    """An object, or a named point of it."""

    object: str
    point: str | None = None


def reference(text: str) -> ObjectPoint:
    """Return the object and the point that ``stapler.top`` names; a name without a dot is an object alone."""
    name, _, where = text.partition(".")
    return ObjectPoint(name, where or None)


def known_points(asset: ObjectAsset) -> dict[str, Keypoint]:
    """Return all named points of an object: its own, its moving parts, and those that all objects have.

    ``center``, ``top``, ``bottom``, ``front``, ``back``, ``left`` and ``right`` are the middles of the box and of its
    faces, unless the object defines such a point itself; a moving part, such as ``drawer_1``, is the point where a hand
    grasps it, and ``handle`` is that of the main part.
    """
    low, high = asset.aabb
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    up = np.asarray(asset.up, float)
    faces = {"center": 0.0 * up, "top": up, "bottom": -up}
    if up[2] > 0.5:  # Objects of published files have y up, and no defined front.
        faces |= {"front": np.array([0.0, -1.0, 0.0]), "back": np.array([0.0, 1.0, 0.0])}
        faces |= {"left": np.array([-1.0, 0.0, 0.0]), "right": np.array([1.0, 0.0, 0.0])}
    found = {name: Keypoint(position=point(middle + half * way)) for name, way in faces.items()}
    parts = {link.name: Keypoint(body=link.name, position=link.head) for link in asset.joints}
    if asset.joints:
        found["handle"] = parts[asset.joints[0].name]
    return {**found, **parts, **asset.keypoints}


def point_of(asset: ObjectAsset, name: str, where: str) -> Keypoint:
    """Return a named point of an object.

    Args:
        asset: The object.
        name: Its name in the task, for messages.
        where: Name of the point.

    Raises:
        ConfigError: It has no such point; the message lists the existing ones.
    """
    known = known_points(asset)
    if where not in known:
        raise ConfigError(f"{name} ({asset.name}) has no point {where!r}; {suggest(where, known)}")
    return known[where]


def named_point(scene: Scene, name: str, where: str) -> Array:
    """Return the current position (3,) of a named point of an object in the world [m]."""
    known = point_of(scene.assets[name], name, where)
    T = scene.world.body_pose(f"{name}/{known.body}") if known.body else scene.object_pose(name)
    return T[:3, :3] @ np.asarray(known.position, float) + T[:3, 3]


def named_axis(scene: Scene, name: str, axis: str) -> Array:
    """Return the current direction (3,) of a named axis of an object in the world.

    Raises:
        ConfigError: It has no such axis.
    """
    asset = scene.assets[name]
    if axis not in asset.axes:
        raise ConfigError(f"{name} ({asset.name}) has no axis {axis!r}; {suggest(axis, asset.axes)}")
    known = asset.axes[axis]
    T = scene.world.body_pose(f"{name}/{known.body}") if known.body else scene.object_pose(name)
    return T[:3, :3] @ np.asarray(known.direction, float)


def front_axis(asset: ObjectAsset) -> Array:
    """Return the facing axis (3,) of an object in its own frame: its front, or x if it has none."""
    known = asset.axes.get(FRONT)
    direction = (1.0, 0.0, 0.0) if known is None else known.direction
    return np.asarray(direction, float)


def facing_side(asset: ObjectAsset) -> str:
    """Return words for the side of an object that ``facing`` turns: ``its x axis, the side of its handle``."""
    direction, (low, high) = front_axis(asset), asset.aabb
    words = "its front" if FRONT in asset.axes else "its x axis, as it has no front"
    ahead = {
        name: float((np.asarray(known.position, float) - 0.5 * (low + high)) @ direction)
        for name, known in asset.keypoints.items()
        if known.body in ("", "object")
    }
    furthest = max(ahead, key=lambda name: ahead[name], default=None)
    if furthest is None or ahead[furthest] < CLEARLY * float(np.abs(direction) @ (high - low)):
        return words
    return f"{words}: the side of its {furthest}"


def long_axis(asset: ObjectAsset) -> Array:
    """Return the direction (3,) of an upright object's longest horizontal side, in its own frame."""
    level = asset.extent * (1.0 - np.abs(np.asarray(asset.up, float)))
    return np.eye(3)[int(np.argmax(level))]


def quarter_turns(scene: Scene) -> float:
    """Return the angle [rad] from world x to the right of the robot at the start, in quarter turns."""
    return quarter_turns_of(scene.instance.robots)


def quarter_turns_of(robots: Sequence[RobotInstance]) -> float:
    """Return the same for the start poses of robots; 0 if there are none."""
    if not robots:
        return 0.0
    ahead = matrix_from_quat(np.array(robots[0].quat))[:, 0]
    return float(0.5 * np.pi * (np.round(np.arctan2(ahead[1], ahead[0]) / (0.5 * np.pi)) - 1.0))


def heading(scene: Scene, facing: float | str) -> float:
    """Return the heading in the world [rad] of left, right, away, toward, or an angle from the robot's point of view.

    Args:
        scene: The scene.
        facing: A word of ``FACING``, or degrees: 0 to the right of the robot, 90 away from it.
    """
    degrees = FACING[facing] if isinstance(facing, str) else facing
    return float(np.deg2rad(degrees)) + quarter_turns(scene)


def way_to(scene: Scene, side: str) -> Array:
    """Return the unit vector (2,) in the world of a relation such as ``left_of``, from an object to its neighbour."""
    angle, (right, away) = quarter_turns(scene), SIDES[side]
    x, y = np.round(np.cos(angle)), np.round(np.sin(angle))
    return np.array([right * x - away * y, right * y + away * x])


def work_spot(scene: Scene, at: Sequence[float]) -> Array:
    """Return a spot of the workplace (2,) in the world [m].

    Args:
        scene: The scene.
        at: The spot (2,): to the right of the robot and away from it, from the work point on the table top [m].
    """
    table = next((obj.name for obj in scene.instance.objects if obj.category == TABLE), None)
    origin = np.zeros(2) if table is None else scene.object_pose(table)[:2, 3]
    angle = quarter_turns(scene)
    x, y = np.round(np.cos(angle)), np.round(np.sin(angle))
    right, away = np.asarray(at, float) + scene.instance.work_point
    return origin + np.array([right * x - away * y, right * y + away * x])


def with_names(asset: ObjectAsset, obj: ObjectInstance) -> ObjectAsset:
    """Return an asset with the task's additional points and axes; unchanged if there are none."""
    if not obj.points and not obj.axes:
        return asset
    points = {name: Keypoint(position=at) for name, at in obj.points.items()}
    axes = {name: Axis(direction=way) for name, way in obj.axes.items()}
    return replace(asset, keypoints={**asset.keypoints, **points}, axes={**asset.axes, **axes})

"""Places inside the cavity of an object: in a closed drawer, in a microwave, in a basket.

The cavity comes from the target's own solid parts at its start joints (``scene/cavities.py``); rays against its walls
bound the room at the height of the object. In a drawer that is not pulled out, objects lie in the front, which comes
out from under the cabinet when the drawer is opened.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from handloom.arrays import Array
from handloom.errors import ConfigError, suggest
from handloom.objects import ObjectAsset
from handloom.objects.geometry import geom_ids, vertices_of
from handloom.scene.assets import asset_of, posed
from handloom.scene.cavities import ROOT, Cavity, Hollow, hollow
from handloom.scene.region_config import RandomConfig, RegionConfig
from handloom.scene.regions import CLEARANCE, Placed
from handloom.spatial import quat_conjugate, quat_from_rotvec, quat_multiply, quat_rotate
from handloom.tasks.config.task import Task
from handloom.values import ObjectInstance

IN_CAVITY = "A_in_B_cavity_sampler"
GAP = 0.15
"""Cavities with less than this fraction of the largest one's volume are gaps."""
FINGERS = 0.03
"""Free space to the walls, for fingers, where there is that much room [m]."""
WALL = 0.002
"""Minimum distance from the walls [m]."""
PULLED = 0.6
"""Part of a drawer's travel after which the object lies in front of the cabinet; ``open`` pulls at least this far."""
LOW, HIGH = 0.2, 0.8
"""Heights in the object at which walls are sought."""
RISE = 0.01
"""Step [m] in which an object is lifted off a floor that is not level."""
INSIDE = 0.9
"""Fraction of an object's outline that must be inside its cavity once it is at rest."""


@dataclass(frozen=True, eq=False, kw_only=True)
class CavityRoom:
    """The cavity in which a region puts its object."""

    target: str
    part: str
    """Name of the cavity: ``drawer_1``, or ``object`` for the only one of the fixed part."""
    cavity: Cavity
    shape: Hollow
    asset: ObjectAsset
    joints: Mapping[str, float]

    @property
    def where(self) -> str:
        """The cavity in words."""
        return self.target if self.part == ROOT else f"{self.part} of {self.target}"

    @property
    def height(self) -> float:
        """Height of the free space above the floor [m]; inf if the cavity is open above."""
        if self.cavity.from_above:
            return float(np.inf)
        up = np.asarray(self.asset.up, float)
        return float((self.cavity.box @ up).max()) - self.cavity.floor

    def walls(self, height: float) -> Array:
        """Return the room (2, 3) [m] in the object frame between the walls, for an object of a height [m]."""
        up, box = np.asarray(self.asset.up, float), self.cavity.box
        axes = [k for k in range(3) if k != int(np.argmax(np.abs(up)))]
        middle = box.mean(axis=0) - up * (float(box.mean(axis=0) @ up) - self.cavity.floor)
        low, high = box.copy()
        for part in (LOW, HIGH):
            start = middle + up * max(part * height, WALL)
            for k in axes:
                for sign in (-1.0, 1.0):
                    way = sign * np.eye(3)[k]
                    met = self.shape.met(start, way[None])
                    if met.hit[0] and sign < 0.0:
                        low[k] = max(low[k], start[k] - met.below)
                    elif met.hit[0]:
                        high[k] = min(high[k], start[k] + met.below)
        return np.stack([low, high])

    def encloses(self, points: Array) -> float:
        """Return the fraction of points (n, 3) in the object frame that are inside the cavity."""
        part = self.cavity.part
        return float(np.mean([self.shape.encloses(point, part=part) for point in points]))


def cavity_room(task: Task, region: RegionConfig, obj: ObjectInstance | None) -> CavityRoom:
    """Return the cavity that a region names, or the only one of its target.

    Raises:
        ConfigError: The target has no such cavity, or several and the region names none.
    """
    where = task.where("regions", task.config.regions.index(region))
    if obj is None:
        raise ConfigError(f"{where}: {region.target} is not an object, and {region.object} cannot start inside it")
    asset = asset_of(obj)
    shape = hollow(asset, obj.joints)
    found = named_cavities(asset, shape.cavities)
    part = (region.sub_tgt_prim or "").rstrip("/").rpartition("/")[2]
    if not found:
        raise ConfigError(
            f"{where}: {obj.name} ({asset.name}) has no cavity to put {region.object} into; put it on top: "
            f"{{object: {region.object}, on: {obj.name}}}"
        )
    if part and part not in found:
        raise ConfigError(f"{where}: {obj.name} ({asset.name}) has no cavity {part!r}; {suggest(part, found)}")
    if not part and len(found) > 1:
        name = next(iter(found))
        raise ConfigError(
            f"{where}: {obj.name} ({asset.name}) has several cavities: {', '.join(found)}; write which one: "
            f"{{object: {region.object}, in: {obj.name}.{name}}}"
        )
    part = part or next(iter(found))
    return CavityRoom(target=obj.name, part=part, cavity=found[part], shape=shape, asset=asset, joints=dict(obj.joints))


def named_cavities(asset: ObjectAsset, found: Sequence[Cavity]) -> dict[str, Cavity]:
    """Return the cavities of an object by name, without mere gaps.

    A moving part has one, named after it. Several of the fixed part are ``level_1``, ``level_2`` and so on from below.
    """
    largest, up = max((c.volume for c in found), default=0.0), np.asarray(asset.up, float)
    found = [c for c in found if c.volume >= GAP * largest]
    fixed = sorted((c for c in found if c.part == ROOT), key=lambda c: float(c.box.mean(axis=0) @ up))
    moving = {c.part: c for c in reversed(found) if c.part != ROOT}  # The largest of each part.
    if len(fixed) == 1:
        return {**dict(sorted(moving.items())), ROOT: fixed[0]}
    return {**dict(sorted(moving.items())), **{f"level_{i}": c for i, c in enumerate(fixed, 1)}}


def place_in_cavity(
    room: CavityRoom, ranges: RandomConfig, a: Placed, b: Placed, rng: np.random.Generator
) -> tuple[Placed, str | None]:
    """Sample a pose for ``a`` on the floor of a cavity of ``b``.

    Args:
        room: The cavity.
        ranges: ``pos_range`` counts from the middle of the cavity along the axes of ``b``; without it, anywhere.
        a: Object to place.
        b: The object with the cavity.
        rng: Generator of this choice.

    Returns:
        The pose, and why the object does not fit there; None if it does.
    """
    low_yaw, high_yaw = ranges.yaw_rotation or (-180.0, 180.0)
    yaw = quat_from_rotvec([0.0, 0.0, np.deg2rad(rng.uniform(low_yaw, high_yaw))])
    facing = quat_rotate(b.quat, [1.0, 0.0, 0.0])
    heading = quat_from_rotvec([0.0, 0.0, float(np.arctan2(facing[1], facing[0]))])
    quat = quat_multiply(heading, quat_multiply(yaw, a.quat))
    inverse = quat_conjugate(b.quat)
    outline = quat_rotate(inverse, quat_rotate(quat, a.points))  # From A's origin, in B's axes.
    own = np.stack([outline.min(axis=0), outline.max(axis=0)])
    up = np.asarray(room.asset.up, float)
    vertical = int(np.argmax(np.abs(up)))
    height = float(np.ptp(outline @ up))
    walls = room.walls(height)
    low, high = walls[0] - own[0] + WALL, walls[1] - own[1] - WALL
    sizes = (own[1] - own[0], walls[1] - walls[0])
    narrow = [k for k in range(3) if k != vertical and low[k] > high[k]]
    middle = (low + high) / 2.0
    shift = rng.uniform(0.0, 1.0, 3)
    given = _shift(ranges)
    if given is not None:
        (x0, y0), (x1, y1) = given
        level = [k for k in range(3) if k != vertical]
        centre = walls.mean(axis=0) - own.mean(axis=0)
        spot = centre.copy()
        spot[level] = centre[level] + np.array([x0, y0]) + shift[level] * np.array([x1 - x0, y1 - y0])
    else:
        low, high = _brought_out(room, own, low, high)
        slack = np.minimum(FINGERS - WALL, np.maximum(high - low, 0.0) / 2.0)
        low, high = low + slack, high - slack
        spot = np.where(low < high, low + shift * (high - low), np.where(low > high, middle, low))
    base = spot - up * float(spot @ up)
    origin = base + up * (room.cavity.floor - float((outline @ up).min()) + CLEARANCE + ranges.z_bias)
    place = a.at(b.position + quat_rotate(b.quat, origin), quat)
    inside = given is None or all(low[k] <= spot[k] <= high[k] for k in range(3) if k != vertical)
    if narrow or height > room.height or not inside:
        size, space = (" x ".join(f"{s:.2f}" for s in np.delete(extent, vertical)) for extent in sizes)
        tall = f" and {room.height:.2f} m of height" if np.isfinite(room.height) else ""
        return place, f"is {size} m and {height:.2f} m high, and {room.where} has {space} m{tall} inside"
    return place, None


def _shift(ranges: RandomConfig) -> tuple[tuple[float, float], tuple[float, float]] | None:
    """Return the rectangle around the middle of a cavity in which an object may lie [m]; None: anywhere."""
    if ranges.pos_range is not None:
        (a, b, _), (c, d, _) = ranges.pos_range
        return (a, b), (c, d)
    bias = (ranges.x_bias, ranges.y_bias)
    return (bias, bias) if any(bias) else None


def lifted(room: CavityRoom, place: Placed) -> Iterator[Placed]:
    """Yield a place and those above it, within the cavity: floors of bowls and trays of eggs are not level."""
    yield place
    top = float((room.cavity.box @ np.asarray(room.asset.up, float)).max())
    for step in range(1, 1 + int((top - room.cavity.floor) / RISE)):
        yield place.at(place.position + np.array([0.0, 0.0, step * RISE]), place.quat)


def rests_inside(room: CavityRoom, a: Placed, b: Placed) -> bool:
    """Return whether an object at rest is inside a cavity of ``b``."""
    inverse = quat_conjugate(b.quat)
    points = quat_rotate(inverse, quat_rotate(a.quat, a.points) + a.position - b.position)
    middle = (points.min(axis=0) + points.max(axis=0)) / 2.0
    up = np.asarray(room.asset.up, float)
    lowest = float((points @ up).min())
    walls = room.walls(float(np.ptp(points @ up)))
    level = [k for k in range(3) if k != int(np.argmax(np.abs(up)))]
    within = (points[:, level] > walls[0, level] - WALL) & (points[:, level] < walls[1, level] + WALL)
    on_floor = lowest > room.cavity.floor - RISE
    return on_floor and float(np.mean(within.all(axis=1))) >= INSIDE and room.encloses(middle[None]) > 0.0


def cavity_advice(region: RegionConfig, why: str, room: CavityRoom | None, target: ObjectInstance | None) -> str | None:
    """Return the change needed in a region whose object goes into a cavity, or lies under something it should be in.

    Args:
        region: The region.
        why: Why its object found no place.
        room: Its cavity; None if it puts its object elsewhere.
        target: Its target, if that is an object.
    """
    name, part = region.object, region.sub_tgt_prim
    if room is not None:
        if region.random_config is not None and _shift(region.random_config) is not None:
            return f"at counts from the middle of {room.where}, along the axes of {room.target}; keep it within"
        return f"take a smaller {name} or a larger {room.target}"
    if target is None or part is None or why != f"overlapped {target.name}":
        return None
    asset = asset_of(target)
    if part not in named_cavities(asset, hollow(asset, target.joints).cavities):
        return None
    return f"to start it inside, write {{object: {name}, in: {target.name}.{part}}}"


def _brought_out(room: CavityRoom, own: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """Return the range (3,), (3,) of an object's origin in a drawer that comes out from under the cabinet.

    Args:
        room: The cavity, perhaps in a drawer.
        own: Box (2, 3) of the object around its origin [m].
        low: Lowest place of its origin between the walls (3,) [m].
        high: Highest place.
    """
    model = room.asset.model
    body = model.body(room.cavity.part).id
    slides = [j for j in range(model.njnt) if model.jnt_bodyid[j] == body and model.jnt_type[j] == _SLIDE]
    if not slides:
        return low, high
    joint = slides[0]
    data = posed(model, room.joints)
    way = data.xaxis[joint]
    axis = int(np.argmax(np.abs(way)))
    if abs(way[axis]) < _ALONG or abs(float(way @ np.asarray(room.asset.up))) > 1.0 - _ALONG:
        return low, high
    at = float(data.qpos[model.jnt_qposadr[joint]])
    limit = max(model.jnt_range[joint], key=lambda value: abs(float(value)))
    travel = way[axis] * max(PULLED * abs(float(limit)) - abs(at), 0.0) * np.sign(limit)
    if travel == 0.0:
        return low, high
    root = [g for g in geom_ids(model, solid=True) if model.geom_bodyid[g] == model.body(ROOT).id]
    edges = np.concatenate([vertices_of(model, data, g) for g in root])[:, axis]
    low, high = low.copy(), high.copy()
    if travel < 0.0:
        high[axis] = max(low[axis], min(high[axis], edges.min() - travel - own[1, axis]))
    else:
        low[axis] = min(high[axis], max(low[axis], edges.max() - travel - own[0, axis]))
    return low, high


_SLIDE = 2
"""mjJNT_SLIDE."""
_ALONG = 0.9
"""Cosine from which a joint slides along an axis of the object."""

"""Spots required by a place: at a point of the workplace, or on one side of another object with a gap."""

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.errors import ConfigError
from handloom.scene import Scene
from handloom.scene.measures import local_box, world_box
from handloom.scene.named_points import SIDES, named_point, point_of, way_to, work_spot
from handloom.skills.configs.places import PlaceConfig
from handloom.skills.placing.descent import NEARLY, Descent
from handloom.skills.placing.footing import foot_of
from handloom.skills.skill import between

GAP = (0.03, 0.06)
"""Gap between an object and the one it is put left of, if the task gives none [m]."""
INSIDE = 0.25
"""Fraction of a gap's range that is left at both of its ends, as a placed object moves a little."""
MOST_INSIDE = 0.01
"""Largest margin left there [m]."""
FREE_STEP = 0.015
"""Distance of the spots that are tried on a target on which something lies already [m]."""
FREE_GAP = 0.005
"""Minimum gap between the boxes of what lies there and of the object [m]."""
OVER = 0.05
"""Objects up to this height above a target lie on it or stick out of it [m]."""
SIDEWAYS = 0.3
"""Fraction of the target's half width by which the middle of the object may be put to the side."""

ON_A_WALL = 0.03
"""Height above the floor of a cavity at which an object has come down on a wall, or on what lies there [m]."""
STANDS = float(np.cos(np.deg2rad(20.0)))
"""Cosine of the tilt up to which an object stands on its foot when it is put down."""
EDGE = 0.004
"""Distance of a foot from the edge of a target, which arms keep to within this [m]."""
WITHIN_ROUND = 0.7
"""Fraction of the free space of small targets that is used: they may be round."""


def asked_spot(scene: Scene, config: PlaceConfig) -> Array | None:
    """Return the required place of the object's middle, seen from above (2,) [m]; None if no spot is named."""
    if config.at_point is not None:
        return named_point(scene, config.objects[1], config.at_point)[:2]
    if config.at is None:
        return None
    if config.at_frame == "work":
        return work_spot(scene, config.at)
    return world_box(scene, config.objects[1], config.place_part_prim_path).mean(axis=0)[:2] + np.asarray(config.at)


def origins_at(scene: Scene, config: PlaceConfig, R_world_object: Array, rng: np.random.Generator) -> Array | None:
    """Return the targets of the object's origin, seen from above (n, 2) [m]; None if no spot or side is named.

    Args:
        scene: The scene.
        config: The place.
        R_world_object: Allowed orientations of the placed object (n, 3, 3).
        rng: Random generator for this choice.
    """
    if config.aim is not None and config.aim_body is not None:
        T_world_body = scene.world.body_pose(config.aim_body)
        return np.tile(
            (T_world_body[:3, :3] @ np.asarray(config.aim) + T_world_body[:3, 3])[:2], (len(R_world_object), 1)
        )
    reach = reach_of(scene, config.objects[0], R_world_object)
    spot = asked_spot(scene, config)
    if spot is not None:
        return spot - reach.mean(axis=1)[:, :2]
    if config.relation is None or config.relation not in SIDES:
        return None
    box, way = world_box(scene, config.objects[1]), way_to(scene, config.relation)
    low, high = config.gap or GAP
    inset, count = min(MOST_INSIDE, INSIDE * (high - low)), len(R_world_object)
    gap = between(rng, low + inset, high - inset, (count,))
    k = int(np.argmax(np.abs(way)))
    origins = np.empty((count, 2))
    origins[:, k] = box[1, k] + gap - reach[:, 0, k] if way[k] > 0.0 else box[0, k] - gap - reach[:, 1, k]
    astray = SIDEWAYS * 0.5 * float(box[1, 1 - k] - box[0, 1 - k])
    beside = box.mean(axis=0)[1 - k] + between(rng, -astray, astray, (count,))
    origins[:, 1 - k] = beside - reach.mean(axis=1)[:, 1 - k]
    return origins


def shift_beside_others(scene: Scene, config: PlaceConfig, T_world_object: Array, box: Array) -> Array:
    """Return how far to shift a place, level (2,) [m], so that the object does not land on what lies there already.

    Zero if nothing does, or if there is no room beside it.

    Args:
        scene: The scene.
        config: The place.
        T_world_object: The place (4, 4), just above the target.
        box: World box of the target, or of the cavity (2, 3) [m].
    """
    name, still = config.objects[0], np.zeros(2)
    loose = [obj.name for obj in scene.instance.objects if obj.solid and not obj.fixed]
    others = np.array([world_box(scene, other) for other in loose if other not in config.objects[:2]]).reshape(-1, 2, 3)
    on_it = (others[:, 0, 2] < box[1, 2] + OVER) & (others[:, 1, 2] > box[0, 2])
    own = reach_of(scene, name, T_world_object[None, :3, :3])[0, :, :2] + T_world_object[:2, 3]
    others = others[on_it][:, :, :2]

    def occupied(shift: Array) -> bool:
        low, high = own + shift
        return bool(np.any(np.all((others[:, 0] < high + FREE_GAP) & (others[:, 1] > low - FREE_GAP), axis=1)))

    if not occupied(still):
        return still
    room = np.stack([box[0, :2] - own[0], box[1, :2] - own[1]])
    if np.any(room[0] > room[1]):
        return still
    ticks = [np.arange(low, high + 1e-9, FREE_STEP) for low, high in room.T]
    grid = np.stack(np.meshgrid(*ticks, indexing="ij"), axis=-1).reshape(-1, 2)
    descent, drops = Descent(scene, name), np.full(len(grid), -1.0)
    for k, shift in enumerate(grid):
        if not occupied(shift):
            drops[k] = descent.height(T_world_object + _moved(shift))
    if drops.max() < 0.0:
        return still
    far = np.where(drops >= drops.max() - NEARLY, np.linalg.norm(grid, axis=1), np.inf)
    return grid[int(np.argmin(far))]


def _moved(shift: Array) -> Array:
    """Return the matrix (4, 4) that is added to a pose to shift it level [m]."""
    moved = np.zeros((4, 4))
    moved[:2, 3] = shift
    return moved


def on_whole_foot(scene: Scene, config: PlaceConfig, points: Array, R_world_object: Array, box: Array) -> Array:
    """Return places (n, 3) [m] of the origin of what stands on a foot, such that the whole foot is on the target.

    The points are taken for places of its foot: a mug whose middle, handle included, is over that of a coaster
    stands over the edge. What lies, and what is larger than its target, is left as it is or put in the middle.

    Args:
        scene: The scene.
        config: The place.
        points: Chosen points (n, 3) on the target [m].
        R_world_object: Orientations of the object there (n, 3, 3).
        box: World box of the target (2, 3) [m].
    """
    asset = scene.assets[config.objects[0]]
    if config.relation != "on" or not asset.stands:
        return points
    foot, radius = foot_of(scene, config.objects[0])
    standing = R_world_object @ np.asarray(asset.up, float) @ np.array([0.0, 0.0, 1.0]) > STANDS
    R, local = scene.object_pose(config.objects[1])[:3, :3], local_box(scene, config.objects[1])[0]
    if config.place_part_prim_path is not None:
        R, local = np.eye(3), box
    level = [k for k in range(3) if k != int(np.argmax(np.abs(R[2])))]
    across, half = R[:2, level], 0.5 * np.ptp(local[:, level], axis=0)
    spare = np.maximum(0.0, half - radius - EDGE) * (WITHIN_ROUND if half.min() < 2.0 * radius else 1.0)
    middle = box.mean(axis=0)[:2]
    off = np.clip((points[:, :2] - middle) @ across, -spare, spare) @ across.T
    moved = points.copy()
    moved[:, :2] = middle + off - (R_world_object @ foot)[:, :2]
    return np.where(standing[:, None], moved, points)


def deeper_than(scene: Scene, name: str, T_world_object: Array, chosen: int, floor: float) -> NDArray[np.bool_] | None:
    """Return the poses at which an object gets nearer to the floor of a cavity than at a chosen one, or None.

    None if it reaches the floor at the chosen one, or gets no nearer at any other. On a rim it would fall in, or out.

    Args:
        scene: The scene.
        name: The object.
        T_world_object: Poses of the object (n, 4, 4) above the cavity.
        chosen: Index of the chosen one.
        floor: Height of the floor [m].
    """
    descent, lowest = Descent(scene, name), reach_of(scene, name, T_world_object[:, :3, :3])[:, 0, 2]

    def height(k: int) -> float:
        return float(T_world_object[k, 2, 3] + lowest[k]) - descent.height(T_world_object[k])

    if (now := height(chosen)) < floor + ON_A_WALL:
        return None
    heights = np.array([height(k) for k in range(len(T_world_object))])
    return heights <= heights.min() + NEARLY if heights.min() < now - 2.0 * NEARLY else None


def reach_of(scene: Scene, name: str, R_world_object: Array) -> Array:
    """Return the extent of an object about its origin along the world's axes (n, 2, 3) [m], low and high.

    Args:
        scene: The scene.
        name: The object.
        R_world_object: Its orientations (n, 3, 3).
    """
    low, high = local_box(scene, name)[0]
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    centre, size = R_world_object @ middle, np.abs(R_world_object) @ half
    return np.stack([centre - size, centre + size], axis=1)


def way_of_point(scene: Scene, name: str, where: str) -> Array:
    """Return the unit vector (3,) from the middle of an object to a named point of it, in the object's own frame.

    Raises:
        ConfigError: It has no such point, or the point is its middle.
    """
    known = point_of(scene.assets[name], name, where)
    way = np.asarray(known.position, float) - local_box(scene, name)[0].mean(axis=0)
    length = float(np.linalg.norm(way))
    if length < 1e-3:
        raise ConfigError(f"{name}.{where} is its middle and gives no direction; name a tip or an end")
    return way / length

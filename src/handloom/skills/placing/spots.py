"""Spots required by a place: at a point of the work place, or on one side of another object with a gap."""

import numpy as np

from handloom.arrays import Array
from handloom.errors import ConfigError
from handloom.scene import Scene
from handloom.scene.measures import local_box, world_box
from handloom.scene.named_points import SIDES, named_point, point_of, way_to, work_spot
from handloom.skills.configs.places import PlaceConfig
from handloom.skills.skill import between

GAP = (0.03, 0.06)
"""Gap between an object and the one it is put left of, if the task gives none [m]."""
INSIDE = 0.25
"""Fraction of a gap's range that is left at both of its ends, as a placed object moves a little."""
MOST_INSIDE = 0.01
"""Largest margin left there [m]."""
SIDEWAYS = 0.3
"""Fraction of the target's half width by which the middle of the object may be put to the side."""


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

"""Where an object is put down: random points over, in or by a target's box."""

from typing import NamedTuple

import numpy as np

from handloom.arrays import Array
from handloom.errors import ConfigError
from handloom.skills.configs.places import PlaceConfig
from handloom.skills.draws import between

BESIDE = (0.03, 0.06)
"""Least and largest gap between an object and what it is put beside [m]."""


class HeldSize(NamedTuple):
    """How the held object reaches around its origin, as it is held."""

    rise: float
    """Height of the origin above the lowest point [m]."""
    half_width: float
    """Half the extent along world x [m]."""


def place_points(
    config: PlaceConfig,
    box: Array,
    R_world_target: Array,
    count: int,
    rng: np.random.Generator,
    *,
    hand_to_object: float,
    held: HeldSize,
) -> tuple[Array, Array]:
    """Return points before (n, 3) and at the place (n, 3) in the world [m].

    Args:
        config: Ratios, offsets and directions.
        box: World box of the target (2, 3) [m].
        R_world_target: Orientation of the target (3, 3).
        count: Number of points.
        rng: Generator of this choice.
        hand_to_object: Distance from the hand to the held object [m], which horizontal placing by the gripper adds.
        held: The held object.
    """
    ranges = np.array([config.x_ratio_range, config.y_ratio_range, config.z_ratio_range], float)
    ratios = between(rng, ranges[:, 0], ranges[:, 1], (count, 3))
    inside = box[0] + ratios * (box[1] - box[0])
    if config.beside is not None:
        away = held.half_width + between(rng, BESIDE[0], BESIDE[1], (count,))
        inside[:, 0] = box[1, 0] + away if config.beside == "right" else box[0, 0] - away
    if config.place_direction == "vertical":
        level = box[0, 2] if config.rest_on == "support" else box[1, 2]
        level += held.rise if config.rest_on is not None else 0.0
        return _at_height(inside, level + config.pre_place_z_offset), _at_height(inside, level + config.place_z_offset)
    return _beside(config, inside, R_world_target, hand_to_object)


def _at_height(points: Array, z: float) -> Array:
    raised = points.copy()
    raised[:, 2] = z
    return raised


def _beside(config: PlaceConfig, inside: Array, R_world_target: Array, hand_to_object: float) -> tuple[Array, Array]:
    if config.align_place_obj_axis is None:
        raise ConfigError("place: place_direction horizontal needs align_place_obj_axis, the way in, in target axes")
    along = R_world_target @ np.asarray(config.align_place_obj_axis, float)
    if config.position_constraint == "gripper":
        pre, place = (z + hand_to_object for z in (config.pre_place_z_offset, config.place_z_offset))
        return inside - along * pre, inside - along * place
    offset = R_world_target @ np.asarray(config.offset_place_obj_axis or (0.0, 0.0, 0.0), float)
    return (
        inside + along * config.pre_place_align + offset * config.pre_place_offset,
        inside + along * config.place_align + offset * config.place_offset,
    )

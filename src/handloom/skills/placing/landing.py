"""Place and orientation at which a held object is put down, and how far it can be lowered there."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.errors import ConfigError
from handloom.judging.relations import relation_terms, stood
from handloom.scene import Scene
from handloom.skills.arms.orientations import Alignment
from handloom.skills.configs.places import PlaceConfig
from handloom.skills.placing.spots import way_of_point
from handloom.skills.skill import between
from handloom.spatial import matrix_from_rotvec
from handloom.values import Check

BESIDE = (0.03, 0.06)
"""Minimum and maximum gap between an object and its neighbour if put beside it [m]."""
STOOD_UP = float(np.deg2rad(3.0))
"""Largest deviation from upright at the release of an object that was lying before [rad]."""
LYING = float(np.cos(np.deg2rad(30.0)))
"""Cosine of the tilt above which an object that must stand is stood up."""
HALF = 0.5
"""Success mode ``inside``: fraction of the object if the config gives none."""
XY_MARGIN = 0.015
"""Success mode ``xybbox``: how far inside the target's edge [m]; published value."""
HEADED = float(np.deg2rad(10.0))
"""Largest deviation of a planned place from the requested heading [rad]; checked to within 15 degrees."""
POINTS_DOWN = float(np.deg2rad(45.0))
"""Largest final deviation from straight down of a point that goes down [rad]: pens lean in their cup."""
MEANS = {"inside": "in", "resting": "on", "beside": "beside"}
"""Our success modes > the corresponding relation."""
CUP_RISE = 0.05
"""Success mode ``cup``: how far above the bottom of the target [m]; published value."""


class HeldSize(NamedTuple):
    """Extent of the held object around its origin, in its held orientation."""

    rise: float | Array
    """Height of the origin above the lowest point [m]; (n,) if it differs between places."""
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
    spot: Array | None = None,
) -> tuple[Array, Array]:
    """Return pre-place points (n, 3) and place points (n, 3) in the world [m].

    Args:
        config: Ratios, offsets and directions.
        box: World box of the target (2, 3) [m].
        R_world_target: Orientation of the target (3, 3).
        count: Number of points.
        rng: Random generator for this choice.
        hand_to_object: Distance from the hand to the held object [m], which horizontal placing by the gripper adds.
        held: The held object.
        spot: Targets of the object's origin, seen from above (n, 2) [m], in place of the ratios.
    """
    ranges = np.array([config.x_ratio_range, config.y_ratio_range, config.z_ratio_range], float)
    ratios = between(rng, ranges[:, 0], ranges[:, 1], (count, 3))
    inside = box[0] + ratios * (box[1] - box[0])
    if spot is not None:
        inside[:, :2] = spot
    if config.beside is not None:
        away = held.half_width + between(rng, BESIDE[0], BESIDE[1], (count,))
        inside[:, 0] = box[1, 0] + away if config.beside == "right" else box[0, 0] - away
    if config.place_direction == "vertical":
        level = box[0, 2] if config.rest_on == "support" else box[1, 2]
        level += held.rise if config.rest_on is not None else 0.0
        return _at_height(inside, level + config.pre_place_z_offset), _at_height(inside, level + config.place_z_offset)
    return _beside(config, inside, R_world_target, hand_to_object)


def _at_height(points: Array, z: float | Array) -> Array:
    raised = points.copy()
    raised[:, 2] = z
    return raised


def _beside(config: PlaceConfig, inside: Array, R_world_target: Array, hand_to_object: float) -> tuple[Array, Array]:
    if config.align_place_obj_axis is None:
        raise ConfigError(
            "place: place_direction horizontal needs align_place_obj_axis, the direction of insertion in target axes"
        )
    along = R_world_target @ np.asarray(config.align_place_obj_axis, float)
    if config.position_constraint == "gripper":
        pre, place = (z + hand_to_object for z in (config.pre_place_z_offset, config.place_z_offset))
        return inside - along * pre, inside - along * place
    offset = R_world_target @ np.asarray(config.offset_place_obj_axis or (0.0, 0.0, 0.0), float)
    return (
        inside + along * config.pre_place_align + offset * config.pre_place_offset,
        inside + along * config.place_align + offset * config.place_offset,
    )


def asked_alignment(
    config: PlaceConfig,
    up: Array,
    R_tool_object: Array,
    R_base_target: Array,
    R_start: Array,
    *,
    stands: Array | None = None,
) -> Alignment | None:
    """Return the orientation of the placed object that the config requires; None if any will do.

    Args:
        config: Axes and tolerances.
        up: The world's up in the arm base (3,).
        R_tool_object: Orientation of the object in the hand (3, 3).
        R_base_target: Orientation of the target (3, 3).
        R_start: Initial orientation of the hand (3, 3).
        stands: Axis of an object that must be stood up, in the hand (3,); None: it keeps its orientation.
    """
    tolerance = float(np.deg2rad(config.align_obj_tol or 0.0))
    if config.level_obj_axis is not None:
        level = R_tool_object @ unit(config.level_obj_axis)
        return Alignment(axis_tool=level, axis_base=up, tolerance=tolerance, across=True)
    if stands is not None:
        return Alignment(axis_tool=stands, axis_base=up, tolerance=STOOD_UP)
    if config.keep_upright is not None:
        upright = float(np.deg2rad(config.keep_upright))
        return Alignment(axis_tool=R_start.T @ up, axis_base=up, tolerance=upright)
    if config.align_pick_obj_axis is None or config.align_place_obj_axis is None or config.align_obj_tol is None:
        return None
    held, wanted = R_tool_object @ unit(config.align_pick_obj_axis), R_base_target @ unit(config.align_place_obj_axis)
    return Alignment(axis_tool=held, axis_base=wanted, tolerance=tolerance)


def must_stand(scene: Scene, config: PlaceConfig) -> bool | float:
    """Return whether the object of a place must end upright, or its largest tilt [deg].

    If the task does not say, objects that stand on a foot must, unless they are inserted with a point down or lean. A
    place without a relation in words asks it only of those that stood at the start.

    Args:
        scene: The scene.
        config: The place.
    """
    if config.upright is not None:
        return config.upright
    if config.point_down is not None or config.lean:
        return False
    name = config.objects[0]
    return scene.assets[name].stands and (config.relation is not None or stood(scene, name))


def stood_up(needed: bool | float, axis_up: Array, up: Array, R_tool_object: Array, R_start: Array) -> Array | None:
    """Return the axis, in the hand (3,), of a lying object that must stand; None if it need not be stood up.

    Args:
        needed: Whether it must stand, or its largest tilt [deg].
        axis_up: Up of the object in its own frame (3,).
        up: The world's up in the arm base (3,).
        R_tool_object: Orientation of the object in the hand (3, 3).
        R_start: Initial orientation of the hand (3, 3).
    """
    if needed is False:
        return None
    axis_tool = R_tool_object @ axis_up
    return axis_tool if float((R_start @ axis_tool) @ up) < LYING else None


def leaning(axis_up: Array, along: Array, normal: Array) -> Array:
    """Return the two orientations of an object in the world (2, 3, 3) in which it leans against a slope.

    Args:
        axis_up: Up of the object in its own frame (3,).
        along: Its long side (3,), which goes up the slope or down.
        normal: Unit normal of the slope (3,), in the world.
    """
    rise = np.array([0.0, 0.0, 1.0]) - normal[2] * normal
    rise /= max(float(np.linalg.norm(rise)), 1e-9)
    own = np.stack([along, axis_up, np.asarray(np.cross(along, axis_up), float)], axis=1)
    ways = np.stack([rise, -rise])
    slopes = np.stack([ways, np.tile(normal, (2, 1)), np.asarray(np.cross(ways, normal), float)], axis=2)
    return slopes @ own.T


def headed(R_base_tool: Array, axis_tool: Array, R_world_base: Array, facing: float) -> Array:
    """Return orientations of the hand (n, 3, 3), each turned about the vertical so that the object has a heading.

    Args:
        R_base_tool: Orientations of the hand (n, 3, 3).
        axis_tool: Facing axis, in the hand (3,): the front of the object, or its x axis.
        R_world_base: Orientation of the arm's base (3, 3).
        facing: Heading of that axis in the world [rad].
    """
    x = (R_world_base @ R_base_tool @ axis_tool)[..., :2]
    turn = facing - np.arctan2(x[..., 1], x[..., 0])
    spin = matrix_from_rotvec(turn[..., None] * np.array([0.0, 0.0, 1.0]))
    return R_world_base.T @ spin @ R_world_base @ R_base_tool


def turned_by(R_base_tool: Array, R_tool_object: Array, R_world_base: Array, turn: float, *, own: Array) -> Array:
    """Return orientations of the hand (n, 3, 3), turned about the vertical to an object's heading plus an angle.

    Every second one is turned by half a turn more, which takes the same room.

    Args:
        R_base_tool: Orientations of the hand (n, 3, 3).
        R_tool_object: Orientation of the object in the hand (3, 3).
        R_world_base: Orientation of the arm's base (3, 3).
        turn: The angle [rad].
        own: Orientation of the hand at which the object has its own heading (3, 3).
    """
    now = R_world_base @ own @ R_tool_object
    axis = int(np.argmax(np.linalg.norm(now[:2], axis=0)))
    heading = float(np.arctan2(now[1, axis], now[0, axis])) + turn
    ways = [headed(R_base_tool, R_tool_object[:, axis], R_world_base, heading + half) for half in (0.0, np.pi)]
    return np.where((np.arange(len(R_base_tool)) % 2 == 0)[:, None, None], *ways)


def keeps_heading(R_base_tool: Array, axis_tool: Array, R_world_base: Array, facing: float) -> NDArray[np.bool_]:
    """Return in which orientations of the hand (n, 3, 3) the object has a heading [rad], nearly."""
    x = (R_world_base @ R_base_tool @ axis_tool)[..., :2]
    off = np.arctan2(x[..., 1], x[..., 0]) - facing
    return np.abs((off + np.pi) % (2.0 * np.pi) - np.pi) < HEADED


def unit(vector: Sequence[float] | Array) -> Array:
    """Return a vector (3,) of length one."""
    v = np.asarray(vector, float)
    return v / np.linalg.norm(v)


def outcome_checks(config: PlaceConfig, side: dict[str, Any], *, below: float, near: float) -> tuple[Check, ...]:
    """Return the terms of a success mode on the object's final place, and on a target held by another hand.

    Args:
        config: Success mode and thresholds.
        side: Robot, arm and object of the place.
        below: Mode ``height``: largest height of the object, in the base of the arm [m].
        near: Mode ``beside``: largest distance between the origins, seen from above [m].
    """
    held, target = config.objects[:2]
    pair = {"object": held, "target": target, "part": config.place_part_prim_path}
    overlap = Check(name="overlapping", arguments={**pair, "above": config.success_th})
    over = Check(name="over_box", arguments={**pair, "margin": 0.0})
    modes = {
        "relation": (),
        "3diou": (overlap,),
        "xybbox": (Check(name="over_box", arguments={**pair, "margin": XY_MARGIN}),),
        "height": (Check(name="lower_than", arguments={**side, "height": below}),),
        "left": (Check(name="left_of", arguments={**pair, "distance": config.threshold}),),
        "right": (Check(name="right_of", arguments={**pair, "distance": config.threshold}),),
        "flower": (over, overlap),
        "cup": (Check(name="raised_above", arguments={**pair, "by": CUP_RISE}), overlap),
        "resting": (
            over,
            Check(name="touches", arguments={"object": held, "target": target, "through": True}),
            Check(name="released", arguments=side),
        ),
        "inside": (
            Check(name="inside", arguments={**pair, "share": config.success_th or HALF}),
            Check(name="released", arguments=side),
        ),
        "beside": (
            Check(name=f"{config.beside}_of", arguments={**pair, "distance": 0.0}),
            Check(name="near", arguments={"object": held, "target": target, "distance": near, "flat": True}),
            Check(name="lying_still", arguments={"objects": [held]}),
            Check(name="released", arguments=side),
        ),
    }
    in_a_hand = (Check(name="held_up", arguments={"object": target}, share=1.0),) if config.target_held else ()
    return (*modes[config.success_mode], *in_a_hand)


def relation_checks(scene: Scene, config: PlaceConfig) -> tuple[Check, ...]:
    """Return the terms of a place in words: in, on, stacked on or beside, and upright if it must stand."""
    down: tuple[Check, ...] = ()
    if config.point_down is not None:
        axis = -way_of_point(scene, config.objects[0], config.point_down)
        about = {"object": config.objects[0], "axis": axis.tolist(), "angle": POINTS_DOWN}
        down = (Check(name="points_up", arguments=about),)
    terms = relation_terms(
        scene,
        *(config.objects[0], config.relation or MEANS.get(config.success_mode, "on"), config.objects[1]),
        part=config.place_part_prim_path,
        side=config.beside,
        upright=must_stand(scene, config),
        gap=config.gap,
        lean=config.lean,
        point=config.point_down,
    )
    return (*terms, *down)


def attitude_checks(config: PlaceConfig) -> tuple[Check, ...]:
    """Return the terms on the final orientation of an object."""
    name, terms = config.objects[0], []
    if config.success_tilt is not None:
        terms.append(Check(name="level", arguments={"object": name, "angle": float(np.deg2rad(config.success_tilt))}))
    if config.success_upright is not None:
        up = {"object": name, "axis": [0.0, 0.0, 1.0], "angle": float(np.deg2rad(config.success_upright))}
        terms.append(Check(name="points_up", arguments=up))
    return tuple(terms)

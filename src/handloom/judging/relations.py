"""Success terms of spatial relations: in, on, stacked on, beside, left of, facing left."""

import numpy as np

from handloom.judging.depth_inside import inserted
from handloom.judging.leaning import leans_on
from handloom.judging.point_terms import apart_along
from handloom.scene import Scene
from handloom.scene.named_points import LEAN, SIDES, front_axis, heading, long_axis, way_to
from handloom.spatial import matrix_from_quat
from handloom.values import Check

UPRIGHT = 15.0
"""Largest tilt of an upright object [deg]."""
LEANING = 25.0
"""The same in a container, in which objects lean on walls and floor [deg]."""
BESIDE_WITHIN = 0.1
"""Largest gap between objects that count as beside each other [m]."""
GAP_SLACK = 0.005
"""Tolerance on the gap that a task names [m]."""
HEADING = float(np.deg2rad(15.0))
"""Tolerance of an object's heading [rad]."""


def relation_terms(
    scene: Scene,
    name: str,
    relation: str,
    target: str,
    *,
    part: str | None = None,
    side: str | None = None,
    within: float = BESIDE_WITHIN,
    upright: bool | float | None = None,
    gap: tuple[float, float] | None = None,
    lean: bool = False,
    point: str | None = None,
) -> tuple[Check, ...]:
    """Return the terms of a relation: the position of the object, upright if it stands on a foot, and released.

    Args:
        scene: The scene.
        name: The thing.
        relation: ``in``, ``on``, ``stack_on``, ``beside``, or ``left_of``, ``right_of``, ``in_front_of``, ``behind`` as
            the robot sees it.
        target: The object in, on or beside which it is.
        part: Body of the target that holds or carries it; absent, any.
        side: For ``beside``: left or right; absent, any.
        within: For ``beside``: largest gap [m].
        upright: False allows it to lie; True or an angle [deg] requires it of any object, None of objects that stand,
            such as mugs and bottles, however they were at the start.
        gap: For ``left_of`` and the like: minimum and maximum gap [m]; None allows any up to ``within``.
        lean: For ``on``: whether it leans on the target's slope.
        point: For ``in``: named point of the object that goes in first, by which it is then judged.
    """
    pair = {"object": name, "target": target, "part": part}
    if relation == "beside":
        where = Check(name="next_to", arguments={"object": name, "target": target, "within": within, "side": side})
    elif relation in SIDES:
        low, high = (0.0, within) if gap is None else (min(gap) - GAP_SLACK, max(gap) + GAP_SLACK)
        apart = {"way": way_to(scene, relation).tolist(), "low": low, "high": high}
        where = Check(name=apart_along.__name__, arguments={"object": name, "target": target, **apart})
    elif relation == "in" and point is not None:
        where = Check(name=inserted.__name__, arguments={**pair, "point": point})
    else:
        where = Check(name="in_cavity" if relation == "in" else "carried_by", arguments=pair)
    usual = LEANING if relation == "in" else UPRIGHT
    needed = scene.assets[name].stands if upright is None else upright
    standing = upright_terms(scene, name, needed, usual=usual) if needed else ()
    if lean:
        standing = (_leaning(scene, name, target),)
    return (where, *standing, Check(name="let_go", arguments={"object": name}))


def _leaning(scene: Scene, name: str, target: str) -> Check:
    """Return the term that an object leans on a target."""
    asset = scene.assets[name]
    axes = {"axis": list(asset.up), "along": long_axis(asset).tolist(), "target_axis": LEAN}
    arguments = {"object": name, "target": target, **axes, "angle": HEADING}
    return Check(name=leans_on.__name__, arguments=arguments)


def upright_terms(scene: Scene, name: str, angle: float | bool | None, *, usual: float = UPRIGHT) -> tuple[Check, ...]:
    """Return the term that an object stands upright.

    Args:
        scene: The scene.
        name: The object.
        angle: Largest tilt [deg], or True for the usual one; None applies only to upright objects that stood at the
            start.
        usual: Largest tilt if no other one is given [deg].
    """
    asset = scene.assets[name]
    if angle is None and not (asset.stands and stood(scene, name)):
        return ()
    limit = usual if angle is None or angle is True else float(angle)
    up = {"object": name, "axis": list(asset.up), "angle": float(np.deg2rad(limit))}
    return (Check(name="points_up", arguments=up),)


def stood(scene: Scene, name: str) -> bool:
    """Return whether an object was upright at the start."""
    obj = next(obj for obj in scene.instance.objects if obj.name == name)
    up = matrix_from_quat(np.array(obj.quat))[2] @ np.asarray(scene.assets[name].up, float)
    return bool(float(up) >= np.cos(np.deg2rad(UPRIGHT)))


def facing_terms(scene: Scene, name: str, facing: float | str | None) -> tuple[Check, ...]:
    """Return the term for the direction an object faces; empty if the task names none.

    Args:
        scene: The scene.
        name: The object; its ``front`` faces, or its x axis if it has no front.
        facing: ``left``, ``right``, ``away`` or ``toward`` as the robot sees it, or degrees: 0 right, 90 away.
    """
    if facing is None:
        return ()
    axis = front_axis(scene.assets[name]).tolist()
    turned = {"object": name, "yaw": heading(scene, facing), "angle": HEADING, "axis": axis}
    return (Check(name="headed", arguments=turned),)

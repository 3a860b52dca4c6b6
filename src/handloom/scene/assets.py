"""From an object instance to the asset it is made of, and to the points that bound it."""

from collections.abc import Mapping
from functools import lru_cache
from json import dumps, loads

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.errors import unknown_name
from handloom.objects import ObjectAsset, make_object
from handloom.objects.geometry import convex_hull, geom_ids, vertices_of
from handloom.scene.fixtures import FIXTURES, fixture_asset
from handloom.scene.markers import AXIS_TRIAD, marker_asset
from handloom.values import ObjectInstance

Array = NDArray[np.float64]

FEW_POINTS = 64
"""Up to so many points are used as they are; of more, only the corners of their hull."""


def asset_of(thing: ObjectInstance) -> ObjectAsset:
    """Return the asset of an instance; equal instances share one, since assets are frozen and slow to compile."""
    return _cached(thing.category, dumps(thing.parameters, sort_keys=True))


def outline_of(thing: ObjectInstance, part: str | None = None) -> Array:
    """Return points (n, 3) [m] in the object frame whose extremes bound the solid parts, joints at their start.

    Args:
        thing: The object.
        part: A body, geom or keypoint of it, by name or by a path that ends with the name; None takes the whole.

    Raises:
        NotFoundError: It has no such part; the text lists what there is.
    """
    return _outline(
        thing.category, dumps(thing.parameters, sort_keys=True), dumps(thing.joints, sort_keys=True), thing.solid, part
    )


@lru_cache(maxsize=256)
def _cached(category: str, parameters: str) -> ObjectAsset:
    values = loads(parameters)
    if category == AXIS_TRIAD:
        return marker_asset(values)
    return fixture_asset(category, values) if category in FIXTURES else make_object(category, parameters=values)


@lru_cache(maxsize=512)
def _outline(category: str, parameters: str, joints: str, solid: bool, part: str | None) -> Array:
    asset = _cached(category, parameters)
    model = asset.model
    data = _posed(model, loads(joints))
    geoms = geom_ids(model, solid=solid) or geom_ids(model, solid=False)
    if part is not None:
        name = part.strip("/").rpartition("/")[2]
        if name in asset.keypoints:
            return _keypoint(asset, data, name)
        geoms = _geoms_of(asset, geoms, name)
    points = np.concatenate([vertices_of(model, data, g) for g in geoms])
    points = points if len(points) <= FEW_POINTS else convex_hull(points)[0]
    points.setflags(write=False)
    return points


def _posed(model: mujoco.MjModel, joints: Mapping[str, float]) -> mujoco.MjData:
    data = mujoco.MjData(model)
    for name, value in joints.items():
        data.qpos[model.jnt_qposadr[model.joint(name).id]] = value
    mujoco.mj_kinematics(model, data)
    return data


def _keypoint(asset: ObjectAsset, data: mujoco.MjData, name: str) -> Array:
    point = asset.keypoints[name]
    body = asset.model.body(point.body).id
    return (data.xmat[body].reshape(3, 3) @ np.asarray(point.position) + data.xpos[body])[None]


def _geoms_of(asset: ObjectAsset, geoms: list[int], name: str) -> list[int]:
    """Return the geoms of a body and of what it carries, or the one geom of that name."""
    model = asset.model
    bodies = {model.body(b).name: b for b in range(1, model.nbody)}
    if name in bodies:
        carried = _with_children(model, bodies[name])
        found = [g for g in geoms if int(model.geom_bodyid[g]) in carried]
    else:
        found = [g for g in geoms if model.geom(g).name == name]
    if not found:
        raise unknown_name(f"part of {asset.name}", name, [*bodies, *asset.keypoints])
    return found


def _with_children(model: mujoco.MjModel, body: int) -> set[int]:
    carried = {body}
    for child in range(body + 1, model.nbody):  # A body's number is above its parent's.
        if int(model.body_parentid[child]) in carried:
            carried.add(child)
    return carried

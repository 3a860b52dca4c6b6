"""Assets of object instances, and the points that bound them."""

from collections import OrderedDict
from collections.abc import Mapping
from functools import lru_cache
from json import dumps, loads
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from handloom.arrays import Array
from handloom.errors import unknown_name
from handloom.objects import ObjectAsset, make_object
from handloom.objects.geometry import geom_ids, vertices_of
from handloom.robots import RobotDescription, load_robot, robot_names
from handloom.scene.fixtures import FIXTURES, fixture_asset, plain_parameters
from handloom.scene.markers import AXIS_TRIAD, marker_asset
from handloom.values import ObjectInstance

_KEPT = 512
"""Number of cached assets; a library model takes 5 to 120 kilobytes, 30 on average."""
_assets: OrderedDict[tuple[str, str], ObjectAsset] = OrderedDict()


def asset_of(obj: ObjectInstance) -> ObjectAsset:
    """Return the asset of an instance; equal instances share one, since assets are frozen and slow to compile."""
    return _asset(obj.category, dumps(obj.parameters, sort_keys=True))


def remember(asset: ObjectAsset) -> ObjectAsset:
    """Cache a new asset, so that its instances need not build it again; return the cached one."""
    key = (asset.category, dumps(dict(asset.parameters), sort_keys=True))
    _assets.setdefault(key, asset)
    _assets.move_to_end(key)
    while len(_assets) > _KEPT:
        _assets.popitem(last=False)
    return _assets[key]


def outline_of(obj: ObjectInstance, part: str | None = None) -> Array:
    """Return points (n, 3) [m] in the object frame whose extremes bound the solid parts, joints at their start.

    Args:
        obj: The object.
        part: A body, geom or keypoint of it, by name or by a path that ends with the name; None takes the whole.

    Raises:
        NotFoundError: It has no such part; the message lists the existing ones.
    """
    # Without texture: a fixture that is compiled for its outline would keep almost a megabyte each.
    plain = plain_parameters(obj.category, obj.parameters)
    return _outline(obj.category, dumps(plain, sort_keys=True), dumps(obj.joints, sort_keys=True), obj.solid, part)


def _asset(category: str, parameters: str) -> ObjectAsset:
    key = (category, parameters)
    if key not in _assets:
        _assets[key] = _made(category, loads(parameters))
        return remember(_assets[key])
    return _assets[key]


def _made(category: str, parameters: dict[str, Any]) -> ObjectAsset:
    if category == AXIS_TRIAD:
        return marker_asset(parameters)
    if category in FIXTURES:
        return fixture_asset(category, parameters)
    return make_object(category, parameters=parameters)


@lru_cache(maxsize=_KEPT)
def _outline(category: str, parameters: str, joints: str, solid: bool, part: str | None) -> Array:
    asset = _asset(category, parameters)
    model = asset.model
    data = posed(model, loads(joints))
    geoms = geom_ids(model, solid=solid) or geom_ids(model, solid=False)
    if part is not None:
        name = part.strip("/").rpartition("/")[2]
        if name in asset.keypoints:
            return _keypoint(asset, data, name)
        geoms = _geoms_of(asset, geoms, name)
    points = np.concatenate([vertices_of(model, data, g) for g in geoms])
    points.setflags(write=False)
    return points


def posed(model: mujoco.MjModel, joints: Mapping[str, float]) -> mujoco.MjData:
    """Return the kinematics of an object's model with joints at positions [m or rad], the others at zero."""
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
    """Return the geoms of a body and of the bodies below it, or the one geom of that name."""
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
    for child in range(body + 1, model.nbody):  # A body's index is larger than its parent's.
        if int(model.body_parentid[child]) in carried:
            carried.add(child)
    return carried


def robot_description(source: str, overrides: Mapping[str, Any]) -> RobotDescription:
    """Return a robot of the zoo or of a file, cached as long as its files do not change.

    Args:
        source: Robot of the zoo, or the path of a robot folder or file.
        overrides: Keys of ``robot.yaml`` that are replaced.
    """
    stamp = () if source in robot_names() else _stamp(Path(source))
    return _read(source, dumps(dict(overrides), sort_keys=True), stamp)


@lru_cache(maxsize=64)
def _read(source: str, overrides: str, _stamp: tuple[int, ...]) -> RobotDescription:
    return load_robot(source, overrides=loads(overrides))


def _stamp(path: Path) -> tuple[int, ...]:
    files = sorted(path.glob("*.*ml")) if path.is_dir() else [path, *sorted(path.parent.glob("*.xml"))]
    return tuple(file.stat().st_mtime_ns for file in files if file.is_file())

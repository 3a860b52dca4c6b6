"""Images of objects on a plain floor: one, or a sheet of variants."""

import math
from collections.abc import Sequence

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.objects.object_asset import ObjectAsset
from handloom.objects.registry import make_object
from handloom.render import Renderer, contact_sheet
from handloom.seeding import generator
from handloom.spatial import matrix_from_quat
from handloom.values import CameraSpec

Picture = NDArray[np.uint8]

KEYPOINT_COLORS = {
    "head": (0.9, 0.1, 0.1, 1.0),
    "tail": (0.95, 0.8, 0.1, 1.0),
    "push": (0.1, 0.3, 0.9, 1.0),
    "joint": (0.1, 0.7, 0.2, 1.0),
    "contact": (0.9, 0.5, 0.1, 1.0),
    "normal": (0.6, 0.1, 0.7, 1.0),
}
"""Balls: head, which a hand grasps, tail, and push point for closing. Rods: the joint's axis, the direction along the
gripped part, and the direction towards the hand."""

# From the front right, a little above: shows the front of cabinets and the inside of cups.
_AZIMUTH_DEG, _ELEVATION_DEG, _FIELD_OF_VIEW_DEG = -58.0, 30.0, 28.0
# Key light, fill light: positions in units of the object's radius, and strengths.
_LIGHTS = (((-1.8, -3.0, 5.0), 0.62), ((4.0, -1.5, 3.0), 0.20))


def portrait(obj: ObjectAsset, *, size: int = 320, opened: float = 0.0, joints: bool = False) -> Picture:
    """Draw an object in its first stable pose.

    Args:
        obj: The object.
        size: Width and height of the image [px].
        opened: Joint positions within their range, 0 (closed) to 1.
        joints: Whether to also draw the keypoints and axes of every joint; see ``KEYPOINT_COLORS``.

    Returns:
        Image (size, size, 3) uint8.
    """
    quat = obj.stable_quats[0] if len(obj.stable_quats) else np.array([1.0, 0.0, 0.0, 0.0])
    corners = _corners(obj, quat, opened)
    low, high = corners.min(axis=0), corners.max(axis=0)
    centre, radius = (low + high) / 2, float(np.linalg.norm(high - low)) / 2
    model = _studio(obj, quat, low[2], centre, radius, joints=joints)
    data = mujoco.MjData(model)
    for joint in range(model.njnt):
        first, last = model.jnt_range[joint]
        data.qpos[model.jnt_qposadr[joint]] = first + opened * (last - first)
    mujoco.mj_forward(model, data)
    camera = _camera(centre, radius, size)
    return (
        Renderer(model, preset="quality", looks=[look.under("object/") for look in obj.looks])
        .render(data, [camera])[camera.name]["rgb"]
        .astype(np.uint8)
    )


def variants_sheet(
    category: str, *, count: int = 12, seed: int = 0, size: int = 240, columns: int | None = None, joints: bool = False
) -> Picture:
    """Draw variants of one category; articulated ones closed in the upper half of the sheet, open in the lower."""
    objs = [make_object(category, rng=generator(seed, k, category)) for k in range(count)]
    opened = [0.55 if obj.articulated and 2 * k >= count else 0.0 for k, obj in enumerate(objs)]
    labels = [f"{obj.name}  {_weight(obj.mass)}" for obj in objs]
    pictures = [portrait(obj, size=size, opened=o, joints=joints) for obj, o in zip(objs, opened, strict=True)]
    return contact_sheet(pictures, labels, columns=columns)


def overview_sheet(categories: Sequence[str], *, seed: int = 0, size: int = 110, columns: int = 12) -> Picture:
    """Draw one object of each category, each in its own colour."""
    objs = [make_object(category, rng=generator(seed, k, category)) for k, category in enumerate(categories)]
    pictures = [portrait(obj, size=size, opened=0.35 if obj.articulated else 0.0) for obj in objs]
    return contact_sheet(pictures, [category.replace("_", " ") for category in categories], columns=columns)


def assets_sheet(assets: Sequence[ObjectAsset], *, size: int = 240, columns: int | None = None) -> Picture:
    """Draw some objects with their names and longest sides."""
    labels = [f"{asset.name}  {1000 * asset.extent.max():.0f} mm" for asset in assets]
    pictures = [portrait(asset, size=size, opened=0.4 if asset.articulated else 0.0) for asset in assets]
    return contact_sheet(pictures, labels, columns=columns)


def _weight(mass: float) -> str:
    return f"{1000 * mass:.0f} g" if mass < 1.0 else f"{mass:.1f} kg"


def _corners(obj: ObjectAsset, quat: Array, opened: float) -> Array:
    """Return the corners (n, 3) of all geoms' boxes with the joints opened, turned by the resting orientation."""
    model = obj.model
    data = mujoco.MjData(model)
    for joint in range(model.njnt):
        first, last = model.jnt_range[joint]
        data.qpos[model.jnt_qposadr[joint]] = first + opened * (last - first)
    mujoco.mj_kinematics(model, data)
    signs = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1).T
    corners = [
        (model.geom_aabb[g, :3] + signs * model.geom_aabb[g, 3:]) @ data.geom_xmat[g].reshape(3, 3).T
        + data.geom_xpos[g]
        for g in range(model.ngeom)
    ]
    return np.concatenate(corners) @ matrix_from_quat(quat).T


def _studio(
    obj: ObjectAsset, quat: Array, floor: float, centre: Array, radius: float, *, joints: bool = False
) -> mujoco.MjModel:
    """Put the object on a floor at height ``floor``, under a key light and a fill light."""
    spec = mujoco.MjSpec()
    spec.visual.headlight.ambient = [0.42, 0.42, 0.42]
    spec.visual.headlight.diffuse = [0.16, 0.16, 0.16]
    spec.worldbody.add_geom(
        type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0.0, 0.0, 1.0], pos=[0.0, 0.0, floor], rgba=[0.80, 0.80, 0.78, 1.0]
    )
    for offset, power in _LIGHTS:
        light = spec.worldbody.add_light(pos=centre + radius * np.array(offset), dir=-np.array(offset))
        light.type = mujoco.mjtLightType.mjLIGHT_SPOT
        light.cutoff = 60
        light.diffuse = [power] * 3
        light.bulbradius = 0.25 * radius
    drawn = obj.spec()
    if joints:
        _mark_joints(drawn, obj, 0.012 * radius)
    spec.attach(drawn, prefix="object/", frame=spec.worldbody.add_frame(quat=quat))
    return spec.compile()


def _mark_joints(spec: mujoco.MjSpec, obj: ObjectAsset, thick: float) -> None:
    """Add balls at the keypoints of every joint and rods along its axes, ``thick`` metres in radius."""
    for link in obj.joints:
        body, head = spec.body(link.name), np.asarray(link.head)
        marks = {"head": link.head, "tail": link.tail, "push": link.push or link.head}
        for name, position in marks.items():
            body.add_geom(
                type=mujoco.mjtGeom.mjGEOM_SPHERE,
                size=[1.6 * thick, 0.0, 0.0],
                pos=position,
                rgba=KEYPOINT_COLORS[name],
                contype=0,
                conaffinity=0,
                mass=0.0,
                group=2,
            )
        lines = {
            "joint": (link.anchor, link.axis),
            "contact": (head, link.contact_axis),
            "normal": (head, link.held_from),
        }
        for name, (start, direction) in lines.items():
            body.add_geom(
                type=mujoco.mjtGeom.mjGEOM_CAPSULE,
                size=[0.6 * thick, 0.0, 0.0],
                fromto=[*start, *(np.asarray(start) + 12.0 * thick * np.asarray(direction))],
                rgba=KEYPOINT_COLORS[name],
                contype=0,
                conaffinity=0,
                mass=0.0,
                group=2,
            )


def _camera(centre: Array, radius: float, size: int) -> CameraSpec:
    azimuth, elevation = math.radians(_AZIMUTH_DEG), math.radians(_ELEVATION_DEG)
    outward = np.array(
        [math.cos(elevation) * math.cos(azimuth), math.cos(elevation) * math.sin(azimuth), math.sin(elevation)]
    )
    half_angle = math.radians(_FIELD_OF_VIEW_DEG) / 2
    eye = centre + outward * radius / math.sin(half_angle)
    focal = size / 2 / math.tan(half_angle)
    return CameraSpec.looking_at("portrait", centre, eye=eye, width=size, height=size, focal=focal)

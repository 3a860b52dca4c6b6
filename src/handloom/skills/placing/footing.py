"""Where an object stands when it is put down: not on the rim of a tray, and not half on something that lies there.

Seen from above, an object rests on the highest points of what is below its foot. It stays there if its centre of mass
is between them, and tips over if all of them are on one side.
"""

from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.scene import Scene
from handloom.scene.measures import geom_box, geom_points
from handloom.skills.placing.descent import solid_geoms
from handloom.spatial import matrix_from_rotvec

SPACING = 0.004
"""Distance of the points at which heights are measured [m]."""
LEVEL = 0.003
"""Points that are lower than the highest one by less than this carry the object, too [m]."""
FOOT = 0.005
"""Height of the lowest part of an object, with which it stands [m]."""
NEARBY = 0.5 * SPACING * 2.0**0.5
"""A supporting point that is this near to the centre of mass carries it alone [m]."""
ABOUT = np.array([[0.0, 0.0], [0.005, 0.0], [-0.005, 0.0], [0.0, 0.005], [0.0, -0.005]])
"""The place and those around it where an object must stand, too: arms are not exact [m]."""
MOST = 0.025
"""How far an object is put from the spot that a task names, which is judged to 3 cm [m]."""
STEP = 0.005
"""Distance of the places that are tried there [m]."""
SETTLES = float(np.cos(np.deg2rad(25.0)))
"""Cosine of the tilt up to which an object that is put down settles on its whole foot."""
ROUND = np.arange(16) * (np.pi / 8.0)
ROUND_WAYS = np.stack([np.cos(ROUND), np.sin(ROUND)], axis=1)
"""Directions (16, 2) in which the outline of a foot is measured."""


class HeightGrid(NamedTuple):
    """Heights of what is below, on a grid."""

    points: Array
    """Points seen from above (n, 2) [m]."""
    heights: Array
    """Height of the highest solid at each (n,) [m]; -inf for nothing."""


class Foot(NamedTuple):
    """The lowest part of an object in one orientation, relative to its centre of mass, seen from above."""

    outline: Array
    """How far it reaches along ``ROUND_WAYS`` (16,) [m]."""
    middle: Array
    """Centre of mass relative to the object's origin (2,) [m]."""


def steady_shifts(scene: Scene, name: str, T_world_object: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Return how far to shift poses (n, 4, 4) of an object so that it stands there (n, 2) [m], and if it does (n,).

    Args:
        scene: The scene; its state is preserved.
        name: The object.
        T_world_object: Where it is to be put down.
    """
    feet = [_foot(scene, name, T[:3, :3]) for T in T_world_object]
    middles = np.array([T[:2, 3] + foot.middle for T, foot in zip(T_world_object, feet, strict=True)])
    reach = max(float(foot.outline.max()) for foot in feet) + MOST + float(np.abs(ABOUT).max()) + SPACING
    ground = _ground(scene, name, middles.min(axis=0) - reach, middles.max(axis=0) + reach)
    ticks = np.arange(-MOST, MOST + 1e-9, STEP)
    grid = np.stack(np.meshgrid(ticks, ticks, indexing="ij"), axis=-1).reshape(-1, 2)
    far = np.linalg.norm(grid, axis=1)
    nearest_first = grid[np.argsort(far, kind="stable")][: int((far <= MOST + 1e-9).sum())]
    shifts, steady = np.zeros((len(feet), 2)), np.zeros(len(feet), bool)
    for k, (foot, middle) in enumerate(zip(feet, middles, strict=True)):
        for shift in nearest_first:
            if all(_stands(ground, foot, middle + shift + about) for about in ABOUT):
                shifts[k], steady[k] = shift, True
                break
    return shifts, steady


def _stands(ground: HeightGrid, foot: Foot, middle: Array) -> bool:
    """Return whether the points that carry a foot at a place surround the centre of mass above it."""
    away = ground.points - middle
    under = np.flatnonzero(np.all(away @ ROUND_WAYS.T <= foot.outline, axis=1))
    if len(under) == 0:  # A foot smaller than the grid, as of a ball.
        under = np.array([np.argmin(np.linalg.norm(away, axis=1))])
    heights = ground.heights[under]
    if not np.isfinite(heights.max()):
        return False
    carrying = away[under[heights > heights.max() - LEVEL]]
    if np.linalg.norm(carrying, axis=1).min() <= NEARBY:
        return True
    angles = np.sort(np.arctan2(carrying[:, 1], carrying[:, 0]))
    return bool(np.diff(angles, append=angles[0] + 2.0 * np.pi).max() < np.pi)


def foot_of(scene: Scene, name: str) -> tuple[Array, float]:
    """Return the middle of the foot on which an object usually stands, in its own frame (3,), and its radius [m]."""
    up, points = np.asarray(scene.assets[name].up, float), _points(scene, name)
    heights = points @ up
    lowest = points[heights <= heights.min() + FOOT]
    level = lowest - (lowest @ up)[:, None] * up
    middle = 0.5 * (level.max(axis=0) + level.min(axis=0))
    return middle + heights.min() * up, float(np.linalg.norm(level - middle, axis=1).max())


def _points(scene: Scene, name: str) -> Array:
    """Return points (n, 3) that bound the solid parts of an object, in its own frame [m]."""
    model, data, T = scene.world.model, scene.world.data, scene.object_pose(name)
    own, _ = solid_geoms(scene, name)
    parts = [geom_points(model, g) @ data.geom_xmat[g].reshape(3, 3).T + data.geom_xpos[g] for g in own]
    return (np.concatenate(parts) - T[:3, 3]) @ T[:3, :3]


def _foot(scene: Scene, name: str, R_world_object: Array) -> Foot:
    """Return the foot of an object in an orientation (3, 3)."""
    model, data, T = scene.world.model, scene.world.data, scene.object_pose(name)
    R_world_object = _settled(R_world_object, np.asarray(scene.assets[name].up, float))
    turned = _points(scene, name) @ R_world_object.T
    bodies = [scene.world.body_index(body) for body in scene.world.subtree(scene.body_of(name))]
    mass = model.body_mass[bodies]
    centre = (mass @ data.xipos[bodies] / mass.sum() - T[:3, 3]) @ T[:3, :3] @ R_world_object.T
    lowest = turned[turned[:, 2] <= turned[:, 2].min() + FOOT]
    return Foot(outline=((lowest - centre)[:, :2] @ ROUND_WAYS.T).max(axis=0), middle=centre[:2])


def _settled(R_world_object: Array, up: Array) -> Array:
    """Return an orientation (3, 3) with the object's up (3,) vertical, if it is nearly so."""
    axis = R_world_object @ up
    if axis[2] < SETTLES:
        return R_world_object
    across = np.cross(axis, [0.0, 0.0, 1.0])
    sine = float(np.linalg.norm(across))
    return R_world_object if sine < 1e-9 else matrix_from_rotvec(across / sine * np.arcsin(sine)) @ R_world_object


def _ground(scene: Scene, name: str, low: Array, high: Array) -> HeightGrid:
    """Return the heights of everything but robots and an object over a rectangle from ``low`` to ``high`` (2,) [m]."""
    model, data = scene.world.model, scene.world.data
    ticks = [np.arange(a, b + SPACING, SPACING) for a, b in zip(low, high, strict=True)]
    points = np.stack(np.meshgrid(*ticks, indexing="ij"), axis=-1).reshape(-1, 2)
    heights, down = np.full(len(points), -np.inf), np.array([0.0, 0.0, -1.0])
    _, others = solid_geoms(scene, name)
    for geom in others:
        box = geom_box(model, data, geom)
        below = np.flatnonzero(np.all((points >= box[0, :2]) & (points <= box[1, :2]), axis=1))
        kind, pose = int(model.geom_type[geom]), (data.geom_xpos[geom], data.geom_xmat[geom])
        for k in below[heights[below] < box[1, 2]]:
            start = np.array([*points[k], box[1, 2] + SPACING])
            if kind == mujoco.mjtGeom.mjGEOM_MESH:
                fall = mujoco.mj_rayMesh(model, data, geom, start, down)
            else:
                fall = mujoco.mju_rayGeom(*pose, model.geom_size[geom], start, down, kind)
            if fall >= 0.0:
                heights[k] = max(heights[k], start[2] - fall)
    return HeightGrid(points, heights)

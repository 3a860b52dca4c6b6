"""Fraction of an object above its support, seen from above.

A body tips over an edge when its centre of mass is beyond it. For a symmetric body, that is when less than half of it
is above the support. ``MOST_OVER`` requires a little more, so that a nudge of a twentieth of its length does not tip it
over.
"""

from collections.abc import Sequence
from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.scene import Scene
from handloom.scene.measures import geom_points, part_bodies

Geom = mujoco.mjtGeom
MOST_OVER = 0.55
"""Fraction of an object's volume that must be above its support."""
OF_BEST = 0.7
"""Fraction of the achievable maximum, if the object is too large for ``MOST_OVER``: a ruler on a cup."""
TURNED = tuple(
    np.array([[np.cos(yaw), -np.sin(yaw)], [np.sin(yaw), np.cos(yaw)]]) for yaw in np.arange(12) * (np.pi / 12.0)
)
"""Rotations (2, 2) about the vertical in which it could lie on the middle of its support."""
SAMPLES = 7
"""Sample points along each side of a geom's box."""
FILLED = 0.015
"""Gaps between the solids of a support that count as filled, from either side [m]: between the bars of a rack."""
FREE, GRID = 0.03, 24
"""Fraction of the outline of a support, measured on a grid of points, from which on gaps count."""
ROUND = 96
"""Directions in which an outline is measured."""


def lies_over(scene: Scene, name: str, target: str, part: str | None = None) -> bool:
    """Return whether less than half of an object overhangs the edge of its support.

    Args:
        scene: The scene.
        name: The object.
        target: The supporting object.
        part: Body of the target that carries it; absent, all of them.
    """
    return bool(overhang(scene, name, target, scene.object_pose(name)[None], part).most_over[0])


class Overhang(NamedTuple):
    """Position of objects above their intended supports."""

    most_over: NDArray[np.bool_]
    """Whether most of the object is above the target (n,)."""
    to_middle: Array
    """Horizontal vector from the middle of the object to the middle of the target, in the world (n, 3) [m]."""


def overhang(
    scene: Scene, name: str, target: str, T_world_object: Array, part: str | None = None, *, spare: float = 0.0
) -> Overhang:
    """Return the position of an object above a target at some poses.

    Args:
        scene: The scene.
        name: The object.
        target: The supporting object.
        T_world_object: Poses of the object (n, 4, 4).
        part: Body of the target that carries it; absent, all of them.
        spare: Extra fraction of it that must be above the target.
    """
    directions, reaches = _outlines(scene, part_bodies(scene, target, part))
    reach, gaps = reaches.max(axis=0), _has_gaps(directions, reaches)
    points, weights = _volume(scene, name)
    middle = np.array([reach[0] - reach[ROUND // 2], reach[ROUND // 4] - reach[3 * ROUND // 4]]) / 2.0
    over, ways = np.empty(len(T_world_object), bool), np.zeros((len(T_world_object), 3))

    def share(flat: Array) -> float:
        along = flat @ directions.T
        above = np.all(along <= reach, axis=1)
        if gaps:
            above &= np.any([np.all(along <= own + FILLED, axis=1) for own in reaches], axis=0)
        return float(weights[above].sum())

    for k, T in enumerate(T_world_object):
        flat = (points @ T[:3, :3].T + T[:3, 3])[:, :2]
        own = weights @ flat
        ways[k, :2] = middle - own
        over[k] = share(flat) >= MOST_OVER + spare
        if not over[k]:
            best = max(share((flat - own) @ turn.T + middle) for turn in TURNED)
            over[k] = share(flat) >= OF_BEST * best
    return Overhang(most_over=over, to_middle=ways)


def _solid_geoms(scene: Scene, bodies: Sequence[str]) -> list[int]:
    """Return the colliding geoms of some bodies, or all geoms if none collides."""
    model = scene.world.model
    indices = [scene.world.body_index(body) for body in bodies]
    geoms = [g for g in range(model.ngeom) if model.geom_bodyid[g] in indices]
    return [g for g in geoms if model.geom_contype[g] or model.geom_conaffinity[g]] or geoms


def _outlines(scene: Scene, bodies: Sequence[str]) -> tuple[Array, Array]:
    """Return directions (ROUND, 2) and how far each solid of bodies reaches along them (n, ROUND) in the world [m]."""
    angles = np.arange(ROUND) * (2.0 * np.pi / ROUND)
    directions = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return directions, np.array([_reach(scene, geom, directions) for geom in _solid_geoms(scene, bodies)])


def _has_gaps(directions: Array, reaches: Array) -> bool:
    """Return whether solids leave part of their common outline free, as beside the grip of a chopping board."""
    if len(reaches) == 1:
        return False
    reach, ticks = reaches.max(axis=0), np.linspace(0.0, 1.0, GRID)
    low = -np.array([reach[ROUND // 2], reach[3 * ROUND // 4]])
    size = np.array([reach[0], reach[ROUND // 4]]) - low
    along = (low + np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2) * size) @ directions.T
    along = along[np.all(along <= reach, axis=1)]
    covered = np.any([np.all(along <= own + FILLED, axis=1) for own in reaches], axis=0)
    return float(np.mean(covered)) < 1.0 - FREE


def _reach(scene: Scene, geom: int, directions: Array) -> Array:
    """Return the extent of a geom along horizontal directions (n, 2) in the world (n,) [m]: its support function."""
    model = scene.world.model
    R, centre = _pose(scene, geom)
    along, size = directions @ R[:2], model.geom_size[geom]
    kind, from_centre = int(model.geom_type[geom]), directions @ centre[:2]
    if kind == Geom.mjGEOM_SPHERE:
        return from_centre + size[0]
    if kind == Geom.mjGEOM_CAPSULE:
        return from_centre + size[0] + size[1] * np.abs(along[:, 2])
    if kind == Geom.mjGEOM_CYLINDER:
        across = np.sqrt(np.maximum(0.0, 1.0 - along[:, 2] ** 2))
        return from_centre + size[0] * across + size[1] * np.abs(along[:, 2])
    if kind == Geom.mjGEOM_ELLIPSOID:
        return from_centre + np.linalg.norm(along * size, axis=1)
    return from_centre + (along @ geom_points(model, geom).T).max(axis=1)


def _volume(scene: Scene, name: str) -> tuple[Array, Array]:
    """Return points (n, 3) spread over an object's volume, in its own frame [m], and their volume fractions (n,)."""
    model, T = scene.world.model, scene.object_pose(name)
    ticks = (np.arange(SAMPLES) + 0.5) / SAMPLES * 2.0 - 1.0
    grid = np.stack(np.meshgrid(ticks, ticks, ticks, indexing="ij"), axis=-1).reshape(-1, 3)
    found, weights = list[Array](), list[Array]()
    for geom in _solid_geoms(scene, scene.world.subtree(scene.body_of(name))):
        middle, half = model.geom_aabb[geom, :3], model.geom_aabb[geom, 3:]
        points = middle + grid * half
        points = points[_inside(model, geom, points)]
        points = points if len(points) else middle[None]  # A sheet is thinner than the spacing of its samples.
        R, centre = _pose(scene, geom)
        found.append((points @ R.T + centre - T[:3, 3]) @ T[:3, :3])
        weights.append(np.full(len(points), max(float(np.prod(half)), 1e-12)))
    shares = np.concatenate(weights)
    return np.concatenate(found), shares / shares.sum()


def _pose(scene: Scene, geom: int) -> tuple[Array, Array]:
    """Return the orientation (3, 3) and position (3,) of a geom in the world."""
    model, data, R_body_geom = scene.world.model, scene.world.data, np.empty(9)
    body = model.geom_bodyid[geom]
    R_world_body = data.xmat[body].reshape(3, 3)
    mujoco.mju_quat2Mat(R_body_geom, model.geom_quat[geom])
    return R_world_body @ R_body_geom.reshape(3, 3), data.xpos[body] + R_world_body @ model.geom_pos[geom]


def _inside(model: mujoco.MjModel, geom: int, points: Array) -> NDArray[np.bool_]:
    """Return which points (n, 3) in the frame of a geom lie in it; for a mesh, in its convex hull."""
    kind, size = int(model.geom_type[geom]), model.geom_size[geom]
    if kind == Geom.mjGEOM_SPHERE:
        return np.linalg.norm(points, axis=1) <= size[0]
    if kind == Geom.mjGEOM_ELLIPSOID:
        return np.linalg.norm(points / size, axis=1) <= 1.0
    if kind == Geom.mjGEOM_CYLINDER:
        return np.hypot(points[:, 0], points[:, 1]) <= size[0]
    if kind == Geom.mjGEOM_CAPSULE:
        beyond = np.maximum(np.abs(points[:, 2]) - size[1], 0.0)
        return np.linalg.norm(np.column_stack([points[:, :2], beyond]), axis=1) <= size[0]
    if kind != Geom.mjGEOM_MESH:
        return np.ones(len(points), bool)
    mesh = int(model.geom_dataid[geom])
    first, count = int(model.mesh_polyadr[mesh]), int(model.mesh_polynum[mesh])
    normals = model.mesh_polynormal[first : first + count]
    corners = model.mesh_polyvert[model.mesh_polyvertadr[first : first + count]]
    on_plane = model.mesh_vert[model.mesh_vertadr[mesh] + corners]
    return np.all(points @ normals.T <= np.sum(normals * on_plane, axis=1) + 1e-9, axis=1)

"""Convex solids as flat arrays that kernels read: exact round shapes, hulls as corners and planes."""

from collections.abc import Sequence
from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.objects.geometry import geom_mesh

Ints = NDArray[np.int64]

# mjtGeom, as plain numbers that kernels can compare with.
SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH = (
    int(kind)
    for kind in (
        mujoco.mjtGeom.mjGEOM_SPHERE,
        mujoco.mjtGeom.mjGEOM_CAPSULE,
        mujoco.mjtGeom.mjGEOM_ELLIPSOID,
        mujoco.mjtGeom.mjGEOM_CYLINDER,
        mujoco.mjtGeom.mjGEOM_BOX,
        mujoco.mjtGeom.mjGEOM_MESH,
    )
)


class ConvexParts(NamedTuple):
    """p convex parts; a named tuple, because Numba accepts it as one argument.

    Hulls keep their corners and outward planes in their own frame, those of part k at ``corner_range[k]`` and
    ``plane_range[k]``; the other shapes have none.
    """

    kind: Ints
    """(p,) mjtGeom."""
    size: Array
    """(p, 3) half sizes as in MuJoCo [m]."""
    position: Array
    """(p, 3) centre in the common frame [m]."""
    rotation: Array
    """(p, 3, 3) from the part's frame to the common frame."""
    radius: Array
    """(p,) radius of a ball around the centre that contains the part [m]."""
    corners: Array
    """(v, 3) corners of all hulls [m]."""
    corner_range: Ints
    """(p, 2) first and one past the last corner."""
    planes: Array
    """(f, 4) outward unit normal n and offset d of all hulls: n x <= d inside."""
    plane_range: Ints
    """(p, 2) first and one past the last plane."""


def convex_parts(model: mujoco.MjModel, geoms: Sequence[int], position: Array, rotation: Array) -> ConvexParts:
    """Collect geoms of a compiled model.

    Args:
        model: The model.
        geoms: Ids of geoms that are boxes, balls, capsules, cylinders, ellipsoids or meshes (their hulls are used).
        position: Their centres (p, 3) [m] in the common frame.
        rotation: Their orientations (p, 3, 3) in the common frame.
    """
    corners, planes = [np.zeros((0, 3))], [np.zeros((0, 4))]
    corner_range, plane_range = np.zeros((len(geoms), 2), np.int64), np.zeros((len(geoms), 2), np.int64)
    radius = np.zeros(len(geoms))
    for k, g in enumerate(geoms):
        kind = int(model.geom_type[g])
        if kind not in {SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH}:
            raise InputError(f"geom {model.geom(g).name!r} is a {mujoco.mjtGeom(kind).name}; grasps need convex solids")
        radius[k] = _radius(kind, model.geom_size[g])
        before = sum(map(len, corners)), sum(map(len, planes))
        if kind == MESH:
            vertices, faces = geom_mesh(model, g)
            corners.append(vertices)
            planes.append(_planes(vertices, faces))
            radius[k] = np.linalg.norm(vertices, axis=1).max()
        corner_range[k] = before[0], sum(map(len, corners))
        plane_range[k] = before[1], sum(map(len, planes))
    ids = list(geoms)
    return ConvexParts(
        kind=model.geom_type[ids].astype(np.int64),
        size=model.geom_size[ids].copy(),
        position=np.ascontiguousarray(position, float),
        rotation=np.ascontiguousarray(rotation, float),
        radius=radius,
        corners=np.concatenate(corners),
        corner_range=corner_range,
        planes=np.concatenate(planes),
        plane_range=plane_range,
    )


def _radius(kind: int, size: Array) -> float:
    if kind == CAPSULE:
        return float(size[0] + size[1])
    if kind == CYLINDER:
        return float(np.hypot(size[0], size[1]))
    if kind == BOX:
        return float(np.linalg.norm(size))
    return float(np.max(size))


def _planes(vertices: Array, faces: NDArray[np.int32]) -> Array:
    """Return the outward planes (f, 4) of a closed convex surface; degenerate triangles are skipped."""
    a, b, c = vertices[faces].transpose(1, 0, 2)
    normal = np.cross(b - a, c - a)
    length = np.linalg.norm(normal, axis=1)
    large = length > 1e-14
    normal = normal[large] / length[large, None]
    # The furthest corner sets the offset, not the face's own, so that rounding leaves every corner inside.
    outward = np.where(np.sum((a[large] - vertices.mean(axis=0)) * normal, axis=1) < 0, -1.0, 1.0)
    normal *= outward[:, None]
    return np.column_stack([normal, (normal @ vertices.T).max(axis=1)])

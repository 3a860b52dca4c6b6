"""Surfaces, bounds and hulls of a compiled object, joints at zero, in the object frame."""

import math

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from handloom.arrays import Array

Faces = NDArray[np.int32]
Mesh = tuple[Array, Faces]

_SIDES = 48
"""Sides of a tessellated circle: the chord lies 0.2 % of the radius inside, below 0.1 mm for hand-sized objects."""


def posed(model: mujoco.MjModel) -> mujoco.MjData:
    """Return the kinematics of a model with all joints at zero."""
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    return data


def geom_ids(model: mujoco.MjModel, *, solid: bool) -> list[int]:
    """Return the colliding geoms, or the visible ones."""
    if solid:
        return [g for g in range(model.ngeom) if model.geom_contype[g] or model.geom_conaffinity[g]]
    return [g for g in range(model.ngeom) if model.geom_group[g] < 3]


def triangles(model: mujoco.MjModel, *, solid: bool = True, sides: int = _SIDES) -> Mesh:
    """Return vertices (n, 3) [m] and faces (m, 3) of the convex parts, each closed; circles get ``sides`` corners."""
    data = posed(model)
    vertices, faces, count = [np.zeros((0, 3))], [np.zeros((0, 3), np.int32)], 0
    for g in geom_ids(model, solid=solid):
        v, f = geom_mesh(model, g, sides)
        vertices.append(v @ data.geom_xmat[g].reshape(3, 3).T + data.geom_xpos[g])
        faces.append(f + np.int32(count))
        count += len(v)
    return np.concatenate(vertices), np.concatenate(faces)


def vertices_of(model: mujoco.MjModel, data: mujoco.MjData, geom: int) -> Array:
    """Return the corners (n, 3) [m] of one geom in the object frame."""
    vertices, _ = geom_mesh(model, geom)
    return vertices @ data.geom_xmat[geom].reshape(3, 3).T + data.geom_xpos[geom]


def convex_hull(points: ArrayLike) -> Mesh:
    """Return vertices (n, 3) and outward faces (m, 3) of the hull of points, as MuJoCo's compiler finds it."""
    spec = mujoco.MjSpec()
    spec.add_mesh(name="points", uservert=np.asarray(points, float).ravel())
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname="points")
    model = spec.compile()
    vertices, faces = _hull_of_mesh(model, 0)
    rotation = np.zeros(9)
    mujoco.mju_quat2Mat(rotation, model.mesh_quat[0])
    return vertices @ rotation.reshape(3, 3).T + model.mesh_pos[0], faces


class Reach:
    """Extent of the solid (or visible) parts of a posed model in any direction; exact for round shapes.

    The corners of boxes and hulls go into one array, so that a call costs one matrix product and a few lines for every
    round part.

    Args:
        model: A compiled object.
        data: Its kinematics.
        solid: Whether to use the colliding parts, instead of the visible ones.
    """

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, *, solid: bool = True) -> None:
        corners = [np.zeros((0, 3))]
        self._round: list[tuple[int, Array, Array, Array]] = []
        for g in geom_ids(model, solid=solid):
            pos, mat = data.geom_xpos[g].copy(), data.geom_xmat[g].reshape(3, 3).copy()
            kind = int(model.geom_type[g])
            if kind in {mujoco.mjtGeom.mjGEOM_MESH, mujoco.mjtGeom.mjGEOM_BOX}:
                corners.append(geom_mesh(model, g, _SIDES)[0] @ mat.T + pos)
            else:
                self._round.append((kind, model.geom_size[g].copy(), pos, mat))
        everything = np.concatenate(corners)
        # Only the corners of the common hull can be furthest; a cup of 17 parts has some 140 corners, its hull 32.
        self._corners = convex_hull(everything)[0] if len(everything) > 16 else everything

    @property
    def flat(self) -> bool:
        """Whether there are no round parts."""
        return not self._round

    def __call__(self, directions: Array) -> Array:
        """Return the reach (n,) [m] from the origin along directions (n, 3)."""
        reach = np.full(len(directions), -np.inf)
        if len(self._corners):
            reach = np.max(directions @ self._corners.T, axis=1)
        for kind, size, pos, mat in self._round:
            np.maximum(reach, directions @ pos + _round_reach(kind, size, directions @ mat), out=reach)
        return reach


def _round_reach(kind: int, size: Array, d: Array) -> Array:
    if kind == mujoco.mjtGeom.mjGEOM_ELLIPSOID:
        return np.linalg.norm(d * size, axis=-1)
    if kind == mujoco.mjtGeom.mjGEOM_CYLINDER:
        return size[0] * np.linalg.norm(d[:, :2], axis=-1) + size[1] * np.abs(d[:, 2])
    half = size[1] if kind == mujoco.mjtGeom.mjGEOM_CAPSULE else 0.0
    return size[0] * np.linalg.norm(d, axis=-1) + half * np.abs(d[:, 2])


def geom_mesh(model: mujoco.MjModel, g: int, sides: int = _SIDES) -> Mesh:
    """Return vertices (n, 3) [m] and outward faces (m, 3) of a geom, or of a mesh's hull, in the geom's own frame."""
    kind, size = model.geom_type[g], model.geom_size[g]
    if kind == mujoco.mjtGeom.mjGEOM_MESH:
        return _hull_of_mesh(model, model.geom_dataid[g])
    if kind == mujoco.mjtGeom.mjGEOM_BOX:
        return _revolve([(1.0, -1.0), (1.0, 1.0)], 4, np.array([math.sqrt(2), math.sqrt(2), 1.0]) * size, 0.5)
    if kind == mujoco.mjtGeom.mjGEOM_CYLINDER:
        return _revolve([(1.0, -1.0), (1.0, 1.0)], sides, np.array([size[0], size[0], size[1]]), 0.0)
    latitudes = np.linspace(-math.pi / 2, math.pi / 2, sides // 2 + 1)[1:-1]
    ball = [(math.cos(a), math.sin(a)) for a in latitudes]
    if kind == mujoco.mjtGeom.mjGEOM_ELLIPSOID:
        return _revolve(ball, sides, size, 0.0, poles=(-1.0, 1.0))
    half = size[1] / size[0] if kind == mujoco.mjtGeom.mjGEOM_CAPSULE else 0.0
    long = [(r, z + math.copysign(half, z)) for r, z in ball if abs(z) > 1e-9 or half == 0.0]
    return _revolve(long, sides, np.full(3, size[0]), 0.0, poles=(-1.0 - half, 1.0 + half))


def _revolve(
    profile: list[tuple[float, float]],
    sides: int,
    scale: Array,
    phase: float,
    *,
    poles: tuple[float, float] | None = None,
) -> Mesh:
    """Return the surface of rings (radius, z) from bottom to top, closed by fans to the poles on the axis."""
    angle = (np.arange(sides) + phase) * (2.0 * math.pi / sides)
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    bottom, top = poles or (profile[0][1], profile[-1][1])
    rings = [np.column_stack([r * circle, np.full(sides, z)]) for r, z in profile]
    vertices = np.concatenate([*rings, [[0.0, 0.0, bottom], [0.0, 0.0, top]]]) * scale
    i, j = np.arange(sides), (np.arange(sides) + 1) % sides
    south, north = len(vertices) - 2, len(vertices) - 1
    last = (len(profile) - 1) * sides
    faces = [np.stack([np.full(sides, south), j, i], -1), np.stack([np.full(sides, north), last + i, last + j], -1)]
    for row in range(len(profile) - 1):
        a, b = row * sides, (row + 1) * sides
        faces += [np.stack([a + i, a + j, b + j], -1), np.stack([a + i, b + j, b + i], -1)]
    return vertices, np.concatenate(faces).astype(np.int32)


def _mesh_vertices(model: mujoco.MjModel, mesh: int) -> Array:
    start = model.mesh_vertadr[mesh]
    return model.mesh_vert[start : start + model.mesh_vertnum[mesh]].astype(float)


def _hull_of_mesh(model: mujoco.MjModel, mesh: int) -> Mesh:
    """Return the hull that MuJoCo collides with; its layout is documented with ``mjModel.mesh_graph``."""
    vertices = _mesh_vertices(model, mesh)
    if model.mesh_graphadr[mesh] < 0:
        start = model.mesh_faceadr[mesh]
        return vertices, model.mesh_face[start : start + model.mesh_facenum[mesh]].copy()
    graph = model.mesh_graph[model.mesh_graphadr[mesh] :]
    count, face_count = int(graph[0]), int(graph[1])
    used = graph[2 + count : 2 + 2 * count]
    start = 2 + 3 * count + 3 * face_count
    faces = graph[start : start + 3 * face_count].reshape(-1, 3)
    local = np.zeros(len(vertices), np.int32)
    local[used] = np.arange(count)
    return vertices[used], local[faces].astype(np.int32)

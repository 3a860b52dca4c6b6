"""A solid in its own frame, the building block of robots, obstacles and held objects."""

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from handloom.arrays import Array
from handloom.errors import InputError


class ShapeKind(IntEnum):
    """Types of solids; the values are read by the kernels."""

    BOX = 0
    CAPSULE = 1
    CYLINDER = 2
    PLANE = 3
    CONVEX = 4
    HEIGHT_FIELD = 5
    SPHERE = 6
    ELLIPSOID = 7


@dataclass(frozen=True, kw_only=True, eq=False)
class Shape:
    """A solid.

    The meaning of ``size`` follows MuJoCo: half sides of a box; radius and half length between the cap centres of a
    capsule, along z; radius and half length of a cylinder, along z; radius of a sphere; half axes of an ellipsoid;
    half sides in x and y of a height field. A plane is the half space below its z axis.
    """

    kind: ShapeKind
    size: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Three lengths [m]; unused ones are 0."""
    vertices: Array | None = None
    """Corners of a convex solid (n, 3) [m]."""
    faces: tuple[tuple[int, ...], ...] = ()
    """Corners of each flat side of a convex solid, counter-clockwise seen from outside."""
    normals: Array | None = None
    """Outward unit normal of each flat side (f, 3)."""
    heights: Array | None = None
    """Heights of a height field (rows along y, columns along x) [m]; the ground extends downwards from there."""

    def __post_init__(self) -> None:
        """Reject solids without extent."""
        needed = {ShapeKind.BOX: 3, ShapeKind.ELLIPSOID: 3, ShapeKind.CYLINDER: 2, ShapeKind.SPHERE: 1}
        needed |= {ShapeKind.CAPSULE: 1, ShapeKind.HEIGHT_FIELD: 2}
        lengths = self.size[: needed.get(self.kind, 0)]
        if any(not (np.isfinite(length) and length > 0) for length in lengths):
            raise InputError(f"a {self.kind.name.lower()} needs lengths > 0, got {self.size}")

    @cached_property
    def bounding_radius(self) -> float:
        """Radius of the bounding sphere around the origin of the frame [m]; infinite for a plane."""
        x, y, z = self.size
        if self.kind == ShapeKind.PLANE:
            return np.inf
        if self.kind == ShapeKind.CONVEX:
            return float(np.linalg.norm(_present(self.vertices), axis=1).max())
        if self.kind == ShapeKind.HEIGHT_FIELD:
            return np.inf
        if self.kind == ShapeKind.CAPSULE:
            return x + y
        if self.kind == ShapeKind.CYLINDER:
            return float(np.hypot(x, y))
        return float(np.linalg.norm([x, y, z])) if self.kind == ShapeKind.BOX else max(x, y, z)


def _present(values: Array | None) -> Array:
    if values is None:
        raise InputError("a convex solid needs its vertices")
    return values


def hull_shape(points: ArrayLike) -> Shape:
    """Return the convex hull of points (n, 3) [m], as computed by MuJoCo, with its flat sides."""
    vertices = np.asarray(points, float)
    if vertices.ndim != 2 or vertices.shape[1] != 3 or len(vertices) < 4:
        raise InputError(f"a convex solid needs at least 4 points (n, 3), got shape {vertices.shape}")
    spec = mujoco.MjSpec()
    mesh = spec.add_mesh(name="hull", uservert=vertices.flatten())
    mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname="hull")
    try:
        model = spec.compile()
    except ValueError as error:
        raise InputError(f"these {len(vertices)} points do not span a convex solid: {error}") from error
    # MuJoCo moves the vertices to the mesh's inertial frame; the geom's pose reverses this.
    R = np.empty(9)
    mujoco.mju_quat2Mat(R, model.geom_quat[0])
    shape = mesh_shape(model, 0)
    R = R.reshape(3, 3)
    return Shape(
        kind=ShapeKind.CONVEX,
        vertices=_present(shape.vertices) @ R.T + model.geom_pos[0],
        faces=shape.faces,
        normals=_present(shape.normals) @ R.T,
    )


def mesh_shape(model: mujoco.MjModel, mesh: int) -> Shape:
    """Return the convex hull of a compiled mesh, which MuJoCo uses for collision, in the geom's frame."""
    begin, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
    vertices = model.mesh_vert[begin : begin + count].astype(float)
    faces, normals = [], []
    for polygon in range(model.mesh_polyadr[mesh], model.mesh_polyadr[mesh] + model.mesh_polynum[mesh]):
        first = model.mesh_polyvertadr[polygon]
        faces.append(tuple(int(v) for v in model.mesh_polyvert[first : first + model.mesh_polyvertnum[polygon]]))
        normals.append(model.mesh_polynormal[polygon])
    if not faces:
        raise InputError(f"mesh {model.mesh(mesh).name!r} has no convex hull, so it cannot be checked for collision")
    used = sorted({v for face in faces for v in face})
    renumber = {v: i for i, v in enumerate(used)}
    return Shape(
        kind=ShapeKind.CONVEX,
        vertices=vertices[used],
        faces=tuple(tuple(renumber[v] for v in face) for face in faces),
        normals=np.array(normals),
    )


_PRIMITIVES = {
    int(mujoco.mjtGeom.mjGEOM_BOX): ShapeKind.BOX,
    int(mujoco.mjtGeom.mjGEOM_CAPSULE): ShapeKind.CAPSULE,
    int(mujoco.mjtGeom.mjGEOM_CYLINDER): ShapeKind.CYLINDER,
    int(mujoco.mjtGeom.mjGEOM_PLANE): ShapeKind.PLANE,
    int(mujoco.mjtGeom.mjGEOM_SPHERE): ShapeKind.SPHERE,
    int(mujoco.mjtGeom.mjGEOM_ELLIPSOID): ShapeKind.ELLIPSOID,
}


def geom_shape(model: mujoco.MjModel, geom: int) -> Shape:
    """Return the solid of a geom of a compiled model, in the geom's frame."""
    kind, size = int(model.geom_type[geom]), model.geom_size[geom]
    if kind in _PRIMITIVES:
        return Shape(kind=_PRIMITIVES[kind], size=(float(size[0]), float(size[1]), float(size[2])))
    if kind in {int(mujoco.mjtGeom.mjGEOM_MESH), int(mujoco.mjtGeom.mjGEOM_SDF)}:
        return mesh_shape(model, int(model.geom_dataid[geom]))
    if kind == int(mujoco.mjtGeom.mjGEOM_HFIELD):
        field = int(model.geom_dataid[geom])
        rows, columns, begin = model.hfield_nrow[field], model.hfield_ncol[field], model.hfield_adr[field]
        raw = model.hfield_data[begin : begin + rows * columns].reshape(rows, columns)
        x, y, top, _ = model.hfield_size[field]
        return Shape(kind=ShapeKind.HEIGHT_FIELD, size=(float(x), float(y), 0.0), heights=raw.astype(float) * top)
    raise InputError(f"geom {model.geom(geom).name!r} has type {kind}, which motion planning does not support")

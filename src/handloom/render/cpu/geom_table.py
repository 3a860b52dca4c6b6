"""The static part of the geom table: shapes and materials, read from the model."""

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.errors import InputError
from handloom.render.color import linear_from_srgb
from handloom.render.cpu.layout import (
    BOX,
    CAPSULE,
    CYLINDER,
    ELLIPSOID,
    G_ALPHA,
    G_BODY,
    G_BOX,
    G_CASTS,
    G_COLOR,
    G_GLOW,
    G_HALF,
    G_HULL,
    G_HULL_COUNT,
    G_METAL,
    G_MIRROR,
    G_SHININESS,
    G_SIZE,
    G_SPECULAR,
    G_TEX_U,
    G_TEX_V,
    G_TEXTURE,
    G_TYPE,
    GEOM_COLUMNS,
    MESH,
    PLANE,
    SPHERE,
)

# Geom groups 0 to 2 are drawn, as in MuJoCo's own viewers; collision geoms live in group 3.
DRAWN_GROUPS = 3
# What MuJoCo gives a geom that names no colour; a material's colour then shows instead.
DEFAULT_RGBA = np.array([0.5, 0.5, 0.5, 1.0], np.float32)
# What MuJoCo gives a geom without material.
DEFAULT_SPECULAR, DEFAULT_SHININESS = 0.5, 0.5
# A polytope costs one plane per face and ray; beyond this many faces a hierarchy of triangles is cheaper.
MAX_FACES = 96
# How far a vertex may lie outside a face for the mesh still to count as convex, relative to its size.
CONVEX_TOLERANCE = 1e-5


def drawn_geoms(model: mujoco.MjModel) -> NDArray[np.int32]:
    """Return the ids of the geoms that are drawn: groups 0 to 2, not fully transparent."""
    alpha = np.array([geom_rgba(model, g)[3] for g in range(model.ngeom)])
    return np.flatnonzero((model.geom_group < DRAWN_GROUPS) & (alpha > 0)).astype(np.int32)


def geom_rgba(model: mujoco.MjModel, geom: int) -> NDArray[np.float32]:
    """Return the colour (4,) a geom is drawn with: its own, or its material's when it names none."""
    material = model.geom_matid[geom]
    own = model.geom_rgba[geom]
    return model.mat_rgba[material] if material >= 0 and np.array_equal(own, DEFAULT_RGBA) else own


def hull_of_mesh(model: mujoco.MjModel, mesh: int) -> NDArray[np.float32] | None:
    """Return the half spaces (k, 4) of a mesh, or None when it is not convex or has too many faces."""
    vertices = _slice(model.mesh_vert, model.mesh_vertadr, model.mesh_vertnum, mesh).astype(float)
    faces = _slice(model.mesh_face, model.mesh_faceadr, model.mesh_facenum, mesh)
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    area = np.linalg.norm(normals, axis=1)
    solid = area > 1e-14
    normals = normals[solid] / area[solid, None]
    offsets = np.einsum("ij,ij->i", normals, a[solid])
    planes = np.unique(np.round(np.column_stack([normals, offsets]), 6), axis=0)
    size = np.ptp(vertices, axis=0).max()
    if len(planes) > MAX_FACES or len(planes) < 4:
        return None
    if np.any(vertices @ planes[:, :3].T > planes[:, 3] + CONVEX_TOLERANCE * size + 2e-6):
        return None
    planes[:, 3] = (vertices @ planes[:, :3].T).max(axis=0)
    return planes.astype(np.float32)


def _slice(values: NDArray, start: NDArray, count: NDArray, k: int) -> NDArray:
    """Return the part of a concatenated model array that belongs to item ``k``."""
    return values[start[k] : start[k] + count[k]]


def _half_extents(model: mujoco.MjModel, geom: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return centre and half extents (3,) of a geom's bounding box in its own frame [m]."""
    kind, (a, b, c) = int(model.geom_type[geom]), model.geom_size[geom]
    center = np.zeros(3)
    if kind == SPHERE:
        half = np.array([a, a, a])
    elif kind == CAPSULE:
        half = np.array([a, a, a + b])
    elif kind == CYLINDER:
        half = np.array([a, a, b])
    elif kind in (BOX, ELLIPSOID):
        half = np.array([a, b, c])
    else:
        center, half = model.geom_aabb[geom, :3], model.geom_aabb[geom, 3:]
    return center, half


def _texture_of(model: mujoco.MjModel, geom: int) -> tuple[int, float, float]:
    """Return the id of a geom's 2D colour texture (-1 without) and its repeats per metre in both directions."""
    material = int(model.geom_matid[geom])
    if material < 0:
        return -1, 0.0, 0.0
    roles = model.mat_texid[material]
    texture = int(roles[mujoco.mjtTextureRole.mjTEXROLE_RGB])
    if texture < 0:
        texture = int(roles[mujoco.mjtTextureRole.mjTEXROLE_RGBA])
    if texture < 0 or model.tex_type[texture] != mujoco.mjtTexture.mjTEXTURE_2D:
        return -1, 0.0, 0.0
    u, v = (float(r) for r in model.mat_texrepeat[material])
    if not model.mat_texuniform[material]:
        _, half = _half_extents(model, geom)
        if model.geom_type[geom] == PLANE:
            half = model.geom_size[geom]
        u, v = (r / (2 * h) if h > 0 else r for r, h in ((u, half[0]), (v, half[1])))
    return texture, u, v


def _write_material(model: mujoco.MjModel, geom: int, row: NDArray[np.float32]) -> None:
    """Write colour and material of a geom into its row."""
    rgba = geom_rgba(model, geom)
    row[G_COLOR : G_COLOR + 3] = linear_from_srgb(np.clip(rgba[:3], 0, 1))
    row[G_ALPHA] = rgba[3]
    material = int(model.geom_matid[geom])
    specular, shininess, metal = DEFAULT_SPECULAR, DEFAULT_SHININESS, 0.0
    if material >= 0:
        specular, shininess = float(model.mat_specular[material]), float(model.mat_shininess[material])
        metal = max(float(model.mat_metallic[material]), 0.0)
        if model.mat_roughness[material] >= 0:
            shininess = (1.0 - float(model.mat_roughness[material])) ** 2
        row[G_GLOW] = model.mat_emission[material]
        row[G_MIRROR] = model.mat_reflectance[material]
    row[G_SPECULAR] = specular
    row[G_SHININESS] = max(2.0, 128.0 * shininess)
    row[G_METAL] = metal


def build_geom_table(
    model: mujoco.MjModel, ids: NDArray[np.int32]
) -> tuple[NDArray[np.float32], NDArray[np.float32], list[int]]:
    """Return the geom table (g, GEOM_COLUMNS), the half spaces (k, 4) and the ids of the textures in use.

    Raises:
        InputError: A geom has a shape that cannot be drawn.
    """
    table = np.zeros((len(ids), GEOM_COLUMNS), np.float32)
    hulls: list[NDArray[np.float32]] = [np.zeros((1, 4), np.float32)]
    first = 1
    textures: list[int] = []
    for row, geom in zip(table, ids, strict=True):
        kind = int(model.geom_type[geom])
        row[G_TYPE] = kind
        row[G_SIZE : G_SIZE + 3] = model.geom_size[geom]
        row[G_BOX : G_BOX + 3], row[G_HALF : G_HALF + 3] = _half_extents(model, geom)
        row[G_CASTS] = kind != PLANE
        row[G_BODY] = model.body_weldid[model.geom_bodyid[geom]]
        _write_material(model, geom, row)
        texture, row[G_TEX_U], row[G_TEX_V] = _texture_of(model, geom)
        if texture >= 0 and texture not in textures:
            textures.append(texture)
        row[G_TEXTURE] = textures.index(texture) if texture >= 0 else -1
        if kind == MESH:
            hull = hull_of_mesh(model, int(model.geom_dataid[geom]))
            if hull is None:
                raise InputError(
                    f"geom {model.geom(geom).name!r} has a mesh that is not convex; it cannot be drawn yet"
                )
            row[G_HULL], row[G_HULL_COUNT] = first, len(hull)
            first += len(hull)
            hulls.append(hull)
        elif kind not in (PLANE, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX):
            shape = mujoco.mjtGeom(kind).name
            raise InputError(f"geom {model.geom(geom).name!r} has the shape {shape}, which cannot be drawn yet")
    return table, np.concatenate(hulls), textures

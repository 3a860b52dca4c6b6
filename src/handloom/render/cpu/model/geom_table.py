"""The static part of the geom table: shapes and materials, read from the model."""

from collections.abc import Sequence
from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.render.appearance.swept import triangles_of_swept
from handloom.render.cpu.layout import (
    BEADS,
    BOX,
    CAPSULE,
    CYLINDER,
    ELLIPSOID,
    G_ALPHA,
    G_BAND_COLOR,
    G_BAND_HIGH,
    G_BAND_LOW,
    G_BODY,
    G_BOX,
    G_CASTS,
    G_CAVITY,
    G_COLOR,
    G_EDGE,
    G_FLOOR,
    G_GLOW,
    G_HALF,
    G_HULL,
    G_HULL_COUNT,
    G_METAL,
    G_MIRROR,
    G_OUTER,
    G_SHININESS,
    G_SIZE,
    G_SPECULAR,
    G_TEX_DENSITY,
    G_TEX_MAPPED,
    G_TEX_U,
    G_TEX_V,
    G_TEXTURE,
    G_TYPE,
    GEOM_COLUMNS,
    HEIGHT_FIELD,
    MESH,
    PLANE,
    SPHERE,
    TRIANGLES,
    TURNED,
)
from handloom.render.cpu.model.bvh import (
    Hierarchy,
    TriangleMesh,
    build_hierarchy,
    join_hierarchies,
    triangles_of_height_field,
    triangles_of_mesh,
)
from handloom.render.cpu.model.finish_row import wrap_pattern, write_finish
from handloom.render.cpu.model.texture import TextureKey
from handloom.render.looks import Look, Swept, Turned, tables_of_turned
from handloom.render.pictures import linear_from_srgb

# Geom groups 0 to 2 are rendered, as in MuJoCo's own viewers; collision geoms are in group 3.
DRAWN_GROUPS = 3
# MuJoCo's default colour of a geom; the material's colour is then used instead.
DEFAULT_RGBA = np.array([0.5, 0.5, 0.5, 1.0], np.float32)
# MuJoCo's defaults for a geom without a material.
DEFAULT_SPECULAR, DEFAULT_SHININESS = 0.5, 0.5
# More transparent objects cast no shadow.
SHADOW_ALPHA = 0.5
# A polytope costs one plane per face and ray; beyond this many faces a hierarchy of triangles is cheaper.
MAX_FACES = 96
# Maximum distance of a vertex outside a face of a convex mesh, relative to its size.
CONVEX_TOLERANCE = 1e-5
# From this number of equal balls, one row for all of them is cheaper than one row each.
LEAST_BEADS = 32


def drawn_geoms(model: mujoco.MjModel) -> NDArray[np.int32]:
    """Return the ids of the rendered geoms: groups 0 to 2, not fully transparent."""
    alpha = np.array([geom_rgba(model, g)[3] for g in range(model.ngeom)])
    return np.flatnonzero((model.geom_group < DRAWN_GROUPS) & (alpha > 0)).astype(np.int32)


def split_beads(model: mujoco.MjModel, ids: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the geoms that get a row each, and those rendered as beads: many balls that differ only in position."""
    looks: dict[tuple[float, ...], list[int]] = {}
    for geom in ids[model.geom_type[ids] == SPHERE].tolist():
        if _texture_of(model, geom)[0] < 0:
            looks.setdefault((model.geom_size[geom, 0], model.geom_matid[geom], *geom_rgba(model, geom)), []).append(
                geom
            )
    beads = np.array(max(looks.values(), key=len, default=[]), np.int32)
    if len(beads) < LEAST_BEADS:
        return ids, beads[:0]
    return np.setdiff1d(ids, beads).astype(np.int32), beads


def geom_rgba(model: mujoco.MjModel, geom: int) -> NDArray[np.float32]:
    """Return the colour (4,) of a geom: its own, or its material's if it has none."""
    material = model.geom_matid[geom]
    own = model.geom_rgba[geom]
    return model.mat_rgba[material] if material >= 0 and np.array_equal(own, DEFAULT_RGBA) else own


def hull_of_mesh(model: mujoco.MjModel, mesh: int) -> NDArray[np.float32] | None:
    """Return the half spaces (k, 4) of a mesh, or None if it is not convex or has too many faces."""
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


def _half_extents(model: mujoco.MjModel, geom: int) -> tuple[Array, Array]:
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


class GeomTable(NamedTuple):
    """Shapes and materials of the rendered geoms."""

    geoms: NDArray[np.float32]
    """(g, GEOM_COLUMNS)."""
    hulls: NDArray[np.float32]
    """Half spaces (k, 4)."""
    meshes: Hierarchy
    """Triangles of all shapes that are not simple solids."""
    textures: list[TextureKey]
    """The textures in use, in the order of the texture table: ids in the model, or pattern and seed."""


def build_geom_table(
    model: mujoco.MjModel, ids: NDArray[np.int32], beads: NDArray[np.int32], looks: Sequence[Look | None] = ()
) -> GeomTable:
    """Read shapes and materials of the rendered geoms; all beads share the last row.

    Args:
        model: The model.
        ids: Geoms with a row each.
        beads: Geoms that share the last row.
        looks: Shapes to render in place of each geom of ``ids``; None renders the geom itself. Empty means no looks.

    Raises:
        InputError: A geom has a shape that cannot be rendered.
    """
    rows = np.concatenate([ids, beads[:1]])
    table = np.zeros((len(rows), GEOM_COLUMNS), np.float32)
    shapes = _ShapeTables(model)
    textures: list[TextureKey] = []
    given = [*looks, *[None] * (len(rows) - len(looks))]
    for row, geom, look in zip(table, rows, given, strict=True):
        row[G_TYPE] = model.geom_type[geom]
        row[G_SIZE : G_SIZE + 3] = model.geom_size[geom]
        row[G_BOX : G_BOX + 3], row[G_HALF : G_HALF + 3] = _half_extents(model, geom)
        row[G_BODY] = model.body_weldid[model.geom_bodyid[geom]]
        _write_material(model, geom, row)
        finish = look.finish if look is not None else None
        if finish is None:
            number, row[G_TEX_U], row[G_TEX_V] = _texture_of(model, geom)
            texture = number if number >= 0 else None
        else:
            texture = write_finish(finish, row)
        row[G_TEX_DENSITY] = max(row[G_TEX_U], row[G_TEX_V])
        if texture is not None and texture not in textures:
            textures.append(texture)
        row[G_TEXTURE] = textures.index(texture) if texture is not None else -1
        row[G_CASTS] = row[G_TYPE] != PLANE and row[G_ALPHA] > SHADOW_ALPHA
        row[G_EDGE] = look.edge if look is not None else 0.0
        if look is not None and isinstance(look.shape, Turned):
            shapes.write_turned(look.shape, row)
        elif look is not None and isinstance(look.shape, Swept):
            shapes.write_swept(look.shape, row)
        else:
            shapes.write(geom, row, smooth=look is not None and look.shape == "smooth")
        if finish is not None and texture is not None:
            wrap_pattern(finish, row)
    if len(beads):
        table[-1, [G_TYPE, G_HULL_COUNT, G_BODY]] = BEADS, len(beads), -1
    hulls, meshes = shapes.finish(table)
    return GeomTable(table, hulls, meshes, textures)


class _ShapeTables:
    """Collects half spaces and triangles while the geom table is written; each mesh once."""

    def __init__(self, model: mujoco.MjModel) -> None:
        self._model = model
        self._hulls: list[NDArray[np.float32]] = [np.zeros((1, 4), np.float32)]
        self._next_face = 1
        self._hull_at: dict[int, tuple[int, int] | None] = {}
        self._parts: list[Hierarchy] = []
        self._part_of: dict[tuple[int, int], int] = {}

    def write(self, geom: int, row: NDArray[np.float32], *, smooth: bool = False) -> None:
        """Write the location of a geom's shape; for triangles, the number of their part for now.

        Smooth shapes have interpolated normals over triangles, convex or not.
        """
        kind, item = int(self._model.geom_type[geom]), int(self._model.geom_dataid[geom])
        if kind in (PLANE, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX):
            return
        # An image mapped by texture coordinates needs the triangles, convex or not.
        mapped = kind == MESH and row[G_TEXTURE] >= 0 and self._model.mesh_texcoordadr[item] >= 0
        if kind == MESH and not mapped and not smooth and self._hull(item) is not None:
            row[G_HULL], row[G_HULL_COUNT] = self._hull(item) or (0, 0)
            return
        if kind not in (MESH, HEIGHT_FIELD):
            shape = mujoco.mjtGeom(kind).name
            raise InputError(
                f"geom {self._model.geom(geom).name!r} has the shape {shape}, which cannot be rendered; give it a "
                f"visual mesh and move it to group 3"
            )
        if (kind, item) not in self._part_of:
            self._part_of[kind, item] = len(self._parts)
            read = triangles_of_mesh if kind == MESH else triangles_of_height_field
            self._parts.append(build_hierarchy(read(self._model, item)))
        part = self._part_of[kind, item]
        row[G_TYPE] = TRIANGLES
        row[G_HULL], row[G_HULL_COUNT] = part, part
        row[G_TEX_MAPPED] = kind == MESH and bool(np.all(np.isfinite(self._parts[part].corners)))
        if row[G_TEX_MAPPED]:
            row[G_TEX_U : G_TEX_V + 1] = self._repeats(geom)
            row[G_TEX_DENSITY] = row[G_TEX_U] / max(2 * float(row[G_HALF : G_HALF + 3].max()), 1e-6)

    def write_turned(self, shape: Turned, row: NDArray[np.float32]) -> None:
        """Write a surface of revolution and its bounding box."""
        tables = tables_of_turned(shape)
        rows = np.concatenate([tables.surface, tables.outer, tables.cavity]).astype(np.float32)
        row[G_TYPE] = TURNED
        row[G_HULL], row[G_HULL_COUNT] = self._next_face, len(tables.surface) // 2
        row[G_OUTER], row[G_CAVITY], row[G_FLOOR] = len(tables.outer), len(tables.cavity), tables.floor
        self._hulls.append(rows)
        self._next_face += len(rows)
        radius = float(tables.surface[0::2, [0, 2]].max())
        low, high = float(tables.surface[0::2, [1, 3]].min()), float(tables.surface[0::2, [1, 3]].max())
        row[G_BOX : G_BOX + 3] = 0.0, 0.0, (low + high) / 2
        row[G_HALF : G_HALF + 3] = radius, radius, (high - low) / 2
        row[G_BAND_LOW], row[G_BAND_HIGH] = shape.band
        row[G_BAND_COLOR : G_BAND_COLOR + 3] = linear_from_srgb(np.array(shape.band_color))

    def write_swept(self, shape: Swept, row: NDArray[np.float32]) -> None:
        """Write a tube as triangles, and its bounding box."""
        corners, normals = triangles_of_swept(shape)
        texcoords = np.full((len(corners), 3, 2), np.nan)
        row[G_TYPE], row[G_HULL], row[G_HULL_COUNT] = TRIANGLES, len(self._parts), len(self._parts)
        self._parts.append(build_hierarchy(TriangleMesh(corners, normals, texcoords)))
        low, high = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
        row[G_BOX : G_BOX + 3], row[G_HALF : G_HALF + 3] = (low + high) / 2, (high - low) / 2

    def finish(self, table: NDArray[np.float32]) -> tuple[NDArray[np.float32], Hierarchy]:
        """Return half spaces and joined triangles, and convert part numbers to node numbers."""
        meshes, first_nodes = join_hierarchies(self._parts)
        for row in table:
            if row[G_TYPE] == TRIANGLES:
                row[G_HULL] = first_nodes[int(row[G_HULL])]
        return np.concatenate(self._hulls), meshes

    def _hull(self, mesh: int) -> tuple[int, int] | None:
        """Return the first half space and the number of half spaces of a convex mesh, or None for triangles."""
        if mesh not in self._hull_at:
            hull = hull_of_mesh(self._model, mesh)
            self._hull_at[mesh] = None if hull is None else (self._next_face, len(hull))
            if hull is not None:
                self._hulls.append(hull)
                self._next_face += len(hull)
        return self._hull_at[mesh]

    def _repeats(self, geom: int) -> NDArray[np.float32]:
        """Return the repeats of a mapped texture per unit of its coordinates, which are those of the material.

        A material with ``texuniform`` repeats by the size of the geom, as in MuJoCo's classic renderer.
        """
        material = int(self._model.geom_matid[geom])
        if material < 0:
            return np.ones(2, np.float32)
        size = self._model.geom_size[geom, :2] if self._model.mat_texuniform[material] else 1.0
        return (self._model.mat_texrepeat[material] * size).astype(np.float32)

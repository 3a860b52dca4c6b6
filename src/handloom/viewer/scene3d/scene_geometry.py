"""A model as the renderer draws it, as one file for the 3D view: shapes, materials, textures, lights.

Which geoms are drawn, their colours, materials and textures come from the ray caster's own table, so that the view
shows what is in the pictures. Frames: z is up; quaternions are wxyz; lengths in metres; colours are linear light.
"""

from io import BytesIO
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from handloom.arrays import Array
from handloom.render.cpu.layout import (
    BOX,
    CAPSULE,
    CYLINDER,
    ELLIPSOID,
    G_ALPHA,
    G_CASTS,
    G_COLOR,
    G_GLOW,
    G_METAL,
    G_SHININESS,
    G_TEX_MAPPED,
    G_TEX_U,
    G_TEX_V,
    G_TEXTURE,
    G_TYPE,
    MESH,
    PLANE,
    SPHERE,
    W_HORIZON,
    W_NADIR,
    W_ZENITH,
)
from handloom.render.cpu.model.bvh import TriangleMesh, triangles_of_height_field, triangles_of_mesh
from handloom.render.cpu.model.geom_table import build_geom_table, drawn_geoms
from handloom.render.cpu.model.light_table import active_lights, build_world
from handloom.scene import Scene
from handloom.viewer.scene3d import solids
from handloom.viewer.scene3d.container import Container
from handloom.viewer.scene3d.first_view import first_view
from handloom.viewer.scene3d.solids import SolidSurface

LARGEST_TEXTURE = 1024
"""Longer side of a texture that is sent [px]."""
MANY = 24
"""From this many balls on they are drawn with fewer edges."""


def scene_geometry(scene: Scene) -> bytes:
    """Return everything that is drawn of a scene, where it is now, as one file."""
    return _Geometry(scene.world.model).packed(scene.world.data, first_view(scene))


def body_poses(data: mujoco.MjData) -> NDArray[np.float32]:
    """Return position [m] and orientation wxyz (bodies, 7) of every body in the world."""
    return np.concatenate([data.xpos, data.xquat], axis=1).astype(np.float32)


class _Geometry:
    """Writes shapes and textures once, however many geoms use them."""

    def __init__(self, model: mujoco.MjModel) -> None:
        self._model = model
        self._ids = drawn_geoms(model)
        self._table = build_geom_table(model, self._ids, np.zeros(0, np.int32))
        self._container = Container()
        self._meshes: list[dict[str, Any]] = []
        self._mesh_of: dict[tuple[Any, ...], int] = {}
        self._balls = int(np.sum(model.geom_type[self._ids] == SPHERE))

    def packed(self, data: mujoco.MjData, focus: dict[str, Any]) -> bytes:
        """Return the file."""
        model = self._model
        geoms = [self._geom(int(geom), row) for geom, row in zip(self._ids, self._table.geoms, strict=True)]
        world = build_world(model)
        header = {
            "version": 1,
            "quaternion": "wxyz",
            "bodies": [model.body(k).name for k in range(model.nbody)],
            "parents": model.body_parentid.tolist(),
            "focus": focus,
            "poses": self._container.add(body_poses(data)),
            "geoms": geoms,
            "meshes": self._meshes,
            "textures": [{"png": self._container.add(_png(model, texture))} for texture in self._table.textures],
            "lights": [_light(model, data, k) for k in active_lights(model)],
            "sky": {
                name: world[at : at + 3].tolist()
                for name, at in (("zenith", W_ZENITH), ("horizon", W_HORIZON), ("nadir", W_NADIR))
            },
        }
        return self._container.packed(header)

    def _geom(self, geom: int, row: NDArray[np.float32]) -> dict[str, Any]:
        model = self._model
        return {
            "id": geom,
            "name": model.geom(geom).name,
            "body": int(model.geom_bodyid[geom]),
            "position": model.geom_pos[geom].tolist(),
            "quat": model.geom_quat[geom].tolist(),
            "mesh": self._mesh(geom, row),
            "color": row[G_COLOR : G_COLOR + 3].tolist(),
            "opacity": float(row[G_ALPHA]),
            # The exponent of a highlight, as ``geom_table`` writes it, back to a roughness.
            "roughness": float(1.0 - np.sqrt(np.clip(row[G_SHININESS] / 128.0, 0.0, 1.0))),
            "metal": float(row[G_METAL]),
            "glow": float(row[G_GLOW]),
            "texture": int(row[G_TEXTURE]),
            "shadow": bool(row[G_CASTS]),
        }

    def _mesh(self, geom: int, row: NDArray[np.float32]) -> int:
        """Return the number of a geom's shape; equal shapes are written once."""
        model, kind = self._model, int(self._model.geom_type[geom])
        textured = row[G_TEXTURE] >= 0
        repeats = tuple(row[G_TEX_U : G_TEX_V + 1].tolist()) if textured else ()
        item = (int(model.geom_dataid[geom]),) if int(model.geom_dataid[geom]) >= 0 else ()
        key = (kind, *(item or tuple(model.geom_size[geom].tolist())), textured, *repeats)
        if key not in self._mesh_of:
            self._mesh_of[key] = len(self._meshes)
            self._meshes.append(self._written(geom, row, kind))
        return self._mesh_of[key]

    def _written(self, geom: int, row: NDArray[np.float32], kind: int) -> dict[str, Any]:
        if kind in (PLANE, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX):
            surface = _solid(kind, self._model.geom_size[geom], many=self._balls >= MANY)
            texcoords = None
        else:
            read = triangles_of_mesh if kind == MESH else triangles_of_height_field
            mesh = read(self._model, int(self._model.geom_dataid[geom]))
            if int(row[G_TYPE]) == MESH:  # Drawn as a polytope, whose faces are flat.
                mesh = mesh._replace(normals=np.repeat(_face_normals(mesh.corners)[:, None], 3, axis=1))
            surface, texcoords = _welded(mesh)
        entry: dict[str, Any] = {
            "points": self._container.add(surface.points.astype(np.float32)),
            "normals": self._container.add(_small_normals(surface.normals)),
            "triangles": self._container.add(surface.triangles.ravel()),
            # Solids are closed and planes are seen from their front only, as the ray caster has it.
            "sides": 1 if kind not in (MESH, 1) else 2,
        }
        if row[G_TEXTURE] >= 0:
            own = texcoords if row[G_TEX_MAPPED] and texcoords is not None else None
            entry["uv"] = self._container.add(_unwrapped(surface, kind, row, own).astype(np.float32))
        return entry


def _solid(kind: int, size: Array, *, many: bool) -> SolidSurface:
    if kind == PLANE:
        return solids.plane(size[0], size[1])
    if kind == BOX:
        return solids.box(size)
    if kind == CAPSULE:
        return solids.capsule(size[0], size[1])
    if kind == CYLINDER:
        return solids.cylinder(size[0], size[1])
    half = np.full(3, size[0]) if kind == SPHERE else size
    return solids.ellipsoid(half, solids.SMALL_AROUND if many and kind == SPHERE else solids.AROUND)


def _face_normals(corners: Array) -> Array:
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-18)


def _welded(mesh: TriangleMesh) -> tuple[SolidSurface, Array | None]:
    """Return a mesh whose equal corners are one point, and its texture coordinates (n, 2), if any."""
    mapped = bool(np.all(np.isfinite(mesh.texcoords)))
    parts = [mesh.corners, mesh.normals, *([mesh.texcoords] if mapped else [])]
    rows = np.ascontiguousarray(np.concatenate(parts, axis=2).reshape(-1, 8 if mapped else 6).astype(np.float32))
    keys = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
    _, first, index = np.unique(keys, return_index=True, return_inverse=True)
    kept = rows[first].astype(float)
    surface = SolidSurface(kept[:, :3], kept[:, 3:6], index.reshape(-1, 3).astype(np.uint32))
    return surface, kept[:, 6:] if mapped else None


def _small_normals(normals: Array) -> NDArray[np.int8]:
    """Return normals (n, 4) in steps of 1/127; the fourth is there for the alignment that graphics cards like."""
    return np.pad(np.rint(127.0 * normals), ((0, 0), (0, 1))).astype(np.int8)


def _unwrapped(surface: SolidSurface, kind: int, row: NDArray[np.float32], own: Array | None) -> Array:
    """Return texture coordinates (n, 2) in repeats of the image, first row at the top, as the ray caster has them."""
    repeats = row[G_TEX_U : G_TEX_V + 1]
    if own is not None:
        return own * repeats
    x, y, z = surface.points.T
    normal = np.abs(surface.normals)
    on_x = (kind == BOX) & (normal[:, 0] > 0.5)
    flat = (kind == PLANE) | ((kind in (BOX, CYLINDER)) & (normal[:, 2] > 0.5))
    s, t = np.where(on_x, y, x), np.where(flat, y, z)
    return np.stack([s * repeats[0] - 0.5, -t * repeats[1] - 0.5], axis=1)


def _png(model: mujoco.MjModel, texture: int) -> bytes:
    """Return a texture of the model as a PNG file."""
    height, width = int(model.tex_height[texture]), int(model.tex_width[texture])
    channels, start = int(model.tex_nchannel[texture]), int(model.tex_adr[texture])
    raw = model.tex_data[start : start + height * width * channels].reshape(height, width, channels)
    color = raw[..., :3] if channels >= 3 else np.repeat(raw[..., :1], 3, axis=-1)
    image = Image.fromarray(np.ascontiguousarray(color))
    image.thumbnail((LARGEST_TEXTURE, LARGEST_TEXTURE))
    file = BytesIO()
    image.save(file, format="PNG", compress_level=1)
    return file.getvalue()


def _light(model: mujoco.MjModel, data: mujoco.MjData, light: int) -> dict[str, Any]:
    return {
        "directional": bool(model.light_type[light] == mujoco.mjtLightType.mjLIGHT_DIRECTIONAL),
        "position": data.light_xpos[light].tolist(),
        "direction": data.light_xdir[light].tolist(),
        "diffuse": model.light_diffuse[light].tolist(),
        "shadow": bool(model.light_castshadow[light]),
    }

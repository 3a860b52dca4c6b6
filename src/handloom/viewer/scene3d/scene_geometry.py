"""A model as rendered, packed into one file for the 3D view: shapes, materials, textures, lights.

The choice of geoms and their colours, materials and textures come from the ray caster's own table, so that the view
matches the images. Frames: z is up; quaternions are wxyz; lengths in metres; colours are linear light.
"""

from collections.abc import Sequence
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
    G_BAND_COLOR,
    G_BAND_HIGH,
    G_BAND_LOW,
    G_CASTS,
    G_COLOR,
    G_GLOW,
    G_METAL,
    G_SHININESS,
    G_TEX_ALONG,
    G_TEX_AROUND,
    G_TEX_MAPPED,
    G_TEX_SHIFT,
    G_TEX_U,
    G_TEX_V,
    G_TEXTURE,
    G_TYPE,
    HEIGHT_FIELD,
    MESH,
    PLANE,
    SPHERE,
    TURNED,
    W_HORIZON,
    W_NADIR,
    W_ZENITH,
)
from handloom.render.cpu.model.bvh import TriangleMesh, triangles_of_height_field, triangles_of_mesh
from handloom.render.cpu.model.geom_table import build_geom_table, drawn_geoms
from handloom.render.cpu.model.light_table import active_lights, build_world
from handloom.render.cpu.model.look_rows import apply_looks
from handloom.render.cpu.model.texture import TextureKey
from handloom.render.looks import Look, Turned, tables_of_turned
from handloom.render.patterns import pattern
from handloom.scene import Scene
from handloom.viewer.scene3d import solids
from handloom.viewer.scene3d.container import Container
from handloom.viewer.scene3d.solids import SolidSurface

LARGEST_TEXTURE = 1024
"""Maximum side of a texture sent to the page [px]."""
BAND_LIFT = 0.0003
"""Distance of a painted band from its surface [m]."""
MANY = 24
"""Balls are drawn with fewer edges if there are at least this many."""


def scene_geometry(scene: Scene) -> bytes:
    """Return all visible geometry of a scene, at its current poses, as one file."""
    return _Geometry(scene.world.model, scene.looks).packed(scene.world.data, first_view(scene))


def body_poses(data: mujoco.MjData) -> NDArray[np.float32]:
    """Return position [m] and orientation wxyz (bodies, 7) of every body in the world."""
    return np.concatenate([data.xpos, data.xquat], axis=1).astype(np.float32)


class _Geometry:
    """Writes each shape and texture once, regardless of how many geoms use it."""

    def __init__(self, model: mujoco.MjModel, looks: Sequence[Look]) -> None:
        self._model = model
        self._ids, self._looks = apply_looks(model, drawn_geoms(model), looks)
        given = [self._looks.get(geom) for geom in self._ids.tolist()]
        self._table = build_geom_table(model, self._ids, np.zeros(0, np.int32), given)
        self._container = Container()
        self._meshes: list[dict[str, Any]] = []
        self._mesh_of: dict[tuple[Any, ...], int] = {}
        self._balls = int(np.sum(model.geom_type[self._ids] == SPHERE))

    def packed(self, data: mujoco.MjData, focus: dict[str, Any]) -> bytes:
        """Return the file."""
        model = self._model
        rows = list(zip(self._ids.tolist(), self._table.geoms, strict=True))
        geoms = [entry for geom, row in rows for entry in (self._geom(geom, row), *self._band(geom, row))]
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
        model, look = self._model, self._looks.get(geom)
        own = look is not None and isinstance(look.shape, Turned)
        position, quat = (look.position, look.quat) if look is not None and own else (None, None)
        return {
            "id": geom,
            "name": model.geom(geom).name,
            "body": int(model.geom_bodyid[geom]),
            "position": model.geom_pos[geom].tolist() if position is None else list(position),
            "quat": model.geom_quat[geom].tolist() if quat is None else list(quat),
            "mesh": self._mesh(geom, row),
            "color": row[G_COLOR : G_COLOR + 3].tolist(),
            "opacity": float(row[G_ALPHA]),
            # Convert the exponent of a highlight, written by ``finish_row``, back to a roughness.
            "roughness": float((2.0 / (2.0 + row[G_SHININESS])) ** 0.25),
            "metal": float(row[G_METAL]),
            "glow": float(row[G_GLOW]),
            "texture": int(row[G_TEXTURE]),
            "shadow": bool(row[G_CASTS]),
        }

    def _band(self, geom: int, row: NDArray[np.float32]) -> list[dict[str, Any]]:
        """Return the painted band of a surface of revolution, as a surface just above its outside."""
        low, high = float(row[G_BAND_LOW]), float(row[G_BAND_HIGH])
        if int(row[G_TYPE]) != TURNED or high <= low:
            return []
        shape = self._looks[geom].shape
        assert isinstance(shape, Turned)
        pieces = _between(tables_of_turned(shape).outer, low, high)
        if not len(pieces):
            return []
        along = pieces[:, 2:] - pieces[:, :2]
        normal = np.column_stack([along[:, 1], -along[:, 0]]) / np.linalg.norm(along, axis=1, keepdims=True)
        surface = solids.turned(pieces + BAND_LIFT * np.array([1.0, 0.0, 1.0, 0.0]), np.tile(normal, 2))
        self._meshes.append(self._packed_surface(surface, sides=1))
        color = row[G_BAND_COLOR : G_BAND_COLOR + 3].tolist()
        return [{**self._geom(geom, row), "mesh": len(self._meshes) - 1, "color": color, "texture": -1}]

    def _packed_surface(self, surface: SolidSurface, *, sides: int) -> dict[str, Any]:
        """Write a surface; solids are closed and planes are visible only from the front, as in the ray caster."""
        return {
            "points": self._container.add(surface.points.astype(np.float32)),
            "normals": self._container.add(_small_normals(surface.normals)),
            "triangles": self._container.add(surface.triangles.ravel()),
            "sides": sides,
        }

    def _mesh(self, geom: int, row: NDArray[np.float32]) -> int:
        """Return the index of a geom's shape; equal shapes are written once."""
        model, kind = self._model, int(self._model.geom_type[geom])
        textured = row[G_TEXTURE] >= 0
        laid = (G_TEX_U, G_TEX_V, G_TEX_AROUND, G_TEX_ALONG, G_TEX_SHIFT, G_TEX_SHIFT + 1)
        repeats = tuple(row[list(laid)].tolist()) if textured else ()
        item = (int(model.geom_dataid[geom]),) if int(model.geom_dataid[geom]) >= 0 else ()
        look = self._looks.get(geom)
        shape = look.shape if look is not None and isinstance(look.shape, Turned) else None
        key = (kind, shape, *(item or tuple(model.geom_size[geom].tolist())), textured, *repeats)
        if key not in self._mesh_of:
            self._mesh_of[key] = len(self._meshes)
            self._meshes.append(self._written(geom, row, kind))
        return self._mesh_of[key]

    def _written(self, geom: int, row: NDArray[np.float32], kind: int) -> dict[str, Any]:
        if int(row[G_TYPE]) == TURNED:
            look = self._looks[geom]
            assert isinstance(look.shape, Turned)
            surface, texcoords = _revolved(look.shape), None
        elif kind in (PLANE, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX):
            surface = _solid(kind, self._model.geom_size[geom], many=self._balls >= MANY)
            texcoords = None
        else:
            read = triangles_of_mesh if kind == MESH else triangles_of_height_field
            mesh = read(self._model, int(self._model.geom_dataid[geom]))
            if int(row[G_TYPE]) == MESH:  # Drawn as a polytope, whose faces are flat.
                mesh = mesh._replace(normals=np.repeat(_face_normals(mesh.corners)[:, None], 3, axis=1))
            surface, texcoords = _welded(mesh)
        sides = 2 if kind in (MESH, HEIGHT_FIELD) and int(row[G_TYPE]) != TURNED else 1
        entry = self._packed_surface(surface, sides=sides)
        if row[G_TEXTURE] >= 0:
            own = texcoords if row[G_TEX_MAPPED] and texcoords is not None else None
            entry["uv"] = self._container.add(_unwrapped(surface, kind, row, own).astype(np.float32))
        return entry


def _revolved(shape: Turned) -> SolidSurface:
    surface = tables_of_turned(shape).surface
    return solids.turned(surface[0::2], surface[1::2])


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
    """Return a mesh with duplicate vertices merged, and its texture coordinates (n, 2), if any."""
    mapped = bool(np.all(np.isfinite(mesh.texcoords)))
    parts = [mesh.corners, mesh.normals, *([mesh.texcoords] if mapped else [])]
    rows = np.ascontiguousarray(np.concatenate(parts, axis=2).reshape(-1, 8 if mapped else 6).astype(np.float32))
    keys = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
    _, first, index = np.unique(keys, return_index=True, return_inverse=True)
    kept = rows[first].astype(float)
    surface = SolidSurface(kept[:, :3], kept[:, 3:6], index.reshape(-1, 3).astype(np.uint32))
    return surface, kept[:, 6:] if mapped else None


def _small_normals(normals: Array) -> NDArray[np.int8]:
    """Return normals (n, 4) in steps of 1/127; the fourth component is padding for alignment."""
    return np.pad(np.rint(127.0 * normals), ((0, 0), (0, 1))).astype(np.int8)


def _unwrapped(surface: SolidSurface, kind: int, row: NDArray[np.float32], own: Array | None) -> Array:
    """Return texture coordinates (n, 2) in repeats of the image, first row at the top, as in the ray caster."""
    repeats, shift = row[G_TEX_U : G_TEX_V + 1], row[G_TEX_SHIFT : G_TEX_SHIFT + 2]
    if own is not None:
        return own * repeats
    x, y, z = surface.points.T
    normal = np.abs(surface.normals)
    if row[G_TEX_AROUND] > 0 and surface.turns is not None:
        level = (normal[:, 2] > 0.9) & ((kind == CYLINDER) | (int(row[G_TYPE]) == TURNED))
        u = np.where(level, x * repeats[0], surface.turns * row[G_TEX_AROUND])
        return np.stack([u + shift[0], -np.where(level, y, z) * repeats[1] + shift[1]], axis=1)
    on_x = (kind == BOX) & (normal[:, 0] > 0.5)
    flat = (kind == PLANE) | ((kind in (BOX, CYLINDER)) & (normal[:, 2] > 0.5))
    s, t = np.where(on_x, y, x), np.where(flat, y, z)
    along = int(row[G_TEX_ALONG])
    swap = (flat & (along == 1)) | (~flat & (along == 2))
    u, v = np.where(swap, t, s), np.where(swap, s, t)
    return np.stack([u * repeats[0] - 0.5 + shift[0], -v * repeats[1] - 0.5 + shift[1]], axis=1)


def _between(pieces: Array, low: float, high: float) -> Array:
    """Return the parts of rising pieces (n, 4) of an outline between two heights [m]."""
    found = []
    for r0, z0, r1, z1 in pieces:
        if z1 <= max(low, z0) or z0 >= high:
            continue
        start, stop = ((np.clip(z, z0, z1) - z0) / (z1 - z0) for z in (low, high))
        ends = [(r0 + share * (r1 - r0), z0 + share * (z1 - z0)) for share in (start, stop)]
        found.append([*ends[0], *ends[1]])
    return np.array(found).reshape(-1, 4)


def _picture(model: mujoco.MjModel, texture: TextureKey) -> NDArray[np.uint8]:
    """Return the colours (h, w, 3) of a texture of the model, or of a pattern."""
    if not isinstance(texture, int):
        return pattern(*texture)[..., :3]
    height, width = int(model.tex_height[texture]), int(model.tex_width[texture])
    channels, start = int(model.tex_nchannel[texture]), int(model.tex_adr[texture])
    raw = model.tex_data[start : start + height * width * channels].reshape(height, width, channels)
    return raw[..., :3] if channels >= 3 else np.repeat(raw[..., :1], 3, axis=-1)


def _png(model: mujoco.MjModel, texture: TextureKey) -> bytes:
    """Return a texture as a PNG file."""
    image = Image.fromarray(np.ascontiguousarray(_picture(model, texture)))
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


UP = 0.62
"""Ratio of the viewpoint's height to its horizontal distance."""
ASIDE = np.deg2rad(38.0)
"""Angle of the viewpoint to the side of the line from the robots to the objects [rad]."""
NEAREST, FURTHEST = 0.42, 2.5
"""Bounds of the radius of the viewed region [m]."""


def first_view(scene: Scene) -> dict[str, Any]:
    """Return the initial view: ``center`` (3,) and ``radius`` [m], and the ``direction`` to the viewpoint."""
    objects = np.array(
        [
            scene.object_pose(obj.name)[:3, 3]
            for obj in scene.instance.objects
            if not obj.fixed and obj.visible and obj.name in scene.assets and obj.position[2] > -1.0
        ]
    ).reshape(-1, 3)
    bases = np.array([arm.T_world_base[:3, 3] for robot in scene.robots.values() for arm in robot.arms]).reshape(-1, 3)
    points = np.concatenate([objects, bases])
    if not len(points):
        return {"center": [0.0, 0.0, 0.5], "radius": 1.0, "direction": _direction(np.array([1.0, 0.0]))}
    work = objects.mean(axis=0) if len(objects) else bases.mean(axis=0)
    center = work if not len(bases) else 0.6 * work + 0.4 * bases.mean(axis=0)
    away = (work - bases.mean(axis=0))[:2] if len(bases) else np.array([1.0, 0.0])
    if np.linalg.norm(away) < 0.05:
        away = np.array([1.0, 0.0])
    radius = float(np.clip(np.linalg.norm(points - center, axis=1).max() + 0.12, NEAREST, FURTHEST))
    return {
        "center": (center + np.array([0.0, 0.0, 0.08])).tolist(),
        "radius": radius,
        "direction": _direction(away / np.linalg.norm(away)),
    }


def _direction(away: Array) -> list[float]:
    c, s = np.cos(ASIDE), np.sin(ASIDE)
    x, y = c * away[0] - s * away[1], s * away[0] + c * away[1]
    found = np.array([x, y, UP])
    return (found / np.linalg.norm(found)).tolist()

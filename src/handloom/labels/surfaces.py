"""The visible surface of each object as triangles: for outlines, boxes and parts."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.objects.geometry import geom_mesh
from handloom.render.looks import Look, Turned, outline_of_turned
from handloom.scene import Scene
from handloom.spatial import matrix_from_quat

DRAWN_GROUPS = 3
"""Geom groups 0 to 2 are visible, as everywhere in MuJoCo."""
DEFAULT_RGBA = np.array([0.5, 0.5, 0.5, 1.0], np.float32)
"""Default colour of a geom, which means that its material's colour is used."""
FLAT = (mujoco.mjtGeom.mjGEOM_PLANE, mujoco.mjtGeom.mjGEOM_HFIELD)
"""Infinite shapes and height fields, which have no outline."""
FLUID = "fluid"
"""Name shared by all grains of a fluid."""


@dataclass(frozen=True, kw_only=True, eq=False)
class MaskPart:
    """One rigid piece of an object or robot, as distinguished in masks."""

    number: int
    """Id in masks."""
    owner: str
    """Object, robot, ``fluid`` or ``world``."""
    name: str
    """Body within its owner: ``object`` for everything rigidly attached to it, ``drawer``, ``fr3_hand`` and so on."""
    body: int
    """Id of the body in the model; for a fluid, that of its first grain."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SeenSurface:
    """The visible triangles of an object, each fixed to a body."""

    vertices: Array
    """Corners (n, 3) in the frames of their bodies [m]."""
    rows: NDArray[np.int64]
    """Row of ``bodies`` by corner (n,)."""
    faces: NDArray[np.int64]
    """Triangles (m, 3)."""
    bodies: NDArray[np.int64]
    """Ids of its bodies (b,); the first is the root."""


class Surfaces:
    """The parts of a scene and the surfaces of its objects.

    Args:
        scene: The scene; only its model is read.
    """

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.model = scene.world.model

    @cached_property
    def objects(self) -> tuple[str, ...]:
        """Names of the visible objects that have an outline, in the order of the scene."""
        return tuple(name for name in self.scene.assets if len(self.surface(name).faces))

    @cached_property
    def parts(self) -> tuple[MaskPart, ...]:
        """Every visible part, by number."""
        found: dict[tuple[str, str], MaskPart] = {}
        for geom in self._drawn:
            owner, name, body = self._named(int(geom))
            found.setdefault((owner, name), MaskPart(number=len(found), owner=owner, name=name, body=body))
        return tuple(found.values())

    @cached_property
    def part_of_geom(self) -> NDArray[np.int64]:
        """Index of a part by geom id + 1 (ngeom + 1,); -1 for nothing."""
        numbers = {(part.owner, part.name): part.number for part in self.parts}
        table = np.full(self.model.ngeom + 1, -1, np.int64)
        for geom in self._drawn:
            owner, name, _ = self._named(int(geom))
            table[geom + 1] = numbers[owner, name]
        return table

    def surface(self, name: str) -> SeenSurface:
        """Return the visible surface of an object; no triangles if it is invisible or infinite."""
        if name not in self._surfaces:
            root = self.scene.world.body_index(self.scene.body_of(name))
            self._surfaces[name] = self._surface(root)
        return self._surfaces[name]

    @cached_property
    def _surfaces(self) -> dict[str, SeenSurface]:
        return {}

    @cached_property
    def _drawn(self) -> NDArray[np.int64]:
        model = self.model
        plain = (model.geom_matid < 0) | ~np.all(model.geom_rgba == DEFAULT_RGBA, axis=1)
        alpha = np.where(plain, model.geom_rgba[:, 3], model.mat_rgba[model.geom_matid, 3] if model.nmat else 1.0)
        return np.flatnonzero((model.geom_group < DRAWN_GROUPS) & (alpha > 0))

    @cached_property
    def _turned(self) -> tuple[Look, ...]:
        """Surfaces of revolution that are drawn in place of geoms."""
        return tuple(look for look in self.scene.looks if isinstance(look.shape, Turned))

    def _named(self, geom: int) -> tuple[str, str, int]:
        """Return owner, part and body of a geom."""
        body = int(self.model.geom_bodyid[geom])
        if body == 0:
            return (self.model.geom(geom).name.partition("/")[0] or "world"), "object", 0
        owner, _, part = self.model.body(body).name.partition("/")
        return (owner, FLUID, body) if owner == FLUID else (owner, part or "object", body)

    def _surface(self, root: int) -> SeenSurface:
        model = self.model
        inside = [root]
        for body in range(root + 1, model.nbody):
            if model.body_parentid[body] in inside:
                inside.append(body)
        drawn = set(self._drawn.tolist())
        vertices, rows, faces = [np.zeros((0, 3))], [np.zeros(0, np.int64)], [np.zeros((0, 3), np.int64)]
        count = 0
        hidden = {name for look in self.scene.looks for name in _hidden_by(look)}
        for row, body in enumerate(inside):
            first = int(model.body_geomadr[body])
            pieces = [
                (*_triangles(model, geom), model.geom_quat[geom], model.geom_pos[geom])
                for geom in range(first, first + int(model.body_geomnum[body]))
                if geom in drawn and model.geom_type[geom] not in FLAT and model.geom(geom).name not in hidden
            ]
            name = model.body(body).name
            pieces += [(*_revolved(look), look.quat, look.position) for look in self._turned if look.body == name]
            for corners, triangles, quat, position in pieces:
                vertices.append(corners @ matrix_from_quat(np.asarray(quat)).T + position)
                rows.append(np.full(len(corners), row))
                faces.append(triangles + count)
                count += len(corners)
        return SeenSurface(
            vertices=np.ascontiguousarray(np.concatenate(vertices)),
            rows=np.concatenate(rows),
            faces=np.concatenate(faces),
            bodies=np.array(inside),
        )

    def __iter__(self) -> Iterator[tuple[str, SeenSurface]]:
        return ((name, self.surface(name)) for name in self.objects)


def _hidden_by(look: Look) -> tuple[str, ...]:
    """Return the geoms that are hidden by a look; none for tubes, which follow their geoms closely."""
    if isinstance(look.shape, str):
        return look.hides[1:]
    return look.hides if isinstance(look.shape, Turned) else ()


SIDES = 96
"""Corners of a drawn circle: chords deviate by 0.05 % of the radius."""


def _revolved(look: Look) -> tuple[Array, NDArray[np.int64]]:
    """Return corners (n, 3) [m] and triangles (m, 3) of a surface of revolution about z."""
    assert isinstance(look.shape, Turned)
    outline = outline_of_turned(look.shape)
    angle = 2.0 * np.pi * np.arange(SIDES) / SIDES
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    flat = outline[:, None, :1] * ring
    heights = np.broadcast_to(outline[:, None, 1:], (len(outline), SIDES, 1))
    corners = np.concatenate([flat, heights], axis=2).reshape(-1, 3)
    level, side = np.meshgrid(np.arange(len(outline) - 1), np.arange(SIDES), indexing="ij")
    a, b = level * SIDES + side, level * SIDES + (side + 1) % SIDES
    triangles = np.stack([np.stack([a, b, a + SIDES], -1), np.stack([b, b + SIDES, a + SIDES], -1)], -2)
    return corners, triangles.reshape(-1, 3).astype(np.int64)


def _triangles(model: mujoco.MjModel, geom: int) -> tuple[Array, NDArray[np.int64]]:
    """Return corners (n, 3) [m] and triangles (m, 3) of a geom in its own frame; a mesh itself, not its hull."""
    if int(model.geom_type[geom]) != mujoco.mjtGeom.mjGEOM_MESH:
        vertices, faces = geom_mesh(model, geom)
        return vertices, faces.astype(np.int64)
    mesh = int(model.geom_dataid[geom])
    corner, face = int(model.mesh_vertadr[mesh]), int(model.mesh_faceadr[mesh])
    vertices = model.mesh_vert[corner : corner + model.mesh_vertnum[mesh]].astype(float)
    return vertices, model.mesh_face[face : face + model.mesh_facenum[mesh]].astype(np.int64)

"""Reading of moments from the states of a model, with the tables of the CPU version."""

from collections.abc import Sequence

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.render.cameras import camera_body
from handloom.render.cpu.arrays import make_beads
from handloom.render.cpu.layout import (
    G_BOX,
    G_HALF,
    G_POS,
    G_ROT,
    POSE,
    V_AXES,
    V_CX,
    V_CY,
    V_EYE,
    V_INV_FX,
    V_INV_FY,
    V_NEAR,
    V_PIXEL,
    VIEW_COLUMNS,
)
from handloom.render.cpu.model.geom_table import build_geom_table, drawn_geoms, split_beads
from handloom.render.cpu.model.light_table import active_lights, build_world, make_light_table, place_lamps
from handloom.render.cpu.model.look_rows import PlacedLooks, apply_looks
from handloom.render.cpu.model.texture import texture_arrays
from handloom.render.cpu.rays.beads import place_beads
from handloom.render.cpu.reflect import mirror_rows, mirrored_view
from handloom.render.cuda.moments import BEAD_BOX, DrawnModel, Moments, named
from handloom.render.looks import Look
from handloom.values import CameraSpec


class MomentReader:
    """Reads moments from the states of one model.

    Args:
        model: The model to render. Shapes, colours, lights and textures are read once, here.
        mirrors: Whether mirrors are rendered.
        looks: Shapes to render in place of geoms.
        reflections: Whether windows of the surroundings are reflected; None means the same as ``mirrors``.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        *,
        mirrors: bool,
        looks: Sequence[Look] = (),
        reflections: bool | None = None,
    ) -> None:
        self._model = model
        ids, shown = apply_looks(model, drawn_geoms(model), looks)
        self._ids, self._bead_ids = split_beads(model, ids)
        self._looks = PlacedLooks(model, self._ids, shown)
        shapes = build_geom_table(model, self._ids, self._bead_ids, [shown.get(geom) for geom in self._ids.tolist()])
        textures, texels = texture_arrays(model, shapes.textures)
        self._lights = active_lights(model)
        self._light_table = make_light_table(model)
        self._bead_row = shapes.geoms[-1].copy() if len(self._bead_ids) else np.zeros(0, np.float32)
        self._bead_table = make_beads(len(self._bead_ids))
        meshes = shapes.meshes
        drawn = DrawnModel(
            geoms=shapes.geoms,
            hulls=shapes.hulls,
            nodes=meshes.nodes,
            grids=meshes.grids,
            triangles=meshes.triangles,
            corners=meshes.corners,
            textures=textures,
            texels=texels,
            world=build_world(model, reflections=mirrors if reflections is None else reflections),
            ids=np.concatenate([np.array([-1], np.int32), self._ids, self._bead_ids]),
            mirrors=mirror_rows(shapes.geoms) if mirrors else np.zeros(0, np.int32),
            lights=len(self._light_table),
            headlight=bool(model.vis.headlight.active),
            beads=len(self._bead_ids),
        )
        self.drawn = named(drawn)
        self._mounts: dict[CameraSpec, tuple[int, Array]] = {}
        self._read: list[tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]] = []

    def read(self, data: mujoco.MjData, cameras: Sequence[CameraSpec]) -> None:
        """Add the current state; needs positions computed by ``mj_kinematics`` and ``mj_camlight``."""
        poses = np.zeros(len(self.drawn.geoms) * POSE + BEAD_BOX, np.float32)
        rows = poses[:-BEAD_BOX].reshape(-1, POSE)
        count = len(self._ids)
        positions, rotations = data.geom_xpos[self._ids], data.geom_xmat[self._ids]
        self._looks.place(data, positions, rotations)
        rows[:count, :9], rows[:count, 9:] = rotations, positions
        centres = data.geom_xpos[self._bead_ids]
        if len(centres):
            place_beads(self._bead_row, self._bead_table, centres)
            rows[-1, :9] = np.eye(3).ravel()
            poses[-BEAD_BOX:-3] = self._bead_row[G_BOX : G_BOX + 3]
            poses[-3:] = self._bead_row[G_HALF : G_HALF + 3]
        place_lamps(self._model, data, self._lights, self._light_table)
        views = np.array([self._views(data, camera, rows) for camera in cameras], np.float32)
        views = views.reshape(len(cameras), 1 + len(self.drawn.mirrors), VIEW_COLUMNS)
        self._read.append((poses, self._light_table.copy(), centres.astype(np.float32), views))

    def take(self, cameras: Sequence[CameraSpec]) -> Moments:
        """Return the moments read since the last call, with the cameras of those reads."""
        poses, lights, beads, rows = (np.stack(parts) for parts in zip(*self._read, strict=True))
        self._read.clear()
        bodies = [self._model.body_weldid[self._mount(camera)[0]] for camera in cameras]
        sizes = np.array([(camera.width, camera.height) for camera in cameras], np.int32)
        return Moments(self.drawn, poses, lights, beads, rows, np.array(bodies, np.float32), sizes)

    def forget(self) -> None:
        """Drop the moments read since the last call of ``take``."""
        self._read.clear()

    def _mount(self, camera: CameraSpec) -> tuple[int, Array]:
        if camera not in self._mounts:
            self._mounts[camera] = camera_body(self._model, camera), camera.T_parent_camera
        return self._mounts[camera]

    def _views(self, data: mujoco.MjData, camera: CameraSpec, poses: NDArray[np.float32]) -> list[NDArray[np.float32]]:
        """Return the row of a camera, then those of its reflections behind the mirrors."""
        body, T_body_camera = self._mount(camera)
        R_world_body = data.xmat[body].reshape(3, 3)
        R_world_camera = R_world_body @ T_body_camera[:3, :3]
        p_world_camera = R_world_body @ T_body_camera[:3, 3] + data.xpos[body]
        view = np.empty(VIEW_COLUMNS, np.float32)
        view[V_INV_FX], view[V_INV_FY], view[V_CX], view[V_CY] = 1 / camera.fx, 1 / camera.fy, camera.cx, camera.cy
        view[V_NEAR], view[V_PIXEL] = camera.near, 1 / camera.fy
        view[V_EYE : V_EYE + 3] = p_world_camera
        view[V_AXES : V_AXES + 9] = R_world_camera.ravel()
        views = [view]
        for row in self.drawn.mirrors:
            mirror = self.drawn.geoms[row].copy()
            mirror[G_ROT : G_ROT + 9], mirror[G_POS : G_POS + 3] = poses[row, :9], poses[row, 9:]
            views.append(mirrored_view(view, mirror))
        return views

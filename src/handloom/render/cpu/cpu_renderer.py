"""The Python face of the ray caster: owns the arrays of one model, draws it from any camera."""

from collections.abc import Iterable

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.render.cameras import camera_body, camera_pose
from handloom.render.cpu.arrays import CanvasArrays, FrameArrays, SceneArrays, make_canvas, make_frame
from handloom.render.cpu.frame import draw
from handloom.render.cpu.geom_table import build_geom_table, drawn_geoms
from handloom.render.cpu.layout import (
    BANDS,
    CASTER_COLUMNS,
    L_POS,
    L_W,
    TILE_HEIGHT,
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
from handloom.render.cpu.light_table import build_world, make_light_table, write_lights
from handloom.render.cpu.placement import place_geoms, place_lights, place_view
from handloom.render.cpu.texture import texture_arrays
from handloom.render.preset import CpuPreset
from handloom.values import CameraSpec


class CpuRenderer:
    """Draws one model with the ray caster; not safe to share between threads, make one per worker.

    Args:
        model: The model to draw. Shapes, colours, lights and textures are read once, here.
        preset: Which effects are on.
    """

    def __init__(self, model: mujoco.MjModel, preset: CpuPreset) -> None:
        self._model = model
        self._preset = preset
        self._ids = drawn_geoms(model)
        self._ids_or_none = np.concatenate([np.array([-1], np.int32), self._ids])
        geoms, hulls, used = build_geom_table(model, self._ids)
        textures, texels = texture_arrays(model, used)
        lights = make_light_table(model)
        count = len(self._ids)
        self._scene = SceneArrays(
            geoms=geoms,
            hulls=hulls,
            lights=lights,
            casters=np.zeros((len(lights), count, CASTER_COLUMNS), np.float32),
            bands=np.zeros((len(lights), count, BANDS, 2), np.float32),
            textures=textures,
            texels=texels,
            world=build_world(model),
        )
        self._canvases: dict[tuple[int, int], CanvasArrays] = {}
        self._corners = np.zeros((3, 8))
        self._bands = np.zeros((BANDS, 2))

    def place(self, data: mujoco.MjData) -> None:
        """Move geoms and lights to where ``data`` has them; needs positions computed by ``mj_kinematics`` and on."""
        scene = self._scene
        place_geoms(scene.geoms, data.geom_xpos[self._ids], data.geom_xmat[self._ids])
        write_lights(self._model, data, scene.lights)
        if self._preset.shadows:
            place_lights(scene.geoms, scene.lights, scene.casters, scene.bands, self._corners, self._bands)

    def draw(self, data: mujoco.MjData, camera: CameraSpec, kinds: Iterable[str]) -> FrameArrays:
        """Draw the placed scene from one camera."""
        wanted = frozenset(kinds)
        canvas = self._canvas(camera.width, camera.height)
        view = self._view(camera, camera_pose(self._model, data, camera))
        body = float(self._model.body_weldid[camera_body(self._model, camera)])
        rows = -(-camera.height // TILE_HEIGHT)
        place_view(self._scene.geoms, view, body, canvas, self._corners, np.empty((rows, 2)))
        frame = make_frame(camera.width, camera.height, wanted)
        preset = self._preset
        draw(
            self._scene,
            view,
            canvas,
            frame,
            self._ids_or_none,
            preset.shadows,
            preset.ambient_occlusion,
            preset.smoothing,
        )
        return frame

    def _canvas(self, width: int, height: int) -> CanvasArrays:
        """Return the scratch of an image size, allocated once."""
        if (width, height) not in self._canvases:
            self._canvases[width, height] = make_canvas(width, height, len(self._ids))
        return self._canvases[width, height]

    def _view(self, camera: CameraSpec, T_world_camera: NDArray[np.float64]) -> NDArray[np.float32]:
        """Return the camera row, and carry the headlight to the camera."""
        view = np.zeros(VIEW_COLUMNS, np.float32)
        view[[V_INV_FX, V_INV_FY, V_CX, V_CY]] = 1 / camera.fx, 1 / camera.fy, camera.cx, camera.cy
        view[V_NEAR], view[V_PIXEL] = camera.near, 1 / camera.fy
        view[V_EYE : V_EYE + 3] = T_world_camera[:3, 3]
        view[V_AXES : V_AXES + 9] = T_world_camera[:3, :3].ravel()
        if self._model.vis.headlight.active:
            headlight = self._scene.lights[-1]
            headlight[L_POS : L_POS + 3] = T_world_camera[:3, 3]
            headlight[L_W : L_W + 3] = -T_world_camera[:3, 2]
        return view

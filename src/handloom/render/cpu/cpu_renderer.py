"""The Python interface of the ray caster: owns the arrays of one model and renders it from any camera."""

from collections.abc import Iterable, Sequence
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.render.cameras import camera_body
from handloom.render.cpu.arrays import (
    CanvasArrays,
    FrameArrays,
    ImagePool,
    MirrorArrays,
    SceneArrays,
    make_beads,
    make_boxes,
    make_canvas,
    make_casters,
    make_frame,
    make_mirrors,
)
from handloom.render.cpu.frame import draw
from handloom.render.cpu.layout import (
    L_POS,
    L_W,
    TILE_WIDTH,
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
from handloom.render.cpu.model.outline import CORNERS, CUTS
from handloom.render.cpu.model.placement import place_geoms, place_lights, place_view
from handloom.render.cpu.model.texture import texture_arrays
from handloom.render.cpu.rays.beads import place_beads
from handloom.render.cpu.reflect import add_mirror_images, mirror_rows, mirrored_view
from handloom.render.cpu.tile_reuse import find_changes
from handloom.render.looks import Look
from handloom.render.preset import CpuPreset
from handloom.values import CameraSpec
from handloom.values.camera import PIXELS, most_pixels

# Number of cameras whose last image is stored; one of 640 x 480 pixels takes 6 MB.
MAX_CANVASES = 8
# Kinds that are rendered tile by tile into a separate image of the camera, not onto its canvas.
OWN_IMAGES = ("normals", "albedo")


class CpuRenderer:
    """Renders one model with the ray caster; not thread-safe, so create one per worker.

    Args:
        model: The model to render. Shapes, colours, lights and textures are read once, here.
        preset: The enabled effects.
        looks: Shapes to render in place of geoms.
        geoms: Ids of the geoms to render; by default all visible ones. Hidden ones stay hidden.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        preset: CpuPreset,
        *,
        looks: Sequence[Look] = (),
        geoms: NDArray[np.int32] | None = None,
    ) -> None:
        self._model = model
        self._preset = preset
        self._ids = drawn_geoms(model)
        if geoms is not None:
            self._ids = np.intersect1d(self._ids, geoms).astype(np.int32)
        self._ids, shown = apply_looks(model, self._ids, looks)
        self._ids, self._bead_ids = split_beads(model, self._ids)
        self._looks = PlacedLooks(model, self._ids, shown)
        self._ids_or_none = np.concatenate([np.array([-1], np.int32), self._ids, self._bead_ids])
        shapes = build_geom_table(model, self._ids, self._bead_ids, [shown.get(geom) for geom in self._ids.tolist()])
        textures, texels = texture_arrays(model, shapes.textures)
        self._lights = active_lights(model)
        lights = make_light_table(model)
        count = len(shapes.geoms)
        self._scene = SceneArrays(
            geoms=shapes.geoms,
            hulls=shapes.hulls,
            meshes=shapes.meshes,
            lights=lights,
            casters=make_casters(len(lights), count),
            boxes=make_boxes(count),
            textures=textures,
            texels=texels,
            beads=make_beads(len(self._bead_ids)),
            world=build_world(model, reflections=preset.reflections),
        )
        self._canvases: dict[CameraSpec, CanvasArrays] = {}
        self._drawn: dict[CameraSpec, frozenset[str]] = {}
        self._own: dict[CameraSpec, dict[str, NDArray[Any]]] = {}
        self._mirror_rows = mirror_rows(shapes.geoms) if preset.mirrors else np.zeros(0, np.int32)
        self._mirrors: dict[int, MirrorArrays] = {}
        self._mounts: dict[CameraSpec, tuple[int, Array]] = {}
        self._images = ImagePool()
        self._lamps = b""
        self._points = np.zeros((3, CORNERS + CUTS))

    def place(self, data: mujoco.MjData) -> None:
        """Move geoms and lights to their poses in ``data``, which needs the results of ``mj_kinematics`` or later."""
        scene = self._scene
        if len(self._bead_ids):
            place_beads(scene.geoms[-1], scene.beads, data.geom_xpos[self._bead_ids])
            positions = np.vstack([data.geom_xpos[self._ids], np.zeros(3)])
            rotations = np.vstack([data.geom_xmat[self._ids], np.eye(3).ravel()])
        else:
            positions, rotations = data.geom_xpos[self._ids], data.geom_xmat[self._ids]
        self._looks.place(data, positions, rotations)
        place_geoms(scene.geoms, scene.boxes, positions, rotations)
        lamps = data.light_xpos.tobytes() + data.light_xdir.tobytes()
        if lamps != self._lamps:
            place_lamps(self._model, data, self._lights, scene.lights)
            self._lamps = lamps
        if self._preset.shadows:
            place_lights(scene.geoms, scene.lights, scene.casters, self._points)

    def draw(self, data: mujoco.MjData, camera: CameraSpec, kinds: Iterable[str]) -> FrameArrays:
        """Render the placed scene from one camera."""
        wanted = frozenset(kinds)
        canvas = self._canvas(camera)
        body, T_body_camera = self._mount(camera)
        R_world_body = data.xmat[body].reshape(3, 3)
        R_world_camera = R_world_body @ T_body_camera[:3, :3]
        p_world_camera = R_world_body @ T_body_camera[:3, 3] + data.xpos[body]
        view = self._view(camera, R_world_camera, p_world_camera)
        weld = float(self._model.body_weldid[body])
        self._place_view(self._scene.geoms, view, weld, canvas.first, canvas.last, camera.width)
        keep = self._can_keep(camera, canvas, view, wanted)
        frame = make_frame(self._images, camera.width, camera.height, wanted)
        # Kept tiles are not rendered again, so these images start from the previous ones.
        own = self._own.setdefault(camera, {})
        for kind in OWN_IMAGES:
            if kind in wanted and kind not in own:
                own[kind] = np.empty_like(getattr(frame, kind))
        drawn = {kind: own[kind] for kind in OWN_IMAGES if kind in wanted}
        preset = self._preset
        mirrored = len(self._mirror_rows) > 0 and "rgb" in wanted
        draw(
            self._scene,
            view,
            canvas,
            frame._replace(**drawn),
            self._ids_or_none,
            keep,
            mirrored,
            preset.shadows,
            preset.ambient_occlusion,
            preset.smoothing,
        )
        for kind, image in drawn.items():
            np.copyto(getattr(frame, kind), image)
        self._drawn[camera] = wanted
        if mirrored:
            mirrors = self._place_mirrors(view, weld, camera)
            add_mirror_images(self._scene, mirrors, view, canvas, frame, preset.shadows, preset.ambient_occlusion)
        return frame

    def _place_mirrors(self, view: NDArray[np.float32], weld: float, camera: CameraSpec) -> MirrorArrays:
        """Reflect the camera in every mirror and write the tables of the reflected cameras."""
        if camera.height not in self._mirrors:
            self._mirrors[camera.height] = make_mirrors(self._mirror_rows, self._scene.geoms, camera.height)
        mirrors = self._mirrors[camera.height]
        for k, row in enumerate(mirrors.rows):
            mirrors.geoms[k] = self._scene.geoms
            mirrors.views[k] = mirrored_view(view, self._scene.geoms[row])
            first, last = mirrors.first[k], mirrors.last[k]
            self._place_view(mirrors.geoms[k], mirrors.views[k], weld, first, last, camera.width)
        return mirrors

    def _place_view(
        self,
        geoms: NDArray[np.float32],
        view: NDArray[np.float32],
        weld: float,
        first: NDArray[np.int32],
        last: NDArray[np.int32],
        width: int,
    ) -> None:
        """Write the data of every geom for one camera, possibly behind a mirror."""
        columns = -(-width // TILE_WIDTH)
        place_view(geoms, view, weld, first, last, columns, self._points, np.empty((len(first), 2)))

    def _canvas(self, camera: CameraSpec) -> CanvasArrays:
        """Return the buffers of a camera; only the most recently used cameras keep theirs."""
        canvas = self._canvases.pop(camera, None)
        if canvas is None:
            if camera.width * camera.height > most_pixels():
                raise InputError(
                    f"camera {camera.name!r}: an image of {camera.width} x {camera.height} has more than "
                    f"{most_pixels()} pixels; choose a smaller size, or set a higher limit in {PIXELS}"
                )
            if len(self._canvases) == MAX_CANVASES:
                oldest = next(iter(self._canvases))
                canvas = self._canvases.pop(oldest)
                del self._drawn[oldest]
                self._own.pop(oldest, None)
            if canvas is None or canvas.key.shape != (camera.height, camera.width):
                canvas = make_canvas(camera.width, camera.height, self._scene)
            self._drawn[camera] = frozenset()
        self._canvases[camera] = canvas
        return canvas

    def _can_keep(
        self, camera: CameraSpec, canvas: CanvasArrays, view: NDArray[np.float32], wanted: frozenset[str]
    ) -> bool:
        """Return whether a camera's last image has tiles to keep; until the next image is finished, it has none."""
        scene = self._scene
        bits = [table.view(np.int32) for table in (scene.geoms, scene.beads, scene.lights, view)]
        same_kinds = wanted == self._drawn[camera]
        self._drawn[camera] = frozenset()
        return find_changes(*bits, canvas.poses, canvas.bead_places, canvas.setting, canvas.changed) and same_kinds

    def _mount(self, camera: CameraSpec) -> tuple[int, Array]:
        """Return the body that carries a camera and the camera's pose in it, looked up once."""
        if camera not in self._mounts:
            self._mounts[camera] = camera_body(self._model, camera), camera.T_parent_camera
        return self._mounts[camera]

    def _view(self, camera: CameraSpec, R_world_camera: Array, p_world_camera: Array) -> NDArray[np.float32]:
        """Return the camera row, and move the headlight to the camera."""
        view = np.empty(VIEW_COLUMNS, np.float32)
        view[V_INV_FX], view[V_INV_FY], view[V_CX], view[V_CY] = 1 / camera.fx, 1 / camera.fy, camera.cx, camera.cy
        view[V_NEAR], view[V_PIXEL] = camera.near, 1 / camera.fy
        view[V_EYE : V_EYE + 3] = p_world_camera
        view[V_AXES : V_AXES + 9] = R_world_camera.ravel()
        if self._model.vis.headlight.active:
            headlight = self._scene.lights[-1]
            headlight[L_POS : L_POS + 3] = p_world_camera
            headlight[L_W : L_W + 3] = -R_world_camera[:, 2]
        return view

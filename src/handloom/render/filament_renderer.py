"""MuJoCo's Filament renderer, with the same interface as the ray caster."""

import importlib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.errors import InputError, StateError
from handloom.render.cameras import Frustum, camera_pose, frustum_of
from handloom.render.cpu.arrays import FrameArrays
from handloom.render.drivers import find_vulkan_device
from handloom.render.preset import FilamentPreset
from handloom.values import CameraSpec

KINDS = frozenset({"rgb", "depth", "segmentation"})


class FilamentRenderer:
    """Renders one model with Filament over Vulkan.

    The context dithers over time, so that two renderings of the same frame differ in the last bits; a new renderer for
    every episode makes the sequence of images repeatable.

    Args:
        model: The model to render.
        preset: Shadows and anti-aliasing.
        probed: A test has shown that this process will survive.

    Raises:
        StateError: No Vulkan device works on this machine.
    """

    def __init__(self, model: mujoco.MjModel, preset: FilamentPreset, *, probed: bool = False) -> None:
        if not probed and find_vulkan_device().device is None:
            raise StateError(
                f"Filament cannot render here: {find_vulkan_device().reason}; the backend 'cpu' needs no driver"
            )
        self._model = model
        self._preset = preset
        # Importing the studio registers the materials that every scene needs.
        importlib.import_module("mujoco.studio")
        self._api: Any = importlib.import_module("mujoco.mjrf")
        model_scene: Any = importlib.import_module("mujoco.rendering.filament.model_scene")
        with _output_on_stderr(), _textures_as_srgb(model):
            config = self._api.ContextConfig(graphics_api=self._api.GraphicsApi.GRAPHICS_API_VULKAN)
            self._context = self._api.Context(config)
            self._scene = model_scene.ModelScene(self._context, model)
        self._scene.scene.set_msaa(preset.samples)
        self._targets: dict[tuple[str, int, int], Any] = {}

    def place(self, data: mujoco.MjData) -> None:
        """Update the scene to the poses in ``data``."""
        self._scene.update(data)

    def draw(self, data: mujoco.MjData, camera: CameraSpec, kinds: Iterable[str]) -> FrameArrays:
        """Render the placed scene from one camera; one pass per kind."""
        wanted = frozenset(kinds)
        if wanted - KINDS:
            raise InputError(
                f"the filament backend cannot render {', '.join(sorted(wanted - KINDS))}; try backend='cpu'"
            )
        frustum = frustum_of(self._model, camera)
        eye = self._eye(camera_pose(self._model, data, camera), frustum)
        area = camera.height, camera.width
        rgb, normals = np.empty((0, 0, 3), np.uint8), np.empty((0, 0, 3), np.float32)
        depth, ids = np.empty((0, 0), np.float32), np.empty((0, 0), np.int32)
        if "rgb" in wanted:
            rgb = self._read(eye, "DEFAULT", "RGB8", np.empty((*area, 3), np.uint8))
        if "depth" in wanted:
            depth = frustum.depth(self._read(eye, "DEPTH", "R32F", np.empty(area, np.float32)))
        if "segmentation" in wanted:
            code = self._read(eye, "SEGMENTATION_BY_ID", "RGB8", np.empty((*area, 3), np.uint8)).astype(np.int32)
            ids = code[..., 0] + (code[..., 1] << 8) + (code[..., 2] << 16) - 1
        return FrameArrays(rgb=rgb, depth=depth, segmentation=ids, normals=normals, albedo=rgb[:0])

    def _eye(self, T_world_camera: Array, frustum: Frustum) -> Any:
        """Return Filament's camera."""
        return self._api.Camera(
            pos=T_world_camera[:3, 3],
            forward=T_world_camera[:3, 2],
            up=-T_world_camera[:3, 1],
            frustum_near=frustum.near,
            frustum_far=frustum.far,
            frustum_center=frustum.center,
            frustum_width=frustum.width,
            frustum_bottom=frustum.bottom,
            frustum_top=frustum.top,
        )

    def _read(self, eye: Any, mode: str, pixel_format: str, pixels: NDArray) -> NDArray:
        """Render once into an array."""
        height, width = pixels.shape[:2]
        target = self._target(pixel_format, width, height)
        plain = mode == "DEFAULT"
        request = self._api.RenderRequest(
            scene=self._scene.scene,
            target=target,
            camera=eye,
            draw_mode=getattr(self._api.DrawMode, f"DRAW_MODE_{mode}"),
            post_processing=plain,
            shadows=plain and self._preset.shadows,
            reflections=plain and self._preset.reflections,
        )
        request.viewport.left, request.viewport.bottom = 0, 0
        request.viewport.width, request.viewport.height = width, height
        read = self._api.ReadRequest(target=target)
        read.set_buffer(pixels)
        self._context.wait_for_frame(self._context.render([request], [read]))
        return pixels

    def _target(self, pixel_format: str, width: int, height: int) -> Any:
        """Return the render target, created once per format and size."""
        key = pixel_format, width, height
        if key not in self._targets:
            kind = getattr(self._api.PixelFormat, f"PIXEL_FORMAT_{pixel_format}")
            config = self._api.RenderTargetConfig(width=width, height=height, color_format=kind)
            self._targets[key] = self._context.create_render_target(config)
            self._targets[key].resize(width, height)
        return self._targets[key]


@contextmanager
def _output_on_stderr() -> Iterator[None]:
    """Redirect the engine's start-up messages to stderr, since stdout is for the command's results."""
    before = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        os.dup2(before, 1)
        os.close(before)


@contextmanager
def _textures_as_srgb(model: mujoco.MjModel) -> Iterator[None]:
    """Treat textures without a colour space as sRGB, which images use; the model is restored afterwards."""
    before = model.tex_colorspace.copy()
    model.tex_colorspace[before == mujoco.mjtColorSpace.mjCOLORSPACE_AUTO] = mujoco.mjtColorSpace.mjCOLORSPACE_SRGB
    try:
        yield
    finally:
        model.tex_colorspace[:] = before

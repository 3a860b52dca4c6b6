"""MuJoCo's classic renderer, with the same interface as the ray caster."""

import importlib
from collections.abc import Iterable

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.errors import InputError, StateError
from handloom.render.cameras import Frustum, camera_pose, frustum_of
from handloom.render.cpu.arrays import FrameArrays
from handloom.render.drivers import find_gl_platform
from handloom.render.preset import GlPreset
from handloom.values import CameraSpec

KINDS = frozenset({"rgb", "depth", "segmentation"})
MAX_GEOMS = 10_000


class GlRenderer:
    """Renders one model with OpenGL; bound to the thread that created it.

    Args:
        model: The model to render.
        preset: Shadow and multisampling quality.

    Raises:
        StateError: No OpenGL platform works on this machine.
    """

    def __init__(self, model: mujoco.MjModel, preset: GlPreset) -> None:
        platform = find_gl_platform()
        if platform.name is None:
            raise StateError(f"no OpenGL platform works here: {platform.reason}; the backend 'cpu' needs none")
        self._model = model
        self._preset = preset
        self._module = importlib.import_module(f"mujoco.{platform.name}")
        self._size = (0, 0)
        self._context = self._mjr = None
        self._scene = mujoco.MjvScene(model, maxgeom=MAX_GEOMS)
        self._option = mujoco.MjvOption()
        self._option.geomgroup[:3] = 1
        self._option.geomgroup[3:] = 0
        self._option.sitegroup[:] = 0
        self._camera = mujoco.MjvCamera()

    def place(self, data: mujoco.MjData) -> None:
        """Update the scene to the poses in ``data``."""
        everything = mujoco.mjtCatBit.mjCAT_ALL
        mujoco.mjv_updateScene(self._model, data, self._option, None, self._camera, everything, self._scene)
        self._scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = self._preset.shadows

    def draw(self, data: mujoco.MjData, camera: CameraSpec, kinds: Iterable[str]) -> FrameArrays:
        """Render the placed scene from one camera; one pass per kind."""
        wanted = frozenset(kinds)
        if wanted - KINDS:
            raise InputError(f"the gl backend cannot render {', '.join(sorted(wanted - KINDS))}; try backend='cpu'")
        self._resize(camera.width, camera.height)
        frustum = frustum_of(self._model, camera)
        self._aim(frustum, camera_pose(self._model, data, camera))
        none = np.empty((0, 0, 3))
        height, width = camera.height, camera.width
        return FrameArrays(
            rgb=self._read(height, width) if "rgb" in wanted else none.astype(np.uint8),
            depth=self._depth(height, width, frustum) if "depth" in wanted else np.empty((0, 0), np.float32),
            segmentation=self._ids(height, width) if "segmentation" in wanted else np.empty((0, 0), np.int32),
            normals=none.astype(np.float32),
            albedo=none.astype(np.uint8),
        )

    def close(self) -> None:
        """Free the context now; OSMesa complains when the interpreter does it at exit."""
        if self._mjr is not None:
            self._mjr.free()
        if self._context is not None:
            self._context.free()
        self._mjr = self._context = None
        self._size = (0, 0)

    def _resize(self, width: int, height: int) -> None:
        """Create a context for images of this size; the model's own settings are restored afterwards."""
        if width <= self._size[0] and height <= self._size[1]:
            self._context.make_current()  # pyright: ignore[reportOptionalMemberAccess]
            return
        size = (max(width, self._size[0]), max(height, self._size[1]))
        self.close()
        self._context = self._module.GLContext(*size)
        self._context.make_current()
        quality, screen = self._model.vis.quality, self._model.vis.global_
        before = screen.offwidth, screen.offheight, quality.offsamples, quality.shadowsize
        screen.offwidth, screen.offheight = size
        quality.offsamples, quality.shadowsize = self._preset.samples, self._preset.shadow_size
        self._mjr = mujoco.MjrContext(self._model, mujoco.mjtFontScale.mjFONTSCALE_150.value)
        screen.offwidth, screen.offheight, quality.offsamples, quality.shadowsize = before
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value, self._mjr)
        self._mjr.readDepthMap = mujoco.mjtDepthMap.mjDEPTH_ZEROFAR
        self._size = size

    def _aim(self, frustum: Frustum, T_world_camera: Array) -> None:
        """Set pose and frustum of both eyes of the scene."""
        for eye in self._scene.camera:
            eye.pos = T_world_camera[:3, 3]
            eye.forward = T_world_camera[:3, 2]
            eye.up = -T_world_camera[:3, 1]
            eye.frustum_near, eye.frustum_far = frustum.near, frustum.far
            eye.frustum_center, eye.frustum_width = frustum.center, frustum.width
            eye.frustum_bottom, eye.frustum_top = frustum.bottom, frustum.top

    def _read(self, height: int, width: int, *, flat: bool = False, depth: bool = False) -> NDArray:
        """Render once and read the pixels, top row first."""
        for flag in (mujoco.mjtRndFlag.mjRND_SEGMENT, mujoco.mjtRndFlag.mjRND_IDCOLOR):
            self._scene.flags[flag] = flat
        rect = mujoco.MjrRect(0, 0, width, height)
        mujoco.mjr_render(rect, self._scene, self._mjr)
        pixels = np.empty((height, width) if depth else (height, width, 3), np.float32 if depth else np.uint8)
        mujoco.mjr_readPixels(None if depth else pixels, pixels if depth else None, rect, self._mjr)
        return np.ascontiguousarray(pixels[::-1])

    def _depth(self, height: int, width: int, frustum: Frustum) -> NDArray[np.float32]:
        """Return planar depth [m]."""
        return frustum.depth(self._read(height, width, flat=True, depth=True))

    def _ids(self, height: int, width: int) -> NDArray[np.int32]:
        """Return geom ids: colours are indices of scene geoms, which refer to geoms of the model."""
        code = self._read(height, width, flat=True).astype(np.int32)
        number = code[..., 0] + (code[..., 1] << 8) + (code[..., 2] << 16)
        table = np.full(self._scene.ngeom + 1, -1, np.int32)
        for geom in self._scene.geoms[: self._scene.ngeom]:
            if geom.segid >= 0 and geom.objtype == mujoco.mjtObj.mjOBJ_GEOM:
                table[geom.segid + 1] = geom.objid
        return table[number]

"""The Python interface of the ray caster on a GPU: reads moments from states, has them rendered, returns the images."""

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import mujoco
import numpy as np

from handloom.errors import InputError
from handloom.render.cpu.arrays import FrameArrays
from handloom.render.cuda.drawing_client import DRAWING, SLOTS, CardDrawing, make_drawing
from handloom.render.cuda.moment_reader import MomentReader
from handloom.render.looks import Look
from handloom.render.preset import CpuPreset
from handloom.values import CameraSpec
from handloom.values.camera import PIXELS, most_pixels

# Pixels submitted at a time; this number keeps a GPU busy, and the images take a few megabytes.
PIXELS_AT_ONCE = 1 << 22


class CudaRenderer:
    """Renders one model on a GPU, bit-identical to the ray caster on the CPU.

    Args:
        model: The model to render. Shapes, colours, lights and textures are read once, here.
        preset: The enabled effects, which are those of the CPU ray caster.
        drawing: The client that renders; by default that of the run's rendering process, or a GPU in this process.
        looks: Shapes to render in place of geoms.

    Raises:
        MissingExtraError: CuPy is not installed.
        StateError: There is no GPU.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        preset: CpuPreset,
        drawing: CardDrawing | None = None,
        *,
        looks: Sequence[Look] = (),
    ) -> None:
        self._drawing = drawing or shared_drawing(preset)
        self._reader = MomentReader(model, mirrors=preset.mirrors, looks=looks, reflections=preset.reflections)

    @property
    def card(self) -> str:
        """What draws."""
        return self._drawing.card

    def place(self, data: mujoco.MjData) -> None:
        """Do nothing: everything is read when a camera is rendered."""

    def draw(self, data: mujoco.MjData, camera: CameraSpec, kinds: Iterable[str]) -> FrameArrays:
        """Render the current state from one camera."""
        self._read(data, [camera])
        self._drawing.hand_in(self._reader.take([camera]), tuple(kinds))
        return _moment(self._drawing.take_out()[0], 0)

    def draw_each(
        self, states: Iterable[mujoco.MjData], cameras: Sequence[CameraSpec], kinds: Iterable[str]
    ) -> Iterator[list[FrameArrays]]:
        """Render states as they arrive, many at a time; yield one set of images per camera for each state.

        Args:
            states: States with computed positions; the same object may be passed repeatedly.
            cameras: The cameras.
            kinds: Kinds of images.
        """
        wanted = tuple(kinds)
        pixels = sum(camera.width * camera.height for camera in cameras)
        at_once = max(PIXELS_AT_ONCE // max(pixels, 1), 1)
        if not cameras:
            yield from ([] for _ in states)
            return
        waiting = read = 0
        try:
            for data in states:
                self._read(data, cameras)
                read += 1
                if read == at_once:
                    self._drawing.hand_in(self._reader.take(cameras), wanted)
                    waiting, read = waiting + 1, 0
                if waiting == SLOTS:
                    waiting -= 1
                    yield from self._next()
            if read:
                self._drawing.hand_in(self._reader.take(cameras), wanted)
                waiting += 1
            while waiting:
                waiting -= 1
                yield from self._next()
        finally:
            # A caller that stops early must leave no moments behind for the next call.
            self._reader.forget()
            for _ in range(waiting):
                self._drawing.take_out()

    def _next(self) -> Iterator[list[FrameArrays]]:
        """Yield the images of the oldest submitted moments, as separate arrays."""
        drawn = self._drawing.take_out()
        for k in range(max(len(image) for image in drawn[0])):
            yield [_moment(one, k) for one in drawn]

    def _read(self, data: mujoco.MjData, cameras: Sequence[CameraSpec]) -> None:
        for camera in cameras:
            if camera.width * camera.height > most_pixels():
                raise InputError(
                    f"camera {camera.name!r}: an image of {camera.width} x {camera.height} has more than "
                    f"{most_pixels()} pixels; choose a smaller size, or set a higher limit in {PIXELS}"
                )
        self._reader.read(data, cameras)


def _moment(images: FrameArrays, k: int) -> FrameArrays:
    """Return the images of one moment as separate arrays."""
    own: list[Any] = [np.array(image[k]) if len(image) else image for image in images]
    return FrameArrays(*own)


_DRAWINGS: dict[tuple[CpuPreset, str | None], CardDrawing] = {}


def shared_drawing(preset: CpuPreset) -> CardDrawing:
    """Return the client for a preset in this process; all renderers share it, since they render one after another."""
    key = preset, os.environ.get(DRAWING)
    if key not in _DRAWINGS:
        _DRAWINGS[key] = make_drawing(preset)
    return _DRAWINGS[key]

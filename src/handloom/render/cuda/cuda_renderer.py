"""The Python face of the ray caster on a card: reads moments off states, has them drawn, hands the images out."""

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

# Pixels handed in at a time; so many images keep a card busy, and their images fit into some megabytes.
PIXELS_AT_ONCE = 1 << 22


class CudaRenderer:
    """Draws one model on a card, with the bits of the processor's ray caster.

    Args:
        model: The model to draw. Shapes, colours, lights and textures are read once, here.
        preset: Which effects are on; those of the processor's ray caster.
        drawing: What draws; by default the drawing process of the run, or a card of this process.
        looks: What is drawn in place of which geoms.

    Raises:
        MissingExtraError: CuPy is not installed.
        StateError: There is no card.
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
        """Do nothing: everything is read when a camera is drawn."""

    def draw(self, data: mujoco.MjData, camera: CameraSpec, kinds: Iterable[str]) -> FrameArrays:
        """Draw the present state from one camera."""
        self._read(data, [camera])
        self._drawing.hand_in(self._reader.take([camera]), tuple(kinds))
        return _moment(self._drawing.take_out()[0], 0)

    def draw_each(
        self, states: Iterable[mujoco.MjData], cameras: Sequence[CameraSpec], kinds: Iterable[str]
    ) -> Iterator[list[FrameArrays]]:
        """Draw states as they come, many at a time; yield one set of images per camera for each of them.

        Args:
            states: With positions computed; the same object may come again and again.
            cameras: Who looks.
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
            # Whoever stops early leaves nothing behind for the next to find.
            self._reader.forget()
            for _ in range(waiting):
                self._drawing.take_out()

    def _next(self) -> Iterator[list[FrameArrays]]:
        """Yield the images of the moments handed in first, as arrays of their own."""
        drawn = self._drawing.take_out()
        for k in range(max(len(image) for image in drawn[0])):
            yield [_moment(one, k) for one in drawn]

    def _read(self, data: mujoco.MjData, cameras: Sequence[CameraSpec]) -> None:
        for camera in cameras:
            if camera.width * camera.height > most_pixels():
                raise InputError(
                    f"camera {camera.name!r}: an image of {camera.width} x {camera.height} has more than "
                    f"{most_pixels()} pixels; choose a smaller size, or set another bound in {PIXELS}"
                )
        self._reader.read(data, cameras)


def _moment(images: FrameArrays, k: int) -> FrameArrays:
    """Return the images of one moment as arrays of their own."""
    own: list[Any] = [np.array(image[k]) if len(image) else image for image in images]
    return FrameArrays(*own)


_DRAWINGS: dict[tuple[CpuPreset, str | None], CardDrawing] = {}


def shared_drawing(preset: CpuPreset) -> CardDrawing:
    """Return what draws with a preset in this process; one for all renderers, which draw one after another."""
    key = preset, os.environ.get(DRAWING)
    if key not in _DRAWINGS:
        _DRAWINGS[key] = make_drawing(preset)
    return _DRAWINGS[key]

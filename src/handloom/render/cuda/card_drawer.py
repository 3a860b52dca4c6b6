"""Rendering of moments of many models from many cameras, with one launch per stage."""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from handloom.errors import InputError
from handloom.render.cpu.arrays import NO_COLOR, NO_DEPTH, NO_IDS, NO_NORMALS, FrameArrays
from handloom.render.cpu.layout import LANES, TILE_HEIGHT, TILE_WIDTH
from handloom.render.cuda.batch_layout import ALIGNMENT, FLOAT, KINDS, MODEL, BatchLayout, aligned
from handloom.render.cuda.machine import Machine, Memory
from handloom.render.cuda.moments import TABLES, DrawnModel, Moments
from handloom.render.cuda.shared_arrays import Shape
from handloom.render.preset import CpuPreset

NOTHING: dict[str, NDArray[Any]] = {
    "rgb": NO_COLOR,
    "depth": NO_DEPTH,
    "segmentation": NO_IDS,
    "normals": NO_NORMALS,
    "albedo": NO_COLOR,
}
# The lanes of a tile share memory for 4 numbers per geom; some GPUs give a block no more than this.
MOST_GEOMS = 2500
# Pixels rendered at once: a few hundred images keep every multiprocessor busy for milliseconds.
PIXELS_AT_ONCE = 1 << 24
VIEWS_AT_ONCE = 32768
# Number of models whose tables stay on the GPU; one takes about ten megabytes, mostly textures.
MODELS_KEPT = 256


class _Resident(NamedTuple):
    """The tables of a model on the GPU."""

    memory: Memory
    row: NDArray[Any]


class CardDrawer:
    """Renders on one machine; not thread-safe.

    Args:
        machine: The GPU.
        preset: The enabled effects.
    """

    def __init__(self, machine: Machine, preset: CpuPreset) -> None:
        self._machine = machine
        self._preset = preset
        self._settings = (int(preset.shadows), int(preset.ambient_occlusion), preset.smoothing)
        self._models: OrderedDict[str, _Resident] = OrderedDict()
        self._memory: dict[str, tuple[Memory, int]] = {}

    def draw_many(
        self,
        moments: Sequence[Moments],
        kinds: Iterable[str],
        *,
        out: Sequence[Sequence[FrameArrays]] | None = None,
    ) -> Sequence[Sequence[FrameArrays]]:
        """Render every moment from every camera; while one batch is copied back, the next is rendered.

        Args:
            moments: Of any models, with any cameras.
            kinds: Any of ``rgb``, ``depth``, ``segmentation``, ``normals`` and ``albedo``.
            out: Images to fill, as returned by ``make_images``; by default new ones.

        Returns:
            For each entry of ``moments``, one set of images per camera, with the moments along the first axis: (f, h,
            w, ...).
        """
        wanted = frozenset(kinds)
        images = [make_images(one, wanted, self._fresh) for one in moments] if out is None else out
        copies: list[Any] = [None, None]
        for turn, batch in enumerate(_batches(moments)):
            if turn >= len(copies):
                self._machine.wait(copies[turn % 2])
            copies[turn % 2] = self._draw(batch, wanted, images, turn % 2)
        for copy in copies:
            self._machine.wait(copy)
        return images

    def _draw(
        self, batch: "list[_Part]", wanted: frozenset[str], images: Sequence[Sequence[FrameArrays]], turn: int
    ) -> Any:
        """Start rendering a batch that fits on the GPU, and copying the images back; return an event to wait for.

        Two sets of memory are used in turn.
        """
        layout = BatchLayout([part.moments for part in batch], wanted, self._preset, self._models_of(batch))
        memory = {name: self._room(f"{name} {turn}", size) for name, size in layout.sizes.items()}
        layout.fill({name: piece.address for name, piece in memory.items()})
        self._machine.write(memory["input"], layout.packed)
        self._launch(layout, memory["input"].address, wanted)
        copies, pixel = [], 0
        for part in batch:
            for camera, (width, height) in enumerate(part.moments.sizes.tolist()):
                for kind, (dtype, values) in KINDS.items():
                    if kind in wanted:
                        image = getattr(images[part.number][camera], kind)[part.start : part.stop]
                        copies.append((memory[kind], pixel * values * np.dtype(dtype).itemsize, image))
                pixel += (part.stop - part.start) * width * height
        return self._machine.read(copies)

    def _launch(self, layout: BatchLayout, base: int, wanted: frozenset[str]) -> None:
        """Start the stages."""
        models, worlds, eyes, views = (base + layout.starts[name] for name in ("models", "worlds", "eyes", "views"))
        run = self._machine.launch
        blocks = max(-(-layout.most_geoms // LANES), 1)
        run(self._settings, "place_worlds", (blocks, layout.world_count), [models, worlds], 0)
        run(self._settings, "place_eyes", (blocks, layout.eye_count), [models, worlds, eyes], 0)
        tables, shared = [models, worlds, eyes, views], max(4 * layout.most_geoms, 1) * FLOAT
        rows, columns = -(-layout.height // TILE_HEIGHT), -(-layout.width // TILE_WIDTH)
        run(self._settings, "draw_views", (rows * columns, layout.view_count), tables, shared)
        if "rgb" in wanted and self._preset.smoothing:
            run(self._settings, "smooth_views", (rows, layout.view_count), tables, shared)
        if "rgb" in wanted and layout.most_mirrors:
            run(self._settings, "add_mirror_images", (rows * columns, layout.view_count), tables, shared)

    def _models_of(self, batch: "list[_Part]") -> list[NDArray[Any]]:
        """Return the kernels' row of each part's model, uploading those that are not on the GPU."""
        rows, used = [], set()
        for part in batch:
            digest = part.moments.model.digest
            if digest not in self._models:
                self._models[digest] = self._upload(part.moments.model)
            self._models.move_to_end(digest)
            used.add(digest)
            rows.append(self._models[digest].row)
        while len(self._models) > max(MODELS_KEPT, len(used)):
            self._models.popitem(last=False)
        return rows

    def _upload(self, model: DrawnModel) -> _Resident:
        if len(model.geoms) > MOST_GEOMS:
            raise InputError(
                f"the scene has {len(model.geoms)} visible geoms, but the backend 'cuda' renders at most {MOST_GEOMS}; "
                f"the backend 'cpu' has no limit"
            )
        tables = [np.ascontiguousarray(getattr(model, name)) for name in TABLES]
        starts = np.cumsum([0, *(aligned(table.nbytes) for table in tables)])
        packed = np.zeros(int(starts[-1]) + ALIGNMENT, np.uint8)
        for start, table in zip(starts, tables, strict=False):
            packed[start : start + table.nbytes] = table.reshape(-1).view(np.uint8)
        memory = self._machine.empty(packed.nbytes)
        self._machine.write(memory, packed)
        row = np.zeros(1, MODEL)
        for name, start in zip(TABLES, starts, strict=False):
            row[name] = memory.address + int(start)
        row["geom_count"], row["light_count"], row["bead_count"] = len(model.geoms), model.lights, model.beads
        row["mirror_count"], row["headlight"] = len(model.mirrors), model.headlight
        row["mirrors"][0, : len(model.mirrors)] = model.mirrors
        return _Resident(memory, row)

    def _fresh(self, shape: Shape) -> NDArray[Any]:
        return self._machine.host_array(int(np.prod(shape[0])), shape[1]).reshape(shape[0])

    def _room(self, name: str, size: int) -> Memory:
        """Return memory for one purpose; it grows if needed, and is reused for every batch."""
        if name not in self._memory or self._memory[name][1] < size:
            self._memory.pop(name, None)
            self._memory[name] = (self._machine.empty(size), size)
        return self._memory[name][0]


class _Part(NamedTuple):
    """Some of the moments of a call."""

    number: int
    start: int
    stop: int
    moments: Moments


def _batches(moments: Sequence[Moments]) -> Iterator[list[_Part]]:
    """Yield the parts that are rendered at once."""
    batch: list[_Part] = []
    room, views = PIXELS_AT_ONCE, VIEWS_AT_ONCE
    for number, one in enumerate(moments):
        each, cameras = int(one.sizes.prod(axis=1).sum()), len(one.sizes)
        start, count = 0, len(one.poses)
        while cameras and start < count:
            fits = min(room // each, views // cameras, count - start)
            if fits <= 0 and batch:
                yield batch
                batch, room, views = [], PIXELS_AT_ONCE, VIEWS_AT_ONCE
                continue
            stop = start + max(fits, 1)
            batch.append(_Part(number, start, stop, one.part(start, stop)))
            room, views, start = room - (stop - start) * each, views - (stop - start) * cameras, stop
    if batch:
        yield batch


def image_shapes(moments: Moments, wanted: frozenset[str]) -> list[dict[str, Shape]]:
    """Return shape and type of the images of all moments, by kind, for each camera."""
    frames = len(moments.poses)
    return [
        {
            kind: ((frames, height, width, *((values,) if values > 1 else ())), dtype)
            for kind, (dtype, values) in KINDS.items()
            if kind in wanted
        }
        for width, height in moments.sizes.tolist()
    ]


def make_images(moments: Moments, wanted: frozenset[str], make: Callable[[Shape], NDArray[Any]]) -> list[FrameArrays]:
    """Return images for all moments, one set per camera; kinds that are not requested have no pixels.

    Args:
        moments: The moments to render.
        wanted: Kinds of images.
        make: Returns an array of a shape and type.
    """
    shapes = image_shapes(moments, wanted)
    return [FrameArrays(**NOTHING | {kind: make(shape) for kind, shape in camera.items()}) for camera in shapes]

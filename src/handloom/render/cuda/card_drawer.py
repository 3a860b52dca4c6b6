"""Draws moments of many models from many cameras with one launch per stage."""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from handloom.errors import InputError
from handloom.render.cpu.arrays import NO_COLOR, NO_DEPTH, NO_IDS, NO_NORMALS, FrameArrays
from handloom.render.cpu.layout import LANES, LIGHT_COLUMNS, TILE_HEIGHT, TILE_WIDTH, VIEW_COLUMNS
from handloom.render.cpu.reflect import MAX_MIRRORS
from handloom.render.cuda.machine import Machine, Memory
from handloom.render.cuda.moments import TABLES, DrawnModel, Moments
from handloom.render.preset import CpuPreset

# Rows of the kernels' tables, field by field as tables.cuh has them.
MODEL = np.dtype(
    [(name, np.uint64) for name in TABLES]
    + [("geom_count", np.int32), ("light_count", np.int32), ("bead_count", np.int32), ("mirror_count", np.int32)]
    + [("mirrors", np.int32, (MAX_MIRRORS,)), ("headlight", np.int32), ("unused", np.int32)]
)
WORLD = np.dtype(
    [(name, np.uint64) for name in ("poses", "lights", "beads", "boxes", "casters")]
    + [("model", np.int32), ("unused", np.int32)]
)
EYE = np.dtype(
    [("seen", np.uint64), ("spans", np.uint64), ("row", np.float32, (VIEW_COLUMNS,)), ("body", np.float32)]
    + [("world", np.int32), ("width", np.int32), ("height", np.int32), ("unused", np.int32, (2,))]
)
SCRATCH = ("key", "base", "distance")
KINDS: dict[str, tuple[type[np.generic], int]] = {
    "rgb": (np.uint8, 3),
    "depth": (np.float32, 1),
    "segmentation": (np.int32, 1),
    "normals": (np.float32, 3),
    "albedo": (np.uint8, 3),
}
"""Type and number of values per pixel of each kind of image, in the order of the kernels' ``View``."""
VIEW = np.dtype([(name, np.uint64) for name in (*KINDS, *SCRATCH)] + [("eye", np.int32), ("unused", np.int32)])

FLOAT = 4
BOX_COLUMNS = CASTER_COLUMNS = SEEN_COLUMNS = 16
ALIGNMENT = 256
# Room for 4 numbers per geom is shared by the lanes of a tile; more than this a block does not get everywhere.
MOST_GEOMS = 2500
# Pixels drawn at once; with all kinds and scratch about 40 bytes each.
PIXELS_AT_ONCE = 1 << 26
VIEWS_AT_ONCE = 32768
# Models whose tables stay on the card; textures make up most of one, some ten megabytes.
MODELS_KEPT = 256


class _Resident(NamedTuple):
    """The tables of a model on the card."""

    memory: Memory
    row: NDArray[Any]


class CardDrawer:
    """Draws on one machine; not safe to share between threads.

    Args:
        machine: The card.
        preset: Which effects are on.
    """

    def __init__(self, machine: Machine, preset: CpuPreset) -> None:
        self._machine = machine
        self._preset = preset
        self._settings = (int(preset.shadows), int(preset.ambient_occlusion), preset.smoothing)
        self._models: OrderedDict[str, _Resident] = OrderedDict()
        self._memory: dict[str, tuple[Memory, int]] = {}

    def draw_many(self, moments: Sequence[Moments], kinds: Iterable[str]) -> list[list[FrameArrays]]:
        """Draw every moment from every camera.

        Args:
            moments: Of any models, with any cameras.
            kinds: Any of ``rgb``, ``depth``, ``segmentation``, ``normals`` and ``albedo``.

        Returns:
            For each of the moments, one set of images per camera, with the moments as first axis: (f, h, w, ...).
        """
        wanted = frozenset(kinds)
        parts: list[list[list[FrameArrays]]] = [[] for _ in moments]
        batch: list[tuple[int, Moments]] = []
        room, views = PIXELS_AT_ONCE, VIEWS_AT_ONCE
        for number, one in enumerate(moments):
            each = int(one.sizes.prod(axis=1).sum())
            start, count = 0, len(one.poses)
            while start < count:
                fits = min(max(room // max(each, 1), 0), views // max(len(one.sizes), 1), count - start)
                if fits == 0 and batch:
                    self._draw(batch, wanted, parts)
                    batch, room, views = [], PIXELS_AT_ONCE, VIEWS_AT_ONCE
                    continue
                fits = max(fits, 1)
                batch.append((number, one.part(start, start + fits)))
                start, room, views = start + fits, room - fits * each, views - fits * len(one.sizes)
        self._draw(batch, wanted, parts)
        return [[_joined(pieces) for pieces in zip(*drawn, strict=True)] for drawn in parts]

    def _draw(
        self, batch: list[tuple[int, Moments]], wanted: frozenset[str], parts: list[list[list[FrameArrays]]]
    ) -> None:
        """Draw moments that fit on the card together, and add their images to those of each of the moments."""
        if not batch:
            return
        layout = _Layout([part for _, part in batch], wanted, self._preset, self._models_of(batch))
        memory = {name: self._room(name, size) for name, size in layout.sizes.items()}
        layout.fill({name: piece.address for name, piece in memory.items()})
        self._machine.write(memory["input"], layout.packed)
        self._launch(layout, memory["input"].address, wanted)
        host = self._machine.host_array
        images = {kind: host(layout.pixels * KINDS[kind][1], KINDS[kind][0]) for kind in KINDS if kind in wanted}
        for kind, image in images.items():
            self._machine.read(memory[kind], 0, image)
        start = 0
        for number, part in batch:
            drawn = []
            for width, height in part.sizes.tolist():
                stop = start + len(part.poses) * width * height
                drawn.append(_frame(images, start, stop, (len(part.poses), height, width)))
                start = stop
            parts[number].append(drawn)

    def _launch(self, layout: "_Layout", base: int, wanted: frozenset[str]) -> None:
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

    def _models_of(self, batch: list[tuple[int, Moments]]) -> list[NDArray[Any]]:
        """Return the kernels' row of each part's model, uploading those that are not on the card."""
        rows, used = [], set()
        for _, part in batch:
            digest = part.model.digest
            if digest not in self._models:
                self._models[digest] = self._upload(part.model)
            self._models.move_to_end(digest)
            used.add(digest)
            rows.append(self._models[digest].row)
        while len(self._models) > max(MODELS_KEPT, len(used)):
            self._models.popitem(last=False)
        return rows

    def _upload(self, model: DrawnModel) -> _Resident:
        if len(model.geoms) > MOST_GEOMS:
            raise InputError(
                f"the scene has {len(model.geoms)} drawn geoms, and the backend 'cuda' draws {MOST_GEOMS} at most; "
                "the backend 'cpu' has no bound"
            )
        tables = [np.ascontiguousarray(getattr(model, name)) for name in TABLES]
        starts = np.cumsum([0, *(_aligned(table.nbytes) for table in tables)])
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

    def _room(self, name: str, size: int) -> Memory:
        """Return memory for one purpose; it grows, and is used again for every batch."""
        if name not in self._memory or self._memory[name][1] < size:
            self._memory.pop(name, None)
            self._memory[name] = (self._machine.empty(size), size)
        return self._memory[name][0]


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def _frame(images: dict[str, NDArray[Any]], start: int, stop: int, shape: tuple[int, int, int]) -> FrameArrays:
    """Return the images of one camera, out of those of all."""
    none: dict[str, NDArray[Any]] = {
        "rgb": NO_COLOR,
        "depth": NO_DEPTH,
        "segmentation": NO_IDS,
        "normals": NO_NORMALS,
        "albedo": NO_COLOR,
    }
    cut = {}
    for kind, image in images.items():
        values = KINDS[kind][1]
        cut[kind] = image[values * start : values * stop].reshape(*shape, *((values,) if values > 1 else ()))
    return FrameArrays(**{**none, **cut})


def _joined(pieces: Sequence[FrameArrays]) -> FrameArrays:
    """Return the images of one camera over all batches."""
    if len(pieces) == 1:
        return pieces[0]
    return FrameArrays(*(np.concatenate(images) for images in zip(*pieces, strict=True)))


class _Layout:
    """Where everything of a batch lies: one packed array that is uploaded, scratch and images."""

    def __init__(
        self, parts: list[Moments], wanted: frozenset[str], preset: CpuPreset, models: list[NDArray[Any]]
    ) -> None:
        self._parts, self._wanted = parts, wanted
        self._models = np.concatenate(models)
        counts = [len(part.poses) for part in parts]
        self.world_count = sum(counts)
        self.view_count = sum(n * len(part.sizes) for n, part in zip(counts, parts, strict=True))
        self.eye_count = sum(part.rows.shape[0] * part.rows.shape[1] * part.rows.shape[2] for part in parts)
        self.pixels = sum(n * int(part.sizes.prod(axis=1).sum()) for n, part in zip(counts, parts, strict=True))
        self.most_geoms = max(len(part.model.geoms) for part in parts)
        self.most_mirrors = max(len(part.model.mirrors) for part in parts)
        self.width, self.height = (int(max(part.sizes[:, k].max() for part in parts)) for k in (0, 1))
        color = "rgb" in wanted
        self._scratch = {
            "key": color and (preset.smoothing > 0 or self.most_mirrors > 0),
            "base": color and preset.smoothing > 0,
            "distance": color and self.most_mirrors > 0,
        }
        names = ("poses", "lights", "beads")
        pieces = {name: [np.ascontiguousarray(getattr(part, name)).reshape(-1) for part in parts] for name in names}
        self._values = {name: np.concatenate(pieces[name]) for name in names}
        heads = {"models": self._models.nbytes, "worlds": self.world_count * WORLD.itemsize}
        heads |= {"eyes": self.eye_count * EYE.itemsize, "views": self.view_count * VIEW.itemsize}
        sizes = {**heads, **{name: values.nbytes for name, values in self._values.items()}}
        edges = np.cumsum([0, *(_aligned(size) for size in sizes.values())])
        self.starts = dict(zip(sizes, edges.tolist(), strict=False))
        self.packed = np.zeros(int(edges[-1]) + ALIGNMENT, np.uint8)
        geoms = [len(part.model.geoms) for part in parts]
        lights = [part.model.lights for part in parts]
        eyes = [part.rows.shape[1] * part.rows.shape[2] for part in parts]
        rows = [-(-part.sizes[:, 1] // TILE_HEIGHT) for part in parts]
        self.sizes = {
            "input": self.packed.nbytes,
            "boxes": FLOAT * BOX_COLUMNS * sum(n * g for n, g in zip(counts, geoms, strict=True)),
            "casters": FLOAT * CASTER_COLUMNS * sum(n * g * k for n, g, k in zip(counts, geoms, lights, strict=True)),
            "seen": FLOAT * SEEN_COLUMNS * sum(n * e * g for n, e, g in zip(counts, eyes, geoms, strict=True)),
            "spans": FLOAT
            * sum(
                n * g * int(r.sum()) * part.rows.shape[2]
                for n, g, r, part in zip(counts, geoms, rows, parts, strict=True)
            ),
            **{kind: self.pixels * np.dtype(KINDS[kind][0]).itemsize * KINDS[kind][1] for kind in KINDS if kind in wanted},
            **{name: FLOAT * self.pixels for name, used in self._scratch.items() if used},
        }
        self.sizes = {name: max(size, ALIGNMENT) for name, size in self.sizes.items()}

    def fill(self, at: dict[str, int]) -> None:
        """Write the tables, now that the addresses of all memory are known."""
        worlds, eyes = np.zeros(self.world_count, WORLD), np.zeros(self.eye_count, EYE)
        views = np.zeros(self.view_count, VIEW)
        here = {name: at["input"] + self.starts[name] for name in self._values}
        here |= {name: at[name] for name in ("boxes", "casters", "seen", "spans")}
        world = eye = view = pixel = 0
        for number, part in enumerate(self._parts):
            frames, geoms, lights = len(part.poses), len(part.model.geoms), part.model.lights
            each = np.arange(frames, dtype=np.uint64)
            block = worlds[world : world + frames]
            block["model"] = number
            for name, size in (
                ("poses", part.poses.shape[1]),
                ("lights", lights * LIGHT_COLUMNS),
                ("beads", part.model.beads * 3),
                ("boxes", geoms * BOX_COLUMNS),
                ("casters", lights * geoms * CASTER_COLUMNS),
            ):
                block[name] = here[name] + each * np.uint64(size * FLOAT)
                here[name] += frames * size * FLOAT
            images = part.rows.shape[2]
            for camera, (width, height) in enumerate(part.sizes.tolist()):
                rows = -(-height // TILE_HEIGHT)
                mine = eyes[eye : eye + frames * images]
                every = np.arange(frames * images, dtype=np.uint64)
                mine["row"] = part.rows[:, camera].reshape(-1, VIEW_COLUMNS)
                mine["body"], mine["width"], mine["height"] = part.bodies[camera], width, height
                mine["world"] = world + np.repeat(np.arange(frames), images)
                for name, size in (("seen", geoms * SEEN_COLUMNS * FLOAT), ("spans", rows * geoms * FLOAT)):
                    mine[name] = here[name] + every * np.uint64(size)
                    here[name] += frames * images * size
                shown = views[view : view + frames]
                shown["eye"] = eye + images * np.arange(frames)
                first = pixel + each * np.uint64(width * height)
                for kind, (dtype, values) in KINDS.items():
                    if kind in self._wanted:
                        shown[kind] = at[kind] + first * np.uint64(np.dtype(dtype).itemsize * values)
                for name, used in self._scratch.items():
                    if used:
                        shown[name] = at[name] + first * np.uint64(FLOAT)
                eye, view, pixel = eye + frames * images, view + frames, pixel + frames * width * height
            world += frames
        for name, table in {"models": self._models, "worlds": worlds, "eyes": eyes, "views": views, **self._values}.items():
            self.packed[self.starts[name] : self.starts[name] + table.nbytes] = table.view(np.uint8)

"""Memory layout of a batch: rows of the kernels' tables, one packed array to upload, scratch and images."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from handloom.render.cpu.layout import LIGHT_COLUMNS, TILE_HEIGHT, VIEW_COLUMNS
from handloom.render.cpu.reflect import MAX_MIRRORS
from handloom.render.cuda.moments import TABLES, Moments
from handloom.render.preset import CpuPreset

# Rows of the kernels' tables, with the fields of tables.cuh.
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
    [
        ("seen", np.uint64),
        ("spans", np.uint64),
        ("row", np.float32, (VIEW_COLUMNS,)),
        ("body", np.float32),
        ("world", np.int32),
        ("width", np.int32),
        ("height", np.int32),
        ("unused", np.int32, (2,)),
    ]
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


def aligned(size: int) -> int:
    """Return a size rounded up so that the next array is aligned."""
    return -(-size // ALIGNMENT) * ALIGNMENT


class BatchLayout:
    """Assigns the memory of a batch.

    Args:
        parts: Moments that are rendered at once.
        wanted: Kinds of images.
        preset: The enabled effects.
        models: Row of the kernels' table of models for each of the parts.
    """

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
        edges = np.cumsum([0, *(aligned(size) for size in sizes.values())])
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
            **{
                kind: self.pixels * np.dtype(KINDS[kind][0]).itemsize * KINDS[kind][1]
                for kind in KINDS
                if kind in wanted
            },
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
        for name, table in {
            "models": self._models,
            "worlds": worlds,
            "eyes": eyes,
            "views": views,
            **self._values,
        }.items():
            self.packed[self.starts[name] : self.starts[name] + table.nbytes] = table.view(np.uint8)

"""The arrays a frame is made from, grouped by how often they change."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from handloom.render.cpu.bvh import Hierarchy
from handloom.render.cpu.image_pool import ImagePool
from handloom.render.cpu.layout import LANE_QUANTITIES, LANES, TILE_HEIGHT, TILE_WIDTH, VIEW_COLUMNS


class SceneArrays(NamedTuple):
    """What the kernels know about the scene."""

    geoms: NDArray[np.float32]
    """Geom table (g, GEOM_COLUMNS)."""
    hulls: NDArray[np.float32]
    """Half spaces (k, 4) of all polytopes: outward unit normal and offset, in the geom frame."""
    meshes: Hierarchy
    """Nodes and triangles of all meshes and height fields that are not simple polytopes."""
    lights: NDArray[np.float32]
    """Light table (l, LIGHT_COLUMNS)."""
    casters: NDArray[np.float32]
    """What each light sees of each geom (l, CASTER_COLUMNS, g)."""
    bands: NDArray[np.float32]
    """Left and right end of each geom in each band of a light's picture plane (l, g, BANDS, 2)."""
    boxes: NDArray[np.float32]
    """World bounds of all geoms (6, g): low x, y, z, high x, y, z [m]; endless for planes."""
    textures: NDArray[np.int32]
    """Texture table (k, 4): first texel, width, height, levels."""
    texels: NDArray[np.int32]
    """All texels of all levels."""
    world: NDArray[np.float32]
    """Surroundings (WORLD_COLUMNS,)."""


class MirrorArrays(NamedTuple):
    """What the cameras behind the mirrors see."""

    rows: NDArray[np.int32]
    """Geom row of each mirror (m,)."""
    geoms: NDArray[np.float32]
    """Geom tables of the mirrored cameras (m, g, GEOM_COLUMNS)."""
    views: NDArray[np.float32]
    """Mirrored camera rows (m, VIEW_COLUMNS)."""
    first: NDArray[np.int32]
    """First tile column of each geom in each tile row (m, rows, g)."""
    last: NDArray[np.int32]
    """One past the last tile column."""


class CanvasArrays(NamedTuple):
    """Scratch of one image size."""

    lanes: NDArray[np.float32]
    """Flat batch of rays (LANE_QUANTITIES * LANES,)."""
    best: NDArray[np.float32]
    """Scratch of one quantity (LANES,)."""
    layers: NDArray[np.float32]
    """Blended colours of transparent layers and what shines through (4 * LANES,)."""
    corners: NDArray[np.int32]
    """Scratch for four texels per lane (4 * LANES,)."""
    first: NDArray[np.int32]
    """First tile column of each geom in each tile row (rows, g)."""
    last: NDArray[np.int32]
    """One past the last tile column (rows, g)."""
    picked: NDArray[np.uint8]
    """1 for geoms that passed the last culling (g rounded up to 8,)."""
    picked_words: NDArray[np.int64]
    """The same memory, eight geoms at a time."""
    candidates: NDArray[np.int32]
    """Geoms that may be seen in the current tile (g,)."""
    key: NDArray[np.int32]
    """Geom and face of each pixel (h, w)."""
    edge: NDArray[np.uint8]
    """1 where a pixel lies on an outline or crease (h, w rounded up to a tile)."""
    base: NDArray[np.uint8]
    """Colours before anti-aliasing (h, w, 3)."""
    edge_words: NDArray[np.int64]
    """The same memory, eight marks at a time (h, w rounded up / 8)."""
    todo: NDArray[np.int32]
    """Edge pixels of the current row of tiles (TILE_HEIGHT * w rounded up,)."""


class FrameArrays(NamedTuple):
    """The images of one camera; a kind that was not asked for has no pixels."""

    rgb: NDArray[np.uint8]
    depth: NDArray[np.float32]
    segmentation: NDArray[np.int32]
    normals: NDArray[np.float32]
    albedo: NDArray[np.uint8]


def make_canvas(width: int, height: int, geom_count: int) -> CanvasArrays:
    """Allocate the scratch for images of one size."""
    rows = -(-height // TILE_HEIGHT)
    padded = -(-width // TILE_WIDTH) * TILE_WIDTH
    edge = np.zeros((height, padded), np.uint8)
    picked = np.zeros(-(-geom_count // 8) * 8, np.uint8)
    return CanvasArrays(
        lanes=np.zeros(LANE_QUANTITIES * LANES, np.float32),
        best=np.zeros(LANES, np.float32),
        layers=np.zeros(4 * LANES, np.float32),
        corners=np.zeros(4 * LANES, np.int32),
        first=np.zeros((rows, geom_count), np.int32),
        last=np.zeros((rows, geom_count), np.int32),
        picked=picked,
        picked_words=picked.view(np.int64),
        candidates=np.zeros(max(geom_count, 1), np.int32),
        key=np.zeros((height, width), np.int32),
        edge=edge,
        edge_words=edge.view(np.int64),
        base=np.zeros((height, width, 3), np.uint8),
        todo=np.zeros(TILE_HEIGHT * padded, np.int32),
    )


def make_mirrors(rows: NDArray[np.int32], geoms: NDArray[np.float32], height: int) -> MirrorArrays:
    """Allocate the tables of the mirrored cameras for images of one height."""
    count, tile_rows = len(rows), -(-height // TILE_HEIGHT)
    return MirrorArrays(
        rows=rows,
        geoms=np.repeat(geoms[None], count, axis=0),
        views=np.zeros((count, VIEW_COLUMNS), np.float32),
        first=np.zeros((count, tile_rows, len(geoms)), np.int32),
        last=np.zeros((count, tile_rows, len(geoms)), np.int32),
    )


def make_frame(pool: ImagePool, width: int, height: int, kinds: frozenset[str]) -> FrameArrays:
    """Take the images asked for; depth and segmentation always, the kernel needs them."""

    def area(kind: str) -> tuple[int, int]:
        return (height, width) if kind in kinds else (0, 0)

    return FrameArrays(
        rgb=pool.take((*area("rgb"), 3), np.uint8),
        depth=pool.take((height, width), np.float32),
        segmentation=pool.take((height, width), np.int32),
        normals=pool.take((*area("normals"), 3), np.float32),
        albedo=pool.take((*area("albedo"), 3), np.uint8),
    )

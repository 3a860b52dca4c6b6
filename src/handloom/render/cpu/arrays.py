"""The arrays of a frame, grouped by how often they change; images are reused once no one holds a reference."""

import sys
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from handloom.render.cpu.layout import (
    B_CENTER,
    B_INDEX,
    B_ROT,
    BEAD_BLOCK,
    BIG,
    BOX_BLOCK,
    C_INVERSE,
    CASTER_BLOCK,
    GROUPS,
    LANE_QUANTITIES,
    LANES,
    LIGHT_COLUMNS,
    PATCH,
    POSE,
    TILE_HEIGHT,
    TILE_WIDTH,
    VECTOR,
    VIEW_COLUMNS,
)
from handloom.render.cpu.model.bvh import Hierarchy

# Number of references to an unused array of the pool: the list, the loop variable, the argument of the check.
OWN_REFERENCES = 3


class ImagePool:
    """A pool of image arrays; an array returns to the pool when its last outside reference is dropped.

    The page faults of a new image take longer than rendering its depth: 0.25 ms of 2.5 ms at 224 x 224. A view keeps
    its array alive, so an image that is still in use is never overwritten.
    """

    def __init__(self) -> None:
        self._arrays: dict[tuple[tuple[int, ...], str], list[NDArray[np.generic]]] = {}

    def take(self, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray:
        """Return an unused array of a shape and type, with undefined content."""
        arrays = self._arrays.setdefault((shape, np.dtype(dtype).str), [])
        for array in arrays:
            if sys.getrefcount(array) <= OWN_REFERENCES:
                return array
        arrays.append(np.empty(shape, dtype))
        return arrays[-1]


class SceneArrays(NamedTuple):
    """The scene, as used by the kernels."""

    geoms: NDArray[np.float32]
    """Geom table (g, GEOM_COLUMNS)."""
    hulls: NDArray[np.float32]
    """Half spaces (k, 4) of all polytopes: outward unit normal and offset, in the geom frame."""
    meshes: Hierarchy
    """Nodes and triangles of all meshes and height fields that are not simple polytopes."""
    lights: NDArray[np.float32]
    """Light table (l, LIGHT_COLUMNS)."""
    casters: NDArray[np.float32]
    """Each geom as seen by each light (l, blocks * CASTER_BLOCK)."""
    boxes: NDArray[np.float32]
    """Bounding boxes of all geoms (blocks * BOX_BLOCK,)."""
    textures: NDArray[np.int32]
    """Texture table (k, 4): first texel, width, height, levels."""
    texels: NDArray[np.int32]
    """All texels of all levels."""
    beads: NDArray[np.float32]
    """Centres of the beads (blocks * BEAD_BLOCK,)."""
    world: NDArray[np.float32]
    """Surroundings (WORLD_COLUMNS,)."""


class MirrorArrays(NamedTuple):
    """Tables of the cameras behind the mirrors."""

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
    """Memory of one camera: scratch, and its last image with the geoms that affected each tile."""

    lanes: NDArray[np.float32]
    """Flat batch of rays (LANE_QUANTITIES * LANES,)."""
    best: NDArray[np.float32]
    """Scratch of one quantity (LANES,)."""
    layers: NDArray[np.float32]
    """Blended colours of transparent layers, and their transmission (4 * LANES,)."""
    corners: NDArray[np.int32]
    """Scratch for four texels per lane (4 * LANES,)."""
    first: NDArray[np.int32]
    """First tile column of each geom in each tile row (rows, g)."""
    last: NDArray[np.int32]
    """One past the last tile column (rows, g)."""
    picked: NDArray[np.uint8]
    """1 for geoms that passed the last culling (g rounded up to VECTOR,)."""
    picked_words: NDArray[np.int64]
    """The same memory, eight geoms at a time."""
    candidates: NDArray[np.int32]
    """Geoms that may be seen in the current tile (g,)."""
    near: NDArray[np.int32]
    """Geoms near the surfaces of the current tile (g,)."""
    touching: NDArray[np.uint8]
    """1 for geoms that may be visible in the current tile, shade it or occlude it (g rounded up to VECTOR,)."""
    touching_words: NDArray[np.int64]
    """The same memory, eight geoms at a time."""
    patches: NDArray[np.float32]
    """Patch of each light's image plane that holds the current batch's surface points (l, PATCH)."""
    spaces: NDArray[np.float32]
    """SURFACE and ABOVE of the current batch (2, 6): low and high x, y, z [m]."""
    group_ids: NDArray[np.float32]
    """Geom of each group of lanes, -1 for the rest (GROUPS,)."""
    group_spaces: NDArray[np.float32]
    """SURFACE, ABOVE and BETWEEN of each group (GROUPS, 3, 6) [m]."""
    changed: NDArray[np.uint8]
    """1 for geoms that moved since the last image (g rounded up to VECTOR,)."""
    changed_words: NDArray[np.int64]
    """The same memory, eight geoms at a time."""
    tile_touched: NDArray[np.uint8]
    """``touching`` of every tile of the last image (tiles, g rounded up to VECTOR)."""
    tile_touched_words: NDArray[np.int64]
    """The same memory, eight geoms at a time."""
    tile_patches: NDArray[np.float32]
    """``patches`` of every tile (tiles, l, PATCH)."""
    tile_spaces: NDArray[np.float32]
    """``spaces`` of every tile (tiles, 2, 6)."""
    poses: NDArray[np.int32]
    """Bits of the rotations and positions of the geoms in the last image (g, 12)."""
    bead_places: NDArray[np.int32]
    """Bits of the table of beads in the last image, without marks (blocks * BEAD_BLOCK,)."""
    setting: NDArray[np.int32]
    """Bits of the camera row and the light table of the last image (VIEW_COLUMNS + l * LIGHT_COLUMNS,)."""
    depth: NDArray[np.float32]
    """Depths (h, w) [m]; written if they or mirrors are requested."""
    segmentation: NDArray[np.int32]
    """Geom ids (h, w); written if requested."""
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
    """The images of one camera; a kind that was not requested has no pixels."""

    rgb: NDArray[np.uint8]
    depth: NDArray[np.float32]
    segmentation: NDArray[np.int32]
    normals: NDArray[np.float32]
    albedo: NDArray[np.uint8]


NO_COLOR = np.zeros((0, 0, 3), np.uint8)
NO_DEPTH = np.zeros((0, 0), np.float32)
NO_IDS = np.zeros((0, 0), np.int32)
NO_NORMALS = np.zeros((0, 0, 3), np.float32)


def make_boxes(geom_count: int) -> NDArray[np.float32]:
    """Allocate the table of bounding boxes; unused slots are far from everything."""
    table = np.zeros((block_count(geom_count), BOX_BLOCK // VECTOR, VECTOR), np.float32)
    table[:, [B_ROT // VECTOR + k for k in (0, 4, 8)]] = 1
    table[:, B_CENTER // VECTOR : B_CENTER // VECTOR + 3] = BIG
    table[:, B_INDEX // VECTOR] = np.arange(table.shape[0] * VECTOR).reshape(-1, VECTOR)
    return table.ravel()


def make_casters(light_count: int, geom_count: int) -> NDArray[np.float32]:
    """Allocate the caster table; slots without a geom cast no shadow."""
    table = np.zeros((light_count, block_count(geom_count), CASTER_BLOCK // VECTOR, VECTOR), np.float32)
    table[:, :, C_INVERSE // VECTOR] = -BIG
    return table.reshape(light_count, -1)


def make_beads(count: int) -> NDArray[np.float32]:
    """Allocate the table of beads."""
    return np.zeros(block_count(count) * BEAD_BLOCK, np.float32)


def block_count(geom_count: int) -> int:
    """Return the number of blocks of VECTOR geoms that hold all geoms."""
    return -(-geom_count // VECTOR)


def make_canvas(width: int, height: int, scene: SceneArrays) -> CanvasArrays:
    """Allocate the memory of one camera."""
    geom_count, light_count = len(scene.geoms), len(scene.lights)
    rows = -(-height // TILE_HEIGHT)
    padded = -(-width // TILE_WIDTH) * TILE_WIDTH
    edge = np.zeros((height, padded), np.uint8)
    tiles = rows * padded // TILE_WIDTH
    geom_bytes = block_count(geom_count) * VECTOR
    picked, changed, touching = np.zeros((3, geom_bytes), np.uint8)
    tile_touched = np.zeros((tiles, geom_bytes), np.uint8)
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
        near=np.zeros(max(geom_count, 1), np.int32),
        touching=touching,
        touching_words=touching.view(np.int64),
        patches=np.zeros((light_count, PATCH), np.float32),
        spaces=np.zeros((2, 6), np.float32),
        group_ids=np.zeros(GROUPS, np.float32),
        group_spaces=np.zeros((GROUPS, 3, 6), np.float32),
        changed=changed,
        changed_words=changed.view(np.int64),
        tile_touched=tile_touched,
        tile_touched_words=tile_touched.view(np.int64),
        tile_patches=np.zeros((tiles, light_count, PATCH), np.float32),
        tile_spaces=np.zeros((tiles, 2, 6), np.float32),
        poses=np.zeros((geom_count, POSE), np.int32),
        bead_places=np.zeros(scene.beads.shape, np.int32),
        setting=np.zeros(VIEW_COLUMNS + light_count * LIGHT_COLUMNS, np.int32),
        depth=np.zeros((height, width), np.float32),
        segmentation=np.zeros((height, width), np.int32),
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
    """Take the requested images."""
    size = (height, width)
    return FrameArrays(
        rgb=pool.take((*size, 3), np.uint8) if "rgb" in kinds else NO_COLOR,
        depth=pool.take(size, np.float32) if "depth" in kinds else NO_DEPTH,
        segmentation=pool.take(size, np.int32) if "segmentation" in kinds else NO_IDS,
        normals=pool.take((*size, 3), np.float32) if "normals" in kinds else NO_NORMALS,
        albedo=pool.take((*size, 3), np.uint8) if "albedo" in kinds else NO_COLOR,
    )

"""One image: tile by tile, then the edge pixels again."""

import numpy as np

from handloom.kernels import picture_kernel
from handloom.render.cpu.layout import (
    BEADS,
    BIG,
    BLUE,
    FACE,
    G_TYPE,
    GREEN,
    HALF,
    ID,
    LANES,
    NX,
    NY,
    NZ,
    ONE,
    RED,
    TILE_HEIGHT,
    TILE_WIDTH,
    TRIANGLE,
    V_CX,
    V_CY,
    V_INV_FX,
    V_INV_FY,
    ZERO,
    T,
    U,
    V,
)
from handloom.render.cpu.light.shading import SRGB_1, SRGB_2, SRGB_4, SRGB_8
from handloom.render.cpu.smooth import FACE_KEYS, FACE_ZERO, smooth
from handloom.render.cpu.tile_reuse import begin_tile, end_tile, is_stale
from handloom.render.cpu.trace import find_candidates, find_nearest, find_surface, is_clear, light_up, shade_behind

RESHADE = 2
INFINITE = np.float32(np.inf)


@picture_kernel
def aim(lanes, left, top, view):
    """Aim the lanes at the pixel centres of a tile."""
    inv_fx, inv_fy, cx, cy = view[V_INV_FX], view[V_INV_FY], view[V_CX], view[V_CY]
    x = np.float32(left) + HALF - cx
    y = np.float32(top) + HALF - cy
    for i in range(LANES):
        lanes[i + U] = (x + np.float32(i % TILE_WIDTH)) * inv_fx
        lanes[i + V] = (y + np.float32(i // TILE_WIDTH)) * inv_fy


@picture_kernel
def _store_hits(lanes, canvas, left, top, ids, beads_row, want_depth, want_ids, want_key):
    """Write depth, geom ids and edge keys of a tile; ``ids`` starts with no geom and ends with the beads."""
    height, width = canvas.depth.shape
    count = min(TILE_WIDTH, width - left)
    for y in range(min(TILE_HEIGHT, height - top)):
        start = y * TILE_WIDTH
        # A test in a loop of fixed length becomes a masked store.
        if want_depth:
            depth = canvas.depth[top + y, left:]
            for x in range(TILE_WIDTH):
                if x < count:
                    t = lanes[start + x + T]
                    depth[x] = t if t < BIG else INFINITE
        if want_ids:
            segmentation = canvas.segmentation[top + y, left:]
            for x in range(TILE_WIDTH):
                if x < count:
                    i = start + x
                    bead = lanes[i + TRIANGLE] if lanes[i + ID] == beads_row else ZERO
                    segmentation[x] = ids[np.uint32(lanes[i + ID] + ONE + bead)]
        if want_key:
            key = canvas.key[top + y, left:]
            for x in range(TILE_WIDTH):
                if x < count:
                    i = start + x
                    key[x] = np.int32(lanes[i + ID] * np.float32(FACE_KEYS) + lanes[i + FACE]) + FACE_ZERO


@picture_kernel
def _store_albedo(lanes, canvas, frame, left, top, want_normals, want_albedo):
    """Write normals and sRGB albedo of a tile."""
    height, width = canvas.depth.shape
    for y in range(top, min(top + TILE_HEIGHT, height)):
        for x in range(left, min(left + TILE_WIDTH, width)):
            i = (y - top) * TILE_WIDTH + x - left
            hit = lanes[i + ID] >= 0
            if want_normals:
                frame.normals[y, x, 0] = lanes[i + NX] if hit else np.float32(0)
                frame.normals[y, x, 1] = lanes[i + NY] if hit else np.float32(0)
                frame.normals[y, x, 2] = lanes[i + NZ] if hit else np.float32(0)
            if want_albedo:
                frame.albedo[y, x, 0] = _srgb_byte(lanes[i + RED])
                frame.albedo[y, x, 1] = _srgb_byte(lanes[i + GREEN])
                frame.albedo[y, x, 2] = _srgb_byte(lanes[i + BLUE])


@picture_kernel(inline="always")
def _srgb_byte(linear):
    """Return the sRGB byte of linear light, from the same roots as the image, without a library's power function."""
    x = min(max(linear, np.float32(0)), ONE)
    root2 = np.sqrt(x)
    root4 = np.sqrt(root2)
    value = SRGB_2 * root2 + SRGB_4 * root4 + SRGB_8 * np.sqrt(root4) + SRGB_1 * x
    return np.uint8(np.int32(max(value, np.float32(0)) + HALF))


@picture_kernel
def _store_color(lanes, base, left, top):
    """Write the colours of a tile."""
    height, width, _ = base.shape
    count = min(TILE_WIDTH, width - left)
    for y in range(min(TILE_HEIGHT, height - top)):
        rgb = base[top + y, left:]
        start = y * TILE_WIDTH
        for x in range(count):
            i = start + x
            rgb[x, 0] = np.uint8(np.int32(lanes[i + RED] + HALF))
            rgb[x, 1] = np.uint8(np.int32(lanes[i + GREEN] + HALF))
            rgb[x, 2] = np.uint8(np.int32(lanes[i + BLUE] + HALF))


@picture_kernel(entry=True)
def draw(scene, view, canvas, frame, ids, keep, mirrors, shadows, occlusion, smoothing):
    """Render one camera's images.

    Args:
        scene: ``SceneArrays``, placed for this frame and camera.
        view: Camera row.
        canvas: ``CanvasArrays`` of the camera, tile spans filled.
        frame: ``FrameArrays`` to fill.
        ids: -1, then the geom id in the model of each row, and of each bead if the last row is beads (1 + g,).
        keep: Whether tiles of the last image on the canvas can be kept; it must have the same kinds and camera.
        mirrors: Whether mirror images follow, which need depths.
        shadows: Whether lights cast shadows.
        occlusion: Whether ambient light is occluded.
        smoothing: 0 none, 1 edge pixels borrow their neighbours' colours, 2 edge pixels are shaded four times.
    """
    lanes = canvas.lanes
    rows = canvas.first.shape[0]
    columns = canvas.edge.shape[1] // TILE_WIDTH
    last = scene.geoms.shape[0] - 1
    beads_row = np.float32(last if last >= 0 and scene.geoms[last, G_TYPE] == BEADS else -2)
    want_color = frame.rgb.shape[0] > 0
    want_depth = frame.depth.shape[0] > 0 or mirrors
    want_ids = frame.segmentation.shape[0] > 0
    want_normals = frame.normals.shape[0] > 0
    want_albedo = frame.albedo.shape[0] > 0
    for row in range(rows):
        for column in range(columns):
            tile = row * columns + column
            if keep and not is_stale(
                scene, canvas, row, column, tile, want_color and shadows, want_color and occlusion
            ):
                continue
            left = column * TILE_WIDTH
            top = row * TILE_HEIGHT
            candidates = find_candidates(canvas, row, column, column)
            begin_tile(canvas, candidates)
            aim(lanes, left, top, view)
            find_nearest(lanes, canvas.candidates, candidates, scene, view)
            if want_color or want_normals or want_albedo:
                find_surface(lanes, canvas.candidates, candidates, scene, canvas, view)
            _store_hits(lanes, canvas, left, top, ids, beads_row, want_depth, want_ids, want_color)
            if want_normals or want_albedo:
                _store_albedo(lanes, canvas, frame, left, top, want_normals, want_albedo)
            if want_color:
                light_up(lanes, scene, canvas, view, shadows, occlusion)
                if is_clear(lanes):
                    shade_behind(lanes, candidates, scene, canvas, view, shadows, occlusion)
                    # Surfaces other than those of the last layer affect it, so the tile is always rendered again if
                    # anything moves.
                    canvas.touching[:] = 1
                _store_color(lanes, canvas.base, left, top)
            end_tile(canvas, tile)
    _hand_over(canvas, frame)
    if smoothing > 0 and want_color:
        smooth(scene, view, canvas, frame, smoothing == RESHADE, shadows, occlusion)


@picture_kernel
def _copy(source, target):
    """Copy an image, unless it was not requested and has no pixels."""
    here = source.reshape(-1)
    there = target.reshape(-1)
    for i in range(there.shape[0]):
        there[i] = here[i]


@picture_kernel(inline="always")
def _hand_over(canvas, frame):
    """Copy the requested images from the canvas."""
    _copy(canvas.base, frame.rgb)
    _copy(canvas.depth, frame.depth)
    _copy(canvas.segmentation, frame.segmentation)

"""One picture: tile by tile, then the edge pixels once more."""

import numpy as np

from handloom.kernels import picture_kernel
from handloom.render.cpu.layout import (
    BIG,
    BLUE,
    FACE,
    GREEN,
    HALF,
    ID,
    LANES,
    NX,
    NY,
    NZ,
    ONE,
    OPACITY,
    RED,
    TILE_HEIGHT,
    TILE_WIDTH,
    V_CX,
    V_CY,
    V_INV_FX,
    V_INV_FY,
    VECTOR,
    T,
    U,
    V,
)
from handloom.render.cpu.shading import SRGB_1, SRGB_2, SRGB_4, SRGB_8
from handloom.render.cpu.trace import find_faces, find_nearest, find_next, find_surface, light_up

# Four samples of an edge pixel on a rotated grid, so that near-horizontal and near-vertical edges both get four steps.
SAMPLE_X = (np.float32(0.625), np.float32(0.875), np.float32(0.125), np.float32(0.375))
SAMPLE_Y = (np.float32(0.125), np.float32(0.375), np.float32(0.625), np.float32(0.875))
SAMPLES = 4

RESHADE = 2
# At most this many things are seen behind something transparent.
MAX_LAYERS = 4
INFINITE = np.float32(np.inf)

# The key of a pixel is ``geom * FACE_KEYS + FACE_ZERO + face``; box faces run from -4 to 4, polytopes have some
# hundred at most.
FACE_KEYS = 512
FACE_ZERO = 8


@picture_kernel
def _find_candidates(canvas, row, column):
    """List the geoms whose outline touches a tile; return their number."""
    count = 0
    for g in range(canvas.first.shape[1]):
        if canvas.first[row, g] <= column < canvas.last[row, g]:
            canvas.candidates[count] = g
            count += 1
    return count


@picture_kernel
def _aim(lanes, left, top, view):
    """Aim the lanes at the pixel centres of a tile."""
    inv_fx, inv_fy, cx, cy = view[V_INV_FX], view[V_INV_FY], view[V_CX], view[V_CY]
    x = np.float32(left) + HALF - cx
    y = np.float32(top) + HALF - cy
    for i in range(LANES):
        lanes[i + U] = (x + np.float32(i % TILE_WIDTH)) * inv_fx
        lanes[i + V] = (y + np.float32(i // TILE_WIDTH)) * inv_fy


@picture_kernel
def _store_hits(lanes, canvas, frame, left, top, ids, want_key):
    """Write depth, geom ids and edge keys of a tile; ``ids`` has one entry more than there are geoms, for no geom."""
    height, width = frame.depth.shape
    count = min(TILE_WIDTH, width - left)
    for y in range(min(TILE_HEIGHT, height - top)):
        depth = frame.depth[top + y, left:]
        segmentation = frame.segmentation[top + y, left:]
        key = canvas.key[top + y, left:]
        start = y * TILE_WIDTH
        for x in range(count):
            t = lanes[start + x + T]
            depth[x] = t if t < BIG else INFINITE
        for x in range(count):
            segmentation[x] = ids[int(lanes[start + x + ID]) + 1]
        if want_key:
            for x in range(count):
                i = start + x
                key[x] = np.int32(lanes[i + ID] * np.float32(FACE_KEYS) + lanes[i + FACE]) + FACE_ZERO


@picture_kernel
def _store_albedo(lanes, frame, left, top, want_normals, want_albedo):
    """Write normals and sRGB albedo of a tile."""
    height, width = frame.depth.shape
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


@picture_kernel
def _srgb_byte(linear):
    """Return the sRGB byte of linear light, from the same roots as the picture: no library's power function."""
    x = min(max(linear, np.float32(0)), ONE)
    root2 = np.sqrt(x)
    root4 = np.sqrt(root2)
    value = SRGB_2 * root2 + SRGB_4 * root4 + SRGB_8 * np.sqrt(root4) + SRGB_1 * x
    return np.uint8(np.int32(max(value, np.float32(0)) + HALF))


@picture_kernel
def _is_clear(lanes, n):
    """Tell whether any lane shows something transparent."""
    count = 0
    for i in range(n):
        count += lanes[i + OPACITY] < ONE
    return count > 0


@picture_kernel
def _shade_behind(lanes, n, candidates, scene, canvas, view, shadows, occlusion):
    """Blend what lies behind transparent hits, layer by layer, on screen, as GL does. Destroys T, ID and OPACITY."""
    layers = canvas.layers
    alpha_left = canvas.layers[3 * LANES :]
    for i in range(n):
        alpha = lanes[i + OPACITY]
        layers[i] = lanes[i + RED] * alpha
        layers[i + LANES] = lanes[i + GREEN] * alpha
        layers[i + 2 * LANES] = lanes[i + BLUE] * alpha
        alpha_left[i] = ONE - alpha
    for _ in range(MAX_LAYERS):
        find_next(lanes, n, canvas.candidates, candidates, scene)
        find_surface(lanes, n, canvas.candidates, candidates, scene, canvas, view)
        light_up(lanes, n, scene, canvas, view, shadows, occlusion)
        for i in range(n):
            weight = alpha_left[i] * lanes[i + OPACITY]
            layers[i] += lanes[i + RED] * weight
            layers[i + LANES] += lanes[i + GREEN] * weight
            layers[i + 2 * LANES] += lanes[i + BLUE] * weight
            alpha_left[i] -= weight
        if not _is_clear(lanes, n):
            break
    for i in range(n):
        lanes[i + RED] = layers[i]
        lanes[i + GREEN] = layers[i + LANES]
        lanes[i + BLUE] = layers[i + 2 * LANES]


@picture_kernel
def _store_color(lanes, frame, left, top):
    """Write the colours of a tile."""
    height, width = frame.depth.shape
    count = min(TILE_WIDTH, width - left)
    for y in range(min(TILE_HEIGHT, height - top)):
        rgb = frame.rgb[top + y, left:]
        start = y * TILE_WIDTH
        for x in range(count):
            i = start + x
            rgb[x, 0] = np.uint8(np.int32(lanes[i + RED] + HALF))
            rgb[x, 1] = np.uint8(np.int32(lanes[i + GREEN] + HALF))
            rgb[x, 2] = np.uint8(np.int32(lanes[i + BLUE] + HALF))


@picture_kernel
def _mark_edges(canvas):
    """Mark pixels whose right, left, upper or lower neighbour shows another geom, or another face of the same."""
    key = canvas.key
    height, width = key.shape
    for y in range(height):
        up = max(y - 1, 0)
        down = min(y + 1, height - 1)
        for x in range(1, width - 1):
            k = key[y, x]
            canvas.edge[y, x] = (key[y, x + 1] != k) | (key[y, x - 1] != k) | (key[up, x] != k) | (key[down, x] != k)


@picture_kernel
def _collect(canvas, left, top):
    """List the edge pixels of a tile; return their number."""
    height, width = canvas.key.shape
    count = 0
    for y in range(top, min(top + TILE_HEIGHT, height)):
        for x in range(left, min(left + TILE_WIDTH, width)):
            if canvas.edge[y, x]:
                canvas.todo[count] = y * width + x
                count += 1
    return count


@picture_kernel
def _aim_samples(lanes, canvas, start, count, view):
    """Aim four lanes at each of ``count`` edge pixels; return the number of lanes, padded to a full vector."""
    width = canvas.key.shape[1]
    inv_fx, inv_fy, cx, cy = view[V_INV_FX], view[V_INV_FY], view[V_CX], view[V_CY]
    n = (count * SAMPLES + VECTOR - 1) // VECTOR * VECTOR
    for j in range(n // SAMPLES):
        pixel = canvas.todo[start + min(j, count - 1)]
        y = pixel // width
        left = np.float32(pixel - y * width) - cx
        top = np.float32(y) - cy
        for q in range(SAMPLES):
            lanes[SAMPLES * j + q + U] = (left + SAMPLE_X[q]) * inv_fx
            lanes[SAMPLES * j + q + V] = (top + SAMPLE_Y[q]) * inv_fy
    return n


@picture_kernel
def _neighbour(key, y, x, k, right, down):
    """Return the pixel around (y, x) that shows key ``k``, looking first where the sample lies; itself if none."""
    height, width = key.shape
    y_near = min(max(y + down, 0), height - 1)
    y_far = min(max(y - down, 0), height - 1)
    x_near = min(max(x + right, 0), width - 1)
    x_far = min(max(x - right, 0), width - 1)
    if key[y_near, x] == k:
        return y_near, x
    if key[y, x_near] == k:
        return y, x_near
    if key[y, x_far] == k:
        return y, x_far
    if key[y_far, x] == k:
        return y_far, x
    if key[y_near, x_near] == k:
        return y_near, x_near
    return y, x


@picture_kernel
def _borrow(lanes, canvas, frame, start, count):
    """Blend edge pixels: visibility was cast again, colours come from neighbours that show the same face."""
    key = canvas.key
    base = canvas.base
    width = key.shape[1]
    for j in range(count):
        pixel = canvas.todo[start + j]
        y = pixel // width
        x = pixel % width
        red, green, blue = 2, 2, 2
        for q in range(SAMPLES):
            i = SAMPLES * j + q
            k = int(lanes[i + ID]) * FACE_KEYS + FACE_ZERO + int(lanes[i + FACE])
            yy = y
            xx = x
            if k != key[y, x]:
                yy, xx = _neighbour(key, y, x, k, 1 if q < 2 else -1, -1 if q < 2 else 1)
            red += base[yy, xx, 0]
            green += base[yy, xx, 1]
            blue += base[yy, xx, 2]
        frame.rgb[y, x, 0] = np.uint8(red >> 2)
        frame.rgb[y, x, 1] = np.uint8(green >> 2)
        frame.rgb[y, x, 2] = np.uint8(blue >> 2)


@picture_kernel
def _average(lanes, canvas, frame, start, count):
    """Average the four shaded samples of each edge pixel."""
    width = canvas.key.shape[1]
    quarter = np.float32(0.25)
    for j in range(count):
        pixel = canvas.todo[start + j]
        y = pixel // width
        x = pixel % width
        i = SAMPLES * j
        for c in range(3):
            k = i + RED + c * LANES
            total = lanes[k] + lanes[k + 1] + lanes[k + 2] + lanes[k + 3]
            frame.rgb[y, x, c] = np.uint8(quarter * total + HALF)


@picture_kernel
def _smooth_tile(scene, view, canvas, frame, row, column, reshade, shadows, occlusion):
    """Anti-alias the edge pixels of one tile."""
    lanes = canvas.lanes
    total = _collect(canvas, column * TILE_WIDTH, row * TILE_HEIGHT)
    if total == 0:
        return
    candidates = _find_candidates(canvas, row, column)
    per_batch = LANES // SAMPLES
    for start in range(0, total, per_batch):
        count = min(per_batch, total - start)
        n = _aim_samples(lanes, canvas, start, count, view)
        find_nearest(lanes, n, canvas.candidates, candidates, scene, view)
        if reshade:
            find_surface(lanes, n, canvas.candidates, candidates, scene, canvas, view)
            light_up(lanes, n, scene, canvas, view, shadows, occlusion)
            if _is_clear(lanes, n):
                _shade_behind(lanes, n, candidates, scene, canvas, view, shadows, occlusion)
            _average(lanes, canvas, frame, start, count)
        else:
            find_faces(lanes, n, canvas.candidates, candidates, scene, canvas.best)
            _borrow(lanes, canvas, frame, start, count)


@picture_kernel
def draw(scene, view, canvas, frame, ids, shadows, occlusion, smoothing):
    """Draw one camera's images.

    Args:
        scene: ``SceneArrays``, placed for this frame and camera.
        view: Camera row.
        canvas: ``CanvasArrays`` of the image size, tile spans filled.
        frame: ``FrameArrays`` to fill.
        ids: -1, then the geom id in the model of each row (1 + g,).
        shadows: Whether lights cast shadows.
        occlusion: Whether ambient light is occluded.
        smoothing: 0 none, 1 edge pixels borrow their neighbours' colours, 2 edge pixels are shaded four times.
    """
    lanes = canvas.lanes
    height, width = frame.depth.shape
    rows = (height + TILE_HEIGHT - 1) // TILE_HEIGHT
    columns = (width + TILE_WIDTH - 1) // TILE_WIDTH
    want_color = frame.rgb.shape[0] > 0
    want_normals = frame.normals.shape[0] > 0
    want_albedo = frame.albedo.shape[0] > 0
    for row in range(rows):
        for column in range(columns):
            left = column * TILE_WIDTH
            top = row * TILE_HEIGHT
            candidates = _find_candidates(canvas, row, column)
            _aim(lanes, left, top, view)
            find_nearest(lanes, LANES, canvas.candidates, candidates, scene, view)
            if want_color or want_normals or want_albedo:
                find_surface(lanes, LANES, canvas.candidates, candidates, scene, canvas, view)
            _store_hits(lanes, canvas, frame, left, top, ids, want_color and smoothing > 0)
            if want_normals or want_albedo:
                _store_albedo(lanes, frame, left, top, want_normals, want_albedo)
            if want_color:
                light_up(lanes, LANES, scene, canvas, view, shadows, occlusion)
                if _is_clear(lanes, LANES):
                    _shade_behind(lanes, LANES, candidates, scene, canvas, view, shadows, occlusion)
                _store_color(lanes, frame, left, top)
    if smoothing == 0 or not want_color:
        return
    _mark_edges(canvas)
    canvas.base[:] = frame.rgb
    for row in range(rows):
        for column in range(columns):
            _smooth_tile(scene, view, canvas, frame, row, column, smoothing == RESHADE, shadows, occlusion)

"""Anti-aliasing: the pixels on outlines and creases are sampled again, with four rays each.

Edge pixels of a whole row of tiles are packed into full batches. ``balanced`` determines what each of the four rays
hits and takes the colour of a neighbour that shows the same; ``quality`` shades all four.
"""

import numpy as np

from handloom.kernels import picture_kernel
from handloom.render.cpu.layout import (
    FACE,
    HALF,
    ID,
    LANES,
    RED,
    TILE_HEIGHT,
    TILE_WIDTH,
    V_CX,
    V_CY,
    V_INV_FX,
    V_INV_FY,
    U,
    V,
)
from handloom.render.cpu.trace import (
    find_candidates,
    find_faces,
    find_nearest,
    find_surface,
    is_clear,
    light_up,
    shade_behind,
)

# Four samples of an edge pixel on a rotated grid, so that near-horizontal and near-vertical edges both get four steps.
SAMPLE_X = (np.float32(0.625), np.float32(0.875), np.float32(0.125), np.float32(0.375))
SAMPLE_Y = (np.float32(0.125), np.float32(0.375), np.float32(0.625), np.float32(0.875))
SAMPLES = 4
BATCH = LANES // SAMPLES

# The key of a pixel is ``geom * FACE_KEYS + FACE_ZERO + face``; box faces run from -4 to 4, polytopes have a few
# hundred at most.
FACE_KEYS = 512
FACE_ZERO = 8
# Edge marks are bytes, tested eight at a time.
WORD = 8


@picture_kernel
def _mark_edges(canvas):
    """Mark pixels next to a pixel that shows another geom, or another face of the same geom."""
    key = canvas.key
    height, width = key.shape
    for y in range(height):
        here = key[y]
        above = key[max(y - 1, 0)]
        below = key[min(y + 1, height - 1)]
        edge = canvas.edge[y]
        for x in range(1, width - 1):
            k = here[x]
            edge[x] = (here[x + 1] != k) | (here[x - 1] != k) | (above[x] != k) | (below[x] != k)


@picture_kernel
def _collect(canvas, row):
    """List the edge pixels of a row of tiles, tile by tile; return their number."""
    height, width = canvas.key.shape
    edge = canvas.edge
    words = canvas.edge_words
    count = 0
    for word in range(words.shape[1]):
        for y in range(row * TILE_HEIGHT, min((row + 1) * TILE_HEIGHT, height)):
            if words[y, word] != 0:
                for x in range(word * WORD, word * WORD + WORD):
                    if edge[y, x]:
                        canvas.todo[count] = y * width + x
                        count += 1
    return count


@picture_kernel
def _aim_samples(lanes, canvas, start, count, view):
    """Aim four lanes at each of ``count`` edge pixels; spare lanes repeat the last."""
    width = canvas.key.shape[1]
    inv_fx, inv_fy, cx, cy = view[V_INV_FX], view[V_INV_FY], view[V_CX], view[V_CY]
    for j in range(BATCH):
        pixel = canvas.todo[start + min(j, count - 1)]
        y = pixel // width
        left = np.float32(pixel - y * width) - cx
        top = np.float32(y) - cy
        for q in range(SAMPLES):
            lanes[SAMPLES * j + q + U] = (left + SAMPLE_X[q]) * inv_fx
            lanes[SAMPLES * j + q + V] = (top + SAMPLE_Y[q]) * inv_fy


@picture_kernel
def _find_seen(canvas, start, count):
    """List the geoms shown by edge pixels or their neighbours, the only ones whose colours can be used."""
    key = canvas.key
    picked = canvas.picked
    last = canvas.first.shape[1] - 1
    height, width = key.shape
    for g in range(picked.shape[0]):
        picked[g] = 0
    for j in range(start, start + count):
        y = canvas.todo[j] // width
        x = canvas.todo[j] - y * width
        for k in (key[y, x], key[y, x - 1], key[y, x + 1], key[max(y - 1, 0), x], key[min(y + 1, height - 1), x]):
            if k >= 0:
                # Beads, of which there may be more than keys, are the last row.
                picked[min(k // FACE_KEYS, last)] = 1
    found = 0
    for g in range(picked.shape[0]):
        if picked[g] != 0:
            canvas.candidates[found] = g
            found += 1
    return found


@picture_kernel(inline="always")
def _neighbour(key, y, x, k, right, down):
    """Return a neighbour of pixel (y, x) that shows key ``k``, preferably on the sample's side; itself if none does."""
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
    """Blend edge pixels: visibility has been cast again, colours come from neighbours that show the same face."""
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


@picture_kernel(inline="always")
def smooth(scene, view, canvas, frame, reshade, shadows, occlusion):
    """Anti-alias an image."""
    lanes = canvas.lanes
    width = canvas.key.shape[1]
    _mark_edges(canvas)
    for row in range(canvas.first.shape[0]):
        total = _collect(canvas, row)
        for start in range(0, total, BATCH):
            count = min(BATCH, total - start)
            _aim_samples(lanes, canvas, start, count, view)
            if reshade:
                first = canvas.todo[start] % width // TILE_WIDTH
                last = canvas.todo[start + count - 1] % width // TILE_WIDTH
                candidates = find_candidates(canvas, row, first, last)
                find_nearest(lanes, canvas.candidates, candidates, scene, view)
                find_surface(lanes, canvas.candidates, candidates, scene, canvas, view)
                light_up(lanes, scene, canvas, view, shadows, occlusion)
                if is_clear(lanes):
                    shade_behind(lanes, candidates, scene, canvas, view, shadows, occlusion)
                _average(lanes, canvas, frame, start, count)
            else:
                candidates = _find_seen(canvas, start, count)
                find_nearest(lanes, canvas.candidates, candidates, scene, view)
                find_faces(lanes, canvas.candidates, candidates, scene, canvas.best)
                _borrow(lanes, canvas, frame, start, count)

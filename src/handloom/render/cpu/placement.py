"""Placement: the part of the tables that changes with every frame and camera, and culling outlines.

An outline is the convex hull of the eight projected corners of a geom's bounding box, stored as one interval per row:
rows of tiles for the camera, bands of the picture plane for a light. Rows need no sorting and no polygon clipping:
every edge of the box widens the intervals of the rows it crosses.
"""

import numpy as np

from handloom.kernels import picture_kernel
from handloom.render.cpu.layout import (
    BANDS,
    C_BOTTOM,
    C_INVERSE,
    C_LEFT,
    C_POS,
    C_RIGHT,
    C_TOP,
    G_BODY,
    G_BOX,
    G_CASTS,
    G_EYE,
    G_HALF,
    G_INSIDE,
    G_NEAREST,
    G_POS,
    G_RAY_U,
    G_RAY_V,
    G_RAY_W,
    G_ROT,
    G_TYPE,
    L_BAND_LOW,
    L_BAND_SCALE,
    L_POS,
    L_SHADOW,
    L_U,
    L_V,
    L_W,
    PLANE,
    TILE_HEIGHT,
    TILE_WIDTH,
    V_AXES,
    V_CX,
    V_CY,
    V_EYE,
    V_INV_FX,
    V_INV_FY,
)

# Corners nearer than this to a projection centre make the outline endless [m].
PROJECTION_NEAR = 0.01
FAR_AWAY = 1e9


@picture_kernel
def _corner(row, k, out):
    """Write corner ``k`` (0..7) of the bounding box of a placed geom, in the world [m]."""
    sx = row[G_BOX] + (row[G_HALF] if k & 1 else -row[G_HALF])
    sy = row[G_BOX + 1] + (row[G_HALF + 1] if k & 2 else -row[G_HALF + 1])
    sz = row[G_BOX + 2] + (row[G_HALF + 2] if k & 4 else -row[G_HALF + 2])
    for i in range(3):
        out[i] = row[G_POS + i] + row[G_ROT + 3 * i] * sx + row[G_ROT + 3 * i + 1] * sy + row[G_ROT + 3 * i + 2] * sz


@picture_kernel(entry=True)
def place_geoms(geoms, boxes, positions, rotations):
    """Write pose and world bounds of every geom; positions (g, 3) [m], rotations (g, 9) row major."""
    for g in range(geoms.shape[0]):
        row = geoms[g]
        for i in range(3):
            row[G_POS + i] = positions[g, i]
            for j in range(3):
                row[G_ROT + 3 * i + j] = rotations[g, 3 * i + j]
        for i in range(3):
            center = positions[g, i]
            extent = 0.0
            for j in range(3):
                center += rotations[g, 3 * i + j] * row[G_BOX + j]
                extent += abs(rotations[g, 3 * i + j]) * row[G_HALF + j]
            boxes[i, g] = center - extent
            boxes[3 + i, g] = center + extent
        if int(row[G_TYPE]) == PLANE:
            boxes[:3, g] = -FAR_AWAY
            boxes[3:, g] = FAR_AWAY


@picture_kernel(inline="always")
def _widen(spans, row, left, right):
    """Widen one interval."""
    spans[row, 0] = min(spans[row, 0], left)
    spans[row, 1] = max(spans[row, 1], right)


@picture_kernel
def _outline(xs, ys, spans):
    """Fill intervals (rows, 2) with the hull of eight projected corners; y counts rows, x is kept as it is."""
    rows = spans.shape[0]
    for r in range(rows):
        spans[r, 0] = FAR_AWAY
        spans[r, 1] = -FAR_AWAY
    for k in range(8):
        for bit in range(3):
            m = k ^ (1 << bit)
            if m < k:
                continue
            a, b = (k, m) if ys[k] <= ys[m] else (m, k)
            first = max(0, int(np.floor(min(max(ys[a], -1.0), rows + 1.0))))
            last = min(rows - 1, int(np.floor(min(max(ys[b], -1.0), rows + 1.0))))
            rise = ys[b] - ys[a]
            slope = (xs[b] - xs[a]) / rise if rise > 1e-9 else 0.0
            for r in range(first, last + 1):
                x0 = xs[a] + (max(ys[a], float(r)) - ys[a]) * slope
                x1 = xs[a] + (min(ys[b], r + 1.0) - ys[a]) * slope
                if rise <= 1e-9:
                    x0, x1 = xs[a], xs[b]
                _widen(spans, r, min(x0, x1), max(x0, x1))


@picture_kernel(entry=True)
def place_view(geoms, view, camera_body, canvas, corners, spans):
    """Write what one camera needs: its axes in every geom frame, and the tiles each geom can be seen in.

    Args:
        geoms: Geom table with poses.
        view: Camera row.
        camera_body: Body that rigidly carries the camera; its geoms are see-through from inside.
        canvas: ``CanvasArrays``; its tile spans are filled.
        corners: Scratch (3, 8) float64.
        spans: Scratch (tile rows, 2) float64.
    """
    rows = canvas.first.shape[0]
    columns = canvas.edge.shape[1] // TILE_WIDTH
    point = corners[2]
    for g in range(geoms.shape[0]):
        row = geoms[g]
        row[G_INSIDE] = 0.0 if row[G_BODY] == camera_body else 1.0
        for j in range(3):
            row[G_EYE + j] = 0.0
            row[G_RAY_U + j] = 0.0
            row[G_RAY_V + j] = 0.0
            row[G_RAY_W + j] = 0.0
            for i in range(3):
                r = row[G_ROT + 3 * i + j]
                row[G_EYE + j] += r * (view[V_EYE + i] - row[G_POS + i])
                row[G_RAY_U + j] += r * view[V_AXES + 3 * i]
                row[G_RAY_V + j] += r * view[V_AXES + 3 * i + 1]
                row[G_RAY_W + j] += r * view[V_AXES + 3 * i + 2]
        behind = 0
        row[G_NEAREST] = 0.0
        if int(row[G_TYPE]) != PLANE:
            row[G_NEAREST] = FAR_AWAY
            for k in range(8):
                _corner(row, k, point)
                x = 0.0
                y = 0.0
                z = 0.0
                for i in range(3):
                    d = point[i] - view[V_EYE + i]
                    x += view[V_AXES + 3 * i] * d
                    y += view[V_AXES + 3 * i + 1] * d
                    z += view[V_AXES + 3 * i + 2] * d
                row[G_NEAREST] = min(row[G_NEAREST], z)
                behind += z < PROJECTION_NEAR
                z = max(z, PROJECTION_NEAR)
                corners[0, k] = (view[V_CX] + x / (view[V_INV_FX] * z)) / TILE_WIDTH
                corners[1, k] = (view[V_CY] + y / (view[V_INV_FY] * z)) / TILE_HEIGHT
        if int(row[G_TYPE]) == PLANE or 0 < behind < 8:
            canvas.first[:, g] = 0
            canvas.last[:, g] = columns
        elif behind == 8:
            canvas.first[:, g] = columns
            canvas.last[:, g] = 0
        else:
            _outline(corners[0], corners[1], spans)
            for r in range(rows):
                low = min(max(spans[r, 0], 0.0), float(columns))
                high = min(max(spans[r, 1], -1.0), columns - 1.0)
                canvas.first[r, g] = int(np.floor(low))
                canvas.last[r, g] = int(np.floor(high)) + 1


@picture_kernel
def _light_corners(row, light, corners, point):
    """Project a geom's bounding box onto a light's picture plane; return the smallest distance along its axis."""
    nearest = FAR_AWAY
    for k in range(8):
        _corner(row, k, point)
        u = 0.0
        v = 0.0
        w = 0.0
        for i in range(3):
            d = light[L_POS + i] - point[i]
            u += light[L_U + i] * d
            v += light[L_V + i] * d
            w += light[L_W + i] * d
        nearest = min(nearest, w)
        w = max(w, PROJECTION_NEAR)
        corners[0, k] = u / w
        corners[1, k] = v / w
    return nearest


@picture_kernel(inline="always")
def _extent(values):
    """Return the least and the greatest of eight values."""
    low = values[0]
    high = values[0]
    for k in range(1, 8):
        low = min(low, values[k])
        high = max(high, values[k])
    return low, high


@picture_kernel(entry=True)
def place_lights(geoms, lights, casters, bands, corners, spans):
    """Write what every shadow light sees of every geom: rectangle, nearest distance, outline in bands.

    Args:
        geoms: Geom table with poses.
        lights: Light table; the range of the bands is written.
        casters: Caster table (l, CASTER_COLUMNS, g).
        bands: Outlines (l, g, BANDS, 2).
        corners: Scratch (3, 8) float64.
        spans: Scratch (BANDS, 2) float64.
    """
    for k in range(lights.shape[0]):
        light = lights[k]
        if light[L_SHADOW] == 0.0:
            continue
        low = FAR_AWAY
        high = -FAR_AWAY
        for g in range(geoms.shape[0]):
            caster = casters[k, :, g]
            if geoms[g, G_CASTS] == 0.0:
                caster[C_INVERSE] = -FAR_AWAY
                continue
            row = geoms[g]
            for j in range(3):
                here = 0.0
                for i in range(3):
                    here += row[G_ROT + 3 * i + j] * (light[L_POS + i] - row[G_POS + i])
                caster[C_POS + j] = here
            nearest = _light_corners(row, light, corners, corners[2])
            if nearest < 2 * PROJECTION_NEAR:
                caster[C_LEFT], caster[C_RIGHT] = -FAR_AWAY, FAR_AWAY
                caster[C_TOP], caster[C_BOTTOM] = -FAR_AWAY, FAR_AWAY
                caster[C_INVERSE] = FAR_AWAY
                continue
            caster[C_LEFT], caster[C_RIGHT] = _extent(corners[0])
            caster[C_TOP], caster[C_BOTTOM] = _extent(corners[1])
            caster[C_INVERSE] = 1.0 / nearest
            low = min(low, caster[C_TOP])
            high = max(high, caster[C_BOTTOM])
        light[L_BAND_LOW] = low
        light[L_BAND_SCALE] = BANDS / max(high - low, 1e-6)
        _fill_bands(geoms, light, casters[k], bands[k], corners, spans)


@picture_kernel
def _fill_bands(geoms, light, casters, bands, corners, spans):
    """Write the outline of every caster."""
    scale = light[L_BAND_SCALE]
    for g in range(geoms.shape[0]):
        if geoms[g, G_CASTS] == 0.0:
            continue
        if casters[C_INVERSE, g] >= FAR_AWAY:
            bands[g, :, 0] = -FAR_AWAY
            bands[g, :, 1] = FAR_AWAY
            continue
        _light_corners(geoms[g], light, corners, corners[2])
        for k in range(8):
            corners[1, k] = (corners[1, k] - light[L_BAND_LOW]) * scale
        _outline(corners[0], corners[1], spans)
        for b in range(BANDS):
            bands[g, b, 0] = spans[b, 0]
            bands[g, b, 1] = spans[b, 1]

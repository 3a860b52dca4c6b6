"""Placement, which changes with every frame: geoms as seen by the camera and by every shadow light.

A light's image plane is at distance 1 from it. The outline of a geom there is the hull of the projected corners of
its bounding box, stored as an upright rectangle, which culls all geoms at once, and as a rectangle rotated to the
geom's longest axis, which fits the links of an arm much more closely.
"""

import math

import numpy as np

from handloom.kernels import picture_kernel
from handloom.render.cpu.layout import (
    B_CENTER,
    B_HALF,
    B_ROT,
    BIG,
    BOX_BLOCK,
    C_ACROSS_HIGH,
    C_ACROSS_LOW,
    C_ALONG_HIGH,
    C_ALONG_LOW,
    C_BOTTOM,
    C_DIRECTION,
    C_INVERSE,
    C_LEFT,
    C_POS,
    C_RIGHT,
    C_TOP,
    CASTER_BLOCK,
    G_BODY,
    G_BOX,
    G_CASTS,
    G_DEPTH,
    G_EYE,
    G_HALF,
    G_INSIDE,
    G_POS,
    G_RAY_U,
    G_RAY_V,
    G_RAY_W,
    G_ROT,
    G_TYPE,
    L_POS,
    L_SHADOW,
    L_U,
    L_V,
    L_W,
    PLANE,
    V_AXES,
    V_EYE,
    V_NEAR,
    VECTOR,
)
from handloom.render.cpu.model.outline import CORNERS, FAR_AWAY, outline

# Boxes are cut this much in front of the near plane of the camera, and never nearer than the second value [m]: a hit is
# never lost to rounding.
BEFORE_NEAR, LEAST_NEAR = 0.5, 1e-4
# A geom is assumed to be this much nearer to the camera than it is: a factor, and a distance [m].
CLOSER, BEFORE = 0.999, 1e-3


@picture_kernel(entry=True)
def place_geoms(geoms, boxes, positions, rotations):
    """Write pose and bounding box of every geom; positions (g, 3) [m], rotations (g, 9) row major."""
    for g in range(geoms.shape[0]):
        row = geoms[g]
        box = boxes[g // VECTOR * BOX_BLOCK + g % VECTOR :]
        endless = int(row[G_TYPE]) == PLANE
        for i in range(3):
            row[G_POS + i] = positions[g, i]
            center = positions[g, i]
            for j in range(3):
                row[G_ROT + 3 * i + j] = rotations[g, 3 * i + j]
                box[B_ROT + VECTOR * (3 * i + j)] = rotations[g, 3 * i + j]
                center += rotations[g, 3 * i + j] * row[G_BOX + j]
            box[B_CENTER + VECTOR * i] = positions[g, i] if endless else center
            box[B_HALF + VECTOR * i] = BIG if endless else row[G_HALF + i]


@picture_kernel(entry=True)
def place_view(geoms, view, camera_body, first, last, columns, points, spans):
    """Write the data of one camera: its axes in every geom frame, and the tiles in which each geom may be visible.

    Args:
        geoms: Geom table with poses.
        view: Camera row.
        camera_body: Body that rigidly carries the camera; its geoms are transparent from inside.
        first: First tile column of each geom in each tile row (rows, g), written.
        last: One past the last tile column, likewise.
        columns: Number of tile columns.
        points: Scratch (3, CORNERS + CUTS) float64.
        spans: Scratch (tile rows, 2) float64.
    """
    rows = first.shape[0]
    near = max(BEFORE_NEAR * view[V_NEAR], LEAST_NEAR)
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
        if int(row[G_TYPE]) == PLANE:
            first[:, g] = 0
            last[:, g] = columns
            row[G_DEPTH] = -FAR_AWAY
            continue
        outline(row, view, near, points, spans)
        depth = FAR_AWAY
        for k in range(CORNERS):
            depth = min(depth, points[2, k])
        row[G_DEPTH] = CLOSER * depth - BEFORE if depth > 0.0 else -FAR_AWAY
        for r in range(rows):
            low = min(max(spans[r, 0], 0.0), float(columns))
            high = min(max(spans[r, 1], -1.0), columns - 1.0)
            first[r, g] = int(np.floor(low))
            last[r, g] = int(np.floor(high)) + 1


# Corners nearer to the light than this make the outline infinite [m].
LIGHT_NEAR = 0.02


@picture_kernel
def _project_box(row, light, points):
    """Project a geom's bounding box onto a light's image plane (first two rows); return its smallest distance."""
    nearest = FAR_AWAY
    for k in range(CORNERS):
        x = row[G_BOX] + (row[G_HALF] if k & 1 else -row[G_HALF])
        y = row[G_BOX + 1] + (row[G_HALF + 1] if k & 2 else -row[G_HALF + 1])
        z = row[G_BOX + 2] + (row[G_HALF + 2] if k & 4 else -row[G_HALF + 2])
        u = 0.0
        v = 0.0
        w = 0.0
        for i in range(3):
            d = light[L_POS + i] - row[G_POS + i]
            d -= row[G_ROT + 3 * i] * x + row[G_ROT + 3 * i + 1] * y + row[G_ROT + 3 * i + 2] * z
            u += light[L_U + i] * d
            v += light[L_V + i] * d
            w += light[L_W + i] * d
        nearest = min(nearest, w)
        w = max(w, LIGHT_NEAR)
        points[0, k] = u / w
        points[1, k] = v / w
    return nearest


@picture_kernel
def _extent(points, x, y):
    """Return the minimum and maximum of ``x u + y v`` over the projected corners."""
    low = FAR_AWAY
    high = -FAR_AWAY
    for k in range(CORNERS):
        value = x * points[0, k] + y * points[1, k]
        low = min(low, value)
        high = max(high, value)
    return low, high


@picture_kernel
def _direction(row, points):
    """Return the unit vector in the image plane along the longest edge of the box, or any if that is a point."""
    axis = 0
    for j in range(1, 3):
        if row[G_HALF + j] > row[G_HALF + axis]:
            axis = j
    x = points[0, 1 << axis] - points[0, 0]
    y = points[1, 1 << axis] - points[1, 0]
    length = math.sqrt(x * x + y * y)
    return (x / length, y / length) if length > 1e-6 else (1.0, 0.0)


@picture_kernel(entry=True)
def place_lights(geoms, lights, casters, points):
    """Write the data of every geom for every shadow light: the light in its frame, smallest distance, two rectangles.

    Args:
        geoms: Geom table with poses.
        lights: Light table.
        casters: Caster table (l, blocks * CASTER_BLOCK).
        points: Scratch (3, at least CORNERS) float64.
    """
    for k in range(lights.shape[0]):
        light = lights[k]
        if light[L_SHADOW] == 0.0:
            continue
        for g in range(geoms.shape[0]):
            caster = casters[k, g // VECTOR * CASTER_BLOCK + g % VECTOR :]
            row = geoms[g]
            if row[G_CASTS] == 0.0:
                caster[C_INVERSE] = -FAR_AWAY
                continue
            for j in range(3):
                here = 0.0
                for i in range(3):
                    here += row[G_ROT + 3 * i + j] * (light[L_POS + i] - row[G_POS + i])
                caster[C_POS + VECTOR * j] = here
            nearest = _project_box(row, light, points)
            if nearest < LIGHT_NEAR:
                caster[C_LEFT], caster[C_RIGHT] = -FAR_AWAY, FAR_AWAY
                caster[C_TOP], caster[C_BOTTOM] = -FAR_AWAY, FAR_AWAY
                caster[C_ALONG_LOW], caster[C_ALONG_HIGH] = -FAR_AWAY, FAR_AWAY
                caster[C_ACROSS_LOW], caster[C_ACROSS_HIGH] = -FAR_AWAY, FAR_AWAY
                caster[C_DIRECTION], caster[C_DIRECTION + VECTOR] = 1.0, 0.0
                caster[C_INVERSE] = FAR_AWAY
                continue
            x, y = _direction(row, points)
            caster[C_DIRECTION], caster[C_DIRECTION + VECTOR] = x, y
            caster[C_LEFT], caster[C_RIGHT] = _extent(points, 1.0, 0.0)
            caster[C_TOP], caster[C_BOTTOM] = _extent(points, 0.0, 1.0)
            caster[C_ALONG_LOW], caster[C_ALONG_HIGH] = _extent(points, x, y)
            caster[C_ACROSS_LOW], caster[C_ACROSS_HIGH] = _extent(points, -y, x)
            caster[C_INVERSE] = 1.0 / nearest

"""Placement of shadow casters: what every shadow light sees of every geom.

A light's picture plane is at distance 1 from it. The outline of a geom there is the hull of the projected corners of
its bounding box, kept as an upright rectangle, which culls all geoms at once, and as one turned along the geom's
longest axis, which fits the links of an arm much closer.
"""

import math

from handloom.kernels import picture_kernel
from handloom.render.cpu.layout import (
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
    G_BOX,
    G_CASTS,
    G_HALF,
    G_POS,
    G_ROT,
    L_POS,
    L_SHADOW,
    L_U,
    L_V,
    L_W,
    VECTOR,
)
from handloom.render.cpu.outline import CORNERS, FAR_AWAY

# Corners nearer to the light than this make the outline endless [m].
LIGHT_NEAR = 0.02


@picture_kernel
def _project_box(row, light, points):
    """Project a geom's bounding box onto a light's picture plane, to the first two rows; return its least distance."""
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
    """Return the least and the greatest of ``x u + y v`` over the projected corners."""
    low = FAR_AWAY
    high = -FAR_AWAY
    for k in range(CORNERS):
        value = x * points[0, k] + y * points[1, k]
        low = min(low, value)
        high = max(high, value)
    return low, high


@picture_kernel
def _direction(row, points):
    """Return the unit vector in the picture plane along the longest edge of the box, or any when that is a point."""
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
    """Write what every shadow light sees of every geom: the light in its frame, nearest distance, two rectangles.

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

"""Placement: the part of the geom table that changes with every frame and camera."""

import numpy as np

from handloom.kernels import picture_kernel
from handloom.render.cpu.layout import (
    B_CENTER,
    B_HALF,
    B_ROT,
    BIG,
    BOX_BLOCK,
    G_BODY,
    G_BOX,
    G_EYE,
    G_HALF,
    G_INSIDE,
    G_POS,
    G_RAY_U,
    G_RAY_V,
    G_RAY_W,
    G_ROT,
    G_TYPE,
    PLANE,
    V_AXES,
    V_EYE,
    V_NEAR,
    VECTOR,
)
from handloom.render.cpu.outline import outline

# Boxes are cut this much before the near plane of the camera, and never nearer than the second value [m]: a hit is
# never lost to rounding.
BEFORE_NEAR, LEAST_NEAR = 0.5, 1e-4


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
    """Write what one camera needs: its axes in every geom frame, and the tiles each geom can be seen in.

    Args:
        geoms: Geom table with poses.
        view: Camera row.
        camera_body: Body that rigidly carries the camera; its geoms are see-through from inside.
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
            continue
        outline(row, view, near, points, spans)
        for r in range(rows):
            low = min(max(spans[r, 0], 0.0), float(columns))
            high = min(max(spans[r, 1], -1.0), columns - 1.0)
            first[r, g] = int(np.floor(low))
            last[r, g] = int(np.floor(high)) + 1

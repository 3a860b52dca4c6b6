"""Helpers for all kernels: unpack rows of the geom table into locals, move lanes between frames.

Values are unpacked before a loop because the compiler must assume that a store to the lanes changes the table.
"""

from handloom.kernels import picture_kernel
from handloom.render.cpu.layout import (
    G_EYE,
    G_POS,
    G_RAY_U,
    G_RAY_V,
    G_RAY_W,
    G_ROT,
    G_SIZE,
    NX,
    NY,
    NZ,
    PX,
    PY,
    PZ,
)


@picture_kernel(inline="always")
def size_of(row):
    """Return the three sizes [m] of a geom row."""
    return row[G_SIZE], row[G_SIZE + 1], row[G_SIZE + 2]


@picture_kernel(inline="always")
def eye_of(row):
    """Return the camera origin in the geom frame [m]."""
    return row[G_EYE], row[G_EYE + 1], row[G_EYE + 2]


@picture_kernel(inline="always")
def position_of(row):
    """Return p_world_geom [m]."""
    return row[G_POS], row[G_POS + 1], row[G_POS + 2]


@picture_kernel(inline="always")
def rays_of(row):
    """Return the camera axes in the geom frame: a ray is (u a + v b + c) per coordinate."""
    return (
        row[G_RAY_U],
        row[G_RAY_U + 1],
        row[G_RAY_U + 2],
        row[G_RAY_V],
        row[G_RAY_V + 1],
        row[G_RAY_V + 2],
        row[G_RAY_W],
        row[G_RAY_W + 1],
        row[G_RAY_W + 2],
    )


@picture_kernel(inline="always")
def rotation_of(row):
    """Return R_world_geom, row major."""
    return (
        row[G_ROT],
        row[G_ROT + 1],
        row[G_ROT + 2],
        row[G_ROT + 3],
        row[G_ROT + 4],
        row[G_ROT + 5],
        row[G_ROT + 6],
        row[G_ROT + 7],
        row[G_ROT + 8],
    )


@picture_kernel(inline="always")
def point_of(lanes, i, rotation, position):
    """Return the surface point of lane ``i`` in the geom frame [m]."""
    r0, r1, r2, r3, r4, r5, r6, r7, r8 = rotation
    px = lanes[i + PX] - position[0]
    py = lanes[i + PY] - position[1]
    pz = lanes[i + PZ] - position[2]
    return r0 * px + r3 * py + r6 * pz, r1 * px + r4 * py + r7 * pz, r2 * px + r5 * py + r8 * pz


@picture_kernel(inline="always")
def normal_of(lanes, i, rotation):
    """Return the surface normal of lane ``i`` in the geom frame."""
    r0, r1, r2, r3, r4, r5, r6, r7, r8 = rotation
    nx = lanes[i + NX]
    ny = lanes[i + NY]
    nz = lanes[i + NZ]
    return r0 * nx + r3 * ny + r6 * nz, r1 * nx + r4 * ny + r7 * nz, r2 * nx + r5 * ny + r8 * nz

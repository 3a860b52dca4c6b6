"""Space: world-aligned boxes around the surface points of a batch, and how far geoms are from them.

A box around all points is of little use where the edge of an arm is seen before a wall: it holds all the space between
them. So the points are grouped by the geom they lie on; each group has boxes of its own.
"""

import numpy as np

from handloom.kernels import picture_kernel
from handloom.render.cpu.layout import (
    ABOVE,
    BETWEEN,
    BIG,
    G_BOX,
    G_HALF,
    G_POS,
    G_ROT,
    G_TYPE,
    GROUPS,
    HALF,
    ID,
    LANES,
    NX,
    NY,
    NZ,
    ONE,
    PLANE,
    PX,
    PY,
    PZ,
    SPARE_A,
    SPARE_B,
    SPARE_C,
    SPARE_D,
    SPARE_E,
    SPARE_F,
    SURFACE,
    ZERO,
)
from handloom.render.cpu.reduce import bounds, greatest

# Gaps are taken to be this much smaller than they are, against rounding.
CLOSER = np.float32(0.9999)


@picture_kernel
def _highest_below(lanes, ceiling):
    """Return the highest geom below ``ceiling`` that any lane shows, or -1."""
    for i in range(LANES):
        gid = lanes[i + ID]
        lanes[i + SPARE_A] = gid if gid < ceiling else -ONE
    return greatest(lanes, SPARE_A)


@picture_kernel
def _bound(lanes, lowest, highest, height, space):
    """Write the bounds of the points ``height`` above the lanes that show geoms ``lowest`` to ``highest``."""
    for i in range(LANES):
        mine = (lanes[i + ID] >= lowest) & (lanes[i + ID] <= highest)
        x = lanes[i + PX] + height * lanes[i + NX]
        y = lanes[i + PY] + height * lanes[i + NY]
        z = lanes[i + PZ] + height * lanes[i + NZ]
        lanes[i + SPARE_A] = x if mine else BIG
        lanes[i + SPARE_B] = x if mine else -BIG
        lanes[i + SPARE_C] = y if mine else BIG
        lanes[i + SPARE_D] = y if mine else -BIG
        lanes[i + SPARE_E] = z if mine else BIG
        lanes[i + SPARE_F] = z if mine else -BIG
    space[0], space[1], space[2], space[3], space[4], space[5] = bounds(lanes)


@picture_kernel
def _join(whole, space):
    """Widen a space so that it holds another."""
    for i in range(0, 6, 2):
        whole[i] = min(whole[i], space[i])
        whole[i + 1] = max(whole[i + 1], space[i + 1])


@picture_kernel
def find_groups(lanes, canvas, height, share):
    """Group the lanes by the geom they show, with the bounds of their surface points and of points above those.

    Args:
        lanes: Flat batch with surface points and normals.
        canvas: ``CanvasArrays``; groups are written, and the spaces of the tile widened to hold them.
        height: How far above the surface ABOVE lies [m].
        share: How much of that height BETWEEN is above it.

    Returns:
        Number of groups. The last of GROUPS holds all that are left and stands for no geom, so its number is -1.
    """
    count = 0
    highest = BIG
    while count < GROUPS:
        highest = _highest_below(lanes, highest)
        if highest < ZERO:
            break
        last = count == GROUPS - 1
        spaces = canvas.group_spaces[count]
        canvas.group_ids[count] = -ONE if last else highest
        _bound(lanes, ZERO if last else highest, highest, ZERO, spaces[SURFACE])
        _bound(lanes, ZERO if last else highest, highest, height, spaces[ABOVE])
        # All points rise by the same share of their way, so their bounds do.
        for i in range(6):
            spaces[BETWEEN, i] = spaces[SURFACE, i] + share * (spaces[ABOVE, i] - spaces[SURFACE, i])
        _join(canvas.spaces[SURFACE], spaces[SURFACE])
        _join(canvas.spaces[ABOVE], spaces[ABOVE])
        count += 1
    return count


@picture_kernel
def box_along(row, j, space):
    """Return how a space lies along axis ``j`` of a geom, from the middle of its bounding box: centre, half length."""
    a, b, c = row[G_ROT + j], row[G_ROT + 3 + j], row[G_ROT + 6 + j]
    x = HALF * (space[0] + space[1]) - row[G_POS]
    y = HALF * (space[2] + space[3]) - row[G_POS + 1]
    z = HALF * (space[4] + space[5]) - row[G_POS + 2]
    reach = abs(a) * (space[1] - space[0]) + abs(b) * (space[3] - space[2]) + abs(c) * (space[5] - space[4])
    return a * x + b * y + c * z - row[G_BOX + j], HALF * reach


@picture_kernel
def least_gap(row, space):
    """Return a distance [m] that no point of a space is nearer to a geom than, a little less against rounding."""
    if int(row[G_TYPE]) != PLANE:
        square = ZERO
        for j in range(3):
            center, half = box_along(row, j, space)
            gap = max(abs(center) - half - row[G_HALF + j], ZERO)
            square += gap * gap
        return CLOSER * np.sqrt(square)
    nx, ny, nz = row[G_ROT + 2], row[G_ROT + 5], row[G_ROT + 8]
    height = (
        nx * ((space[0] if nx > ZERO else space[1]) - row[G_POS])
        + ny * ((space[2] if ny > ZERO else space[3]) - row[G_POS + 1])
        + nz * ((space[4] if nz > ZERO else space[5]) - row[G_POS + 2])
    )
    return CLOSER * max(height, ZERO)

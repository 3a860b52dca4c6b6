"""Spaces: world-aligned boxes around the surface points of a batch, bounds over lanes, and distances to geoms.

IEEE rules keep the compiler from vectorising a loop that carries one minimum, so whole vectors are folded by hand, all
six bounds side by side.

A box around all points is useless if the edge of an arm is seen in front of a wall: it contains all the space between
them. So the points are grouped by the geom they lie on, and each group has its own boxes.
"""

import numpy as np

from handloom.kernels import picture_kernel
from handloom.render.cpu.layout import (
    ABOVE,
    B_CENTER,
    B_GAP,
    B_HALF,
    B_INDEX,
    B_LOW_GAP,
    B_ROT,
    BETWEEN,
    BIG,
    BOX_BLOCK,
    FAR_GAP,
    G_POS,
    G_ROT,
    GROUPS,
    HALF,
    ID,
    LANES,
    NEAR_GAP,
    NX,
    NY,
    NZ,
    ONE,
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
    VECTOR,
    ZERO,
)


@picture_kernel
def bounds(lanes):
    """Return the minima of spares A, C, E and the maxima of spares B, D, F: (a, b, c, d, e, f).

    The first vector of each spare quantity is overwritten.
    """
    for k in range(VECTOR, LANES, VECTOR):
        for i in range(VECTOR):
            lanes[i + SPARE_A] = min(lanes[i + SPARE_A], lanes[i + k + SPARE_A])
            lanes[i + SPARE_B] = max(lanes[i + SPARE_B], lanes[i + k + SPARE_B])
            lanes[i + SPARE_C] = min(lanes[i + SPARE_C], lanes[i + k + SPARE_C])
            lanes[i + SPARE_D] = max(lanes[i + SPARE_D], lanes[i + k + SPARE_D])
            lanes[i + SPARE_E] = min(lanes[i + SPARE_E], lanes[i + k + SPARE_E])
            lanes[i + SPARE_F] = max(lanes[i + SPARE_F], lanes[i + k + SPARE_F])
    return fold(lanes)


@picture_kernel
def fold(lanes):
    """Return the same as ``bounds``, from only the first vector of each spare quantity."""
    a, b, c = lanes[SPARE_A], lanes[SPARE_B], lanes[SPARE_C]
    d, e, f = lanes[SPARE_D], lanes[SPARE_E], lanes[SPARE_F]
    for i in range(1, VECTOR):
        a = min(a, lanes[i + SPARE_A])
        b = max(b, lanes[i + SPARE_B])
        c = min(c, lanes[i + SPARE_C])
        d = max(d, lanes[i + SPARE_D])
        e = min(e, lanes[i + SPARE_E])
        f = max(f, lanes[i + SPARE_F])
    return a, b, c, d, e, f


@picture_kernel
def greatest_gaps(lanes):
    """Return the largest NEAR_GAP and FAR_GAP; spares E and F are overwritten."""
    for i in range(VECTOR):
        lanes[i + SPARE_E] = lanes[i + NEAR_GAP]
        lanes[i + SPARE_F] = lanes[i + FAR_GAP]
    for k in range(VECTOR, LANES, VECTOR):
        for i in range(VECTOR):
            lanes[i + SPARE_E] = max(lanes[i + SPARE_E], lanes[i + k + NEAR_GAP])
            lanes[i + SPARE_F] = max(lanes[i + SPARE_F], lanes[i + k + FAR_GAP])
    for i in range(VECTOR // 2):
        lanes[i + SPARE_E] = max(lanes[i + SPARE_E], lanes[i + VECTOR // 2 + SPARE_E])
        lanes[i + SPARE_F] = max(lanes[i + SPARE_F], lanes[i + VECTOR // 2 + SPARE_F])
    for i in range(VECTOR // 4):
        lanes[i + SPARE_E] = max(lanes[i + SPARE_E], lanes[i + VECTOR // 4 + SPARE_E])
        lanes[i + SPARE_F] = max(lanes[i + SPARE_F], lanes[i + VECTOR // 4 + SPARE_F])
    near = max(lanes[SPARE_E], lanes[SPARE_E + 1], lanes[SPARE_E + 2], lanes[SPARE_E + 3])
    return near, max(lanes[SPARE_F], lanes[SPARE_F + 1], lanes[SPARE_F + 2], lanes[SPARE_F + 3])


@picture_kernel
def greatest(lanes, quantity):
    """Return the largest value of a quantity; spare F is overwritten."""
    for i in range(VECTOR):
        lanes[i + SPARE_F] = lanes[i + quantity]
    for k in range(VECTOR, LANES, VECTOR):
        for i in range(VECTOR):
            lanes[i + SPARE_F] = max(lanes[i + SPARE_F], lanes[i + k + quantity])
    for i in range(VECTOR // 2):
        lanes[i + SPARE_F] = max(lanes[i + SPARE_F], lanes[i + VECTOR // 2 + SPARE_F])
    for i in range(VECTOR // 4):
        lanes[i + SPARE_F] = max(lanes[i + SPARE_F], lanes[i + VECTOR // 4 + SPARE_F])
    return max(lanes[SPARE_F], lanes[SPARE_F + 1], lanes[SPARE_F + 2], lanes[SPARE_F + 3])


# Gaps are assumed to be this much smaller, to allow for rounding.
CLOSER = np.float32(0.9999)


@picture_kernel
def _highest_below(lanes, ceiling):
    """Return the highest geom below ``ceiling`` that any lane shows, or -1."""
    for i in range(LANES):
        gid = lanes[i + ID]
        lanes[i + SPARE_A] = gid if gid < ceiling else -ONE
    return greatest(lanes, SPARE_A)


@picture_kernel
def sole_geom(lanes):
    """Return the geom that fills a batch, or -1."""
    first = lanes[ID]
    others = 0
    for i in range(LANES):
        others += lanes[i + ID] != first
    return first if others == 0 else -ONE


@picture_kernel
def bound(lanes, lowest, highest, height, space):
    """Write the bounds of the points ``height`` above the lanes that show geoms ``lowest`` to ``highest``.

    Low exceeds high if there are none. Whole vectors are folded; see ``reduce``.
    """
    for i in range(VECTOR):
        lanes[i + SPARE_A] = BIG
        lanes[i + SPARE_B] = -BIG
        lanes[i + SPARE_C] = BIG
        lanes[i + SPARE_D] = -BIG
        lanes[i + SPARE_E] = BIG
        lanes[i + SPARE_F] = -BIG
    for k in range(0, LANES, VECTOR):
        for i in range(VECTOR):
            mine = (lanes[i + k + ID] >= lowest) & (lanes[i + k + ID] <= highest)
            x = lanes[i + k + PX] + height * lanes[i + k + NX]
            y = lanes[i + k + PY] + height * lanes[i + k + NY]
            z = lanes[i + k + PZ] + height * lanes[i + k + NZ]
            lanes[i + SPARE_A] = min(lanes[i + SPARE_A], x if mine else BIG)
            lanes[i + SPARE_B] = max(lanes[i + SPARE_B], x if mine else -BIG)
            lanes[i + SPARE_C] = min(lanes[i + SPARE_C], y if mine else BIG)
            lanes[i + SPARE_D] = max(lanes[i + SPARE_D], y if mine else -BIG)
            lanes[i + SPARE_E] = min(lanes[i + SPARE_E], z if mine else BIG)
            lanes[i + SPARE_F] = max(lanes[i + SPARE_F], z if mine else -BIG)
    space[0], space[1], space[2], space[3], space[4], space[5] = fold(lanes)


@picture_kernel
def rise(spaces, share):
    """Write BETWEEN; all points, and so their bounds, rise by the same fraction of SURFACE to ABOVE."""
    for i in range(6):
        spaces[BETWEEN, i] = spaces[SURFACE, i] + share * (spaces[ABOVE, i] - spaces[SURFACE, i])


@picture_kernel
def find_groups(lanes, ids, spaces, height, share):
    """Group the lanes by the geom they show, with the bounds of their surface points and of points above those.

    Args:
        lanes: Flat batch with surface points and normals.
        ids: Geom of each group (GROUPS,), written.
        spaces: Spaces of each group (GROUPS, 3, 6), written.
        height: Height of ABOVE above the surface [m].
        share: Height of BETWEEN, as a fraction of ``height``.

    Returns:
        Number of groups. The last of GROUPS holds the rest and belongs to no geom, so its number is -1.
    """
    count = 0
    highest = BIG
    while count < GROUPS:
        highest = _highest_below(lanes, highest)
        if highest < ZERO:
            break
        last = count == GROUPS - 1
        lowest = ZERO if last else highest
        ids[count] = -ONE if last else highest
        bound(lanes, lowest, highest, ZERO, spaces[count, SURFACE])
        bound(lanes, lowest, highest, height, spaces[count, ABOVE])
        rise(spaces[count], share)
        count += 1
    return count


@picture_kernel(inline="always")
def box_along(boxes, i, j, x, y, z, dx, dy, dz):
    """Return the position of a space's centre (x, y, z) along axis ``j`` of a box, and its half extent along it.

    Args:
        boxes: Table of bounding boxes.
        i: Index of the box, including its block.
        j: VECTOR times the number of the axis.
        x: Centre of the space, from the middle of the box [m].
        y: The same.
        z: The same.
        dx: Half extents of the space [m].
        dy: The same.
        dz: The same.
    """
    a, b, c = boxes[i + j + B_ROT], boxes[i + j + B_ROT + 3 * VECTOR], boxes[i + j + B_ROT + 6 * VECTOR]
    return a * x + b * y + c * z, abs(a) * dx + abs(b) * dy + abs(c) * dz


@picture_kernel(inline="always")
def middle_of(space):
    """Return centre and half extents of a space [m]."""
    return (
        HALF * (space[0] + space[1]),
        HALF * (space[2] + space[3]),
        HALF * (space[4] + space[5]),
        HALF * (space[1] - space[0]),
        HALF * (space[3] - space[2]),
        HALF * (space[5] - space[4]),
    )


@picture_kernel(inline="always")
def _least_gap(boxes, i, px, py, pz, dx, dy, dz):
    """Return a lower bound of the distance between a space and a box, slightly reduced to allow for rounding [m]."""
    x = px - boxes[i + B_CENTER]
    y = py - boxes[i + B_CENTER + VECTOR]
    z = pz - boxes[i + B_CENTER + 2 * VECTOR]
    p, a = box_along(boxes, i, 0, x, y, z, dx, dy, dz)
    q, b = box_along(boxes, i, VECTOR, x, y, z, dx, dy, dz)
    r, c = box_along(boxes, i, 2 * VECTOR, x, y, z, dx, dy, dz)
    p = max(abs(p) - a - boxes[i + B_HALF], ZERO)
    q = max(abs(q) - b - boxes[i + B_HALF + VECTOR], ZERO)
    r = max(abs(r) - c - boxes[i + B_HALF + 2 * VECTOR], ZERO)
    return CLOSER * np.sqrt(p * p + q * q + r * r)


@picture_kernel
def pick_near(picked, boxes, space, reach):
    """Write the smallest possible distance of every geom to a space to B_GAP, and mark geoms closer than ``reach``."""
    px, py, pz, dx, dy, dz = middle_of(space)
    for block in range(boxes.shape[0] // BOX_BLOCK):
        start = block * BOX_BLOCK
        for i in range(start, start + VECTOR):
            boxes[i + B_GAP] = _least_gap(boxes, i, px, py, pz, dx, dy, dz)
        for i in range(VECTOR):
            picked[block * VECTOR + i] = boxes[start + i + B_GAP] < reach


@picture_kernel
def find_gaps(boxes, ids, spaces, count):
    """Write the smallest possible distance of every geom to ABOVE and BETWEEN of other groups to B_GAP and B_LOW_GAP.

    Nothing above a convex surface is closer to it than its height, so the group of the geom itself does not count.
    """
    for i in range(boxes.shape[0] // BOX_BLOCK * VECTOR):
        at = i // VECTOR * BOX_BLOCK + i % VECTOR
        boxes[at + B_GAP] = BIG
        boxes[at + B_LOW_GAP] = BIG
    for k in range(count):
        own = ids[k]
        px, py, pz, dx, dy, dz = middle_of(spaces[k, ABOVE])
        lx, ly, lz, ex, ey, ez = middle_of(spaces[k, BETWEEN])
        for block in range(boxes.shape[0] // BOX_BLOCK):
            start = block * BOX_BLOCK
            for i in range(start, start + VECTOR):
                high = _least_gap(boxes, i, px, py, pz, dx, dy, dz)
                low = _least_gap(boxes, i, lx, ly, lz, ex, ey, ez)
                other = boxes[i + B_INDEX] != own
                boxes[i + B_GAP] = min(boxes[i + B_GAP], high) if other else boxes[i + B_GAP]
                boxes[i + B_LOW_GAP] = min(boxes[i + B_LOW_GAP], low) if other else boxes[i + B_LOW_GAP]


@picture_kernel
def height_above(row, space):
    """Return the smallest height of a space above a plane [m]."""
    nx, ny, nz = row[G_ROT + 2], row[G_ROT + 5], row[G_ROT + 8]
    return (
        nx * ((space[0] if nx > ZERO else space[1]) - row[G_POS])
        + ny * ((space[2] if ny > ZERO else space[3]) - row[G_POS + 1])
        + nz * ((space[4] if nz > ZERO else space[5]) - row[G_POS + 2])
    )

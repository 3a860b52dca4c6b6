"""Bounds of quantities over a batch of lanes.

IEEE rules keep the compiler from vectorising a loop that carries one minimum, so whole vectors are folded by hand, all
six bounds side by side.
"""

from handloom.kernels import picture_kernel
from handloom.render.cpu.layout import (
    FAR_GAP,
    LANES,
    NEAR_GAP,
    SPARE_A,
    SPARE_B,
    SPARE_C,
    SPARE_D,
    SPARE_E,
    SPARE_F,
    VECTOR,
)


@picture_kernel
def bounds(lanes):
    """Return the least of spares A, C, E and the greatest of spares B, D, F: (a, b, c, d, e, f).

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
    """Return what ``bounds`` returns, of the first vector of each spare quantity alone."""
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
    """Return the greatest NEAR_GAP and FAR_GAP; spares E and F are overwritten."""
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
    """Return the greatest value of a quantity; spare F is overwritten."""
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

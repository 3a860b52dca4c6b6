"""Smallest and largest value of a quantity over a block of lanes.

IEEE rules keep the compiler from vectorising a loop that carries one minimum, so full vectors are folded by hand.
The number of lanes is a multiple of VECTOR, and the first vector of the quantity is overwritten.
"""

from handloom.kernels import picture_kernel
from handloom.render.cpu.layout import VECTOR


@picture_kernel
def lowest(lanes, n, quantity):
    """Return the smallest value of a quantity in lanes 0 to n."""
    for c in range(VECTOR, n, VECTOR):
        for i in range(VECTOR):
            lanes[i + quantity] = min(lanes[i + quantity], lanes[i + c + quantity])
    least = lanes[quantity]
    for i in range(1, VECTOR):
        least = min(least, lanes[i + quantity])
    return least


@picture_kernel
def highest(lanes, n, quantity):
    """Return the largest value of a quantity in lanes 0 to n."""
    for c in range(VECTOR, n, VECTOR):
        for i in range(VECTOR):
            lanes[i + quantity] = max(lanes[i + quantity], lanes[i + c + quantity])
    most = lanes[quantity]
    for i in range(1, VECTOR):
        most = max(most, lanes[i + quantity])
    return most

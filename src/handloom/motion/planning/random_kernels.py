"""Random numbers inside kernels: a generator whose whole state is one number, the same on every platform."""

import numpy as np

from handloom.kernels import inner_kernel

# SplitMix64 (Steele, Lea, Flood 2014): the golden ratio as increment, then two mixing multiplications.
INCREMENT = np.uint64(0x9E3779B97F4A7C15)
MIX_1, MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
S27, S30, S31, S11 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(11)
PER_BIT = 2.0**-53


@inner_kernel
def uniform(state):
    """Return the next number in [0, 1); ``state`` (1,) of 64-bit unsigned integers is advanced."""
    state[0] += INCREMENT
    x = state[0]
    x = (x ^ (x >> S30)) * MIX_1
    x = (x ^ (x >> S27)) * MIX_2
    x ^= x >> S31
    return float(x >> S11) * PER_BIT

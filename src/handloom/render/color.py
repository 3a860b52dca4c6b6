"""sRGB, the encoding of pictures, to linear light and back."""

import numpy as np
from numpy.typing import ArrayLike

from handloom.arrays import Array


def linear_from_srgb(srgb: ArrayLike) -> Array:
    """Return linear light of sRGB values in 0..1 (IEC 61966-2-1)."""
    c = np.asarray(srgb, float)
    return np.where(c <= 0.04045, c / 12.92, ((np.maximum(c, 0.04045) + 0.055) / 1.055) ** 2.4)


def srgb_from_linear(linear: ArrayLike) -> Array:
    """Return sRGB values in 0..1 of linear light in 0..1."""
    c = np.asarray(linear, float)
    return np.where(c <= 0.0031308, c * 12.92, 1.055 * np.maximum(c, 0.0031308) ** (1 / 2.4) - 0.055)

"""Colour words and the sRGB values behind them."""

from typing import Final

import numpy as np

from handloom.errors import unknown_name

Rgb = tuple[float, float, float]

# Saturated but not pure primaries: real paint reflects some of everything.
COLORS: Final[dict[str, Rgb]] = {
    "amber": (0.62, 0.33, 0.08),
    "beige": (0.82, 0.74, 0.60),
    "black": (0.07, 0.07, 0.08),
    "blue": (0.11, 0.28, 0.68),
    "brown": (0.40, 0.24, 0.13),
    "copper": (0.72, 0.43, 0.28),
    "cream": (0.93, 0.89, 0.78),
    "gray": (0.48, 0.49, 0.50),
    "green": (0.14, 0.50, 0.20),
    "light blue": (0.47, 0.70, 0.87),
    "lime": (0.52, 0.72, 0.18),
    "mint": (0.60, 0.83, 0.72),
    "navy": (0.08, 0.13, 0.33),
    "orange": (0.90, 0.44, 0.08),
    "pink": (0.89, 0.52, 0.60),
    "purple": (0.39, 0.19, 0.53),
    "red": (0.73, 0.10, 0.09),
    "silver": (0.72, 0.73, 0.75),
    "steel": (0.60, 0.61, 0.63),
    "teal": (0.07, 0.45, 0.47),
    "white": (0.90, 0.90, 0.88),
    "wood": (0.66, 0.47, 0.28),
    "yellow": (0.93, 0.74, 0.12),
}

SPOKEN: Final = {"wood": "wooden"}
"""Colour words that are said differently before a noun."""

BRIGHT: Final = ("red", "orange", "yellow", "green", "blue", "purple", "pink", "teal")
"""Toys, blocks and plastic goods."""
GLAZES: Final = ("white", "cream", "red", "blue", "light blue", "mint", "teal", "yellow", "black", "gray", "navy")
"""Ceramic and enamel."""
HOUSING: Final = ("white", "black", "silver", "gray", "cream")
"""Appliances and electronics."""

BARE_METALS: Final = frozenset(COLORS[word] for word in ("copper", "gray", "silver", "steel"))
"""Colours that metal has of itself; metal of any other colour is painted."""


def rgb(word: str) -> Rgb:
    """Return the sRGB value of a colour word, each channel 0 to 1."""
    if word not in COLORS:
        raise unknown_name("color", word, COLORS)
    return COLORS[word]


def shade(color: Rgb, factor: float) -> Rgb:
    """Return the colour made darker (factor < 1) or lighter (factor > 1, towards white)."""
    c = np.asarray(color)
    c = c * factor if factor <= 1.0 else 1.0 - (1.0 - c) / factor
    return (float(c[0]), float(c[1]), float(c[2]))

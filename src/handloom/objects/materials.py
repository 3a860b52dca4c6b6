"""Colours and substances: the look of surfaces and the density of bodies."""

from dataclasses import dataclass
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
"""Colour words that have another form before a noun."""

BRIGHT: Final = ("red", "orange", "yellow", "green", "blue", "purple", "pink", "teal")
"""Toys, blocks and plastic goods."""
GLAZES: Final = ("white", "cream", "red", "blue", "light blue", "mint", "teal", "yellow", "black", "gray", "navy")
"""Ceramic and enamel."""
HOUSING: Final = ("white", "black", "silver", "gray", "cream")
"""Appliances and electronics."""

BARE_METALS: Final = frozenset(COLORS[word] for word in ("copper", "gray", "silver", "steel"))
"""Natural colours of metal; metal of any other colour is painted."""


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


@dataclass(frozen=True, kw_only=True)
class Substance:
    """A material of the physical world."""

    density: float
    """Mass per volume of solid material [kg/m^3]."""
    friction: float
    """Sliding friction coefficient; MuJoCo takes the larger one of a pair."""
    specular: float
    """Strength of the highlight, 0 to 1."""
    shininess: float
    """Sharpness of the highlight, 0 to 1."""
    metallic: float = 0.0
    """How metallic bare material looks, 0 to 1; below 1 because nothing here is polished to a mirror."""


SUBSTANCES: Final[dict[str, Substance]] = {
    "aluminium": Substance(density=2700, friction=0.6, specular=0.7, shininess=0.7, metallic=0.5),
    "bread": Substance(density=300, friction=0.8, specular=0.05, shininess=0.1),
    "cardboard": Substance(density=690, friction=0.7, specular=0.05, shininess=0.1),
    "ceramic": Substance(density=2300, friction=0.7, specular=0.6, shininess=0.8),
    "foam": Substance(density=60, friction=1.0, specular=0.02, shininess=0.1),
    "fruit": Substance(density=900, friction=0.8, specular=0.3, shininess=0.5),
    "glass": Substance(density=2500, friction=0.6, specular=0.8, shininess=0.9),
    "paper": Substance(density=800, friction=0.7, specular=0.05, shininess=0.1),
    "plastic": Substance(density=950, friction=0.7, specular=0.4, shininess=0.5),
    "rubber": Substance(density=1100, friction=1.0, specular=0.1, shininess=0.2),
    "steel": Substance(density=7850, friction=0.6, specular=0.7, shininess=0.7, metallic=0.5),
    "water": Substance(density=1000, friction=0.6, specular=0.4, shininess=0.6),
    "wood": Substance(density=650, friction=0.7, specular=0.15, shininess=0.2),
}


def substance(name: str) -> Substance:
    """Return the substance of that name, or raise with the known names."""
    if name not in SUBSTANCES:
        raise unknown_name("substance", name, SUBSTANCES)
    return SUBSTANCES[name]

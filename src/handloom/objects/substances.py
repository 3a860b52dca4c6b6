"""What objects are made of: density, friction and how the surface looks.

Densities are handbook values of the bulk material at room temperature; objects that are partly air (a foam, a filled
box) get a ``fill`` on the part instead of an invented density. Sliding frictions are dry values against wood or
plastic, in the middle of the range that engineering tables give.
"""

from dataclasses import dataclass
from typing import Final

from handloom.errors import unknown_name


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
    """Return the substance of that name, or say which exist."""
    if name not in SUBSTANCES:
        raise unknown_name("substance", name, SUBSTANCES)
    return SUBSTANCES[name]

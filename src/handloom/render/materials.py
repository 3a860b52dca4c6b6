"""Materials by name: the appearance of surfaces. Physics has its own table, ``handloom.objects.materials``.

Metallic-roughness model: colour, roughness, metallicness, and an optional procedural pattern for colour and height.
"""

from dataclasses import dataclass
from typing import Final

from handloom.errors import unknown_name

Rgb = tuple[float, float, float]


@dataclass(frozen=True, kw_only=True)
class Material:
    """Appearance of a surface."""

    color: Rgb
    """Its own sRGB colour."""
    roughness: float
    """0 (polished) to 1 (chalk)."""
    metallic: float = 0.0
    """1 for bare metal."""
    specular: float = 0.5
    """Specular reflection of a non-metallic surface, 0 to 1."""
    pattern: str = ""
    """Key of ``handloom.render.patterns.PATTERNS``; empty means a uniform colour."""
    size: float = 1.0
    """Length of one repeat of the pattern [m]."""
    fits: bool = False
    """Whether the pattern is a print that covers the part once, regardless of its size."""
    relief: float = 0.0
    """Height of the pattern's relief [m]."""
    opacity: float = 1.0
    """Opacity; 1 hides everything behind."""
    emission: float = 0.0
    """Emitted light, in units of its colour."""


@dataclass(frozen=True, kw_only=True)
class Finish:
    """A material in a colour, one of many alike."""

    material: str
    """Key of ``MATERIALS``."""
    color: Rgb | None = None
    """sRGB colour; None means the material's own."""
    seed: int = 0
    """Selects the piece of the material, with its grain and wear."""


def _wood(color: Rgb, pattern: str = "grain") -> Material:
    return Material(color=color, roughness=0.45, specular=0.35, pattern=pattern, size=0.6, relief=1.5e-4)


MATERIALS: Final[dict[str, Material]] = {
    "aluminium": Material(color=(0.80, 0.81, 0.82), roughness=0.35, metallic=0.85, pattern="fine_brush", size=0.15),
    "apple_skin": Material(color=(0.70, 0.12, 0.10), roughness=0.30, specular=0.5, pattern="speckles", size=0.06),
    "bamboo": _wood((0.78, 0.64, 0.42), "strips"),
    "banana_skin": Material(color=(0.90, 0.75, 0.20), roughness=0.50, specular=0.3, pattern="blemishes", size=0.12),
    "brass": Material(color=(0.80, 0.65, 0.36), roughness=0.25, metallic=0.9),
    "book_print": Material(color=(0.9, 0.9, 0.9), roughness=0.6, specular=0.3, pattern="title", fits=True),
    "bread": Material(color=(0.76, 0.52, 0.28), roughness=0.95, specular=0.1, pattern="crust", size=0.08, relief=6e-4),
    "brick": Material(color=(0.62, 0.34, 0.26), roughness=0.9, specular=0.1, pattern="bricks", size=0.5, relief=3e-3),
    "brushed_steel": Material(color=(0.66, 0.67, 0.68), roughness=0.32, metallic=0.9, pattern="brush", size=0.25),
    "butcher_block": _wood((0.70, 0.50, 0.32), "blocks"),
    "cardboard": Material(color=(0.68, 0.53, 0.37), roughness=0.9, specular=0.1, pattern="fibres", size=0.12),
    "carpet": Material(color=(0.45, 0.44, 0.42), roughness=1.0, specular=0.02, pattern="tufts", size=0.12, relief=2e-3),
    "cast_iron": Material(
        color=(0.10, 0.10, 0.11), roughness=0.65, specular=0.4, pattern="cast", size=0.06, relief=2e-4
    ),
    "ceramic": Material(color=(0.92, 0.91, 0.88), roughness=0.18, specular=0.6),
    "can_print": Material(color=(0.9, 0.9, 0.9), roughness=0.22, specular=0.6, pattern="can_label", fits=True),
    "carton_print": Material(color=(0.9, 0.9, 0.9), roughness=0.5, specular=0.35, pattern="carton_label", fits=True),
    "chrome": Material(color=(0.82, 0.83, 0.85), roughness=0.08, metallic=1.0),
    "citrus_skin": Material(
        color=(0.93, 0.50, 0.08), roughness=0.42, specular=0.45, pattern="dimples", size=0.04, relief=5e-4
    ),
    "concrete": Material(
        color=(0.60, 0.60, 0.58), roughness=0.9, specular=0.15, pattern="clouds", size=0.8, relief=4e-4
    ),
    "copper": Material(color=(0.78, 0.48, 0.36), roughness=0.25, metallic=0.9),
    "cotton": Material(
        color=(0.85, 0.84, 0.80), roughness=0.95, specular=0.05, pattern="weave", size=0.03, relief=2e-4
    ),
    "crumb": Material(color=(0.93, 0.84, 0.66), roughness=1.0, specular=0.03, pattern="cast", size=0.02, relief=9e-4),
    "dark_marble": Material(color=(0.16, 0.17, 0.18), roughness=0.15, specular=0.6, pattern="veins", size=0.9),
    "enamel": Material(color=(0.90, 0.90, 0.88), roughness=0.15, specular=0.6),
    "felt": Material(color=(0.35, 0.40, 0.36), roughness=1.0, specular=0.02, pattern="fibres", size=0.06),
    "floor_tile": Material(
        color=(0.66, 0.62, 0.57), roughness=0.4, specular=0.4, pattern="square_tiles", size=0.6, relief=1.2e-3
    ),
    "foam": Material(color=(0.85, 0.80, 0.40), roughness=1.0, specular=0.03, pattern="cast", size=0.03, relief=4e-4),
    "frosted_glass": Material(color=(0.86, 0.90, 0.90), roughness=0.6, specular=0.5, opacity=0.75),
    "glass": Material(color=(0.84, 0.90, 0.90), roughness=0.05, specular=0.9, opacity=0.16),
    "glossy_plastic": Material(color=(0.85, 0.85, 0.85), roughness=0.2, specular=0.5),
    "granite": Material(color=(0.42, 0.41, 0.41), roughness=0.25, specular=0.5, pattern="grains", size=0.3),
    "icing": Material(
        color=(0.95, 0.6, 0.7), roughness=0.22, specular=0.5, pattern="sprinkles", size=0.06, relief=8e-4
    ),
    "laminate": Material(color=(0.90, 0.90, 0.88), roughness=0.45, specular=0.35),
    "lamp": Material(color=(1.00, 0.90, 0.74), roughness=0.6, emission=1.6),
    "leather": Material(color=(0.36, 0.22, 0.14), roughness=0.55, specular=0.3, pattern="cast", size=0.05, relief=3e-4),
    "lettered_wood": Material(color=(0.8, 0.6, 0.4), roughness=0.42, specular=0.35, pattern="letter", fits=True),
    "lettuce": Material(color=(0.35, 0.62, 0.18), roughness=0.5, specular=0.3, pattern="cast", size=0.03, relief=1e-3),
    "linen": Material(color=(0.78, 0.73, 0.64), roughness=0.95, specular=0.05, pattern="weave", size=0.05, relief=3e-4),
    "linoleum": Material(color=(0.60, 0.58, 0.52), roughness=0.5, specular=0.3, pattern="clouds", size=0.7),
    "marble": Material(color=(0.92, 0.91, 0.89), roughness=0.15, specular=0.6, pattern="veins", size=0.9),
    "metro_tile": Material(
        color=(0.93, 0.93, 0.91), roughness=0.12, specular=0.6, pattern="metro_tiles", size=0.3, relief=1.5e-3
    ),
    "mirror": Material(color=(0.90, 0.91, 0.92), roughness=0.02, metallic=1.0),
    "mosaic_tile": Material(
        color=(0.55, 0.68, 0.70), roughness=0.15, specular=0.6, pattern="mosaic", size=0.2, relief=8e-4
    ),
    "oiled_beech": _wood((0.76, 0.59, 0.43)),
    "oiled_maple": _wood((0.80, 0.68, 0.52)),
    "oiled_oak": _wood((0.64, 0.48, 0.32)),
    "oiled_walnut": _wood((0.40, 0.27, 0.18)),
    "opal_glass": Material(color=(0.88, 0.92, 0.92), roughness=0.08, specular=0.8),
    "painted_wood": Material(
        color=(0.88, 0.88, 0.86), roughness=0.42, specular=0.35, pattern="paint", size=0.5, relief=6e-5
    ),
    "paper": Material(color=(0.95, 0.95, 0.93), roughness=0.95, specular=0.05),
    "parcel_label": Material(color=(0.95, 0.95, 0.93), roughness=0.8, specular=0.1, pattern="address", fits=True),
    "parquet": _wood((0.60, 0.43, 0.28), "parquet"),
    "pine": _wood((0.82, 0.66, 0.44)),
    "plaster": Material(
        color=(0.88, 0.87, 0.84), roughness=0.95, specular=0.05, pattern="clouds", size=1.2, relief=2e-4
    ),
    "plastic": Material(color=(0.80, 0.80, 0.80), roughness=0.4, specular=0.4),
    "plywood": _wood((0.78, 0.64, 0.46)),
    "porcelain": Material(color=(0.96, 0.96, 0.95), roughness=0.12, specular=0.65),
    "rubber": Material(color=(0.12, 0.12, 0.12), roughness=0.85, specular=0.15),
    "screen": Material(color=(0.20, 0.35, 0.55), roughness=0.1, specular=0.6, emission=0.8),
    "shipping_tape": Material(color=(0.75, 0.6, 0.42), roughness=0.25, specular=0.5),
    "slate": Material(color=(0.28, 0.30, 0.32), roughness=0.6, specular=0.3, pattern="clouds", size=0.5, relief=4e-4),
    "steel": Material(color=(0.62, 0.63, 0.65), roughness=0.22, metallic=0.9),
    "stone_laminate": Material(color=(0.62, 0.61, 0.59), roughness=0.4, specular=0.4, pattern="grains", size=0.3),
    "terracotta": Material(color=(0.71, 0.40, 0.28), roughness=0.9, specular=0.1, pattern="clouds", size=0.25),
    "terrazzo": Material(color=(0.82, 0.80, 0.76), roughness=0.25, specular=0.5, pattern="chips", size=0.4),
    "tile": Material(
        color=(0.92, 0.92, 0.90), roughness=0.12, specular=0.6, pattern="square_tiles", size=0.4, relief=1.2e-3
    ),
    "tomato_skin": Material(color=(0.78, 0.12, 0.08), roughness=0.2, specular=0.55),
    "water": Material(color=(0.55, 0.70, 0.78), roughness=0.05, specular=0.8, opacity=0.45),
    "wood_laminate": Material(color=(0.66, 0.52, 0.38), roughness=0.5, specular=0.3, pattern="grain", size=0.6),
}


def material(name: str) -> Material:
    """Return the material of a name, or raise an error with the known names."""
    if name not in MATERIALS:
        raise unknown_name("material", name, MATERIALS)
    return MATERIALS[name]

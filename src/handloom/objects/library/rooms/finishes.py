"""Finishes of rooms: maps the words of a style to the substance and look of a surface."""

from dataclasses import dataclass
from typing import Final

from handloom.errors import unknown_name
from handloom.objects.materials import Rgb
from handloom.objects.shapes import Appearance
from handloom.render.materials import material


@dataclass(frozen=True, kw_only=True)
class RoomFinish:
    """Substance and look of a surface."""

    material: str
    """Key of ``handloom.render.materials.MATERIALS``."""
    color: Rgb | None = None
    """sRGB, each channel 0 to 1; None: the material's own."""
    substance: str
    """Key of ``handloom.objects.materials.SUBSTANCES``."""
    word: str
    """Common name of its colour."""


def _paint(color: Rgb, word: str) -> RoomFinish:
    return RoomFinish(material="painted_wood", color=color, substance="wood", word=word)


def _wood(material: str, word: str, color: Rgb | None = None) -> RoomFinish:
    return RoomFinish(material=material, color=color, substance="wood", word=word)


def _stone(material: str, word: str, color: Rgb | None = None) -> RoomFinish:
    return RoomFinish(material=material, color=color, substance="ceramic", word=word)


def _metal(material: str, word: str, color: Rgb | None = None) -> RoomFinish:
    return RoomFinish(material=material, color=color, substance="steel", word=word)


def _cloth(color: Rgb, word: str) -> RoomFinish:
    return RoomFinish(material="linen", color=color, substance="foam", word=word)


FRONTS: Final[dict[str, RoomFinish]] = {
    "white_lacquer": _paint((0.90, 0.90, 0.88), "white"),
    "ivory_paint": _paint((0.88, 0.84, 0.74), "cream"),
    "dove_paint": _paint((0.66, 0.67, 0.66), "gray"),
    "sage_paint": _paint((0.50, 0.58, 0.48), "green"),
    "forest_paint": _paint((0.16, 0.29, 0.23), "green"),
    "sky_paint": _paint((0.52, 0.65, 0.74), "light blue"),
    "navy_paint": _paint((0.11, 0.17, 0.29), "navy"),
    "charcoal_paint": _paint((0.17, 0.18, 0.19), "black"),
    "clay_paint": _paint((0.63, 0.40, 0.31), "brown"),
    "oak": _wood("oiled_oak", "wood"),
    "birch": _wood("oiled_maple", "wood"),
    "walnut": _wood("oiled_walnut", "brown"),
}
"""Fronts, sides and boards of cabinets."""
WORKTOPS: Final[dict[str, RoomFinish]] = {
    "white_marble": _stone("marble", "white"),
    "white_laminate": RoomFinish(material="laminate", color=(0.88, 0.87, 0.85), substance="plastic", word="white"),
    "gray_quartz": _stone("granite", "gray", (0.58, 0.58, 0.57)),
    "dark_granite": _stone("granite", "black", (0.15, 0.15, 0.16)),
    "soapstone": _stone("slate", "gray"),
    "concrete": _stone("concrete", "gray"),
    "oak_block": _wood("butcher_block", "wood"),
    "walnut_block": _wood("oiled_walnut", "brown"),
}
"""Worktops, tables and desks."""
METALS: Final[dict[str, RoomFinish]] = {
    "brushed_steel": _metal("brushed_steel", "silver"),
    "dark_steel": _metal("steel", "gray", (0.40, 0.41, 0.42)),
    "black_metal": _metal("enamel", "black", (0.06, 0.06, 0.065)),
    "brass": _metal("brass", "yellow"),
    "copper": _metal("copper", "copper"),
}
"""Handles, taps and legs."""
APPLIANCES: Final[dict[str, RoomFinish]] = {
    "stainless_steel": _metal("brushed_steel", "silver"),
    "white_enamel": _metal("enamel", "white", (0.90, 0.90, 0.88)),
    "black_enamel": _metal("enamel", "black", (0.08, 0.08, 0.09)),
    "cream_enamel": _metal("enamel", "cream", (0.88, 0.84, 0.72)),
    "mint_enamel": _metal("enamel", "mint", (0.60, 0.79, 0.70)),
    "red_enamel": _metal("enamel", "red", (0.60, 0.11, 0.09)),
}
"""Housings of appliances."""
FABRICS: Final[dict[str, RoomFinish]] = {
    "gray_fabric": _cloth((0.46, 0.46, 0.46), "gray"),
    "blue_fabric": _cloth((0.20, 0.30, 0.44), "blue"),
    "green_fabric": _cloth((0.27, 0.38, 0.29), "green"),
    "sand_fabric": _cloth((0.74, 0.67, 0.55), "beige"),
    "rust_fabric": _cloth((0.58, 0.30, 0.20), "brown"),
    "leather": RoomFinish(material="leather", substance="rubber", word="brown"),
}
"""Seats, cushions and rugs."""


def _sheet(material: str, word: str, color: Rgb | None = None) -> RoomFinish:
    return RoomFinish(material=material, color=color, substance="paper", word=word)


SHEETS: Final[dict[str, RoomFinish]] = {
    "oak_parquet": _sheet("parquet", "wood"),
    "light_parquet": _sheet("parquet", "wood", (0.80, 0.68, 0.52)),
    "dark_parquet": _sheet("parquet", "brown", (0.42, 0.28, 0.19)),
    "gray_tiles": _sheet("floor_tile", "gray", (0.62, 0.62, 0.61)),
    "slate_tiles": _sheet("floor_tile", "gray", (0.30, 0.32, 0.33)),
    "terracotta_tiles": _sheet("floor_tile", "brown", (0.66, 0.40, 0.28)),
    "cream_tiles": _sheet("floor_tile", "cream", (0.84, 0.80, 0.71)),
    "terrazzo_floor": _sheet("terrazzo", "gray"),
    "mint_linoleum": _sheet("linoleum", "mint", (0.62, 0.74, 0.67)),
    "concrete_floor": _sheet("concrete", "gray"),
    "white_wall": _sheet("plaster", "white", (0.90, 0.90, 0.88)),
    "cream_wall": _sheet("plaster", "cream", (0.89, 0.85, 0.76)),
    "sand_wall": _sheet("plaster", "beige", (0.83, 0.77, 0.67)),
    "gray_wall": _sheet("plaster", "gray", (0.72, 0.72, 0.71)),
    "blue_wall": _sheet("plaster", "light blue", (0.74, 0.81, 0.86)),
    "green_wall": _sheet("plaster", "green", (0.76, 0.81, 0.72)),
    "brick_wall": _sheet("brick", "brown"),
    "white_metro": _sheet("metro_tile", "white", (0.91, 0.91, 0.90)),
    "green_metro": _sheet("metro_tile", "green", (0.42, 0.55, 0.47)),
    "blue_metro": _sheet("metro_tile", "blue", (0.45, 0.60, 0.70)),
    "cream_tile": _sheet("tile", "cream", (0.88, 0.84, 0.74)),
    "mint_mosaic": _sheet("mosaic_tile", "mint", (0.66, 0.82, 0.74)),
    "clay_mosaic": _sheet("mosaic_tile", "brown", (0.70, 0.46, 0.34)),
    "marble_slab": _sheet("marble", "white"),
    "slate_slab": _sheet("slate", "gray"),
    "steel_sheet": _sheet("brushed_steel", "silver"),
}
"""Floors, walls and backsplashes."""
FINISHES: Final[dict[str, RoomFinish]] = {**FRONTS, **WORKTOPS, **METALS, **APPLIANCES, **FABRICS, **SHEETS}
"""Every finish by its name."""
GLASS: Final = RoomFinish(material="glossy_plastic", color=(0.05, 0.06, 0.07), substance="glass", word="black")
"""Dark panes of ovens and hobs."""


def finish(name: str) -> RoomFinish:
    """Return the finish of that name, or raise with the known names."""
    if name not in FINISHES:
        raise unknown_name("finish", name, FINISHES)
    return FINISHES[name]


def surface(name: str, *, fill: float = 1.0, body: str = "object", solid: bool = True) -> Appearance:
    """Return the look of a part with a finish.

    Args:
        name: Key of ``FINISHES``.
        fill: Fraction of its volume that is material.
        body: Body that carries it.
        solid: Whether it collides; a part that does not collide has no mass.
    """
    return _look(finish(name), fill if solid else 0.0, body, solid)


def pane(body: str = "object", *, solid: bool = False) -> Appearance:
    """Return the look of dark glass."""
    return _look(GLASS, 0.1 if solid else 0.0, body, solid)


def glow(color: Rgb, body: str = "object") -> Appearance:
    """Return the look of luminous surfaces: lamps, and the sky in a window."""
    return Appearance(color=color, substance="glass", material="lamp", fill=0.0, solid=False, body=body)


def _look(stuff: RoomFinish, fill: float, body: str, solid: bool) -> Appearance:
    # A material's own colour is written out for renderers that only support colours.
    color = material(stuff.material).color if stuff.color is None else stuff.color
    return Appearance(
        color=color, substance=stuff.substance, material=stuff.material, fill=fill, body=body, solid=solid
    )

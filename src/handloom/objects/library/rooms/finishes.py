"""Finishes of rooms: the one table from a word in a style to what a surface is made of and looks like."""

from dataclasses import dataclass
from typing import Final

from handloom.errors import unknown_name
from handloom.objects.materials import Rgb
from handloom.objects.shapes import Appearance


@dataclass(frozen=True, kw_only=True)
class Finish:
    """What a surface of a room is made of."""

    color: Rgb
    """sRGB, each channel 0 to 1."""
    substance: str
    """Key of ``handloom.objects.materials.SUBSTANCES``."""
    word: str
    """What people call its colour."""


def _paint(color: Rgb, word: str) -> Finish:
    return Finish(color=color, substance="wood", word=word)


FRONTS: Final[dict[str, Finish]] = {
    "white_lacquer": _paint((0.90, 0.90, 0.88), "white"),
    "ivory_paint": _paint((0.88, 0.84, 0.74), "cream"),
    "dove_paint": _paint((0.66, 0.67, 0.66), "gray"),
    "sage_paint": _paint((0.50, 0.58, 0.48), "green"),
    "forest_paint": _paint((0.16, 0.29, 0.23), "green"),
    "sky_paint": _paint((0.52, 0.65, 0.74), "light blue"),
    "navy_paint": _paint((0.11, 0.17, 0.29), "navy"),
    "charcoal_paint": _paint((0.17, 0.18, 0.19), "black"),
    "clay_paint": _paint((0.63, 0.40, 0.31), "brown"),
    "oak": _paint((0.68, 0.52, 0.35), "wood"),
    "birch": _paint((0.82, 0.71, 0.54), "wood"),
    "walnut": _paint((0.38, 0.25, 0.17), "brown"),
}
"""Fronts, sides and boards of cabinets."""
WORKTOPS: Final[dict[str, Finish]] = {
    "white_marble": Finish(color=(0.86, 0.86, 0.84), substance="ceramic", word="white"),
    "white_laminate": Finish(color=(0.88, 0.87, 0.85), substance="plastic", word="white"),
    "gray_quartz": Finish(color=(0.58, 0.58, 0.57), substance="ceramic", word="gray"),
    "dark_granite": Finish(color=(0.13, 0.13, 0.14), substance="ceramic", word="black"),
    "soapstone": Finish(color=(0.24, 0.27, 0.27), substance="ceramic", word="gray"),
    "concrete": Finish(color=(0.52, 0.51, 0.49), substance="ceramic", word="gray"),
    "oak_block": Finish(color=(0.70, 0.52, 0.33), substance="wood", word="wood"),
    "walnut_block": Finish(color=(0.42, 0.28, 0.19), substance="wood", word="brown"),
}
"""Worktops, tables and desks."""
METALS: Final[dict[str, Finish]] = {
    "brushed_steel": Finish(color=(0.72, 0.73, 0.75), substance="steel", word="silver"),
    "dark_steel": Finish(color=(0.48, 0.49, 0.50), substance="steel", word="gray"),
    "black_metal": Finish(color=(0.07, 0.07, 0.08), substance="steel", word="black"),
    "brass": Finish(color=(0.72, 0.56, 0.29), substance="steel", word="yellow"),
    "copper": Finish(color=(0.72, 0.43, 0.28), substance="steel", word="copper"),
}
"""Handles, taps and legs."""
APPLIANCES: Final[dict[str, Finish]] = {
    "stainless_steel": Finish(color=(0.72, 0.73, 0.75), substance="steel", word="silver"),
    "white_enamel": Finish(color=(0.90, 0.90, 0.88), substance="steel", word="white"),
    "black_enamel": Finish(color=(0.09, 0.09, 0.10), substance="steel", word="black"),
    "cream_enamel": Finish(color=(0.88, 0.84, 0.72), substance="steel", word="cream"),
    "mint_enamel": Finish(color=(0.60, 0.79, 0.70), substance="steel", word="mint"),
    "red_enamel": Finish(color=(0.62, 0.11, 0.09), substance="steel", word="red"),
}
"""Housings of appliances."""
FABRICS: Final[dict[str, Finish]] = {
    "gray_fabric": Finish(color=(0.46, 0.46, 0.46), substance="foam", word="gray"),
    "blue_fabric": Finish(color=(0.20, 0.30, 0.44), substance="foam", word="blue"),
    "green_fabric": Finish(color=(0.27, 0.38, 0.29), substance="foam", word="green"),
    "sand_fabric": Finish(color=(0.74, 0.67, 0.55), substance="foam", word="beige"),
    "rust_fabric": Finish(color=(0.58, 0.30, 0.20), substance="foam", word="brown"),
    "leather": Finish(color=(0.32, 0.19, 0.12), substance="rubber", word="brown"),
}
"""Seats, cushions and rugs."""
FINISHES: Final[dict[str, Finish]] = {**FRONTS, **WORKTOPS, **METALS, **APPLIANCES, **FABRICS}
"""Every finish by its name."""
GLASS: Final = Finish(color=(0.05, 0.06, 0.07), substance="glass", word="black")
"""Dark panes of ovens and hobs."""


def finish(name: str) -> Finish:
    """Return the finish of that name, or say which exist."""
    if name not in FINISHES:
        raise unknown_name("finish", name, FINISHES)
    return FINISHES[name]


def surface(name: str, *, fill: float = 1.0, body: str = "object", solid: bool = True) -> Appearance:
    """Return the look of a part with a finish.

    Args:
        name: Key of ``FINISHES``.
        fill: Share of its volume that is material.
        body: Body that carries it.
        solid: Whether it collides; what does not has no mass either.
    """
    stuff = finish(name)
    return Appearance(color=stuff.color, substance=stuff.substance, fill=fill if solid else 0.0, body=body, solid=solid)


def pane(body: str = "object", *, solid: bool = False) -> Appearance:
    """Return the look of dark glass."""
    return Appearance(color=GLASS.color, substance=GLASS.substance, fill=0.1 if solid else 0.0, body=body, solid=solid)

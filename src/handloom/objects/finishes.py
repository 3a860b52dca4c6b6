"""The material of a part whose drawing does not name one."""

from typing import Final

from handloom.objects.materials import BARE_METALS, rgb
from handloom.objects.parts import Part
from handloom.render.materials import Finish, material

EDGE: Final = 0.0015
"""Radius to which edges look rounded unless a part is thin [m], as left by a plane or a mould."""
DARK: Final = 0.6
"""Labels darker than this are drawn in a lighter tone."""
PLAIN: Final = (0.5, 0.5, 0.5)
"""Colour of a part without a given colour; the material's own colour is shown."""

_MATERIALS: Final[dict[str, str]] = {
    "aluminium": "enamel",
    "bread": "bread",
    "cardboard": "cardboard",
    "ceramic": "ceramic",
    "foam": "foam",
    "fruit": "tomato_skin",
    "glass": "opal_glass",
    "paper": "paper",
    "plastic": "plastic",
    "rubber": "rubber",
    "steel": "enamel",
    "water": "glossy_plastic",
    "wood": "painted_wood",
}
"""Looks of painted or moulded substances."""
_BARE: Final[dict[str, str]] = {"aluminium": "aluminium", "steel": "steel"}
"""Looks of metals in their own colours."""
_OILED: Final = {rgb("wood"), rgb("brown"), rgb("beige")}
"""Natural colours of wood."""


def finish_of(part: Part, *, seed: int) -> Finish:
    """Return material and colour of a part; parts of one object with different seeds are cut from different pieces."""
    name = part.material
    if name is None:
        name = _MATERIALS.get(part.substance, "plastic")
        if part.color in BARE_METALS:
            name = _BARE.get(part.substance, name)
        elif part.substance == "wood" and part.color in _OILED:
            name = "oiled_oak"
    own = part.material is not None and part.color == PLAIN
    color = part.color
    if material(name).fits and part.fill == 0.0 and max(color) < DARK:
        # Ink does not show on dark paper.
        red, green, blue = (0.5 + 0.5 * channel for channel in color)
        color = (red, green, blue)
    return Finish(material=name, color=None if own else color, seed=seed)


def edge_of(part: Part) -> float:
    """Return the radius to which the edges of a box or cylinder look rounded [m]; labels and prints have none."""
    if part.shape not in ("box", "cylinder"):
        return 0.0
    most = 0.45 * min(part.size)
    if part.edge is not None:
        return min(part.edge, most)
    return 0.0 if part.fill == 0.0 else min(EDGE, most)

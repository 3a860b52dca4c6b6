"""Fronts of cabinets: flat or framed panels, handles, doors on hinges and drawers on slides."""

from dataclasses import dataclass

from handloom.objects.choices import Choices
from handloom.objects.joint_dynamics import Feel
from handloom.objects.library.furniture import HANDLES, handle
from handloom.objects.library.rooms.finishes import FRONTS, METALS, surface
from handloom.objects.parts import Link, Part
from handloom.objects.shapes import Appearance, box, open_box

THICK = 0.020
"""Thickness of a front [m]."""
GAP = 0.002
"""Play between moving and fixed parts, and between a front and its carcass [m]."""
JOINT = 0.003
"""Gap between two fronts [m]."""
OUT = 0.032
"""Distance of the gripped middle of a handle from its front [m]."""
SWING = 1.57
"""Opening angle of a door [rad]; beyond that it would hit its neighbour."""
FRAME, PROUD = 0.055, 0.005
"""Width of the frame of a framed front, and how far it stands proud of the panel [m]."""
FRAMED = 0.26
"""Minimum side of a front that gets a frame [m]."""


@dataclass(frozen=True)
class FrontStyle:
    """Shared properties of the fronts of one piece of furniture."""

    finish: str
    """Key of ``FRONTS``."""
    kind: str
    """``flat`` or ``framed``."""
    handle: str
    """One of ``HANDLES``."""
    metal: str
    """Key of ``METALS``."""


def front_style(c: Choices) -> FrontStyle:
    """Choose fronts and handles."""
    finish, kind = c.pick("front_finish", tuple(FRONTS)), c.pick("front_kind", ("flat", "framed"))
    return FrontStyle(finish, kind, c.pick("handle", HANDLES), c.pick("handle_finish", tuple(METALS)))


def panel(size: tuple[float, float], middle: tuple[float, float], style: FrontStyle, body: str) -> list[Part]:
    """Return a front whose back lies in the xz plane of its body.

    Args:
        size: Width and height [m].
        middle: x and z of its middle [m].
        style: Flat or framed, and its finish.
        body: Body that carries it.
    """
    (x, z), (u, w) = size, middle
    look = surface(style.finish, fill=0.7, body=body)
    # A drawer too low for a frame has a flat front, as joiners make them.
    if style.kind == "flat" or min(x, z) < FRAMED:
        return [box((x, THICK, z), (u, -THICK / 2, w), **look)]
    rail = surface(style.finish, body=body, solid=False)
    # The frame reaches a little into the panel, so that the two have no face in common.
    deep, at = PROUD + 0.001, -THICK - (PROUD - 0.001) / 2
    return [
        box((x, THICK, z), (u, -THICK / 2, w), **look),
        *(box((x, deep, FRAME), (u, at, w + s * (z - FRAME) / 2), **rail) for s in (-1.0, 1.0)),
        *(box((FRAME, deep, z - 2 * FRAME), (u + s * (x - FRAME) / 2, at, w), **rail) for s in (-1.0, 1.0)),
    ]


def leaf(
    name: str,
    hinge: str,
    size: tuple[float, float],
    at: tuple[float, float, float],
    style: FrontStyle,
    feel: Feel,
    *,
    grip_at: float = 0.0,
) -> tuple[Link, list[Part]]:
    """Return the link and the parts of an upright door with a handle at its free edge.

    It turns about the outer front edge, like on a concealed hinge, so that it never swings into its neighbour.

    Args:
        name: Name of the link and its body.
        hinge: ``left`` or ``right``, seen from the front.
        size: Width and height [m].
        at: x of its middle, y of its back and z of its middle in the frame of the furniture [m].
        style: Its look.
        feel: Friction, spring and catch of the hinge.
        grip_at: Height of the handle's middle above that of the door, as a fraction of half the height.
    """
    (x, z), (u, v, w) = size, at
    side = 1.0 if hinge == "left" else -1.0
    length = min(0.32 * z, 0.20)
    edge, height = side * (x - 0.032), grip_at * (z / 2 - length / 2 - 0.02)
    parts = [
        *panel((x, z), (side * x / 2, 0.0), style, name),
        *grip((edge, height), length, style, name, upright=True),
    ]
    parts = [part.moved((0.0, THICK, 0.0)) for part in parts]
    link = Link(
        name=name,
        kind="hinge",
        origin=(u - side * x / 2, v - THICK, w),
        axis=(0.0, 0.0, -side),
        range=(0.0, SWING),
        head=(edge, -OUT + 0.001, height),
        tail=(0.5 * edge, -OUT + 0.001, height),
        contact_axis=(0.0, 0.0, -1.0),
        normal=(0.0, -1.0, 0.0),
        push=(side * (x - 0.024), 0.0, height - 0.18 * z if height > 0.0 else height + 0.18 * z),
        **feel,
    )
    return link, parts


def grip(at: tuple[float, float], length: float, style: FrontStyle, body: str, *, upright: bool) -> list[Part]:
    """Return the handle of a front at x and z [m]."""
    metal: Appearance = surface(style.metal, fill=0.5, body=body)
    return handle((at[0], -THICK + 0.001, at[1]), length, OUT, metal, upright=upright, kind=style.handle)


def drawer(
    name: str,
    size: tuple[float, float, float],
    origin: tuple[float, float, float],
    travel: float,
    style: FrontStyle,
    feel: Feel,
    *,
    inner: tuple[float, float],
) -> tuple[Link, list[Part]]:
    """Return the link and the parts of a drawer; the link's origin is the middle of the back of its front.

    Args:
        name: Name of the link and its body.
        size: Width and height of the front, and depth of the tray [m].
        origin: In the frame of the furniture [m].
        travel: How far the drawer comes out [m].
        style: Its look.
        feel: Friction and catch of its slides.
        inner: Width and height of the tray [m].
    """
    x, z, deep = size
    wide, tall = inner
    low = -z / 2 + 0.012
    tray = surface("birch", fill=0.6, body=name)
    parts = [
        *open_box((wide, deep, tall), 0.012, (0.0, deep / 2, low), floor=0.008, **tray),
        *panel((x, z), (0.0, 0.0), style, name),
        *grip((0.0, 0.16 * z), min(0.40 * x, 0.24), style, name, upright=False),
    ]
    link = Link(
        name=name,
        kind="slide",
        origin=origin,
        axis=(0.0, -1.0, 0.0),
        range=(0.0, travel),
        head=(0.0, -THICK - OUT + 0.001, 0.16 * z),
        tail=(0.12 * x, -THICK - OUT + 0.001, 0.16 * z),
        contact_axis=(-1.0, 0.0, 0.0),
        normal=(0.0, -1.0, 0.0),
        push=(0.0, -THICK, -0.25 * z),
        **feel,
    )
    return link, parts

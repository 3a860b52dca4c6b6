"""Hand tools, lying as on a bench; the working end points to +x."""

from itertools import pairwise

from handloom.objects.blueprint import Blueprint
from handloom.objects.choices import Choices
from handloom.objects.materials import BRIGHT, rgb, shade
from handloom.objects.parts import Part, axes, points
from handloom.objects.shapes import Appearance, arc, bar, box, cylinder, hull, laid, lathe, prism, rod, shell, slab

_STEEL = Appearance(color=rgb("steel"), substance="steel")


def hammer(c: Choices) -> Blueprint:
    """A hammer: wooden or plastic handle, steel head across its end."""
    color = c.color(("wood", "red", "yellow", "black", "blue"))
    length, head = c.number("length", 0.22, 0.29), c.number("head", 0.085, 0.110)
    size, x = 0.024, 0.45 * length
    z = size / 2
    grip = Appearance(color=rgb(color), substance="wood" if color == "wood" else "plastic")
    wedge = [
        (x + s * size * 0.46, y * head, z + u * k)
        for s in (-1, 1)
        for y, k in ((0.16, 1.0), (0.5, 0.25))
        for u in (-z, z)
    ]
    parts = [
        rod((-0.44 * length, 0.0, z), (0.42 * length, 0.0, z), 0.0105, **grip),
        box((size, 0.36 * head, size), (x, 0.0, z), **_STEEL),
        bar((x, -0.16 * head, z), (x, -0.40 * head, z), 0.0095, **_STEEL),
        bar((x, -0.40 * head, z), (x, -0.5 * head, z), 0.0118, **_STEEL),
        hull(wedge, **_STEEL),
    ]
    return _tool(("hammer", "claw hammer", "tool"), color, parts, length, z)


def screwdriver(c: Choices) -> Blueprint:
    """A screwdriver with a fluted handle."""
    color = c.color(BRIGHT)
    second = rgb(c.color(("black", "yellow", "white", "gray"), "second_color", unlike=color))
    length, thick = c.number("length", 0.17, 0.23), c.number("thickness", 0.026, 0.032)
    grip, z = 0.46 * length, thick / 2 * 0.94
    look = Appearance(color=rgb(color), substance="plastic")
    flutes = [
        (0.5 * thick * a, 0.5 * thick * b)
        for a, b in ((1, 0.38), (0.38, 1), (-0.38, 1), (-1, 0.38), (-1, -0.38), (-0.38, -1), (0.38, -1), (1, -0.38))
    ]
    parts = [
        prism(flutes, grip, (-0.5 * length + grip / 2, 0.0, z), euler=(0.0, 90.0, 0.0), **look),
        bar(
            (-0.5 * length + grip, 0.0, z),
            (-0.5 * length + grip + 0.016, 0.0, z),
            0.36 * thick,
            color=second,
            substance="plastic",
        ),
        bar((-0.5 * length + grip, 0.0, z), (0.46 * length, 0.0, z), 0.0033, **_STEEL),
        box((0.05 * length, 0.0080, 0.0022), (0.475 * length, 0.0, z), **_STEEL),
    ]
    return _tool(("screwdriver", "tool"), color, parts, length, z)


def wrench(c: Choices) -> Blueprint:
    """An open-end wrench: two jaws on a flat bar."""
    color = c.color(("silver", "black", "gray", "red"))
    length, jaw = c.number("length", 0.15, 0.21), c.number("jaw", 0.013, 0.019)
    thick = 0.009
    look = Appearance(color=rgb(color), substance="steel")
    parts = [slab((0.72 * length, 0.015, 0.8 * thick), 0.004, (0.0, 0.0, thick / 2), **look)]
    for s in (-1.0, 1.0):
        opening = jaw if s > 0 else 0.8 * jaw
        x = s * 0.36 * length
        root = [
            (x - s * 0.005, -opening),
            (x + s * 0.012, -opening),
            (x + s * 0.012, opening),
            (x - s * 0.005, opening),
            (x - s * 0.014, 0.6 * opening),
            (x - s * 0.014, -0.6 * opening),
        ]
        parts.append(prism(root, thick, (0.0, 0.0, thick / 2), **look))
        for u in (-1.0, 1.0):
            prong = [
                (x + s * 0.011, u * opening),
                (x + s * 0.011, u * 0.45 * opening),
                (x + s * 0.026, u * 0.5 * opening),
                (x + s * 0.024, u * 0.95 * opening),
            ]
            parts.append(prism(prong, thick, (0.0, 0.0, thick / 2), **look))
    return _tool(("wrench", "spanner", "tool"), color, parts, length, thick / 2)


def pliers(c: Choices) -> Blueprint:
    """Pliers with coloured sleeves, slightly open."""
    color = c.color(("red", "blue", "yellow", "orange", "green", "black"))
    length, z = c.number("length", 0.15, 0.19), 0.009
    sleeve = Appearance(color=rgb(color), substance="rubber")
    parts: list[Part] = [cylinder(0.012, 0.016, (0.17 * length, 0.0, z), **_STEEL)]
    for s in (-1.0, 1.0):
        jaw = [
            (0.16 * length, s * 0.001),
            (0.16 * length, s * 0.011),
            (0.5 * length, s * 0.005),
            (0.5 * length, s * 0.002),
        ]
        parts.append(prism(jaw, 0.013, (0.0, 0.0, z), **_STEEL))
        knots = [
            (0.12 * length, s * 0.008),
            (-0.08 * length, s * 0.024),
            (-0.30 * length, s * 0.024),
            (-0.46 * length, s * 0.017),
        ]
        for (x0, y0), (x1, y1) in pairwise(knots):
            parts.append(rod((x0, y0, z), (x1, y1, z), 0.0085, **sleeve))
    return _tool(("pliers", "pair of pliers", "tool"), color, parts, length, z)


def scissors(c: Choices) -> Blueprint:
    """Scissors, closed, with two finger rings."""
    color = c.color((*BRIGHT, "black"))
    length, z = c.number("length", 0.15, 0.20), 0.005
    grip = Appearance(color=rgb(color), substance="plastic")
    blade = [(0.0, -0.008), (0.0, 0.008), (0.40 * length, 0.004), (0.5 * length, 0.0), (0.40 * length, -0.004)]
    parts = [
        prism(blade, 0.005, (0.0, 0.0, z), **_STEEL),
        cylinder(0.006, 0.009, (0.012, 0.0, z), color=rgb("gray"), substance="steel"),
    ]
    for s in (-1.0, 1.0):
        centre = (-0.34 * length, s * 0.021, z)
        parts += arc(
            centre, (0.026, 0.015), 0.009, span_deg=(0.0, 360.0), pieces=8, euler=(0.0, 0.0, -s * 12.0), **grip
        )
        parts.append(rod((0.0, s * 0.003, z), (-0.18 * length, s * 0.013, z), 0.005, **grip))
    return _tool(("scissors", "pair of scissors"), color, parts, length, z)


def tape_roll(c: Choices) -> Blueprint:
    """A roll of adhesive tape, lying flat."""
    color = c.color(("beige", "silver", "blue", "red", "yellow", "black", "green"))
    radius, height = c.number("radius", 0.040, 0.052), c.number("height", 0.018, 0.045)
    core = 0.70 * radius
    outer = [(radius, 0.0), (radius, height)]
    parts = shell(outer, [(core, 0.0), (core, height)], sides=18, color=rgb(color), substance="plastic")
    return _tool(("tape", "roll of tape", "tape roll"), color, parts, 2 * radius, height / 2)


def flashlight(c: Choices) -> Blueprint:
    """A torch: tube, wider head, glass, push button."""
    color = c.color(("black", "red", "blue", "yellow", "silver", "green"))
    length, radius = c.number("length", 0.13, 0.18), c.number("radius", 0.013, 0.017)
    head = 1.5 * radius
    metal = Appearance(color=rgb(color), substance="aluminium", fill=0.5, round=True)
    neck = 0.26 * length
    cone = lathe([(radius, neck), (head, neck + 0.022)], sides=14, **metal)
    parts = [
        bar((-0.5 * length, 0.0, head), (neck + 0.002, 0.0, head), radius, **metal),
        laid(cone, head),
        bar((neck + 0.022, 0.0, head), (0.5 * length, 0.0, head), head, **metal),
        bar(
            (0.5 * length - 0.001, 0.0, head),
            (0.5 * length + 0.0008, 0.0, head),
            0.82 * head,
            color=rgb("cream"),
            substance="glass",
            fill=0.0,
            solid=False,
        ),
        bar(
            (-0.46 * length, 0.0, head),
            (-0.40 * length, 0.0, head),
            radius + 0.0012,
            color=shade(rgb(color), 0.5),
            substance="rubber",
            fill=0.0,
            solid=False,
        ),
        cylinder(
            0.005,
            0.003,
            (0.05 * length, 0.0, head + radius + 0.0006),
            color=rgb("gray"),
            substance="rubber",
            fill=0.0,
            solid=False,
        ),
    ]
    return _tool(("flashlight", "torch", "lamp"), color, parts, length, head)


def paint_brush(c: Choices) -> Blueprint:
    """A flat brush: handle, ferrule, bristles."""
    color = c.color(("wood", "red", "blue", "green", "yellow"))
    length, wide = c.number("length", 0.18, 0.24), c.number("width", 0.035, 0.055)
    z, thick = 0.008, 0.016
    taper = [
        (-0.02 * length, -0.4 * wide),
        (-0.02 * length, 0.4 * wide),
        (-0.16 * length, 0.010),
        (-0.16 * length, -0.010),
    ]
    parts = [
        rod((-0.47 * length, 0.0, z), (-0.14 * length, 0.0, z), 0.008, color=rgb(color), substance="wood"),
        prism(taper, 0.9 * thick, (0.0, 0.0, z), color=rgb(color), substance="wood"),
        box((0.16 * length, wide, thick), (0.06 * length, 0.0, z), color=rgb("silver"), substance="steel", fill=0.15),
        box(
            (0.36 * length, 0.96 * wide, 0.85 * thick),
            (0.32 * length, 0.0, z),
            color=rgb("beige"),
            substance="plastic",
            fill=0.4,
        ),
    ]
    return _tool(("paint brush", "brush", "paintbrush"), color, parts, length, z)


def toothbrush(c: Choices) -> Blueprint:
    """A toothbrush lying on its back, bristles up."""
    color = c.color((*BRIGHT, "white", "light blue"))
    length = c.number("length", 0.17, 0.195)
    bristle = rgb(c.color(("white", "light blue", "mint"), "bristle_color", unlike=color))
    look = Appearance(color=rgb(color), substance="plastic")
    parts = [
        slab((0.50 * length, 0.013, 0.011), 0.005, (-0.25 * length, 0.0, 0.0055), **look),
        bar((-0.02 * length, 0.0, 0.0055), (0.34 * length, 0.0, 0.0055), 0.0033, **look),
        slab((0.17 * length, 0.012, 0.006), 0.005, (0.415 * length, 0.0, 0.0055), **look),
        box((0.13 * length, 0.010, 0.012), (0.415 * length, 0.0, 0.0140), color=bristle, substance="plastic", fill=0.4),
    ]
    return _tool(("toothbrush", "tooth brush"), color, parts, length, 0.0055)


def _tool(words: tuple[str, ...], color: str, parts: list[Part], length: float, height: float) -> Blueprint:
    return Blueprint(
        words=words,
        color=color,
        parts=tuple(parts),
        keypoints=points(
            handle=(-0.25 * length, 0.0, height), head=(0.42 * length, 0.0, height), tail=(-0.46 * length, 0.0, height)
        ),
        axes=axes(up=(0.0, 0.0, 1.0), long=(1.0, 0.0, 0.0)),
    )

"""Fruit, vegetables and other food. Stems and leaves are looks only; the flesh is what collides."""

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from handloom.objects.blueprint import Blueprint, one_piece
from handloom.objects.choices import Choices
from handloom.objects.materials import Rgb, rgb, shade
from handloom.objects.parts import axes, points
from handloom.objects.shapes import Appearance, box, cylinder, ellipsoid, laid, lathe, prism, rod, shell, slab, sphere

_STEM: Rgb = (0.30, 0.20, 0.10)
_LEAF: Rgb = (0.22, 0.45, 0.14)


def _skin(color: Rgb, *, fill: float = 1.0) -> Appearance:
    return Appearance(color=color, substance="fruit", fill=fill, round=True)


def _garnish(color: Rgb) -> Appearance:
    return Appearance(color=color, substance="fruit", fill=0.0, solid=False)


def apple(c: Choices) -> Blueprint:
    """An apple with a stem and sometimes a leaf."""
    color, leaf = c.color(("red", "green", "yellow")), c.pick("leaf", ("yes", "no"))
    width, squash = c.number("width", 0.066, 0.082), c.number("squash", 0.86, 0.95)
    top = squash * width
    parts = [
        ellipsoid((width, width, top), (0.0, 0.0, top / 2), **_skin(shade(rgb(color), 0.95), fill=0.93)),
        ellipsoid((0.3 * width, 0.3 * width, 0.004), (0.0, 0.0, top - 0.0018), **_garnish(shade(rgb(color), 0.55))),
        rod((0.0, 0.0, top - 0.003), (0.003, 0.0, top + 0.009), 0.0014, **_garnish(_STEM)),
    ]
    if leaf == "yes":
        parts.append(
            ellipsoid((0.024, 0.012, 0.002), (0.014, 0.0, top + 0.006), euler=(0.0, -20.0, 0.0), **_garnish(_LEAF))
        )
    return one_piece(("apple", "fruit"), color, parts, (width, width, top))


def orange(c: Choices) -> Blueprint:
    """An orange, a mandarin or a grapefruit by size."""
    width, hue = c.number("width", 0.058, 0.086), c.number("hue", 0.36, 0.50, step=1e-3)
    parts = [
        sphere(width / 2, (0.0, 0.0, width / 2), **_skin((0.92, hue, 0.06), fill=0.95)),
        ellipsoid((0.010, 0.010, 0.003), (0.0, 0.0, width - 0.0006), **_garnish(_LEAF)),
    ]
    return one_piece(("orange", "mandarin", "fruit"), None, parts, (width, width, width))


def lemon(c: Choices) -> Blueprint:
    """A lemon or, when green, a lime; lying."""
    color = c.color(("yellow", "yellow", "lime"))
    length, width = c.number("length", 0.066, 0.082), c.number("width", 0.048, 0.056)
    skin = _skin(shade(rgb(color), 0.98))
    parts = [ellipsoid((length, width, width), (0.0, 0.0, width / 2), **skin)]
    parts += [ellipsoid((0.030, 0.020, 0.020), (s * 0.38 * length, 0.0, width / 2), **skin) for s in (-1.0, 1.0)]
    return one_piece(
        ("lemon" if color != "lime" else "lime", "citrus fruit", "fruit"), None, parts, (length, width, width)
    )


def pear(c: Choices) -> Blueprint:
    """A pear, standing on its thick end."""
    color = c.color(("green", "yellow", "brown"))
    width, height = c.number("width", 0.062, 0.074), c.number("height", 0.090, 0.110)
    skin = _skin(shade(rgb(color), 1.1), fill=0.98)
    parts = [
        ellipsoid((width, width, 0.92 * width), (0.0, 0.0, 0.46 * width), **skin),
        ellipsoid((0.60 * width, 0.60 * width, height - 0.42 * width), (0.0, 0.0, (height + 0.42 * width) / 2), **skin),
        rod((0.0, 0.0, height - 0.002), (0.004, 0.0, height + 0.014), 0.0016, **_garnish(_STEM)),
    ]
    # Balls of shrinking size round off the crease between belly and neck; their material is already counted.
    between = _skin(shade(rgb(color), 1.1), fill=0.0)
    parts += [
        sphere(share * width, (0.0, 0.0, up * width), **between)
        for up, share in ((0.62, 0.462), (0.74, 0.418), (0.84, 0.372), (0.93, 0.332))
    ]
    return one_piece(("pear", "fruit"), color, parts, (width, width, height))


def banana(c: Choices) -> Blueprint:
    """A curved banana lying flat, with dark ends; ripe or still green."""
    ripe = c.pick("ripe", ("ripe", "ripe", "green"))
    length, width = c.number("length", 0.15, 0.19), c.number("width", 0.030, 0.036)
    bend = math.radians(c.number("bend", 70.0, 100.0, step=0.1))
    color: Rgb = (0.91, 0.76, 0.16) if ripe == "ripe" else (0.62, 0.70, 0.18)
    radius = length / bend
    angles = np.linspace(-bend / 2, bend / 2, 7)
    knots = np.stack([radius * np.sin(angles), radius * (1.0 - np.cos(angles)), np.full(7, width / 2)], axis=-1)
    thick = width / 2 * np.array([0.80, 0.95, 1.0, 1.0, 0.95, 0.80])
    skin = Appearance(color=color, substance="fruit", fill=0.95)
    parts = [rod(knots[i], knots[i + 1], float(thick[i]), **skin) for i in range(6)]
    # The thinner end pieces would float: everything lies on the table at the thickness of the middle.
    stem, tip = knots[0] - knots[1], knots[-1] - knots[-2]
    parts += [
        rod(knots[0] + 0.30 * stem, knots[0] + 0.85 * stem, 0.0062, color=shade(color, 0.72), substance="fruit"),
        sphere(0.0055, knots[-1] + 0.36 * tip, **_garnish(_STEM)),
    ]
    return Blueprint(
        words=("banana", "fruit"),
        color=None if ripe == "ripe" else "green",
        parts=tuple(parts),
        keypoints=points(center=(0.0, 0.0, width / 2), head=tuple(knots[0].tolist()), tail=tuple(knots[-1].tolist())),
        axes=axes(up=(0.0, 0.0, 1.0), long=(1.0, 0.0, 0.0)),
    )


def strawberry(c: Choices) -> Blueprint:
    """A big strawberry lying on its side, with green sepals."""
    length, width = c.number("length", 0.038, 0.050), c.number("width", 0.030, 0.037)
    hue = c.number("hue", 0.06, 0.14, step=1e-3)
    profile = [(0.22, -0.50), (0.72, -0.24), (0.99, 0.18), (0.64, 0.46)]
    body = lathe(
        [(r * width / 2, z * length) for r, z in profile], sides=12, color=(0.80, hue, 0.08), substance="fruit"
    )
    parts = [laid(body, width / 2)]
    for k in range(5):
        a = 2.0 * math.pi * k / 5.0
        y, z = 0.26 * width * math.cos(a), 0.26 * width * math.sin(a)
        parts.append(ellipsoid((0.004, 0.010, 0.010), (0.47 * length, y, width / 2 + z), **_garnish(_LEAF)))
    return one_piece(("strawberry", "berry", "fruit"), None, parts, (length, width, width))


def tomato(c: Choices) -> Blueprint:
    """A tomato with a green calyx."""
    color = c.color(("red", "red", "orange", "yellow"))
    width, squash = c.number("width", 0.055, 0.080), c.number("squash", 0.76, 0.90)
    top = squash * width
    parts = [ellipsoid((width, width, top), (0.0, 0.0, top / 2), **_skin(rgb(color), fill=1.05))]
    parts += [
        ellipsoid((0.34 * width, 0.008, 0.003), (0.0, 0.0, top - 0.0010), euler=(0.0, 0.0, 60.0 * k), **_garnish(_LEAF))
        for k in range(3)
    ]
    return one_piece(("tomato", "vegetable"), color if color != "red" else None, parts, (width, width, top))


def carrot(c: Choices) -> Blueprint:
    """A carrot lying, with its greens cut short."""
    length, width = c.number("length", 0.13, 0.18), c.number("width", 0.026, 0.034)
    hue = c.number("hue", 0.34, 0.44, step=1e-3)
    profile = [(0.20, -0.50), (0.55, -0.34), (0.98, 0.40), (0.55, 0.50)]
    body = lathe(
        [(r * width / 2, z * length) for r, z in profile],
        sides=12,
        color=(0.90, hue, 0.08),
        substance="fruit",
        fill=1.1,
    )
    parts = [laid(body, width / 2)]
    for y, z in ((0.0, 0.004), (0.005, -0.002), (-0.005, -0.002)):
        start = (0.49 * length, y, width / 2 + z)
        parts.append(rod(start, (0.49 * length + 0.022, 2.2 * y, width / 2 + 2.2 * z), 0.003, **_garnish(_LEAF)))
    return one_piece(("carrot", "vegetable"), None, parts, (length, width, width))


def potato(c: Choices) -> Blueprint:
    """A potato: a lumpy ellipsoid."""
    size = (c.number("length", 0.075, 0.105), c.number("width", 0.052, 0.066), c.number("height", 0.042, 0.052))
    tone = c.number("tone", 0.85, 1.10, step=1e-3)
    color = shade((0.66, 0.50, 0.30), tone) if tone <= 1.0 else shade((0.70, 0.54, 0.33), tone)
    lump = (0.55 * size[0], 0.9 * size[1], 0.94 * size[2])
    parts = [
        ellipsoid(size, (0.0, 0.0, size[2] / 2), **_skin(color, fill=1.15)),
        # Most of the lump lies inside the body, whose mass is counted already.
        ellipsoid(lump, (0.2 * size[0], 0.06 * size[1], 0.49 * size[2]), **_skin(color, fill=0.1)),
    ]
    return one_piece(("potato", "vegetable"), None, parts, size)


def egg(c: Choices) -> Blueprint:
    """A hen's egg lying on its side."""
    color = c.color(("white", "beige", "cream"))
    length, width = c.number("length", 0.054, 0.062), c.number("width", 0.042, 0.046)
    parts = [ellipsoid((length, width, width), (0.0, 0.0, width / 2), **_skin(shade(rgb(color), 1.1), fill=1.15))]
    return one_piece(("egg", "hen's egg"), color, parts, (length, width, width))


def cucumber(c: Choices) -> Blueprint:
    """A cucumber, slightly bent."""
    length, width = c.number("length", 0.15, 0.20), c.number("width", 0.034, 0.042)
    tone = c.number("tone", 0.75, 1.0, step=1e-3)
    skin = Appearance(color=shade((0.20, 0.42, 0.16), tone), substance="fruit", fill=1.05, round=True)
    x, bend, z = length / 2 - width / 2, 0.010, width / 2
    knots = [(-x, bend, z), (-x / 3, 0.0, z), (x / 3, 0.0, z), (x, bend, z)]
    parts = [rod(a, b, width / 2, **skin) for a, b in pairwise(knots)]
    return one_piece(("cucumber", "vegetable"), None, parts, (length, width, width))


def eggplant(c: Choices) -> Blueprint:
    """An aubergine lying, dark purple with a green cap."""
    length, width = c.number("length", 0.13, 0.17), c.number("width", 0.052, 0.066)
    skin = Appearance(color=(0.20, 0.07, 0.22), substance="fruit", fill=0.7, round=True)
    z = width / 2
    parts = [
        ellipsoid((0.62 * length, width, width), (-0.19 * length, 0.0, z), **skin),
        rod((-0.15 * length, 0.0, z), (0.34 * length, 0.0, z), 0.32 * width, **skin),
        ellipsoid((0.16 * length, 0.60 * width, 0.60 * width), (0.44 * length, 0.0, z), **_garnish(_LEAF)),
        rod((0.48 * length, 0.0, z), (0.58 * length, 0.0, z + 0.06 * width), 0.005, **_garnish(_LEAF)),
    ]
    return one_piece(("eggplant", "aubergine", "vegetable"), "purple", parts, (length, width, width))


def bread_roll(c: Choices) -> Blueprint:
    """A baked roll with a flat bottom and scores across its top."""
    length, width = c.number("length", 0.085, 0.120), c.number("width", 0.060, 0.075)
    height, tone = c.number("height", 0.040, 0.052), c.number("tone", 0.80, 1.0, step=1e-3)
    crust = shade((0.72, 0.46, 0.20), tone)
    look = Appearance(color=crust, substance="bread")
    parts = [
        ellipsoid((length, width, height), (0.0, 0.0, height / 2), **look),
        slab(
            (0.48 * length, 0.48 * width, 0.003),
            0.22 * width,
            (0.0, 0.0, 0.0015),
            color=shade(crust, 0.9),
            substance="bread",
        ),
    ]
    parts += [
        ellipsoid(
            (0.010, 0.46 * width, 0.006),
            (x * length, 0.0, height - 0.002 - 0.07 * abs(x) * height),
            euler=(0.0, 0.0, 20.0),
            **_garnish((0.93, 0.82, 0.62)),
        )
        for x in (-0.18, 0.0, 0.18)
    ]
    return one_piece(("bread roll", "roll", "bun"), None, parts, (length, width, height))


def donut(c: Choices) -> Blueprint:
    """A ring doughnut with icing on the upper half."""
    color = c.color(("pink", "brown", "white", "yellow", "mint"))
    radius, thick = c.number("radius", 0.040, 0.050), c.number("thickness", 0.028, 0.034)
    hole = radius - 0.88 * thick
    dough, half = Appearance(color=(0.72, 0.47, 0.22), substance="bread"), thick / 2
    lower = [(hole + 0.22 * thick, 0.0), (radius - 0.22 * thick, 0.0), (radius, 0.32 * thick), (radius, half)]
    upper = [(radius - 0.01 * thick, half), (radius - 0.04 * thick, 0.72 * thick), (radius - 0.26 * thick, thick)]
    parts = shell(lower, [(hole, half)], sides=12, **dough)
    parts += shell(
        upper,
        [(hole + 0.01 * thick, half), (hole + 0.24 * thick, thick)],
        sides=12,
        color=rgb(color),
        substance="bread",
        material="icing",
    )
    return one_piece(("donut", "doughnut", "pastry"), color, parts, (2 * radius, 2 * radius, thick))


def sandwich(c: Choices) -> Blueprint:
    """Two slices of bread with lettuce, cheese and tomato between."""
    side, thick = c.number("side", 0.085, 0.105), c.number("thickness", 0.010, 0.014)
    crumb, crust = (
        Appearance(color=(0.93, 0.84, 0.66), substance="bread", material="crumb"),
        Appearance(color=(0.66, 0.42, 0.20), substance="bread"),
    )
    layers: Sequence[tuple[float, float, Appearance]] = (
        (thick, 1.0, crumb),
        (0.004, 1.04, Appearance(color=(0.35, 0.62, 0.18), substance="fruit", material="lettuce")),
        (0.004, 0.98, Appearance(color=(0.95, 0.72, 0.15), substance="fruit")),
        (0.005, 0.92, Appearance(color=(0.78, 0.14, 0.10), substance="fruit")),
        (thick, 1.0, crust),
    )
    parts, z = [], 0.0
    for height, spread, look in layers:
        parts.append(slab((spread * side, spread * side, height), 0.014, (0.0, 0.0, z + height / 2), **look))
        z += height
    return one_piece(("sandwich", "toast"), None, parts, (side, side, z))


def cheese(c: Choices) -> Blueprint:
    """A wedge of cheese with holes."""
    radius, height = c.number("radius", 0.075, 0.100), c.number("height", 0.035, 0.050)
    a = math.radians(24.0)
    look = Appearance(color=(0.93, 0.72, 0.22), substance="fruit", fill=1.15)
    tip = [
        (0.0, 0.0),
        (radius * math.cos(a), -radius * math.sin(a)),
        (radius * 1.05, 0.0),
        (radius * math.cos(a), radius * math.sin(a)),
    ]
    parts = [prism(tip, height, (0.0, 0.0, height / 2), **look)]
    hole = _garnish((0.76, 0.52, 0.12))
    for x, share, r in ((0.42, 0.55, 0.007), (0.70, 0.35, 0.009), (0.78, 0.72, 0.006)):
        # Flat discs on the two cut faces, which leave the tip at +-24 degrees.
        for s in (-1.0, 1.0):
            at = (x * radius * math.cos(a), s * x * radius * math.sin(a), share * height)
            parts.append(cylinder(r, 0.001, at, euler=(90.0, 0.0, s * math.degrees(a)), **hole))
    return one_piece(
        ("cheese", "piece of cheese", "cheese wedge"), None, parts, (radius, 2 * radius * math.sin(a), height)
    )


def chocolate_bar(c: Choices) -> Blueprint:
    """A bar of chocolate in a printed wrapper."""
    color = c.color(("red", "blue", "purple", "green", "brown", "orange"))
    size = (c.number("length", 0.12, 0.16), c.number("width", 0.050, 0.070), c.number("height", 0.010, 0.014))
    parts = [
        box(size, (0.0, 0.0, size[2] / 2), color=rgb(color), substance="fruit", fill=1.3),
        box(
            (0.55 * size[0], 0.5 * size[1], 0.001),
            (0.0, 0.0, size[2]),
            color=rgb("cream"),
            substance="paper",
            fill=0.0,
            solid=False,
        ),
    ]
    parts += [
        box(
            (0.006, 0.94 * size[1], 0.004),
            (s * (size[0] / 2 + 0.003), 0.0, size[2] / 2),
            color=rgb("silver"),
            substance="paper",
        )
        for s in (-1.0, 1.0)
    ]
    return one_piece(("chocolate bar", "bar of chocolate", "candy bar"), color, parts, size)

"""Small goods: cards, pills, tea, coffee, soap, a burger, a box of chips."""

import math
from dataclasses import replace

from handloom.objects.blueprint import Blueprint
from handloom.objects.choices import Choices
from handloom.objects.materials import Rgb, rgb
from handloom.objects.parts import Part, axes, upright_points
from handloom.objects.shapes import Appearance, box, curved, cylinder, ellipsoid, hull, lathe, printed, slab
from handloom.render.looks import Turned

_PROUD = 0.0004
"""How far a label stands out [m]."""


def card_box(c: Choices) -> Blueprint:
    """A pack of playing cards, lying: a printed box with a diamond on it."""
    color = c.color(("red", "blue", "black", "green", "navy"))
    size = (c.number("length", 0.086, 0.092), c.number("width", 0.054, 0.060), c.number("height", 0.020, 0.024))
    x, y, z = size
    parts = [
        box(size, (0.0, 0.0, z / 2), color=rgb(color), substance="paper", edge=0.001),
        box((0.88 * x, 0.84 * y, 0.0008), (0.0, 0.0, z), **printed(rgb("white"))),
        box((0.82 * x, 0.76 * y, 0.0014), (0.0, 0.0, z), **printed(rgb(color))),
        box((0.028, 0.028, 0.0020), (0.0, 0.0, z), euler=(0.0, 0.0, 45.0), **printed(rgb("white"))),
        box((0.018, 0.018, 0.0026), (0.0, 0.0, z), euler=(0.0, 0.0, 45.0), **printed(rgb("red"))),
    ]
    return _good(("card box", "pack of cards", "playing cards"), color, parts, size)


def pill_bottle(c: Choices) -> Blueprint:
    """A bottle of pills with a ribbed cap and a label."""
    color = c.color(("orange", "white", "green", "blue", "amber"))
    cap = rgb(c.color(("white", "blue", "red"), "cap_color", unlike=color))
    radius, height = c.number("radius", 0.019, 0.024), c.number("height", 0.070, 0.090)
    lid = 0.020
    low = [(0.94 * radius, 0.0), (radius, 0.003), (radius, height - lid - 0.006), (0.80 * radius, height - lid)]
    body = Appearance(color=rgb(color), substance="plastic", fill=0.7, round=True)
    parts = [
        lathe(low, sides=13, **body),
        replace(
            lathe([(0.96 * radius, 0.0), (0.96 * radius, lid - 0.002), (0.90 * radius, lid)], sides=20,
                  color=cap, substance="plastic", fill=0.6, round=True),
            position=(0.0, 0.0, height - lid),
        ),
        cylinder(radius + _PROUD, 0.42 * height, (0.0, 0.0, 0.36 * height), **printed(rgb("white"), "can_print")),
    ]  # fmt: skip
    return _good(("pill bottle", "medicine bottle", "bottle of pills"), color, parts, (2 * radius, 2 * radius, height))


def tea_box(c: Choices) -> Blueprint:
    """A carton of tea bags, standing."""
    return _carton(c, ("tea box", "box of tea", "carton of tea"), ("green", "yellow", "red", "teal", "purple"))


def coffee_box(c: Choices) -> Blueprint:
    """A carton of coffee, standing."""
    return _carton(c, ("coffee box", "box of coffee", "pack of coffee"), ("brown", "black", "red", "navy", "orange"))


def _carton(c: Choices, words: tuple[str, ...], colors: tuple[str, ...]) -> Blueprint:
    color = c.color(colors)
    second = rgb(c.color(("cream", "white", "yellow"), "second_color", unlike=color))
    size = (c.number("width", 0.062, 0.080), c.number("depth", 0.042, 0.054), c.number("height", 0.080, 0.105))
    x, y, z = size
    parts = [
        box(size, (0.0, 0.0, z / 2), color=rgb(color), substance="cardboard", fill=0.42, edge=0.001),
        box((0.80 * x, y + 2 * _PROUD, 0.46 * z), (0.0, 0.0, 0.56 * z), **printed(second, "carton_print")),
        box((x + 2 * _PROUD, 0.70 * y, 0.10 * z), (0.0, 0.0, 0.16 * z), **printed(second)),
    ]
    return _good(words, color, parts, size)


def soap(c: Choices) -> Blueprint:
    """A bar of soap with rounded edges and a pressed field."""
    color = c.color(("white", "cream", "pink", "mint", "light blue", "yellow"))
    size = (c.number("length", 0.074, 0.090), c.number("width", 0.046, 0.056), c.number("height", 0.024, 0.030))
    x, y, z = size
    look = Appearance(color=rgb(color), substance="water", material="glossy_plastic")
    rings = ((0.84, 0.0), (1.0, 0.5), (0.84, 1.0))
    corners = [
        (0.5 * x * share * _blunt(math.cos(a)), 0.5 * y * share * _blunt(math.sin(a)), h * z)
        for share, h in rings
        for a in (2.0 * math.pi * (k + 0.5) / 12 for k in range(12))
    ]
    parts = [
        replace(hull(corners, **look), drawn="smooth"),
        slab((0.50 * x, 0.40 * y, 0.0012), 0.18 * y, (0.0, 0.0, z), arc=5, **printed(rgb("white"))),
    ]
    return _good(("soap", "bar of soap", "soap bar"), color, parts, size)


def _blunt(side: float) -> float:
    """Return a coordinate of the unit circle, moved towards the square around it."""
    return math.copysign(abs(side) ** 0.6, side)


def burger(c: Choices) -> Blueprint:
    """A small burger: bun, lettuce, patty, cheese, tomato, bun with seeds."""
    radius, height = c.number("radius", 0.027, 0.030), c.number("height", 0.048, 0.056)
    bun = Appearance(color=(0.78, 0.50, 0.22), substance="bread", material="bread")
    low, high = 0.24 * height, 0.52 * height
    dome = [
        (radius, high),
        (1.0 * radius, high + 0.12 * height),
        (0.84 * radius, 0.84 * height),
        (0.40 * radius, height),
    ]
    rest = high - low
    parts: list[Part] = [
        lathe([(0.86 * radius, 0.0), (radius, 0.35 * low), (radius, low)], sides=18, **bun),
        _layer(1.02 * radius, low, 0.20 * rest, (0.35, 0.62, 0.18), "lettuce"),
        _layer(0.99 * radius, low + 0.20 * rest, 0.45 * rest, (0.30, 0.16, 0.09), "bread"),
        _layer(1.01 * radius, low + 0.65 * rest, 0.12 * rest, (0.95, 0.70, 0.14), None),
        _layer(0.97 * radius, low + 0.77 * rest, 0.23 * rest, (0.76, 0.13, 0.09), None),
        replace(lathe(dome, sides=13, **bun), drawn=Turned(outer=tuple(curved(dome)), edge=0.002)),
    ]
    seed = Appearance(color=(0.95, 0.90, 0.75), substance="bread", fill=0.0, solid=False)
    for k, (share, turn) in enumerate(((0.0, 0.0), (0.5, 0.4), (0.5, 2.5), (0.5, 4.6), (0.72, 1.4), (0.72, 3.6))):
        r = share * 0.80 * radius
        z = height * (1.0 - 0.16 * (share / 0.84) ** 2) + (0.0002 if k else 0.0)
        parts.append(ellipsoid((0.005, 0.003, 0.002), (r * math.cos(turn), r * math.sin(turn), z), **seed))
    return replace(_good(("burger", "hamburger"), None, parts, (2 * radius, 2 * radius, height)), rests="upright")


def _layer(radius: float, low: float, thick: float, color: Rgb, material: str | None) -> Part:
    look = Appearance(color=color, substance="fruit", material=material, fill=0.6)
    return cylinder(radius, thick + 0.0006, (0.0, 0.0, low + thick / 2), **look)


def fries_box(c: Choices) -> Blueprint:
    """A paper bag of chips, wider at the top, with chips that stick out."""
    color = c.color(("red", "yellow", "orange", "blue"))
    wide, deep, height = (
        c.number("width", 0.062, 0.074),
        c.number("depth", 0.034, 0.040),
        c.number("height", 0.070, 0.080),
    )
    corners = [
        (sx * w * wide / 2, sy * d * deep / 2, z)
        for sx in (-1.0, 1.0)
        for sy in (-1.0, 1.0)
        for w, d, z in ((0.72, 1.0, 0.0), (1.0, 1.0, height))
    ]
    chip = Appearance(color=(0.93, 0.76, 0.30), substance="bread", fill=0.5)
    parts = [hull(corners, color=rgb(color), substance="paper", fill=0.35)]
    parts.append(box((0.80 * wide, 0.80 * deep, 0.012), (0.0, 0.0, height), **chip))
    for k in range(8):
        x, y = (-0.38 + 0.108 * k) * wide, (0.22 if k % 2 else -0.22) * deep
        out = 0.018 + 0.007 * ((k * 5) % 4)
        at = (x, y, height + out / 2)
        parts.append(box((0.007, 0.007, out), at, euler=(0.0, (k - 3.5) * 3.0, 0.0), **chip))
    parts.append(cylinder(0.016, deep + 2 * _PROUD, (0.0, 0.0, 0.52 * height), euler=(90.0, 0.0, 0.0),
                          **printed(rgb("yellow" if color != "yellow" else "red"))))  # fmt: skip
    return _good(("box of fries", "fries", "French fries"), color, parts, (wide, deep, height + 0.030))


def _good(words: tuple[str, ...], color: str | None, parts: list[Part], size: tuple[float, float, float]) -> Blueprint:
    return Blueprint(
        words=words,
        color=color,
        parts=tuple(parts),
        keypoints=upright_points(size[2], center=(0.0, 0.0, size[2] / 2)),
        axes=axes(up=(0.0, 0.0, 1.0), front=(0.0, -1.0, 0.0), long=(1.0, 0.0, 0.0)),
    )

"""Pens, their holder, and other desk items."""

import math
from dataclasses import replace

from handloom.objects.blueprint import Blueprint
from handloom.objects.choices import Choices
from handloom.objects.materials import BRIGHT, HOUSING, rgb, shade
from handloom.objects.parts import Part, axes, points, upright_points
from handloom.objects.shapes import (
    FOOT,
    Appearance,
    as_built,
    bar,
    box,
    curved,
    cylinder,
    drawn_as,
    ellipsoid,
    hull,
    laid,
    lathe,
    printed,
    prism,
    shell,
    slab,
    tube,
)
from handloom.render.looks import Turned


def pen(c: Choices) -> Blueprint:
    """A pen with a clip, or a hexagonal pencil; lying, tip towards +x."""
    color, style = c.color((*BRIGHT, "black", "navy")), c.pick("style", ("pen", "pencil"))
    length, thick = c.number("length", 0.135, 0.165), c.number("thickness", 0.0090, 0.0115)
    r = thick / 2
    z = r * math.cos(math.pi / 6)
    hexagon = [(r * math.cos(a), r * math.sin(a)) for a in (math.pi / 3 * (k + 0.5) for k in range(6))]
    body = prism(
        hexagon, 0.80 * length, (-0.10 * length, 0.0, z), euler=(0.0, 90.0, 0.0), color=rgb(color), substance="wood"
    )
    if style == "pen":
        look = Appearance(color=rgb("silver"), substance="plastic")
        nose = [(r * 0.9, 0.0), (0.0025, 0.18 * length), (0.001, 0.20 * length)]
        extra = [
            box(
                (0.26 * length, 0.0035, 0.003),
                (-0.36 * length, 0.0, z + r + 0.001),
                color=rgb("silver"),
                substance="steel",
            )
        ]
    else:
        look = Appearance(color=rgb("wood"), substance="wood")
        nose = [(r * 0.9, 0.0), (0.0012, 0.17 * length), (0.0006, 0.175 * length)]
        extra = [
            bar((-0.50 * length, 0.0, z), (-0.535 * length, 0.0, z), 0.92 * r, color=rgb("pink"), substance="rubber")
        ]
    tip = lathe([(radius, 0.30 * length + x) for radius, x in nose], sides=10, **look)
    return _flat(
        ("pen" if style == "pen" else "pencil", "writing tool"),
        color,
        [body, laid(tip, z), *extra],
        (length, thick, thick),
    )


def marker(c: Choices) -> Blueprint:
    """A thick felt pen with a coloured cap, lying."""
    color = c.color((*BRIGHT, "black"))
    length, radius = c.number("length", 0.115, 0.140), c.number("radius", 0.0085, 0.0110)
    barrel = Appearance(color=rgb("white"), substance="plastic", fill=0.5, round=True)
    cap = Appearance(color=rgb(color), substance="plastic", fill=0.5, round=True)
    parts = [
        bar((-0.46 * length, 0.0, radius), (0.12 * length, 0.0, radius), 0.94 * radius, **barrel),
        bar((0.10 * length, 0.0, radius), (0.48 * length, 0.0, radius), radius, **cap),
        bar((-0.50 * length, 0.0, radius), (-0.44 * length, 0.0, radius), 0.90 * radius, **cap),
        bar((-0.30 * length, 0.0, radius), (-0.08 * length, 0.0, radius), 0.97 * radius, **printed(rgb(color))),
    ]
    return _flat(("marker", "felt pen", "marker pen"), color, parts, (length, 2 * radius, 2 * radius))


def pen_holder(c: Choices) -> Blueprint:
    """A pot for pens: round, hexagonal or square."""
    color, style = c.color((*BRIGHT, "black", "white", "wood")), c.pick("style", ("round", "hexagonal", "square"))
    radius, height = c.number("radius", 0.034, 0.042), c.number("height", 0.085, 0.105)
    sides, wall = {"round": 16, "hexagonal": 6, "square": 4}[style], 0.004
    look = Appearance(color=rgb(color), substance="wood" if color == "wood" else "plastic")
    outline = [(math.cos(a), math.sin(a)) for a in (2 * math.pi * (k - 0.5) / sides for k in range(sides))]
    grow = math.sqrt(2.0 * math.pi / (sides * math.sin(2.0 * math.pi / sides)))
    inside = radius - wall / 2
    parts = tube(radius, height, wall, sides=sides, foot=FOOT, **look)
    # A heavy base: long tools do not tip it over, and their tips do not pierce it when they drop.
    half = 0.005
    base = Appearance(color=rgb(color), substance="steel")
    floor = prism([(grow * inside * x, grow * inside * y) for x, y in outline], 2 * half, (0.0, 0.0, half), **base)
    if style == "round":
        parts.append(replace(floor, drawn=Turned(outer=((inside, -half), (inside, half)))))
    else:
        parts = [*as_built(parts), floor]
    return Blueprint(
        words=("pen holder", "pencil cup", "pen pot"),
        color=color,
        parts=tuple(parts),
        keypoints=upright_points(height, height / 2),
        axes=axes(up=(0.0, 0.0, 1.0), opening=(0.0, 0.0, 1.0)),
        holds=2 * 0.9 * (radius - wall),
    )


def book(c: Choices) -> Blueprint:
    """A hardback lying flat: two covers, a spine, white pages."""
    color = c.color((*BRIGHT, "brown", "navy", "black"))
    second = rgb(c.color(("cream", "yellow", "silver"), "second_color", unlike=color))
    size = (c.number("length", 0.15, 0.21), c.number("width", 0.11, 0.145), c.number("height", 0.018, 0.035))
    cover, z = 0.003, size[2]
    look = Appearance(color=rgb(color), substance="cardboard")
    parts = [
        box((size[0], size[1], cover), (0.0, 0.0, cover / 2), **look),
        box((size[0], size[1], cover), (0.0, 0.0, z - cover / 2), **look),
        box((size[0], cover, z), (0.0, (size[1] - cover) / 2, z / 2), **look),
        box(
            (size[0] - 0.008, size[1] - 0.006, z - 2 * cover),
            (0.0, 0.001, z / 2),
            color=rgb("cream"),
            substance="paper",
        ),
        box((0.62 * size[0], 0.16 * size[1], 0.001), (0.0, 0.18 * size[1], z), **printed(second, "book_print")),
        box((0.36 * size[0], 0.06 * size[1], 0.001), (0.0, -0.30 * size[1], z), **printed(second)),
    ]
    return _flat(("book", "hardback", "novel"), color, parts, size)


def eraser(c: Choices) -> Blueprint:
    """A rubber with a paper sleeve."""
    color = c.color((*BRIGHT, "navy"))
    size = (c.number("length", 0.048, 0.065), c.number("width", 0.020, 0.027), c.number("height", 0.012, 0.017))
    parts = [
        box(size, (0.0, 0.0, size[2] / 2), color=rgb("white"), substance="rubber"),
        box(
            (0.62 * size[0], size[1] + 0.001, size[2] + 0.001),
            (-0.16 * size[0], 0.0, size[2] / 2),
            **printed(rgb(color)),
        ),
    ]
    return _flat(("eraser", "rubber"), color, parts, size)


def stapler(c: Choices) -> Blueprint:
    """A stapler: base, arm, pivot."""
    color = c.color(("black", "red", "blue", "gray", "teal"))
    length, width = c.number("length", 0.11, 0.14), c.number("width", 0.030, 0.036)
    look, base = (
        Appearance(color=rgb(color), substance="plastic", fill=0.9),
        Appearance(color=shade(rgb(color), 0.55), substance="steel", fill=0.5),
    )
    arm = [
        (-0.48 * length, 0.020),
        (0.50 * length, 0.024),
        (0.50 * length, 0.036),
        (0.30 * length, 0.046),
        (-0.30 * length, 0.050),
        (-0.48 * length, 0.040),
    ]
    parts = [
        slab((length, width, 0.010), 0.010, (0.0, 0.0, 0.005), **base),
        prism(arm, 0.62 * width, euler=(90.0, 0.0, 0.0), **look),
        box((0.16 * length, 0.80 * width, 0.026), (-0.40 * length, 0.0, 0.022), **look),
        box(
            (0.70 * length, 0.40 * width, 0.006),
            (0.10 * length, 0.0, 0.020),
            color=rgb("silver"),
            substance="steel",
            fill=0.5,
        ),
    ]
    return _flat(("stapler", "office stapler"), color, parts, (length, width, 0.050))


def computer_mouse(c: Choices) -> Blueprint:
    """A computer mouse with a wheel, cable side towards +x."""
    color = c.color((*HOUSING, "red", "blue"))
    length, width, height = (
        c.number("length", 0.095, 0.115),
        c.number("width", 0.056, 0.064),
        c.number("height", 0.034, 0.040),
    )
    look = Appearance(color=rgb(color), substance="plastic", fill=0.45)
    rings = [(1.0, 0.0), (1.0, 0.30), (0.90, 0.66), (0.62, 0.94), (0.34, 1.0)]
    corners = [
        (0.5 * length * s * math.cos(a) - 0.03 * length * h, 0.5 * width * s * math.sin(a), h * height)
        for s, h in rings[:4]
        for a in (2 * math.pi * (k + 0.5) / 10 for k in range(10))
    ]
    parts = [
        replace(hull(corners, **look), drawn="smooth"),
        cylinder(
            0.008,
            0.006,
            (0.26 * length, 0.0, 0.80 * height),
            euler=(90.0, 0.0, 0.0),
            color=(0.10, 0.10, 0.11),
            substance="rubber",
            fill=0.0,
            solid=False,
        ),
    ]
    return _flat(("computer mouse", "mouse"), color, parts, (length, width, 0.94 * height))


def remote_control(c: Choices) -> Blueprint:
    """A remote control with a field of keys and a red one."""
    color = c.color(HOUSING)
    length, width, height = (
        c.number("length", 0.14, 0.18),
        c.number("width", 0.042, 0.050),
        c.number("height", 0.018, 0.023),
    )
    key = rgb("white" if color in {"black", "gray"} else "black")
    parts = [
        slab((length, width, height), 0.010, (0.0, 0.0, height / 2), color=rgb(color), substance="plastic", fill=0.6)
    ]
    for i in range(3):
        for y in (-0.27, 0.0, 0.27):
            at = ((-0.30 + 0.13 * i) * length, y * width, height)
            parts.append(box((0.07 * length, 0.17 * width, 0.003), at, **printed(shade(key, 0.8))))
    parts += [
        cylinder(0.30 * width, 0.003, (0.16 * length, 0.0, height), **printed(shade(key, 0.8))),
        cylinder(0.14 * width, 0.0045, (0.16 * length, 0.0, height), **printed(rgb(color))),
        cylinder(0.10 * width, 0.004, (0.40 * length, -0.26 * width, height), **printed(rgb("red"))),
    ]
    return _flat(("remote control", "remote", "TV remote"), color, parts, (length, width, height))


def phone(c: Choices) -> Blueprint:
    """A mobile phone lying on its back, in a coloured case."""
    color = c.color((*BRIGHT, "black", "white", "silver"))
    length, width, height = (
        c.number("length", 0.14, 0.165),
        c.number("width", 0.068, 0.078),
        c.number("height", 0.010, 0.013),
    )
    parts = [
        slab((length, width, height), 0.011, (0.0, 0.0, height / 2), color=rgb(color), substance="glass", fill=0.7),
        slab((0.965 * length, 0.93 * width, 0.001), 0.008, (0.0, 0.0, height), **printed((0.03, 0.04, 0.06))),
        slab((0.86 * length, 0.86 * width, 0.0016), 0.004, (0.0, 0.0, height), **printed((0.10, 0.22, 0.38))),
    ]
    return _flat(("phone", "mobile phone", "smartphone"), color, parts, (length, width, height))


def sponge(c: Choices) -> Blueprint:
    """A kitchen sponge: foam with a scouring layer on top."""
    color = c.color(("yellow", "pink", "light blue", "orange", "lime"))
    second = rgb(c.color(("green", "gray", "blue", "red"), "second_color", unlike=color))
    size = (c.number("length", 0.085, 0.115), c.number("width", 0.055, 0.072), c.number("height", 0.028, 0.040))
    low = 0.76 * size[2]
    parts = [
        slab((size[0], size[1], low), 0.008, (0.0, 0.0, low / 2), color=rgb(color), substance="foam"),
        slab(
            (size[0], size[1], size[2] - low),
            0.008,
            (0.0, 0.0, (size[2] + low) / 2),
            color=second,
            substance="foam",
            fill=3.0,
        ),
    ]
    return _flat(("sponge", "kitchen sponge", "scourer"), color, parts, size)


def tissue_box(c: Choices) -> Blueprint:
    """A box of tissues with one sticking out."""
    color = c.color((*BRIGHT, "mint", "light blue", "white"))
    size = (c.number("length", 0.18, 0.22), c.number("width", 0.10, 0.12), c.number("height", 0.060, 0.085))
    z = size[2]
    tissue = [
        (x, y, z + h)
        for x, h in ((-0.035, 0.0), (0.035, 0.0), (-0.012, 0.028), (0.024, 0.022))
        for y in (-0.004, 0.004)
    ]
    parts = [
        box(size, (0.0, 0.0, z / 2), color=rgb(color), substance="paper", fill=0.20),
        slab(
            (0.60 * size[0], 0.34 * size[1], 0.001), 0.16 * size[1], (0.0, 0.0, z), **printed(shade(rgb(color), 0.55))
        ),
        hull(tissue, **printed(rgb("white"))),
    ]
    return _flat(("tissue box", "box of tissues", "tissues"), color, parts, size)


def vase(c: Choices) -> Blueprint:
    """A slender vase, wider in the middle."""
    color = c.color(("white", "blue", "teal", "red", "green", "black", "amber"))
    radius, height = c.number("radius", 0.034, 0.044), c.number("height", 0.13, 0.18)
    wall, look, belly = 0.004, Appearance(color=rgb(color), substance="ceramic"), 0.42 * height
    low = shell(
        [(0.66 * radius, 0.0), (radius, belly)],
        [(0.66 * radius - wall, 0.0), (radius - wall, belly)],
        sides=14,
        foot=FOOT,
        **look,
    )
    high = shell(
        [(radius, belly), (0.62 * radius, height)],
        [(radius - wall, belly), (0.62 * radius - wall, height)],
        sides=14,
        **look,
    )
    outer = curved([(0.66 * radius, FOOT), (radius, belly), (0.62 * radius, 0.97 * height), (0.64 * radius, height)])
    inner = tuple((r - wall, max(z, 0.006)) for r, z in outer)
    low = drawn_as([*low, *high], Turned(outer=tuple(outer), inner=inner, through=True, edge=0.0015))
    floor = cylinder(0.66 * radius - 0.001, 0.008, (0.0, 0.0, 0.004), **look)
    return Blueprint(
        words=("vase", "flower vase"),
        color=color,
        parts=(*low, floor),
        keypoints=upright_points(height, belly),
        axes=axes(up=(0.0, 0.0, 1.0), opening=(0.0, 0.0, 1.0)),
        holds=2 * (0.62 * radius - wall),
    )


def flower(c: Choices) -> Blueprint:
    """A cut flower lying: stem, two leaves, a head of petals towards +x."""
    color = c.color(("red", "yellow", "white", "pink", "purple", "orange"))
    length, head = c.number("length", 0.20, 0.26), c.number("head", 0.045, 0.060)
    stem, z = Appearance(color=(0.20, 0.42, 0.14), substance="fruit"), 0.38 * head
    x = 0.5 * length
    petal = Appearance(color=rgb(color), substance="foam", fill=3.0)
    parts = [
        bar((-0.5 * length, 0.0, z), (x, 0.0, z), 0.0035, **stem),
        lathe([(0.14 * head, -0.10 * head), (0.44 * head, 0.10 * head), (0.50 * head, 0.30 * head)], sides=12, **petal),
        ellipsoid(
            (0.12 * head, 0.5 * head, 0.5 * head),
            (x + 0.30 * head, 0.0, z),
            color=rgb("yellow" if color != "yellow" else "brown"),
            substance="foam",
            fill=0.0,
            solid=False,
        ),
        ellipsoid(
            (0.050, 0.016, 0.003),
            (-0.05 * length, 0.016, z),
            euler=(0.0, 0.0, 35.0),
            color=(0.24, 0.50, 0.16),
            substance="foam",
            fill=0.0,
            solid=False,
        ),
        ellipsoid(
            (0.050, 0.016, 0.003),
            (0.10 * length, -0.016, z),
            euler=(0.0, 0.0, -35.0),
            color=(0.24, 0.50, 0.16),
            substance="foam",
            fill=0.0,
            solid=False,
        ),
    ]
    parts[1] = laid(parts[1], z).moved((x, 0.0, 0.0))
    return _flat(("flower", "cut flower", "blossom"), color, parts, (length, head, head))


def _flat(words: tuple[str, ...], color: str, parts: list[Part], size: tuple[float, float, float]) -> Blueprint:
    return Blueprint(
        words=words,
        color=color,
        parts=tuple(parts),
        keypoints=points(
            center=(0.0, 0.0, size[2] / 2),
            head=(0.45 * size[0], 0.0, size[2] / 2),
            tail=(-0.45 * size[0], 0.0, size[2] / 2),
        ),
        axes=axes(up=(0.0, 0.0, 1.0), long=(1.0, 0.0, 0.0)),
    )

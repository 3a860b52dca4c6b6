"""Toys."""

from handloom.objects.blueprint import Blueprint
from handloom.objects.choices import Choices
from handloom.objects.materials import BRIGHT, rgb, shade
from handloom.objects.parts import Part, axes, points, upright_points
from handloom.objects.shapes import (
    FOOT,
    Appearance,
    bar,
    box,
    cylinder,
    ellipsoid,
    hull,
    lathe,
    prism,
    rod,
    shell,
    sphere,
    striped,
)


def ball(c: Choices) -> Blueprint:
    """A hollow rubber ball, plain or with a belt."""
    color, style = c.color(BRIGHT), c.pick("style", ("plain", "belt"))
    second = rgb(c.color(("white", "yellow", "navy"), "second_color", unlike=color))
    radius = c.number("radius", 0.022, 0.040)
    parts = [sphere(radius, (0.0, 0.0, radius), color=rgb(color), substance="rubber", fill=0.25, round=True)]
    if style == "belt":
        belt = Appearance(color=second, substance="rubber", fill=0.0, solid=False)
        parts.append(ellipsoid((2.012 * radius, 2.012 * radius, 1.84 * radius), (0.0, 0.0, radius), **belt))
    return _toy(("ball", "rubber ball", "toy ball"), color, parts, 2 * radius)


def rubber_duck(c: Choices) -> Blueprint:
    """A bath duck looking to -y."""
    color = c.color(("yellow", "yellow", "pink", "light blue", "white"))
    size = c.number("size", 0.070, 0.095)
    look = Appearance(color=rgb(color), substance="plastic", fill=0.22)
    beak, eye = (
        Appearance(color=(0.90, 0.42, 0.06), substance="plastic", fill=0.22),
        Appearance(color=(0.04, 0.04, 0.05), substance="plastic", fill=0.0, solid=False),
    )
    z = 0.30 * size
    parts = [
        ellipsoid((0.74 * size, size, 0.60 * size), (0.0, 0.0, z), **look),
        cylinder(0.26 * size, 0.05 * size, (0.0, 0.0, 0.025 * size), **look),
        sphere(0.27 * size, (0.0, -0.24 * size, 0.74 * size), **look),
        ellipsoid((0.24 * size, 0.22 * size, 0.10 * size), (0.0, -0.52 * size, 0.70 * size), **beak),
        hull(
            [
                (x, y, w)
                for x, y, w in (
                    (-0.16 * size, 0.34 * size, z),
                    (0.16 * size, 0.34 * size, z),
                    (-0.10 * size, 0.58 * size, 0.62 * size),
                    (0.10 * size, 0.58 * size, 0.62 * size),
                    (0.0, 0.30 * size, 0.56 * size),
                )
            ],
            **look,
        ),
        sphere(0.045 * size, (-0.13 * size, -0.45 * size, 0.83 * size), **eye),
        sphere(0.045 * size, (0.13 * size, -0.45 * size, 0.83 * size), **eye),
    ]
    return _toy(("rubber duck", "toy duck", "duck"), color, parts, 1.01 * size)


def toy_car(c: Choices) -> Blueprint:
    """A small car driving to +x; its wheels do not turn."""
    color, kind = c.color(BRIGHT), c.pick("kind", ("saloon", "truck", "van"))
    length, width = c.number("length", 0.085, 0.120), c.number("width", 0.042, 0.055)
    wheel = 0.11 * length
    body = Appearance(color=rgb(color), substance="plastic", fill=0.45)
    window = Appearance(color=(0.12, 0.16, 0.22), substance="glass", fill=0.3)
    deck = wheel + 0.20 * length
    parts = [box((length, width, 0.20 * length), (0.0, 0.0, 0.72 * wheel + 0.10 * length), **body)]
    back, front, roof = {"saloon": (-0.30, 0.22, 0.17), "truck": (0.12, 0.42, 0.20), "van": (-0.48, 0.36, 0.24)}[kind]
    base, top = deck - 0.28 * wheel, deck - 0.28 * wheel + roof * length
    slope = 0.06 * length
    cabin = [
        (back * length, base),
        (front * length, base),
        (front * length - slope, top),
        (back * length + (slope if kind == "saloon" else 0.0), top),
    ]
    parts += [
        prism(cabin, 0.90 * width, euler=(90.0, 0.0, 0.0), **window),
        box(
            ((front - back) * length - 2 * slope, 0.92 * width, 0.006), ((front + back) / 2 * length, 0.0, top), **body
        ),
    ]
    for x in (-0.30, 0.30):
        for s in (-1.0, 1.0):
            at = (x * length, s * 0.46 * width, wheel)
            parts.append(
                cylinder(
                    wheel,
                    0.20 * width,
                    at,
                    euler=(90.0, 0.0, 0.0),
                    color=(0.06, 0.06, 0.07),
                    substance="rubber",
                    fill=0.5,
                )
            )
    parts += [
        ellipsoid(
            (0.004, 0.22 * width, 0.07 * length),
            (0.5 * length, s * 0.30 * width, wheel + 0.09 * length),
            color=rgb("cream"),
            substance="glass",
            fill=0.0,
            solid=False,
        )
        for s in (-1.0, 1.0)
    ]
    return _toy(("toy car", "car", "little car"), color, parts, top)


def toy_boat(c: Choices) -> Blueprint:
    """A steamer with a funnel, bow to +x."""
    color = c.color(BRIGHT)
    second = rgb(c.color(("white", "cream", "yellow"), "second_color", unlike=color))
    length, width = c.number("length", 0.11, 0.15), c.number("width", 0.045, 0.060)
    deep = 0.22 * length
    low = [(-0.46, -0.36), (-0.46, 0.36), (0.24, 0.36), (0.40, 0.0), (0.24, -0.36)]
    high = [(-0.50, -0.5), (-0.50, 0.5), (0.26, 0.5), (0.50, 0.0), (0.26, -0.5)]
    corners = [(x * length, y * width, z) for ring, z in ((low, 0.0), (high, deep)) for x, y in ring]
    look = Appearance(color=rgb(color), substance="wood")
    parts = [
        hull(corners, **look),
        box(
            (0.42 * length, 0.62 * width, 0.12 * length),
            (-0.12 * length, 0.0, deep + 0.06 * length),
            color=second,
            substance="wood",
        ),
        cylinder(
            0.06 * length,
            0.16 * length,
            (-0.16 * length, 0.0, deep + 0.20 * length),
            color=rgb(color),
            substance="wood",
        ),
        cylinder(
            0.062 * length,
            0.03 * length,
            (-0.16 * length, 0.0, deep + 0.265 * length),
            color=(0.07, 0.07, 0.08),
            substance="wood",
        ),
    ]
    return _toy(("toy boat", "boat", "ship"), color, parts, deep + 0.28 * length)


def teddy_bear(c: Choices) -> Blueprint:
    """A sitting plush bear looking to -y."""
    color = c.color(("brown", "beige", "amber", "pink", "gray"))
    size = c.number("size", 0.11, 0.15)
    fur = Appearance(color=rgb(color), substance="foam", fill=2.5)
    pale = Appearance(color=shade(rgb(color), 1.7), substance="foam", fill=2.5)
    dark = Appearance(color=(0.04, 0.03, 0.03), substance="plastic", fill=0.0, solid=False)

    def at(x: float, y: float, z: float) -> tuple[float, float, float]:
        return (x * size, y * size, z * size)

    parts = [
        ellipsoid(at(0.46, 0.40, 0.54), at(0.0, 0.0, 0.27), **fur),
        cylinder(0.20 * size, 0.04 * size, at(0.0, 0.0, 0.02), **fur),
        sphere(0.22 * size, at(0.0, -0.02, 0.68), **fur),
        ellipsoid(at(0.18, 0.14, 0.14), at(0.0, -0.22, 0.63), **pale),
        sphere(0.020 * size, at(0.0, -0.29, 0.66), **dark),
    ]
    for s in (-1.0, 1.0):
        parts += [
            sphere(0.085 * size, at(s * 0.17, 0.0, 0.87), **fur),
            rod(at(s * 0.20, 0.0, 0.42), at(s * 0.36, -0.10, 0.27), 0.075 * size, **fur),
            rod(at(s * 0.14, -0.08, 0.10), at(s * 0.22, -0.34, 0.10), 0.10 * size, **fur),
            ellipsoid(
                at(0.14, 0.03, 0.14),
                at(s * 0.225, -0.43, 0.10),
                color=shade(rgb(color), 1.7),
                substance="foam",
                fill=0.0,
                solid=False,
            ),
            sphere(0.024 * size, at(s * 0.08, -0.21, 0.75), **dark),
        ]
    return _toy(("teddy bear", "plush bear", "bear"), color, parts, 0.95 * size)


def stacking_ring(c: Choices) -> Blueprint:
    """A thick plastic ring from a stacking toy."""
    color = c.color(BRIGHT)
    radius, thick = c.number("radius", 0.032, 0.055), c.number("thickness", 0.018, 0.024)
    hole = radius - 1.15 * thick
    outer = [(radius - 0.3 * thick, 0.0), (radius, 0.3 * thick), (radius, 0.7 * thick), (radius - 0.3 * thick, thick)]
    parts = shell(outer, [(hole, 0.0), (hole, thick)], sides=14, color=rgb(color), substance="plastic", fill=0.4)
    return _toy(("ring", "toy ring", "stacking ring"), color, parts, thick)


def stacking_cup(c: Choices) -> Blueprint:
    """A tapered plastic beaker from a nesting set."""
    color = c.color(BRIGHT)
    radius, height = c.number("radius", 0.024, 0.036), c.number("height", 0.045, 0.065)
    wall, flare = 0.003, 0.004
    look = Appearance(color=rgb(color), substance="plastic", fill=0.6)
    outer = [(radius, 0.0), (radius + flare, height)]
    parts = shell(outer, [(r - wall, z) for r, z in outer], sides=14, foot=FOOT, **look)
    parts = striped(parts, shade(rgb(color), 1.25))
    parts.append(cylinder(radius - wall / 2, 0.003, (0.0, 0.0, 0.0015), **look))
    return Blueprint(
        words=("stacking cup", "toy cup", "nesting cup"),
        color=color,
        parts=tuple(parts),
        keypoints=upright_points(height, height / 2),
        axes=axes(up=(0.0, 0.0, 1.0), opening=(0.0, 0.0, 1.0)),
        holds=2 * (radius - wall),
    )


def spinning_top(c: Choices) -> Blueprint:
    """A wooden top lying on its rim."""
    color = c.color(BRIGHT)
    radius, height = c.number("radius", 0.022, 0.032), c.number("height", 0.030, 0.042)
    look = Appearance(color=rgb(color), substance="wood")
    parts = [
        lathe(
            [(0.003, -0.55 * height), (radius, -0.05 * height), (radius, 0.08 * height), (0.006, 0.30 * height)],
            sides=12,
            **look,
        ),
        bar((0.0, 0.0, 0.25 * height), (0.0, 0.0, 0.80 * height), 0.0035, color=rgb("wood"), substance="wood"),
    ]
    return Blueprint(
        words=("spinning top", "top", "toy top"),
        color=color,
        parts=tuple(parts),
        keypoints=points(handle=(0.0, 0.0, 0.7 * height), tip=(0.0, 0.0, -0.55 * height)),
        axes=axes(long=(0.0, 0.0, 1.0)),
    )


def _toy(words: tuple[str, ...], color: str, parts: list[Part], height: float) -> Blueprint:
    return Blueprint(
        words=words,
        color=color,
        parts=tuple(parts),
        keypoints=upright_points(height, center=(0.0, 0.0, height / 2)),
        axes=axes(up=(0.0, 0.0, 1.0), front=(0.0, -1.0, 0.0)),
    )

"""Cups, mugs, glasses, and other vessels to pour from and into."""

import math

from handloom.objects.blueprint import Blueprint
from handloom.objects.choices import Choices
from handloom.objects.materials import BRIGHT, GLAZES, rgb, shade
from handloom.objects.parts import Part, axes, upright_points
from handloom.objects.shapes import (
    FOOT,
    Appearance,
    arc,
    as_built,
    curved,
    cylinder,
    drawn_as,
    ellipsoid,
    hull,
    lathe,
    rod,
    shell,
    striped,
    tube,
)
from handloom.render.looks import Turned


def mug(c: Choices) -> Blueprint:
    """A ceramic mug with a handle towards +x; plain, striped, or with a handle of another colour."""
    color = c.color(GLAZES)
    style = c.pick("style", ("plain", "two-tone", "striped"))
    second = rgb(c.color(("white", "cream", "black", "navy", "red"), "second_color", unlike=color))
    radius, height = c.number("radius", 0.036, 0.044), c.number("height", 0.080, 0.105)
    wall = 0.0045
    body = Appearance(color=rgb(color), substance="ceramic")
    accent = Appearance(color=second, substance="ceramic")
    parts = tube(radius, height, wall, foot=FOOT, **body)
    if style == "striped":
        parts = striped(parts, second)
    parts.append(cylinder(radius - wall / 2, 0.006, (0.0, 0.0, 0.003), **body))
    reach = 0.030
    grip = accent if style == "two-tone" else body
    parts += arc(
        (radius - 0.002, 0.0, height * 0.52), (reach, height * 0.32), 0.0095, span_deg=(-85.0, 85.0), pieces=5, **grip
    )
    return Blueprint(
        words=("mug", "coffee mug", "cup"),
        color=color,
        parts=tuple(parts),
        keypoints=upright_points(
            height,
            height / 2,
            handle=(radius + reach - 0.002, 0.0, height * 0.52),
            hole=(radius + 0.0115, 0.0, height * 0.52),
        ),
        axes=axes(up=(0.0, 0.0, 1.0), opening=(0.0, 0.0, 1.0), handle=(1.0, 0.0, 0.0), hole=(0.0, 1.0, 0.0)),
        holds=2 * (radius - wall),
    )


def cup(c: Choices) -> Blueprint:
    """A cup without a handle: paper or plastic, wider at the top, some with stripes."""
    color = c.color((*BRIGHT, "white", "beige"))
    style = c.pick("style", ("plain", "striped"))
    radius, height = c.number("bottom_radius", 0.026, 0.034), c.number("height", 0.085, 0.120)
    flare, wall = c.number("flare", 0.006, 0.013), 0.003
    # A real cup's wall is about 0.8 mm thick; the model's is thicker so that fingers do not pass through it.
    body = Appearance(color=rgb(color), substance="plastic", fill=0.27)
    parts = tube(radius, height, wall, flare=flare, foot=FOOT, **body)
    if style == "striped":
        parts = striped(parts, rgb("white" if color != "white" else "red"))
    parts.append(cylinder(radius - wall / 2, 0.003, (0.0, 0.0, 0.0015), **body))
    return _vessel(("cup", "tumbler", "drinking cup"), color, parts, radius - wall, height)


def glass(c: Choices) -> Blueprint:
    """A drinking glass of pale tinted glass with a heavy base."""
    color = c.color(("light blue", "mint", "white", "silver"))
    radius, height = c.number("radius", 0.030, 0.038), c.number("height", 0.090, 0.135)
    flare, wall = c.number("flare", 0.001, 0.006), 0.003
    tint = Appearance(color=shade(rgb(color), 1.35), substance="glass", material="glass")
    parts = tube(radius, height, wall, flare=flare, foot=FOOT, **tint)
    parts.append(
        cylinder(
            radius - wall / 2,
            0.010,
            (0.0, 0.0, 0.005),
            color=shade(rgb(color), 0.85),
            substance="glass",
            material="glass",
        )
    )
    return _vessel(("glass", "drinking glass", "water glass"), color, parts, radius - wall, height)


def wine_glass(c: Choices) -> Blueprint:
    """A glass with a foot, a stem and a bulging bowl."""
    color = c.color(("light blue", "mint", "white", "silver"))
    bowl, stem = c.number("bowl_radius", 0.032, 0.040), c.number("stem", 0.060, 0.085)
    depth, wall, foot = c.number("depth", 0.075, 0.095), 0.003, 0.033
    # Fine glass is about 1.2 mm thick.
    tint = Appearance(color=shade(rgb(color), 1.35), substance="glass", material="glass", fill=0.4)
    base = stem + 0.010
    outer = [(0.40 * bowl, base), (bowl, base + 0.38 * depth), (0.84 * bowl, base + depth)]
    inner = [(0.40 * bowl - wall, base + 0.004), (0.84 * bowl - wall, base + depth)]
    parts = shell(outer, inner, sides=12, **tint)
    parts += [
        lathe([(foot, 0.0), (foot, 0.002), (0.006, 0.008)], sides=14, **tint),
        cylinder(0.0045, stem, (0.0, 0.0, 0.006 + stem / 2), **tint),
        lathe([(0.0045, 0.0), (0.40 * bowl, 0.010), (0.40 * bowl, 0.014)], (0.0, 0.0, stem), sides=12, **tint),
    ]
    cup_ = curved([(0.0035, stem), (0.42 * bowl, base), *outer[1:]])
    below = curved([(foot, 0.0015), (0.45 * foot, 0.003), (0.0055, 0.010), (0.0035, 0.024)])
    inside = tuple((r - 0.4 * wall, z) for r, z in cup_ if z > base and r > wall)
    solid = Turned(outer=((foot, 0.0), *below, *cup_), inner=((0.0, inside[0][1]), *inside), edge=0.0004)
    parts = drawn_as(parts, solid)
    return _vessel(("wine glass", "goblet", "stemmed glass"), color, parts, 0.40 * bowl - wall, base + depth, base)


def carafe(c: Choices) -> Blueprint:
    """An open bottle with a neck and a lip to pour from."""
    color = c.color(("light blue", "mint", "amber", "white", "pink"))
    radius, body = c.number("radius", 0.030, 0.034), c.number("body", 0.075, 0.095)
    neck, wall, shoulder, top = c.number("neck", 0.020, 0.023), 0.003, 0.030, 0.020
    look = Appearance(color=rgb(color), substance="plastic", fill=0.4)
    height = body + shoulder + top
    parts = tube(radius, body, wall, sides=14, foot=FOOT, **look)
    parts += shell(
        [(radius, 0.0), (neck, shoulder)],
        [(radius - wall, 0.0), (neck - wall, shoulder)],
        (0.0, 0.0, body),
        sides=14,
        **look,
    )
    parts += tube(neck, top, wall, (0.0, 0.0, body + shoulder), flare=0.004, sides=14, **look)
    parts.append(cylinder(radius - wall / 2, 0.003, (0.0, 0.0, 0.0015), **look))
    return _vessel(("carafe", "open bottle", "bottle"), color, parts, neck - wall, height)


def watering_can(c: Choices) -> Blueprint:
    """A small watering can: a round body with a handle towards -x and an open spout towards +x."""
    color = c.color(("green", "teal", "red", "yellow", "light blue"))
    radius, height = c.number("radius", 0.032, 0.035), c.number("height", 0.095, 0.105)
    wall, reach, half, notch = 0.003, 0.040, 0.013, 0.72 * height
    look = Appearance(color=rgb(color), substance="plastic", fill=0.5)
    parts = as_built(tube(radius, height, wall, foot=FOOT, **look))
    low = as_built(tube(radius, notch, wall, foot=FOOT, **look))
    parts[0], parts[1], parts[-1] = low[0], low[1], low[-1]  # The three sides that face +x end where the spout begins.
    parts.append(cylinder(radius - wall / 2, 0.003, (0.0, 0.0, 0.0015), **look))
    near, tip = radius - wall, radius + reach
    floor = [(near, notch), (tip, 0.97 * height), (tip, 0.97 * height - wall), (near, notch - wall)]
    parts.append(hull([(x, y, z) for x, z in floor for y in (-half - wall, half + wall)], **look))
    for side in (-1.0, 1.0):
        cheek = [
            (near - 0.002, notch - wall),
            (tip, 0.97 * height - wall),
            (tip, 1.06 * height),
            (near - 0.002, height),
        ]
        parts.append(hull([(x, side * y, z) for x, z in cheek for y in (half, half + wall)], **look))
    grip = 0.026
    parts += arc(
        (0.002 - radius, 0.0, 0.5 * height), (grip, 0.34 * height), 0.008, span_deg=(95.0, 265.0), pieces=5, **look
    )
    return Blueprint(
        words=("watering can", "can", "small watering can"),
        color=color,
        parts=tuple(parts),
        keypoints=upright_points(
            height,
            height / 2,
            handle=(0.002 - radius - grip, 0.0, 0.5 * height),
            spout=(tip, 0.0, 0.97 * height),
        ),
        axes=axes(up=(0.0, 0.0, 1.0), opening=(0.0, 0.0, 1.0), handle=(-1.0, 0.0, 0.0), spout=(1.0, 0.0, 0.0)),
        holds=2 * (radius - wall),
    )


def potted_plant(c: Choices) -> Blueprint:
    """A plant in a clay pot, its soil well below the rim; the leaves are visual only."""
    color = c.color(("brown", "orange", "white", "gray"))
    radius, height = c.number("radius", 0.058, 0.066), c.number("height", 0.085, 0.100)
    wall, flare, soil = 0.005, 0.010, 0.055
    clay = Appearance(color=rgb(color), substance="ceramic", fill=0.8)
    parts = tube(radius, height, wall, flare=flare, foot=FOOT, **clay)
    parts.append(cylinder(radius - wall / 2, soil, (0.0, 0.0, soil / 2), color=(0.20, 0.13, 0.08), substance="water"))
    leaf = Appearance(color=rgb("green"), substance="plastic", fill=0.0, solid=False)
    count = int(c.number("leaves", 5.0, 8.0))
    for k in range(count):
        turn = 2.0 * math.pi * k / count
        x, y, z = math.cos(turn), math.sin(turn), height + 0.018 + 0.012 * (k % 3)
        parts.append(rod((0.0, 0.0, soil), (0.022 * x, 0.022 * y, z), 0.0018, **leaf))
        tilt = (0.0, -25.0, math.degrees(turn))
        parts.append(ellipsoid((0.042, 0.018, 0.004), (0.036 * x, 0.036 * y, z + 0.004), euler=tilt, **leaf))
    return _vessel(("potted plant", "plant", "flower pot"), color, parts, radius - wall, height, soil)


def _vessel(
    words: tuple[str, ...], color: str, parts: list[Part], inner_radius: float, height: float, floor: float = 0.0
) -> Blueprint:
    return Blueprint(
        words=words,
        color=color,
        parts=tuple(parts),
        keypoints=upright_points(height, (floor + height) / 2),
        axes=axes(up=(0.0, 0.0, 1.0), opening=(0.0, 0.0, 1.0)),
        holds=2 * inner_radius,
    )

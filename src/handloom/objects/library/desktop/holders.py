"""Receptacles: stands, pads, baskets, bins, pot and skillet."""

from dataclasses import replace

import numpy as np

from handloom.objects.blueprint import Blueprint
from handloom.objects.choices import Choices
from handloom.objects.materials import BRIGHT, GLAZES, HOUSING, rgb, shade
from handloom.objects.parts import Part, Point, axes, points, upright_points
from handloom.objects.shapes import (
    FOOT,
    Appearance,
    arc,
    bar,
    box,
    curved,
    cylinder,
    drawn_as,
    lathe,
    open_box,
    printed,
    rod,
    shell,
    slab,
    tube,
)
from handloom.render.looks import Turned


def display_stand(c: Choices) -> Blueprint:
    """A turned plinth for displaying an object."""
    color = c.color(("wood", "white", "black", "brown", "silver"))
    radius, height = c.number("radius", 0.062, 0.075), c.number("height", 0.040, 0.060)
    look = Appearance(color=rgb(color), substance="wood", fill=1.0)
    foot = [(0.96 * radius, 0.0), (0.96 * radius, 0.16 * height), (0.70 * radius, 0.34 * height)]
    head = [(0.66 * radius, 0.0), (0.92 * radius, 0.22 * height), (radius, 0.30 * height), (radius, 0.40 * height)]
    stem = 0.60 * height
    parts = [
        lathe(foot, sides=20, **look),
        cylinder(0.60 * radius, 0.34 * height, (0.0, 0.0, 0.47 * height), **look),
        lathe(head, (0.0, 0.0, stem), sides=13, **look),
        cylinder(0.90 * radius, 0.0008, (0.0, 0.0, height), **{**printed(rgb("navy")), "material": "felt"}),
    ]
    return _top(("display stand", "stand", "pedestal"), color, parts, height)


def coaster(c: Choices) -> Blueprint:
    """A coaster: a thin disc or square of cork or felt with a printed rim."""
    color, style = c.color((*BRIGHT, "brown", "navy", "gray")), c.pick("style", ("round", "square"))
    half, z = c.number("half_width", 0.048, 0.058), 0.004
    look = Appearance(color=rgb(color), substance="rubber", material="felt", fill=0.6)
    ring = printed(shade(rgb(color), 1.6))
    if style == "round":
        parts = [cylinder(half, z, (0.0, 0.0, z / 2), **look), cylinder(0.84 * half, 0.0006, (0.0, 0.0, z), **ring)]
        parts.append(cylinder(0.78 * half, 0.0010, (0.0, 0.0, z), **{**printed(rgb(color)), "material": "felt"}))
    else:
        parts = [slab((2 * half, 2 * half, z), 0.012, (0.0, 0.0, z / 2), **look)]
        parts.append(slab((1.7 * half, 1.7 * half, 0.0006), 0.010, (0.0, 0.0, z), **ring))
        inner = {**printed(rgb(color)), "material": "felt"}
        parts.append(slab((1.58 * half, 1.58 * half, 0.0010), 0.009, (0.0, 0.0, z), **inner))
    return _top(("coaster", "pad", "mat"), color, parts, z)


def mouse_pad(c: Choices) -> Blueprint:
    """A mouse pad: a thin rounded rectangle with an edge in another shade."""
    color = c.color((*BRIGHT, "black", "gray", "navy"))
    x, y, z = c.number("length", 0.200, 0.240), c.number("width", 0.170, 0.200), 0.004
    look = Appearance(color=shade(rgb(color), 0.7), substance="rubber", fill=0.6)
    parts = [
        slab((x, y, z), 0.014, (0.0, 0.0, z / 2), arc=4, **look),
        slab(
            (x - 0.010, y - 0.010, 0.0006), 0.011, (0.0, 0.0, z), arc=4, **{**printed(rgb(color)), "material": "linen"}
        ),
    ]
    return _top(("mouse pad", "mouse mat", "pad"), color, parts, z)


def dustbin(c: Choices) -> Blueprint:
    """An open waste bin for a table, wider at the top, with a rolled rim."""
    color = c.color((*HOUSING, "red", "teal", "green", "blue"))
    radius, height = c.number("radius", 0.078, 0.090), c.number("height", 0.110, 0.135)
    flare, wall = 0.022, 0.004
    look = Appearance(color=rgb(color), substance="plastic", fill=0.9)
    parts = tube(radius, height - 0.004, wall, flare=flare, sides=20, foot=FOOT, **look)
    lip = [(radius + flare + 0.003, 0.0), (radius + flare + 0.003, 0.006)]
    parts += shell(lip, [(r - 0.007, z) for r, z in lip], (0.0, 0.0, height - 0.006), sides=20,
                   **{**look, "color": shade(rgb(color), 0.85)})  # fmt: skip
    parts.append(cylinder(radius - 0.001, 0.005, (0.0, 0.0, 0.0025), **{**look, "fill": 3.0}))
    return _vessel(("dustbin", "waste bin", "rubbish bin"), color, parts, height, 2 * (radius - wall))


def plastic_box(c: Choices) -> Blueprint:
    """A clear plastic box without its lid."""
    color = c.color(("white", "light blue", "mint", "pink"))
    x, y, z = c.number("length", 0.23, 0.27), c.number("width", 0.17, 0.20), c.number("height", 0.060, 0.075)
    look = Appearance(color=rgb(color), substance="plastic", material="frosted_glass", fill=0.8)
    parts = open_box((x, y, z), 0.004, **look)
    rim = Appearance(color=shade(rgb(color), 0.85), substance="plastic", fill=0.6)
    parts += [box((x + 0.012, 0.007, 0.006), (0.0, s * (y / 2 + 0.0025), z - 0.005), **rim) for s in (-1.0, 1.0)]
    parts += [box((0.007, y + 0.012, 0.006), (s * (x / 2 + 0.0025), 0.0, z - 0.005), **rim) for s in (-1.0, 1.0)]
    box_ = _vessel(("plastic box", "storage box", "box"), color, parts, z, 0.8 * y)
    more = points(left=(-0.25 * x, 0.0, 0.004), right=(0.25 * x, 0.0, 0.004))
    return replace(box_, keypoints={**box_.keypoints, **more})


def bread_basket(c: Choices) -> Blueprint:
    """A low oblong basket with a bail across its middle to carry it by; things lie on either side of the bail."""
    color = c.color(("beige", "brown", "wood"))
    x, y, z = c.number("length", 0.25, 0.28), c.number("width", 0.13, 0.15), c.number("height", 0.045, 0.055)
    bail = c.number("bail", 0.105, 0.120)
    look = Appearance(color=rgb(color), substance="wood", fill=0.45)
    dark = Appearance(color=shade(rgb(color), 0.7), substance="wood", fill=0.7)
    wall = 0.006
    parts = open_box((x, y, z), wall, **look)
    # Bands of the weave, a shade darker, and the rolled rim.
    for share in (0.25, 0.5, 0.75):
        parts += [
            box((x + 0.002, 0.002, 0.05 * z), (0.0, s * y / 2, share * z), **printed(shade(rgb(color), 0.72)))
            for s in (-1.0, 1.0)
        ]
        parts += [
            box((0.002, y + 0.002, 0.05 * z), (s * x / 2, 0.0, share * z), **printed(shade(rgb(color), 0.72)))
            for s in (-1.0, 1.0)
        ]
    parts += [bar((-x / 2, s * y / 2, z), (x / 2, s * y / 2, z), 0.005, **dark) for s in (-1.0, 1.0)]
    parts += [bar((s * x / 2, -y / 2, z), (s * x / 2, y / 2, z), 0.005, **dark) for s in (-1.0, 1.0)]
    rise = bail - z
    parts += arc(
        (0.0, 0.0, z),
        (rise, y / 2),
        0.014,
        span_deg=(-90.0, 90.0),
        pieces=8,
        euler=(0.0, -90.0, 0.0),
        **dark,
    )
    basket = _vessel(("basket", "bread basket"), color, parts, z, 0.7 * y)
    inside = points(
        inside=(0.25 * x, 0.0, wall + 0.5 * z),
        left=(-0.25 * x, 0.0, wall),
        right=(0.25 * x, 0.0, wall),
        handle=(0.0, 0.0, bail),
    )
    return replace(basket, keypoints={**basket.keypoints, **inside})


def soup_pot(c: Choices) -> Blueprint:
    """An open pot with a lug on each side (-x and +x) that a hand takes from above."""
    color = c.color(("red", "navy", "teal", "white", "silver", "black"))
    radius, height = c.number("radius", 0.105, 0.115), c.number("height", 0.075, 0.090)
    look = Appearance(color=rgb(color), substance="steel", fill=0.15)
    dark = Appearance(color=(0.08, 0.08, 0.09), substance="plastic", fill=0.8)
    parts = tube(radius, height, 0.005, sides=20, foot=FOOT, **look)
    parts.append(cylinder(radius - 0.002, 0.006, (0.0, 0.0, 0.003), **look))
    z, lug = height - 0.010, c.number("lug", 0.046, 0.052)
    for s in (-1.0, 1.0):
        parts.append(bar((s * (radius - 0.003), 0.0, z), (s * (radius + 0.012), 0.0, z), 0.006, **look))
        parts.append(
            box((lug - 0.008, 0.020, 0.016), (s * (radius + 0.008 + lug / 2), 0.0, z), **{**dark, "edge": 0.005})
        )
    pot = _vessel(("pot", "soup pot", "cooking pot"), color, parts, height, 1.7 * radius)
    at = radius + 0.008 + lug / 2
    grips = points(left_handle=(-at, 0.0, z), right_handle=(at, 0.0, z))
    return replace(pot, keypoints={**pot.keypoints, **grips})


def skillet(c: Choices) -> Blueprint:
    """A small pan of thin steel with a long handle towards +x, well above the table."""
    color = c.color(("black", "gray", "navy", "red"))
    radius, height = c.number("radius", 0.075, 0.088), c.number("height", 0.030, 0.036)
    reach = c.number("handle", 0.115, 0.135)
    wall, floor = 0.004, 0.004
    iron = Appearance(color=rgb(color), substance="steel", material="cast_iron", fill=0.14)
    outer = [(0.84 * radius, 0.0), (radius, height)]
    parts = shell(outer, [(0.84 * radius - wall, floor), (radius - wall, height)], sides=20, foot=FOOT, **iron)
    parts.append(cylinder(0.84 * radius - 0.001, floor, (0.0, 0.0, floor / 2), **{**iron, "fill": 0.22}))
    start, end = np.array([radius - 0.004, 0.0, height - 0.008]), np.array([radius + reach, 0.0, height + 0.012])
    knee = start + 0.25 * (end - start)
    parts += [
        bar(start, knee, 0.006, **iron),
        rod(knee, end, 0.0095, color=rgb(c.color(("wood", "black"), "handle_color")), substance="wood"),
    ]
    grasp: Point = tuple((start + 0.65 * (end - start)).tolist())  # pyright: ignore[reportAssignmentType]
    pan = _vessel(("skillet", "frying pan", "pan"), color, parts, height, 1.5 * radius)
    return replace(
        pan,
        keypoints={**pan.keypoints, **points(handle=grasp, inside=(0.0, 0.0, 0.5 * height))},
        axes=axes(up=(0.0, 0.0, 1.0), opening=(0.0, 0.0, 1.0), handle=(1.0, 0.0, 0.0), front=(1.0, 0.0, 0.0)),
    )


def nesting_bowl(c: Choices) -> Blueprint:
    """A deep bowl with a steep, thin wall; smaller ones stand in larger ones, and a finger fits behind the rim."""
    color = c.color(GLAZES)
    radius, height = c.number("radius", 0.042, 0.058), c.number("height", 0.050, 0.056)
    wall, floor = 0.003, 0.004
    look = Appearance(color=rgb(color), substance="ceramic", fill=0.8)
    outer = [(0.70 * radius, 0.0), (0.92 * radius, 0.30 * height), (radius, height)]
    inner = [(0.70 * radius - wall, floor), (0.92 * radius - wall, 0.30 * height), (radius - wall, height)]
    parts = [
        *shell(outer[:2], inner[:2], sides=18, foot=FOOT, **look),
        *shell(outer[1:], inner[1:], sides=18, **look),
    ]
    smooth = curved([(r, max(z, FOOT)) for r, z in outer])
    surface = Turned(outer=tuple(smooth), inner=tuple((r - wall, max(z, floor)) for r, z in smooth), through=True)
    parts = drawn_as(parts, replace(surface, edge=0.0012))
    parts.append(cylinder(0.70 * radius - 0.001, floor, (0.0, 0.0, floor / 2), **look))
    bowl = _vessel(("bowl", "nesting bowl", "small bowl"), color, parts, height, 1.7 * radius)
    return replace(bowl, keypoints={**bowl.keypoints, **points(rim=(radius - wall / 2, 0.0, height))})


def _top(words: tuple[str, ...], color: str, parts: list[Part], height: float) -> Blueprint:
    return Blueprint(
        words=words,
        color=color,
        parts=tuple(parts),
        keypoints=upright_points(height),
        axes=axes(up=(0.0, 0.0, 1.0), front=(0.0, -1.0, 0.0)),
        rests="upright",
    )


def _vessel(words: tuple[str, ...], color: str, parts: list[Part], height: float, holds: float) -> Blueprint:
    return Blueprint(
        words=words,
        color=color,
        parts=tuple(parts),
        keypoints=upright_points(height, 0.5 * height),
        axes=axes(up=(0.0, 0.0, 1.0), front=(0.0, -1.0, 0.0), opening=(0.0, 0.0, 1.0)),
        holds=holds,
        rests="upright",
    )

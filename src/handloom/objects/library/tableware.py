"""Bowls, plates, cutlery, pans."""

from itertools import pairwise

import numpy as np

from handloom.objects.blueprint import Blueprint
from handloom.objects.choices import Choices
from handloom.objects.materials import GLAZES, rgb, shade
from handloom.objects.parts import Part, axes, points, upright_points
from handloom.objects.shapes import (
    FOOT,
    Appearance,
    bar,
    box,
    curved,
    cylinder,
    drawn_as,
    drawn_as_tube,
    ellipsoid,
    hull,
    lathe,
    prism,
    rod,
    shell,
    slab,
    striped,
)
from handloom.render.looks import Turned


def bowl(c: Choices) -> Blueprint:
    """A round bowl on a foot; plain or with alternating glaze."""
    color, style = c.color(GLAZES), c.pick("style", ("plain", "plain", "striped"))
    second = rgb(c.color(("white", "cream", "blue", "teal"), "second_color", unlike=color))
    radius, height = c.number("radius", 0.055, 0.080), c.number("height", 0.045, 0.065)
    wall, floor, foot = 0.0045, 0.006, 0.45
    look = Appearance(color=rgb(color), substance="ceramic")
    outer = [(foot * radius, 0.0), (0.82 * radius, 0.42 * height), (radius, height)]
    inner = [(foot * radius - 0.002, floor), (radius - wall, height)]
    parts = shell(outer, inner, sides=16, foot=FOOT, **look)
    if style == "striped":
        parts = striped(parts, second)
    parts.append(cylinder(foot * radius, floor, (0.0, 0.0, floor / 2), **look))
    return Blueprint(
        words=("bowl", "soup bowl", "dish"),
        color=color,
        parts=tuple(parts),
        keypoints=upright_points(
            height,
            0.5 * height,
            rim=(radius - wall / 2, 0.0, height),
        ),
        axes=axes(up=(0.0, 0.0, 1.0), opening=(0.0, 0.0, 1.0)),
        holds=2 * (radius - wall),
    )


def plate(c: Choices) -> Blueprint:
    """A flat plate with a raised rim, some with the middle in another colour."""
    color, style = c.color(GLAZES), c.pick("style", ("plain", "two-tone"))
    second = rgb(c.color(("white", "cream", "light blue", "mint"), "second_color", unlike=color))
    radius, height = c.number("radius", 0.085, 0.120), c.number("height", 0.014, 0.022)
    middle, floor = 0.64 * radius, 0.005
    look = Appearance(color=rgb(color), substance="ceramic")
    outer = [(middle, 0.0), (0.90 * radius, 0.45 * height), (radius, height)]
    parts = shell(outer, [(middle, floor), (radius - 0.004, height)], sides=18, foot=FOOT, **look)
    parts.append(
        cylinder(
            middle + 0.003,
            floor,
            (0.0, 0.0, floor / 2),
            color=second if style == "two-tone" else rgb(color),
            substance="ceramic",
        )
    )
    return Blueprint(
        words=("plate", "dinner plate", "dish"),
        color=color,
        parts=tuple(parts),
        keypoints=upright_points(floor, rim=(radius - 0.002, 0.0, height)),
        axes=axes(up=(0.0, 0.0, 1.0)),
    )


def frying_pan(c: Choices) -> Blueprint:
    """A shallow pan with a long handle towards +x."""
    color = c.color(("black", "gray", "red", "navy", "teal"))
    radius, height = c.number("radius", 0.085, 0.115), c.number("height", 0.032, 0.045)
    grip = c.number("handle", 0.13, 0.17)
    inside, wall, floor = Appearance(color=rgb("black"), substance="aluminium"), 0.004, 0.005
    handle = Appearance(color=rgb(c.color(("black", "brown", "wood"), "handle_color")), substance="plastic")
    parts = shell(
        [(0.82 * radius, 0.0), (radius, height)],
        [(0.82 * radius - wall, floor), (radius - wall, height)],
        sides=18,
        foot=FOOT,
        color=rgb(color),
        substance="aluminium",
    )
    parts.append(cylinder(0.82 * radius - 0.001, floor, (0.0, 0.0, floor / 2), **inside))
    start, end = np.array([radius - 0.004, 0.0, 0.8 * height]), np.array([radius + grip, 0.0, 1.1 * height])
    parts += [
        bar(start, start + 0.3 * (end - start), 0.006, color=rgb("silver"), substance="aluminium"),
        rod(start + 0.3 * (end - start), end, 0.010, **handle),
    ]
    grasp = tuple((start + 0.65 * (end - start)).tolist())
    return Blueprint(
        words=("frying pan", "pan", "skillet"),
        color=color,
        parts=tuple(parts),
        keypoints=upright_points(height, height / 2, handle=grasp),
        axes=axes(up=(0.0, 0.0, 1.0), opening=(0.0, 0.0, 1.0), handle=(1.0, 0.0, 0.0)),
        holds=2 * (0.82 * radius - wall),
    )


def fork(c: Choices) -> Blueprint:
    """A table fork: handle, neck, four tines towards +x."""
    look, grip, color, length = _cutlery(c)
    parts = [
        _handle(length, grip),
        box((0.30 * length, 0.006, 0.004), (0.09 * length, 0.0, 0.004), **look),
        box((0.10 * length, 0.024, 0.004), (0.26 * length, 0.0, 0.004), **look),
    ]
    parts += [
        box((0.21 * length, 0.0035, 0.003), (0.395 * length, y, 0.004), **look)
        for y in (-0.0102, -0.0034, 0.0034, 0.0102)
    ]
    return _lying(("fork", "table fork"), color, parts, length)


def spoon(c: Choices) -> Blueprint:
    """A table spoon with its bowl towards +x."""
    look, grip, color, length = _cutlery(c)
    parts = [
        _handle(length, grip),
        box((0.34 * length, 0.006, 0.004), (0.11 * length, 0.0, 0.004), **look),
        ellipsoid((0.30 * length, 0.040, 0.010), (0.36 * length, 0.0, 0.005), **look),
        ellipsoid(
            (0.25 * length, 0.032, 0.003),
            (0.36 * length, 0.0, 0.0092),
            color=shade(look.get("color", rgb("silver")), 0.75),
            substance="steel",
            fill=0.0,
            solid=False,
        ),
    ]
    return _lying(("spoon", "table spoon"), color, parts, length)


def table_knife(c: Choices) -> Blueprint:
    """A blunt table knife, blade towards +x."""
    look, grip, color, length = _cutlery(c)
    edge = [
        (-0.08 * length, -0.006),
        (0.42 * length, -0.008),
        (0.50 * length, 0.004),
        (0.48 * length, 0.009),
        (-0.08 * length, 0.007),
    ]
    parts = [_handle(length, grip), prism(edge, 0.003, (0.0, 0.0, 0.004), **look)]
    return _lying(("knife", "table knife", "butter knife"), color, parts, length)


def spatula(c: Choices) -> Blueprint:
    """A kitchen turner: long handle, flat blade towards +x."""
    color = c.color(("black", "red", "wood", "teal", "gray"))
    length = c.number("length", 0.24, 0.30)
    blade = rgb(c.color(("black", "silver", "wood"), "blade_color", unlike=color))
    wide, tip = 0.070, 0.5 * length
    neck = tip - 0.095
    corners = [
        (x, y, z)
        for x, half in ((neck + 0.010, 0.30 * wide), (neck + 0.035, wide / 2), (tip, wide / 2))
        for y in (-half, half)
        for z in (0.002, 0.006)
    ]
    parts = [
        hull(corners, color=blade, substance="plastic"),
        bar((neck + 0.012, 0.0, 0.006), (-0.12 * length, 0.0, 0.010), 0.0045, color=blade, substance="plastic"),
        rod((-0.10 * length, 0.0, 0.010), (-0.46 * length, 0.0, 0.010), 0.010, color=rgb(color), substance="plastic"),
    ]
    return _lying(("spatula", "turner", "kitchen spatula"), color, parts, length)


def teapot(c: Choices) -> Blueprint:
    """A round teapot with lid, spout towards +x and handle towards -x."""
    color = c.color(GLAZES)
    radius = c.number("radius", 0.055, 0.070)
    look = Appearance(color=rgb(color), substance="ceramic", fill=0.35)
    profile = [(0.62, 0.0), (0.95, 0.38), (1.0, 0.70), (0.86, 1.08), (0.46, 1.36)]
    height = 1.36 * radius
    parts = [
        *drawn_as(
            [
                lathe([(r * radius, z * radius) for r, z in profile[:3]], sides=14, **look),
                lathe([(r * radius, z * radius) for r, z in profile[2:]], sides=14, **look),
            ],
            Turned(outer=tuple((r * radius, z * radius) for r, z in curved(profile)), edge=0.004),
        ),
        lathe(
            [(0.48 * radius, 0.0), (0.30 * radius, 0.012)],
            (0.0, 0.0, height),
            sides=12,
            color=shade(rgb(color), 0.8),
            substance="ceramic",
        ),
        ellipsoid((0.022, 0.022, 0.018), (0.0, 0.0, height + 0.019), color=shade(rgb(color), 0.8), substance="ceramic"),
    ]
    spout = [(0.85, 0.45), (1.35, 0.80), (1.55, 1.22)]
    parts += drawn_as_tube(
        [
            rod((0.85 * radius, 0.0, 0.45 * radius), (1.35 * radius, 0.0, 0.80 * radius), 0.011, **look),
            rod((1.35 * radius, 0.0, 0.80 * radius), (1.55 * radius, 0.0, 1.22 * radius), 0.008, **look),
        ],
        [(x * radius, 0.0, z * radius) for x, z in spout],
        (0.016, 0.010, 0.007),
    )
    knots = [(-0.88, 1.05), (-1.40, 1.02), (-1.50, 0.60), (-0.95, 0.42)]
    bent = [(x * radius, 0.0, z * radius) for x, z in knots]
    parts += drawn_as_tube([rod(a, b, 0.006, **look) for a, b in pairwise(bent)], bent, 0.006)
    return Blueprint(
        words=("teapot", "tea pot", "pot of tea"),
        color=color,
        parts=tuple(parts),
        keypoints=upright_points(
            height,
            handle=(-1.46 * radius, 0.0, 0.8 * radius),
            spout=(1.55 * radius, 0.0, 1.22 * radius),
        ),
        axes=axes(up=(0.0, 0.0, 1.0), handle=(-1.0, 0.0, 0.0), spout=(1.0, 0.0, 0.0)),
    )


def _cutlery(c: Choices) -> tuple[Appearance, Appearance, str, float]:
    """Choose metal and handle of a piece of cutlery: looks of both, colour word, length."""
    style = c.pick("style", ("steel", "coloured handle"))
    color = c.color(("silver",) if style == "steel" else ("red", "blue", "green", "yellow", "black", "white", "wood"))
    metal = Appearance(color=rgb("silver"), substance="steel", fill=0.6)
    grip = Appearance(color=rgb(color), substance="steel" if style == "steel" else "plastic")
    return metal, grip, color, c.number("length", 0.17, 0.21)


def _handle(length: float, look: Appearance) -> Part:
    return slab((0.45 * length, 0.016, 0.007), 0.007, (-0.275 * length, 0.0, 0.0035), **look)


def _lying(words: tuple[str, ...], color: str, parts: list[Part], length: float) -> Blueprint:
    return Blueprint(
        words=words,
        color=color,
        parts=tuple(parts),
        keypoints=points(
            handle=(-0.3 * length, 0.0, 0.0035), head=(0.4 * length, 0.0, 0.004), tail=(-0.49 * length, 0.0, 0.0035)
        ),
        axes=axes(up=(0.0, 0.0, 1.0), long=(1.0, 0.0, 0.0)),
    )

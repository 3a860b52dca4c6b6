"""Trays, bins, crates, shelves, boards, belts: receptacles for other objects."""

from dataclasses import replace

import numpy as np

from handloom.objects.blueprint import Blueprint
from handloom.objects.choices import Choices
from handloom.objects.materials import BRIGHT, rgb, shade
from handloom.objects.parts import Part, axes, points, upright_points
from handloom.objects.shapes import FOOT, Appearance, arc, bar, box, cylinder, hull, open_box, rod, shell, slab


def tray(c: Choices) -> Blueprint:
    """A serving tray with a low rim and two grips along x."""
    color, style = c.color(("wood", "black", "white", "red", "teal", "gray")), c.pick("style", ("plain", "handles"))
    size = (c.number("length", 0.26, 0.36), c.number("width", 0.18, 0.25), c.number("height", 0.022, 0.035))
    substance = "wood" if color == "wood" else "plastic"
    base, wall = (
        Appearance(color=rgb(color), substance=substance),
        Appearance(color=shade(rgb(color), 0.8), substance=substance),
    )
    floor, *rim = open_box(size, 0.008, floor=0.005, **base)
    parts = [floor, *(replace(p, color=wall.get("color", rgb(color))) for p in rim)]
    if style == "handles":
        for s in (-1.0, 1.0):
            x = s * size[0] / 2
            parts += [rod((x, y, size[2]), (x, y, size[2] + 0.022), 0.006, **wall) for y in (-0.045, 0.045)]
            parts.append(rod((x, -0.045, size[2] + 0.022), (x, 0.045, size[2] + 0.022), 0.006, **wall))
    return _open(("tray", "serving tray"), color, parts, size, 0.005)


def low_basket(c: Choices) -> Blueprint:
    """A round basket without a handle, low enough to put things into from above."""
    color = c.color(("beige", "brown", "wood", "white"))
    radius, height = c.number("radius", 0.095, 0.115), c.number("height", 0.055, 0.075)
    parts = _wicker(color, radius, height, 0.006, 0.020)
    return _open(("basket", "wicker basket"), color, parts, (2 * radius, 2 * radius, height), 0.006)


def _wicker(color: str, radius: float, height: float, wall: float, flare: float) -> list[Part]:
    """Return the wall and floor of a round basket that is wider by ``flare`` at the top [m]."""
    look, dark = Appearance(color=rgb(color), substance="wood", fill=0.6), shade(rgb(color), 0.72)
    outer = [(radius, 0.0), (radius + flare, height)]
    parts = shell(outer, [(r - wall, z) for r, z in outer], sides=18, foot=FOOT, **look)
    parts = [replace(p, color=dark) if i % 2 else p for i, p in enumerate(parts)]
    return [*parts, cylinder(radius - 0.001, wall, (0.0, 0.0, wall / 2), **look)]


def bin_box(c: Choices) -> Blueprint:
    """A plastic storage bin with a rim, straight or tapered."""
    color = c.color((*BRIGHT, "gray", "white"))
    size = (c.number("length", 0.22, 0.32), c.number("width", 0.16, 0.23), c.number("height", 0.10, 0.15))
    look, rim = (
        Appearance(color=rgb(color), substance="plastic", fill=0.6),
        Appearance(color=shade(rgb(color), 0.8), substance="plastic", fill=0.6),
    )
    x, y, z = size
    parts = open_box(size, 0.005, **look)
    parts += [box((x + 0.016, 0.009, 0.008), (0.0, s * (y / 2 + 0.0035), z - 0.006), **rim) for s in (-1.0, 1.0)]
    parts += [box((0.009, y + 0.016, 0.008), (s * (x / 2 + 0.0035), 0.0, z - 0.006), **rim) for s in (-1.0, 1.0)]
    return _open(("bin", "storage bin", "plastic bin", "container"), color, parts, size, 0.005)


def crate(c: Choices) -> Blueprint:
    """A wooden crate of slats around corner posts."""
    color = c.color(("wood", "beige", "brown", "white"))
    x, y, z = c.number("length", 0.24, 0.34), c.number("width", 0.18, 0.25), c.number("height", 0.11, 0.16)
    rows = c.integer("rows", 2, 3)
    look, post = (
        Appearance(color=rgb(color), substance="wood"),
        Appearance(color=shade(rgb(color), 0.8), substance="wood"),
    )
    thick, leg = 0.008, 0.016
    parts = [box((x, y, thick), (0.0, 0.0, thick / 2), **look)]
    for sx in (-1.0, 1.0):
        for sy in (-1.0, 1.0):
            at = (sx * (x - leg - 2 * thick) / 2, sy * (y - leg - 2 * thick) / 2, (z + thick) / 2)
            parts.append(box((leg, leg, z - thick), at, **post))
    pitch = (z - thick) / rows
    for k in range(rows):
        level = thick + (k + 0.58) * pitch
        slat = 0.78 * pitch
        parts += [box((x, thick, slat), (0.0, s * (y - thick) / 2, level), **look) for s in (-1.0, 1.0)]
        parts += [box((thick, y - 2 * thick, slat), (s * (x - thick) / 2, 0.0, level), **look) for s in (-1.0, 1.0)]
    return _open(("crate", "wooden crate", "box"), color, parts, (x, y, z), thick)


def basket(c: Choices) -> Blueprint:
    """A round basket, wider at the top, with a carrying handle."""
    color = c.color(("beige", "brown", "wood", "white"))
    radius, height = c.number("radius", 0.085, 0.115), c.number("height", 0.080, 0.110)
    wall, flare = 0.006, 0.020
    parts, dark = _wicker(color, radius, height, wall, flare), shade(rgb(color), 0.72)
    top = radius + flare - wall / 2
    parts += arc(
        (0.0, 0.0, height - 0.01),
        (0.9 * height, top),
        0.011,
        span_deg=(-90.0, 90.0),
        pieces=6,
        euler=(0.0, -90.0, 0.0),
        color=dark,
        substance="wood",
    )
    return _open(("basket", "wicker basket"), color, parts, (2 * radius, 2 * radius, height), wall)


def cardboard_tray(c: Choices) -> Blueprint:
    """An open cardboard box with its flaps folded out."""
    color = c.color(("beige", "brown", "wood"))
    size = (c.number("length", 0.20, 0.30), c.number("width", 0.15, 0.22), c.number("height", 0.08, 0.13))
    x, y, z = size
    look = Appearance(color=rgb(color), substance="cardboard", fill=0.6)
    parts = open_box(size, 0.005, **look)
    flap = 0.30 * y
    pale = Appearance(color=shade(rgb(color), 1.15), substance="cardboard", fill=0.6)
    for s in (-1.0, 1.0):
        tilt, reach = np.deg2rad(35.0), flap / 2
        away, drop = reach * float(np.cos(tilt)), reach * float(np.sin(tilt))
        parts.append(
            box(
                (x, flap, 0.004),
                (0.0, s * (y / 2 + away - 0.002), z - drop - 0.001),
                euler=(-s * 35.0, 0.0, 0.0),
                **pale,
            )
        )
        parts.append(
            box(
                (flap, y, 0.004),
                (s * (x / 2 + away - 0.002), 0.0, z - drop - 0.001),
                euler=(0.0, s * 35.0, 0.0),
                **pale,
            )
        )
    return _open(("open box", "cardboard box", "open carton"), color, parts, size, 0.005)


def shelf(c: Choices) -> Blueprint:
    """A small shelf: two sides, a back and two to four boards; open towards -y."""
    color, boards = c.color(("wood", "white", "black", "beige", "gray")), c.integer("boards", 2, 4)
    x, y = c.number("width", 0.36, 0.55), c.number("depth", 0.18, 0.25)
    pitch, thick = c.number("pitch", 0.16, 0.22), 0.014
    z = (boards - 1) * pitch + thick
    side, board = (
        Appearance(color=shade(rgb(color), 0.85), substance="wood"),
        Appearance(color=rgb(color), substance="wood"),
    )
    parts = [box((thick, y, z), (s * (x - thick) / 2, 0.0, z / 2), **side) for s in (-1.0, 1.0)]
    parts.append(box((x - 2 * thick, 0.006, z), (0.0, (y - 0.006) / 2, z / 2), **side))
    levels = [k * pitch + thick / 2 for k in range(boards)]
    parts += [box((x - 2 * thick, y - 0.006, thick), (0.0, -0.003, level), **board) for level in levels]
    places = {f"board_{k}": (0.0, 0.0, level + thick / 2) for k, level in enumerate(levels)}
    return Blueprint(
        words=("shelf", "rack", "bookshelf"),
        color=color,
        parts=tuple(parts),
        keypoints=upright_points(z, **places),
        axes=axes(up=(0.0, 0.0, 1.0), front=(0.0, -1.0, 0.0), opening=(0.0, -1.0, 0.0)),
        rests="upright",
    )


def cutting_board(c: Choices) -> Blueprint:
    """A chopping board with a grip towards +x and sometimes a juice groove."""
    color, style = (
        c.color(("wood", "white", "green", "brown", "beige", "light blue")),
        c.pick("style", ("plain", "groove")),
    )
    x, y, z = c.number("length", 0.24, 0.34), c.number("width", 0.16, 0.22), c.number("height", 0.012, 0.020)
    look = Appearance(color=rgb(color), substance="wood" if color in {"wood", "brown", "beige"} else "plastic")
    parts = [
        slab((x, y, z), 0.018, (0.0, 0.0, z / 2), **look),
        slab((0.075, 0.048, z), 0.016, (x / 2 + 0.025, 0.0, z / 2), **look),
        cylinder(
            0.012,
            0.001,
            (x / 2 + 0.038, 0.0, z),
            color=shade(rgb(color), 0.35),
            substance="wood",
            fill=0.0,
            solid=False,
        ),
    ]
    if style == "groove":
        dark = Appearance(color=shade(rgb(color), 0.62), substance="wood", fill=0.0, solid=False)
        parts += [box((x - 0.030, 0.004, 0.001), (0.0, s * (y / 2 - 0.015), z), **dark) for s in (-1.0, 1.0)]
        parts += [box((0.004, y - 0.030, 0.001), (s * (x / 2 - 0.015), 0.0, z), **dark) for s in (-1.0, 1.0)]
    return _surface(("cutting board", "chopping board", "board"), color, parts, z)


def place_mat(c: Choices) -> Blueprint:
    """A thin mat for a plate, with a border of another shade."""
    color = c.color(("gray", "navy", "green", "beige", "brown", "teal"))
    x, y, z = c.number("length", 0.32, 0.40), c.number("width", 0.26, 0.30), 0.003
    look = Appearance(color=rgb(color), substance="rubber", fill=0.5)
    border = Appearance(color=shade(rgb(color), 0.7), substance="rubber", fill=0.0, solid=False)
    parts = [slab((x, y, z), 0.020, (0.0, 0.0, z / 2), **look)]
    parts += [box((x - 0.050, 0.004, 0.0006), (0.0, s * (y / 2 - 0.016), z), **border) for s in (-1.0, 1.0)]
    parts += [box((0.004, y - 0.050, 0.0006), (s * (x / 2 - 0.016), 0.0, z), **border) for s in (-1.0, 1.0)]
    return _surface(("place mat", "table mat", "mat"), color, parts, z)


def pallet(c: Choices) -> Blueprint:
    """A wooden pallet: deck boards across three stringers along x, on boards that lie on the floor; a small one."""
    color = c.color(("wood", "beige", "brown"))
    x, y, z = c.number("length", 0.36, 0.44), c.number("width", 0.27, 0.33), c.number("height", 0.045, 0.060)
    count = c.integer("boards", 6, 8)
    deck, beam = (
        Appearance(color=rgb(color), substance="wood"),
        Appearance(color=shade(rgb(color), 0.8), substance="wood"),
    )
    thick, gap = 0.010, 0.012
    wide = (x - (count - 1) * gap) / count
    along = -x / 2 + wide / 2 + (wide + gap) * np.arange(count)
    parts = [box((wide, y, thick), (float(at), 0.0, z - thick / 2), **deck) for at in along]
    sides = [s * (y / 2 - 0.015) for s in (-1.0, 0.0, 1.0)]
    parts += [box((x, 0.030, z - 2 * thick), (0.0, side, z / 2), **beam) for side in sides]
    parts += [box((x, 0.045 if side else 0.030, thick), (0.0, side, thick / 2), **deck) for side in sides]
    return _surface(("pallet", "wooden pallet", "skid"), color, parts, z)


def conveyor(c: Choices) -> Blueprint:
    """A belt conveyor along x on legs. The belt's surface moves at ``speed`` [m/s], backwards below zero."""
    color, speed = c.color(("gray", "blue", "orange", "green")), c.number("speed", 0.03, 0.08, step=1e-3, signed=True)
    x, y, z = c.number("length", 0.9, 1.3), c.number("width", 0.22, 0.32), c.number("height", 0.10, 0.16)
    deck = 0.045
    frame, metal = (
        Appearance(color=rgb(color), substance="aluminium", fill=0.3),
        Appearance(color=rgb("silver"), substance="steel", fill=0.3),
    )
    belt = box((x, y, deck), (0.0, 0.0, z - deck / 2), color=(0.09, 0.09, 0.10), substance="rubber", fill=0.2)
    parts = [replace(belt, belt_velocity=(speed, 0.0, 0.0))]
    parts += [
        box((x + 0.02, 0.018, deck + 0.012), (0.0, s * (y / 2 + 0.009), z - deck / 2 + 0.002), **frame)
        for s in (-1.0, 1.0)
    ]
    for sx in (-1.0, 1.0):
        parts.append(
            bar((sx * x / 2, -y / 2, z - deck / 2), (sx * x / 2, y / 2, z - deck / 2), deck / 2 - 0.0005, **metal)
        )
        parts += [
            box((0.030, 0.016, z - deck), (sx * 0.40 * x, sy * (y / 2 + 0.009), (z - deck) / 2), **frame)
            for sy in (-1.0, 1.0)
        ]
    blueprint = _surface(("conveyor belt", "conveyor", "belt"), color, parts, z)
    return replace(blueprint, rests="upright", axes=axes(up=(0.0, 0.0, 1.0), belt=(1.0, 0.0, 0.0)))


def turntable(c: Choices) -> Blueprint:
    """A round belt on a foot. Its surface turns about z at ``speed`` [rad/s], clockwise below zero."""
    color, speed = c.color(("gray", "blue", "orange", "green")), c.number("speed", 0.2, 0.6, step=1e-3, signed=True)
    radius, z, deck = c.number("radius", 0.18, 0.25), c.number("height", 0.06, 0.10), 0.02
    frame = Appearance(color=rgb(color), substance="aluminium", fill=0.3)
    disc = cylinder(radius, deck, (0.0, 0.0, z - deck / 2), color=(0.09, 0.09, 0.10), substance="rubber", fill=0.3)
    parts = [replace(disc, belt_turn=speed), cylinder(0.5 * radius, z - deck, (0.0, 0.0, (z - deck) / 2), **frame)]
    return replace(_surface(("turntable", "rotary table", "turning belt"), color, parts, z), rests="upright")


def dish_rack(c: Choices) -> Blueprint:
    """A drying rack: a floor tray and rows of upright pegs between which plates stand."""
    color, gaps = c.color(("white", "silver", "black", "mint")), c.integer("gaps", 4, 6)
    y, z = c.number("width", 0.20, 0.25), c.number("height", 0.070, 0.095)
    pitch = c.number("pitch", 0.042, 0.050)
    x = gaps * pitch + 0.04
    look, wire = (
        Appearance(color=rgb(color), substance="plastic"),
        Appearance(color=shade(rgb(color), 0.75), substance="steel", fill=0.5),
    )
    parts = open_box((x, y, 0.024), 0.006, **look)
    slots = {}
    for k in range(gaps + 1):
        at = (k - gaps / 2) * pitch
        parts += [rod((at, s * 0.22 * y, 0.004), (at, s * 0.22 * y, z), 0.0028, **wire) for s in (-1.0, 1.0)]
        if k < gaps:
            slots[f"slot_{k}"] = (at + pitch / 2, 0.0, 0.006)
    return Blueprint(
        words=("dish rack", "drying rack", "plate rack"),
        color=color,
        parts=tuple(parts),
        keypoints=upright_points(z, **slots),
        axes=axes(up=(0.0, 0.0, 1.0), long=(1.0, 0.0, 0.0), opening=(0.0, 0.0, 1.0)),
        rests="upright",
    )


def mug_tree(c: Choices) -> Blueprint:
    """A wooden stand with slanted pegs to hang mugs on; a peg goes from ``peg_i_root`` to its tip ``peg_i``."""
    color, pegs = c.color(("wood", "black", "white", "brown")), c.integer("pegs", 3, 6)
    z, foot = c.number("height", 0.28, 0.36), c.number("foot", 0.075, 0.095)
    look = Appearance(color=rgb(color), substance="wood")
    parts = [
        cylinder(foot, 0.016, (0.0, 0.0, 0.008), **look),
        cylinder(0.011, z - 0.016, (0.0, 0.0, 0.016 + (z - 0.016) / 2), **look),
    ]
    tips = {}
    for k in range(pegs):
        a = 2.0 * np.pi * k / pegs
        out = np.array([np.cos(a), np.sin(a), 0.0])
        start = 0.008 * out + [0.0, 0.0, 0.58 * z + (k % 2) * 0.24 * z]
        end = start + 0.075 * out + [0.0, 0.0, 0.035]
        parts.append(rod(start, end, 0.0048, color=shade(rgb(color), 0.85), substance="wood", round=True))
        tips[f"peg_{k}"], tips[f"peg_{k}_root"] = tuple(end.tolist()), tuple(start.tolist())
    return Blueprint(
        words=("mug tree", "mug stand", "cup holder"),
        color=color,
        parts=tuple(parts),
        keypoints=upright_points(z, **tips),
        axes=axes(up=(0.0, 0.0, 1.0)),
        rests="upright",
    )


def egg_box(c: Choices) -> Blueprint:
    """An open egg carton with two rows of cups; ``slot_i`` is the middle of a cup."""
    color, columns = c.color(("gray", "beige", "pink", "mint")), c.integer("columns", 3, 5)
    pitch, z = 0.052, c.number("height", 0.036, 0.044)
    look, dark = (
        Appearance(color=rgb(color), substance="cardboard", fill=0.6),
        Appearance(color=shade(rgb(color), 0.8), substance="cardboard", fill=0.6),
    )
    x, y = columns * pitch + 0.006, 2 * pitch + 0.006
    parts = open_box((x, y, z), 0.004, **look)
    parts.append(box((x - 0.008, 0.005, 0.72 * z), (0.0, 0.0, 0.004 + 0.36 * z), **dark))
    for k in range(columns - 1):
        at = (k - (columns - 2) / 2) * pitch
        wedge = [
            (at + u, v, w)
            for w, half in ((0.004, 0.012), (0.74 * z, 0.003))
            for u in (-half, half)
            for v in (-(y / 2 - 0.004), y / 2 - 0.004)
        ]
        parts.append(hull(wedge, **dark))
    slots = {
        f"slot_{row * columns + k}": ((k - (columns - 1) / 2) * pitch, s * pitch / 2, 0.004)
        for row, s in enumerate((-1.0, 1.0))
        for k in range(columns)
    }
    return Blueprint(
        words=("egg box", "egg carton", "egg tray"),
        color=color,
        parts=tuple(parts),
        keypoints=points(
            bottom=(0.0, 0.0, 0.0), top=(0.0, 0.0, z), **slots, inside=(slots["slot_0"][0], slots["slot_0"][1], 0.02)
        ),
        axes=axes(up=(0.0, 0.0, 1.0), opening=(0.0, 0.0, 1.0), long=(1.0, 0.0, 0.0)),
        holds=0.028,
    )


def _open(
    words: tuple[str, ...], color: str, parts: list[Part], size: tuple[float, float, float], floor: float
) -> Blueprint:
    x, y, z = size
    return Blueprint(
        words=words,
        color=color,
        parts=tuple(parts),
        keypoints=upright_points(z, max(z / 2, floor + 0.011), rim=(x / 2, 0.0, z)),
        axes=axes(up=(0.0, 0.0, 1.0), opening=(0.0, 0.0, 1.0), long=(1.0, 0.0, 0.0)),
        holds=0.9 * min(x, y),
        rests="upright",
    )


def _surface(words: tuple[str, ...], color: str, parts: list[Part], height: float) -> Blueprint:
    return Blueprint(
        words=words,
        color=color,
        parts=tuple(parts),
        keypoints=upright_points(height, center=(0.0, 0.0, height / 2)),
        axes=axes(up=(0.0, 0.0, 1.0), long=(1.0, 0.0, 0.0)),
    )

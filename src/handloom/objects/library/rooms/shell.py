"""Items on walls, ceilings and floors: windows, images, clocks, lamps, rugs, doors of rooms."""

import math

from handloom.objects.blueprint import Blueprint
from handloom.objects.choices import Choices
from handloom.objects.library.rooms.finishes import FABRICS, FRONTS, METALS, SHEETS, finish, glow, surface
from handloom.objects.materials import rgb, shade
from handloom.objects.parts import Part, points, upright_points
from handloom.objects.shapes import Appearance, bar, box, cylinder, lathe, rod

DAY = ((0.63, 0.80, 0.96), (0.78, 0.88, 0.97), (0.90, 0.94, 0.97))
"""Sky from above to the horizon."""
GREEN = ((0.42, 0.55, 0.34), (0.33, 0.47, 0.27))
"""Trees and grass below it."""


def window(c: Choices) -> Blueprint:
    """A window with a cross bar and a sill: sky above, garden below; lower edge at the origin, flat against a wall."""
    x, z = c.number("width", 0.70, 1.20), c.number("height", 0.80, 1.05)
    frame, panes = c.pick("finish", ("white_lacquer", "oak", "charcoal_paint", "ivory_paint")), c.integer("panes", 1, 2)
    look, bar_width, deep = surface(frame, fill=0.3), 0.050, 0.040
    light = c.number("light", 0.85, 1.0)
    parts: list[Part] = [
        *(box((x, deep, bar_width), (0.0, 0.0, h), **look) for h in (bar_width / 2, z - bar_width / 2)),
        *(
            box((bar_width, deep, z - 2 * bar_width), (s * (x - bar_width) / 2, 0.0, z / 2), **look)
            for s in (-1.0, 1.0)
        ),
        box((x + 0.06, 0.060, 0.026), (0.0, -0.010, -0.013), **look),
    ]
    parts += [
        box((0.030, 0.8 * deep, z - 2 * bar_width), (u, 0.0, z / 2), **look) for u in ((0.0,) if panes == 2 else ())
    ]
    inner, tall = x - 2 * bar_width, z - 2 * bar_width
    bands = [*(shade(color, light) for color in DAY), *(shade(color, light) for color in GREEN)]
    shares = (0.34, 0.22, 0.12, 0.16, 0.16)
    top = z - bar_width
    for color, share in zip(bands, shares, strict=True):
        parts.append(box((inner, 0.004, share * tall), (0.0, deep / 2 - 0.004, top - share * tall / 2), **glow(color)))
        top -= share * tall
    return _hung(("window", "kitchen window"), None, parts, z)


def room_sheet(c: Choices) -> Blueprint:
    """A flat sheet: floor, wall, ceiling or backsplash; it lies level, with its origin in its middle."""
    x, y, z = c.number("width", 1.0, 4.0), c.number("length", 1.0, 3.0), c.number("thickness", 0.008, 0.012)
    stuff = c.pick("finish", tuple(SHEETS))
    look: Appearance = {**surface(stuff, fill=0.05), "edge": 0.0}
    return _hung(("surface", "sheet"), finish(stuff).word, [box((x, y, z), (0.0, 0.0, z / 2), **look)], z)


def picture_frame(c: Choices) -> Blueprint:
    """A framed image: blocks of colour on paper; lower edge at the origin."""
    x, z = c.number("width", 0.30, 0.60), c.number("height", 0.40, 0.70)
    frame = c.pick("finish", ("oak", "charcoal_paint", "white_lacquer", "walnut"))
    look, rim = surface(frame), 0.024
    paper = Appearance(color=(0.92, 0.91, 0.88), substance="paper", fill=0.0, solid=False)
    parts: list[Part] = [
        *(box((x, 0.022, rim), (0.0, 0.0, h), **look) for h in (rim / 2, z - rim / 2)),
        *(box((rim, 0.022, z - 2 * rim), (s * (x - rim) / 2, 0.0, z / 2), **look) for s in (-1.0, 1.0)),
        box((x - 2 * rim, 0.004, z - 2 * rim), (0.0, 0.004, z / 2), **paper),
    ]
    words = ("navy", "teal", "orange", "yellow", "pink", "green", "brown", "light blue")
    for k in range(3):
        color = c.color(words, f"block_{k}")
        art = Appearance(color=shade(rgb(color), 1.2), substance="paper", fill=0.0, solid=False)
        u, w = (0.10 * k - 0.10) * x, z * (0.36 + 0.14 * k)
        parts.append(box((x * (0.52 - 0.10 * k), 0.002, 0.20 * z), (u, 0.001 - 0.0005 * k, w), **art))
    return _hung(("picture", "framed picture"), None, parts, z)


def wall_clock(c: Choices) -> Blueprint:
    """A round clock."""
    radius, rim = c.number("radius", 0.12, 0.17), c.pick("finish", tuple(METALS))
    hour, minute = c.number("hour", 0.0, 12.0), c.number("minute", 0.0, 60.0)
    face = Appearance(color=(0.93, 0.93, 0.91), substance="paper", fill=0.0, solid=False)
    dark = Appearance(color=rgb("black"), substance="plastic", fill=0.0, solid=False)
    flat = (90.0, 0.0, 0.0)
    parts: list[Part] = [
        cylinder(radius, 0.030, (0.0, 0.0, radius), euler=flat, **surface(rim, fill=0.15)),
        cylinder(0.92 * radius, 0.002, (0.0, -0.015, radius), euler=flat, **face),
    ]
    for share, length, wide in ((hour / 12, 0.5, 0.010), (minute / 60, 0.75, 0.006)):
        turn = 2.0 * math.pi * share
        tip = (math.sin(turn) * length * radius, -0.017, radius + math.cos(turn) * length * radius)
        parts.append(bar((0.0, -0.017, radius), tip, wide / 2, **dark))
    for k in range(12):
        turn = math.pi / 6 * k
        at = (0.82 * radius * math.sin(turn), -0.016, radius + 0.82 * radius * math.cos(turn))
        parts.append(cylinder(0.006, 0.001, at, euler=flat, **dark))
    return _hung(("clock", "wall clock"), None, parts, 2 * radius)


def pendant_lamp(c: Choices) -> Blueprint:
    """A lamp that hangs from the ceiling on a cord; the upper end of the cord is ``ceiling``."""
    radius, cord = c.number("radius", 0.12, 0.19), c.number("cord", 0.50, 0.75)
    stuff = c.pick("finish", (*METALS, "white_enamel", "sage_paint", "oak"))
    height = 0.9 * radius
    profile = [(radius, 0.0), (0.96 * radius, 0.18 * radius), (0.30 * radius, height)]
    parts: list[Part] = [
        lathe(profile, sides=18, **surface(stuff, fill=0.04)),
        cylinder(0.86 * radius, 0.002, (0.0, 0.0, -0.001), **glow((1.0, 0.95, 0.82))),
        bar((0.0, 0.0, height), (0.0, 0.0, height + cord), 0.004, color=rgb("black"), substance="rubber"),
        cylinder(0.05, 0.02, (0.0, 0.0, height + cord - 0.01), **surface(stuff, fill=0.3)),
    ]
    return Blueprint(
        words=("lamp", "pendant lamp"),
        color=finish(stuff).word,
        parts=tuple(parts),
        keypoints=points(bottom=(0.0, 0.0, 0.0), ceiling=(0.0, 0.0, height + cord)),
        rests="upright",
    )


def floor_lamp(c: Choices) -> Blueprint:
    """A lamp on a stand, with a shade."""
    z, radius, stuff = c.number("height", 1.45, 1.65), c.number("radius", 0.16, 0.22), c.pick("finish", tuple(METALS))
    paper: Appearance = {**glow((0.98, 0.93, 0.80)), "substance": "paper", "fill": 0.02, "solid": True}
    metal = surface(stuff, fill=0.35)
    parts: list[Part] = [
        cylinder(0.15, 0.024, (0.0, 0.0, 0.012), **metal),
        cylinder(0.012, z - 0.20, (0.0, 0.0, (z - 0.20) / 2), **metal),
        lathe([(radius, z - 0.26), (0.72 * radius, z)], sides=18, **paper),
    ]
    return _hung(("floor lamp", "standing lamp"), finish(stuff).word, parts, z)


def rug(c: Choices) -> Blueprint:
    """A flat rug with a border."""
    x, y, stuff = c.number("width", 1.4, 2.2), c.number("length", 1.0, 1.6), c.pick("finish", tuple(FABRICS))
    second = c.pick("border_finish", tuple(FABRICS))
    look, edge = surface(stuff, fill=1.0), surface(second, solid=False)
    parts: list[Part] = [box((x, y, 0.008), (0.0, 0.0, 0.004), **look)]
    parts += [box((x - 0.16, 0.04, 0.0006), (0.0, s * (y / 2 - 0.10), 0.008), **edge) for s in (-1.0, 1.0)]
    parts += [box((0.04, y - 0.16, 0.0006), (s * (x / 2 - 0.10), 0.0, 0.008), **edge) for s in (-1.0, 1.0)]
    return _hung(("rug", "carpet"), finish(stuff).word, parts, 0.008)


def room_door(c: Choices) -> Blueprint:
    """The closed door of a room in its frame, flat against a wall."""
    x, z, stuff = c.number("width", 0.84, 0.92), c.number("height", 2.00, 2.08), c.pick("finish", tuple(FRONTS))
    metal = c.pick("handle_finish", tuple(METALS))
    look, edge = surface(stuff, fill=0.25), surface(stuff, solid=False)
    parts: list[Part] = [
        box((x, 0.030, z), (0.0, 0.0, z / 2), **look),
        *(box((0.07, 0.044, z + 0.07), (s * (x + 0.07) / 2, 0.0, (z + 0.07) / 2), **look) for s in (-1.0, 1.0)),
        box((x, 0.044, 0.07), (0.0, 0.0, z + 0.035), **look),
        *(box((0.68 * x, 0.006, 0.34 * z), (0.0, -0.016, w * z), **edge) for w in (0.26, 0.72)),
        cylinder(0.024, 0.010, (0.40 * x, -0.018, 0.48 * z), euler=(90.0, 0.0, 0.0), **surface(metal)),
        rod((0.40 * x, -0.055, 0.48 * z), (0.27 * x, -0.055, 0.48 * z), 0.010, **surface(metal)),
        bar((0.40 * x, -0.018, 0.48 * z), (0.40 * x, -0.055, 0.48 * z), 0.009, **surface(metal)),
    ]
    return _hung(("door", "door of the room"), finish(stuff).word, parts, z)


def robot_stand(c: Choices) -> Blueprint:
    """A pedestal for an arm: a foot, a column and a plate on which the arm is screwed."""
    z, side = c.number("height", 0.40, 0.95), c.number("side", 0.20, 0.24)
    color = c.color(("gray", "white", "black"))
    look = Appearance(color=rgb(color), substance="aluminium", fill=0.12)
    dark = Appearance(color=shade(rgb("black"), 1.1), substance="steel", fill=0.2)
    parts: list[Part] = [
        box((side + 0.18, side + 0.18, 0.020), (0.0, 0.0, 0.010), **dark),
        box((0.72 * side, 0.72 * side, z - 0.035), (0.0, 0.0, 0.020 + (z - 0.035) / 2), **look),
        box((side, side, 0.015), (0.0, 0.0, z - 0.0075), **dark),
    ]
    return _hung(("robot stand", "pedestal"), color, parts, z)


def _hung(words: tuple[str, ...], color: str | None, parts: list[Part], height: float) -> Blueprint:
    return Blueprint(
        words=words,
        color=color,
        parts=tuple(parts),
        keypoints=upright_points(height),
        rests="upright",
    )

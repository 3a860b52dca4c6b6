"""Fridge, cabinet with a sliding panel, toolbox, valve. Fronts face -y; joints are at zero when closed."""

import math
from dataclasses import replace

import numpy as np

from handloom.objects.blueprint import Blueprint, upright
from handloom.objects.choices import Choices
from handloom.objects.joint_dynamics import joint_dynamics
from handloom.objects.library.appliances import decor
from handloom.objects.library.furniture import HANDLES, carcass, door, handle
from handloom.objects.materials import HOUSING, rgb, shade
from handloom.objects.parts import Link, Part, Point, point, points, quad, upright_points
from handloom.objects.shapes import Appearance, arc, bar, box, cylinder, hull, open_box, rod, slab, turned
from handloom.spatial import quat_multiply, quat_rotate

_GAP = 0.002
"""Play between moving and fixed parts [m]."""


def fridge(c: Choices) -> Blueprint:
    """A small fridge: a tall door below, a freezer's door above, boards inside; magnets hold the doors shut."""
    color, hinge = c.color((*HOUSING, "red", "mint", "light blue")), c.pick("hinge", ("left", "right"))
    x, y, z = c.number("width", 0.34, 0.42), c.number("depth", 0.30, 0.36), c.number("height", 0.50, 0.60)
    share = c.number("freezer", 0.26, 0.34)
    feel, grip = joint_dynamics(c, "fridge door"), c.pick("handle", ("bar", "bow", "slat"))
    wall, foot, thick, front = 0.024, 0.018, 0.030, -y / 2
    split = foot + (1.0 - share) * (z - foot)
    shell = Appearance(color=rgb(color), substance="steel", fill=0.12)
    white, dark = (0.93, 0.94, 0.95), (0.16, 0.16, 0.17)
    shiny = rgb("silver" if color != "silver" else "black")
    metal = Appearance(color=shiny, substance="steel", fill=0.4)
    parts = [p.moved((0.0, 0.0, foot)) for p in carcass((x, y, z - foot), wall, shell)]
    inner = x - 2 * wall
    parts += [
        box((inner, y - wall, wall), (0.0, -wall / 2, split), color=white, substance="plastic", fill=0.3),
        box((inner, y - 0.09, 0.006), (0.0, 0.02, foot + 0.52 * (split - foot)), color=white, substance="glass"),
        # The lining behind the boards is white, whatever the outside.
        box((inner, 0.002, z - foot - 2 * wall), (0.0, y / 2 - wall, (z + foot) / 2), **decor(white)),
    ]
    parts += [
        cylinder(0.016, foot, (sx * (x / 2 - 0.035), sy * (y / 2 - 0.035), foot / 2), color=dark, substance="rubber")
        for sx in (-1.0, 1.0)
        for sy in (-1.0, 1.0)
    ]
    links: list[Link] = []
    for name, low, high in (("door", foot, split), ("freezer_door", split, z)):
        tall = high - low - 0.004
        look = Appearance(color=rgb(color), substance="steel", fill=0.12, body=name)
        at = (front - _GAP, (low + high) / 2)
        link, leaf = door(name, hinge, (x, thick, tall), at, look, metal, feel, grip=grip)
        middle = -0.5 * x if hinge == "right" else 0.5 * x
        gasket = (middle, 0.001, 0.0)
        parts += [*leaf, box((x - 0.04, 0.003, tall - 0.03), gasket, **decor(white, name))]
        links.append(link)
    badge = (-0.5 * x if hinge == "right" else 0.5 * x, -thick, 0.30 * (z - split))
    parts.append(box((0.20 * x, 0.002, 0.014), badge, **decor(shiny, "freezer_door")))
    return upright(
        ("fridge", "refrigerator", "icebox"), color, parts, links, upright_points(z, foot + wall + 0.04), 0.12
    )


def sliding_cabinet(c: Choices) -> Blueprint:
    """A low cabinet whose left half is closed by a panel that slides to the right, in front of the fixed one."""
    color = c.color(("wood", "white", "brown", "black", "beige"))
    front = rgb(c.color(("wood", "white", "teal", "light blue", "gray"), "front_color"))
    metal = Appearance(color=rgb(c.color(("silver", "black", "copper"), "handle_color")), substance="steel", fill=0.5)
    x, y, z = c.number("width", 0.44, 0.54), c.number("depth", 0.22, 0.28), c.number("height", 0.24, 0.32)
    feel, grip = joint_dynamics(c, "sliding door"), c.pick("handle", HANDLES)
    wall, thick, look = 0.014, 0.010, Appearance(color=rgb(color), substance="wood")
    half, tall = x / 2 - wall, z - 2 * wall - 0.004
    still = -y / 2 + 0.5 * thick + 0.012
    parts = carcass((x, y, z), wall, look)
    parts += [
        box((half, thick, tall), (half / 2, still, z / 2), color=shade(front, 0.9), substance="wood"),
        box((half, y - 0.06, 0.008), (-half / 2, 0.016, z / 2), **look),
        *(
            box((x - 2 * wall, 0.030, 0.003), (0.0, -y / 2 + 0.015, h), **decor(rgb("silver")))
            for h in (wall, z - wall)
        ),
    ]
    # The link's origin is the middle of the panel's face.
    name, wide = "panel", half + 0.011
    origin = (-half / 2 + 0.0065, -y / 2 - 0.001, z / 2)
    edge = -wide / 2 + 0.035
    parts += [
        box((wide, thick, tall), (0.0, thick / 2, 0.0), color=front, substance="wood", body=name),
        *handle((edge, 0.001, 0.0), 0.40 * tall, 0.030, {**metal, "body": name}, upright=True, kind=grip),
    ]
    link = Link(
        name=name,
        kind="slide",
        origin=origin,
        axis=(1.0, 0.0, 0.0),
        range=(0.0, half - 0.020),
        head=(edge, -0.029, 0.0),
        tail=(edge, -0.029, 0.17 * tall),
        contact_axis=(0.0, 0.0, -1.0),
        normal=(0.0, -1.0, 0.0),
        **feel,
    )
    return upright(
        ("cabinet", "sideboard", "cabinet with a sliding door"),
        color,
        parts,
        [link],
        points(bottom=(0.0, 0.0, 0.0), top=(0.0, 0.0, z), inside=(-half / 2, 0.0, wall + 0.04)),
        0.08,
    )


def tool_chest(c: Choices) -> Blueprint:
    """A toolbox: a chest with a roof-shaped lid that carries a bar handle; clips hold the lid shut."""
    color = c.color(("red", "blue", "orange", "green", "black", "yellow"))
    second = rgb(c.color(("black", "gray", "yellow", "silver"), "second_color", unlike=color))
    x, y, z = c.number("length", 0.28, 0.36), c.number("width", 0.15, 0.19), c.number("height", 0.10, 0.13)
    style, grip = c.pick("style", ("plastic", "steel")), c.pick("handle", ("bar", "bow", "slat"))
    feel = joint_dynamics(c, "clipped lid")
    look = Appearance(color=rgb(color), substance=style, fill=1.0 if style == "plastic" else 0.25)
    top = Appearance(color=second, substance=style, fill=0.5 if style == "plastic" else 0.12, body="lid")
    metal = Appearance(color=rgb("silver"), substance="steel", fill=0.4, body="lid")
    roof = c.number("roof", 0.020, 0.028)
    parts = open_box((x, y, z), 0.006, **look)
    corners = [
        (sx * (x / 2 + 0.004 - rise * 0.012), -y / 2 + sy * (0.5 - 0.24 * rise) * (y + 0.008), rise * roof)
        for sx in (-1.0, 1.0)
        for sy in (-1.0, 1.0)
        for rise in (0.0, 1.0)
    ]
    parts.append(hull(corners, **top))
    at: Point = (0.0, -0.62 * y, roof - 0.001)
    # A handle as on a front, laid flat: its front side is now its top.
    parts += [
        _facing_up(part, at) for part in handle((0.0, 0.0, 0.0), 0.36 * x, 0.032, metal, upright=False, kind=grip)
    ]
    for s in (-1.0, 1.0):
        parts += [
            box((0.030, 0.006, 0.034), (s * 0.30 * x, -y / 2 - 0.002, z - 0.022), **decor(rgb("silver"))),
            box((0.026, 0.008, 0.012), (s * 0.30 * x, -y - 0.005, 0.004), **decor(rgb("silver"), "lid")),
        ]
    link = Link(
        name="lid",
        kind="hinge",
        origin=(0.0, y / 2, z + 0.0015),
        axis=(-1.0, 0.0, 0.0),
        range=(0.0, 1.85),
        head=(0.0, -0.62 * y, roof + 0.031),
        tail=(0.0, -0.90 * y, roof + 0.031),
        contact_axis=(-1.0, 0.0, 0.0),
        normal=(0.0, 0.0, 1.0),
        push=(0.38 * x, -0.68 * y, roof),
        counterbalance=0.85,
        **feel,
    )
    return upright(("toolbox", "tool chest", "box of tools"), color, parts, [link], upright_points(z, 0.5 * z), 0.8 * y)


def valve(c: Choices) -> Blueprint:
    """A valve in a pipe on two feet: a hand wheel or a lever on a stem that turns about z."""
    color, style = c.color(("red", "blue", "yellow", "green")), c.pick("style", ("wheel", "lever"))
    length, radius = c.number("length", 0.24, 0.32), c.number("radius", 0.020, 0.026)
    z, spoke = c.number("height", 0.12, 0.16), c.number("wheel", 0.050, 0.062)
    feel = joint_dynamics(c, "valve")
    pipe = Appearance(color=rgb(c.color(("silver", "gray", "copper"), "pipe_color")), substance="steel", fill=0.25)
    turn = Appearance(color=rgb(color), substance="steel", fill=0.5, body="handle")
    axis = 0.062
    parts: list[Part] = [
        bar((-length / 2, 0.0, axis), (length / 2, 0.0, axis), radius, **pipe),
        box((3.2 * radius, 2.6 * radius, 2.8 * radius), (0.0, 0.0, axis), **pipe),
        cylinder(0.012, z - axis, (0.0, 0.0, (z + axis) / 2), **pipe),
        cylinder(0.019, 0.014, (0.0, 0.0, axis + 1.4 * radius + 0.007), **pipe),
    ]
    for s in (-1.0, 1.0):
        end = s * length / 2
        parts += [
            bar((end - s * 0.012, 0.0, axis), (end, 0.0, axis), 1.6 * radius, **pipe),
            box((0.026, 0.052, axis - radius), (s * 0.34 * length, 0.0, (axis - radius) / 2 + 0.003), **pipe),
            slab((0.052, 0.090, 0.008), 0.012, (s * 0.34 * length, 0.0, 0.004), **pipe),
        ]
    hub = cylinder(0.0135, 0.018, (0.0, 0.0, 0.010), **turn)
    if style == "wheel":
        # The middle of the first of its pieces is gripped, so that one lies on the x axis.
        corner, turned_by = spoke / math.cos(math.pi / 16), (-11.25, 348.75)
        rim = arc((0, 0, 0.012), (corner, corner), 0.013, span_deg=turned_by, pieces=16, euler=(0, 0, 0), **turn)
        spokes = [
            rod((0.0, 0.0, 0.012), (spoke * math.cos(a), spoke * math.sin(a), 0.012), 0.005, **turn)
            for a in (math.pi / 2 * k + math.pi / 4 for k in range(4))
        ]
        moving, head, along, reach = [hub, *rim, *spokes], (spoke, 0.0, 0.012), (0.0, 1.0, 0.0), 3.0
    else:
        lever = box((1.9 * spoke, 0.016, 0.008), (0.95 * spoke, 0.0, 0.012), **turn)
        cap = slab((1.1 * spoke, 0.020, 0.013), 0.009, (1.45 * spoke, 0.0, 0.012), **turn)
        moving, head, along, reach = [hub, lever, cap], (1.5 * spoke, 0.0, 0.012), (1.0, 0.0, 0.0), math.pi / 2
    link = Link(
        name="handle",
        kind="hinge",
        origin=(0.0, 0.0, z),
        axis=(0.0, 0.0, 1.0),
        range=(0.0, reach),
        head=head,
        tail=(0.0, 0.0, head[2]),
        contact_axis=along,
        normal=(0.0, 0.0, 1.0),
        **feel,
    )
    return Blueprint(
        words=("valve", "shut-off valve"),
        color=color,
        parts=(*parts, *moving),
        links=(link,),
        keypoints=upright_points(z),
        rests="upright",
    )


def _facing_up(part: Part, at: Point) -> Part:
    """Return a part of a front (-y) turned to face up and shifted to a point [m]."""
    up = turned((-90.0, 0.0, 0.0))
    return replace(
        part, position=point(np.add(quat_rotate(up, part.position), at)), quat=quad(quat_multiply(up, part.quat))
    )

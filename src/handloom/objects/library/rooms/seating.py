"""Furniture of dining rooms, living rooms, studies and workshops."""

from handloom.objects.blueprint import Blueprint, upright
from handloom.objects.choices import Choices
from handloom.objects.joint_dynamics import Feel, joint_dynamics
from handloom.objects.library.furniture import carcass, standing
from handloom.objects.library.rooms.finishes import FABRICS, FRONTS, METALS, WORKTOPS, finish, pane, surface
from handloom.objects.library.rooms.fronts import GAP, JOINT, drawer, front_style, leaf
from handloom.objects.parts import Keypoint, Part, axes, points, upright_points
from handloom.objects.shapes import bar, box, cylinder, slab

TABLETOPS = (*WORKTOPS, "oak", "birch", "walnut", "white_lacquer")
WALL = 0.018


def room_table(c: Choices) -> Blueprint:
    """A table on four legs; dining tables, low tables and benches are of this kind."""
    x, y, z = c.number("width", 1.2, 1.8), c.number("depth", 0.75, 0.95), c.number("height", 0.72, 0.76)
    top, legs = c.pick("finish", TABLETOPS), c.pick("leg_finish", (*METALS, *FRONTS))
    thick, leg = c.number("thickness", 0.026, 0.036), c.number("leg", 0.045, 0.065)
    look, post = surface(top, fill=_share(top)), surface(legs, fill=0.15 if legs in METALS else 0.8)
    inset, tall = leg / 2 + 0.03, z - thick
    parts: list[Part] = [box((x, y, thick), (0.0, 0.0, z - thick / 2), **look)]
    for sx in (-1.0, 1.0):
        for sy in (-1.0, 1.0):
            parts.append(box((leg, leg, tall), (sx * (x / 2 - inset), sy * (y / 2 - inset), tall / 2), **post))
    rail = min(0.07, 0.2 * tall)
    for s in (-1.0, 1.0):
        at = z - thick - rail / 2
        parts.append(box((x - 2 * inset - leg, 0.02, rail), (0.0, s * (y / 2 - inset), at), **post))
        parts.append(box((0.02, y - 2 * inset - leg, rail), (s * (x / 2 - inset), 0.0, at), **post))
    return standing(("table", "dining table"), finish(top).word, parts, z)


def chair(c: Choices) -> Blueprint:
    """A chair or, without a back, a stool; it faces -y."""
    x, y, seat = c.number("width", 0.40, 0.46), c.number("depth", 0.40, 0.46), c.number("seat", 0.44, 0.47)
    back, frame = c.number("back", 0.40, 0.48), c.pick("frame_finish", ("oak", "walnut", "birch", "black_metal"))
    stuff = c.pick("finish", (*FABRICS, "oak", "walnut", "white_lacquer"))
    rest = c.pick("rest", ("yes", "no"))
    wood = surface(frame, fill=0.8 if frame not in METALS else 0.15)
    cushion = surface(stuff, fill=0.6 if stuff not in FABRICS else 1.0)
    parts: list[Part] = [slab((x, y, 0.045), 0.05, (0.0, 0.0, seat - 0.0225), arc=3, **cushion)]
    for sx in (-1.0, 1.0):
        for sy in (-1.0, 1.0):
            foot = (sx * (x / 2 - 0.025), sy * (y / 2 - 0.025), 0.0015)
            head = (sx * (x / 2 - 0.050), sy * (y / 2 - 0.050), seat - 0.045)
            parts.append(bar(foot, head, 0.016, **wood))
    z = seat
    if rest == "yes":
        z = seat + back
        parts += [
            bar((s * (x / 2 - 0.035), y / 2 - 0.03, seat - 0.03), (s * (x / 2 - 0.045), y / 2 + 0.03, z), 0.014, **wood)
            for s in (-1.0, 1.0)
        ]
        parts.append(box((x - 0.06, 0.024, 0.20), (0.0, y / 2 + 0.018, z - 0.12), euler=(-8.0, 0.0, 0.0), **cushion))
    else:
        rung = 0.42 * seat
        parts += [box((x - 0.09, 0.016, 0.022), (0.0, s * (y / 2 - 0.037), rung), **wood) for s in (-1.0, 1.0)]
    return standing(("chair", "seat") if rest == "yes" else ("stool", "bar stool"), finish(stuff).word, parts, z)


def sofa(c: Choices) -> Blueprint:
    """A sofa or an armchair: seat cushions, back cushions, arm rests; it faces -y."""
    x, y, seat = c.number("width", 1.6, 2.1), c.number("depth", 0.82, 0.92), c.number("seat", 0.40, 0.44)
    z, stuff = c.number("height", 0.76, 0.84), c.pick("finish", tuple(FABRICS))
    arm, cushions = c.number("arm", 0.14, 0.20), c.integer("cushions", 1, 3)
    look = surface(stuff, fill=0.5 if stuff != "leather" else 0.03)
    wood = surface("walnut")
    inner = x - 2 * arm
    parts: list[Part] = [
        box((x, y, 0.20), (0.0, 0.0, 0.10 + 0.10), **look),
        box((x, 0.22, z - 0.30), (0.0, y / 2 - 0.11, 0.30 + (z - 0.30) / 2), **look),
        *(box((arm, y - 0.02, 0.32), (s * (x - arm) / 2, 0.0, 0.30 + 0.14), **look) for s in (-1.0, 1.0)),
    ]
    step = inner / cushions
    for k in range(cushions):
        at = -inner / 2 + (k + 0.5) * step
        parts.append(slab((step - 0.008, y - 0.24, seat - 0.30), 0.03, (at, -0.11, (seat + 0.30) / 2), **look))
        parts.append(box((step - 0.02, 0.12, z - seat - 0.06), (at, y / 2 - 0.27, (seat + z) / 2), **look))
    parts += [
        cylinder(0.022, 0.10, (sx * (x / 2 - 0.08), sy * (y / 2 - 0.08), 0.05), **wood)
        for sx in (-1.0, 1.0)
        for sy in (-1.0, 1.0)
    ]
    return standing(("sofa", "couch") if x > 1.2 else ("armchair", "easy chair"), finish(stuff).word, parts, z)


def bookcase(c: Choices) -> Blueprint:
    """A tall open bookcase; its boards are ``board_0`` (the lowest) and so on."""
    x, y, z = c.number("width", 0.70, 0.95), c.number("depth", 0.28, 0.34), c.number("height", 1.50, 1.90)
    boards, stuff = c.integer("boards", 3, 5), c.pick("finish", tuple(FRONTS))
    look = surface(stuff, fill=0.45)
    parts = carcass((x, y, z), WALL, look, back=0.008)
    pitch = (z - WALL) / (boards + 1)
    places = {"board_0": (0.0, 0.0, WALL)}
    for k in range(1, boards + 1):
        parts.append(box((x - 2 * WALL, y - 0.012, WALL), (0.0, -0.004, k * pitch + WALL / 2), **look))
        places[f"board_{k}"] = (0.0, 0.0, k * pitch + WALL)
    return Blueprint(
        words=("bookcase", "shelf", "bookshelf"),
        color=finish(stuff).word,
        parts=tuple(parts),
        keypoints=upright_points(z, **places),
        axes=axes(up=(0.0, 0.0, 1.0), front=(0.0, -1.0, 0.0), opening=(0.0, -1.0, 0.0)),
        rests="upright",
    )


def desk(c: Choices) -> Blueprint:
    """A desk or workbench with a pedestal of drawers at its right end; ``drawer_1`` is the top one."""
    x, y, z = c.number("width", 1.2, 1.6), c.number("depth", 0.60, 0.70), c.number("height", 0.72, 0.76)
    top, legs = c.pick("finish", TABLETOPS), c.pick("leg_finish", tuple(METALS))
    style, feel, count = front_style(c), joint_dynamics(c, "roller drawer"), c.integer("drawers", 2, 3)
    thick, wide = c.number("thickness", 0.026, 0.050), 0.42
    deep, tall = y - 0.06, z - thick - 0.10
    look, metal = surface(top, fill=_share(top)), surface(legs, fill=0.12)
    middle = x / 2 - wide / 2 - 0.02
    parts: list[Part] = [box((x, y, thick), (0.0, 0.0, z - thick / 2), **look)]
    box_parts = carcass((wide, deep, tall), 0.016, surface(style.finish, fill=0.6), back=0.008)
    parts += [p.moved((middle, 0.01, z - thick - tall)) for p in box_parts]
    post = z - thick - tall
    parts += [
        box((0.05, deep - 0.06, post), (middle + s * (wide / 2 - 0.04), 0.01, post / 2), **metal) for s in (-1.0, 1.0)
    ]
    for sy in (-1.0, 1.0):
        parts.append(box((0.05, 0.05, z - thick), (-x / 2 + 0.05, sy * (y / 2 - 0.05), (z - thick) / 2), **metal))
    parts.append(box((0.04, y - 0.15, 0.05), (-x / 2 + 0.05, 0.0, z - thick - 0.025), **metal))
    links = []
    pitch = tall / count
    keypoints = upright_points(z)
    for k in range(count):
        name, height = f"drawer_{k + 1}", z - thick - (k + 0.5) * pitch
        depth = deep - 0.05
        size, at = (wide - JOINT, pitch - JOINT, depth), (middle, 0.01 - deep / 2 - GAP, height)
        inner = (wide - 2 * 0.016 - 0.024, min(pitch - 0.045, 0.16))
        link, pieces = drawer(name, size, at, 0.72 * depth, style, feel, inner=inner)
        links.append(link)
        parts += pieces
        if k == 0:
            keypoints["inside"] = Keypoint(body=name, position=(0.0, depth / 2, -pitch / 2 + 0.05))
    return upright(("desk", "writing desk", "bench"), finish(top).word, parts, links, keypoints, 0.05)


def sideboard(c: Choices) -> Blueprint:
    """A low cabinet with two doors, ``door`` and ``door_2``, and a column of drawers between them."""
    x, y, z = c.number("width", 1.3, 1.7), c.number("depth", 0.38, 0.45), c.number("height", 0.50, 0.80)
    style, feel, foot = front_style(c), joint_dynamics(c, "door"), c.number("foot", 0.10, 0.16)
    look = surface(style.finish, fill=0.4)
    tall, third = z - foot, x / 3
    parts = [p.moved((0.0, 0.0, foot)) for p in carcass((x, y, tall), WALL, look, back=0.008)]
    parts += [
        box((WALL, y - 0.03, tall - 2 * WALL), (s * third / 2, 0.01, foot + tall / 2), **look) for s in (-1.0, 1.0)
    ]
    parts += [box((third - WALL, y - 0.06, 0.014), (s * third, 0.02, foot + tall / 2), **look) for s in (-1.0, 1.0)]
    parts += [
        cylinder(0.020, foot, (sx * (x / 2 - 0.07), sy * (y / 2 - 0.07), foot / 2), **surface("black_metal", fill=0.3))
        for sx in (-1.0, 1.0)
        for sy in (-1.0, 1.0)
    ]
    links = []
    for name, hinge, s in (("door", "left", -1.0), ("door_2", "right", 1.0)):
        at = (s * third, -y / 2 - GAP, foot + tall / 2)
        link, pieces = leaf(name, hinge, (third - JOINT, tall - JOINT), at, style, feel, grip_at=0.5)
        links.append(link)
        parts += pieces
    slide, count = Feel(frictionloss=1.0, damping=4.0, latch=1.5, stop=0.02), 2  # On rollers, as drawers of kitchens.
    pitch = tall / count
    for k in range(count):
        name, deep = f"drawer_{k + 1}", y - 0.05
        at = (0.0, -y / 2 - GAP, foot + tall - (k + 0.5) * pitch)
        size, inner = (third - JOINT, pitch - JOINT, deep), (third - WALL - 0.028, min(pitch - 0.05, 0.16))
        link, pieces = drawer(name, size, at, 0.7 * deep, style, slide, inner=inner)
        links.append(link)
        parts += pieces
    return upright(
        ("sideboard", "buffet", "low cabinet"),
        finish(style.finish).word,
        parts,
        links,
        points(bottom=(0.0, 0.0, 0.0), top=(0.0, 0.0, z), inside=(-third, 0.0, foot + 0.08)),
        0.08,
    )


def television(c: Choices) -> Blueprint:
    """A flat screen on a foot; it faces -y."""
    x, z = c.number("width", 0.95, 1.30), c.number("height", 0.58, 0.76)
    frame = c.pick("finish", ("black_enamel", "stainless_steel"))
    look = surface(frame, fill=0.05)
    parts: list[Part] = [
        box((0.34, 0.20, 0.015), (0.0, 0.0, 0.0075), **look),
        box((0.06, 0.04, 0.08), (0.0, 0.02, 0.05), **look),
        box((x, 0.035, z), (0.0, 0.0, 0.08 + z / 2), **look),
        box((x - 0.03, 0.002, z - 0.04), (0.0, -0.018, 0.085 + z / 2), **pane()),
    ]
    return standing(("television", "screen"), None, parts, 0.08 + z)


def pegboard(c: Choices) -> Blueprint:
    """A board with tools on hooks, flat against a wall; lower edge at the origin."""
    x, z, stuff = c.number("width", 0.9, 1.3), c.number("height", 0.55, 0.70), c.pick("finish", tuple(FRONTS))
    steel, red = surface("brushed_steel", fill=0.5), surface("red_enamel", fill=0.3)
    parts: list[Part] = [box((x, 0.018, z), (0.0, 0.0, z / 2), **surface(stuff, fill=0.8))]
    for k in range(6):
        u = (k - 2.5) * 0.15 * x
        top = 0.86 * z
        parts.append(bar((u, 0.0, top), (u, -0.05, top), 0.004, **steel))
        length = (0.24, 0.20, 0.28, 0.18, 0.22, 0.26)[k] * z / 0.6
        parts.append(box((0.020, 0.012, 0.55 * length), (u, -0.030, top - 0.30 * length), **steel))
        parts.append(
            bar(
                (u, -0.030, top - 0.55 * length),
                (u, -0.030, top - length),
                0.012,
                **(red if k % 2 else surface("black_metal", fill=0.2)),
            )
        )
    return standing(("tool board", "pegboard"), finish(stuff).word, parts, z)


def _share(top: str) -> float:
    """Return the fraction of a table top that is material: stone lies on a light core."""
    return 0.12 if finish(top).substance == "ceramic" else 0.5

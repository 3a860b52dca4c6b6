"""Microwave, oven, washing machine, laptop, faucet, knobs. Fronts face -y; joints are at zero when closed."""

import math

from handloom.objects.blueprint import Blueprint, upright
from handloom.objects.choices import Choices
from handloom.objects.joint_dynamics import Feel, joint_dynamics
from handloom.objects.library.furniture import carcass, door, handle
from handloom.objects.materials import HOUSING, rgb, shade
from handloom.objects.parts import Link, Part, Point, points, upright_points
from handloom.objects.shapes import Appearance, bar, box, cylinder, lathe, rod, slab

_DARK = (0.05, 0.06, 0.07)


def decor(color: tuple[float, float, float], body: str = "object") -> Appearance:
    """Return the look of a display or a key: visible, massless, without collisions."""
    return Appearance(color=color, substance="glass", fill=0.0, solid=False, body=body)


def microwave(c: Choices) -> Blueprint:
    """A microwave oven: door on the left with a window, panel with keys on the right, turntable inside."""
    color = c.color((*HOUSING, "red", "mint"))
    x, y, z = c.number("width", 0.40, 0.47), c.number("depth", 0.28, 0.34), c.number("height", 0.23, 0.27)
    panel_width, wall = 0.26 * x, 0.012
    shell = Appearance(color=rgb(color), substance="steel", fill=0.16)
    metal = Appearance(color=rgb("silver"), substance="steel", fill=0.4)
    width = x - panel_width
    cavity = [p.moved((-panel_width / 2, 0.0, 0.0)) for p in carcass((width, y, z), wall, shell)]
    at = x / 2 - panel_width / 2
    front = -y / 2
    parts: list[Part] = [
        *cavity,
        box((panel_width, y, z), (at, 0.0, z / 2), color=shade(rgb(color), 0.9), substance="steel", fill=0.10),
        box((0.70 * panel_width, 0.002, 0.15 * z), (at, front, 0.80 * z), **decor((0.05, 0.16, 0.12))),
        cylinder(
            0.020,
            0.012,
            (at, front - 0.004, 0.18 * z),
            euler=(90.0, 0.0, 0.0),
            color=rgb("silver"),
            substance="plastic",
        ),
        cylinder(0.12, 0.006, (-panel_width / 2, 0.0, wall + 0.006), color=(0.70, 0.78, 0.80), substance="glass"),
    ]
    for row in range(3):
        for column in (-0.24, 0.0, 0.24):
            key = (at + column * panel_width, front, (0.62 - 0.11 * row) * z)
            parts.append(box((0.16 * panel_width, 0.004, 0.06 * z), key, **decor(shade(rgb(color), 0.45))))
    look = Appearance(color=shade(rgb(color), 0.95), substance="steel", fill=0.16, body="door")
    feel, grip = joint_dynamics(c, "appliance door"), c.pick("handle", ("bar", "bow", "slat"))
    size, at_door = (width - 0.002, 0.022, z - 0.004), (front - 0.002, z / 2)
    link, leaf = door("door", "left", size, at_door, look, metal, feel, grip=grip)
    link = link.moved((-panel_width / 2, 0.0, 0.0))
    window = box((0.66 * width, 0.002, 0.58 * z), (0.44 * width, -0.022, 0.0), **decor(_DARK, "door"))
    return Blueprint(
        words=("microwave", "microwave oven"),
        color=color,
        parts=(*parts, *leaf, window),
        links=(link,),
        keypoints=points(bottom=(0.0, 0.0, 0.0), top=(0.0, 0.0, z), inside=(-panel_width / 2, 0.0, wall + 0.04)),
        holds=0.10,
        rests="upright",
    )


def oven(c: Choices) -> Blueprint:
    """A table-top oven on feet: the door with its window folds down past the edge of its floor, three knobs above."""
    color = c.color((*HOUSING, "red", "teal"))
    x, y, z = c.number("width", 0.38, 0.46), c.number("depth", 0.30, 0.36), c.number("height", 0.28, 0.34)
    panel, wall, front = 0.070, 0.014, -y / 2
    shell = Appearance(color=rgb(color), substance="steel", fill=0.14)
    metal = Appearance(color=rgb("silver"), substance="steel", fill=0.4, body="door")
    box_height = z - panel
    parts = carcass((x, y, box_height), wall, shell)
    parts.append(
        box((x, y, panel), (0.0, 0.0, z - panel / 2), color=shade(rgb(color), 0.85), substance="steel", fill=0.06)
    )
    parts.append(
        box(
            (x - 2 * wall, y - wall - 0.01, 0.005),
            (0.0, -wall / 2, 0.40 * box_height),
            color=rgb("gray"),
            substance="steel",
            fill=0.3,
        )
    )
    for k in (-0.32, 0.0, 0.32):
        parts.append(
            cylinder(
                0.017,
                0.020,
                (k * x, front - 0.010, z - panel / 2),
                euler=(90.0, 0.0, 0.0),
                color=_DARK,
                substance="plastic",
            )
        )
    tall, thick = box_height - 0.006, 0.024
    # The lower edge of the door swings below its hinge by its thickness, the handle of the open door further.
    feet = thick + 0.020
    corners = [(sx * (x / 2 - 0.03), sy * (y / 2 - 0.03), feet / 2) for sx in (-1, 1) for sy in (-1, 1)]
    parts = [part.moved((0.0, 0.0, feet)) for part in parts]
    parts += [cylinder(0.015, feet, corner, color=_DARK, substance="plastic") for corner in corners]
    parts += [
        box(
            (x - 0.006, thick, tall),
            (0.0, -thick / 2, tall / 2),
            color=shade(rgb(color), 0.95),
            substance="steel",
            fill=0.14,
            body="door",
        ),
        box((0.72 * x, 0.002, 0.52 * tall), (0.0, -thick, 0.46 * tall), **decor(_DARK, "door")),
        *handle((0.0, -thick + 0.001, 0.88 * tall), 0.56 * x, 0.030, metal, upright=False),
    ]
    link = Link(
        name="door",
        kind="hinge",
        origin=(0.0, front - 0.002, feet + 0.003),
        axis=(1.0, 0.0, 0.0),
        range=(0.0, 1.50),
        head=(0.0, -thick - 0.029, 0.88 * tall),
        tail=(0.0, -thick - 0.029, 0.44 * tall),
        contact_axis=(-1.0, 0.0, 0.0),
        normal=(0.0, -1.0, 0.0),
        push=(0.0, -thick, 0.70 * tall),
        **joint_dynamics(c, "folding door"),
        counterbalance=0.9,
    )
    return upright(
        ("oven", "toaster oven", "mini oven"), color, parts, [link], upright_points(feet + z, feet + wall + 0.03), 0.10
    )


def washing_machine(c: Choices) -> Blueprint:
    """A small front loader: round glass door, drum behind it, panel above."""
    color = c.color(HOUSING)
    x, y, z = c.number("width", 0.36, 0.42), c.number("depth", 0.32, 0.38), c.number("height", 0.42, 0.50)
    wall, front, middle = 0.016, -y / 2, 0.44 * z
    radius = 0.36 * x
    opening = 0.72 * radius
    look = Appearance(color=rgb(color), substance="steel", fill=0.12)
    parts = carcass((x, y, z), wall, look)
    # The front panel around the round opening: two cheeks, a sill and a lintel.
    cheek = x / 2 - opening
    sill = middle - opening
    for s in (-1.0, 1.0):
        parts.append(
            box(
                (cheek - wall, wall, z - 2 * wall),
                (s * (x / 2 - wall - (cheek - wall) / 2), front + wall / 2, z / 2),
                **look,
            )
        )
    parts += [
        box((2 * opening, wall, sill - wall), (0.0, front + wall / 2, (sill + wall) / 2), **look),
        box(
            (2 * opening, wall, z - wall - middle - opening),
            (0.0, front + wall / 2, (z - wall + middle + opening) / 2),
            **look,
        ),
        box((0.22 * x, 0.003, 0.030), (0.22 * x, front, z - 0.050), **decor((0.05, 0.16, 0.20))),
        cylinder(
            0.022,
            0.018,
            (-0.10 * x, front - 0.008, z - 0.050),
            euler=(90.0, 0.0, 0.0),
            color=rgb("silver"),
            substance="plastic",
        ),
        box((0.20 * x, 0.004, 0.040), (-0.34 * x, front, z - 0.050), **decor(shade(rgb(color), 0.7))),
    ]
    disc = Appearance(color=rgb("silver"), substance="plastic", body="door")
    parts += [
        cylinder(radius, 0.022, (radius, -0.011, 0.0), euler=(90.0, 0.0, 0.0), **disc),
        cylinder(0.72 * radius, 0.003, (radius, -0.022, 0.0), euler=(90.0, 0.0, 0.0), **decor(_DARK, "door")),
        *handle((1.86 * radius, -0.021, 0.0), 0.045, 0.022, disc, upright=True),
    ]
    link = Link(
        name="door",
        kind="hinge",
        origin=(-radius, front - 0.002, middle),
        axis=(0.0, 0.0, -1.0),
        range=(0.0, 1.9),
        head=(1.86 * radius, -0.043, 0.0),
        tail=(radius, -0.043, 0.0),
        contact_axis=(0.0, 0.0, -1.0),
        normal=(0.0, -1.0, 0.0),
        push=(1.40 * radius, -0.022, 0.0),
        **joint_dynamics(c, "appliance door"),
    )
    return upright(("washing machine", "washer"), color, parts, [link], upright_points(z, wall + 0.03), 0.10)


def laptop(c: Choices) -> Blueprint:
    """A notebook computer; the lid opens from the front edge."""
    color = c.color(("silver", "black", "gray", "white", "pink"))
    x, y = c.number("width", 0.28, 0.34), c.number("depth", 0.19, 0.23)
    deck, lid = 0.016, 0.008
    shell = Appearance(color=rgb(color), substance="aluminium", fill=0.65)
    top = Appearance(color=shade(rgb(color), 0.92), substance="aluminium", fill=0.4, body="lid")
    z = deck + 0.001
    parts = [
        slab((x, y, deck), 0.010, (0.0, 0.0, deck / 2), **shell),
        box((0.86 * x, 0.40 * y, 0.001), (0.0, 0.14 * y, deck), **decor((0.09, 0.09, 0.10))),
        box((0.34 * x, 0.26 * y, 0.001), (0.0, -0.28 * y, deck), **decor(shade(rgb(color), 0.8))),
        slab((x, y, lid), 0.010, (0.0, -y / 2, lid / 2), **top),
        box((0.92 * x, 0.86 * y, 0.001), (0.0, -y / 2, 0.0), **decor((0.06, 0.10, 0.18), "lid")),
        cylinder(0.016, 0.001, (0.0, -y / 2, lid), **decor(rgb("white"), "lid")),
    ]
    for row in range(4):
        parts.append(
            box((0.80 * x, 0.065 * y, 0.0014), (0.0, (0.00 + 0.095 * row) * y, deck), **decor((0.20, 0.20, 0.21)))
        )
    link = Link(
        name="lid",
        kind="hinge",
        origin=(0.0, y / 2, z),
        axis=(-1.0, 0.0, 0.0),
        range=(0.0, 2.2),
        # The fingers close on the front edge, which stands off the deck once the lid is ajar.
        head=(0.0, -y + 0.010, lid / 2),
        tail=(0.0, -y / 2, lid / 2),
        contact_axis=(-1.0, 0.0, 0.0),
        normal=(0.0, 0.0, 1.0),
        push=(0.0, -0.85 * y, lid),
        grip=(0.0, -1.0, 0.0),
        **joint_dynamics(c, "laptop"),
        counterbalance=0.8,
    )
    return Blueprint(
        words=("laptop", "notebook", "computer"),
        color=color,
        parts=tuple(parts),
        links=(link,),
        keypoints=upright_points(z + lid),
        rests="upright",
    )


def faucet(c: Choices) -> Blueprint:
    """A tap on a foot plate: spout towards -y, a lever or a cross handle on top that turns about z."""
    color, style = c.color(("silver", "copper", "black", "white")), c.pick("style", ("lever", "cross"))
    z, reach = c.number("height", 0.16, 0.22), c.number("reach", 0.10, 0.14)
    metal, turn = (
        Appearance(color=rgb(color), substance="steel", fill=0.6),
        Appearance(color=shade(rgb(color), 0.85), substance="steel", fill=0.5, body="handle"),
    )
    parts = [
        slab((0.13, 0.13, 0.010), 0.030, (0.0, 0.0, 0.005), color=rgb(color), substance="steel"),
        cylinder(0.021, z - 0.010, (0.0, 0.0, 0.010 + (z - 0.010) / 2), **metal),
        rod((0.0, -0.010, 0.66 * z), (0.0, -0.72 * reach, 0.86 * z), 0.012, **metal),
        rod((0.0, -0.72 * reach, 0.86 * z), (0.0, -reach, 0.80 * z), 0.012, **metal),
        bar((0.0, -reach, 0.80 * z), (0.0, -reach, 0.80 * z - 0.022), 0.013, **metal),
        lathe([(0.021, 0.0), (0.018, 0.018)], (0.0, 0.0, 0.001), sides=14, **turn),
    ]
    if style == "lever":
        parts.append(rod((0.0, 0.0, 0.014), (0.085, 0.0, 0.030), 0.0075, **turn))
        grip: Point = (0.068, 0.0, 0.014 + 0.016 * 0.8)
    else:
        parts += [
            rod((-0.036 * a, -0.036 * b, 0.014), (0.036 * a, 0.036 * b, 0.014), 0.007, **turn)
            for a, b in ((1, 0), (0, 1))
        ]
        grip = (0.026, 0.0, 0.014)
    link = Link(
        name="handle",
        kind="hinge",
        origin=(0.0, 0.0, z),
        axis=(0.0, 0.0, 1.0),
        range=(0.0, math.pi / 2),
        head=grip,
        tail=(0.0, 0.0, grip[2]),
        contact_axis=(1.0, 0.0, 0.0),
        normal=(0.0, 0.0, 1.0),
        **joint_dynamics(c, "tap"),
    )
    return Blueprint(
        words=("faucet", "tap", "water tap"),
        color=color,
        parts=tuple(parts),
        links=(link,),
        keypoints=points(bottom=(0.0, 0.0, 0.0), spout=(0.0, -reach, 0.80 * z - 0.022)),
        rests="upright",
    )


def knob_panel(c: Choices) -> Blueprint:
    """A control box with one to three rotary knobs on its front."""
    color, count = c.color((*HOUSING, "red", "teal")), c.integer("knobs", 1, 3)
    x, y, z = 0.075 * count + 0.055, c.number("depth", 0.06, 0.09), c.number("height", 0.10, 0.14)
    radius, deep = c.number("radius", 0.020, 0.026), 0.024
    knob = rgb(c.color(("black", "silver", "red", "white"), "knob_color", unlike=color))
    parts: list[Part] = [box((x, y, z), (0.0, 0.0, z / 2), color=rgb(color), substance="steel", fill=0.25)]
    links, feel = [], joint_dynamics(c, "knob")
    for k in range(count):
        name, at = f"knob_{k}", ((k - (count - 1) / 2) * 0.075, -y / 2, 0.55 * z)
        front = -deep - 0.001
        parts += [
            cylinder(1.35 * radius, 0.001, at, euler=(90.0, 0.0, 0.0), **decor(shade(rgb(color), 0.7))),
            cylinder(
                radius,
                deep,
                (0.0, -deep / 2 - 0.001, 0.0),
                euler=(90.0, 0.0, 0.0),
                color=knob,
                substance="plastic",
                body=name,
            ),
            box(
                (0.010, 0.014, 1.9 * radius),
                (0.0, front - 0.005, 0.0),
                color=shade(knob, 1.2),
                substance="plastic",
                body=name,
            ),
            box(
                (0.003, 0.002, 0.7 * radius),
                (0.0, front - 0.0125, 0.55 * radius),
                **decor(rgb("white" if knob != rgb("white") else "red"), name),
            ),
        ]
        links.append(_knob(name, at, (0.0, front - 0.005, 0.0), 0.9 * radius, feel))
    return Blueprint(
        words=("knob", "control knob", "dial"),
        color=color,
        parts=tuple(parts),
        links=tuple(links),
        keypoints=upright_points(z),
        rests="upright",
    )


def _knob(name: str, origin: Point, middle: Point, reach: float, feel: Feel) -> Link:
    """Return a knob that turns about -y, held at the middle of its bar, which reaches as far as the tail."""
    x, y, z = middle
    return Link(
        name=name,
        kind="hinge",
        origin=origin,
        axis=(0.0, -1.0, 0.0),
        range=(0.0, 4.7),
        head=middle,
        tail=(x, y, z + reach),
        contact_axis=(0.0, 0.0, 1.0),
        normal=(0.0, -1.0, 0.0),
        **feel,
    )

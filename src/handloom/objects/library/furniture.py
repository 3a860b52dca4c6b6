"""Cabinets, drawers and a safe. Fronts face -y; joints are at zero when closed."""

from dataclasses import replace

from handloom.objects.blueprint import Blueprint, upright
from handloom.objects.choices import Choices
from handloom.objects.joint_dynamics import Feel, joint_dynamics
from handloom.objects.materials import rgb, shade
from handloom.objects.parts import Keypoint, Link, Part, Point, axes, upright_points
from handloom.objects.shapes import Appearance, bar, box, cylinder, open_box, rod, sphere

_WOODS = ("wood", "white", "brown", "black", "beige", "gray")
_GAP = 0.002
"""Play between moving and fixed parts [m]."""


def standing(words: tuple[str, ...], color: str | None, parts: list[Part], height: float) -> Blueprint:
    """Return a piece of furniture without joints that always stands upright."""
    return Blueprint(
        words=words,
        color=color,
        parts=tuple(parts),
        keypoints=upright_points(height),
        axes=axes(up=(0.0, 0.0, 1.0)),
        rests="upright",
    )


def carcass(size: Point, wall: float, look: Appearance, *, back: float | None = None) -> list[Part]:
    """Return a box of full size that is open towards -y; bottom centre at the origin.

    Args:
        size: Outer width, depth and height [m].
        wall: Thickness of sides, floor and roof [m].
        look: What it is made of.
        back: Thickness of the back [m]; None: that of the walls.
    """
    x, y, z = size
    rear = wall if back is None else back
    return [
        box((x, y, wall), (0.0, 0.0, wall / 2), **look),
        box((x, y, wall), (0.0, 0.0, z - wall / 2), **look),
        box((wall, y, z - 2 * wall), ((x - wall) / 2, 0.0, z / 2), **look),
        box((wall, y, z - 2 * wall), ((wall - x) / 2, 0.0, z / 2), **look),
        box((x - 2 * wall, rear, z - 2 * wall), (0.0, (y - rear) / 2, z / 2), **look),
    ]


def double_conveyor(c: Choices) -> Blueprint:
    """Two belts along x on legs, side by side with room for a robot between them; they run in opposite directions.

    The belt at +y moves at ``speed`` [m/s], the other one backwards.
    """
    color, speed = c.color(("gray", "blue", "green")), c.number("speed", 0.03, 0.08, step=1e-3, signed=True)
    x, y, z = c.number("length", 3.2, 3.6), c.number("width", 0.42, 0.46), c.number("height", 0.90, 0.91)
    apart, deck = c.number("distance", 1.46, 1.54), 0.06
    frame = Appearance(color=rgb(color), substance="aluminium", fill=0.3)
    parts: list[Part] = []
    for side in (-1.0, 1.0):
        at = side * apart / 2
        belt = box((x, y, deck), (0.0, at, z - deck / 2), color=(0.09, 0.09, 0.10), substance="rubber", fill=0.2)
        parts.append(replace(belt, belt_velocity=(side * speed, 0.0, 0.0)))
        parts += [box((x, 0.02, deck), (0.0, at + s * (y / 2 + 0.01), z - deck / 2), **frame) for s in (-1.0, 1.0)]
        parts += [
            box((0.05, y, z - deck), (sx * 0.45 * x, at, (z - deck) / 2), **frame) for sx in (-1.0, -0.33, 0.33, 1.0)
        ]
    return Blueprint(
        words=("conveyor", "pair of conveyor belts"),
        color=color,
        parts=tuple(parts),
        keypoints=upright_points(z),
        axes=axes(up=(0.0, 0.0, 1.0), belt=(1.0, 0.0, 0.0)),
        rests="upright",
    )


HANDLES = ("bar", "bow", "slat", "knob")
"""Kinds of handles: a round bar on two posts, a bow, a flat slat, a round knob."""


def handle(
    centre: Point, length: float, out: float, look: Appearance, *, upright: bool, kind: str = "bar"
) -> list[Part]:
    """Return a handle whose gripped middle is ``out`` metres in front (-y) of its centre point on the surface.

    Args:
        centre: Point of the surface behind the middle of the handle [m].
        length: Between its ends [m]; a knob has none.
        out: Distance of the gripped middle from the surface [m].
        look: What it is made of.
        upright: Whether it runs along z; else along x.
        kind: One of ``HANDLES``.
    """
    x, y, z = centre

    def at(along: float, forward: float) -> Point:
        return (x, y - forward, z + along) if upright else (x + along, y - forward, z)

    half = length / 2
    if kind == "knob":
        return [bar(centre, at(0.0, out), 0.007, **look), sphere(0.013, at(0.0, out), **look)]
    if kind == "bow":
        inner = 0.6 * half
        legs = [rod(at(s * half, 0.0), at(s * inner, out), 0.0055, **look) for s in (-1.0, 1.0)]
        return [*legs, rod(at(-inner, out), at(inner, out), 0.006, **look)]
    if kind == "slat":
        posts = [bar(at(s * 0.7 * half, 0.0), at(s * 0.7 * half, out), 0.004, **look) for s in (-1.0, 1.0)]
        size = (0.010, 0.012, length) if upright else (length, 0.012, 0.010)
        return [*posts, box(size, at(0.0, out), **look)]
    posts = [bar(at(s * half, 0.0), at(s * half, out), 0.0045, **look) for s in (-1.0, 1.0)]
    return [*posts, rod(at(-half, out), at(half, out), 0.006, **look)]


def drawer_cabinet(c: Choices) -> Blueprint:
    """A chest with one to three drawers."""
    color, drawers = c.color(_WOODS), c.integer("drawers", 1, 3)
    front = rgb(c.color((*_WOODS, "teal", "light blue"), "front_color"))
    metal = Appearance(color=rgb(c.color(("silver", "black", "copper"), "handle_color")), substance="steel", fill=0.5)
    x, y, pitch = c.number("width", 0.30, 0.40), c.number("depth", 0.26, 0.34), c.number("drawer_height", 0.11, 0.15)
    wall, feel, grip = 0.012, joint_dynamics(c, "drawer"), c.pick("handle", HANDLES)
    z = drawers * pitch + wall
    look, face = Appearance(color=rgb(color), substance="wood"), Appearance(color=front, substance="wood")
    parts = carcass((x, y, z), wall, look)
    parts += [
        box((x - 2 * wall, y - wall, 0.008), (0.0, -wall / 2, k * pitch + wall / 2), **look) for k in range(1, drawers)
    ]
    links: list[Link] = []
    keypoints = upright_points(z)
    for k in range(drawers):
        name = f"drawer_{k}"
        inner = (x - 2 * wall - 2 * _GAP, y - wall - 0.012, pitch - wall - 0.020)
        # The link's origin is the middle of the drawer's front panel, on the surface.
        origin = (0.0, -y / 2 - 0.014, (k + 0.5) * pitch + wall / 2)
        low = -pitch / 2 + wall / 2 + _GAP
        parts += [
            *open_box(inner, 0.007, (0.0, inner[1] / 2 + 0.014, low), **{**look, "body": name}),
            box((x - 0.004, 0.012, pitch - 0.005), (0.0, 0.007, 0.0), **{**face, "body": name}),
            *handle((0.0, 0.001, 0.0), 0.34 * x, 0.030, {**metal, "body": name}, upright=False, kind=grip),
        ]
        links.append(
            Link(
                name=name,
                kind="slide",
                origin=origin,
                axis=(0.0, -1.0, 0.0),
                range=(0.0, 0.72 * y),
                head=(0.0, -0.029, 0.0),
                tail=(0.17 * x, -0.029, 0.0),
                contact_axis=(-1.0, 0.0, 0.0),
                normal=(0.0, -1.0, 0.0),
                push=(0.0, 0.001, 0.27 * pitch),
                **feel,
            )
        )
        if k == drawers - 1:
            keypoints["inside"] = Keypoint(body=name, position=(0.0, 0.014 + inner[1] / 2, low + 0.030))
    # The top drawer is the main one: it is the easiest to reach.
    return upright(
        ("cabinet", "drawer cabinet", "chest of drawers", "drawer"), color, parts, links[::-1], keypoints, 0.04
    )


def hinged_cabinet(c: Choices) -> Blueprint:
    """A cabinet with one door and a board inside."""
    color, hinge = c.color(_WOODS), c.pick("hinge", ("left", "right"))
    front = rgb(c.color((*_WOODS, "teal", "light blue"), "front_color"))
    metal = Appearance(color=rgb(c.color(("silver", "black", "copper"), "handle_color")), substance="steel", fill=0.5)
    x, y, z = c.number("width", 0.28, 0.38), c.number("depth", 0.24, 0.32), c.number("height", 0.32, 0.45)
    wall, look = 0.014, Appearance(color=rgb(color), substance="wood")
    parts = carcass((x, y, z), wall, look)
    parts.append(box((x - 2 * wall, y - 0.04, 0.010), (0.0, 0.012, z / 2), **look))
    panel = Appearance(color=front, substance="wood", body="door")
    feel, grip = joint_dynamics(c, "door"), c.pick("handle", HANDLES)
    link, leaf = door("door", hinge, (x, 0.014, z - 0.004), (-y / 2 - _GAP, z / 2), panel, metal, feel, grip=grip)
    parts += leaf
    keypoints = upright_points(z, wall + 0.04)
    return upright(("cabinet", "cupboard", "hinged cabinet"), color, parts, [link], keypoints, 0.08)


def safe(c: Choices) -> Blueprint:
    """A strongbox: thick walls, a heavy door with a dial and a lever handle."""
    color, hinge = c.color(("gray", "black", "navy", "green")), c.pick("hinge", ("left", "right"))
    x, y, z = c.number("width", 0.26, 0.34), c.number("depth", 0.24, 0.30), c.number("height", 0.24, 0.32)
    wall, steel = 0.022, Appearance(color=rgb(color), substance="steel", fill=0.22)
    metal = Appearance(color=rgb("silver"), substance="steel", fill=0.5)
    parts = carcass((x, y, z), wall, steel)
    panel = Appearance(color=shade(rgb(color), 1.25), substance="steel", fill=0.22, body="door")
    feel = joint_dynamics(c, "safe door")
    link, leaf = door("door", hinge, (x - 0.004, 0.024, z - 0.006), (-y / 2 - _GAP, z / 2), panel, metal, feel)
    side = 1.0 if hinge == "left" else -1.0
    reach = side * 0.42 * x
    dial = Link(
        name="dial",
        kind="hinge",
        parent="door",
        origin=(reach, -0.026, 0.06),
        axis=(0.0, -1.0, 0.0),
        range=(0.0, 5.0),
        head=(0.0, -0.008, 0.0),
        tail=(0.024, -0.008, 0.0),
        contact_axis=(0.0, 0.0, 1.0),
        normal=(0.0, -1.0, 0.0),
        damping=0.002,
        frictionloss=0.01,
    )
    parts += leaf
    parts += [
        cylinder(0.028, 0.016, (0.0, -0.008, 0.0), euler=(90.0, 0.0, 0.0), **{**metal, "body": "dial"}),
        box(
            (0.004, 0.002, 0.018),
            (0.0, -0.0165, 0.016),
            color=rgb("red"),
            substance="plastic",
            fill=0.0,
            solid=False,
            body="dial",
        ),
    ]
    keypoints = upright_points(z, wall + 0.04)
    return upright(("safe", "strongbox", "vault"), color, parts, [link, dial], keypoints, 0.08)


def door(
    name: str,
    hinge: str,
    size: Point,
    at: tuple[float, float],
    panel: Appearance,
    metal: Appearance,
    feel: Feel,
    *,
    swing: float = 1.9,
    grip: str = "bar",
) -> tuple[Link, list[Part]]:
    """Return the link and the parts of an upright door with a handle at its free edge.

    Args:
        name: Name of the link.
        hinge: ``left`` or ``right``, seen from the front.
        size: Width, thickness and height of the leaf [m].
        at: y and z of the leaf's back face and middle in the base frame [m].
        panel: Look of the leaf; its body must be ``name``.
        metal: Look of the handle.
        feel: Friction, spring and catch of the hinge.
        swing: Opening angle [rad].
        grip: Kind of its handle, one of ``HANDLES``.
    """
    x, thick, z = size
    side = 1.0 if hinge == "left" else -1.0
    edge = side * (x - 0.030)
    parts = [
        box((x, thick, z), (side * x / 2, -thick / 2, 0.0), **panel),
        *handle((edge, -thick + 0.001, 0.0), 0.32 * z, 0.030, {**metal, "body": name}, upright=True, kind=grip),
    ]
    link = Link(
        name=name,
        kind="hinge",
        origin=(-side * x / 2, at[0], at[1]),
        axis=(0.0, 0.0, -side),
        range=(0.0, swing),
        head=(edge, -thick - 0.029, 0.0),
        tail=(0.5 * edge, -thick - 0.029, 0.0),
        contact_axis=(0.0, 0.0, -1.0),
        normal=(0.0, -1.0, 0.0),
        # Beside the handle and near the edge: fingers that reach behind an open door can also grasp it.
        push=(side * (x - 0.022), -thick, 0.36 * z),
        **feel,
    )
    return link, parts

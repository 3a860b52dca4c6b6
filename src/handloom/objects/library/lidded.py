"""Boxes, pots, cookers and bins whose lid turns about the rear rim. Joints are at zero when closed."""

from dataclasses import replace

from handloom.objects.blueprint import Blueprint, upright
from handloom.objects.choices import Choices
from handloom.objects.joint_dynamics import Feel, joint_dynamics
from handloom.objects.materials import BRIGHT, GLAZES, HOUSING, rgb, shade
from handloom.objects.parts import Link, Part, Point, upright_points
from handloom.objects.shapes import (
    FOOT,
    Appearance,
    bar,
    box,
    cylinder,
    lathe,
    open_box,
    rod,
    shell,
    slab,
    sphere,
    tube,
)

_GAP = 0.0015
"""Play between lid and rim [m]."""


def lidded_box(c: Choices) -> Blueprint:
    """A box with a hinged lid and a lip, a bar or a knob to lift it by; the hinge holds the lid where it is left."""
    color, style = c.color((*BRIGHT, "wood", "white", "black")), c.pick("style", ("plain", "bands"))
    x, y, z = c.number("length", 0.18, 0.27), c.number("width", 0.13, 0.19), c.number("height", 0.08, 0.13)
    substance = "wood" if color == "wood" else "plastic"
    look, top = (
        Appearance(color=rgb(color), substance=substance),
        Appearance(color=shade(rgb(color), 0.85), substance=substance, body="lid"),
    )
    thick = 0.010
    parts = open_box((x, y, z), 0.006, **look)
    parts.append(box((x + 0.006, y + 0.003, thick), (0.0, -y / 2, thick / 2), **top))
    grip = c.pick("grip", ("lip", "bar", "knob"))
    at = (0.0, 0.025 - y, thick)
    shiny = rgb("silver" if color != "silver" else "black")
    metal = Appearance(color=shiny, substance="steel", fill=0.4, body="lid")
    if grip == "lip":
        parts.append(box((0.30 * x, 0.022, 0.008), (0.0, -y - 0.010, 0.004), **top))
        head: Point = (0.0, -y - 0.012, 0.004)
    elif grip == "bar":
        head = _bar(at, 0.30 * x, 0.032, metal, parts)
    else:
        head = _knob(at, metal, parts)
    if style == "bands":
        for s in (-1.0, 1.0):
            for u in (-1.0, 1.0):
                side = (s * 0.30 * x, u * y / 2, z / 2)
                parts.append(box((0.018, 0.002, z), side, color=shiny, substance="steel", fill=0.0, solid=False))
            parts.append(
                box(
                    (0.018, y + 0.0045, thick + 0.001),
                    (s * 0.30 * x, -y / 2, thick / 2),
                    color=shiny,
                    substance="steel",
                    fill=0.0,
                    solid=False,
                    body="lid",
                )
            )
    link = _lid((0.0, y / 2, z + _GAP), head, (0.0, -0.5 * y, thick), joint_dynamics(c, "box lid"))
    link = replace(link, push=(0.40 * x, 0.022 - y, thick), counterbalance=0.85)
    if grip == "lip":
        link = replace(link, grip=(0.0, -1.0, 0.0))  # From above, one finger would stand on the lid.
    return upright(
        ("box", "box with a lid", "chest", "treasure box"),
        color,
        parts,
        [link],
        upright_points(z, 0.5 * z),
        0.8 * min(x, y),
    )


def pot(c: Choices) -> Blueprint:
    """A cooking pot with two side grips and a lid with a knob."""
    color = c.color((*GLAZES, "silver", "copper"))
    radius, z = c.number("radius", 0.085, 0.110), c.number("height", 0.085, 0.120)
    look = Appearance(color=rgb(color), substance="steel", fill=0.35)
    dark = Appearance(color=(0.07, 0.07, 0.08), substance="plastic")
    parts = tube(radius, z, 0.005, sides=18, foot=FOOT, **look)
    parts.append(cylinder(radius - 0.002, 0.006, (0.0, 0.0, 0.003), **look))
    for s in (-1.0, 1.0):
        out = s * (radius + 0.028)
        parts += [rod((s * (radius - 0.002), y, 0.78 * z), (out, y, 0.80 * z), 0.005, **dark) for y in (-0.030, 0.030)]
        parts.append(rod((out, -0.030, 0.80 * z), (out, 0.030, 0.80 * z), 0.006, **dark))
    grip = _dome(
        radius, 0.024, Appearance(color=shade(rgb(color), 0.9), substance="steel", fill=0.12, body="lid"), parts
    )
    link = _lid((0.0, radius, z + _GAP), grip, (0.0, -radius - 0.05, 0.030), joint_dynamics(c, "pot lid"))
    return upright(
        ("pot", "cooking pot", "pot with a lid"), color, parts, [link], upright_points(z, 0.5 * z), 1.6 * radius
    )


def electric_cooker(c: Choices) -> Blueprint:
    """A rice cooker: bulging body, display at the front, domed lid with a front catch."""
    color = c.color((*HOUSING, "red", "mint"))
    radius, z = c.number("radius", 0.105, 0.130), c.number("height", 0.150, 0.190)
    look = Appearance(color=rgb(color), substance="plastic")
    outer = [(0.86 * radius, 0.0), (radius, 0.45 * z), (0.97 * radius, z)]
    parts = shell(outer, [(0.78 * radius, 0.020), (0.88 * radius, z)], sides=18, foot=FOOT, **look)
    parts += [
        cylinder(0.84 * radius, 0.020, (0.0, 0.0, 0.010), **look),
        box(
            (0.55 * radius, 0.020, 0.34 * z),
            (0.0, -0.97 * radius, 0.46 * z),
            color=(0.06, 0.08, 0.10),
            substance="glass",
        ),
        cylinder(
            0.010,
            0.004,
            (0.0, -0.97 * radius - 0.010, 0.38 * z),
            euler=(90.0, 0.0, 0.0),
            color=rgb("orange"),
            substance="plastic",
            fill=0.0,
            solid=False,
        ),
    ]
    lid = Appearance(color=shade(rgb(color), 0.88), substance="plastic", fill=0.5, body="lid")
    rim = 0.97 * radius
    parts += [
        replace(lathe([(rim, 0.0), (rim, 0.010), (0.45 * radius, 0.036)], sides=18, **lid), position=(0.0, -rim, 0.0)),
        box((0.060, 0.026, 0.012), (0.0, -2 * rim - 0.008, 0.008), **lid),
    ]
    link = _lid((0.0, rim, z + _GAP), (0.0, -2 * rim - 0.012, 0.008), (0.0, -rim, 0.036), joint_dynamics(c, "box lid"))
    return upright(
        ("electric cooker", "rice cooker", "cooker"), color, parts, [link], upright_points(z, 0.5 * z), 1.4 * radius
    )


def trash_can(c: Choices) -> Blueprint:
    """A bin whose pedal lifts the lid: pressing it by 30 degrees opens the lid by 75."""
    color, style = c.color(("silver", "black", "white", "red", "teal", "gray")), c.pick("style", ("round", "square"))
    radius, z = c.number("radius", 0.090, 0.115), c.number("height", 0.24, 0.32)
    base, body = 0.026, Appearance(color=rgb(color), substance="plastic", fill=0.8)
    dark = Appearance(color=(0.08, 0.08, 0.09), substance="plastic")
    top = Appearance(color=shade(rgb(color), 0.88), substance="plastic", fill=0.6, body="lid")
    if style == "round":
        parts = tube(radius, z - base, 0.005, (0.0, 0.0, base), sides=18, **body)
        parts.append(cylinder(radius - 0.001, base, (0.0, 0.0, base / 2), **dark))
        cover = replace(
            lathe([(1.02 * radius, 0.0), (1.02 * radius, 0.010), (0.62 * radius, 0.030)], sides=18, **top),
            position=(0.0, -radius, 0.0),
        )
    else:
        side = 1.8 * radius
        parts = open_box((side, 2 * radius, z - base), 0.005, (0.0, 0.0, base), **body)
        parts.append(box((side, 2 * radius, base), (0.0, 0.0, base / 2), **dark))
        cover = slab((side + 0.006, 2 * radius + 0.006, 0.018), 0.020, (0.0, -radius, 0.009), **top)
    tread = Appearance(color=rgb("gray"), substance="steel", fill=0.5, body="pedal")
    parts += [
        cover,
        box((0.052, 0.026, 0.010), (0.0, -2 * radius - 0.011, 0.006), **top),
        box((0.060, 0.050, 0.007), (0.0, -0.040, 0.0), **tread),
    ]
    feel = joint_dynamics(c, "sprung lid")
    lid = _lid((0.0, radius, z + _GAP), (0.0, -2 * radius - 0.014, 0.006), (0.0, -radius, 0.018), feel, swing=1.31)
    # The lip is taken from the front, one finger above and one below it.
    lid = replace(lid, grip=(0.0, -1.0, 0.0), push=(0.0, -1.4 * radius, 0.030 if style == "round" else 0.018))
    pedal = Link(
        name="pedal",
        kind="hinge",
        origin=(0.0, -radius + 0.012, 0.045),
        # The tread in front of the bin goes down.
        axis=(1.0, 0.0, 0.0),
        range=(0.0, 0.524),
        head=(0.0, -0.050, 0.0035),
        tail=(0.0, -0.020, 0.0035),
        contact_axis=(-1.0, 0.0, 0.0),
        normal=(0.0, 0.0, 1.0),
        damping=0.02,
        frictionloss=0.0,
        drives="lid",
        ratio=2.5,
    )
    return upright(
        ("trash can", "bin", "garbage can", "rubbish bin"),
        color,
        parts,
        [lid, pedal],
        upright_points(z, 0.5 * z),
        1.4 * radius,
    )


def _dome(radius: float, height: float, look: Appearance, parts: list[Part]) -> Point:
    """Add a domed lid with a knob, hinged at its rear rim, and return the middle of the knob in the lid's frame."""
    profile = [(radius + 0.002, 0.0), (radius + 0.002, 0.006), (0.80 * radius, 0.7 * height), (0.30 * radius, height)]
    parts.append(replace(lathe(profile, sides=12, **look), position=(0.0, -radius, 0.0)))
    knob = Appearance(color=(0.07, 0.07, 0.08), substance="plastic", body="lid")
    return _knob((0.0, -radius, height), knob, parts)


def _knob(at: Point, look: Appearance, parts: list[Part]) -> Point:
    """Add a knob on a stem that stands on a point of a lid, and return its middle."""
    x, y, z = at
    parts += [bar(at, (x, y, z + 0.012), 0.008, **look), sphere(0.014, (x, y, z + 0.020), **look)]
    return (x, y, z + 0.020)


def _bar(at: Point, length: float, height: float, look: Appearance, parts: list[Part]) -> Point:
    """Add a bar handle along x on two posts, over a point of a lid, and return its middle."""
    x, y, z = at
    left, right = (x - length / 2, y, z + height), (x + length / 2, y, z + height)
    parts += [bar((a, y, z), (a, y, z + height), 0.0045, **look) for a in (left[0], right[0])]
    parts.append(rod(left, right, 0.006, **look))
    return (x, y, z + height)


def _lid(origin: Point, head: Point, tail: Point, feel: Feel, *, swing: float = 1.92) -> Link:
    """Return a lid that lies to -y of its hinge and opens upwards."""
    return Link(
        name="lid",
        kind="hinge",
        origin=origin,
        axis=(-1.0, 0.0, 0.0),
        range=(0.0, swing),
        head=head,
        tail=tail,
        contact_axis=(-1.0, 0.0, 0.0),
        normal=(0.0, 0.0, 1.0),
        **feel,
    )

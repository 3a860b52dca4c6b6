"""Kitchen table items: a stove with a knob, a moka pot, a ramekin, wine and its rack."""

from handloom.objects.blueprint import Blueprint
from handloom.objects.choices import Choices
from handloom.objects.joint_dynamics import joint_dynamics
from handloom.objects.library.packages import PROUD
from handloom.objects.materials import rgb, shade
from handloom.objects.parts import Link, axes, upright_points
from handloom.objects.shapes import FOOT, Appearance, arc, as_built, bar, box, cylinder, lathe, printed, rod, slab, tube

TURN = 2.6
"""How far the knob of a table stove turns, from off to full [rad]."""


def table_stove(c: Choices) -> Blueprint:
    """A flat electric stove for a table: one round plate, and a knob on its front right corner; off at zero."""
    x, y, z = c.number("width", 0.30, 0.34), c.number("depth", 0.23, 0.26), c.number("height", 0.030, 0.040)
    plate, radius = c.number("plate", 0.088, 0.096), c.number("knob", 0.017, 0.020)
    color = c.color(("white", "black", "silver", "cream"))
    feel = joint_dynamics(c, "knob")
    u, dial = -0.045, (x / 2 - 0.045, -y / 2 + 0.050, z)
    dark = color != "black"
    knob = Appearance(color=rgb("black" if dark else "silver"), substance="plastic", body="knob")
    mark = Appearance(color=rgb("white" if dark else "red"), substance="plastic", fill=0.0, solid=False, body="knob")
    iron = Appearance(color=(0.10, 0.10, 0.11), substance="steel", fill=0.5)
    parts = [
        slab(
            (x, y, z - 0.004),
            0.018,
            (0.0, 0.0, 0.004 + (z - 0.004) / 2),
            color=rgb(color),
            substance="steel",
            fill=0.15,
        ),
        *(
            cylinder(0.012, 0.005, (sx * 0.40 * x, sy * 0.38 * y, 0.0025), color=rgb("black"), substance="rubber")
            for sx in (-1.0, 1.0)
            for sy in (-1.0, 1.0)
        ),
        cylinder(plate, 0.012, (u, 0.0, z + 0.005), **iron),
        *(
            cylinder(share * plate, 0.0010 + 0.0002 * k, (u, 0.0, z + 0.011), **_ring(k))
            for k, share in enumerate((0.92, 0.88, 0.62, 0.58, 0.30, 0.26))
        ),
        cylinder(1.45 * radius, 0.002, dial, **printed(shade(rgb(color), 0.7))),
        cylinder(radius, 0.016, (0.0, 0.0, 0.010), **knob),
        box((0.011, 1.9 * radius, 0.018), (0.0, 0.0, 0.026), **knob),
        box((0.003, 0.8 * radius, 0.001), (0.0, 0.5 * radius, 0.0352), **mark),
    ]
    link = Link(
        name="knob",
        kind="hinge",
        origin=dial,
        axis=(0.0, 0.0, 1.0),
        range=(0.0, TURN),
        head=(0.0, 0.0, 0.026),
        tail=(0.0, 0.85 * radius, 0.026),
        contact_axis=(0.0, 1.0, 0.0),
        normal=(0.0, 0.0, 1.0),
        **feel,
    )
    return Blueprint(
        words=("stove", "hot plate", "cooker"),
        color=color,
        parts=tuple(parts),
        links=(link,),
        keypoints=upright_points(z, burner=(u, 0.0, z + 0.011)),
        axes=axes(up=(0.0, 0.0, 1.0), front=(0.0, -1.0, 0.0)),
        rests="upright",
    )


def _ring(k: int) -> Appearance:
    """Return the look of the rings of a hot plate, light and dark in turn."""
    color = (0.24, 0.24, 0.25) if k % 2 == 0 else (0.10, 0.10, 0.11)
    return Appearance(color=color, substance="steel", fill=0.0, solid=False)


def moka_pot(c: Choices) -> Blueprint:
    """An eight-sided coffee pot: boiler, waist, jug with a spout to -x, lid with a knob, handle to +x."""
    foot, height = c.number("foot", 0.034, 0.037), c.number("height", 0.135, 0.155)
    color = c.color(("silver", "black", "red"))
    metal = Appearance(color=rgb(color), substance="aluminium", fill=0.30)
    black = Appearance(color=rgb("black"), substance="plastic")
    waist, top, z = 0.80 * foot, 0.97 * foot, 0.46 * height
    body = [
        lathe([(foot, 0.0), (waist, z)], sides=8, **metal),
        lathe([(waist, 0.0), (top, height - z - 0.012)], (0.0, 0.0, z), sides=8, **metal),
        lathe([(top, 0.0), (0.35 * foot, 0.012)], (0.0, 0.0, height - 0.012), sides=8, **metal),
    ]
    lip = box((0.016, 0.012, 0.014), (-top - 0.002, 0.0, height - 0.020), euler=(0.0, -25.0, 0.0), **metal)
    parts = [
        *as_built(body),
        cylinder(waist + 0.003, 0.008, (0.0, 0.0, z), **{**metal, "solid": False, "fill": 0.0}),
        lip,
        cylinder(0.007, 0.016, (0.0, 0.0, height + 0.006), **black),
        *arc(
            (top - 0.004, 0.0, 0.66 * height), (0.034, 0.28 * height), 0.012, span_deg=(-20.0, 85.0), pieces=4, **black
        ),
    ]
    return Blueprint(
        words=("moka pot", "coffee pot"),
        color=color,
        parts=tuple(parts),
        keypoints=upright_points(
            height,
            handle=(top + 0.030, 0.0, 0.70 * height),
            spout=(-top - 0.010, 0.0, height - 0.016),
        ),
        axes=axes(up=(0.0, 0.0, 1.0), handle=(1.0, 0.0, 0.0), front=(-1.0, 0.0, 0.0)),
    )


def ramekin(c: Choices) -> Blueprint:
    """A small straight baking dish."""
    color = c.color(("white", "cream", "light blue"))
    radius, height, wall = c.number("radius", 0.040, 0.045), c.number("height", 0.038, 0.046), 0.005
    look = Appearance(color=rgb(color), substance="ceramic")
    parts = tube(radius, height, wall, flare=0.003, foot=FOOT, **look)
    parts.append(cylinder(radius - wall / 2, 0.006, (0.0, 0.0, 0.003), **look))
    return Blueprint(
        words=("ramekin", "small dish"),
        color=color,
        parts=tuple(parts),
        keypoints=upright_points(height, height / 2),
        axes=axes(up=(0.0, 0.0, 1.0), opening=(0.0, 0.0, 1.0)),
        holds=2 * (radius - wall),
    )


def wine_bottle(c: Choices) -> Blueprint:
    """A dark bottle of wine with a cream label and a foil around its neck."""
    radius, body = c.number("radius", 0.031, 0.034), c.number("body", 0.125, 0.140)
    shoulder, neck = c.number("shoulder", 0.035, 0.042), c.number("neck", 0.055, 0.065)
    color = c.pick("glass", ("green", "brown", "navy"))
    foil = rgb(c.pick("foil", ("red", "black", "copper")))
    look = Appearance(color=shade(rgb(color), 0.55), substance="water", fill=0.9, round=True)
    throat, top = 0.013, body + shoulder + neck
    parts = [
        cylinder(radius, body, (0.0, 0.0, body / 2), **look),
        lathe(
            [(radius, 0.0), (0.80 * radius, 0.45 * shoulder), (throat, shoulder)], (0.0, 0.0, body), sides=20, **look
        ),
        cylinder(throat, neck, (0.0, 0.0, body + shoulder + neck / 2), **{**look, "fill": 0.5}),
        cylinder(throat + PROUD, 0.55 * neck, (0.0, 0.0, top - 0.275 * neck), **printed(foil)),
        cylinder(throat + 0.002, 0.008, (0.0, 0.0, top - 0.004), color=foil, substance="plastic"),
        cylinder(radius + PROUD, 0.50 * body, (0.0, 0.0, 0.48 * body), **printed(rgb("cream"))),
    ]
    return Blueprint(
        words=("wine bottle", "bottle of wine", "bottle"),
        color=None,
        parts=tuple(parts),
        keypoints=upright_points(top, center=(0.0, 0.0, body / 2), mouth=(0.0, 0.0, top)),
        axes=axes(up=(0.0, 0.0, 1.0), mouth=(0.0, 0.0, 1.0)),
    )


def wine_rack(c: Choices) -> Blueprint:
    """A low wooden rack: a bottle lies along y on two rails above its board, between the posts of its ends."""
    color, metal = c.color(("wood", "brown", "black")), c.pick("rails", ("silver", "copper", "black"))
    x, y, z = c.number("width", 0.15, 0.17), c.number("length", 0.18, 0.20), c.number("height", 0.050, 0.060)
    apart = 0.023
    wood = Appearance(color=rgb(color), substance="wood")
    steel = Appearance(color=rgb(metal), substance="steel", fill=0.6)
    ends = [box((x, 0.014, z), (0.0, s * (y / 2 - 0.007), z / 2), **wood) for s in (-1.0, 1.0)]
    rails = [rod((s * apart, -y / 2 + 0.002, z), (s * apart, y / 2 - 0.002, z), 0.005, **steel) for s in (-1.0, 1.0)]
    stops = [
        bar(
            (s * (x / 2 - 0.012), t * (y / 2 - 0.007), 0.0),
            (s * (x / 2 - 0.012), t * (y / 2 - 0.007), z + 0.03),
            0.006,
            **wood,
        )
        for s in (-1.0, 1.0)
        for t in (-1.0, 1.0)
    ]
    base = box((x - 0.02, y - 0.02, 0.008), (0.0, 0.0, 0.010), **wood)
    return Blueprint(
        words=("wine rack", "bottle rack", "rack"),
        color=color,
        parts=(*ends, *rails, *stops, base),
        keypoints=upright_points(z + 0.005),
        axes=axes(up=(0.0, 0.0, 1.0), front=(0.0, -1.0, 0.0), bottle=(0.0, 1.0, 0.0)),
        rests="upright",
    )

"""Worktops, sinks and taps."""

from handloom.objects.blueprint import Blueprint
from handloom.objects.choices import Choices
from handloom.objects.joint_dynamics import joint_dynamics
from handloom.objects.library.rooms.finishes import METALS, WORKTOPS, finish, surface
from handloom.objects.parts import Link, Part, axes, points, upright_points
from handloom.objects.shapes import Appearance, arc, bar, box, cylinder, open_box, rod, slab


def worktop(c: Choices) -> Blueprint:
    """A slab, sometimes with a rectangular hole for a sink; lower edge at the origin."""
    x, y, z = c.number("width", 0.6, 2.4), c.number("depth", 0.60, 0.65), c.number("thickness", 0.03, 0.04)
    stuff = c.pick("finish", tuple(WORKTOPS))
    hole = c.pick("hole", ("no", "yes"))
    width, depth = c.number("hole_width", 0.40, 0.55), c.number("hole_depth", 0.36, 0.42)
    look = surface(stuff, fill=0.35)
    parts: list[Part] = [box((x, y, z), (0.0, 0.0, z / 2), **look)]
    if hole == "yes":
        side, rim = (x - width) / 2, (y - depth) / 2
        parts = [
            *(box((side, y, z), (s * (x - side) / 2, 0.0, z / 2), **look) for s in (-1.0, 1.0)),
            *(box((width, rim, z), (0.0, s * (y - rim) / 2, z / 2), **look) for s in (-1.0, 1.0)),
        ]
    return Blueprint(
        words=("counter", "worktop", "countertop"),
        color=None,
        parts=tuple(parts),
        keypoints=upright_points(z),
        axes=axes(up=(0.0, 0.0, 1.0), long=(1.0, 0.0, 0.0)),
        rests="upright",
    )


def kitchen_sink(c: Choices) -> Blueprint:
    """A basin that hangs in a worktop by its rim: origin at the middle, at the height of the worktop."""
    x, y, z = c.number("width", 0.42, 0.56), c.number("depth", 0.37, 0.43), c.number("height", 0.15, 0.19)
    stuff = c.pick("finish", ("brushed_steel", "white_enamel", "black_enamel", "cream_enamel"))
    look, wall, rim = surface(stuff, fill=0.3), 0.008, 0.022
    parts = open_box((x, y, z), wall, (0.0, 0.0, -z), **look)
    parts += [box((x + 2 * rim, rim, 0.005), (0.0, s * (y + rim) / 2, 0.0025), **look) for s in (-1.0, 1.0)]
    parts += [box((rim, y, 0.005), (s * (x + rim) / 2, 0.0, 0.0025), **look) for s in (-1.0, 1.0)]
    drain = Appearance(color=(0.20, 0.20, 0.21), substance="steel", fill=0.0, solid=False)
    parts += [
        cylinder(0.042, 0.002, (0.0, 0.0, -z + wall + 0.001), **surface("brushed_steel", solid=False)),
        cylinder(0.030, 0.003, (0.0, 0.0, -z + wall + 0.0015), **drain),
    ]
    return Blueprint(
        words=("sink", "kitchen sink", "basin"),
        color=None,
        parts=tuple(parts),
        keypoints=points(
            bottom=(0.0, 0.0, -z), top=(0.0, 0.0, 0.004), inside=(0.0, 0.0, -0.5 * z), mount=(0.0, 0.0, 0.0)
        ),
        axes=axes(up=(0.0, 0.0, 1.0), opening=(0.0, 0.0, 1.0), long=(1.0, 0.0, 0.0)),
        holds=0.9 * (y - 2 * wall),
        rests="upright",
    )


def kitchen_tap(c: Choices) -> Blueprint:
    """A mixer with a swan neck over the sink and a lever beside it, on the same foot, that turns about z."""
    stuff, z = c.pick("finish", tuple(METALS)), c.number("height", 0.27, 0.36)
    reach, post = c.number("reach", 0.17, 0.21), c.number("post", 0.050, 0.065)
    aside = c.number("aside", 0.15, 0.17)
    metal, turn = surface(stuff, fill=0.6), surface(stuff, fill=0.5, body="handle")
    bend = reach / 2
    straight = z - bend
    parts = [
        slab((aside + 0.075, 0.055, 0.012), 0.024, (aside / 2, 0.0, 0.006), **metal),
        cylinder(0.022, 0.050, (0.0, 0.0, 0.037), **metal),
        bar((0.0, 0.0, 0.060), (0.0, 0.0, straight), 0.013, **metal),
        *arc(
            (0.0, -bend, straight),
            (bend, bend),
            0.026,
            span_deg=(0.0, 180.0),
            pieces=8,
            euler=(90.0, 0.0, 90.0),
            **metal,
        ),
        bar((0.0, -reach, straight), (0.0, -reach, straight - 0.055), 0.015, **metal),
        cylinder(0.020, post - 0.012, (aside, 0.0, 0.012 + (post - 0.012) / 2), **metal),
        cylinder(0.020, 0.016, (0.0, 0.0, 0.009), **turn),
        rod((0.0, 0.0, 0.012), (0.0, -0.095, 0.028), 0.0075, **turn),
    ]
    link = Link(
        name="handle",
        kind="hinge",
        origin=(aside, 0.0, post),
        axis=(0.0, 0.0, 1.0),
        range=(0.0, 1.0),
        head=(0.0, -0.076, 0.0248),
        tail=(0.0, 0.0, 0.0248),
        contact_axis=(0.0, 1.0, 0.0),
        normal=(0.0, 0.0, 1.0),
        **joint_dynamics(c, "tap"),
    )
    return Blueprint(
        words=("tap", "kitchen tap", "faucet"),
        color=finish(stuff).word,
        parts=tuple(parts),
        links=(link,),
        keypoints=points(bottom=(0.0, 0.0, 0.0), spout=(0.0, -reach, straight - 0.055)),
        rests="upright",
    )

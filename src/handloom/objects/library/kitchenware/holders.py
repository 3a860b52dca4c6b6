"""A caddy with compartments, a shelf of two tiers and a cabinet of three drawers; each of them has a name."""

from handloom.objects.blueprint import Blueprint
from handloom.objects.choices import Choices
from handloom.objects.joint_dynamics import joint_dynamics
from handloom.objects.library.furniture import carcass, handle
from handloom.objects.materials import rgb, shade
from handloom.objects.parts import Keypoint, Link, Part, axes, upright_points
from handloom.objects.shapes import Appearance, box, open_box

DRAWERS = ("bottom_drawer", "middle_drawer", "top_drawer")
"""Drawers of a wooden cabinet, from below."""
OUT = 0.031
"""Distance of the gripped middle of a handle from its drawer [m]: fingers fit behind it."""
PLAY = 0.002
"""Between moving and fixed parts [m]."""
FLOOR = 0.006
"""Thickness of the floors of a caddy [m]."""


def desk_caddy(c: Choices) -> Blueprint:
    """A caddy for a desk: a compartment across its front, one across its back, two side by side between them.

    Front is -y, left is -x: as seen from the front.
    """
    color = c.color(("wood", "black", "white", "gray", "teal"))
    x, y = c.number("width", 0.24, 0.26), c.number("depth", 0.27, 0.29)
    low, high = c.number("front_height", 0.060, 0.066), c.number("back_height", 0.080, 0.090)
    wall, lane = 0.006, c.number("lane", 0.062, 0.068)
    substance = "wood" if color == "wood" else "plastic"
    look, inner = (
        Appearance(color=rgb(color), substance=substance, fill=0.8),
        Appearance(color=shade(rgb(color), 0.85), substance=substance, fill=0.8),
    )
    front, back = -y / 2, y / 2
    first, second = front + wall + lane, back - wall - lane  # Inner faces of the lanes.
    parts: list[Part] = [
        box((x, wall, low), (0.0, front + wall / 2, low / 2), **look),
        box((x, wall, high), (0.0, back - wall / 2, high / 2), **look),
        box((x - 2 * wall, wall, low), (0.0, first + wall / 2, low / 2), **inner),
        box((x - 2 * wall, wall, high), (0.0, second - wall / 2, high / 2), **inner),
        box((wall, second - first - 2 * wall, low), (0.0, (first + second) / 2, low / 2), **inner),
    ]
    for s in (-1.0, 1.0):
        parts.append(box((wall, y - 2 * wall, low), (s * (x - wall) / 2, 0.0, low / 2), **look))
    across, half = x - 2 * wall, (x - 3 * wall) / 2
    middle, deep = (first + second) / 2, second - first - 2 * wall
    spots = {
        "front": (0.0, front + wall + lane / 2, across, lane),
        "back": (0.0, back - wall - lane / 2, across, lane),
        "left": (-(half + wall) / 2, middle, half, deep),
        "right": ((half + wall) / 2, middle, half, deep),
    }
    for name, (u, v, wide, long) in spots.items():
        parts.append(box((wide, long, FLOOR), (u, v, FLOOR / 2), **{**inner, "body": name}))
    named = {name: (u, v, FLOOR) for name, (u, v, _, _) in spots.items()}
    return Blueprint(
        words=("caddy", "desk caddy", "desk organizer"),
        color=color,
        parts=tuple(parts),
        sections=tuple(spots),
        keypoints=upright_points(high, inside=named["right"], **named),
        axes=axes(up=(0.0, 0.0, 1.0), front=(0.0, -1.0, 0.0)),
        holds=lane,
        rests="upright",
    )


def two_tier_shelf(c: Choices) -> Blueprint:
    """A small shelf with an open front to -y: a bottom, one shelf board, and a top to stand things on."""
    color = c.color(("wood", "white", "brown", "beige"))
    x, y = c.number("width", 0.36, 0.40), c.number("depth", 0.22, 0.25)
    lower, upper = c.number("lower", 0.190, 0.205), c.number("upper", 0.190, 0.205)
    thick, look = 0.012, Appearance(color=rgb(color), substance="wood")
    top = 3 * thick + lower + upper
    sides = Appearance(color=shade(rgb(color), 0.88), substance="wood")
    levels = {"bottom": thick / 2, "board": 1.5 * thick + lower, "top": top - thick / 2}
    parts: list[Part] = [
        box((x - 2 * thick, y, thick), (0.0, 0.0, z), **{**look, "body": name})
        for name, z in levels.items()
        if name != "top"
    ]
    parts.append(box((x, y, thick), (0.0, 0.0, levels["top"]), **{**look, "body": "top"}))
    parts += [box((thick, y, top - thick), (s * (x - thick) / 2, 0.0, (top - thick) / 2), **sides) for s in (-1.0, 1.0)]
    parts.append(box((x - 2 * thick, 0.006, top - thick), (0.0, y / 2 - 0.003, (top - thick) / 2), **sides))
    return Blueprint(
        words=("shelf", "small shelf", "two-tier shelf"),
        color=color,
        parts=tuple(parts),
        sections=tuple(levels),
        keypoints=upright_points(top, board=(0.0, 0.0, levels["board"] + thick / 2)),
        axes=axes(up=(0.0, 0.0, 1.0), front=(0.0, -1.0, 0.0)),
        rests="upright",
    )


def wooden_cabinet(c: Choices) -> Blueprint:
    """A small chest on a plinth with a bottom, a middle and a top drawer; a hand fits beside the lowest handle."""
    color = c.color(("wood", "brown", "beige"))
    metal = Appearance(color=rgb(c.color(("silver", "black", "copper"), "handle_color")), substance="steel", fill=0.5)
    x, y = c.number("width", 0.30, 0.33), c.number("depth", 0.25, 0.27)
    pitch, plinth = c.number("drawer_height", 0.094, 0.100), c.number("plinth", 0.046, 0.052)
    wall, feel = 0.012, joint_dynamics(c, "drawer")
    z = 3 * pitch + wall
    look = Appearance(color=rgb(color), substance="wood")
    front = Appearance(color=shade(rgb(color), 1.12), substance="wood")
    foot = box((x - 0.02, y - 0.03, plinth), (0.0, 0.005, plinth / 2), color=shade(rgb(color), 0.6), substance="wood")
    parts = [foot, *(part.moved((0.0, 0.0, plinth)) for part in carcass((x, y, z), wall, look))]
    parts += [
        box((x - 2 * wall, y - wall, 0.008), (0.0, -wall / 2, plinth + k * pitch + wall / 2), **look) for k in (1, 2)
    ]
    inner = (x - 2 * wall - 2 * PLAY, y - wall - 0.012, pitch - wall - 0.018)
    low = -pitch / 2 + wall / 2 + PLAY
    links: list[Link] = []
    keypoints = upright_points(plinth + z)
    for k, name in enumerate(DRAWERS):
        parts += [
            *open_box(inner, 0.007, (0.0, inner[1] / 2 + 0.014, low), **{**look, "body": name}),
            box((x - 0.004, 0.012, pitch - 0.005), (0.0, 0.007, 0.0), **{**front, "body": name}),
            *handle((0.0, 0.001, 0.0), 0.34 * x, OUT, {**metal, "body": name}, upright=False),
        ]
        links.append(
            Link(
                name=name,
                kind="slide",
                origin=(0.0, -y / 2 - 0.014, plinth + (k + 0.5) * pitch + wall / 2),
                axis=(0.0, -1.0, 0.0),
                range=(0.0, 0.74 * y),
                head=(0.0, -OUT + 0.001, 0.0),
                tail=(0.17 * x, -OUT + 0.001, 0.0),
                contact_axis=(-1.0, 0.0, 0.0),
                normal=(0.0, -1.0, 0.0),
                push=(0.0, 0.001, 0.27 * pitch),
                **feel,
            )
        )
        keypoints[f"in_{name}"] = Keypoint(body=name, position=(0.0, 0.014 + inner[1] / 2, low + 0.008))
    keypoints["inside"] = keypoints[f"in_{DRAWERS[-1]}"]
    return Blueprint(
        words=("cabinet", "chest of drawers", "drawer cabinet"),
        color=color,
        parts=tuple(parts),
        links=tuple(links[::-1]),
        keypoints=keypoints,
        axes=axes(up=(0.0, 0.0, 1.0), front=(0.0, -1.0, 0.0)),
        holds=0.04,
        rests="upright",
    )

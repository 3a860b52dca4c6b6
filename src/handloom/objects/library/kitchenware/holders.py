"""A caddy with compartments and a shelf of two tiers; each compartment and board has a name."""

from handloom.objects.blueprint import Blueprint
from handloom.objects.choices import Choices
from handloom.objects.materials import rgb, shade
from handloom.objects.parts import Part, axes, points
from handloom.objects.shapes import Appearance, box

FLOOR = 0.006
"""Thickness of the floors of a caddy [m]."""


def desk_caddy(c: Choices) -> Blueprint:
    """A caddy for a desk: a compartment across its front, one across its back, two side by side between them.

    Front is -y, left is -x: as somebody sees it who stands before it.
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
        keypoints=points(bottom=(0.0, 0.0, 0.0), top=(0.0, 0.0, high), **named),
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
        keypoints=points(bottom=(0.0, 0.0, 0.0), top=(0.0, 0.0, top), board=(0.0, 0.0, levels["board"] + thick / 2)),
        axes=axes(up=(0.0, 0.0, 1.0), front=(0.0, -1.0, 0.0)),
        holds=0.15,
        rests="upright",
    )

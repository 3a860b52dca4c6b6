"""A shoe, toe towards +x, and the low box for a pair."""

import math
from dataclasses import replace

from handloom.objects.blueprint import Blueprint
from handloom.objects.choices import Choices
from handloom.objects.materials import BRIGHT, rgb, shade
from handloom.objects.parts import axes, points, upright_points
from handloom.objects.shapes import Appearance, bar, box, hull, open_box, prism


def shoe(c: Choices) -> Blueprint:
    """A trainer of a child's size: rubber sole, rounded toe, a collar that is open at the top, laces."""
    color = c.color((*BRIGHT, "black", "white", "navy", "gray"))
    second = rgb(c.color(("white", "black", "red", "yellow"), "second_color", unlike=color))
    length, width = c.number("length", 0.155, 0.180), c.number("width", 0.056, 0.062)
    height, sole = c.number("height", 0.062, 0.072), 0.014
    upper = Appearance(color=rgb(color), substance="foam", material="linen", fill=4.0)
    rubber = Appearance(color=rgb("white"), substance="rubber", fill=0.6)
    half, back, front = width / 2, -0.5 * length, 0.5 * length
    parts = [replace(prism(_outline(length, width), sole, (0.0, 0.0, sole / 2), **rubber), drawn="itself")]
    # The toe: from the tip, low and round, up to the tongue; every ring is (x, half width, height above the sole).
    rings = [(0.47, 0.34, 0.013), (0.36, 0.82, 0.027), (0.14, 0.92, 0.038), (-0.02, 0.84, 0.044)]
    toe = [
        (x * length, w * half * math.cos(a), sole - 0.002 + h * math.sin(a) ** 0.8)
        for x, w, h in rings
        for a in (math.pi * k / 5 for k in range(6))
    ]
    parts.append(replace(hull(toe, **upper), drawn="smooth"))
    # The collar: two sides and the heel, each a slab that leans inwards; the foot goes between them.
    wall, lean = 0.007, 0.80
    for s in (-1.0, 1.0):
        side = [
            (x, s * (w * half - d), z)
            for x, w, z in (
                (back + 0.016, 0.80, sole - 0.002),
                (0.04 * length, 0.90, sole - 0.002),
                (back + 0.014, 0.80 * lean, height),
                (-0.06 * length, 0.86 * lean, 0.84 * height),
            )
            for d in (0.0, wall)
        ]
        parts.append(replace(hull(side, **upper), drawn="smooth"))
    heel = [
        (back + x, s * w * half, z)
        for s in (-1.0, 1.0)
        for x, w, z in (
            (0.004, 0.50, sole - 0.002),
            (0.018, 0.80, sole - 0.002),
            (0.012, 0.42, height),
            (0.020, 0.64, height),
        )
    ]
    parts.append(replace(hull(heel, **{**upper, "color": second}), drawn="smooth"))
    lace = Appearance(color=second, substance="paper", fill=0.0, solid=False)
    for x, h in ((0.02, 0.0395), (0.09, 0.037), (0.16, 0.0345)):
        parts.append(bar((x * length, -0.42 * half, sole + h), (x * length, 0.42 * half, sole + h), 0.0022, **lace))
    return Blueprint(
        words=("shoe", "sports shoe", "trainer"),
        color=color,
        parts=tuple(parts),
        keypoints=points(
            bottom=(0.0, 0.0, 0.0),
            toe=(front, 0.0, 0.5 * sole),
            heel=(back + 0.012, 0.0, height),
            collar=(-0.26 * length, 0.0, height),
        ),
        axes=axes(up=(0.0, 0.0, 1.0), front=(1.0, 0.0, 0.0), toe=(1.0, 0.0, 0.0), long=(1.0, 0.0, 0.0)),
        rests="upright",
    )


def _outline(length: float, width: float) -> list[tuple[float, float]]:
    """Return the outline of a sole: two round ends, a little narrower at the heel."""
    toe = [
        (0.5 * length - 0.45 * width + 0.45 * width * math.cos(a), 0.5 * width * math.sin(a))
        for a in (math.pi * (k - 4) / 8 for k in range(9))
    ]
    heel = [
        (-0.5 * length + 0.40 * width - 0.40 * width * math.cos(a), -0.42 * width * math.sin(a))
        for a in (math.pi * (k - 4) / 8 for k in range(9))
    ]
    return [*toe, *heel]


def shoe_box(c: Choices) -> Blueprint:
    """The lid of a shoe box, open at the top and low: a pair lies in it side by side."""
    color = c.color(("beige", "brown", "white", "red", "navy", "green"))
    band = rgb(c.color(("white", "black", "orange"), "second_color", unlike=color))
    x, y, z = c.number("length", 0.235, 0.260), c.number("width", 0.190, 0.215), c.number("height", 0.034, 0.042)
    wall = 0.004
    parts = open_box((x, y, z), wall, color=rgb(color), substance="cardboard")
    ink = Appearance(color=band, substance="paper", fill=0.0, solid=False)
    parts += [
        box((0.36 * x, 0.001, 0.5 * z), (0.0, s * y / 2, 0.5 * z), **{**ink, "material": "carton_print"})
        for s in (-1.0, 1.0)
    ]
    floor = box((x - 2 * wall, y - 2 * wall, 0.001), (0.0, 0.0, wall), color=shade(rgb(color), 1.3), substance="paper")
    parts.append(replace(floor, fill=0.0, solid=False))
    return Blueprint(
        words=("shoe box", "shoebox", "box"),
        color=color,
        parts=tuple(parts),
        keypoints=upright_points(
            z,
            wall,
            near=(0.0, -0.25 * y, wall),
            far=(0.0, 0.25 * y, wall),
        ),
        axes=axes(up=(0.0, 0.0, 1.0), front=(0.0, -1.0, 0.0), opening=(0.0, 0.0, 1.0)),
        holds=0.8 * y,
        rests="upright",
    )

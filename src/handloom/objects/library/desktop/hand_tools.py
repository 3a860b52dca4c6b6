"""Stamp, rolling pin, mallet: tools with a working point."""

from dataclasses import replace

from handloom.objects.blueprint import Blueprint
from handloom.objects.choices import Choices
from handloom.objects.materials import rgb
from handloom.objects.parts import axes, points
from handloom.objects.shapes import Appearance, bar, box, curved, cylinder, laid, lathe
from handloom.render.looks import Turned


def seal(c: Choices) -> Blueprint:
    """A stamp: a square or round block with a rubber face below and a turned handle above."""
    color, style = c.color(("wood", "brown", "black", "red", "teal")), c.pick("style", ("square", "round"))
    half, height = c.number("half_width", 0.015, 0.019), c.number("height", 0.075, 0.092)
    block = 0.022
    look = Appearance(color=rgb(color), substance="wood", fill=1.3)
    rubber = Appearance(color=(0.45, 0.08, 0.08), substance="rubber")
    if style == "square":
        parts = [
            box((2 * half, 2 * half, 0.004), (0.0, 0.0, 0.002), **rubber),
            box((2 * half, 2 * half, block - 0.004), (0.0, 0.0, (block + 0.004) / 2), **look),
        ]
    else:
        parts = [
            cylinder(half, 0.004, (0.0, 0.0, 0.002), **rubber),
            cylinder(half, block - 0.004, (0.0, 0.0, (block + 0.004) / 2), **look),
        ]
    waist = [(0.0135, block - 0.001), (0.0085, block + 0.008), (0.0095, 0.60 * height), (0.0125, 0.72 * height)]
    crown = [(0.0125, 0.72 * height), (0.0150, 0.84 * height), (0.0125, 0.96 * height), (0.0060, height)]
    parts += [
        lathe([(0.0135, block - 0.001), (0.0095, block + 0.010)], sides=16, **look),
        cylinder(0.0105, 0.72 * height - block, (0.0, 0.0, (0.72 * height + block) / 2), **look),
        lathe(crown, sides=13, **look),
    ]
    first = len(parts) - 3
    shape = Turned(outer=tuple(curved([*waist, *crown[1:]])), edge=0.001)
    parts[first] = replace(parts[first], drawn=shape)
    parts[first + 1 :] = [replace(part, drawn="with the last") for part in parts[first + 1 :]]
    return Blueprint(
        words=("seal", "stamp", "rubber stamp"),
        color=color,
        parts=tuple(parts),
        keypoints=points(
            face=(0.0, 0.0, 0.0), bottom=(0.0, 0.0, 0.0), handle=(0.0, 0.0, 0.6 * height), top=(0.0, 0.0, height)
        ),
        axes=axes(up=(0.0, 0.0, 1.0), face=(0.0, 0.0, -1.0)),
        rests="upright",
    )


def roller(c: Choices) -> Blueprint:
    """A rolling pin along x with a handle at each end; flats of its ends keep it from rolling off."""
    color = c.color(("wood", "beige", "brown"))
    length, radius = c.number("length", 0.30, 0.34), c.number("radius", 0.022, 0.026)
    body, grip = 0.56 * length, 0.20 * length
    look = Appearance(color=rgb(color), substance="wood", material="oiled_beech", round=True)
    dark = Appearance(color=rgb("red" if color == "wood" else "wood"), substance="wood", fill=1.0)
    handle = [(0.0095, 0.0), (0.0125, 0.35 * grip), (0.0110, 0.80 * grip), (0.0070, grip)]
    parts = [bar((-body / 2, 0.0, radius), (body / 2, 0.0, radius), radius, **look)]
    for s in (-1.0, 1.0):
        start = body / 2 + 0.008
        parts.append(bar((s * (body / 2 - 0.002), 0.0, radius), (s * (start + 0.002), 0.0, radius), 0.0075, **dark))
        knob = laid(lathe(handle, sides=13, **dark), radius)
        quat = knob.quat if s > 0 else bar((0.0, 0.0, 0.0), (-1.0, 0.0, 0.0), 1.0).quat
        parts.append(replace(knob, quat=quat, position=(s * start, 0.0, radius)))
    at = body / 2 + 0.008 + 0.5 * grip
    return Blueprint(
        words=("rolling pin", "roller"),
        color=color,
        parts=tuple(parts),
        keypoints=points(
            bottom=(0.0, 0.0, 0.0),
            left_handle=(-at, 0.0, radius),
            right_handle=(at, 0.0, radius),
            top=(0.0, 0.0, 2 * radius),
        ),
        axes=axes(up=(0.0, 0.0, 1.0), long=(1.0, 0.0, 0.0)),
        rests="upright",
    )


def mallet(c: Choices) -> Blueprint:
    """A hammer that stands on its face: a heavy round head, the handle level towards -x, above the table."""
    color = c.color(("wood", "red", "yellow", "black", "blue"))
    length, radius = c.number("length", 0.19, 0.22), c.number("radius", 0.019, 0.022)
    tall = c.number("head", 0.066, 0.076)
    x, z = 0.5 * length - radius, 0.5 * tall
    steel = Appearance(color=rgb("steel"), substance="steel", fill=0.75)
    rubber = Appearance(color=(0.10, 0.10, 0.11), substance="rubber", fill=1.2)
    grip = Appearance(color=rgb(color), substance="wood", fill=0.6)
    shaft = [(0.0115, -0.5 * length), (0.0125, -0.30 * length), (0.0095, 0.05 * length), (0.0090, x)]
    cap = 0.22 * tall
    parts = [
        cylinder(radius, tall - 2 * cap, (x, 0.0, z), **steel),
        lathe([(0.94 * radius, 0.0), (radius, 0.003), (radius, cap)], (x, 0.0, 0.0), sides=18, **rubber),
        lathe([(radius, 0.0), (radius, cap - 0.003), (0.94 * radius, cap)], (x, 0.0, tall - cap), sides=18, **steel),
        laid(lathe(shaft, sides=13, **grip), z),
    ]
    return Blueprint(
        words=("hammer", "mallet"),
        color=color,
        parts=tuple(parts),
        keypoints=points(
            head=(x, 0.0, 0.0), top=(x, 0.0, tall), handle=(-0.22 * length, 0.0, z), tail=(-0.46 * length, 0.0, z)
        ),
        axes=axes(up=(0.0, 0.0, 1.0), face=(0.0, 0.0, -1.0), front=(1.0, 0.0, 0.0), long=(1.0, 0.0, 0.0)),
        rests="upright",
    )

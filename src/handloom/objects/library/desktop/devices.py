"""Phone stand, fan, kitchen scale, microphone, scanners, sign with a code. Fronts face -y."""

import math
from dataclasses import replace

from handloom.objects.blueprint import Blueprint
from handloom.objects.choices import Choices
from handloom.objects.materials import HOUSING, rgb, shade
from handloom.objects.parts import Part, axes, points, upright_points
from handloom.objects.shapes import Appearance, bar, box, cylinder, laid, lathe, printed, prism, rod, slab, sphere

_DARK = (0.08, 0.08, 0.09)


def phone_stand(c: Choices) -> Blueprint:
    """A stand that a phone leans on: a sloping back and a lip in front of it; the phone faces the user (-y)."""
    color = c.color((*HOUSING, "wood", "pink", "teal"))
    width, slope = c.number("width", 0.070, 0.085), math.radians(c.number("slope", 30.0, 36.0, step=1.0))
    deep, lip = c.number("depth", 0.115, 0.130), 0.012
    look = Appearance(color=rgb(color), substance="wood" if color == "wood" else "plastic")
    front, low = -deep / 2, 0.010
    rise = deep * math.tan(slope)
    side = [(front, 0.0), (deep / 2, 0.0), (deep / 2, low + rise), (deep / 2 - 0.008, low + rise), (front, low)]
    wedge = prism([(y, z) for y, z in side], width, euler=(90.0, 0.0, 90.0), **look)
    ledge = 0.020
    parts = [
        wedge,
        box((width, ledge, low - 0.002), (0.0, front - ledge / 2 + 0.001, (low - 0.002) / 2), **look),
        box((width, 0.005, low + lip), (0.0, front - ledge - 0.0015, (low + lip) / 2), **look),
    ]
    middle = (0.0, 0.0, low + 0.5 * rise)
    normal = (0.0, -math.sin(slope), math.cos(slope))
    return Blueprint(
        words=("phone stand", "phone holder", "mobile phone stand"),
        color=color,
        parts=tuple(parts),
        keypoints=points(bottom=(0.0, 0.0, 0.0), back=middle, lip=(0.0, front - ledge, low + lip)),
        axes=axes(up=(0.0, 0.0, 1.0), front=(0.0, -1.0, 0.0), lean=normal),
        rests="upright",
    )


def desk_fan(c: Choices) -> Blueprint:
    """A little fan: a round cage with three blades on a neck and a foot; it blows to -y."""
    color = c.color(("white", "pink", "mint", "light blue", "black", "yellow"))
    radius, thick = c.number("radius", 0.044, 0.054), c.number("thickness", 0.028, 0.034)
    neck, foot = c.number("neck", 0.030, 0.045), 0.012
    look = Appearance(color=rgb(color), substance="plastic", fill=0.5)
    z = foot + neck + radius
    parts: list[Part] = [
        slab((0.090, 0.080, foot), 0.030, (0.0, 0.0, foot / 2), color=rgb(color), substance="plastic", fill=1.6),
        cylinder(0.010, neck + 0.006, (0.0, 0.0, foot + neck / 2), **look),
        bar((0.0, -thick / 2, z), (0.0, thick / 2, z), radius, **look),
    ]
    # Visible in front of the cage: a dark disc, blades, rings and spokes of wire, a hub.
    front, wire = -thick / 2, Appearance(color=rgb("silver"), substance="steel", fill=0.0, solid=False)
    parts.append(bar((0.0, front + 0.001, z), (0.0, front - 0.0006, z), 0.90 * radius, **printed(_DARK)))
    for k in range(3):
        a = math.radians(120.0 * k + 30.0)
        reach = 0.50 * radius
        at = (reach * math.cos(a), front - 0.0012, z + reach * math.sin(a))
        blade = slab((0.66 * radius, 0.42 * radius, 0.0012), 0.18 * radius, at, **printed(shade(rgb(color), 0.8)))
        parts.append(replace(blade, quat=bar((0, 0, 0), (0, 1, 0), 1.0).quat))
    for k in range(6):
        a = math.radians(60.0 * k)
        end = (0.92 * radius * math.cos(a), front - 0.0022, z + 0.92 * radius * math.sin(a))
        parts.append(rod((0.0, front - 0.0022, z), end, 0.0012, **wire))
    parts.append(bar((0.0, front, z), (0.0, front - 0.0040, z), 0.22 * radius, **printed(rgb(color))))
    parts.append(cylinder(0.006, 0.002, (0.0, -0.028, foot), **printed(rgb("silver"))))
    return Blueprint(
        words=("fan", "desk fan", "small fan"),
        color=color,
        parts=tuple(parts),
        keypoints=upright_points(z + radius, hub=(0.0, front, z)),
        axes=axes(up=(0.0, 0.0, 1.0), front=(0.0, -1.0, 0.0)),
        rests="upright",
    )


def kitchen_scale(c: Choices) -> Blueprint:
    """A flat scale: a body with a display at the front and a round or square plate to put things on."""
    color, style = c.color((*HOUSING, "mint", "red")), c.pick("style", ("round", "square"))
    x, y, z = c.number("width", 0.150, 0.175), c.number("depth", 0.180, 0.205), c.number("height", 0.026, 0.034)
    plate, up = 0.44 * x, 0.005
    body = Appearance(color=rgb(color), substance="plastic", fill=0.8)
    shine = Appearance(color=rgb("silver"), substance="steel", material="brushed_steel", fill=0.3)
    middle = 0.5 * y - plate - 0.006
    top = z + up
    parts = [slab((x, y, z), 0.018, (0.0, 0.0, z / 2), **body)]
    if style == "round":
        parts.append(cylinder(plate, up + 0.002, (0.0, middle, z + up / 2), **shine))
    else:
        parts.append(slab((2 * plate, 2 * plate, up + 0.002), 0.012, (0.0, middle, z + up / 2), **shine))
    parts += [
        box((0.40 * x, 0.022, 0.001), (0.0, -0.5 * y + 0.020, z), **printed((0.30, 0.42, 0.34), "screen")),
        cylinder(0.007, 0.002, (0.34 * x, -0.5 * y + 0.020, z), **printed(rgb("red"))),
        cylinder(0.007, 0.002, (-0.34 * x, -0.5 * y + 0.020, z), **printed(rgb("gray"))),
    ]
    return Blueprint(
        words=("scale", "kitchen scale", "scales"),
        color=color,
        parts=tuple(parts),
        keypoints=points(
            bottom=(0.0, 0.0, 0.0), top=(0.0, middle, top), plate=(0.0, middle, top), display=(0.0, 0.02 - y / 2, z)
        ),
        axes=axes(up=(0.0, 0.0, 1.0), front=(0.0, -1.0, 0.0)),
        rests="upright",
    )


def microphone(c: Choices) -> Blueprint:
    """A hand microphone, lying: a tapered body and a ball of wire mesh towards +x."""
    color = c.color(("black", "silver", "gray", "red", "navy"))
    length, radius = c.number("length", 0.170, 0.200), c.number("radius", 0.0125, 0.0145)
    head = 1.55 * radius
    ball, neck = 0.5 * length - head, 0.5 * length - 1.9 * head
    grip = Appearance(color=rgb(color), substance="plastic", fill=0.8, round=True)
    mesh = Appearance(color=rgb("silver"), substance="steel", material="cast_iron", fill=0.15, round=True)
    taper = lathe([(0.86 * radius, -0.5 * length), (radius, -0.1 * length), (radius, neck)], sides=16, **grip)
    collar = lathe([(radius, neck - 0.004), (0.92 * head, ball - 0.2 * head)], sides=16, **grip)
    parts = [
        laid(taper, head),
        laid(collar, head),
        sphere(head, (ball, 0.0, head), **mesh),
        bar((ball - 0.002, 0.0, head), (ball + 0.002, 0.0, head), 1.02 * head, **printed(rgb("gray"))),
        slab((0.016, 0.006, 0.0016), 0.002, (0.06 * length, 0.0, head + radius), **printed(rgb("silver"))),
    ]
    return Blueprint(
        words=("microphone", "mic"),
        color=color,
        parts=tuple(parts),
        keypoints=points(handle=(-0.22 * length, 0.0, head), head=(ball, 0.0, head), tail=(-0.46 * length, 0.0, head)),
        axes=axes(up=(0.0, 0.0, 1.0), front=(1.0, 0.0, 0.0), long=(1.0, 0.0, 0.0)),
    )


def hand_scanner(c: Choices) -> Blueprint:
    """A hand-held scanner, standing on the foot of its grip; the window at the front of its head looks to +x."""
    color = c.color(("black", "gray", "white", "navy", "yellow"))
    grip, head = c.number("grip", 0.085, 0.100), c.number("head", 0.085, 0.100)
    look = Appearance(color=rgb(color), substance="plastic", fill=0.6)
    rubber = Appearance(color=_DARK, substance="rubber", fill=0.6)
    z = grip + 0.018
    shift = 0.014
    side = [
        (-0.5 * head, -0.016),
        (0.5 * head, -0.020),
        (0.5 * head, 0.020),
        (-0.1 * head, 0.020),
        (-0.5 * head, 0.006),
    ]
    parts = [
        slab((0.070, 0.056, 0.008), 0.014, (0.0, 0.0, 0.004), color=_DARK, substance="steel", material="rubber"),
        slab((0.030, 0.026, grip), 0.009, (0.0, 0.0, 0.006 + grip / 2), **look),
        prism(side, 0.036, (shift, 0.0, z), euler=(90.0, 0.0, 0.0), **look),
        slab((0.031, 0.027, 0.5 * grip), 0.009, (0.0, 0.0, 0.35 * grip), **{**rubber, "fill": 0.0, "solid": False}),
        box((0.003, 0.030, 0.030), (shift + 0.5 * head, 0.0, z), **printed((0.55, 0.05, 0.05), "screen")),
        box((0.012, 0.010, 0.018), (0.018, 0.0, z - 0.026), **printed(rgb("orange"))),
    ]
    return Blueprint(
        words=("scanner", "hand scanner", "barcode scanner"),
        color=color,
        parts=tuple(parts),
        keypoints=points(bottom=(0.0, 0.0, 0.0), handle=(0.0, 0.0, 0.55 * grip), window=(shift + 0.5 * head, 0.0, z)),
        axes=axes(up=(0.0, 0.0, 1.0), front=(1.0, 0.0, 0.0), view=(1.0, 0.0, 0.0)),
        rests="upright",
    )


def qr_stand(c: Choices) -> Blueprint:
    """A table sign with a printed code that faces the user: a plate in a foot."""
    color = c.color(("white", "black", "wood", "teal", "red"))
    width, height, thick = c.number("width", 0.085, 0.105), c.number("height", 0.100, 0.125), 0.010
    look = Appearance(color=rgb(color), substance="wood" if color == "wood" else "plastic", fill=0.9)
    foot = 0.014
    parts = [
        slab((width, 0.056, foot), 0.010, (0.0, 0.0, foot / 2), color=rgb(color), substance="wood", fill=1.6),
        box((width, thick, height), (0.0, 0.0, foot - 0.002 + height / 2), **{**look, "edge": 0.003}),
    ]
    side, front, z = 0.80 * width, -thick / 2 - 0.0004, foot + 0.55 * height
    parts.append(box((side, 0.0012, side), (0.0, front, z), **printed(rgb("white"))))
    cell, ink = side / 11.0, rgb("black")

    def module(column: float, row: float, size: float, color: tuple[float, float, float], proud: float) -> Part:
        at = ((column - 5.0) * cell, front - proud, z + (row - 5.0) * cell)
        return box((size * cell, 0.0012, size * cell), at, **printed(color))

    for column, row in ((1.5, 8.5), (8.5, 8.5), (1.5, 1.5)):
        parts += [module(column, row, 3.0, ink, 0.0004), module(column, row, 2.0, rgb("white"), 0.0007)]
        parts.append(module(column, row, 1.1, ink, 0.0010))
    # Cells of the code, drawn from the choices so that two signs differ.
    bits = c.integer("code", 1, 2**20 - 1)
    free = [(x, y) for x in range(11) for y in range(11) if (4 <= x <= 6 and y < 11) or (x > 6 and y < 6)]
    chosen = [cell_ for k, cell_ in enumerate(free) if (bits * (2 * k + 1) >> (k % 13)) % 3 == 0]
    parts += [module(x, y, 1.0, ink, 0.0004) for x, y in chosen[:26]]
    return Blueprint(
        words=("sign", "QR code stand", "table sign"),
        color=color,
        parts=tuple(parts),
        keypoints=upright_points(foot + height - 0.002, code=(0.0, front, z)),
        axes=axes(up=(0.0, 0.0, 1.0), front=(0.0, -1.0, 0.0)),
        rests="upright",
    )


def barcode_scanner(c: Choices) -> Blueprint:
    """A scanner on a stand that reads what is held in front of its red window; it looks along its x axis."""
    color = c.color(("black", "gray", "white"))
    z, head = c.number("height", 0.26, 0.30), 0.07
    look = Appearance(color=rgb(color), substance="plastic", fill=0.8)
    parts = [
        slab((0.14, 0.12, 0.016), 0.02, (0.0, 0.0, 0.008), **look),
        cylinder(0.014, z - 0.016, (-0.03, 0.0, 0.016 + (z - 0.016) / 2), **look),
        box((head, 0.09, 0.06), (0.0, 0.0, z), **look),
        box(
            (0.004, 0.074, 0.044),
            (head / 2 + 0.001, 0.0, z),
            color=rgb("red"),
            substance="glass",
            fill=0.0,
            solid=False,
        ),
    ]
    return Blueprint(
        words=("scanner", "barcode scanner"),
        color=color,
        parts=tuple(parts),
        keypoints=points(bottom=(0.0, 0.0, 0.0), window=(head / 2, 0.0, z)),
        axes=axes(up=(0.0, 0.0, 1.0), view=(1.0, 0.0, 0.0)),
        rests="upright",
    )

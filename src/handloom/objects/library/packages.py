"""Closed boxes, cartons, cans, bottles and jars, filled as they come from the shop."""

from handloom.objects.blueprint import Blueprint
from handloom.objects.choices import Choices
from handloom.objects.materials import BRIGHT, rgb, shade
from handloom.objects.parts import Part, axes, upright_points
from handloom.objects.shapes import Appearance, bar, box, cylinder, hull, lathe, printed, prism

PROUD = 0.0006
"""How far a printed label stands out of the surface [m], so that a ray meets it first."""
GABLE = 0.42
"""Height of the folded roof of a carton, as a fraction of its side."""


def cardboard_box(c: Choices) -> Blueprint:
    """A closed shipping box with tape along the top and an address label."""
    size = (c.number("length", 0.10, 0.20), c.number("width", 0.08, 0.14), c.number("height", 0.06, 0.12))
    color = c.color(("beige", "brown", "wood", "white"))
    tape = rgb(c.color(("cream", "brown", "silver"), "tape_color", unlike=color))
    middle = (0.0, 0.0, size[2] / 2)
    parts = [
        # Goods and padding fill about a fifth of what solid cardboard would weigh.
        box(size, middle, color=rgb(color), substance="cardboard", fill=0.20),
        box((size[0] + 2 * PROUD, 0.22 * size[1], size[2] + 2 * PROUD), middle, **printed(tape, "shipping_tape")),
        box(
            (0.34 * size[0], 0.30 * size[1], 0.001),
            (0.24 * size[0], -0.28 * size[1], size[2]),
            **printed(rgb("white"), "parcel_label"),
        ),
    ]
    return package(("cardboard box", "box", "package", "parcel"), color, parts, size)


def cereal_box(c: Choices) -> Blueprint:
    """A flat standing food box with a printed front."""
    color = c.color(BRIGHT)
    second = rgb(c.color(("white", "cream", "yellow", "light blue"), "second_color", unlike=color))
    size = (c.number("width", 0.12, 0.17), c.number("depth", 0.045, 0.065), c.number("height", 0.16, 0.24))
    style = c.pick("style", ("panel", "stripe", "disc"))
    parts = [box(size, (0.0, 0.0, size[2] / 2), color=rgb(color), substance="cardboard", fill=0.25)]
    deep = size[1] + 2 * PROUD
    if style == "panel":
        parts.append(
            box((0.78 * size[0], deep, 0.45 * size[2]), (0.0, 0.0, 0.58 * size[2]), **printed(second, "carton_print"))
        )
    elif style == "stripe":
        wide = size[0] + 2 * PROUD
        parts.append(box((wide, deep, 0.22 * size[2]), (0.0, 0.0, 0.70 * size[2]), **printed(second, "can_print")))
    else:
        parts.append(
            cylinder(0.36 * size[0], deep, (0.0, 0.0, 0.55 * size[2]), euler=(90.0, 0.0, 0.0), **printed(second))
        )
    return package(("cereal box", "food box", "box of cereal"), color, parts, size)


def snack_box(c: Choices) -> Blueprint:
    """A small flat carton such as tea, pudding or biscuits come in."""
    color = c.color(BRIGHT)
    second = rgb(c.color(("white", "cream", "yellow", "navy"), "second_color", unlike=color))
    size = (c.number("length", 0.080, 0.130), c.number("width", 0.060, 0.085), c.number("height", 0.030, 0.045))
    parts = [
        box(size, (0.0, 0.0, size[2] / 2), color=rgb(color), substance="cardboard", fill=0.55),
        box((0.70 * size[0], 0.60 * size[1], 0.001), (0.0, 0.0, size[2]), **printed(second, "carton_print")),
        box((0.70 * size[0], size[1] + 2 * PROUD, 0.4 * size[2]), (0.0, 0.0, size[2] / 2), **printed(second)),
    ]
    return package(("snack box", "small box", "carton", "box of tea"), color, parts, size)


def milk_carton(c: Choices) -> Blueprint:
    """A gable-top carton of milk or juice."""
    color = c.color(("white", "blue", "green", "red", "light blue"))
    band = rgb(c.color(("blue", "green", "orange", "yellow", "red"), "second_color", unlike=color))
    side, height = c.number("side", 0.060, 0.075), c.number("height", 0.13, 0.19)
    parts = gable_carton(side, height, color, fill=(0.98, 0.5))
    parts.append(
        box(
            (side + 2 * PROUD, side + 2 * PROUD, 0.40 * height),
            (0.0, 0.0, 0.42 * height),
            **printed(band, "carton_print"),
        )
    )
    return package(("milk carton", "carton", "juice carton"), color, parts, (side, side, height + GABLE * side + 0.013))


def can(c: Choices) -> Blueprint:
    """A full drink can with bevelled ends."""
    color = c.color((*BRIGHT, "black", "white"))
    second = rgb(c.color(("white", "silver", "yellow", "navy"), "second_color", unlike=color))
    radius, height = c.number("radius", 0.028, 0.034), c.number("height", 0.105, 0.135)
    bevel, style = 0.006, c.pick("style", ("plain", "band"))
    metal = Appearance(color=rgb("silver"), substance="aluminium", fill=0.30)
    filled = Appearance(color=rgb(color), substance="water", material="can_print", round=True)
    parts = [
        cylinder(radius, height - 2 * bevel, (0.0, 0.0, height / 2), **filled),
        lathe([(0.80 * radius, 0.0), (0.985 * radius, bevel + 0.001)], sides=20, **metal),
        lathe(
            [(0.985 * radius, 0.0), (0.84 * radius, bevel + 0.001)],
            (0.0, 0.0, height - bevel - 0.001),
            sides=20,
            **metal,
        ),
        box((0.010, 0.016, 0.001), (0.004, 0.0, height + 0.0004), **printed(rgb("gray"))),
    ]
    if style == "band":
        parts.append(cylinder(radius + PROUD, 0.3 * height, (0.0, 0.0, 0.55 * height), **printed(second, "can_print")))
    return package(("can", "soda can", "drink can", "tin"), color, parts, (2 * radius, 2 * radius, height))


def food_tin(c: Choices) -> Blueprint:
    """A wide tin of food: bare ends with a rim, paper label around."""
    color = c.color(BRIGHT)
    radius, height = c.number("radius", 0.034, 0.043), c.number("height", 0.045, 0.110)
    metal = Appearance(color=rgb("silver"), substance="steel", fill=0.25)
    rim = 0.003
    parts = [
        cylinder(radius, height - 2 * rim, (0.0, 0.0, height / 2), color=rgb("silver"), substance="water", round=True),
        cylinder(radius + 0.0008, rim, (0.0, 0.0, rim / 2), **metal),
        cylinder(radius + 0.0008, rim, (0.0, 0.0, height - rim / 2), **metal),
        cylinder(radius + PROUD, 0.84 * height, (0.0, 0.0, height / 2), **printed(rgb(color), "can_print")),
        cylinder(radius + 2 * PROUD, 0.16 * height, (0.0, 0.0, height / 2), **printed(rgb("cream"))),
    ]
    return package(("tin", "food tin", "soup can", "can"), color, parts, (2 * radius, 2 * radius, height))


def bottle(c: Choices) -> Blueprint:
    """A bottle with shoulder, neck, cap and label: water, sauce or wine."""
    color = c.color(("light blue", "green", "amber", "red", "white", "navy"))
    cap = rgb(c.color(("white", "red", "blue", "black", "yellow"), "cap_color", unlike=color))
    label = rgb(c.color(("white", "cream", "yellow", "light blue", "red"), "label_color", unlike=color))
    radius, body = c.number("radius", 0.028, 0.037), c.number("body", 0.095, 0.145)
    shoulder, neck = c.number("shoulder", 0.020, 0.045), c.number("neck", 0.020, 0.045)
    look = Appearance(color=rgb(color), substance="water", fill=0.95, round=True)
    throat = 0.38 * radius
    top = body + shoulder + neck
    parts = [
        cylinder(radius, body, (0.0, 0.0, body / 2), **look),
        lathe(
            [(radius, 0.0), (0.86 * radius, 0.35 * shoulder), (throat, shoulder)], (0.0, 0.0, body), sides=16, **look
        ),
        cylinder(throat, neck + 0.004, (0.0, 0.0, body + shoulder + neck / 2 - 0.002), **look),
        cylinder(throat + 0.003, 0.016, (0.0, 0.0, top), color=cap, substance="plastic"),
        cylinder(radius + PROUD, 0.45 * body, (0.0, 0.0, 0.50 * body), **printed(label, "can_print")),
    ]
    return package(("bottle", "drink bottle", "flask"), color, parts, (2 * radius, 2 * radius, top + 0.008))


def jar(c: Choices) -> Blueprint:
    """A glass jar of jam or spices with a screw lid."""
    color = c.color(("red", "orange", "amber", "purple", "green", "yellow"))
    lid = rgb(c.color(("white", "red", "black", "silver", "green"), "lid_color", unlike=color))
    radius, height = c.number("radius", 0.028, 0.040), c.number("height", 0.070, 0.110)
    body = 0.78 * height
    parts = [
        cylinder(radius, body, (0.0, 0.0, body / 2), color=rgb(color), substance="water", fill=1.25, round=True),
        lathe(
            [(radius, 0.0), (0.84 * radius, 0.06 * height)],
            (0.0, 0.0, body),
            sides=16,
            color=rgb(color),
            substance="glass",
        ),
        cylinder(
            0.90 * radius, 0.17 * height, (0.0, 0.0, height - 0.085 * height), color=lid, substance="steel", fill=0.1
        ),
        cylinder(radius + PROUD, 0.38 * height, (0.0, 0.0, 0.40 * height), **printed(rgb("cream"), "can_print")),
    ]
    return package(("jar", "jam jar", "glass jar"), color, parts, (2 * radius, 2 * radius, height))


def spray_bottle(c: Choices) -> Blueprint:
    """A cleaning spray: flat bottle, neck, trigger head."""
    color = c.color(("white", "light blue", "green", "yellow", "pink"))
    head = rgb(c.color(("red", "blue", "white", "orange", "green"), "head_color", unlike=color))
    width, depth = c.number("width", 0.070, 0.085), c.number("depth", 0.040, 0.052)
    body = c.number("body", 0.110, 0.140)
    plain, top = (
        Appearance(color=rgb(color), substance="water", fill=0.8),
        Appearance(color=head, substance="plastic", fill=0.6),
    )
    half = [(-width / 2, -depth / 2), (width / 2, -depth / 2), (width / 2, depth / 2), (-width / 2, depth / 2)]
    taper = [(0.36 * x, 0.5 * y) for x, y in half]
    corners = [(x, y, 0.0) for x, y in half] + [(x, y, 0.045) for x, y in taper]
    z = body + 0.045
    parts = [
        box((width, depth, body), (0.0, 0.0, body / 2), **plain),
        hull(corners, (0.0, 0.0, body), **plain),
        cylinder(0.014, 0.022, (0.0, 0.0, z + 0.008), **top),
        box((0.075, 0.020, 0.022), (-0.008, 0.0, z + 0.028), **top),
        bar((-0.042, 0.0, z + 0.028), (-0.053, 0.0, z + 0.028), 0.006, **top),
        bar((-0.030, 0.0, z + 0.018), (-0.036, 0.0, z - 0.014), 0.004, **top),
        box((0.72 * width, depth + 2 * PROUD, 0.55 * body), (0.0, 0.0, 0.48 * body), **printed(head, "can_print")),
    ]
    return package(("spray bottle", "cleaning spray", "sprayer"), color, parts, (width, depth, z + 0.039))


def gable_carton(side: float, height: float, color: str, *, fill: tuple[float, float]) -> list[Part]:
    """Return the box, the folded roof and the seam of a carton; ``fill`` of its body and of its roof."""
    gable = GABLE * side
    roof = [(-side / 2, 0.0), (side / 2, 0.0), (0.004, gable), (-0.004, gable)]
    slope = Appearance(color=shade(rgb(color), 0.9), substance="water", fill=fill[1])
    return [
        box((side, side, height), (0.0, 0.0, height / 2), color=rgb(color), substance="water", fill=fill[0]),
        prism(roof, side, (0.0, 0.0, height), euler=(90.0, 0.0, 0.0), **slope),
        box((0.008, side, 0.016), (0.0, 0.0, height + gable + 0.005), color=rgb(color), substance="cardboard"),
    ]


def package(
    words: tuple[str, ...], color: str | None, parts: list[Part], size: tuple[float, float, float]
) -> Blueprint:
    """Return a closed package of a full size (3,) [m]; without a colour word if it is named by its content."""
    return Blueprint(
        words=words,
        color=color,
        parts=tuple(parts),
        keypoints=upright_points(size[2], center=(0.0, 0.0, size[2] / 2)),
        axes=axes(up=(0.0, 0.0, 1.0), front=(0.0, -1.0, 0.0)),
    )

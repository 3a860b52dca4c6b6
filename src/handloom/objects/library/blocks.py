"""Cubes, bricks and other building blocks."""

import math
from dataclasses import replace

from handloom.objects.blueprint import Blueprint, one_piece
from handloom.objects.choices import Choices
from handloom.objects.materials import BRIGHT, rgb, shade
from handloom.objects.shapes import Appearance, box, cylinder, prism

_WOODEN = (*BRIGHT, "wood", "white", "black")


def cube(c: Choices) -> Blueprint:
    """A cube of painted wood; plain, or with a letter or dots on every face."""
    color, style = c.color(_WOODEN), c.pick("style", ("plain", "inlay"))
    edge = c.number("edge", 0.035, 0.055)
    parts = [box((edge, edge, edge), (0.0, 0.0, edge / 2), color=rgb(color), substance="wood")]
    if style == "inlay":
        inlay = Appearance(color=shade(rgb(color), 1.7), substance="wood", fill=0.0, solid=False)
        long, thin = edge + 0.0008, 0.62 * edge
        # The three bars keep their place in the model; cameras see the print on the cube.
        bars = [
            box(s, (0.0, 0.0, edge / 2), **inlay) for s in ((long, thin, thin), (thin, long, thin), (thin, thin, long))
        ]
        parts = [
            replace(parts[0], material="lettered_wood"),
            *(replace(bar, drawn="with the last") for bar in bars),
        ]
    return one_piece(("cube", "block", "toy cube"), color, parts, (edge, edge, edge))


def block(c: Choices) -> Blueprint:
    """A rectangular wooden block, lying."""
    color = c.color(_WOODEN)
    size = (c.number("length", 0.070, 0.120), c.number("width", 0.030, 0.045), c.number("height", 0.022, 0.035))
    parts = [box(size, (0.0, 0.0, size[2] / 2), color=rgb(color), substance="wood")]
    return one_piece(("block", "wooden block", "brick"), color, parts, size)


def studded_brick(c: Choices) -> Blueprint:
    """A big plastic construction brick with studs on top."""
    color, rows = c.color(BRIGHT), c.integer("rows", 2, 4)
    pitch, height = c.number("pitch", 0.024, 0.032), c.number("height", 0.026, 0.036)
    size = (rows * pitch, 2 * pitch, height)
    shine = Appearance(color=rgb(color), substance="plastic", fill=0.30)
    parts = [box(size, (0.0, 0.0, height / 2), **shine)]
    for i in range(rows):
        for j in (-0.5, 0.5):
            at = ((i - (rows - 1) / 2) * pitch, j * pitch, height + 0.0035)
            parts.append(cylinder(0.30 * pitch, 0.007, at, **shine))
    return one_piece(
        ("toy brick", "construction brick", "plastic brick"), color, parts, (size[0], size[1], height + 0.007)
    )


def triangle_block(c: Choices) -> Blueprint:
    """A wooden prism with a triangular front, the roof of a toy house."""
    color = c.color(_WOODEN)
    width, depth = c.number("width", 0.055, 0.085), c.number("depth", 0.030, 0.045)
    height = c.number("height", 0.030, 0.045)
    outline = [(-width / 2, 0.0), (width / 2, 0.0), (0.0, height)]
    parts = [prism(outline, depth, euler=(90.0, 0.0, 0.0), color=rgb(color), substance="wood")]
    return one_piece(("triangle block", "roof block", "prism"), color, parts, (width, depth, height))


def cylinder_block(c: Choices) -> Blueprint:
    """A wooden cylinder, standing."""
    color = c.color(_WOODEN)
    radius, height = c.number("radius", 0.016, 0.026), c.number("height", 0.040, 0.075)
    parts = [cylinder(radius, height, (0.0, 0.0, height / 2), color=rgb(color), substance="wood", round=True)]
    return one_piece(("cylinder", "round block", "wooden cylinder"), color, parts, (2 * radius, 2 * radius, height))


def hex_nut(c: Choices) -> Blueprint:
    """A large toy nut: a ring of six wedges around a hole."""
    color = c.color((*BRIGHT, "silver", "gray"))
    radius, height = c.number("radius", 0.022, 0.032), c.number("height", 0.014, 0.022)
    parts = []
    for k in range(6):
        edges = [math.radians(60.0 * (k + s)) for s in (-0.5, 0.5)]
        corners = [(r * math.cos(a), r * math.sin(a)) for r in (radius, 0.55 * radius) for a in edges]
        parts.append(prism(corners, height, (0.0, 0.0, height / 2), color=rgb(color), substance="plastic"))
    return one_piece(("nut", "hex nut", "toy nut"), color, parts, (2 * radius, 2 * radius, height))

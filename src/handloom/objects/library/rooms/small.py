"""Small items on kitchen worktops and shelves: spice rack, knife block, kettle, toaster, coffee machine, roll."""

from handloom.objects.blueprint import Blueprint
from handloom.objects.choices import Choices
from handloom.objects.library.furniture import standing
from handloom.objects.library.rooms.finishes import APPLIANCES, FRONTS, METALS, finish, pane, surface
from handloom.objects.materials import rgb, shade
from handloom.objects.parts import Part
from handloom.objects.shapes import Appearance, arc, box, cylinder, hull, lathe, open_box, rod

SPICES = ((0.62, 0.22, 0.09), (0.78, 0.56, 0.14), (0.30, 0.36, 0.14), (0.36, 0.22, 0.13), (0.20, 0.18, 0.16))
"""Paprika, turmeric, herbs, cinnamon, pepper."""


def spice_rack(c: Choices) -> Blueprint:
    """A small wooden rack with a row of spice jars on each of its two boards."""
    x, y, pitch = c.number("width", 0.24, 0.34), c.number("depth", 0.075, 0.090), c.number("pitch", 0.12, 0.14)
    stuff, jars = c.pick("finish", ("oak", "walnut", "birch", "white_lacquer")), c.integer("jars", 4, 5)
    look, thick = surface(stuff), 0.009
    z = 2 * pitch
    parts: list[Part] = [box((thick, y, z), (s * (x - thick) / 2, 0.0, z / 2), **look) for s in (-1.0, 1.0)]
    for k in range(2):
        low = 0.008 + k * pitch
        parts.append(box((x - 2 * thick, y, thick), (0.0, 0.0, low), **look))
        parts.append(box((x - 2 * thick, 0.006, 0.014), (0.0, -y / 2 + 0.003, low + 0.030), **look))
        step = (x - 2 * thick) / jars
        for j in range(jars):
            at = -(jars - 1) / 2 * step + j * step
            color, tall = SPICES[(2 * j + k) % len(SPICES)], 0.066
            glass = Appearance(color=color, substance="glass", fill=0.4)
            cap = Appearance(color=rgb("black"), substance="plastic", fill=0.4)
            base = low + thick / 2
            parts.append(cylinder(0.40 * step, tall, (at, 0.0, base + tall / 2), **glass))
            parts.append(cylinder(0.42 * step, 0.016, (at, 0.0, base + tall + 0.008), **cap))
    return standing(("spice rack", "rack of spices"), finish(stuff).word, parts, z)


def knife_block(c: Choices) -> Blueprint:
    """A wooden block with the handles of five knives."""
    x, y, z = c.number("width", 0.085, 0.105), c.number("depth", 0.12, 0.15), c.number("height", 0.19, 0.23)
    stuff = c.pick("finish", ("oak", "walnut", "birch", "charcoal_paint"))
    corners = [
        (sx * x / 2, v, w) for sx in (-1.0, 1.0) for v, w in ((-y / 2, 0.0), (y / 2, 0.0), (y / 2, z), (0.0, 0.62 * z))
    ]
    parts: list[Part] = [hull(corners, **surface(stuff))]
    black = Appearance(color=rgb("black"), substance="plastic")
    for k in range(5):
        u, v = (k % 3 - 1) * 0.29 * x, 0.24 * y if k < 3 else 0.36 * y
        w = (0.62 + 0.76 * (v / y)) * z
        parts.append(box((0.014, 0.022, 0.075), (u, v - 0.012, w + 0.022), euler=(20.0, 0.0, 0.0), **black))
    return standing(("knife block", "block of knives"), finish(stuff).word, parts, z)


def kettle(c: Choices) -> Blueprint:
    """An electric kettle: a round jug on its base, with a handle and a short spout."""
    stuff = c.pick("finish", tuple(APPLIANCES))
    radius, z = c.number("radius", 0.072, 0.082), c.number("height", 0.18, 0.22)
    look = surface(stuff, fill=0.12)
    black = Appearance(color=rgb("black"), substance="plastic", fill=0.6)
    parts: list[Part] = [
        cylinder(radius + 0.006, 0.018, (0.0, 0.0, 0.009), **black),
        lathe([(radius, 0.020), (1.02 * radius, 0.4 * z), (0.80 * radius, z)], sides=18, **look),
        cylinder(0.78 * radius, 0.010, (0.0, 0.0, z + 0.003), **black),
        cylinder(0.014, 0.016, (0.0, 0.0, z + 0.014), **black),
        *arc((0.86 * radius, 0.0, 0.58 * z), (0.060, 0.36 * z), 0.018, pieces=5, **black),
        hull(
            [(-0.78 * radius, s * 0.020, 0.80 * z) for s in (-1, 1)]
            + [(-0.70 * radius, s * 0.020, 0.985 * z) for s in (-1, 1)]
            + [(-1.20 * radius, s * 0.008, 0.985 * z) for s in (-1, 1)],
            **look,
        ),
    ]
    return standing(("kettle", "electric kettle"), finish(stuff).word, parts, z)


def toaster(c: Choices) -> Blueprint:
    """A toaster with two slots and a lever."""
    x, y, z = c.number("width", 0.26, 0.30), c.number("depth", 0.16, 0.19), c.number("height", 0.17, 0.20)
    stuff = c.pick("finish", tuple(APPLIANCES))
    look = surface(stuff, fill=0.04)
    black = Appearance(color=rgb("black"), substance="plastic", fill=0.4)
    slot = Appearance(color=(0.03, 0.03, 0.03), substance="steel", fill=0.0, solid=False)
    outline = [(-0.5, 0.0), (0.5, 0.0), (0.5, 0.82), (0.42, 1.0), (-0.42, 1.0), (-0.5, 0.82)]
    corners = [(s * (x - 0.03) / 2, v * y, 0.012 + w * (z - 0.012)) for s in (-1.0, 1.0) for v, w in outline]
    parts: list[Part] = [
        hull(corners, **look),
        *(box((0.02, 0.96 * y, 0.92 * z), (s * (x / 2 - 0.01), 0.0, 0.46 * z), **black) for s in (-1.0, 1.0)),
        *(box((0.62 * x, 0.030, 0.002), (0.0, s * 0.18 * y, z), **slot) for s in (-1.0, 1.0)),
        box((0.022, 0.034, 0.014), (x / 2 + 0.008, 0.0, 0.66 * z), **black),
        cylinder(
            0.014, 0.010, (x / 2 + 0.004, -0.22 * y, 0.30 * z), euler=(0.0, 90.0, 0.0), **surface("brushed_steel")
        ),
    ]
    return standing(("toaster", "bread toaster"), finish(stuff).word, parts, z)


def coffee_machine(c: Choices) -> Blueprint:
    """A coffee machine: a column with a head over a drip tray, and a glass jug."""
    x, y, z = c.number("width", 0.19, 0.23), c.number("depth", 0.24, 0.28), c.number("height", 0.31, 0.36)
    stuff = c.pick("finish", ("black_enamel", "stainless_steel", "white_enamel", "red_enamel"))
    look = surface(stuff, fill=0.04)
    parts: list[Part] = [
        box((x, y, 0.035), (0.0, 0.0, 0.0175), **look),
        box((x, 0.40 * y, z - 0.035), (0.0, 0.30 * y, 0.035 + (z - 0.035) / 2), **look),
        box((x, 0.60 * y, 0.10), (0.0, -0.20 * y, z - 0.05), **look),
        cylinder(0.33 * x, 0.004, (0.0, -0.18 * y, 0.037), **surface("dark_steel")),
        cylinder(0.30 * x, 0.13, (0.0, -0.18 * y, 0.105), color=(0.16, 0.11, 0.08), substance="glass", fill=0.2),
        cylinder(0.24 * x, 0.012, (0.0, -0.18 * y, 0.176), color=rgb("black"), substance="plastic"),
        box((0.50 * x, 0.002, 0.035), (0.0, -y / 2, z - 0.05), **pane()),
    ]
    return standing(("coffee machine", "coffee maker"), finish(stuff).word, parts, z)


def paper_towel(c: Choices) -> Blueprint:
    """A roll of paper towels on a stand."""
    z, radius = c.number("height", 0.22, 0.25), c.number("radius", 0.050, 0.062)
    metal = c.pick("finish", tuple(METALS))
    parts: list[Part] = [
        cylinder(0.075, 0.010, (0.0, 0.0, 0.005), **surface(metal, fill=0.6)),
        cylinder(0.006, z + 0.05, (0.0, 0.0, (z + 0.05) / 2 + 0.010), **surface(metal)),
        cylinder(radius, z, (0.0, 0.0, 0.012 + z / 2), color=(0.92, 0.92, 0.90), substance="paper", fill=0.15),
        cylinder(0.012, 0.014, (0.0, 0.0, z + 0.070), **surface(metal)),
    ]
    return standing(("paper towel", "kitchen roll"), None, parts, z)


def utensil_pot(c: Choices) -> Blueprint:
    """A jar with wooden spoons and spatulas in it."""
    radius, z = c.number("radius", 0.050, 0.062), c.number("height", 0.14, 0.17)
    color = c.color(("white", "cream", "gray", "navy", "teal", "mint"))
    glaze = Appearance(color=rgb(color), substance="ceramic", fill=0.25)
    wood = surface("birch", fill=0.8)
    parts: list[Part] = [lathe([(0.9 * radius, 0.0), (radius, 0.3 * z), (radius, z)], sides=18, **glaze)]
    dark = Appearance(color=(0.08, 0.07, 0.06), substance="ceramic", fill=0.0, solid=False)
    parts.append(cylinder(0.88 * radius, 0.001, (0.0, 0.0, z), **dark))
    for k, (u, v) in enumerate(((-0.5, 0.2), (0.45, 0.35), (0.05, -0.45), (0.1, 0.5))):
        foot = (0.55 * u * radius, 0.55 * v * radius, z - 0.01)
        tip = (1.5 * u * radius, 1.5 * v * radius, z + 0.11 + 0.02 * (k % 2))
        parts.append(rod(foot, tip, 0.006, **wood))
        parts.append(box((0.040, 0.010, 0.060), tip, **(wood if k % 2 else surface("brushed_steel", fill=0.5))))
    return standing(("utensil jar", "jar of utensils"), color, parts, z)


def magazine_stack(c: Choices) -> Blueprint:
    """A few magazines on top of each other."""
    x, y, count = c.number("width", 0.19, 0.22), c.number("length", 0.26, 0.30), c.integer("count", 3, 5)
    parts: list[Part] = []
    for k in range(count):
        color = c.color(("white", "red", "navy", "yellow", "teal", "gray", "pink"), f"color_{k}")
        look = Appearance(color=rgb(color), substance="paper", fill=0.9)
        at = ((k % 2) * 0.006, (k % 3) * -0.005, 0.004 + 0.008 * k)
        parts.append(box((x, y, 0.0076), at, euler=(0.0, 0.0, 5.0 * ((k * 7) % 5 - 2)), **look))
    return standing(("stack of magazines", "magazines"), None, parts, 0.008 * count)


def book_row(c: Choices) -> Blueprint:
    """A row of upright books between two ends, as they stand on a shelf; their backs face -y."""
    count, y = c.integer("count", 7, 12), c.number("depth", 0.13, 0.16)
    words = ("red", "navy", "green", "cream", "teal", "brown", "black", "orange", "white", "purple")
    parts: list[Part] = []
    at = 0.0
    for k in range(count):
        thick, tall = c.number(f"thick_{k}", 0.016, 0.042), c.number(f"tall_{k}", 0.18, 0.26)
        color = c.color(words, f"color_{k}")
        look = Appearance(color=rgb(color), substance="paper", fill=0.9)
        parts.append(box((thick - 0.001, y, tall), (at + thick / 2, 0.0, tall / 2), **look))
        band = Appearance(color=shade(rgb(color), 1.6), substance="paper", fill=0.0, solid=False)
        parts.append(box((thick - 0.004, 0.001, 0.2 * tall), (at + thick / 2, -y / 2, 0.7 * tall), **band))
        at += thick
    shift = (-at / 2, 0.0, 0.0)
    return standing(("row of books", "books"), None, [part.moved(shift) for part in parts], 0.18)


def letter_tray(c: Choices) -> Blueprint:
    """Two trays for letters, one above the other, with paper in them."""
    x, y, pitch = c.number("width", 0.25, 0.28), c.number("depth", 0.32, 0.35), c.number("pitch", 0.065, 0.08)
    stuff = c.pick("finish", ("black_metal", "brushed_steel", "white_lacquer", "oak"))
    look = surface(stuff, fill=0.3 if stuff in METALS else 1.0)
    parts: list[Part] = []
    for k in range(2):
        floor, *walls = open_box((x, y, 0.045), 0.005, (0.0, 0.0, k * pitch), **look)
        parts += [floor, *walls[:3]]
        paper = Appearance(color=(0.92, 0.92, 0.90), substance="paper", fill=0.5)
        parts.append(box((0.21, 0.29, 0.012), (0.0, 0.0, k * pitch + 0.012), **paper))
    parts += [box((0.008, 0.03, pitch), (s * (x - 0.008) / 2, 0.4 * y, pitch / 2 + 0.01), **look) for s in (-1, 1)]
    word = finish(stuff).word if stuff in FRONTS or stuff in METALS else None
    return standing(("letter tray", "paper tray"), word, parts, pitch + 0.045)

"""Large appliances of a kitchen: hob with knobs, oven, dishwasher, hood, fridge."""

from handloom.objects.blueprint import Blueprint, upright
from handloom.objects.choices import Choices
from handloom.objects.joint_dynamics import Feel, joint_dynamics
from handloom.objects.library.furniture import carcass, handle
from handloom.objects.library.rooms.finishes import APPLIANCES, METALS, finish, glow, pane, surface
from handloom.objects.parts import Link, Part, axes, upright_points
from handloom.objects.shapes import Appearance, box, cylinder, hull

DARK = (0.05, 0.06, 0.07)
THICK = 0.030
"""Thickness of an appliance's door [m]."""
OUT = 0.036
"""Distance of the gripped middle of a handle from its door [m]."""
GAP = 0.002


def stove(c: Choices) -> Blueprint:
    """A hob over a panel with four knobs, as it sits on an oven; lower edge of the panel at the origin."""
    x, y, panel = c.number("width", 0.58, 0.62), c.number("depth", 0.56, 0.60), c.number("panel", 0.115, 0.135)
    stuff, kind = c.pick("finish", tuple(APPLIANCES)), c.pick("kind", ("gas", "glass"))
    radius, count = c.number("radius", 0.019, 0.022), 4
    knob = c.pick("knob_finish", ("black_enamel", "stainless_steel"))
    feel = joint_dynamics(c, "knob")
    look, plate = surface(stuff, fill=0.06), 0.030
    parts: list[Part] = [
        box((x, y, panel), (0.0, 0.0, panel / 2), **look),
        box((x, y, plate), (0.0, 0.0, panel + plate / 2), **(pane(solid=True) if kind == "glass" else look)),
    ]
    z = panel + plate
    spots = [(sx * 0.24 * x, sy * 0.22 * y) for sx in (-1.0, 1.0) for sy in (-1.0, 1.0)]
    burners = {}
    for k, (u, v) in enumerate(spots):
        wide = 0.105 if k in (0, 3) else 0.085
        if kind == "gas":
            iron = Appearance(color=(0.06, 0.06, 0.065), substance="steel", fill=0.3)
            # Four bars on which pots stand, and the burner between them.
            parts += [box((2 * wide, 0.010, 0.016), (u, v, z + 0.012), **iron)]
            parts += [box((0.010, 2 * wide, 0.016), (u, v, z + 0.0125), **iron)]
            parts += [cylinder(0.42 * wide, 0.014, (u, v, z + 0.007), **surface("dark_steel", solid=False))]
            burners[f"burner_{k + 1}"] = (u, v, z + 0.0205)
        else:
            ring = Appearance(color=(0.22, 0.22, 0.23), substance="glass", fill=0.0, solid=False)
            parts += [cylinder(wide, 0.0008, (u, v, z), **ring)]
            parts += [cylinder(wide - 0.006, 0.0012, (u, v, z), **pane())]
            burners[f"burner_{k + 1}"] = (u, v, z + 0.001)
    links = []
    for k in range(count):
        name, at = f"knob_{k + 1}", ((k - (count - 1) / 2) * 0.125, -y / 2, 0.52 * panel)
        links.append(_knob(name, at, radius, feel))
        parts += _knob_parts(name, at, radius, knob, stuff)
    return Blueprint(
        words=("stove", "hob", "cooktop"),
        color=finish(stuff).word,
        parts=tuple(parts),
        links=tuple(links),
        keypoints=upright_points(z, **burners),
        rests="upright",
    )


def _knob_parts(name: str, at: tuple[float, float, float], radius: float, knob: str, stuff: str) -> list[Part]:
    dark = knob == "black_enamel"
    mark = Appearance(
        color=(0.9, 0.9, 0.88) if dark else (0.6, 0.08, 0.07), substance="plastic", fill=0.0, solid=False, body=name
    )
    look: Appearance = {**surface(knob, body=name), "substance": "plastic"}
    ring = "dark_steel" if stuff != "black_enamel" else "stainless_steel"
    return [
        cylinder(1.3 * radius, 0.002, at, euler=(90.0, 0.0, 0.0), **surface(ring, solid=False)),
        cylinder(radius, 0.024, (0.0, -0.013, 0.0), euler=(90.0, 0.0, 0.0), **look),
        box((0.010, 0.016, 1.9 * radius), (0.0, -0.031, 0.0), **look),
        box((0.003, 0.002, 0.8 * radius), (0.0, -0.0395, 0.5 * radius), **mark),
    ]


def _knob(name: str, origin: tuple[float, float, float], radius: float, feel: Feel) -> Link:
    return Link(
        name=name,
        kind="hinge",
        origin=origin,
        axis=(0.0, -1.0, 0.0),
        range=(0.0, 4.7),
        head=(0.0, -0.031, 0.0),
        tail=(0.0, -0.031, 0.85 * radius),
        contact_axis=(0.0, 0.0, 1.0),
        normal=(0.0, -1.0, 0.0),
        **feel,
    )


def built_in_oven(c: Choices) -> Blueprint:
    """A full-size oven under a hob: the door with its window folds down, a rack inside, a drawer front below."""
    x, y, z = c.number("width", 0.58, 0.60), c.number("depth", 0.54, 0.56), c.number("height", 0.58, 0.62)
    base, stuff = c.number("base", 0.13, 0.16), c.pick("finish", tuple(APPLIANCES))
    metal, feel = c.pick("handle_finish", tuple(METALS)), joint_dynamics(c, "folding door")
    look, wall, front = surface(stuff, fill=0.10), 0.030, -y / 2
    inside = Appearance(color=(0.16, 0.16, 0.17), substance="steel", fill=0.10)
    parts = [p.moved((0.0, 0.0, base)) for p in carcass((x, y, z), wall, inside)]
    grate = Appearance(color=(0.55, 0.56, 0.57), substance="steel", fill=0.2)
    parts += [
        box((x, y - 0.02, base - 0.004), (0.0, 0.01, base / 2 - 0.002), **surface(stuff, fill=0.03)),
        box((x - 0.004, 0.018, base - 0.050), (0.0, front + 0.012, 0.045 + (base - 0.050) / 2), **look),
        box((x - 2 * wall, y - 0.06, 0.006), (0.0, 0.0, base + 0.42 * z), **grate),
    ]
    tall = z - 0.004
    parts += _folding_door((x - 0.004, tall), stuff, metal, window=True)
    link = _folding_link((0.0, front - GAP, base + 0.002), tall, feel)
    return upright(
        ("oven", "kitchen oven", "built-in oven"),
        finish(stuff).word,
        parts,
        [link],
        upright_points(base + z, base + wall + 0.04),
        0.12,
    )


def dishwasher(c: Choices) -> Blueprint:
    """A dishwasher under a worktop: its front folds down, two baskets inside."""
    x, y = c.number("width", 0.58, 0.60), c.number("depth", 0.54, 0.56)
    base, z = c.number("base", 0.10, 0.14), c.number("height", 0.72, 0.76)
    stuff, metal = c.pick("finish", tuple(APPLIANCES)), c.pick("handle_finish", tuple(METALS))
    feel, front, wall = joint_dynamics(c, "folding door"), -y / 2, 0.024
    shell = Appearance(color=(0.70, 0.71, 0.72), substance="steel", fill=0.10)
    wire = Appearance(color=(0.82, 0.83, 0.84), substance="plastic", fill=0.15)
    parts = [p.moved((0.0, 0.0, base)) for p in carcass((x, y, z), wall, shell)]
    parts.append(box((x, y - 0.05, base), (0.0, 0.025, base / 2), **surface("black_enamel", fill=0.02)))
    for level in (0.14, 0.52):
        at = base + level * z
        parts.append(box((x - 2 * wall - 0.03, y - 0.07, 0.006), (0.0, 0.0, at), **wire))
        parts += [
            box((x - 2 * wall - 0.03, 0.006, 0.07), (0.0, s * (y - 0.076) / 2, at + 0.035), **wire) for s in (-1.0, 1.0)
        ]
    tall = z - 0.004
    parts += _folding_door((x - 0.004, tall), stuff, metal, window=False)
    parts.append(box((0.10, 0.002, 0.018), (0.30 * x, -THICK, 0.955 * tall), **pane("door")))
    link = _folding_link((0.0, front - GAP, base + 0.002), tall, feel)
    return upright(
        ("dishwasher", "dish washer"),
        finish(stuff).word,
        parts,
        [link],
        upright_points(base + z, base + 0.20 * z),
        0.12,
    )


def _folding_door(size: tuple[float, float], stuff: str, metal: str, *, window: bool) -> list[Part]:
    """Return a door whose lower edge is its hinge, with a bar near its upper edge."""
    x, z = size
    steel = surface(metal, fill=0.4, body="door")
    parts = [box((x, THICK, z), (0.0, -THICK / 2, z / 2), **surface(stuff, fill=0.05, body="door"))]
    if window:
        parts.append(box((0.78 * x, 0.003, 0.56 * z), (0.0, -THICK, 0.44 * z), **pane("door")))
    return [*parts, *handle((0.0, -THICK + 0.001, 0.90 * z), 0.70 * x, OUT, steel, upright=False)]


def _folding_link(origin: tuple[float, float, float], tall: float, feel: Feel) -> Link:
    return Link(
        name="door",
        kind="hinge",
        origin=origin,
        axis=(1.0, 0.0, 0.0),
        range=(0.0, 1.50),
        head=(0.0, -THICK - OUT + 0.001, 0.90 * tall),
        tail=(0.0, -THICK - OUT + 0.001, 0.45 * tall),
        contact_axis=(-1.0, 0.0, 0.0),
        normal=(0.0, -1.0, 0.0),
        push=(0.0, -THICK, 0.78 * tall),
        counterbalance=0.99,
        **feel,
    )


def hood(c: Choices) -> Blueprint:
    """An extractor hood: a canopy that narrows to a chimney, a lamp strip below; lower edge at the origin."""
    x, y = c.number("width", 0.58, 0.62), c.number("depth", 0.44, 0.50)
    z, stuff = c.number("height", 0.55, 0.75), c.pick("finish", tuple(APPLIANCES))
    look, rim, cone = surface(stuff, fill=0.05), 0.05, 0.20
    flue, back = 0.24, y / 2
    corners = [(sx * x / 2, v, rim) for sx in (-1.0, 1.0) for v in (-y / 2, back)]
    corners += [(sx * flue / 2, v, rim + cone) for sx in (-1.0, 1.0) for v in (back - 0.24, back)]
    parts = [
        box((x, y, rim), (0.0, 0.0, rim / 2), **look),
        hull(corners, **look),
        box((flue, 0.24, z - rim - cone), (0.0, back - 0.12, rim + cone + (z - rim - cone) / 2), **look),
        *(box((0.16, 0.05, 0.002), (s * 0.25 * x, -0.20 * y, 0.0), **glow((1.0, 0.96, 0.86))) for s in (-1.0, 1.0)),
        box((0.5 * x, 0.002, 0.018), (0.0, -y / 2, rim / 2), **pane()),
    ]
    return Blueprint(
        words=("hood", "cooker hood", "extractor"),
        color=finish(stuff).word,
        parts=tuple(parts),
        keypoints=upright_points(z),
        rests="upright",
    )


def kitchen_fridge(c: Choices) -> Blueprint:
    """A full-size fridge: the fridge's door above, the freezer's below, glass boards inside; magnets hold both."""
    x, y, z = c.number("width", 0.58, 0.66), c.number("depth", 0.56, 0.60), c.number("height", 1.70, 1.85)
    stuff, metal = c.pick("finish", tuple(APPLIANCES)), c.pick("handle_finish", tuple(METALS))
    hinge, share = c.pick("hinge", ("left", "right")), c.number("freezer", 0.34, 0.40)
    feel = joint_dynamics(c, "fridge door")
    wall, foot, front, thick = 0.045, 0.040, -y / 2, 0.050
    split = foot + share * (z - foot)
    shell, white = surface(stuff, fill=0.012), Appearance(color=(0.93, 0.94, 0.95), substance="plastic", fill=0.10)
    parts = [p.moved((0.0, 0.0, foot)) for p in carcass((x, y, z - foot), wall, shell)]
    inner = x - 2 * wall
    parts.append(box((x - 0.06, y - 0.06, foot), (0.0, 0.02, foot / 2), **surface("black_enamel", fill=0.01)))
    parts.append(box((inner, y - wall, 0.05), (0.0, -wall / 2, split), **white))
    lining = Appearance(color=(0.93, 0.94, 0.95), substance="plastic", fill=0.0, solid=False)
    parts.append(box((inner, 0.004, z - foot - 2 * wall), (0.0, y / 2 - wall, (z + foot) / 2), **lining))
    for level in (0.24, 0.48, 0.72):
        height = split + level * (z - split)
        parts.append(box((inner, y - wall - 0.06, 0.008), (0.0, 0.0, height), **{**white, "fill": 0.3}))
    links: list[Link] = []
    side = 1.0 if hinge == "left" else -1.0
    for name, low, high, grip_at in (("door", split, z, -0.5), ("freezer_door", foot, split, 0.5)):
        tall = high - low - 0.006
        length, edge = 0.34, side * (x - 0.040)
        height = grip_at * (tall - length - 0.10)
        steel = surface(metal, fill=0.4, body=name)
        # It turns about its outer front edge; see ``fronts.leaf``.
        parts += [
            box((x, thick, tall), (side * x / 2, thick / 2, 0.0), **surface(stuff, fill=0.014, body=name)),
            box((x - 0.05, 0.004, tall - 0.04), (side * x / 2, thick + 0.001, 0.0), **{**lining, "body": name}),
            *handle((edge, 0.001, height), length, OUT, steel, upright=True),
        ]
        links.append(
            Link(
                name=name,
                kind="hinge",
                origin=(-side * x / 2, front - GAP - thick, (low + high) / 2),
                axis=(0.0, 0.0, -side),
                range=(0.0, 1.57),
                head=(edge, -OUT + 0.001, height),
                tail=(0.5 * edge, -OUT + 0.001, height),
                contact_axis=(0.0, 0.0, -1.0),
                normal=(0.0, -1.0, 0.0),
                push=(side * (x - 0.030), 0.0, height + (0.30 if grip_at < 0 else -0.30)),
                **feel,
            )
        )
    badge = (side * x / 2, 0.0, 0.36 * (z - split))
    parts.append(box((0.10, 0.002, 0.012), badge, **pane("door")))
    return Blueprint(
        words=("fridge", "refrigerator", "fridge freezer"),
        color=finish(stuff).word,
        parts=tuple(parts),
        links=tuple(links),
        keypoints=upright_points(z, split + 0.10),
        axes=axes(up=(0.0, 0.0, 1.0)),
        holds=0.12,
        rests="upright",
    )

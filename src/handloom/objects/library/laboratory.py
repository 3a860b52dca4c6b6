"""Test tubes, their rack, beakers and flasks."""

from handloom.objects.blueprint import Blueprint
from handloom.objects.choices import Choices
from handloom.objects.materials import BRIGHT, rgb, shade
from handloom.objects.parts import Part, Point, axes, upright_points
from handloom.objects.shapes import FOOT, Appearance, box, cylinder, lathe, shell, sphere, tube

_LIQUIDS = ("red", "blue", "green", "yellow", "purple", "orange")
_GLASS = (0.78, 0.86, 0.88)


def test_tube(c: Choices) -> Blueprint:
    """A test tube, standing as in a rack: open, or stoppered with a coloured cap, with some liquid in it."""
    color, style = c.color(_LIQUIDS), c.pick("style", ("open", "stoppered"))
    radius, height = c.number("radius", 0.0075, 0.0090), c.number("height", 0.10, 0.13)
    wall, level = 0.0022, c.number("level", 0.25, 0.55, step=1e-3)
    clear = Appearance(color=_GLASS, substance="glass", fill=0.6)
    split = radius + level * (height - radius)
    liquid = Appearance(color=rgb(color), substance="glass", fill=0.6)
    parts = [
        sphere(radius, (0.0, 0.0, radius), **liquid),
        cylinder(radius, split - radius, (0.0, 0.0, (split + radius) / 2), **liquid),
    ]
    if style == "open":
        parts += tube(radius, height - split, wall, (0.0, 0.0, split), sides=10, **clear)
    else:
        parts += [
            cylinder(radius, height - split, (0.0, 0.0, (split + height) / 2), **clear),
            cylinder(1.25 * radius, 0.014, (0.0, 0.0, height + 0.003), color=rgb(color), substance="rubber"),
        ]
    return Blueprint(
        words=("test tube", "tube", "sample tube"),
        color=color,
        parts=tuple(parts),
        keypoints=upright_points(height, 0.8 * height),
        axes=axes(up=(0.0, 0.0, 1.0), long=(0.0, 0.0, 1.0), opening=(0.0, 0.0, 1.0)),
        holds=2 * (radius - wall) if style == "open" else 0.0,
    )


def test_tube_rack(c: Choices) -> Blueprint:
    """A rack with two rows of square holes that take tubes of up to 18 mm; keypoint ``slot_i`` is the top of a hole."""
    color, columns = c.color(("wood", "white", "light blue", "gray", "green")), c.integer("columns", 3, 5)
    pitch, height = c.number("pitch", 0.030, 0.034), c.number("height", 0.060, 0.075)
    hole, thick, side = 0.0205, 0.006, 0.006
    look = Appearance(color=rgb(color), substance="wood" if color == "wood" else "plastic")
    length, depth = columns * pitch + 0.010, 2 * pitch + 0.006
    parts = [
        box((length, depth, thick), (0.0, 0.0, thick / 2), **look),
        box((side, depth, height - thick), ((length + side) / 2, 0.0, (height + thick) / 2), **look),
        box((side, depth, height - thick), (-(length + side) / 2, 0.0, (height + thick) / 2), **look),
    ]
    slots: dict[str, Point] = {}
    for row, y in enumerate((-pitch / 2, pitch / 2)):
        slots.update(
            {f"slot_{row * columns + i}": ((i - (columns - 1) / 2) * pitch, y, height) for i in range(columns)}
        )
    for level, tone in ((0.45 * height, 0.9), (height - thick / 2, 1.0)):
        parts += _grid(
            length,
            depth,
            columns,
            pitch,
            hole,
            thick,
            level,
            Appearance(color=shade(rgb(color), tone), substance=look.get("substance", "plastic")),
        )
    return Blueprint(
        words=("test tube rack", "rack", "tube holder"),
        color=color,
        parts=tuple(parts),
        keypoints=upright_points(height, **slots),
        axes=axes(up=(0.0, 0.0, 1.0), opening=(0.0, 0.0, 1.0), long=(1.0, 0.0, 0.0)),
    )


def _grid(
    length: float, depth: float, columns: int, pitch: float, hole: float, thick: float, z: float, look: Appearance
) -> list[Part]:
    """Return a board with 2 x columns square holes, made of three long strips and the bridges between the holes."""
    edge, web = (depth - pitch - hole) / 2, pitch - hole
    strips = [((depth - edge) / 2, edge), (-(depth - edge) / 2, edge), (0.0, web)]
    parts = [box((length, wide, thick), (0.0, y, z), **look) for y, wide in strips]
    end = (length - (columns - 1) * pitch - hole) / 2
    bridges = [((i - (columns - 2) / 2) * pitch, web) for i in range(columns - 1)]
    bridges += [((length - end) / 2, end), (-(length - end) / 2, end)]
    parts += [box((wide, depth - 2 * edge, thick), (x, 0.0, z), **look) for x, wide in bridges]
    return parts


def beaker(c: Choices) -> Blueprint:
    """A laboratory beaker; the lower part of it is a block of coloured liquid."""
    color = c.color(_LIQUIDS)
    radius, height = c.number("radius", 0.030, 0.042), c.number("height", 0.075, 0.105)
    wall, level = 0.003, c.number("level", 0.15, 0.35, step=1e-3)
    fluid = level * height
    parts = tube(radius, height - fluid, wall, (0.0, 0.0, fluid), color=_GLASS, substance="glass")
    parts.append(cylinder(radius, fluid, (0.0, 0.0, fluid / 2), color=rgb(color), substance="water", fill=1.1))
    return _glassware(("beaker", "glass beaker", "measuring cup"), color, parts, radius - wall, height, fluid)


def flask(c: Choices) -> Blueprint:
    """A conical flask with a straight neck; the lower part of it is a block of coloured liquid."""
    color = c.color(_LIQUIDS)
    radius, height = c.number("radius", 0.036, 0.046), c.number("height", 0.095, 0.125)
    neck, wall, fluid = 0.0165, 0.003, c.number("fluid", 0.018, 0.030)
    shoulder = 0.68 * height
    level = radius + (neck - radius) * fluid / shoulder
    clear, cone = Appearance(color=_GLASS, substance="glass"), [(level, fluid), (neck, shoulder)]
    pipe = [(neck, shoulder), (neck, height)]
    parts = shell(cone, [(r - wall, z) for r, z in cone], sides=14, **clear)
    parts += shell(pipe, [(r - wall, z) for r, z in pipe], sides=10, **clear)
    parts.append(lathe([(radius, 0.0), (level, fluid)], sides=14, color=rgb(color), substance="water", fill=1.1))
    return _glassware(("flask", "conical flask", "erlenmeyer flask"), color, parts, neck - wall, height, fluid)


def petri_dish(c: Choices) -> Blueprint:
    """A flat round dish with a culture in it."""
    color = c.color((*BRIGHT, "cream"))
    radius, height, wall = c.number("radius", 0.040, 0.050), c.number("height", 0.0165, 0.022), 0.003
    parts = tube(radius, height, wall, foot=FOOT, color=_GLASS, substance="plastic")
    parts.append(cylinder(radius - wall / 2, 0.005, (0.0, 0.0, 0.0025), color=rgb(color), substance="water"))
    return _glassware(("petri dish", "dish", "culture dish"), color, parts, radius - wall, height, 0.005)


def _glassware(
    words: tuple[str, ...], color: str, parts: list[Part], opening: float, height: float, floor: float
) -> Blueprint:
    return Blueprint(
        words=words,
        color=color,
        parts=tuple(parts),
        keypoints=upright_points(height, max((floor + height) / 2, floor + 0.011)),
        axes=axes(up=(0.0, 0.0, 1.0), opening=(0.0, 0.0, 1.0)),
        holds=2 * opening,
    )

"""Kitchen cabinets: drawers, doors below and above the worktop, tall ones, and panels that close gaps.

Origin of every drawing: the middle of the carcass, seen from above, on the floor or at its lower edge.
"""

from handloom.objects.blueprint import Blueprint, upright
from handloom.objects.choices import Choices
from handloom.objects.joint_dynamics import Feel, joint_dynamics
from handloom.objects.library.furniture import carcass
from handloom.objects.library.rooms.finishes import finish, surface
from handloom.objects.library.rooms.fronts import GAP, JOINT, THICK, FrontStyle, drawer, front_style, leaf
from handloom.objects.parts import Keypoint, Link, Part, upright_points
from handloom.objects.shapes import box

WALL = 0.016
"""Thickness of the boards of a carcass [m]."""
RECESS = 0.05
"""How far the plinth stands back behind the carcass [m]: room for toes."""
TRAVEL = 0.78
"""Fraction of its depth by which a drawer comes out."""


def kitchen_drawers(c: Choices) -> Blueprint:
    """A base unit of two to four drawers on a plinth; ``drawer_1`` is the top one."""
    x, y = c.number("width", 0.40, 0.90, step=0.05), c.number("depth", 0.55, 0.57)
    z, plinth = c.number("height", 0.72, 0.76), c.number("plinth", 0.10, 0.14)
    count, top = c.integer("drawers", 2, 4), c.number("top_drawer", 0.15, 0.19)
    style, feel = front_style(c), joint_dynamics(c, "roller drawer")
    parts = base_carcass((x, y, z), plinth, style)
    links: list[Link] = []
    rest = (z - top) / (count - 1)
    upper = plinth + z
    keypoints = upright_points(upper)
    for k in range(count):
        tall = (top if k == 0 else rest) - JOINT
        name, middle = f"drawer_{k + 1}", upper - tall / 2 - JOINT / 2
        upper -= tall + JOINT
        inner = (x - 2 * WALL - 0.024, min(tall - 0.045, 0.20))
        deep = y - 0.05
        link, pieces = drawer(
            name,
            (x - JOINT, tall, deep),
            (0.0, -y / 2 - GAP, middle),
            TRAVEL * deep,
            style,
            feel,
            inner=inner,
        )
        links.append(link)
        parts += pieces
        if k == 0:
            keypoints["inside"] = Keypoint(body=name, position=(0.0, deep / 2, -tall / 2 + 0.05))
    return upright(
        ("drawers", "kitchen drawers", "drawer unit"), finish(style.finish).word, parts, links, keypoints, 0.05
    )


def kitchen_cabinet(c: Choices) -> Blueprint:
    """A base unit with one or two doors, a board inside and a plinth; under a sink it has no board."""
    x, y = c.number("width", 0.40, 0.90, step=0.05), c.number("depth", 0.55, 0.57)
    z, plinth = c.number("height", 0.72, 0.76), c.number("plinth", 0.10, 0.14)
    doors, boards = c.integer("doors", 1, 2), c.integer("boards", 0, 1)
    hinge, style, feel = c.pick("hinge", ("left", "right")), front_style(c), joint_dynamics(c, "door")
    open_top = c.pick("open_top", ("no", "yes"))
    parts = base_carcass((x, y, z), plinth, style, lid=open_top == "no")
    board = surface(style.finish, fill=0.6)
    parts += [
        box((x - 2 * WALL, y - 0.06, WALL), (0.0, 0.02, plinth + k * z / (boards + 1)), **board)
        for k in range(1, boards + 1)
    ]
    links, leaves = _doors((x, z), (-y / 2 - GAP, plinth + z / 2), doors, hinge, style, feel, grip_at=0.8)
    return Blueprint(
        words=("cabinet", "kitchen cabinet", "base cabinet"),
        color=finish(style.finish).word,
        parts=(*parts, *leaves),
        links=tuple(links),
        keypoints=upright_points(plinth + z, plinth + WALL + 0.05),
        holds=0.08,
        rests="upright",
    )


def upper_cabinet(c: Choices) -> Blueprint:
    """A cabinet that hangs on the wall above a worktop: one or two doors, boards inside."""
    x, y, z = c.number("width", 0.40, 0.90, step=0.05), c.number("depth", 0.30, 0.35), c.number("height", 0.55, 0.75)
    doors, boards = c.integer("doors", 1, 2), c.integer("boards", 1, 2)
    hinge, style, feel = c.pick("hinge", ("left", "right")), front_style(c), joint_dynamics(c, "door")
    look = surface(style.finish, fill=0.6)
    parts = carcass((x, y, z), WALL, look, back=0.008)
    parts += [
        box((x - 2 * WALL, y - 0.04, WALL), (0.0, 0.01, k * z / (boards + 1)), **look) for k in range(1, boards + 1)
    ]
    links, leaves = _doors((x, z), (-y / 2 - GAP, z / 2), doors, hinge, style, feel, grip_at=-0.8)
    return Blueprint(
        words=("wall cabinet", "upper cabinet", "cupboard"),
        color=finish(style.finish).word,
        parts=(*parts, *leaves),
        links=tuple(links),
        keypoints=upright_points(z, WALL + 0.05),
        holds=0.08,
        rests="upright",
    )


def tall_cabinet(c: Choices) -> Blueprint:
    """A cabinet from floor to head height: a door below, a door above, boards inside."""
    x, y = c.number("width", 0.40, 0.60, step=0.05), c.number("depth", 0.55, 0.57)
    z, plinth = c.number("height", 1.90, 2.00), c.number("plinth", 0.10, 0.14)
    hinge, style, feel = c.pick("hinge", ("left", "right")), front_style(c), joint_dynamics(c, "door")
    look = surface(style.finish, fill=0.45)
    parts = base_carcass((x, y, z), plinth, style, fill=0.45)
    split = 0.62 * z
    for share in (0.21, 0.42, 0.62, 0.81):
        parts.append(box((x - 2 * WALL, y - 0.04, WALL), (0.0, 0.01, plinth + share * z), **look))
    links, leaves = [], []
    for name, low, high, grip_at in (("door", 0.0, split, 0.75), ("upper_door", split, z, -0.75)):
        at = (0.0, -y / 2 - GAP, plinth + (low + high) / 2)
        link, pieces = leaf(name, hinge, (x - JOINT, high - low - JOINT), at, style, feel, grip_at=grip_at)
        links.append(link)
        leaves += pieces
    return Blueprint(
        words=("pantry", "tall cabinet", "larder"),
        color=finish(style.finish).word,
        parts=(*parts, *leaves),
        links=tuple(links),
        keypoints=upright_points(plinth + z, plinth + 0.08),
        holds=0.08,
        rests="upright",
    )


def cabinet_panel(c: Choices) -> Blueprint:
    """A closed box behind a panel: the blind corner of two runs, a strip that fills a gap, the end of an island."""
    x, y = c.number("width", 0.05, 0.70), c.number("depth", 0.55, 0.57)
    z, plinth = c.number("height", 0.72, 0.76), c.number("plinth", 0.10, 0.14)
    style = front_style(c)
    look = surface(style.finish, fill=0.1)
    parts = [
        box((x, y + THICK, z), (0.0, -THICK / 2, plinth + z / 2), **look),
        box((x, y - RECESS, plinth), (0.0, RECESS / 2, plinth / 2), **look),
    ]
    return Blueprint(
        words=("panel", "filler panel", "side panel"),
        color=finish(style.finish).word,
        parts=tuple(parts),
        keypoints=upright_points(plinth + z),
        rests="upright",
    )


def wall_shelf(c: Choices) -> Blueprint:
    """One or two boards on the wall, on brackets; ``board_0`` is the lower one."""
    x, y = c.number("width", 0.50, 1.00), c.number("depth", 0.22, 0.28)
    boards, pitch = c.integer("boards", 1, 2), c.number("pitch", 0.30, 0.36)
    style, thick = front_style(c), 0.028
    look, metal = surface(style.finish, fill=0.8), surface(style.metal, fill=0.4)
    parts: list[Part] = []
    places = {}
    for k in range(boards):
        level = 0.09 + k * pitch
        parts.append(box((x, y, thick), (0.0, 0.0, level + thick / 2), **look))
        for s in (-1.0, 1.0):
            at = s * (x / 2 - 0.10)
            parts += [
                box((0.020, 0.006, 0.09), (at, y / 2 - 0.003, level - 0.045), **metal),
                box((0.020, 0.75 * y, 0.006), (at, y / 2 - 0.375 * y, level - 0.003), **metal),
            ]
        places[f"board_{k}"] = (0.0, 0.0, level + thick)
    z = 0.09 + (boards - 1) * pitch + thick
    return Blueprint(
        words=("shelf", "wall shelf", "open shelf"),
        color=finish(style.finish).word,
        parts=tuple(parts),
        keypoints=upright_points(z, **places),
        rests="upright",
    )


def base_carcass(
    size: tuple[float, float, float], plinth: float, style: FrontStyle, *, lid: bool = True, fill: float = 0.6
) -> list[Part]:
    """Return a carcass of full size on a plinth that stands back; bottom centre at the origin.

    Args:
        size: Width, depth and height of the carcass without its plinth [m].
        plinth: Height of the plinth [m].
        style: Its finish.
        lid: Whether it is closed above.
        fill: Fraction of the boards' volume that is material.
    """
    x, y, z = size
    boards = carcass(size, WALL, surface(style.finish, fill=fill), back=0.008)
    if not lid:  # Two rails, and between them the way for a basin.
        rail = 0.055
        rails = [
            box((x - 2 * WALL, rail, WALL), (0.0, s * (y - rail) / 2, z - WALL / 2), **surface(style.finish, fill=fill))
            for s in (-1.0, 1.0)
        ]
        sides = [
            box((WALL, y, WALL), (s * (x - WALL) / 2, 0.0, z - WALL / 2), **surface(style.finish, fill=fill))
            for s in (-1.0, 1.0)
        ]
        boards = [boards[0], *boards[2:], *rails, *sides]
    return [
        *(part.moved((0.0, 0.0, plinth)) for part in boards),
        box((x, y - RECESS, plinth), (0.0, RECESS / 2, plinth / 2), **surface(style.finish, fill=0.1)),
    ]


def _doors(
    size: tuple[float, float],
    at: tuple[float, float],
    count: int,
    hinge: str,
    style: FrontStyle,
    feel: Feel,
    *,
    grip_at: float,
) -> tuple[list[Link], list[Part]]:
    """Return one door ``door``, or a pair ``door`` (the left one) and ``door_2``, in front of a carcass.

    Args:
        size: Width and height of the front [m].
        at: y of the doors' back and z of their middle [m].
        count: One or two.
        hinge: Side of a single door's hinge.
        style: Their look.
        feel: Of their hinges.
        grip_at: See ``leaf``.
    """
    (x, z), (v, w) = size, at
    if count == 1:
        link, parts = leaf("door", hinge, (x - JOINT, z - JOINT), (0.0, v, w), style, feel, grip_at=grip_at)
        return [link], parts
    links, parts = [], []
    for name, side, s in (("door", "left", -1.0), ("door_2", "right", 1.0)):
        link, pieces = leaf(name, side, (x / 2 - JOINT, z - JOINT), (s * x / 4, v, w), style, feel, grip_at=grip_at)
        links.append(link)
        parts += pieces
    return links, parts

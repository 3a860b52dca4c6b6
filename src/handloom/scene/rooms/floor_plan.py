"""Placement of the fixtures of a layout: poses and names in the frame of the room.

The room's frame has its origin in the middle of the floor, z up, and the back wall in +y. A fixture's position is that
of its point ``bottom``: the middle of its carcass on the floor, or of its lower edge.
"""

from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from handloom.arrays import Array
from handloom.scene.rooms import norms
from handloom.scene.rooms.room_files import LayoutConfig, PieceConfig, RunConfig, UnitConfig

YAW = {"back": 0.0, "left": np.pi / 2, "right": -np.pi / 2, "front": np.pi}
"""Yaw of furniture at a wall [rad]; at the back wall its front faces -y."""
BESIDE_TAP = 0.065
"""Distance from the middle of a tap to the rear edge of its worktop [m]."""
LEAST_COUNTER = 0.25
"""Worktops shorter than this get no name [m]."""


@dataclass(frozen=True, kw_only=True)
class Fixture:
    """One fixture of a room, before its finishes are chosen."""

    name: str
    category: str
    position: tuple[float, float, float]
    """Position of its point ``bottom``, or of the named anchor [m]."""
    yaw: float
    """[rad]"""
    parameters: dict[str, Any] = field(default_factory=dict)
    """Parameters from the layout: sizes, hinges."""
    anchor: str = "bottom"
    """Point of the object that is at the position."""
    level: str = "base"
    """base, worktop, upper or piece; styles may differ between them."""
    front: tuple[float, float] = (0.0, 0.0)
    """Position of its user: the middle of the front edge of its run [m]."""


@dataclass(frozen=True, kw_only=True)
class Backsplash:
    """A piece of wall between worktop and wall cabinets."""

    middle: tuple[float, float, float]
    yaw: float
    size: tuple[float, float]
    """Width and height [m]."""


@dataclass(frozen=True, kw_only=True)
class FloorPlan:
    """All placed fixtures of a room."""

    fixtures: tuple[Fixture, ...]
    backsplashes: tuple[Backsplash, ...]
    size: tuple[float, float, float]

    def fixture(self, name: str) -> Fixture | None:
        """Return the fixture of that name, or None."""
        return next((f for f in self.fixtures if f.name == name), None)


def floor_plan(layout: LayoutConfig) -> FloorPlan:
    """Place every unit and piece of a layout."""
    names = _Names()
    fixtures: list[Fixture] = []
    splashes: list[Backsplash] = []
    for run in layout.runs:
        frame = _Frame.of(run, layout)
        placed = _Run(run, frame, names, layout.size[2])
        fixtures += placed.fixtures()
        splashes += placed.backsplashes()
    for piece in layout.pieces:
        fixtures.append(_piece(piece, layout, names))
    return FloorPlan(fixtures=tuple(_main_counter_first(fixtures)), backsplashes=tuple(splashes), size=layout.size)


def _main_counter_first(fixtures: list[Fixture]) -> list[Fixture]:
    """Give the widest worktop at a wall the plain name ``counter``, and the others numbers."""
    tops = [f for f in fixtures if f.name.startswith("counter_piece")]
    order = sorted(tops, key=lambda f: -f.parameters["width"])
    renamed = {f.name: "counter" if k == 0 else f"counter_{k + 1}" for k, f in enumerate(order)}
    return [Fixture(**{**f.__dict__, "name": renamed[f.name]}) if f.name in renamed else f for f in fixtures]


class _Names:
    """Gives the first of a kind its plain name and numbers the next ones from 2."""

    def __init__(self) -> None:
        self._count: Counter[str] = Counter()

    def next(self, word: str) -> str:
        self._count[word] += 1
        return word if self._count[word] == 1 else f"{word}_{self._count[word]}"


@dataclass(frozen=True, eq=False)
class _Frame:
    """Frame of a run: x along it to the right, y to the wall, origin at its left end at the wall, on the floor."""

    origin: Array
    yaw: float

    @classmethod
    def of(cls, run: RunConfig, layout: LayoutConfig) -> "_Frame":
        if run.wall is None:
            yaw = np.deg2rad(run.yaw)
            return cls(np.array(run.at) + _turned(yaw, [-run.length / 2, norms.EDGE / 2]), yaw)
        origin, yaw, wall = wall_frame(run.wall, layout)
        along = run.offset if run.start == "left" else wall - run.offset - run.length
        return cls(origin + _turned(yaw, [along, 0.0]), yaw)

    def at(self, x: float, y: float, z: float = 0.0) -> tuple[float, float, float]:
        u, v = (self.origin + _turned(self.yaw, [x, y])).tolist()
        return u, v, z


def wall_frame(wall: str, layout: LayoutConfig) -> tuple[Array, float, float]:
    """Return the left end of a wall as seen from the room (2,) [m], the yaw of furniture along it and its length."""
    width, depth, _ = layout.size
    yaw = YAW[wall]
    length, away = (width, depth) if wall in ("back", "front") else (depth, width)
    return _turned(yaw, [-length / 2, away / 2]), yaw, length


def _turned(yaw: float, xy: list[float]) -> Array:
    c, s = np.cos(yaw), np.sin(yaw)
    return np.array([c * xy[0] - s * xy[1], s * xy[0] + c * xy[1]])


class _Run:
    """Places the units of a run, its worktops and the units above them."""

    def __init__(self, run: RunConfig, frame: _Frame, names: _Names, ceiling: float) -> None:
        self.run, self.frame, self.names, self.ceiling = run, frame, names, ceiling
        ends = np.cumsum([0.0, *(unit.wide for unit in run.units)])
        self.middles = [(float(a) + float(b)) / 2 for a, b in pairwise(ends)]
        self.island = run.wall is None

    def fixtures(self) -> list[Fixture]:
        found: list[Fixture] = []
        for k, (unit, x) in enumerate(zip(self.run.units, self.middles, strict=True)):
            found += self._below(k, unit, x)
            found += [] if self.island else self._above(unit, x)
        return found + self._worktops()

    def _new(self, word: str, category: str, x: float, y: float, z: float = 0.0, **more: Any) -> Fixture:
        front = self.frame.at(x, -norms.EDGE)[:2]
        position = self.frame.at(x, y, z)
        return Fixture(
            name=self.names.next(word), category=category, position=position, yaw=self.frame.yaw, front=front, **more
        )

    def _below(self, index: int, unit: UnitConfig, x: float) -> list[Fixture]:
        wide, back = unit.wide, -norms.DEPTH / 2
        base = {"width": wide, "depth": norms.DEPTH, "height": norms.BASE, "plinth": norms.PLINTH}
        hinge = {"hinge": unit.hinge or self._free_hinge(index)}
        match unit.unit:
            case "drawers":
                word = "island_drawers" if self.island else "drawers"
                found = [self._new(word, "kitchen_drawers", x, back, parameters={**base, "drawers": unit.drawers})]
            case "cabinet":
                doors = unit.doors or (2 if wide >= 0.65 else 1)
                parameters = {**base, **hinge, "doors": doors, "boards": 1, "open_top": "no"}
                word = "island_cabinet" if self.island else "cabinet"
                found = [self._new(word, "kitchen_cabinet", x, back, parameters=parameters)]
            case "sink":
                found = self._sink(base, x)
            case "stove":
                found = self._stove(wide, x)
            case "dishwasher":
                parameters = {"width": wide - 0.004, "depth": 0.55, "base": norms.PLINTH, "height": norms.BASE}
                found = [self._new("dishwasher", "dishwasher", x, -0.285, parameters=parameters)]
            case "fridge":
                parameters = {**hinge, "width": wide - 0.05, "depth": 0.62}
                found = [self._new("fridge", "kitchen_fridge", x, -0.34, parameters=parameters)]
            case "pantry":
                parameters = {**base, **hinge, "height": 2.02}
                found = [self._new("pantry", "tall_cabinet", x, back, parameters=parameters)]
            case "corner" | "filler":
                found = [self._new("panel", "cabinet_panel", x, back, parameters=base)]
            case _:
                found = []
        if unit.on == "microwave":
            parameters = {"width": 0.46, "depth": 0.32, "height": 0.26}
            at = (x, -0.20, norms.COUNTER)
            found.append(self._new("microwave", "microwave", *at, parameters=parameters, level="appliance"))
        return found

    def _sink(self, base: dict[str, Any], x: float) -> list[Fixture]:
        wide = base["width"]
        cabinet = {**base, "doors": 2 if wide >= 0.65 else 1, "hinge": "left", "boards": 0, "open_top": "yes"}
        basin = min(0.52, wide - 0.18)
        size = {"width": basin, "depth": 0.36, "height": 0.17}
        hole = {"hole": "yes", "hole_width": basin + 0.004, "hole_depth": 0.364}
        top = {"width": wide, "depth": norms.EDGE, "thickness": norms.TOP, **hole}
        at = -norms.EDGE / 2
        return [
            self._new("sink_cabinet", "kitchen_cabinet", x, -norms.DEPTH / 2, parameters=cabinet),
            self._new("sink_counter", "worktop", x, at, norms.COUNTER - norms.TOP, parameters=top, level="worktop"),
            self._new("sink", "kitchen_sink", x, at, norms.COUNTER, parameters=size, anchor="mount", level="worktop"),
            self._new("tap", "kitchen_tap", x, -BESIDE_TAP, norms.COUNTER, level="worktop"),
        ]

    def _stove(self, wide: float, x: float) -> list[Fixture]:
        panel = 0.125
        oven = {"width": wide - 0.008, "depth": 0.55, "base": 0.145, "height": norms.COUNTER - 0.03 - panel - 0.149}
        hob = {"width": wide - 0.006, "depth": 0.60, "panel": panel}
        return [
            self._new("oven", "built_in_oven", x, -0.275, parameters=oven, level="appliance"),
            self._new("stove", "stove", x, -0.31, norms.COUNTER - 0.03 - panel, parameters=hob, level="appliance"),
        ]

    def _above(self, unit: UnitConfig, x: float) -> list[Fixture]:
        kind = unit.above or norms.ABOVE.get(unit.unit, "none")
        wide = unit.wide
        if kind == "cabinet":
            size = {"width": wide, "depth": norms.UPPER_DEPTH, "height": norms.UPPER_HEIGHT}
            doors = unit.doors or (2 if wide >= 0.65 else 1)
            hinge = unit.hinge or self._free_hinge(self.run.units.index(unit))
            parameters = {**size, "doors": doors, "hinge": hinge, "boards": 1}
            at = (x, -norms.UPPER_DEPTH / 2, norms.UPPER)
            return [self._new("upper_cabinet", "upper_cabinet", *at, parameters=parameters, level="upper")]
        if kind == "shelf":
            parameters = {"width": wide - 0.04, "depth": 0.25, "boards": 1}
            return [
                self._new(word, "wall_shelf", x, -0.138, height, parameters=parameters, level="upper")
                for word, height in (("shelf", norms.SHELF), ("high_shelf", norms.SHELF + norms.BETWEEN))
            ]
        if kind == "hood":
            height = min(self.ceiling - norms.HOOD, 0.95)
            parameters = {"width": wide - 0.01, "height": height}
            return [self._new("hood", "hood", x, -0.25, norms.HOOD, parameters={**parameters, "depth": 0.48})]
        if kind == "window":
            parameters = {"width": wide - 0.12, "height": 0.76}
            return [self._new("window", "window", x, -0.034, norms.SILL, parameters=parameters, level="upper")]
        return []

    def _free_hinge(self, index: int) -> str:
        """Return the hinge side on which a door swings away from a corner, a filler or a tall neighbour."""
        units = self.run.units
        left = units[index - 1].unit if index else None
        right = units[index + 1].unit if index + 1 < len(units) else None
        if left in ("corner", "filler"):
            return "right"
        if right in ("corner", "filler"):
            return "left"
        return "left" if index == 0 and right is not None else "right" if right is None else "left"

    def _worktops(self) -> list[Fixture]:
        """Return a worktop over every contiguous row of units that carry one."""
        found: list[Fixture] = []
        for low, high in self._stretches(("drawers", "cabinet", "dishwasher", "corner", "filler")):
            wide, deep = high - low, norms.EDGE + self.run.overhang
            parameters = {"width": wide, "depth": deep, "thickness": norms.TOP, "hole": "no"}
            word = "island" if self.island else "counter_piece" if wide >= LEAST_COUNTER else "counter_strip"
            at = ((low + high) / 2, -norms.EDGE + deep / 2, norms.COUNTER - norms.TOP)
            found.append(self._new(word, "worktop", *at, parameters=parameters, level="worktop"))
        return found

    def _stretches(self, kinds: tuple[str, ...]) -> list[tuple[float, float]]:
        """Return the ends of the stretches of neighbouring units of some kinds [m]."""
        stretches: list[tuple[float, float]] = []
        for unit, x in zip(self.run.units, self.middles, strict=True):
            low, high = x - unit.wide / 2, x + unit.wide / 2
            if unit.unit not in kinds:
                continue
            if stretches and abs(stretches[-1][1] - low) < 1e-9:
                stretches[-1] = (stretches[-1][0], high)
            else:
                stretches.append((low, high))
        return stretches

    def backsplashes(self) -> list[Backsplash]:
        """Return the wall between worktops and the units above them; an island has none."""
        if self.island:
            return []
        low, high = norms.COUNTER, norms.UPPER
        kinds = ("drawers", "cabinet", "dishwasher", "corner", "filler", "sink", "stove")
        return [
            Backsplash(
                middle=self.frame.at((a + b) / 2, -0.0061, (low + high) / 2),
                yaw=self.frame.yaw,
                size=(b - a, high - low),
            )
            for a, b in self._stretches(kinds)
        ]


def _piece(piece: PieceConfig, layout: LayoutConfig, names: _Names) -> Fixture:
    name, level = names.next(piece.called), "piece"
    height = layout.size[2] if piece.ceiling else piece.height
    anchor = "ceiling" if piece.ceiling else "bottom"
    if piece.at is not None:
        yaw = float(np.deg2rad(piece.yaw))
        x, y = piece.at
        deep = float(piece.parameters.get("depth", 0.0))
        front = (np.array(piece.at) + _turned(yaw, [0.0, -deep / 2])).tolist()
    else:
        origin, yaw, _ = wall_frame(str(piece.wall), layout)
        deep = float(piece.parameters.get("depth", DEEP.get(piece.piece, 0.06)))
        x, y = (origin + _turned(yaw, [piece.along, -piece.away - deep / 2])).tolist()
        front = (origin + _turned(yaw, [piece.along, -piece.away - deep])).tolist()
    return Fixture(
        name=name,
        category=piece.piece,
        position=(x, y, height),
        yaw=yaw,
        parameters=dict(piece.parameters),
        anchor=anchor,
        level=level,
        front=(front[0], front[1]),
    )


DEEP = {
    "window": 0.068,
    "picture_frame": 0.030,
    "wall_clock": 0.040,
    "room_door": 0.050,
    "pegboard": 0.026,
    "wall_shelf": 0.25,
    "television": 0.24,
    "floor_lamp": 0.50,
}
"""Categories > twice the depth behind the point ``bottom`` [m], if a layout gives none: they hang flat on a wall."""

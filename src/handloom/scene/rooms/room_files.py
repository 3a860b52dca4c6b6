"""The two files of a room, and the room that a task names."""

from functools import cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from handloom.config import Config, load_config
from handloom.errors import suggest, unknown_name
from handloom.objects.library.rooms.finishes import APPLIANCES, FABRICS, FRONTS, METALS, SHEETS, WORKTOPS
from handloom.objects.registry import CATEGORIES
from handloom.scene.rooms.norms import WIDTHS

Wall = Literal["back", "left", "right", "front"]
UnitName = Literal["drawers", "cabinet", "sink", "stove", "dishwasher", "fridge", "pantry", "corner", "filler", "gap"]
Length = Annotated[float, Field(ge=0.0, le=20.0)]
KINDS = ("kitchen", "dining_room", "living_room", "study", "workbench")
"""Kinds of rooms that ship with Handloom."""


class UnitConfig(Config):
    """One unit of a run."""

    unit: UnitName
    """drawers, cabinet, sink (with its cabinet and tap), stove (with an oven below), dishwasher, fridge, pantry;
    corner: the blind corner where another run begins; filler: a closed strip; gap: nothing."""
    width: float | None = Field(default=None, ge=0.05, le=2.0)
    """[m]"""
    doors: int | None = Field(default=None, ge=1, le=2)
    """Doors of a cabinet; absent: two from a width of 0.65 m."""
    drawers: int = Field(default=3, ge=2, le=4)
    """Number of drawers of a drawer unit."""
    hinge: Literal["left", "right"] | None = None
    """Side of a single door's hinge, seen from the front."""
    above: Literal["cabinet", "shelf", "hood", "window", "none"] | None = None
    """Unit above it."""
    on: Literal["microwave"] | None = None
    """An appliance at the back of the worktop."""

    @property
    def wide(self) -> float:
        """Width [m]."""
        return WIDTHS[self.unit] if self.width is None else self.width


class RunConfig(Config):
    """A row of units along a wall or, as an island, free in the room."""

    wall: Wall | None = None
    """The wall behind it; an island has none."""
    start: Literal["left", "right"] = "left"
    """End of the wall, seen facing it, from which ``offset`` is measured."""
    offset: Length = 0.0
    """Length of free wall at that end [m]."""
    at: tuple[float, float] | None = None
    """Middle of an island in the room [m]; the room's middle is 0, 0 and its back wall in +y."""
    yaw: float = Field(default=0.0, ge=-360.0, le=360.0)
    """Yaw of an island [deg]; at 0 its doors face -y."""
    overhang: float = Field(default=0.0, ge=0.0, le=0.5)
    """Rear overhang of an island's worktop, for seating [m]."""
    units: tuple[UnitConfig, ...] = Field(min_length=1, max_length=20)
    """Units from left to right, seen from the front."""

    @field_validator("units", mode="before")
    @classmethod
    def _words(cls, given: Any) -> Any:
        """Accept a single word as a unit."""
        return [{"unit": u} if isinstance(u, str) else u for u in given] if isinstance(given, list | tuple) else given

    @model_validator(mode="after")
    def _stands_somewhere(self) -> "RunConfig":
        if (self.wall is None) == (self.at is None):
            raise ValueError("a run stands at a wall or is an island: give either wall or at")
        return self

    @property
    def length(self) -> float:
        """Sum of the widths [m]."""
        return sum(unit.wide for unit in self.units)


class PieceConfig(Config):
    """A piece of furniture that is free-standing or hangs on a wall."""

    piece: str
    """Category of the object library."""
    name: str = ""
    """Its name in tasks; absent: its category."""
    wall: Wall | None = None
    """Wall behind it."""
    along: Length = 0.0
    """Its middle, from the left end of the wall, seen facing it [m]."""
    at: tuple[float, float] | None = None
    """Its middle in the room [m], for free-standing furniture."""
    yaw: float = Field(default=0.0, ge=-360.0, le=360.0)
    """Yaw of free-standing furniture [deg]; at 0 its front faces -y."""
    height: Length = 0.0
    """Height of its lower edge above the floor [m]."""
    ceiling: bool = False
    """Whether it hangs from the ceiling."""
    away: Length = 0.0
    """Distance from the wall [m]."""
    parameters: dict[str, Any] = Field(default_factory=dict)
    """Parameters of the category, see ``handloom object show``."""

    @field_validator("piece")
    @classmethod
    def _is_known(cls, given: str) -> str:
        if given not in CATEGORIES:
            raise ValueError(f"no object category {given!r}; {suggest(given, CATEGORIES)}")
        return given

    @model_validator(mode="after")
    def _stands_somewhere(self) -> "PieceConfig":
        if (self.wall is None) == (self.at is None):
            raise ValueError(f"{self.piece}: give either wall (with along) or at")
        return self

    @property
    def called(self) -> str:
        """Name, without a number."""
        return self.name or self.piece


class LayoutConfig(Config):
    """Positions of all furniture in a room."""

    words: str = ""
    """One-line description."""
    size: tuple[Annotated[float, Field(ge=1.5, le=20)], Annotated[float, Field(ge=1.5, le=20)], Length] = (
        4.2,
        3.8,
        2.6,
    )
    """Width, depth and height [m]."""
    runs: tuple[RunConfig, ...] = Field(default=(), max_length=6)
    """Fitted furniture."""
    pieces: tuple[PieceConfig, ...] = Field(default=(), max_length=60)
    """Free-standing furniture, windows, lamps and pictures."""
    at: str = ""
    """Default fixture at which a robot stands."""

    @model_validator(mode="after")
    def _runs_fit(self) -> "LayoutConfig":
        for run in self.runs:
            if run.wall is not None:
                wall = self.size[0] if run.wall in ("back", "front") else self.size[1]
                if run.offset + run.length > wall + 1e-6:
                    raise ValueError(
                        f"the run at the {run.wall} wall is {run.offset + run.length:.2f} m long with its offset; the "
                        f"wall is {wall:.2f} m. make the room wider or leave out a unit"
                    )
        return self


class StyleConfig(Config):
    """Finishes of a room by name, see the guide "Rooms"."""

    words: str = ""
    """One-line description."""
    front: str = "white_lacquer"
    """Fronts of cabinets."""
    upper_front: str = ""
    """Fronts of wall cabinets; absent: same as the other fronts."""
    front_kind: Literal["flat", "framed"] = "flat"
    handle: Literal["bar", "bow", "slat", "knob"] = "bar"
    metal: str = "brushed_steel"
    """Handles, taps and legs."""
    worktop: str = "oak_block"
    """Worktops and desks."""
    sink: Literal["brushed_steel", "white_enamel", "black_enamel", "cream_enamel"] = "brushed_steel"
    appliance: str = "stainless_steel"
    hob: Literal["gas", "glass"] = "glass"
    table: str = "oak"
    """Free-standing tables."""
    wood: str = "oak"
    """Shelves, chairs, bookcases."""
    fabric: str = "gray_fabric"
    """Seats and sofas."""
    frame: Literal["white_lacquer", "oak", "charcoal_paint", "ivory_paint"] = "white_lacquer"
    """Windows."""
    floor: str = "oak_parquet"
    wall: str = "white_wall"
    backsplash: str = "white_metro"
    """The wall between worktops and wall cabinets."""

    @model_validator(mode="after")
    def _finishes_exist(self) -> "StyleConfig":
        slots = {"front": FRONTS, "upper_front": FRONTS, "metal": METALS, "appliance": APPLIANCES, "fabric": FABRICS}
        slots |= {"worktop": WORKTOPS, "table": {**WORKTOPS, **FRONTS}, "wood": FRONTS}
        slots |= {"floor": SHEETS, "wall": SHEETS, "backsplash": SHEETS}
        for slot, known in slots.items():
            name = getattr(self, slot)
            if name and name not in known:
                raise ValueError(f"{slot}: no finish named {name!r}; {suggest(name, known)}")
        return self


def _folder(kind: str, part: str) -> Path:
    return Path(str(resources.files("handloom.scene.rooms") / "library")) / kind / part


@cache
def layout_names(kind: str) -> tuple[str, ...]:
    """Return the layouts of a kind that ship with Handloom; the first is the usual one."""
    return _names(kind, "layouts")


@cache
def style_names(kind: str) -> tuple[str, ...]:
    """Return the styles of a kind that ship with Handloom; the first is the usual one."""
    return _names(kind, "styles")


def _names(kind: str, part: str) -> tuple[str, ...]:
    if kind not in KINDS:
        raise unknown_name("kind of room", kind, KINDS)
    return tuple(sorted(file.stem for file in _folder(kind, part).glob("*.yaml")))


@cache
def read_layout(kind: str, name: str) -> LayoutConfig:
    """Return a layout of the library, or of a file whose path is given."""
    return load_config(_file(kind, "layouts", name, layout_names(kind)), LayoutConfig)


@cache
def read_style(kind: str, name: str) -> StyleConfig:
    """Return a style of the library, or of a file whose path is given."""
    return load_config(_file(kind, "styles", name, style_names(kind)), StyleConfig)


def _file(kind: str, part: str, name: str, known: tuple[str, ...]) -> Path:
    if name in known:
        return _folder(kind, part) / f"{name}.yaml"
    if name.endswith((".yaml", ".yml")):
        return Path(name)
    raise unknown_name(f"{part.removesuffix('s')} of a {kind.replace('_', ' ')}", name, known)

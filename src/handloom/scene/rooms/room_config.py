"""The room that a task names instead of an arena: ``room: kitchen`` or ``room: {kind: kitchen, layout: island}``."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Final, Literal

import numpy as np
from pydantic import field_validator, model_validator

from handloom.config import Config
from handloom.errors import suggest
from handloom.scene.rooms.furnish import Room, furnish
from handloom.scene.rooms.room_files import KINDS, layout_names, style_names

ANY: Final = "any"
USUAL: Final = {
    "kitchen": ("one_wall", "nordic"),
    "dining_room": ("round_the_table", "oak"),
    "living_room": ("facing_sofas", "sand"),
    "study": ("desk_at_wall", "oak"),
    "workbench": ("bench_at_wall", "steel"),
}
"""Kind > default layout and style."""
_PLAIN: Final = ("door", "handle")
"""Link names that are ambiguous without their fixture."""


class RoomConfig(Config):
    """A room: its kind, possible layouts and styles, and the fixture at which the robot works."""

    kind: str = "kitchen"
    """kitchen, dining_room, living_room, study or workbench."""
    layout: str | tuple[str, ...] = ""
    """A layout of that kind, a list to draw from, ``any``, or a file; absent: the usual one."""
    style: str | tuple[str, ...] = ""
    """A style of that kind, a list to draw from, ``any``, or a file; absent: the usual one."""
    at: str = ""
    """Fixture at which the robot works: the world's origin is on the floor below the middle of its front edge, y
    points into it. Absent: the one that the layout names, a counter or a table."""
    clutter: Literal["none", "some", "much"] = "some"
    """Amount of clutter that is not part of the task."""

    @model_validator(mode="before")
    @classmethod
    def _word(cls, given: Any) -> Any:
        """Accept a single word as the kind."""
        return {"kind": given} if isinstance(given, str) else given

    @field_validator("kind")
    @classmethod
    def _is_known(cls, given: str) -> str:
        if given not in KINDS:
            raise ValueError(f"no kind of room {given!r}; {suggest(given, KINDS)}")
        return given

    @model_validator(mode="after")
    def _names_exist(self) -> "RoomConfig":
        for what, given, known in (
            ("layout", self.layout, layout_names(self.kind)),
            ("style", self.style, style_names(self.kind)),
        ):
            for name in (given,) if isinstance(given, str) else given:
                if name and name != ANY and name not in known and not name.endswith((".yaml", ".yml")):
                    raise ValueError(f"{what}: a {self.kind} has no {what} {name!r}; {suggest(name, known)}")
        return self

    @property
    def layouts(self) -> tuple[str, ...]:
        """Layouts that an episode may have."""
        return _offered(self.layout, layout_names(self.kind), USUAL[self.kind][0])

    @property
    def styles(self) -> tuple[str, ...]:
        """Styles that an episode may have."""
        return _offered(self.style, style_names(self.kind), USUAL[self.kind][1])

    def example(self) -> Room:
        """Return the room with the first of its layouts and styles, to look up names."""
        return _example(self.kind, self.layouts[0], self.styles[0], self.at)


def _offered(given: str | tuple[str, ...], known: tuple[str, ...], usual: str) -> tuple[str, ...]:
    if isinstance(given, tuple):
        return given or (usual,)
    return known if given == ANY else (given or usual,)


@lru_cache(maxsize=64)
def _example(kind: str, layout: str, style: str, at: str) -> Room:
    return furnish(kind, layout, style, np.random.default_rng(0), at=at)


def parts_by_name(room: Room) -> dict[str, tuple[str, str]]:
    """Return moving parts that can be named without their fixture: ``drawer_2`` > (``drawers``, ``drawer_2``).

    The name refers to the first fixture with such a part.
    """
    names = {standing.entry.name for standing in room.standing}
    parts: dict[str, tuple[str, str]] = {}
    for standing in room.standing:
        for link in standing.asset.joints:
            if link.name not in _PLAIN and link.name not in names:
                parts.setdefault(link.name, (standing.entry.name, link.name))
    return parts


def layouts_with(config: RoomConfig, names: Iterable[str]) -> dict[str, list[str]]:
    """Return the names that some layout of the room lacks > the layouts that have them."""
    has = {layout: _fixture_names(config.kind, layout) for layout in config.layouts}
    return {
        name: [layout for layout in layout_names(config.kind) if name in _fixture_names(config.kind, layout)]
        for name in dict.fromkeys(names)
        if any(name not in fixtures for fixtures in has.values())
    }


@lru_cache(maxsize=64)
def _fixture_names(kind: str, layout: str) -> frozenset[str]:
    room = furnish(kind, layout, USUAL[kind][1], np.random.default_rng(0))
    return frozenset(entry.name for entry in room.arena().fixtures)

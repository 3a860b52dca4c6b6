"""A room as an arena: fixtures with finishes and exact poses, in the frame of the workplace.

The world's origin is on the floor below the front edge of the fixture at which a robot stands, y points into the
furniture, so that a task gives the poses of its robot and cameras once for all layouts.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from handloom.arrays import Array
from handloom.errors import InputError, suggest
from handloom.objects import ObjectAsset, make_object
from handloom.objects.library.rooms.finishes import finish
from handloom.scene.assets import remember
from handloom.scene.object_config import ArenaConfig, ObjectConfig
from handloom.scene.rooms.floor_plan import Fixture, FloorPlan, floor_plan
from handloom.scene.rooms.room_files import StyleConfig, read_layout, read_style
from handloom.spatial import invert_pose

SHEET = 0.01
"""Visual thickness of walls, floors and ceilings [m]."""
_FRONT = {"front_finish": "front", "front_kind": "front_kind", "handle": "handle", "handle_finish": "metal"}
_APPLIANCE = {"finish": "appliance", "handle_finish": "metal"}
SEEN_ONLY = frozenset({"rug"})
"""Categories, such as rugs, that furniture is placed on top of."""
STYLED: Mapping[str, Mapping[str, str]] = {
    "kitchen_drawers": _FRONT,
    "kitchen_cabinet": _FRONT,
    "upper_cabinet": _FRONT,
    "tall_cabinet": _FRONT,
    "cabinet_panel": _FRONT,
    "wall_shelf": {**_FRONT, "front_finish": "wood"},
    "sideboard": _FRONT,
    "desk": {**_FRONT, "finish": "worktop", "leg_finish": "metal"},
    "worktop": {"finish": "worktop"},
    "kitchen_sink": {"finish": "sink"},
    "kitchen_tap": {"finish": "metal"},
    "stove": {"finish": "appliance", "kind": "hob"},
    "built_in_oven": _APPLIANCE,
    "dishwasher": _APPLIANCE,
    "kitchen_fridge": _APPLIANCE,
    "hood": {"finish": "appliance"},
    "window": {"finish": "frame"},
    "room_door": {"handle_finish": "metal"},
    "room_table": {"finish": "table", "leg_finish": "wood"},
    "chair": {"finish": "fabric"},
    "sofa": {"finish": "fabric"},
    "bookcase": {"finish": "wood"},
    "pegboard": {"finish": "wood"},
    "floor_lamp": {"finish": "metal"},
    "wall_clock": {"finish": "metal"},
}
"""Category > parameters that a style sets > key of the style."""


@dataclass(frozen=True, kw_only=True)
class Standing:
    """A fixture with its pose in the world."""

    entry: ObjectConfig
    asset: ObjectAsset
    fixture: Fixture
    T_world_object: Array
    """Pose (4, 4)."""


@dataclass(frozen=True, kw_only=True)
class Room:
    """A furnished room in the frame of its workplace."""

    kind: str
    layout: str
    style: str
    at: str
    """Fixture at the origin."""
    standing: tuple[Standing, ...]
    shell: tuple[ObjectConfig, ...]
    """Floor, walls, ceiling, backsplashes."""
    size: tuple[float, float, float]
    """Width, depth and height [m]."""
    T_world_room: Array
    """Pose (4, 4) of the room's frame: middle of the floor, back wall in +y."""

    def arena(self) -> ArenaConfig:
        """Return the room as an arena."""
        return ArenaConfig(
            name=f"{self.kind}: {self.layout}, {self.style}",
            fixtures=(*(s.entry for s in self.standing), *self.shell),
        )

    def choices(self) -> dict[str, str]:
        """Describe the choices from the library."""
        return {"kind": self.kind, "layout": self.layout, "style": self.style, "at": self.at}

    def find(self, name: str) -> Standing | None:
        """Return the fixture of a name, or None."""
        return next((s for s in self.standing if s.entry.name == name), None)


def furnish(kind: str, layout: str, style: str, rng: np.random.Generator, *, at: str = "") -> Room:
    """Build a room: the same arguments and generator state give the same room.

    Args:
        kind: Kind of room, see ``KINDS``.
        layout: Name of a layout, or the path of a file.
        style: Name of a style, or the path of a file.
        rng: Draws everything that neither specifies: joint dynamics, exact sizes of appliances, hands of clocks.
        at: Fixture with the world's origin at its front; default: the one that the layout names.

    Raises:
        InputError: There is no such fixture in this layout.
    """
    plan, looks = floor_plan(read_layout(kind, layout)), read_style(kind, style)
    at = at or read_layout(kind, layout).at or plan.fixtures[0].name
    T_world_room = _work_frame(plan, at, layout)
    children = rng.spawn(len(plan.fixtures))
    standing = tuple(_standing(f, looks, T_world_room, child) for f, child in zip(plan.fixtures, children, strict=True))
    return Room(
        kind=kind,
        layout=layout,
        style=style,
        at=at,
        standing=standing,
        shell=tuple(_shell(plan, looks, T_world_room)),
        size=plan.size,
        T_world_room=T_world_room,
    )


def _work_frame(plan: FloorPlan, at: str, layout: str) -> Array:
    fixture = plan.fixture(at)
    if fixture is None:
        names = [f.name for f in plan.fixtures]
        raise InputError(f"the layout {layout} has no fixture {at!r}; {suggest(at, names)}")
    T_room_work = planar(fixture.front[0], fixture.front[1], 0.0, fixture.yaw)
    return invert_pose(T_room_work)


def planar(x: float, y: float, z: float, yaw: float) -> Array:
    """Return the pose (4, 4) at a point [m], turned about z [rad]."""
    c, s = np.cos(yaw), np.sin(yaw)
    return np.array([[c, -s, 0.0, x], [s, c, 0.0, y], [0.0, 0.0, 1.0, z], [0.0, 0.0, 0.0, 1.0]])


def yaw_of(T: Array) -> float:
    """Return the rotation of a pose about z [deg], within 180 degrees, exact for quarter turns."""
    return round(float(np.degrees(np.arctan2(T[1, 0], T[0, 0]))), 6)


def _parameters(fixture: Fixture, style: StyleConfig) -> dict[str, Any]:
    parameters: dict[str, Any] = {key: getattr(style, slot) for key, slot in STYLED.get(fixture.category, {}).items()}
    if fixture.level == "upper" and "front_finish" in parameters and fixture.category != "wall_shelf":
        parameters["front_finish"] = style.upper_front or style.front
    if fixture.category in ("microwave", "oven"):
        parameters["color"] = finish(style.appliance).word
    if fixture.category == "stove":
        parameters["knob_finish"] = "black_enamel" if style.appliance != "black_enamel" else "stainless_steel"
    return {**parameters, **fixture.parameters}


def _standing(fixture: Fixture, style: StyleConfig, T_world_room: Array, rng: np.random.Generator) -> Standing:
    asset = remember(make_object(fixture.category, rng=rng, parameters=_parameters(fixture, style)))
    T_world_anchor = T_world_room @ planar(*fixture.position, fixture.yaw)
    T_world_object = T_world_anchor.copy()
    T_world_object[:3, 3] -= T_world_anchor[:3, :3] @ np.asarray(asset.keypoints[fixture.anchor].position)
    x, y, z = (round(float(v), 6) for v in T_world_object[:3, 3])
    flat = fixture.category in SEEN_ONLY
    entry = ObjectConfig(
        name=fixture.name,
        target_class="ArticulatedObject" if asset.articulated else "XFormObject" if flat else "GeometryObject",
        category=fixture.category,
        fix_base=asset.articulated,
        translation=(x, y, z),
        euler=(0.0, 0.0, yaw_of(T_world_object)),
        parameters=dict(asset.parameters),
    )
    return Standing(entry=entry, asset=asset, fixture=fixture, T_world_object=T_world_object)


def _shell(plan: FloorPlan, style: StyleConfig, T_world_room: Array) -> list[ObjectConfig]:
    width, depth, height = plan.size
    half = SHEET / 2
    quarter = np.pi / 2
    walls = {
        "wall_back": (planar(0.0, depth / 2 + half, height / 2, 0.0), width),
        "wall_front": (planar(0.0, -depth / 2 - half, height / 2, np.pi), width),
        "wall_left": (planar(-width / 2 - half, 0.0, height / 2, quarter), depth),
        "wall_right": (planar(width / 2 + half, 0.0, height / 2, -quarter), depth),
    }
    sheets = [_sheet("floor", T_world_room @ planar(0.0, 0.0, -half, 0.0), (width, depth), style.floor)]
    sheets += [
        _sheet(name, T_world_room @ T, (long, height), style.wall, upright=True) for name, (T, long) in walls.items()
    ]
    above = planar(0.0, 0.0, height + half, 0.0)
    sheets.append(_sheet("ceiling", T_world_room @ above, (width, depth), "white_wall"))
    for k, splash in enumerate(plan.backsplashes):
        T = T_world_room @ planar(*splash.middle, splash.yaw)
        sheets.append(_sheet(f"backsplash_{k + 1}", T, splash.size, style.backsplash, upright=True))
    return sheets


def _sheet(name: str, T: Array, size: tuple[float, float], finish_name: str, *, upright: bool = False) -> ObjectConfig:
    x, y, z = (round(float(v), 6) for v in T[:3, 3])
    return ObjectConfig(
        name=name,
        target_class="GeometryObject",
        category="room_sheet",
        translation=(x, y, z),
        euler=(90.0 if upright else 0.0, 0.0, yaw_of(T)),
        parameters={"scale": 1.0, "width": size[0], "length": size[1], "thickness": SHEET, "finish": finish_name},
    )

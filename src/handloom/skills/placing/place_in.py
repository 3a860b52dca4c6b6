"""Putting an object into a cavity: choice of the cavity, entry from above or through the front, and place inside."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from handloom.arrays import Array
from handloom.scene import Scene
from handloom.scene.cavities import ROOT, Cavity, hollow
from handloom.scene.measures import BASE, local_box, world_box
from handloom.skills.configs.places import PlaceConfig
from handloom.skills.placing.spots import way_of_point

CLEAR = 0.12
"""Distance in front of the opening of a cavity at which the straight path in begins [m]."""
ABOVE_FLOOR = 0.012
"""Height above the floor at which an object enters through a front [m]."""
SMALL = 0.15
"""Cavities with less than this fraction of the largest one's volume count as gaps."""
ROOM = 0.004
"""Minimum extra width of a cavity over the object [m]."""
INTO = ("front", 30.0)
"""Direction of a hand that reaches in through a front."""
OTHERWISE = ((("front", 50.0), 0.0), (INTO, 0.07), (("front", 50.0), 0.07), (("front", 70.0), 0.07))
"""Alternative directions, and by how much nearer to the opening the straight path in begins [m]: robots that stand
close have no room for a long one."""
INSIDE_MODES = frozenset(("3diou", "xybbox", "flower"))
"""Published success modes that an object in a container fulfils."""
UPWARD = 0.7
"""Minimum upward component of the direction out of a container."""
SHALLOW = 0.022
"""Targets no deeper than this count as plates or trays: objects lie on them wherever they are put [m]."""
OUTSIDE = 0.05
"""How far the hand draws back beyond the opening [m]."""


TURNS = np.deg2rad(np.arange(0.0, 180.0, 3.0))
"""Directions in which the width of an object is measured [rad]."""
ACROSS = 0.7
"""Largest component of an axis along the direction into a cavity that counts as across it."""


class NoCavityError(Exception):
    """There is no usable cavity; the message gives the reason."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Entry:
    """Entry of an object into a cavity."""

    box: Array
    """The cavity's box in the world (2, 3) [m]."""
    keys: dict[str, Any]
    """Keys of the place config that change."""

    @property
    def from_above(self) -> bool:
        """Whether the object enters from above."""
        return "place_direction" not in self.keys


def entries_into(scene: Scene, config: PlaceConfig) -> list[Entry]:
    """Return ways into the target of a place, with the target's joints at their current positions, best first.

    Raises:
        NoCavityError: The target has no cavity, or none that is open and wide enough.
    """
    found = [_entry(scene, config, cavity) for cavity in _open_ones(scene, config)]
    fronts = [entry for entry in found if not entry.from_above] if config.approach is None else []
    return [*found, *(_otherwise(entry, way, shorter) for way, shorter in OTHERWISE for entry in fronts)]


def _otherwise(entry: Entry, way: tuple[str, float], shorter: float) -> Entry:
    """Return an entry through a front with another hand direction, or starting nearer by a length [m]."""
    start = entry.keys["pre_place_offset"] - shorter
    return replace(entry, keys={**entry.keys, "approach": way, "pre_place_offset": start})


def _entry(scene: Scene, config: PlaceConfig, cavity: Cavity) -> Entry:
    """Return the entry of a place's object into an open cavity."""
    name, target = config.objects[:2]
    T = scene.object_pose(target)
    corners = np.array([[cavity.box[i, 0], cavity.box[j, 1], cavity.box[k, 2]] for i, j, k in np.ndindex(2, 2, 2)])
    corners = corners @ T[:3, :3].T + T[:3, 3]
    box = np.stack([corners.min(axis=0), corners.max(axis=0)])
    assert cavity.opening is not None
    out = T[:3, :3] @ np.asarray(cavity.opening)
    if out[2] > 0.5:
        return Entry(box=box, keys={})
    own = world_box(scene, name)
    floor = float(T[2, 3]) + cavity.floor  # A target with a front stands upright.
    rise = float(scene.object_pose(name)[2, 3] - own[0, 2]) + ABOVE_FLOOR + floor - float(box[0, 2])
    depth = float(np.abs(np.asarray(cavity.opening)) @ (cavity.box[1] - cavity.box[0]))
    share = rise / float(box[1, 2] - box[0, 2])
    keys: dict[str, Any] = {
        "place_direction": "horizontal",
        "align_place_obj_axis": tuple(scene.assets[target].up),
        "offset_place_obj_axis": cavity.opening,
        "pre_place_align": 0.0,
        "place_align": 0.0,
        "pre_place_offset": depth / 2.0 + CLEAR,
        "place_offset": 0.0,
        "z_ratio_range": (share, share),
        "retreat": min(0.3, depth / 2.0 + OUTSIDE),
        "rest_on": None,
    }
    return Entry(box=box, keys={**keys, **({"approach": INTO} if config.approach is None else {})})


def in_section(scene: Scene, config: PlaceConfig) -> bool:
    """Return whether a place is in a named, fixed part of its target, such as a compartment."""
    part = _named_part(config)
    return bool(part) and part != ROOT and all(link.name != part for link in scene.assets[config.objects[1]].joints)


def narrowest(scene: Scene, name: str) -> float:
    """Return the smallest width of an object's own box, seen from above, over all turns about the vertical [m]."""
    low, high = local_box(scene, name)[0]
    corners = np.array([[(low, high)[i][0], (low, high)[j][1], (low, high)[k][2]] for i, j, k in np.ndindex(2, 2, 2)])
    flat = (corners @ scene.object_pose(name)[:3, :3].T)[:, :2]
    ways = np.stack([np.cos(TURNS), np.sin(TURNS)])
    return float(np.ptp(flat @ ways, axis=0).min())


def _named_part(config: PlaceConfig) -> str:
    """Return the part of the target that a place names, empty if none; published files call the fixed part base."""
    part = (config.place_part_prim_path or "").rstrip("/").rpartition("/")[2]
    return ROOT if part == BASE else part


def sinks_into(scene: Scene, config: PlaceConfig) -> bool:
    """Return whether a published-form place lowers an object into a container that is a stand-in."""
    target, ratios = config.objects[1], (*config.x_ratio_range, *config.y_ratio_range)
    if config.relation is not None or config.until_contact or config.success_mode not in INSIDE_MODES:
        return False
    if config.place_direction != "vertical" or min(ratios) < 0.0 or max(ratios) > 1.0:
        return False
    if target not in scene.assets or not scene.assets[target].stands_in:
        return False
    return depth_from_above(scene, target) > SHALLOW


def inserted_depth(scene: Scene, config: PlaceConfig) -> float | None:
    """Return the depth that an object stood in a stand-in reaches [m]; None for any other place."""
    by_axes = config.align_pick_obj_axis is not None and config.success_mode == "flower"
    if not by_axes or not sinks_into(scene, config):
        return None
    return depth_from_above(scene, config.objects[1])


def hollow_from_above(scene: Scene, name: str) -> Array:
    """Return the rectangle (2, 2) in the world around the cavities of an object that are open above [m]."""
    T = scene.object_pose(name)
    boxes = [cavity.box @ T[:3, :3].T + T[:3, 3] for cavity in _open_above(scene, name)]
    return np.stack([np.min(boxes, axis=(0, 1))[:2], np.max(boxes, axis=(0, 1))[:2]])


def depth_from_above(scene: Scene, name: str) -> float:
    """Return the depth of the deepest cavity of an object that is open above [m]; 0 if it has none."""
    up = scene.object_pose(name)[2, :3]
    return max((float(np.abs(up) @ (c.box[1] - c.box[0])) for c in _open_above(scene, name)), default=0.0)


def _open_above(scene: Scene, name: str) -> list[Cavity]:
    """Return the cavities of an object whose opening faces up in its current pose."""
    up = scene.object_pose(name)[2, :3]
    return [c for c in cavities_of(scene, name) if c.opening is not None and up @ np.asarray(c.opening) > UPWARD]


def cavities_of(scene: Scene, name: str) -> tuple[Cavity, ...]:
    """Return the cavities of an object at its current joint positions, without mere gaps."""
    asset = scene.assets[name]
    joints = {link.joint: scene.world.joint_position(f"{name}/{link.joint}") for link in asset.joints}
    found = hollow(asset, joints).cavities
    largest = max((c.volume for c in found), default=0.0)
    return tuple(c for c in found if c.volume >= SMALL * largest)


def _open_ones(scene: Scene, config: PlaceConfig) -> list[Cavity]:
    """Return the cavities that a place may refer to: those of its part, or those that are open."""
    name, target = config.objects[:2]
    asset = scene.assets[target]
    found = cavities_of(scene, target)
    part = _named_part(config)
    if not found:
        raise NoCavityError(f"{target} ({asset.name}) has no cavity to put anything into; put {name} on it instead")
    if part:
        found = tuple(c for c in found if c.part == part)
        if not found:
            known = ", ".join(dict.fromkeys(c.part for c in cavities_of(scene, target)))
            raise NoCavityError(f"{part} of {target} has no cavity; there are: {known}")
    is_open = [c for c in found if c.opening is not None]
    if not is_open:
        shut = ", ".join(dict.fromkeys(c.part if c.part != "object" else target for c in found))
        raise NoCavityError(f"everything in {target} that could take {name} is shut: {shut}; open it first")
    size = float(np.ptp(world_box(scene, name), axis=0)[:2].min())
    if config.point_down is not None:  # It enters with that point first; its width is then measured across that axis.
        across = np.abs(way_of_point(scene, name, config.point_down)) < ACROSS
        size = float(np.ptp(local_box(scene, name)[0], axis=0)[across].min(initial=np.inf))
    wide = [c for c in is_open if c.width >= size + ROOM]
    if not wide:  # At an angle to the world's axes, its box is wider than the object.
        size = min(size, narrowest(scene, name))
        wide = [c for c in is_open if c.width >= size + ROOM]
    if not wide:
        widest = max(c.width for c in is_open)
        raise NoCavityError(f"{name} is {size:.3f} m wide, and the widest opening in {target} {widest:.3f} m")
    # Straight down is tried before a front, where a hand has more room further up.
    up = np.asarray(asset.up, float)
    return sorted(
        wide, key=lambda c: (not c.from_above, -c.volume if c.from_above else -float(c.box.mean(axis=0) @ up))
    )

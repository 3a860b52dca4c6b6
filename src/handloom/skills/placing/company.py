"""Places that share a target: spots for all objects that a task puts on or in it are chosen together."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.scene import Scene
from handloom.seeding import generator
from handloom.skills.configs.places import PlaceConfig
from handloom.skills.placing.landing import must_stand
from handloom.skills.placing.room_on_target import Footprint, RoomOnTarget, Taken
from handloom.skills.placing.side_by_side import Piece, side_by_side
from handloom.skills.placing.spots import asked_spot
from handloom.spatial import matrix_from_rotvec

FREE = frozenset(("in", "on"))
"""Relations whose spot is free, so that several objects can be put there side by side."""
TIGHT = 0.85
"""Share of the extent of objects that must find room, so that the task is possible at all: their boxes have corners."""
ALONG = 1e-6
"""Sine of an angle below which two directions count as parallel."""


@dataclass(frozen=True, kw_only=True)
class Company:
    """The objects that share a target with the one of a place."""

    later: tuple[tuple[PlaceConfig, tuple[float, float]], ...] = ()
    """Places that put more objects there later, and the position of the arm that does it, in the world [m]."""
    earlier: tuple[str, ...] = ()
    """Objects that earlier skills have put there."""

    def __bool__(self) -> bool:
        return bool(self.later or self.earlier)


def shares_target(one: Any, other: Any) -> bool:
    """Return whether two skills put objects at free spots on, or in, the same target."""
    if not isinstance(one, PlaceConfig) or not isinstance(other, PlaceConfig):
        return False
    same = one.objects[1:2] == other.objects[1:2] and one.place_part_prim_path == other.place_part_prim_path
    return same and one.relation in FREE and one.relation == other.relation and one.objects[0] != other.objects[0]


def company_of(
    scene: Scene, config: Any, coming: Iterable[tuple[str, str, Any]], done: Iterable[tuple[str, Sequence[str]]]
) -> Company:
    """Return the company of a place among the skills of its task; none if its own spot is not free.

    Args:
        scene: The scene.
        config: The skill.
        coming: Robot, arm and config of every skill that is still to be done, in order.
        done: Name and objects of every skill that has succeeded.
    """
    if not isinstance(config, PlaceConfig) or config.relation not in FREE or has_own_spot(config):
        return Company()
    later: dict[str, tuple[PlaceConfig, tuple[float, float]]] = {}
    for robot, arm, skill in coming:
        if skill.objects[:1] == config.objects[:1] and skill is not config and not isinstance(skill, PlaceConfig):
            break  # It is taken away again.
        if skill.objects[:1] == config.objects[1:2]:
            break  # The target is opened, shut or carried away.
        if shares_target(config, skill):
            x, y = scene.robot(robot).arm(arm).T_world_base[:2, 3].tolist()
            later.setdefault(skill.objects[0], (skill, (x, y)))
    target = config.objects[1]
    places = [objects for name, objects in done if name == config.name and tuple(objects[1:2]) == (target,)]
    put = dict.fromkeys(objects[0] for objects in places if objects[0] != config.objects[0])
    return Company(later=tuple(later.values()), earlier=tuple(put))


def has_own_spot(config: PlaceConfig) -> bool:
    """Return whether the spot is given, so that the object cannot be put down anywhere else."""
    given = (config.aim, config.at, config.at_point, config.point_down)
    return any(key is not None for key in given) or config.lean or config.ratio_widest is None


@dataclass(frozen=True, kw_only=True, eq=False)
class Spot:
    """Where an object is put on a target that it shares."""

    at: Array
    """Middle of the object, seen from above, in the world (2,) [m]."""
    turn: float | None
    """Angle about the vertical by which the object is turned [rad]; None: as the hand can."""


def shared_spots(scene: Scene, config: PlaceConfig, company: Company, box: Array, arm: Array) -> tuple[Spot, ...]:
    """Return spots for an object that leave room for those that come later, best first; none if there is no room.

    There are none in a bowl either: everything rolls to its middle, where the hand has most room.

    If not all of those that come later find room, even turned so that they take the least of it, the last of them are
    left out.

    Args:
        scene: The scene.
        config: The place.
        company: The others.
        box: World box of the target, or of the cavity (2, 3) [m].
        arm: Position of the arm of the place in the world (2,) [m].
    """
    target = config.objects[1]
    room = RoomOnTarget(scene, target, config.place_part_prim_path, box, inside=config.relation == "in")
    if not room.is_level:
        return ()
    coming = [(config, arm), *((later, np.asarray(shoulder)) for later, shoulder in company.later)]
    taken = _taken(scene, room, [place for place, _ in coming])
    free = [(place, room.to_room(shoulder)) for place, shoulder in coming if not has_own_spot(place)]
    trials = [(len(free), False), *((count, True) for count in range(len(free), 0, -1))]
    for count, turned in trials:
        choices = [_choices(scene, room, place, turned=turned) for place, _ in free[:count]]
        if any(not sizes for _, _, sizes in choices):
            continue
        shoulders = [shoulder for _, shoulder in free]
        layouts = _layouts(
            scene, target, [_piece(*one, arm) for one, arm in zip(choices, shoulders, strict=False)], taken
        )
        if layouts:
            at, _, sizes = choices[0]
            return tuple(Spot(at=room.to_world(at[chosen[0]]), turn=sizes[chosen[0]].turn) for chosen in layouts)
    return ()


def _choices(
    scene: Scene, room: RoomOnTarget, place: PlaceConfig, *, turned: bool, share: float = 1.0
) -> tuple[Array, Array, list[Footprint]]:
    """Return the spots (k, 2) of the object of a place, their margins (k,), and the room that it takes at each.

    Args:
        scene: The scene.
        room: The room.
        place: The place.
        turned: Whether it may be turned so that it takes the least room.
        share: Factor on its size.
    """
    sizes = room.footprints(place.objects[0], upright(scene, place), turned=turned and place.facing is None)
    sizes = tuple(size.scaled(share) for size in sizes)
    found = [(size, *room.spots(size)) for size in sizes]
    which = [size for size, at, _ in found for _ in at]
    return np.concatenate([at for _, at, _ in found]), np.concatenate([margins for *_, margins in found]), which


def _reserved(scene: Scene, room: RoomOnTarget, later: PlaceConfig) -> Taken | None:
    """Return the room that an object with a given spot will take; None without one."""
    asked = asked_spot(scene, later)
    if asked is None:
        return None
    size, middle = room.footprints(later.objects[0], upright(scene, later), turned=False)[0], room.to_room(asked)
    return Taken(np.stack([middle - size.half, middle + size.half]), size.radius)


def most_that_fit(scene: Scene, places: Sequence[PlaceConfig], box: Array) -> int:
    """Return how many of the objects that a task puts at free spots on, or in, one target fit there side by side.

    The smallest ones are counted first, all of them ``TIGHT``, so that less than all means that there is no room, not
    that the hands need more.

    Args:
        scene: The scene before anything is done.
        places: The places, with the same target.
        box: World box of the target, or of the cavity (2, 3) [m].
    """
    first = places[0]
    room = RoomOnTarget(scene, first.objects[1], first.place_part_prim_path, box, inside=first.relation == "in")
    taken = _taken(scene, room, places)
    pieces = [_piece(*_choices(scene, room, place, turned=True, share=TIGHT), np.zeros(2)) for place in places]
    pieces = sorted((piece for piece in pieces if len(piece.spots)), key=lambda piece: float(np.prod(piece.halves[0])))
    for count in range(len(pieces), 0, -1):
        if _layouts(scene, first.objects[1], pieces[:count], taken):
            return count
    return 0


def _taken(scene: Scene, room: RoomOnTarget, places: Sequence[PlaceConfig]) -> list[Taken]:
    """Return the room taken by what lies there, other than the objects of some places, and by given spots of these."""
    apart = {name for place in places for name in place.objects[:2]}
    loose = [obj.name for obj in scene.instance.objects if obj.solid and not obj.fixed and obj.name not in apart]
    taken = [room.lies_there(name) for name in loose] + [_reserved(scene, room, place) for place in places]
    return [one for one in taken if one is not None]


def _piece(at: Array, margins: Array, sizes: Sequence[Footprint], arm: Array) -> Piece:
    halves = np.array([size.half for size in sizes]).reshape(-1, 2)
    return Piece(
        spots=at, margins=margins, halves=halves, radius=max((size.radius for size in sizes), default=0.0), arm=arm
    )


def _layouts(scene: Scene, target: str, pieces: list[Piece], taken: Sequence[Taken]) -> list[NDArray[np.intp]]:
    """Return the layouts of pieces on a target, best first: a pure function of the scene."""
    boxes, radii = np.array([one.box for one in taken]).reshape(-1, 2, 2), np.array([one.radius for one in taken])
    instance = scene.instance
    rng = generator(instance.seed, instance.episode, f"spots on {target}", task=instance.task)
    return side_by_side(pieces, boxes, radii, rng)


def upright(scene: Scene, config: PlaceConfig) -> Array | None:
    """Return the orientation (3, 3) in which an object that now lies will stand; None if it keeps its own."""
    name = config.objects[0]
    if must_stand(scene, config) is False:
        return None
    R, up = scene.object_pose(name)[:3, :3], np.asarray(scene.assets[name].up, float)
    now, above = R @ up, np.array([0.0, 0.0, 1.0])
    axis = np.cross(now, above)
    if np.linalg.norm(axis) < ALONG:  # It stands already, or on its head.
        return R
    angle = float(np.arccos(np.clip(now @ above, -1.0, 1.0)))
    return matrix_from_rotvec(angle * axis / np.linalg.norm(axis)) @ R

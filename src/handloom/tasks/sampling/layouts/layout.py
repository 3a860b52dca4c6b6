"""Layout of a scene: poses drawn from regions, no penetration, a stable rest."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from handloom.errors import NotFoundError
from handloom.scene.assets import outline_of
from handloom.scene.region_config import RegionConfig
from handloom.scene.regions import Placed
from handloom.tasks.config.deed_form import STANDING_AREA
from handloom.tasks.config.task import Task
from handloom.tasks.sampling.distractors import Clutter
from handloom.tasks.sampling.layouts.cavity_places import cavity_advice, rests_inside
from handloom.tasks.sampling.layouts.layout_sampler import LayoutSampler
from handloom.tasks.sampling.layouts.settling_world import NoPlaceError, SamplingError, SettlingWorld, at_place
from handloom.tasks.sampling.robots import in_boxes, refuse_robot_overlaps, robot_boxes
from handloom.values import ObjectInstance, RobotInstance

MAX_LAYOUTS = 30
"""Layouts drawn before the regions count as impossible."""
LAYOUTS_PER_OBJECT = 4
"""The same per object in a crowded scene: the more objects, the less often all of them find a place at once."""
CROWDED_LAYOUTS = 3
"""Valid layouts tried to find one with the required number of distractors."""
PATIENT_LAYOUTS, CROWD = (30, 6), 4
"""Layouts drawn with the largest objects first, for up to so many objects and for more: each of those takes seconds."""
MAX_PENETRATION = 0.0005
"""Deepest overlap of two objects at their start [m]."""
DEFAULT_ADVICE = (
    "objects without a region share the part of the table that the hands reach, which has no room for all of them; "
    "give each a region of its own (handloom check proposes some), or use fewer or smaller objects"
)
FELL = "fell down"
ASTRAY = 0.01
"""Distance outside the box of its support at which the middle of an object no longer lies on it [m]."""
FALL = 0.4
"""An object that comes to rest this far [m] below its initial pose has fallen off its support."""

Scenery = tuple[tuple[ObjectInstance, ...], tuple[RobotInstance, ...]]


def sample_layout(
    task: Task,
    props: Sequence[ObjectInstance],
    robots: Sequence[RobotInstance],
    clutter: Sequence[ObjectInstance],
    rng: np.random.Generator,
    *,
    patient: bool = True,
) -> Scenery:
    """Sample poses from the task's regions and let the objects come to rest.

    Every layout is checked for overlaps, then settled in a scratch world without robots; a layout that overlaps or does
    not come to rest is drawn again. If none works, a few are drawn with the largest objects first and only where the
    hands reach.

    Args:
        task: The task.
        props: Its objects and fixtures, without those that start at a robot's hand.
        robots: Its robots.
        clutter: Distractors; those that find no room are left out of the result.
        rng: Generator of places.
        patient: Whether to draw those, too.

    Raises:
        SamplingError: No layout worked; names the object, the number of attempts and the range to widen.
    """
    scratch = SettlingWorld([*props, *clutter], loose=[region.object for region in task.config.regions])
    drawing = LayoutSampler(task, props, robots, scratch)
    blame: Counter[tuple[str, str]] = Counter()
    places: Mapping[str, Placed] = {}
    good: list[tuple[int, Scenery]] = []
    most = max(MAX_LAYOUTS, LAYOUTS_PER_OBJECT * len(scratch.loose))
    ways = [False] * most + [True] * (
        PATIENT_LAYOUTS[len(scratch.loose) > CROWD] if patient and drawing.can_be_patient else 0
    )
    for number, patiently in enumerate(ways):
        if number == most and good:
            break
        try:
            places = drawing.draw(rng, patient=patiently)
            _refuse_overlaps(drawing, scratch)
            standing = tuple(_robot_at(robot, places[robot.name]) for robot in robots)
            room = Clutter(task, clutter, scratch)
            room.place(places, standing, rng)
            objs = _settled(task, props, places, scratch, room)
            _refuse_outside(drawing, {obj.name: obj for obj in objs})
            boxes = [box for robot in standing for box in robot_boxes(robot)]
            suspects = [obj for obj in objs if obj.name in scratch.loose and in_boxes(_placed(obj), boxes)]
            refuse_robot_overlaps(standing, suspects, task.config.neglect_collision_names)
            good.append((len(room.placed), (objs, standing)))
            if room.enough or len(good) == CROWDED_LAYOUTS:
                break
        except NoPlaceError as error:
            blame[error.name, error.why] += 1
    if good:
        return max(good, key=lambda layout: layout[0])[1]
    (worst, why), count = blame.most_common(1)[0]
    where, hint = _remedy(drawing, worst, why, places)
    raise SamplingError(
        "no_layout",
        f"{worst} had no free or stable place in {count} of {len(ways)} layouts: it {why}; {hint}",
        where=where,
    )


def _remedy(drawing: LayoutSampler, name: str, why: str, places: Mapping[str, Placed]) -> tuple[str, str]:
    """Return what to change if an object finds no place: file and line, and words."""
    task = drawing.task
    index = next((i for i, region in enumerate(task.config.regions) if region.object == name), None)
    if index is None:
        return task.where("objects"), "give it a region, or move other objects away"
    region = task.config.regions[index]
    if in_default_area(task, region):
        entry = next(i for i, obj in enumerate(task.config.objects) if obj.name == name)
        return task.where("objects", entry), DEFAULT_ADVICE
    cavity = cavity_advice(region, why, drawing.rooms.get(name), drawing.props.get(region.target))
    return task.where("regions", index), f"{cavity or _advice(task, index, places)}, or move other objects away"


def in_default_area(task: Task, region: RegionConfig) -> bool:
    """Return whether a region is that of an object without one, in a deed file: all of the default area."""
    ranges, point = region.random_config, task.config.work_point
    if not region.within_reach or ranges is None or ranges.pos_range is None or point is None:
        return False
    given = np.array(ranges.pos_range)[:, :2] - point
    return any(area is not None and np.allclose(given, area) for area in (task.config.work_area, STANDING_AREA))


def _advice(task: Task, index: int, places: Mapping[str, Placed]) -> str:
    """Return the change needed in a region; if it crosses the edge of its target, with that edge."""
    region = task.config.regions[index]
    given = region.random_config.pos_range if region.random_config is not None else None
    key, about = ("at", f"the region of {region.object}") if region.within_reach else ("pos_range", f"regions.{index}")
    if given is not None and region.target in places and region.random_type == "A_on_B_region_sampler":
        box = places[region.target].box
        half = (box[1] - box[0]) / 2.0
        origin = task.config.work_point if region.within_reach else None
        for axis, name in enumerate("xy"):
            low, high = given[0][axis], given[1][axis]
            if max(-low, high) > half[axis]:
                shift, point = (0.0, "middle") if origin is None else (origin[axis], "work point")
                return (
                    f"{about} places {name} from {low - shift:g} to {high - shift:g} m from the {point} of "
                    f"{region.target}, which ends at {-half[axis] - shift:.2f} and {half[axis] - shift:.2f} m; keep "
                    f"its {key} inside"
                )
    return f"widen the {key} of {about}"


def _refuse_overlaps(drawing: LayoutSampler, scratch: SettlingWorld) -> None:
    for overlap in scratch.overlaps():
        if overlap.depth > MAX_PENETRATION and overlap.name in scratch.loose and not drawing.allows(overlap):
            raise NoPlaceError(overlap.name, f"overlapped {overlap.other}")


def _refuse_outside(drawing: LayoutSampler, objs: Mapping[str, ObjectInstance]) -> None:
    """Refuse a layout in which something that starts in a cavity does not rest inside it."""
    for name, room in drawing.rooms.items():
        if not rests_inside(room, _placed(objs[name]), _placed(objs[room.target])):
            raise NoPlaceError(name, f"did not stay in {room.where}")


def _settled(
    task: Task,
    props: Sequence[ObjectInstance],
    places: Mapping[str, Placed],
    scratch: SettlingWorld,
    room: Clutter,
) -> tuple[ObjectInstance, ...]:
    """Let the layout come to rest; distractors that do not are removed, and the rest is tried again."""
    # Fixed objects had a free joint while places were drawn; physics needs them fixed.
    afresh = any(obj.fixed and obj.name in scratch.loose for obj in props)
    while True:
        objs = (*(at_place(obj, places[obj.name]) for obj in props), *room.instances())
        world = SettlingWorld(objs) if afresh else scratch
        for obj in objs if not afresh else ():
            if obj.name in scratch.loose:
                scratch.put(obj.name, np.array(obj.position), np.array(obj.quat))
        moving = [obj.name for obj in objs if obj.name in world.loose]
        try:
            _come_to_rest(world, moving, places)
        except NoPlaceError as error:
            if error.name not in room.placed:
                raise
            room.remove(error.name)
            continue
        rested = tuple(_at_rest(world, obj) for obj in objs)
        _refuse_strays(task, {obj.name: obj for obj in rested}, world)
        return rested


def _refuse_strays(task: Task, objs: Mapping[str, ObjectInstance], world: SettlingWorld) -> None:
    """Refuse a layout in which something no longer lies where its region puts it: in a drawer, not under it."""
    touching: dict[str, set[str]] | None = None
    for region in task.config.regions:
        name, target = region.object, objs.get(region.target)
        fixed = target is None or any(fixture.name == region.target for fixture in task.arena.fixtures)
        if fixed or region.random_type != "A_on_B_region_sampler" or region.container or name not in world.loose:
            continue
        assert target is not None
        try:
            room = _placed(target, region.sub_tgt_prim).box
        except NotFoundError:  # The parts of a file mean nothing for its stand-in.
            room = _placed(target).box
        box = _placed(objs[name]).box
        middle, lowest = box.mean(axis=0)[:2], box[0, 2]
        touching = world.touching() if touching is None else touching
        within = np.all(middle > room[0, :2] - ASTRAY) and np.all(middle < room[1, :2] + ASTRAY)
        if not within or lowest < room[0, 2] - ASTRAY or region.target not in _carriers(name, touching, world.loose):
            where = region.target if region.sub_tgt_prim is None else f"{region.sub_tgt_prim} of {region.target}"
            raise NoPlaceError(name, f"did not stay on {where}")


def _carriers(name: str, touching: Mapping[str, set[str]], loose: Collection[str]) -> set[str]:
    """Return everything that an object touches, also through loose objects between them."""
    found, queue = set[str](), [name]
    while queue:
        for other in touching.get(queue.pop(), set()) - found:
            found.add(other)
            queue += [other] if other in loose else []
    return found


def _come_to_rest(world: SettlingWorld, moving: Sequence[str], places: Mapping[str, Placed]) -> None:
    world.settle(moving)
    for overlap in world.overlaps():
        if overlap.depth > MAX_PENETRATION and overlap.name in moving:
            raise NoPlaceError(overlap.name, f"was pressed into {overlap.other}")
    for name in moving:
        if name in places and places[name].position[2] - world.place(name).position[2] > FALL:
            raise NoPlaceError(name, FELL)


def _at_rest(world: SettlingWorld, obj: ObjectInstance) -> ObjectInstance:
    return at_place(obj, world.place(obj.name)) if obj.name in world.loose else obj


def _placed(obj: ObjectInstance, part: str | None = None) -> Placed:
    return Placed(np.array(obj.position), np.array(obj.quat), outline_of(obj, part))


def _robot_at(robot: RobotInstance, place: Placed) -> RobotInstance:
    x, y, z = place.position.tolist()
    w, i, j, k = place.quat.tolist()
    return replace(robot, position=(x, y, z), quat=(w, i, j, k))

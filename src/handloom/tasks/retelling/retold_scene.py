"""A recorded scene at the workplace of another robot: the layout is moved as a whole to within reach."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial

import numpy as np

from handloom.arrays import Array
from handloom.config import read_document
from handloom.scene.assets import outline_of, robot_description
from handloom.scene.named_points import TABLE, quarter_turns_of
from handloom.scene.regions import Placed
from handloom.seeding import generator
from handloom.spatial import quat_conjugate, quat_from_axis_angle, quat_multiply, quat_rotate
from handloom.tasks.config.deed_form import workplaces
from handloom.tasks.config.loading import shipped
from handloom.tasks.config.task import Task
from handloom.tasks.reach.chosen_arms import choose_arms
from handloom.tasks.reach.within_reach import TaskReach
from handloom.tasks.retelling.end_poses import end_poses
from handloom.tasks.retelling.told_scenes import told_scene
from handloom.tasks.sampling.cameras import camera_bodies, sample_cameras
from handloom.tasks.sampling.layouts.settling_world import SamplingError
from handloom.tasks.sampling.objects import sample_markers, sample_props
from handloom.tasks.sampling.robots import in_boxes, robot_boxes, sample_robots
from handloom.values import CameraSpec, ObjectInstance, RetoldFrom, RobotInstance, TaskInstance

STEP = 0.03
"""Spacing of the candidate places on a table [m]."""
PLACEMENTS = 6
"""Places of a scene on a table that are tried in turn."""
APART = 0.075
"""Distance between those [m]; also the radius within which other suitable places count."""
FARTHEST = (0.36, 0.51)
"""How far a scene may be moved across and along the view of the robot [m]."""
ROOM = 0.01
"""Free space between objects and the robot at its start [m]."""
SAME_VIEW = "told_"
"""Prefix of the names of cameras that keep the first robot's view of the scene."""
OVERHANG = 0.01
"""Largest overhang of an object over the edge of the table [m]."""


@dataclass(frozen=True, kw_only=True, eq=False)
class WorkFrame:
    """The frame of a workplace: on the table top, x to the right of the robot, y away from it."""

    origin: Array
    """Origin in the world (3,) [m]."""
    angle: float
    """Angle from world x to the frame's x about the vertical [rad]."""


def retold_instance(task: Task, seed: int, episode: int, *, placement: int = 0) -> TaskInstance:
    """Return a recorded scene with another robot in it: a pure function of the scene and the arguments.

    Objects keep their shapes, looks, masses and relative poses; lights and words stay. The scene is moved as a whole,
    only along the table, to a place where everything is well within reach. Without such a place, it is put where most
    is within reach, and the expert tries.

    Args:
        task: A task that reuses recorded scenes.
        seed: Seed of the run.
        episode: Index of the scene.
        placement: Index of its place on the table, best first; an index beyond the last takes the last.

    Raises:
        SamplingError: The scene has no room on the other table.
        FileError: The scenes of the run are missing, or differ.
    """
    told = told_scene(task, episode)
    rng = partial(generator, seed, episode, task=task.name)
    robots = sample_robots(task, rng("robots"))
    fixtures = _fixtures(task, told.instance, rng("objects"))
    table = next(obj for obj in fixtures if obj.category == TABLE)
    there, here = frame_of(told.instance), _work_frame(task, table, robots)
    own = [entry.name for entry in task.config.objects]
    fixed = {obj.name for obj in fixtures}
    props = [o for o in told.instance.objects if (o.name in own or not o.fixed) and o.name not in fixed]
    shifts = _shifts(task, fixtures, [_moved(obj, there, here) for obj in props], robots, here)
    placement = min(placement, len(shifts) - 1)
    shift = shifts[placement]
    here = replace(here, origin=here.origin + shift)
    objects = (*fixtures, *(_moved(obj, there, here) for obj in props), *sample_markers(task))
    cameras = sample_cameras(task, rng("cameras"), objects, robots)
    housings = camera_bodies(task, cameras)
    if task.config.retold is not None and task.config.retold.same_view:
        cameras += tuple(_same_view(camera, there, here) for camera in told.instance.cameras if camera.parent is None)
    x, y = _right_and_away(here.origin[:2] - _placed(table).box.mean(axis=0)[:2], here.angle)
    source = told.instance
    return replace(
        source,
        seed=seed,
        episode=episode,
        task=task.name,
        robots=robots,
        objects=(*objects, *housings),
        cameras=cameras,
        max_frames=task.config.data.max_episode_length,
        fluid=source.fluid
        and replace(source.fluid, positions=tuple(_point(there, here, point) for point in source.fluid.positions)),
        work_point=(x, y),
        arms=choose_arms(task, objects, robots),
        retold=RetoldFrom(
            pair_id=source.pair_id,
            robot="+".join(robot.robot for robot in source.robots),
            scene_hash=source.content_hash(),
            ends=end_poses(told, task),
            placement=placement,
        ),
    )


@lru_cache(maxsize=32)
def working_distance(robot: str) -> float | None:
    """Return the best working distance ahead of a robot's base [m]; None without a workplace."""
    places = workplaces(shipped())
    if robot not in places:
        return None
    values = read_document(places[robot], shipped=shipped()).values
    return float(values["work_point"][1] - values["robots"][0]["translation"][1])


def frame_of(instance: TaskInstance) -> WorkFrame:
    """Return the work frame of a scene.

    An older task does not define it: its origin is then the best working point of the robot at its own workplace or,
    for a robot without one, among the objects.

    Raises:
        SamplingError: The scene has no table.
    """
    table = next((_placed(obj) for obj in instance.objects if obj.category == TABLE), None)
    if table is None:
        raise SamplingError("no_table", "the scene has no table to put another robot at")
    angle = quarter_turns_of(instance.robots)
    middle, top = table.box.mean(axis=0)[:2], float(table.box[1, 2])
    ahead = working_distance(instance.robots[0].robot)
    if any(instance.work_point):
        spot = middle + _turned(np.asarray(instance.work_point), angle)
    elif ahead is not None:
        spot = np.asarray(instance.robots[0].position[:2]) + _turned(np.array([0.0, ahead]), angle)
    else:
        spot = np.mean([obj.position[:2] for obj in instance.objects if not obj.fixed] or [middle], axis=0)
    return WorkFrame(origin=np.array([*spot, top]), angle=angle)


def _work_frame(task: Task, table: ObjectInstance, robots: Sequence[RobotInstance]) -> WorkFrame:
    """Return the work frame of the other robot."""
    box, angle = _placed(table).box, quarter_turns_of(robots)
    spot = box.mean(axis=0)[:2] + _turned(np.asarray(task.config.work_point or (0.0, 0.0)), angle)
    return WorkFrame(origin=np.array([*spot, box[1, 2]]), angle=angle)


def _fixtures(task: Task, source: TaskInstance, rng: np.random.Generator) -> tuple[ObjectInstance, ...]:
    """Return the fixtures of the other workplace, with the looks of those of the same name in the scene."""
    bare = replace(task, config=task.config.model_copy(update={"objects": ()}))
    looks = {obj.name: obj for obj in source.objects}
    return tuple(_looking_like(obj, looks.get(obj.name)) for obj in sample_props(bare, rng))


def _looking_like(fixture: ObjectInstance, other: ObjectInstance | None) -> ObjectInstance:
    if other is None or other.category != fixture.category:
        return fixture
    size = {"size": fixture.parameters["size"]} if "size" in fixture.parameters else {}
    return replace(fixture, parameters={**other.parameters, **size}, look=other.look, visible=other.visible)


def _shifts(
    task: Task,
    fixtures: Sequence[ObjectInstance],
    props: Sequence[ObjectInstance],
    robots: Sequence[RobotInstance],
    frame: WorkFrame,
) -> list[Array]:
    """Return shifts (3,) along the table [m] after which the arms reach everything, safest first, or else most.

    Raises:
        SamplingError: The scene fits nowhere on the table.
    """
    arms = [arm.name for arm in robot_description(robots[0].robot, robots[0].overrides).arms]
    reach = TaskReach(task, [*fixtures, *props], arms)
    fixed = {obj.name: _boxed(_placed(obj)) for obj in fixtures}
    lying = {obj.name: _boxed(_placed(obj)) for obj in props}
    boxes = [box for robot in robots for box in robot_boxes(robot)]
    found: list[tuple[Array, int]] = []
    for way in _ways():
        shift = np.array([*_turned(way, frame.angle), 0.0])
        moved = {name: place.at(place.position + shift, place.quat) for name, place in lying.items()}
        if _has_room(moved, fixed[task.config.work_surface].box, boxes):
            found.append((shift, reach.missed({**fixed, **moved})))
    if not found:
        corners = np.array([place.box for place in lying.values()])
        width, depth = (corners[:, 1].max(axis=0) - corners[:, 0].min(axis=0))[:2]
        raise SamplingError(
            "no_room_on_table",
            f"the scene takes {width:.2f} x {depth:.2f} m and has no free place on the table of {robots[0].robot}",
        )
    return _spread(np.array([shift for shift, _ in found]), np.array([missed for _, missed in found]))


def _spread(shifts: Array, missed: Array) -> list[Array]:
    """Return a few of the shifts (n, 3) [m], apart from each other: those amid many suitable ones first.

    Args:
        shifts: The shifts, shortest first.
        missed: Number of spots out of reach after each shift (n,).
    """
    away = np.linalg.norm(shifts[:, None] - shifts[None], axis=-1)
    certain = ((away <= APART) * (missed[None] == missed.min())).sum(axis=1)
    order = np.lexsort((np.arange(len(shifts)), -certain, missed))
    chosen: list[int] = []
    for k in order:
        if len(chosen) == PLACEMENTS:
            break
        if all(away[k, other] > APART for other in chosen):
            chosen.append(int(k))
    return [shifts[k] for k in chosen]


def _boxed(place: Placed) -> Placed:
    """Return the same object with the few corners of its box as points."""
    corners = np.array([[place.box[i, 0], place.box[j, 1], place.box[k, 2]] for i, j, k in np.ndindex(2, 2, 2)])
    return replace(place, points=quat_rotate(quat_conjugate(place.quat), corners - place.position))


def _ways() -> list[Array]:
    """Return shifts along the table (2,) [m], right and away, shortest first."""
    x, y = (np.arange(-round(far / STEP), round(far / STEP) + 1) * STEP for far in FARTHEST)
    ways = [np.array([a, b]) for a in x for b in y]
    return sorted(ways, key=lambda way: (round(float(np.hypot(*way)), 6), abs(way[0]), way[0], way[1]))


def _has_room(places: Mapping[str, Placed], table: Array, boxes: Sequence[Array]) -> bool:
    """Return whether objects lie on the table and clear of the robot."""
    for place in places.values():
        low, high = place.box
        if np.any(low[:2] < table[0, :2] - OVERHANG) or np.any(high[:2] > table[1, :2] + OVERHANG):
            return False
        if in_boxes(place, boxes, ROOM):
            return False
    return True


def _moved(obj: ObjectInstance, there: WorkFrame, here: WorkFrame) -> ObjectInstance:
    """Return an object at its place in the other workplace."""
    position, quat = _point(there, here, obj.position), obj.quat
    turn = here.angle - there.angle
    if turn:
        w, i, j, k = quat_multiply(quat_from_axis_angle([0.0, 0.0, 1.0], turn), np.array(obj.quat)).tolist()
        quat = (w, i, j, k)
    x, y = _turned(np.array(obj.rolling[:2]), turn)
    return replace(obj, position=position, quat=quat, rolling=(float(x), float(y), obj.rolling[2]))


def _same_view(camera: CameraSpec, there: WorkFrame, here: WorkFrame) -> CameraSpec:
    """Return a camera of the room, under its own name, moved so that its view of the scene is unchanged."""
    turn = quat_from_axis_angle([0.0, 0.0, 1.0], here.angle - there.angle)
    w, i, j, k = quat_multiply(turn, np.array(camera.quat)).tolist()
    name = camera.name if camera.name.startswith(SAME_VIEW) else f"{SAME_VIEW}{camera.name}"
    return replace(camera, name=name, position=_point(there, here, camera.position), quat=(w, i, j, k))


def _point(there: WorkFrame, here: WorkFrame, point: Sequence[float]) -> tuple[float, float, float]:
    offset = np.asarray(point, float) - there.origin
    turned = np.array([*_turned(offset[:2], here.angle - there.angle), offset[2]])
    x, y, z = (here.origin + turned).tolist()
    return x, y, z


def _turned(way: Array, angle: float) -> Array:
    """Return a horizontal vector (2,) rotated about the vertical [rad]; quarter turns are exact."""
    c, s = np.cos(angle), np.sin(angle)
    c, s = (float(np.round(v)) if abs(v - np.round(v)) < 1e-9 else float(v) for v in (c, s))
    return np.array([c * way[0] - s * way[1], s * way[0] + c * way[1]])


def _right_and_away(way: Array, angle: float) -> tuple[float, float]:
    right, away = _turned(way, -angle).tolist()
    return right, away


def _placed(obj: ObjectInstance) -> Placed:
    return Placed(np.array(obj.position), np.array(obj.quat), outline_of(obj))

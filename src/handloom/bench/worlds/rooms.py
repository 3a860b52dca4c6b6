"""Robots drive through furnished rooms without touching anything: contacts are counted in every physics step."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from handloom.arrays import Array
from handloom.bench.result import BenchResult
from handloom.engine.warmup import warm_up
from handloom.episode import run_episode
from handloom.episode.columns import recorded_qpos
from handloom.errors import HandloomError, InputError, unknown_name
from handloom.scene import Scene, build_scene
from handloom.scene.mobile_base import MobileBase
from handloom.seeding import generator
from handloom.skills import Schedule
from handloom.spatial import quat_multiply
from handloom.tasks import Task, load_task, sample_task, worded_skills
from handloom.values import EpisodeRecord, FunnelStage, ObjectInstance, TaskInstance

TASKS = {"lift2": "lift2_fetch_carton", "split_aloha": "split_aloha_fetch_can"}
"""Robot > task whose rooms are furnished: drive to a table, pick up an object, drive with it to another table."""
HALF = 3.2
"""Half the side of the room [m]."""
PIECES = 6
"""Pieces of furniture beside the two tables."""
SIZES = ((0.3, 0.3, 0.45), (0.9, 0.7, 1.3))
"""Smallest and largest piece [m]: from a stool to a cupboard."""
FREE = 1.0
"""Free space in front of a table, where the robot works, and around its start [m]."""
MOST_TRIES = 2000
MOST_FRAMES = 4000
"""Paths through these rooms are up to 10 m long."""


@dataclass(frozen=True, kw_only=True)
class Drive:
    """Outcome of one room."""

    arrived: int
    """Number of completed drives to a table, of 2."""
    refused: bool
    """Whether the planner reported, before moving, that there is no path to a table."""
    failure: str
    """Any other reason why the episode ended early."""
    steps: int
    """Number of physics steps in which the base moved."""
    touching: int
    """Number of frames in which the robot or the held object touched anything else."""
    touched: tuple[str, ...]
    """Objects that were touched."""
    way: float
    """Distance driven [m]."""
    off: tuple[float, float]
    """Largest position [m] and heading error [rad] at the end of a drive."""
    slip: float
    """Largest difference between a wheel's rolled distance and its hub's travel along it, per trip to a table [m]."""
    skid: float
    """Sideways travel of the steered wheels' hubs, as a fraction of their total travel."""


def run(names: Sequence[str] = (), seeds: int = 50, seed: int = 0) -> BenchResult:
    """Drive to a table, and with an object from it to another table, in random rooms; one row per robot.

    Args:
        names: Robots; none means all that have a task of this kind.
        seeds: Number of rooms per robot.
        seed: Seed of the rooms.
    """
    for name in names:
        if name not in TASKS:
            raise unknown_name("robot that fetches", name, TASKS)
    if seeds < 1:
        raise InputError(f"at least 1 room is needed, got {seeds}")
    warm_up()
    return BenchResult(bench="rooms", rows=tuple(_row(name, seeds, seed) for name in names or TASKS))


def _row(robot: str, rooms: int, seed: int) -> dict[str, Any]:
    task = load_task(TASKS[robot])
    drives = [drive_through(task, furnished_room(task, seed, k)) for k in range(rooms)]
    return {
        "name": robot,
        "rooms": rooms,
        "ways_driven": sum(drive.arrived for drive in drives),
        "rooms_without_way": sum(drive.refused for drive in drives),
        "driving_steps": sum(drive.steps for drive in drives),
        "touching_steps": sum(drive.touching for drive in drives),
        "touched": ", ".join(sorted({name for drive in drives for name in drive.touched})),
        "way_m": sum(drive.way for drive in drives) / rooms,
        "off_mm": 1000.0 * max(drive.off[0] for drive in drives),
        "off_deg": math.degrees(max(drive.off[1] for drive in drives)),
        "slip_mm": 1000.0 * max(drive.slip for drive in drives),
        "skid_percent": 100.0 * max(drive.skid for drive in drives),
        "other_failures": ", ".join(drive.failure for drive in drives if drive.failure),
    }


def furnished_room(task: Task, seed: int, room: int) -> TaskInstance:
    """Return a scene of a fetching task in another room, with tables, robot and furniture anywhere and at any angle."""
    instance, rng = sample_task(task, seed, room), generator(seed, room, "rooms", task=task.name)
    for _ in range(MOST_TRIES):
        placed = _placed(instance, rng)
        if placed is not None:
            return placed
    raise HandloomError(f"{task.name}: no room for {PIECES} pieces of furniture in {MOST_TRIES} tries")


def _placed(instance: TaskInstance, rng: np.random.Generator) -> TaskInstance | None:
    """Return the scene with everything at random poses; None if any two overlap."""
    objects, taken = {o.name: o for o in instance.objects}, []
    # The carton lies at the -y edge of one table, the tray at the +x edge of the other.
    for table, obj, front in (("table", _fetched(instance), (0.0, -1.0)), ("side_table", "tray", (1.0, 0.0))):
        size = np.array(objects[table].parameters["size"][:2], float)
        zone, middle = size + FREE * np.abs(front), 0.5 * FREE * np.array(front)
        place, yaw = rng.uniform(-HALF + 0.9, HALF - 0.9, 2), float(rng.uniform(-math.pi, math.pi))
        taken.append(_outline(place + _turned(middle, yaw), yaw, zone))
        objects = {**objects, **{n: _moved(objects[n], objects[table], place, yaw) for n in (obj, table)}}
    robot, start = instance.robots[0], rng.uniform(-HALF + 0.7, HALF - 0.7, 2)
    heading = float(rng.uniform(-math.pi, math.pi))
    taken.append(_outline(start, heading, np.array([1.2, 1.1])))
    if not _apart(taken) or not all(_inside(outline) for outline in taken):
        return None
    for k in range(PIECES):
        size, yaw = rng.uniform(*SIZES), float(rng.uniform(-math.pi, math.pi))
        place = rng.uniform(-HALF + 0.3, HALF - 0.3, 2)
        taken.append(_outline(place, yaw, size[:2]))
        if not _apart(taken):
            return None
        parameters = {"size": size.tolist(), "color": rng.uniform(0.2, 0.9, 3).tolist()}
        position = (float(place[0]), float(place[1]), float(size[2]) / 2.0)
        objects[f"piece{k}"] = ObjectInstance(
            name=f"piece{k}", category="table", parameters=parameters, position=position, quat=_quat(yaw), fixed=True
        )
    position = (float(start[0]), float(start[1]), robot.position[2])
    robot = replace(robot, position=position, quat=_quat(heading))
    shell = {o.name: _widened(o) for o in instance.objects if o.name.startswith(("wall", "floor"))}
    return replace(
        instance, robots=(robot,), objects=tuple({**objects, **shell}.values()), cameras=(), max_frames=MOST_FRAMES
    )


def _fetched(instance: TaskInstance) -> str:
    return next(o.name for o in instance.objects if not o.fixed and o.name != "tray")


def _widened(plane: ObjectInstance) -> ObjectInstance:
    """Return a wall or the floor of the task's 5 m room, as part of the larger room."""
    factor = 2.0 * HALF / 5.0
    x, y, z = plane.position
    size = [factor * side if side == 5.0 else side for side in plane.parameters["size"]]
    return replace(plane, position=(factor * x, factor * y, z), parameters={**plane.parameters, "size": size})


def _moved(obj: ObjectInstance, table: ObjectInstance, place: Array, yaw: float) -> ObjectInstance:
    """Return an object moved and rotated together with its table."""
    x, y = place + _turned(np.subtract(obj.position[:2], table.position[:2]), yaw)
    quat = quat_multiply(_quat(yaw), obj.quat)
    return replace(obj, position=(float(x), float(y), obj.position[2]), quat=tuple(quat.tolist()))


def _quat(yaw: float) -> tuple[float, float, float, float]:
    return (math.cos(yaw / 2.0), 0.0, 0.0, math.sin(yaw / 2.0))


def _turned(p: Array, yaw: float) -> Array:
    cos, sin = math.cos(yaw), math.sin(yaw)
    return np.array([[cos, -sin], [sin, cos]]) @ p


def _outline(middle: Array, yaw: float, size: Array) -> Array:
    """Return the corners (4, 2) of a rectangle on the floor [m], in order."""
    corners = 0.5 * size * np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])
    return middle + np.stack([_turned(corner, yaw) for corner in corners])


def _inside(outline: Array) -> bool:
    return bool(np.abs(outline).max() < HALF)


def _apart(outlines: Sequence[Array]) -> bool:
    """Return whether the last rectangle overlaps no earlier one (some side of one separates the two)."""
    return all(_separated(a, b) for i, a in enumerate(outlines) for b in outlines[:i])


def _separated(a: Array, b: Array) -> bool:
    for sides in (a, b):
        for axis in (sides[1] - sides[0], sides[2] - sides[1]):
            p, q = a @ axis, b @ axis
            if p.max() < q.min() or q.max() < p.min():
                return True
    return False


def drive_through(task: Task, instance: TaskInstance) -> Drive:
    """Let the expert fetch in a room, and count contacts while the base moves; stop before placing."""
    scene, robot = build_scene(instance), instance.robots[0].name
    stages = worded_skills(task, instance)
    ((name, blocks),) = stages[0].items()
    skills = [{arm: [s for s in lane if s.name != "place"] for arm, lane in block.items()} for block in blocks]
    touches = _Touches(scene, robot, _fetched(instance))
    scene.world.after_step(touches.look)
    source = Schedule(scene, [{name: skills}], generator(instance.seed, instance.episode, "skills", task=task.name))
    record = run_episode(scene, source)
    return _judged(scene, record, touches)


class _Touches:
    """Records the contacts of a robot and the object that it fetches in every physics step."""

    def __init__(self, scene: Scene, robot: str, fetched: str) -> None:
        self._world, self._robot, self._fetched = scene.world, robot, fetched
        model = scene.world.model
        self._names = np.array([model.body(body).name.split("/")[0] for body in model.geom_bodyid])
        self._watched = np.isin(self._names, [robot, fetched])
        self.steps: list[frozenset[frozenset[str]]] = []

    def look(self) -> None:
        """Record the contacts of the latest physics step, as pairs of names."""
        pairs = self._world.data.contact.geom
        pairs = pairs[self._watched[pairs].any(axis=1)]
        self.steps.append(frozenset(frozenset(self._names[pair].tolist()) for pair in pairs))

    def wrong(self, step: int, *, holding: bool) -> set[str]:
        """Return the forbidden contacts of a step: of the robot, and of the object while it is held."""
        own = {self._robot, self._fetched} if holding else {self._robot}
        return set().union(*(pair - own for pair in self.steps[step] if pair & own))


def _judged(scene: Scene, record: EpisodeRecord, touches: _Touches) -> Drive:
    """Return the outcome of driving, first with empty hands and then with the object."""
    base, per_frame = scene.robot(record.instance.robots[0].name).base, record.instance.substeps
    assert base is not None
    ways, off, length, looked, rolls = [], [(0.0, 0.0)], 0.0, [], [(0.0, 0.0)]
    for span in [s for s in record.timeline if s.skill == "navigate"]:
        qpos = recorded_qpos(scene, record)[span.start : span.end + 1]
        ways.append(span.success)
        if span.end == span.start:
            continue  # No path was found.
        way = base.poses(qpos[:, base.qpos_index])
        length += float(np.hypot(*np.diff(way[:, :2], axis=0).T).sum())
        rolls.append(rolling(base, qpos))
        steps = range(span.start * per_frame, span.end * per_frame)
        looked += [touches.wrong(step, holding=len(ways) > 1) for step in steps]
        for goal in [check.arguments["pose"] for check in span.checks if check.name == "base_at"]:
            miss = way[-1] - np.array(goal)
            off.append((float(np.hypot(*miss[:2])), abs(math.remainder(float(miss[2]), 2.0 * math.pi))))
    failure = record.failure
    refused = failure is not None and failure.stage is FunnelStage.PLAN and failure.skill == "navigate"
    return Drive(
        arrived=sum(ways),
        refused=refused,
        failure="" if failure is None or refused else failure.reason,
        steps=len(looked),
        touching=sum(bool(step) for step in looked),
        touched=tuple(sorted(set().union(*looked))),
        way=length,
        off=(max(o[0] for o in off), max(o[1] for o in off)),
        slip=max(r[0] for r in rolls),
        skid=max(r[1] for r in rolls),
    )


def rolling(base: MobileBase, qpos: Array) -> tuple[float, float]:
    """Return the slip of the wheels [m] and the skid of steered wheels (fraction of the path), from ``qpos`` (k, nq).

    The path of a wheel's hub is split at every frame and resolved along and across the wheel's direction at mid-frame.
    A wheel with rollers moves across by design.
    """
    joints = [base.world.qpos_index(f"{base.robot_name}/{name}") for name in base.drive.rolling_names]
    swivels = [base.world.qpos_index(f"{base.robot_name}/{name}") for name in base.drive.swivel_names]
    poses, slip, across, whole = base.poses(qpos[:, base.qpos_index]), 0.0, 0.0, 0.0
    for k, wheel in enumerate(base.wheels):
        hubs = poses[:, :2] + np.stack([_turned(wheel.hub, yaw) for yaw in poses[:, 2]])
        angle = poses[:, 2] + (wheel.swivel_sign * qpos[:, swivels[k]] if swivels else 0.0)
        ahead = np.stack([_turned(wheel.forward, a) for a in 0.5 * (angle[1:] + angle[:-1])])
        moved = np.diff(hubs, axis=0)
        rolled = base.drive.wheel_radius * (qpos[-1, joints[k]] - qpos[0, joints[k]])
        slip = max(slip, abs(float(np.sum(moved * ahead) - rolled)))
        if swivels:
            across += float(np.abs(moved[:, 0] * ahead[:, 1] - moved[:, 1] * ahead[:, 0]).sum())
            whole += float(np.hypot(*moved.T).sum())
    return slip, across / whole if whole else 0.0

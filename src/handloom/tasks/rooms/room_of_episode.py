"""The room of one episode: layout, style and clutter, drawn once and written into the instance."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from handloom.arrays import Array
from handloom.errors import ConfigError, InputError
from handloom.scene.camera_config import CameraConfig
from handloom.scene.rooms.clutter import ClutterPlacer, Stray
from handloom.scene.rooms.furnish import Room, Standing, furnish
from handloom.scene.rooms.room_config import RoomConfig, layouts_with
from handloom.skills.configs import skill_name
from handloom.spatial import invert_pose, quat_from_matrix
from handloom.tasks.config.task import Task
from handloom.tasks.config.task_config import TaskConfig, placed_skills
from handloom.values import ROLLING_RESISTANCE, ObjectInstance

NEAR = 1.5
"""Fixtures whose front is nearer than this to the workplace [m], and those that the task names, have joints with dry
friction and catches; the joints of others move freely, which is cheaper to simulate."""


FROM_WALL = 0.12
"""Minimum distance of a camera from walls, floor and ceiling [m]."""
BEFORE = 0.06
"""Minimum distance of a camera from furniture [m]."""
FACED = (0.0, 0.2, 1.0)
"""Point faced by a camera with an orientation: the workplace [m]."""


@dataclass(frozen=True)
class RoomOfEpisode:
    """Surroundings of an episode."""

    room: Room
    clutter: tuple[ObjectInstance, ...]
    calm: frozenset[str]
    """Fixtures out of reach."""


def in_room(task: Task, rng: np.random.Generator) -> tuple[Task, RoomOfEpisode | None]:
    """Return the task in the room of an episode, and that room; a task without a room is unchanged."""
    config = task.config.room
    if config is None:
        return task, None
    choices, joints, around = rng.spawn(3)
    layout = config.layouts[int(choices.integers(len(config.layouts)))]
    style = config.styles[int(choices.integers(len(config.styles)))]
    room = furnish(config.kind, layout, style, joints, at=config.at)
    names = used_names(task.config)
    own = {entry.category for entry in task.config.objects}
    strays = ClutterPlacer(room, config.clutter, taken=names, without=own).place(around)
    far = (s.entry.name for s in room.standing if s.entry.name not in names and _distance(room, s.entry.name) > NEAR)
    found = RoomOfEpisode(room, tuple(map(_instance, strays)), frozenset(far))
    cameras = tuple(_kept_inside(camera, room) for camera in task.config.cameras)
    return replace(task, arena=room.arena(), config=task.config.model_copy(update={"cameras": cameras})), found


def _kept_inside(camera: CameraConfig, room: Room) -> CameraConfig:
    """Return a camera moved to the nearest place inside the walls, and out of furniture towards its target.

    A camera on a robot is unchanged.
    """
    if camera.parent or camera.translation is None:
        return camera
    inside = np.array([room.size[0] / 2, room.size[1] / 2, room.size[2]]) - FROM_WALL
    T_room_world = invert_pose(room.T_world_room)
    at = (T_room_world @ np.array([*camera.translation, 1.0]))[:3]
    kept = np.clip(at, [-inside[0], -inside[1], FROM_WALL], inside)
    eye = (room.T_world_room @ np.array([*kept, 1.0]))[:3]
    faced = FACED if camera.look_at is None or camera.watched else camera.look_at
    target = np.asarray(faced, float)
    boxes = [_world_box(standing) for standing in room.standing]
    for share in np.linspace(0.0, 0.6, 25):
        place = eye + share * (target - eye)
        if not any(bool(np.all(place > box[0] - BEFORE) and np.all(place < box[1] + BEFORE)) for box in boxes):
            eye = place
            break
    if np.allclose(eye, camera.translation):
        return camera
    x, y, z = (round(float(v), 6) for v in eye)
    return camera.model_copy(update={"translation": (x, y, z)})


def _world_box(standing: Standing) -> Array:
    """Return the box (2, 3) [m] around a fixture in the world, which is rotated only about the vertical."""
    x, y, z = np.meshgrid(*standing.asset.aabb.T, indexing="ij")
    corners = np.stack([x.ravel(), y.ravel(), z.ravel()], axis=1)
    world = corners @ standing.T_world_object[:3, :3].T + standing.T_world_object[:3, 3]
    return np.stack([world.min(axis=0), world.max(axis=0)])


def _distance(room: Room, name: str) -> float:
    standing = room.find(name)
    if standing is None:
        return 0.0
    x, y = standing.fixture.front
    at = room.T_world_room @ np.array([x, y, 0.0, 1.0])
    return float(np.hypot(at[0], at[1]))


def _instance(stray: Stray) -> ObjectInstance:
    x, y, z = (round(float(v), 6) for v in stray.T_world_object[:3, 3])
    w, i, j, k = (float(v) for v in quat_from_matrix(stray.T_world_object[:3, :3]))
    return ObjectInstance(
        name=stray.name,
        category=stray.asset.category,
        parameters=dict(stray.asset.parameters),
        position=(x, y, z),
        quat=(w, i, j, k),
        fixed=not stray.free,
        words=stray.asset.name,
        rolling_resistance=ROLLING_RESISTANCE if stray.free else None,
    )


def calmed(objects: Sequence[ObjectInstance], found: RoomOfEpisode | None) -> tuple[ObjectInstance, ...]:
    """Return the objects with the fixtures out of reach marked as such."""
    if found is None:
        return tuple(objects)
    return tuple(replace(obj, calm=True) if obj.name in found.calm else obj for obj in objects)


def used_names(config: TaskConfig) -> set[str]:
    """Return everything that skills, regions, goals and cameras of a task name."""
    names = {name for _, skill in placed_skills(config) for name in skill.objects}
    names |= {name for region in config.regions for name in (region.target, region.target2, region.container) if name}
    names |= {name for term in config.goal for name in term.names}
    names |= {name for camera in config.cameras for name in camera.watched}
    return names | ({config.room.at} if config.room is not None and config.room.at else set())


def room_mistakes(task: Task) -> Iterable[str]:
    """Yield a message for every name in a task that some of its possible room layouts lack."""
    config = task.config.room
    if config is None:
        return
    own = {entry.name for entry in (*task.config.objects, *task.config.robots)}
    known = {entry.name for entry in task.arena.fixtures}
    for name, layouts in layouts_with(config, used_names(task.config) - own).items():
        if name not in known and not layouts:
            continue  # No kitchen has it; the check of names reports that.
        having = ", ".join(layouts)
        lacking = ", ".join(layout for layout in config.layouts if layout not in layouts)
        yield (
            f"{_user_of(task, name)} {name!r}, which these layouts do not have: {lacking}; {_instead(task, name)}name "
            f"layouts that have one: {having}"
        )


def _user_of(task: Task, name: str) -> str:
    """Return who uses a fixture, after file, line and key."""
    for i, region in enumerate(task.config.regions):
        if name in (region.target, region.target2, region.container):
            if task.wrote("regions", i, "object"):
                return f"{task.where('regions', i)}: {region.object} is placed on"
            k = next((k for k, entry in enumerate(task.config.objects) if entry.name == region.object), 0)
            return f"{task.where('objects', k)}: {region.object} has no region of its own and is placed on"
    for keys, skill in placed_skills(task.config):
        if name in skill.objects:
            return f"{task.where(*keys)}: {skill_name(skill.name)} uses"
    return f"{task.where('room')}: the task uses"


def _instead(task: Task, name: str) -> str:
    """Return what to write instead, for a task whose robot came with a table while it names a room."""
    if task.config.work_point is None or name != task.config.work_surface:
        return ""
    return (
        f"robot: NAME stands at its own {name}; at another fixture of a room, write base: setups/kitchen_fr3.yaml or "
        "setups/kitchen_lift2.yaml instead of robot, and regions with a worktop as target (docs/guides/rooms.md); or "
    )


def example_room(config: RoomConfig, where: str) -> Room:
    """Return the room of a task for looking up names.

    Raises:
        ConfigError: There is no such fixture; the message begins with ``where``.
    """
    try:
        return config.example()
    except InputError as error:
        raise ConfigError(f"{where}: {error}") from error

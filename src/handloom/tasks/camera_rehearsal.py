"""Checks of the camera views of a sampled scene: nothing, only a part, or the back of a cabinet."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product

import mujoco
import numpy as np

from handloom.arrays import Array
from handloom.render import camera_pose, project
from handloom.scene import Scene
from handloom.scene.measures import world_box
from handloom.tasks.config.task import Task
from handloom.tasks.config.task_config import placed_skills
from handloom.values import CameraSpec

VISIBLE = 0.03
"""Largest distance between a point and a camera ray's first hit at which the point counts as seen [m]; handles stand
off their fronts."""


def blind(task: Task, scene: Scene) -> Iterator[str]:
    """Return notes on cameras inside objects, and on objects of the skills that are in no camera's image."""
    model, data = scene.world.model, scene.world.data
    cameras = scene.instance.cameras
    present = {obj.name for obj in scene.instance.objects}  # The fixtures of a room differ between layouts.
    entries = (*task.arena.fixtures, *task.config.objects)
    solids = [entry.name for entry in entries if entry.name in present]
    for i, camera in enumerate(cameras):
        eye = camera_pose(model, data, camera)[:3, 3]
        inside = [name for name in solids if _is_inside(scene, name, eye)] if camera.parent is None else []
        if inside:
            yield f"{task.where('cameras', i)}: {camera.name} is inside {inside[0]}; move its translation {_up(eye)}"
    watched = _watched(task)
    unseen = [name for name in watched if cameras and not _seen(scene, cameras, _middle(scene, name))]
    for name in unseen:
        yield f"{_where_seen(task, name)}: no camera has {name} in its image; {_another(task, watched)} would"


def films(task: Task) -> bool:
    """Return whether the task has cameras of its own; those of a workplace are not fitted to the scene."""
    own = str(task.path)
    return any(task.where("cameras", i).startswith(own) for i in range(len(task.config.cameras)))


def _another(task: Task, names: Sequence[str]) -> str:
    """Return a camera that sees objects, as written in a task file."""
    entry = f"{{name: front, look_at: [{', '.join(names)}]}}"
    return f"under cameras, - {entry}" if films(task) else f"cameras: [{entry}] in the task file"


def hidden(task: Task, scene: Scene) -> Iterator[tuple[int, str, str]]:
    """Yield cameras of the room that cannot see the target of a skill: the camera, the object, and the part of it."""
    model, data = scene.world.model, scene.world.data
    for i, camera in enumerate(scene.instance.cameras):
        eye = camera_pose(model, data, camera)[:3, 3]
        for name in _watched(task) if camera.parent is None else ():
            point, what = _worked_on(task, scene, name)
            if _shut_in(scene, name):
                continue  # No camera can see into a shut drawer.
            if _seen(scene, [camera], point[None]) and _covered(scene, eye, point, name):
                yield i, name, what


def behind(task: Task, scene: Scene, met: Counter[tuple[int, str, str]], scenes: int) -> Iterator[str]:
    """Return a note for every camera whose view is blocked in most scenes."""
    for (i, name, what), count in met.items():
        if 2 * count > scenes:
            entry = task.config.cameras[i].name
            eye = ", ".join(f"{v:.2f}" for v in _in_front(scene, name))
            yield (
                f"{_where_seen(task, name)}: in {count} of {scenes} scenes {entry} does not see {what}: something is "
                f"in front of it; under cameras, - {{name: {entry}, translation: [{eye}], orientation: null, look_at: "
                f"[{name}]}} would"
            )


def _worked_on(task: Task, scene: Scene, name: str) -> tuple[Array, str]:
    """Return the point (3,) of an object that hands work on, and its name: a handle, or the top of the object."""
    asset = scene.assets.get(name)
    wanted = [getattr(skill, "joint", None) for _, skill in placed_skills(task.config) if name in skill.objects[:1]]
    if asset is not None and asset.articulated:
        link = asset.joints[asset.joint_index(next((joint for joint in wanted if joint), None))]
        T = scene.world.body_pose(f"{name}/{link.name}")
        return T[:3, :3] @ np.asarray(link.head) + T[:3, 3], f"the handle of {link.name} of {name}"
    low, high = world_box(scene, name)
    return np.array([*(low + high)[:2] / 2.0, high[2]]), name


def _covered(scene: Scene, eye: Array, point: Array, name: str) -> bool:
    """Return whether anything but robots, whose arms move, is between a camera (3,) and a point (3,) of an object."""
    model, data = scene.world.model, scene.world.data
    way = point - eye
    length = float(np.linalg.norm(way))
    hit, start = np.array([-1], np.int32), eye.copy()
    robots = tuple(f"{robot.name}/" for robot in scene.instance.robots)
    while True:
        ray = mujoco.mj_ray(model, data, start, way / length, None, 1, -1, hit, None)
        gone = float(np.linalg.norm(start - eye)) + ray
        if ray < 0.0 or gone > length - VISIBLE:
            return False
        body = model.body(model.geom_bodyid[hit[0]]).name
        own_part = body.startswith(f"{name}/") and not scene.assets[name].articulated
        if not body.startswith(robots) and not own_part:
            return True
        start = eye + (gone + 1e-4) * way / length


def _shut_in(scene: Scene, name: str) -> bool:
    """Return whether an object is inside another one with moving parts, such as in a shut drawer."""
    parts = [other for other, asset in scene.assets.items() if asset.articulated and other != name]
    return any(_is_inside(scene, other, _middle(scene, name)[0]) for other in parts)


def _in_front(scene: Scene, name: str) -> Array:
    """Return a viewpoint (3,) that shows the side of an object facing the first robot [m]."""
    middle, robot = world_box(scene, name).mean(axis=0), np.asarray(scene.instance.robots[0].position)
    x, y = (robot - middle)[:2] / max(float(np.linalg.norm((robot - middle)[:2])), 1e-9)
    return middle + np.array([0.6 * x - 0.6 * y, 0.6 * y + 0.6 * x, 0.6])


def _is_inside(scene: Scene, name: str, point: np.ndarray) -> bool:
    box = world_box(scene, name)
    return bool(np.all(point > box[0]) and np.all(point < box[1]))


def _up(eye: np.ndarray) -> str:
    return f"up or away; it is at {[round(float(v), 2) for v in eye]}"


def _watched(task: Task) -> tuple[str, ...]:
    """Return the objects used by skills."""
    return tuple(dict.fromkeys(name for _, skill in placed_skills(task.config) for name in skill.objects))


def cut_off(task: Task, scene: Scene) -> Iterator[str]:
    """Return the movable objects of the skills that are not completely in any camera's image."""
    loose = {obj.name for obj in scene.instance.objects if not obj.fixed}
    for name in _watched(task):
        if name in loose and scene.instance.cameras and not _seen(scene, scene.instance.cameras, _corners(scene, name)):
            yield name


def framing(task: Task, missed: Counter[str], scenes: int) -> Iterator[str]:
    """Return a note for every object that no camera shows completely."""
    for name, count in missed.items():
        yield (
            f"{_where_seen(task, name)}: in {count} of {scenes} scenes no camera shows the whole of {name} at the "
            f"start; {_another(task, _watched(task))} would"
        )


def _where_seen(task: Task, name: str) -> str:
    """Return the line of the cameras, or of the object's region if the cameras come from another file."""
    regions = [("regions", i) for i, region in enumerate(task.config.regions) if region.object == name]
    for keys in [("cameras",), *regions]:
        if task.where(*keys).startswith(str(task.path)):
            return task.where(*keys)
    return task.where("cameras")


def _middle(scene: Scene, name: str) -> Array:
    return world_box(scene, name).mean(axis=0)[None]


def _corners(scene: Scene, name: str) -> Array:
    """Return the corners (8, 3) of the box around an object [m]."""
    return np.array(list(product(*world_box(scene, name).T)))


def _seen(scene: Scene, cameras: Sequence[CameraSpec], points: Array) -> bool:
    """Return whether one camera has all points (n, 3) in its image."""
    model, data = scene.world.model, scene.world.data
    for camera in cameras:
        pixels, depth = project(camera, camera_pose(model, data, camera), points)
        if np.all((depth > 0) & np.all((pixels >= 0) & (pixels < [camera.width, camera.height]), axis=1)):
            return True
    return False

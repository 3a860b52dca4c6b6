"""The cameras of an episode."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from handloom.arrays import Array
from handloom.config import load_config
from handloom.errors import ConfigError
from handloom.robots import CameraMount
from handloom.scene.camera_config import CAMERAS, HOUSINGS, OTHER_HOUSING, CameraConfig, CameraFile
from handloom.spatial import (
    matrix_from_quat,
    quat_conjugate,
    quat_from_axis_angle,
    quat_from_matrix,
    quat_multiply,
    quat_normalize,
    random_directions,
)
from handloom.tasks.config.task import Task
from handloom.tasks.sampling.robots import described, robot_boxes
from handloom.values import CameraSpec, ObjectInstance, RobotInstance
from handloom.values.camera import R_GIVEN_OPENCV, Optics

OPPOSITE = np.array([0.8, 0.0, 0.75])
"""Direction from the target to a camera without a position of its own: away from the robot and up; its length is
1.1."""
ASIDE = np.array([-0.57, 0.57, 0.75])
"""The same if it watches something fixed, such as a cabinet, which faces the robot: from beside the robot, on the side
of the furniture, so that the arm is not in between."""
NEAREST = 0.55
"""Minimum distance of such a camera from its target [m]."""
NEAREST_FURNITURE = 0.9
"""The same for furniture, which is larger than other objects [m]."""
FILL = 0.35
"""Fraction of the image's smaller side filled by half the spread of the objects; the rest is for the arm."""


BEHIND_LENS = 0.001
"""Distance of a camera's housing from the plane of its lens [m]."""


def sample_cameras(
    task: Task, rng: np.random.Generator, objects: Sequence[ObjectInstance], robots: Sequence[RobotInstance]
) -> tuple[CameraSpec, ...]:
    """Return the cameras with the noise that the task sets.

    Args:
        task: The task.
        rng: Random generator of the cameras.
        objects: Poses of the objects, for cameras that look at them.
        robots: Poses of the robots, for cameras opposite the first one.
    """
    entries = task.config.cameras
    children = zip(entries, dataset_names(task), rng.spawn(len(entries)), strict=True)
    return tuple(_sample(task, entry, name, child, objects, robots) for entry, name, child in children)


def _placed(
    task: Task, entry: CameraConfig, objects: Sequence[ObjectInstance], robots: Sequence[RobotInstance]
) -> tuple[Array, Array, str]:
    """Return position (3,) [m], orientation wxyz and axes convention of a camera in its parent, before noise."""
    if entry.orientation is not None:
        position, quat = np.asarray(entry.translation, float), quat_normalize(entry.orientation)
        mount = _prim_of(task, entry)
        if mount is not None:
            # Prims are USD cameras, whatever convention our mount uses.
            turns = [quat_from_matrix(R_GIVEN_OPENCV[axes]) for axes in (mount.camera_axes, "usd")]
            prim = quat_multiply(quat_multiply(np.array(mount.orientation), turns[0]), quat_conjugate(turns[1]))
            position, quat = mount.translation + matrix_from_quat(prim) @ position, quat_multiply(prim, quat)
        return position, quat, entry.camera_axes
    if entry.watched:
        boxes = [box for robot in robots if robot.name in entry.watched for box in robot_boxes(robot)]
        points = np.array(
            [*(obj.position for obj in objects if obj.name in entry.watched), *np.reshape(boxes, (-1, 3))]
        )
        target = (points.min(axis=0) + points.max(axis=0)) / 2.0
    else:
        points = target = np.asarray(entry.look_at, float)
    if entry.translation is not None:
        eye = np.asarray(entry.translation, float)
    else:
        away = target[:2] - np.asarray(robots[0].position[:2])
        x, y = away / max(float(np.linalg.norm(away)), 1e-9)
        camera = camera_file(task, entry)
        half = min(entry.size or (camera.resolution_width, camera.resolution_height)) / 2.0
        focal = camera.camera_params[0] * _reduced(camera, entry)
        spread = float(np.linalg.norm(points - target, axis=-1).max())
        furniture = [obj for obj in objects if obj.name in entry.watched and obj.fixed]
        ahead, left, up = ASIDE if furniture else OPPOSITE
        left *= -1.0 if _is_right(robots[0], furniture) else 1.0
        distance = max(NEAREST_FURNITURE if furniture else NEAREST, spread * focal / (FILL * 2.0 * half))
        eye = target + distance * np.array([ahead * x - left * y, ahead * y + left * x, up])
    quat = np.array(CameraSpec.looking_at(entry.name, target, eye=eye, width=1, height=1, focal=1.0).quat)
    return eye, quat, "ros"


def _is_right(robot: RobotInstance, objects: Sequence[ObjectInstance]) -> bool:
    """Return whether objects are on the right of a robot."""
    left = matrix_from_quat(np.array(robot.quat))[:, 1]
    return sum(float(left @ (np.array(obj.position) - robot.position)) for obj in objects) < 0.0


def _prim_of(task: Task, entry: CameraConfig) -> CameraMount | None:
    """Return the mount of the robot camera to which a task attaches its own camera; None if attached to a body."""
    first, _, rest = entry.parent.strip("/").partition("/")
    robot = next((robot for robot in task.config.robots if robot.name == first), None)
    return None if robot is None or not rest else described(task, robot).camera_prim(rest)


def _reduced(camera: CameraFile, entry: CameraConfig) -> float:
    """Return the factor by which ``size`` scales the focal length of a camera."""
    if entry.size is None:
        return 1.0
    return max(entry.size[0] / camera.resolution_width, entry.size[1] / camera.resolution_height)


def _sample(
    task: Task,
    entry: CameraConfig,
    name: str,
    rng: np.random.Generator,
    objects: Sequence[ObjectInstance],
    robots: Sequence[RobotInstance],
) -> CameraSpec:
    position, quat, axes = _placed(task, entry, objects, robots)
    if entry.apply_randomization:
        position = position + random_directions(rng, 1)[0] * rng.uniform(0.0, entry.max_translation_noise)
        angle = np.deg2rad(rng.uniform(-entry.max_orientation_noise, entry.max_orientation_noise))
        quat = quat_multiply(quat_from_axis_angle(random_directions(rng, 1)[0], angle), quat)
    quat = quat_multiply(quat, quat_from_matrix(R_GIVEN_OPENCV[axes]))
    camera = camera_file(task, entry)
    fx, fy, cx, cy = camera.camera_params
    if entry.apply_randomization and entry.max_focal_noise > 0.0:
        zoom = 1.0 + float(rng.uniform(-entry.max_focal_noise, entry.max_focal_noise))
        fx, fy = fx * zoom, fy * zoom
    spec = CameraSpec(
        name=name,
        width=camera.resolution_width,
        height=camera.resolution_height,
        fx=fx,
        fy=fy,
        cx=cx,
        cy=cy,
        parent=parent_body(task, entry),
        position=(float(position[0]), float(position[1]), float(position[2])),
        quat=(float(quat[0]), float(quat[1]), float(quat[2]), float(quat[3])),
        optics=sample_optics(camera, rng.spawn(1)[0]) if entry.lens == "real" else None,
    )
    return spec if entry.size is None else spec.resized(*entry.size)


def sample_optics(camera: CameraFile, rng: np.random.Generator) -> Optics:
    """Return a lens and sensor typical of robots: a machine-vision or depth camera, or a cheap webcam."""

    def draw(low: float, high: float) -> float:
        return round(float(rng.uniform(low, high)), 6)

    k1, k2, p1, p2, k3 = draw(-0.09, 0.03), draw(-0.01, 0.02), draw(-8e-4, 8e-4), draw(-8e-4, 8e-4), 0.0
    return Optics(
        distortion=camera.distortion or (k1, k2, p1, p2, k3),
        vignetting=draw(0.0, 0.35),
        exposure=round(float(np.exp(rng.uniform(-0.25, 0.2))), 6),
        exposure_drift=draw(0.0, 0.08),
        white_balance=(draw(0.9, 1.12), draw(0.9, 1.12)),
        white_drift=draw(0.0, 0.04),
        drift_seconds=draw(2.0, 12.0),
        phase=draw(0.0, 2.0 * np.pi),
        noise=draw(0.002, 0.018),
        jpeg=int(rng.integers(70, 96)),
        seed=int(rng.integers(2**32)),
    )


def camera_bodies(task: Task, cameras: Sequence[CameraSpec]) -> tuple[ObjectInstance, ...]:
    """Return the housings ``camera_<name>`` of the cameras that have one, behind their lenses.

    No part of a housing is in front of its own lens, so no camera sees its own housing.
    """
    bodies = []
    for entry, camera in zip(task.config.cameras, cameras, strict=True):
        if entry.body:
            stem = Path(entry.camera_file).stem
            size = next((size for start, size in HOUSINGS.items() if stem.startswith(start)), OTHER_HOUSING)
            forward = matrix_from_quat(camera.quat)[:, 2]
            x, y, z = (np.asarray(camera.position) - (size[2] / 2.0 + BEHIND_LENS) * forward).tolist()
            look = {"size": list(size), "color": [0.16, 0.16, 0.17]}
            name = f"camera_{camera.name}"
            bodies.append(
                ObjectInstance(
                    name=name, category="plane", parameters=look, position=(x, y, z), quat=camera.quat, fixed=True
                )
            )
    return tuple(bodies)


def camera_file(task: Task, entry: CameraConfig) -> CameraFile:
    """Return a published camera by name, or read the YAML file; a missing file is matched by its stem."""
    if entry.camera_file in CAMERAS:
        return CAMERAS[entry.camera_file]
    what = f"{_where(task, entry, 'camera_file')} (published: {', '.join(CAMERAS)})"
    try:
        file = task.find(entry.camera_file, what=what)
    except ConfigError:
        if Path(entry.camera_file).stem not in CAMERAS:
            raise
        return CAMERAS[Path(entry.camera_file).stem]
    return _read_camera(file, file.stat().st_mtime_ns)


@lru_cache(maxsize=64)
def _read_camera(file: Path, _changed: int) -> CameraFile:
    """Read a camera file once for the many cameras that share it."""
    return load_config(file, CameraFile)


def dataset_names(task: Task) -> tuple[str, ...]:
    """Return the cameras' names in the dataset, without the robot's name if they stay unique."""
    names = [entry.name for entry in task.config.cameras]
    short = [_without_robot(task, name) for name in names]
    return tuple(name if short.count(part) > 1 else part for name, part in zip(names, short, strict=True))


def _without_robot(task: Task, name: str) -> str:
    robots = (f"{robot.name}_" for robot in task.config.robots)
    return next((name.removeprefix(robot) for robot in robots if name.startswith(robot)), name) or name


def parent_body(task: Task, entry: CameraConfig) -> str | None:
    """Return the body of the scene that carries a camera, or None if it is fixed in the world."""
    if not entry.parent:
        return None
    first, _, rest = entry.parent.strip("/").partition("/")
    for robot in task.config.robots:
        if robot.name == first:
            description = described(task, robot)
            try:
                return f"{first}/{description.resolve_body(rest or description.arms[0].base_body)}"
            except ConfigError as error:
                raise ConfigError(f"{_where(task, entry, 'parent')}: {error}") from error
    names = [o.name for o in (*task.arena.fixtures, *task.config.objects)]
    if first in names:
        return f"{first}/{rest or 'object'}"
    known = ", ".join([*(r.name for r in task.config.robots), *names])
    raise ConfigError(f"{_where(task, entry, 'parent')}: {entry.parent!r} starts with no robot or object: {known}")


def _where(task: Task, entry: CameraConfig, key: str) -> str:
    return task.where("cameras", task.config.cameras.index(entry), key)

"""A sheet of how recorded episodes end, drawn from their last states: nothing is simulated again."""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from handloom.arrays import Array
from handloom.engine.trust import archives_of, trusted_record
from handloom.errors import InputError
from handloom.objects.parts import Link
from handloom.render import Renderer, contact_sheet, write_png
from handloom.render.pictures import Picture
from handloom.scene import Scene, build_scene
from handloom.scene.cavities import Cavity
from handloom.scene.measures import world_box
from handloom.skills.placing.place_in import cavities_of
from handloom.spatial import invert_pose, quat_from_matrix
from handloom.values import CameraSpec, Check

MOST = 24
"""Maximum number of episodes on a sheet."""
INTO = ("in_cavity", "inserted")
"""Goal terms whose target has a cavity."""
AWAY = 0.25
"""Distance of the view into a cavity from the edge of that cavity [m]."""
SIZE = (320, 240)
"""Width and height of that view, and of all of a scene without cameras [px]."""
FOCAL = 330.0
"""Its focal length [px]."""
FAR = 50.0
"""How far robots are moved down for it [m]."""


def end_states(path: Path, out: Path, *, preset: str = "quality", most: int = MOST) -> tuple[Path, int, int]:
    """Draw the last state of every episode of a run or a dataset, and a view into each cavity that was filled.

    The first camera that is fixed in the world is drawn. The view into a cavity leaves out the robots, and shows shut
    drawers and doors opened, with everything in a drawer moved along. Of a run, episodes in its failures folder follow.

    Args:
        path: A run, or a dataset.
        out: PNG file to write.
        preset: fast, balanced or quality.
        most: Maximum number of episodes.

    Returns:
        The file, the number of episodes in it, and the number of all.
    """
    inside = [folder for folder in (path / "dataset", path / "failures") if (folder / "meta").is_dir()]
    parts = inside or [path]
    archives = [archive for part in parts for archive in archives_of(part)]
    if not archives:
        raise InputError(f"{path}: no recorded episodes; runs keep those that failed with --keep failures")
    rows = [_end_of(folder, preset) for folder in islice(archives, most)]
    columns = max(len(row) for row in rows)
    even = all(len(row) == columns for row in rows)
    blank = (np.zeros_like(rows[0][0][0]), "")
    cells = [cell for row in rows for cell in [*row, *[blank] * (columns - len(row))]]
    images, labels = [picture for picture, _ in cells], [label for _, label in cells]
    sheet = contact_sheet(images, labels, columns=columns * (max(1, round(4 / columns)) if even else 1))
    return write_png(out, sheet), len(rows), len(archives)


def _end_of(folder: Path, preset: str) -> list[tuple[Picture, str]]:
    """Return the images of the end of an archived episode, with captions."""
    _, record = trusted_record(folder)
    scene = build_scene(record.instance)
    scene.world.restore_state(record.states[-1])
    outcome = "succeeded" if record.failure is None else record.failure.reason
    camera = _overview(scene)
    pictures = [(_drawn(scene, camera, preset), f"attempt {record.instance.episode}  {camera.name}  {outcome}")]
    _without_robots(scene)
    for name, part in dict.fromkeys(_filled(record.goal)):
        scene.world.restore_state(record.states[-1])
        view = view_into(scene, name, part)
        if view is not None:
            camera, opened = view
            words = f"{name}{f' ({part})' if part else ''}{', opened for this view' if opened else ''}"
            pictures.append((_drawn(scene, camera, preset), f"attempt {record.instance.episode}  in {words}"))
    return pictures


def _without_robots(scene: Scene) -> None:
    """Move the robots far below, where they hide nothing; the scene is only drawn after that."""
    model = scene.world.model
    for robot in scene.instance.robots:
        own = [b for b in range(model.nbody) if model.body(b).name.startswith(f"{robot.name}/")]
        for body in (b for b in own if model.body_parentid[b] not in own):
            model.body_pos[body, 2] -= FAR


def _drawn(scene: Scene, camera: CameraSpec, preset: str) -> Picture:
    renderer = Renderer(scene.world.model, preset, looks=scene.looks)
    return np.asarray(renderer.render(scene.world.data, [camera])[camera.name]["rgb"], np.uint8)


def _overview(scene: Scene) -> CameraSpec:
    """Return the first camera fixed in the world; one opposite the robot if there is none."""
    fixed = next((camera for camera in scene.instance.cameras if camera.parent is None), None)
    if fixed is not None:
        return fixed
    loose = [obj.name for obj in scene.instance.objects if not obj.fixed] or [scene.instance.objects[0].name]
    middle = np.mean([world_box(scene, name).mean(axis=0) for name in loose], axis=0)
    return _camera("overview", middle, middle + np.array([0.5, 0.9, 0.7]))


def _camera(name: str, target: Array, eye: Array) -> CameraSpec:
    return CameraSpec.looking_at(name, target, eye=eye, width=SIZE[0], height=SIZE[1], focal=FOCAL)


def _filled(goal: Sequence[Check]) -> Iterator[tuple[str, str]]:
    """Yield the targets with a cavity of a goal, and the part that has it; an empty part for any."""
    for term in goal:
        if term.name in INTO:
            yield str(term.arguments["target"]), str(term.arguments.get("part") or "")


def view_into(scene: Scene, name: str, part: str) -> tuple[CameraSpec, bool] | None:
    """Open an object and return a camera that looks into its cavity, and whether anything was opened.

    Args:
        scene: The scene, whose state is changed if something is shut.
        name: The object.
        part: Body that has the cavity, such as ``drawer_1``; empty for its largest one.
    """
    asset = scene.assets.get(name)
    if asset is None:
        return None
    links = [link for link in asset.joints if link.name == part] or [link for link in asset.joints if not part]
    moved = [_open(scene, name, link) for link in links]
    cavities = [cavity for cavity in cavities_of(scene, name) if not part or cavity.part == part]
    if not cavities:
        return None
    cavity = max(cavities, key=lambda found: found.volume)
    return _looking_in(scene, name, cavity), any(moved)


def _open(scene: Scene, name: str, link: Link) -> bool:
    """Move a joint to its open end, with the objects in its part; return whether that moved it visibly."""
    world, joint = scene.world, f"{name}/{link.joint}"
    low, high = link.range
    end = high if abs(high) >= abs(low) else low
    if abs(end - world.joint_position(joint)) < 0.2 * abs(high - low):
        return False
    inside = [obj.name for obj in scene.instance.objects if not obj.fixed and _lies_in(scene, obj.name, name, link)]
    before = world.body_pose(f"{name}/{link.name}")
    world.data.qpos[world.qpos_index(joint)] = end
    world.forward()
    T_moved = world.body_pose(f"{name}/{link.name}") @ invert_pose(before)
    for other in inside:
        T, address = T_moved @ scene.object_pose(other), world.qpos_index(f"{other}/free")
        world.data.qpos[address : address + 7] = (*T[:3, 3], *quat_from_matrix(T[:3, :3]))
    world.forward()
    return True


def _lies_in(scene: Scene, other: str, name: str, link: Link) -> bool:
    """Return whether the middle of an object is in the cavity of a part, which may be shut."""
    point = invert_pose(scene.object_pose(name)) @ np.array([*world_box(scene, other).mean(axis=0), 1.0])
    boxes = [cavity.box for cavity in cavities_of(scene, name) if cavity.part == link.name]
    return any(bool(np.all(point[:3] > box[0]) and np.all(point[:3] < box[1])) for box in boxes)


def _looking_in(scene: Scene, name: str, cavity: Cavity) -> CameraSpec:
    """Return a camera in front of the opening of a cavity, or above it and on the side of the robot."""
    T = scene.object_pose(name)
    middle = T[:3, :3] @ cavity.box.mean(axis=0) + T[:3, 3]
    half = np.abs(T[:3, :3]) @ np.ptp(cavity.box, axis=0) / 2
    out = T[:3, :3] @ np.asarray(cavity.opening or (0.0, 0.0, 1.0))
    away = AWAY + 2.0 * float(half.max())
    if out[2] > 0.7:
        robot = np.asarray(scene.instance.robots[0].position)[:2] - middle[:2]
        side = 0.35 * robot / max(float(np.linalg.norm(robot)), 1e-9)
        eye = middle + away * np.array([*side, 1.0])
    else:
        eye = middle + away * (out + np.array([0.0, 0.0, 0.3]))
    return _camera(f"in_{name}", middle, eye)

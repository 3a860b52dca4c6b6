"""Deed files: tasks without a fixed robot, written in the frame of the workplace.

``robot: lift2`` (or ``--robot``) brings the robot, its table and its cameras from the library's
``workplaces/<workplace>/<robot>.yaml``; regions are written in short form, ``{object: box, at: [[-0.05, 0.1], [0.05,
0.15]],
yaw: [-10, 10]}``. Everything is completed to the published form, which ``handloom show TASK`` prints.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from handloom.config import Document, merge_documents, read_document
from handloom.config.parsing import KeyPath, Mark, dotted
from handloom.config.search import find_file
from handloom.errors import ConfigError, suggest
from handloom.robots import load_robot
from handloom.spatial import matrix_from_quat, quat_normalize
from handloom.tasks.config.short_form.verbs import library_asset
from handloom.tasks.reach.own_workplace import own_workplace
from handloom.values.camera import R_GIVEN_OPENCV

DEFAULT_WORKPLACE = "table"
REGION_KEYS = ("object", "at", "yaw", "on", "in")
"""Keys of a short region."""
LIFTING = frozenset({"pick", "place", "lift", "handover", "hang", "insert", "shake", "stack", "arrange", "carry"})
"""Verbs that move a whole object; an object with joints that none of them names is fixed."""
CLEAR = 0.03
"""Free space between objects on the table, for fingers [m]."""
STANDING_AREA = [[-0.4, 0.0], [0.4, 0.4]]
"""Default places of objects with joints, in the work frame [m], limited to those with handles within reach."""
FRAMES_PER_SKILL = 350
"""Default number of frames for each skill: opening a door or a drawer takes that long."""
BESIDE, FURTHER = (1.25, 0.75, 0.7), 0.3
"""Where a camera goes that would show the back of furniture: to the robot's left, back and up, and how far beyond the
work point it looks, as fractions of its distance from the work point."""
ANY_TURN, FACING_ROBOT = [-180.0, 180.0], [-8.0, 8.0]
"""Default rotations of an object [deg]: any, or with its front towards the robot for one with joints."""


def workplaces(shipped: Path, workplace: str = DEFAULT_WORKPLACE) -> dict[str, Path]:
    """Return the robots that work at a workplace, by name, with the files of their setups.

    Args:
        shipped: Folder of the task library.
        workplace: ``table``, or another folder of ``workplaces``.
    """
    files = sorted((shipped / "workplaces").glob("*/*.yaml"))
    return {file.stem: file for file in files if file.parent.name == workplace}


def expand_deed(
    document: Document, root: KeyPath, *, shipped: Path, robot: str | None = None, allow_outside: bool = False
) -> tuple[str, ...] | None:
    """Complete a deed file in place with the workplace of its robot.

    A robot of the library has a workplace there; a user's own robot, named by its folder, gets a suitable one.

    Args:
        document: The task file.
        root: Keys that lead to the task inside it.
        shipped: Folder of the task library.
        robot: Robot that replaces the one named in the file.
        allow_outside: Whether the folder of a robot may be anywhere.

    Returns:
        The arms of its robot; None for a task that names its own robots, which stays unchanged.

    Raises:
        ConfigError: With file and line.
    """
    task = _at(document.values, root)
    if not isinstance(task, dict):
        return None
    if robot is None and "robot" not in task:
        _refuse_without_robot(document, root, task)
        _expand_regions(document, root, task)
        return None
    mark = document.mark((*root, "robot")) if robot is None else Mark(f"--robot {robot}")
    if "robots" in task:
        names = ", ".join(str(e.get("name")) for e in task["robots"] or () if isinstance(e, dict))
        where = document.mark((*root, "robots"))
        raise ConfigError(
            f"{where}: robots: this task brings its own robot ({names}) and cannot be done by another; write "
            "robot: NAME instead of robots and a base (docs/guides/write_a_task.md)"
        )
    name = task.pop("robot", None) if robot is None else robot
    task.pop("robot", None)
    workplace, where = task.pop("workplace", DEFAULT_WORKPLACE), document.mark((*root, "workplace"))
    # A folder that the user names may be anywhere; one that a file names may not.
    place = _own_workplace(document, workplace, name, mark, allow_outside=allow_outside or robot is not None)
    if place is None:
        place = read_document(_workplace_file(shipped, workplace, where, name, mark), shipped=shipped)
    given_frames = isinstance(task.get("data"), dict) and "max_episode_length" in task["data"]
    own_cameras = {entry.get("name") for _, entry in _dicts(task.get("cameras"))}
    _merge_workplace(document, root, place)
    task = _at(document.values, root)
    arms = _arms(task)
    _complete_objects(task)
    if not given_frames and isinstance(task.get("data"), dict):
        task["data"]["max_episode_length"] = max(task["data"].get("max_episode_length", 0), _frames_for(task))
    if workplace == DEFAULT_WORKPLACE:
        _show_fronts(task, own_cameras)
    _complete_regions(document, root, task)
    return arms


def _at(values: Any, root: KeyPath) -> Any:
    for key in root:
        values = values[key]
    return values


def _refuse_without_robot(document: Document, root: KeyPath, task: Mapping[str, Any]) -> None:
    """Refuse a deed file without a robot."""
    short = [i for i, region in enumerate(_dicts(task.get("regions"))) if _is_short(region[1])]
    if "workplace" in task or (short and "robots" not in task):
        key = ("workplace",) if "workplace" in task else ("regions", short[0])
        raise ConfigError(
            f"{document.mark((*root, *key))}: {dotted(key)}: a task in this form needs a robot: write "
            "robot: NAME, or give --robot NAME"
        )


def _expand_regions(document: Document, root: KeyPath, task: dict[str, Any]) -> None:
    """Write the short regions of a task with its own robots in the published form; ``at`` counts from the middle."""
    middle = {"work_point": [0.0, 0.0], "work_area": [[0.0, 0.0], [0.0, 0.0]], **task}
    for i, region in _dicts(task.get("regions")):
        if {"at", "in"} & region.keys() and "target" not in region:
            where = f"{document.mark((*root, 'regions', i))}: regions.{i}"
            task["regions"][i] = {**_published_region(region, middle, set(), where), "within_reach": False}


def _workplace_file(shipped: Path, workplace: Any, where: Mark, name: Any, mark: Mark) -> Path:
    places = sorted(folder.name for folder in (shipped / "workplaces").iterdir() if folder.is_dir())
    if workplace not in places:
        raise ConfigError(f"{where}: workplace: there is no workplace {workplace!r}; {suggest(str(workplace), places)}")
    known = workplaces(shipped, workplace)
    if not isinstance(name, str) or name not in known:
        raise ConfigError(
            f"{mark}: robot: no robot {name!r} works at a {workplace}; {suggest(str(name), known)}; for one of your "
            "own give its folder, such as robots/my_arm (handloom robot add makes one)"
        )
    return known[name]


def _own_workplace(
    document: Document, workplace: Any, name: Any, mark: Mark, *, allow_outside: bool
) -> Document | None:
    """Return the workplace of a robot that is named by its folder; None for any other."""
    if not isinstance(name, str) or "/" not in name:
        return None
    if workplace != DEFAULT_WORKPLACE:
        raise ConfigError(f"{mark}: robot: a robot of your own works at a {DEFAULT_WORKPLACE}, not at a {workplace}")
    folder = find_file(name, near=document.path.parent, what=f"{mark}: robot", allow_outside=allow_outside).absolute()
    robot = load_robot(folder)
    if not robot.arms:
        raise ConfigError(f"{mark}: robot: {name} has no arm")
    return Document(own_workplace(robot, str(folder)), folder, {})


def _merge_workplace(document: Document, root: KeyPath, place: Document) -> None:
    """Add the workplace of a robot to a task as its base file."""
    size = len(root)
    own = Document(
        _at(document.values, root),
        document.path,
        {path[size:]: mark for path, mark in document.marks.items() if path[:size] == root},
    )
    merged = merge_documents(place, own)
    for path in [path for path in document.marks if path[:size] == root]:
        del document.marks[path]
    document.marks |= {(*root, *path): mark for path, mark in merged.marks.items()}
    if not root:
        document.values = merged.values
    else:
        _at(document.values, root[:-1])[root[-1]] = merged.values


def _arms(task: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the arms of a workplace's robot."""
    entry = task["robots"][0]
    return tuple(arm.name for arm in load_robot(entry["robot_config_file"]).arms)


def _complete_objects(task: Mapping[str, Any]) -> None:
    """Mark objects with joints as articulated, and as fixed unless a skill moves them as a whole."""
    lifted = {name for skill in task.get("skills") or () for name in _lifted(skill)}
    for _, entry in _dicts(task.get("objects")):
        if "target_class" in entry:
            continue
        asset = library_asset(entry)
        if asset is not None and asset.joints:
            entry["target_class"] = "ArticulatedObject"
            entry.setdefault("fix_base", entry.get("name") not in lifted)


def _frames_for(task: Mapping[str, Any]) -> int:
    """Return the frames that the skills of a task may need one after the other."""
    count = 0
    for skill in task.get("skills") or ():
        lists = [value for value in skill.values() if isinstance(value, list)] if isinstance(skill, dict) else []
        count += max([1, *(sum(isinstance(step, str | dict) for step in steps) for steps in lists)])
    return FRAMES_PER_SKILL * count


def _show_fronts(task: Mapping[str, Any], own: Collection[Any]) -> None:
    """Move the cameras of a table with furniture that opens to the side of the robot, which its front faces.

    Those that stand opposite the robot would show the back of it. They stay in the same place in all scenes.

    Args:
        task: The task, with its workplace.
        own: Names of the cameras that the task file itself places.
    """
    entries = [entry for _, entry in _dicts(task.get("objects"))]
    if not any(entry.get("fix_base") and entry.get("target_class") == "ArticulatedObject" for entry in entries):
        return
    point = task.get("work_point", (0.0, 0.0))
    for _, camera in _dicts(task.get("cameras")):
        if camera.get("parent") or camera.get("name") in own or camera["translation"][1] <= point[1]:
            continue
        eye, target = views_of_front(camera, point)
        camera.update(translation=eye, orientation=None, look_at=target)


def views_of_front(camera: Mapping[str, Any], work_point: Sequence[float]) -> tuple[list[float], list[float]]:
    """Return where a camera opposite the robot goes to see what the robot sees, and the point that it looks at [m].

    Args:
        camera: A camera of a workplace, whose robot looks along y.
        work_point: Middle of the work area (2,) [m].
    """
    x, y = work_point
    eye = np.asarray(camera["translation"], float)
    if camera.get("look_at") is not None:
        height = float(camera["look_at"][2])
    else:
        quat = quat_normalize(np.asarray(camera["orientation"], float))
        ahead = (matrix_from_quat(quat) @ R_GIVEN_OPENCV[camera.get("camera_axes", "usd")])[:, 2]
        height = float(eye[2] + ahead[2] * (y - eye[1]) / ahead[1])
    away = float(eye[1]) - y
    side, back, rise = BESIDE
    place = [x - side * away, y - back * away, float(eye[2]) + rise * away]
    return [round(value, 3) for value in place], [round(x, 3), round(y + FURTHER * away, 3), round(height, 3)]


def _lifted(skill: Any) -> Iterator[str]:
    """Yield the objects that a step moves as a whole."""
    if not isinstance(skill, dict):
        return
    for verb, value in skill.items():
        if verb in LIFTING:
            for name in value if isinstance(value, list) else [value]:
                yield str(name).partition(".")[0]
        elif isinstance(value, list):  # {left: [...], right: [...]}
            for inner in value:
                yield from _lifted(inner)


def _complete_regions(document: Document, root: KeyPath, task: dict[str, Any]) -> None:
    """Write short regions in the published form; objects without one get one around the work point."""
    jointed = {e.get("name") for _, e in _dicts(task.get("objects")) if e.get("target_class") == "ArticulatedObject"}
    regions = task.setdefault("regions", [])
    if not isinstance(regions, list):
        return  # The check of keys reports the mistake.
    for i, region in _dicts(regions):
        if _is_short(region):
            where = f"{document.mark((*root, 'regions', i))}: regions.{i}"
            regions[i] = _published_region(region, task, jointed, where)
    placed = {region.get("object") for _, region in _dicts(regions)}
    for k, entry in _dicts(task.get("objects")):
        fixed_place = any(entry.get(key) is not None for key in ("translation", "init_parent"))
        if entry.get("name") in placed or fixed_place:
            continue
        document.marks[(*root, "regions", len(regions))] = document.mark((*root, "objects", k))
        regions.append(_published_region({"object": entry.get("name")}, task, jointed, ""))


def _is_short(region: Mapping[Any, Any]) -> bool:
    return bool({"at", "on", True, "in", "yaw"} & region.keys()) or set(region) == {"object"}


def _published_region(
    region: Mapping[Any, Any], task: Mapping[str, Any], jointed: set[Any], where: str
) -> dict[str, Any]:
    given = {("on" if key is True else key): value for key, value in region.items()}  # YAML reads `on:` as true.
    for key in given:
        if key not in REGION_KEYS:
            raise ConfigError(f"{where}.{key}: a region in short has no such key; {suggest(str(key), REGION_KEYS)}")
    turn = FACING_ROBOT if given.get("object") in jointed else ANY_TURN
    yaw = _turns(given["yaw"], f"{where}.yaw") if "yaw" in given else turn
    if "in" in given:
        return _region_inside(given, yaw, where)
    surface = task.get("work_surface", "table")
    target, part = _support(given.get("on", surface), f"{where}.on")
    on_surface = target == surface and part is None
    ranges: dict[str, Any] = {"yaw_rotation": yaw}
    result = {"object": given.get("object"), "target": target, "random_config": ranges}
    if part is not None:
        result["sub_tgt_prim"] = part
    if on_surface:
        result |= {"within_reach": True, "clear": CLEAR}
        area = STANDING_AREA if given.get("object") in jointed else task["work_area"]
        low, high = _corners(given["at"], f"{where}.at") if "at" in given else area
        x, y = task["work_point"]
        ranges["pos_range"] = [[low[0] + x, low[1] + y], [high[0] + x, high[1] + y]]
    else:
        ranges["pos_range"] = [*_corners(given.get("at", [0.0, 0.0]), f"{where}.at")]
        ranges["axes"] = "target"
    return result


def _region_inside(given: Mapping[Any, Any], yaw: list[float], where: str) -> dict[str, Any]:
    """Return the published form of a region inside a cavity: ``in: drawers.drawer_1``."""
    if "on" in given:
        raise ConfigError(f"{where}: an object starts on something or in something; give on or in, not both")
    target, part = _support(given["in"], f"{where}.in")
    ranges: dict[str, Any] = {"yaw_rotation": yaw}
    if "at" in given:
        ranges["pos_range"] = [*_corners(given["at"], f"{where}.at")]
    result = {"object": given.get("object"), "target": target, "random_type": "A_in_B_cavity_sampler"}
    return {**result, "random_config": ranges, **({} if part is None else {"sub_tgt_prim": part})}


def _corners(at: Any, where: str) -> tuple[list[float], list[float]]:
    """Return the two corners of a spot or a rectangle [m]."""
    points = [at, at] if _numbers(at, 2) else at
    if isinstance(points, list) and len(points) == 2 and all(_numbers(point, 2) for point in points):
        (a, b), (c, d) = points
        return [min(a, c), min(b, d)], [max(a, c), max(b, d)]
    raise ConfigError(f"{where}: a spot [x, y] or a rectangle [[x, y], [x, y]] in metres, got {at!r}")


def _turns(yaw: Any, where: str) -> list[float]:
    """Return the range of a rotation [deg]."""
    if _numbers([yaw], 1):
        return [yaw, yaw]
    if _numbers(yaw, 2) and yaw[0] <= yaw[1]:
        return list(yaw)
    raise ConfigError(f"{where}: degrees, 30 or from low to high [-30, 30], got {yaw!r}")


def _numbers(value: Any, count: int) -> bool:
    return (
        isinstance(value, list)
        and len(value) == count
        and all(isinstance(number, int | float) and not isinstance(number, bool) for number in value)
    )


def _support(on: Any, where: str) -> tuple[str, str | None]:
    """Return the support of an object, and its part: ``tray``, ``shelf.board_1`` or ``{shelf: board_1}``."""
    if isinstance(on, str) and on:
        name, _, part = on.partition(".")
        return name, part or None
    if isinstance(on, dict) and len(on) == 1 and all(isinstance(word, str) for word in (*on, *on.values())):
        return next(iter(on.items()))
    raise ConfigError(f"{where}: the name of an object, such as tray or shelf.board_1, got {on!r}")


def _dicts(entries: Any) -> Sequence[tuple[int, dict[Any, Any]]]:
    """Return the mappings of a list with their indices."""
    return [(i, e) for i, e in enumerate(entries) if isinstance(e, dict)] if isinstance(entries, list) else []

"""Tasks by name or path: YAML to a checked config with its arena."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

from handloom.config import (
    Document,
    apply_overrides,
    find_file,
    load_config,
    one_of_scene,
    parse_config,
    read_document,
    unused_keys,
)
from handloom.config.search import asset_roots, enclosing_folders, is_inside, search_folders
from handloom.errors import ConfigError, InputError, NotAllowedError, unknown_name
from handloom.safe_paths import below
from handloom.scene.object_config import ArenaConfig
from handloom.tasks.config.checking import check_task, refused_code
from handloom.tasks.config.contradictions import doubts, sameness
from handloom.tasks.config.deed_form import expand_deed
from handloom.tasks.config.packs import find_pack_task, pack_names, pack_of
from handloom.tasks.config.short_form.expand import expand_short_form
from handloom.tasks.config.stand_ins import stand_ins, with_own_entries, with_own_pours
from handloom.tasks.config.task import Task
from handloom.tasks.config.task_config import TaskConfig, TaskFile, placed_skills
from handloom.tasks.rooms.room_names import locate_room_files
from handloom.tasks.rooms.room_of_episode import example_room


def library() -> dict[str, Path]:
    """Return the tasks that ship with Handloom, by name."""
    return {file.stem: file for file in sorted(shipped().glob("*.yaml"))}


def deeds() -> dict[str, Path]:
    """Return the tasks of the library that any robot can do, by name; ``robot`` selects the robot."""
    return {file.stem: file for file in sorted((shipped() / "deeds").glob("*.yaml"))}


@cache
def shipped() -> Path:
    """Return the folder of the tasks that ship with Handloom, their setups and arenas."""
    return Path(str(resources.files("handloom.tasks") / "library"))


def load_task(
    name_or_path: str | Path,
    *,
    overrides: Sequence[str] = (),
    index: int = 0,
    allow_outside: bool = False,
    text: str | None = None,
    robot: str | None = None,
) -> Task:
    """Read a task and check everything in it that can be checked without building a scene.

    Args:
        name_or_path: A task of the library, ``PACK/TASK``, or a YAML file.
        overrides: ``a.b.c=value`` texts; paths start inside the task, e.g. ``data.max_episode_length=500``.
        index: Which entry of the file's ``tasks`` list.
        allow_outside: Whether the task and its assets may name files outside its folder, its parent folders, its asset
            root and our package.
        text: Contents that replace the file, such as the current text of an editor; None reads the file.
        robot: Robot to use, for tasks that any robot can do: ``fr3``, ``lift2``, or a folder ``robots/my_arm``; None:
            the robot that the file names.

    Raises:
        ConfigError: One line per mistake, with file and line.
        NotFoundError: No such task in the library and no such file.
    """
    path, index = _find(name_or_path, index)
    document = read_document(path, shipped=shipped(), allow_outside=allow_outside, text=text)
    name, root = path.stem, ()
    if isinstance(document.values, dict) and isinstance(document.values.get("tasks"), list):
        _refuse_beside_tasks(document)
        count = len(document.values["tasks"])
        if not 0 <= index < count:
            raise InputError(f"{path}: has {count} task(s); index {index} does not exist")
        if "scene" in document.values:
            document = one_of_scene(document, index, shipped=shipped(), allow_outside=allow_outside)
            name = _name_in_scene(document, name)
        else:
            root = ("tasks", index)
    pack = pack_of(path)
    name = name if pack is None else f"{pack}/{name}"
    locate_room_files(document, root, allow_outside=allow_outside)
    arms = expand_deed(document, root, shipped=shipped(), robot=robot, allow_outside=allow_outside)
    expand_short_form(document, root, arms=arms)
    apply_overrides(document, overrides, root=root)
    config = parse_config(document, TaskFile).tasks[index] if root else parse_config(document, TaskConfig)
    if config.allow_outside:
        mark = document.mark((*root, "allow_outside"))
        raise ConfigError(f"{mark}: allow_outside: only the command line can allow this, with --allow-outside")
    config = config.model_copy(
        update={**({"allow_outside": True} if allow_outside else {}), **_asset_root(config, path)}
    )
    arena, missing = _arena(config, path, document, root)
    task = Task(
        name=name,
        config=config,
        arena=arena,
        path=path,
        document=document,
        root=root,
        own_folders=(Path(robot).expanduser().absolute(),) if robot is not None and "/" in robot else (),
    )
    check_task(task)
    unused = (*unused_keys(config), *unused_keys(task.arena, "arena"))
    notices = (*unused, *refused_code(task), *_doubts(task))
    lines = stand_ins(task, missing_arena=missing)
    task, poured = with_own_pours(task)
    task, entered = with_own_entries(task)
    return replace(task, notices=notices, stand_ins=(*lines, *poured, *entered))


def variety_notes(task: Task) -> list[str]:
    """Return a line for a user's own task that shows the same objects in every episode."""
    return [] if task.path in (*library().values(), *deeds().values()) or pack_of(task.path) else [*sameness(task)]


def _doubts(task: Task) -> list[str]:
    return [line for keys, skill in placed_skills(task.config) for line in doubts(task, keys, skill)]


def _refuse_beside_tasks(document: Document) -> None:
    """Raise for keys of a task beside a list of tasks, in the same file or a base, with the right place for them."""
    beside = [key for key in document.values if key in TaskConfig.model_fields]
    if not beside:
        return
    here, theirs = document.mark((beside[0],)), document.mark(("tasks",))
    if here.source != str(document.path):
        raise ConfigError(
            f"{theirs}: tasks: {Path(here.source).name} is one task and no list of tasks; leave out the line `tasks:` "
            "and write what you change at the top level"
        )
    first = document.values["tasks"][0] if document.values["tasks"] else None
    name = first.get("name", "NAME") if isinstance(first, dict) else "NAME"
    inside = "".join(f"\n      {key}: ..." for key in beside)
    raise ConfigError(
        f"{here}: {beside[0]}: {Path(theirs.source).name} has a list of tasks; write what you change inside the one of "
        f"that name:\n  tasks:\n    - name: {name}{inside}"
    )


def _name_in_scene(document: Document, otherwise: str) -> str:
    """Return the name of a task that shares a file with other tasks of its scene."""
    name = document.values.get("name") if isinstance(document.values, dict) else None
    return name if isinstance(name, str) and name else otherwise


def _find(name_or_path: str | Path, index: int) -> tuple[Path, int]:
    """Return the file of a task and its index in the file's list."""
    path, name = Path(name_or_path), str(name_or_path)
    if path.suffix in {".yaml", ".yml"}:
        return (path if _exists(path) else _in_library(name) or path), index
    tasks = {**library(), **deeds()}
    if name in tasks:
        return tasks[name], index
    of_pack = find_pack_task(name)
    if of_pack is not None:
        return of_pack.file, index if of_pack.index is None else of_pack.index
    if _exists(path):
        return path, index
    if name in pack_names():
        raise InputError(f"{name} is a pack of tasks; handloom list tasks --pack {name} names them")
    raise unknown_name("task", name, tasks)


def setup_of(name: str) -> Mapping[str, Any] | None:
    """Return the merged keys of a setup of the library, which is no task but the base of tasks; None for others."""
    path = None if _exists(Path(name)) else _in_library(name)
    if path is None or path.parent.name != "setups":
        return None
    return read_document(path, shipped=shipped()).values


def _in_library(name: str) -> Path | None:
    """Return the file of the library that a path such as setups/fr3.yaml means after ``base``; None if none."""
    try:
        path = below(shipped(), name, what="task")
    except NotAllowedError:
        return None
    return path if path.is_file() else None


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _asset_root(config: TaskConfig, path: Path) -> dict[str, str]:
    """Return the absolute path of an asset root in the working folder, so that a run resumed elsewhere finds it."""
    if not config.asset_root:
        return {}
    given = Path(config.asset_root)
    folders = enclosing_folders(path.parent, allow_outside=config.allow_outside)
    around = asset_roots(given, folders)
    if around[0].is_dir():
        return {}
    elsewhere = asset_roots(given, [folder for folder in search_folders(path.parent) if folder not in folders])
    found = [str(root) for root in elsewhere if root.is_dir() and root not in around]
    return {"asset_root": found[0]} if found else {}


def _arena(config: TaskConfig, path: Path, document: Document, root: tuple[str | int, ...]) -> tuple[ArenaConfig, str]:
    """Read the arena that a task names; return it, and its name if a library arena replaces it."""
    if config.room is not None:
        return example_room(config.room, f"{document.mark((*root, 'room'))}: room").arena(), ""
    asset_root = Path(config.asset_root) if config.asset_root else None
    library_folder = shipped()
    missing = ""
    what = f"{document.mark((*root, 'arena_file'))}: arena_file"
    try:
        file = find_file(
            config.arena_file,
            near=path.parent,
            asset_root=asset_root,
            what=what,
            allow_outside=config.allow_outside,
        )
    except ConfigError:
        ours = library_folder / config.arena_file
        if is_inside(ours, [library_folder]) and ours.is_file():
            file = ours
        elif config.proxy_assets:
            file, missing = library_folder / "arenas" / "table.yaml", config.arena_file
        else:
            raise
    return read_arena(file), missing


def read_arena(file: Path) -> ArenaConfig:
    """Return the arena of a file."""
    return _read_arena(file, file.stat().st_mtime_ns)


@lru_cache(maxsize=64)
def _read_arena(file: Path, _changed: int) -> ArenaConfig:
    """Read an arena once for the many tasks that share it."""
    return load_config(file, ArenaConfig)

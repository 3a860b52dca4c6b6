"""Paths of a task outside its own folders, which a downloaded task may not read."""

from collections.abc import Iterator
from pathlib import Path

from handloom.config.search import is_inside
from handloom.errors import NotAllowedError
from handloom.tasks.config.task import Task
from handloom.tasks.config.task_config import placed_skills


def foreign_paths(task: Task) -> Iterator[str]:
    """Yield one line for every asset root, asset or grasp file that was not allowed; nothing is read."""
    if task.config.allow_outside:
        return
    yield from _asset_root(task)
    for what, name in _assets(task):
        file = task.file(name)  # A missing one is reported when it is needed and has no stand-in.
        if file is not None:
            yield from _outside(task, file, what)
    for what, name in _libraries(task):
        folder = task.folder(name)
        if folder is not None:
            yield from _outside(task, folder, what)
    for what, name in _grasp_files(task):
        if ".." in Path(name).parts:  # Relative paths start at the asset that is chosen later.
            yield f"{what}: {name} leads out of the folder of its asset; if you trust the task, pass --allow-outside"
        elif name.startswith(("/", "~")):
            yield from _outside(task, Path(name), what)


def _outside(task: Task, place: Path, what: str) -> Iterator[str]:
    try:
        task.inside(place, what)
    except NotAllowedError as error:
        yield str(error)


def _asset_root(task: Task) -> Iterator[str]:
    """Check an asset root in the file; one given with ``--set`` comes from the user and is trusted."""
    if task.asset_root is None or task.document is None:
        return
    if task.document.mark((*task.root, "asset_root")).source.startswith("--set"):
        return
    around = task.folders_around
    for root in task.asset_folders[len(around) :]:
        if root.exists() and not is_inside(root, around):
            yield (
                f"{task.where('asset_root')}: {root} lies outside the folders of the task; if it is yours, pass "
                f"--set asset_root={root.resolve()}, or allow everything with --allow-outside"
            )


def _assets(task: Task) -> Iterator[tuple[str, str]]:
    """Yield key and path of every asset that the task names."""
    for i, entry in enumerate(task.config.objects):
        if entry.path:
            yield task.where("objects", i, "path"), entry.path
    for entry in task.arena.fixtures:
        if entry.path:
            yield f"{task.config.arena_file}: fixtures: {entry.name}: path", entry.path


def _libraries(task: Task) -> Iterator[tuple[str, str]]:
    """Yield key and path of every folder from which assets are picked."""
    if task.config.distractors is not None and task.config.distractors.path:
        yield task.where("distractors", "path"), task.config.distractors.path
    for i, entry in enumerate(task.config.objects):
        if entry.art_cat:
            yield task.where("objects", i, "art_cat"), entry.art_cat


def _grasp_files(task: Task) -> Iterator[tuple[str, str]]:
    """Yield key and path of every grasp annotation that a skill names."""
    for keys, skill in placed_skills(task.config):
        name = getattr(skill, "npy_name", "")
        if name:
            yield task.where(*keys, "npy_name"), name

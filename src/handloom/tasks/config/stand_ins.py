"""What stands in for what a task names and is not there, in words."""

from collections.abc import Iterator
from pathlib import Path

from handloom.errors import ConfigError
from handloom.scene.camera_config import CAMERAS
from handloom.scene.object_config import ObjectConfig
from handloom.tasks.config.task import Task
from handloom.tasks.sampling.assets import is_missing, stand_in_of, stands_as_floor, stands_as_table
from handloom.tasks.sampling.distractors import library_stands_in
from handloom.tasks.sampling.robots import robot_source
from handloom.tasks.sampling.textures import texture_stand_ins


def stand_ins(task: Task, missing_arena: str = "") -> tuple[str, ...]:
    """Return one line for everything that is not there and what of ours stands in for it.

    Args:
        task: The task.
        missing_arena: The arena file, if it is not there.
    """
    lines = [f"arena_file: {missing_arena} is not there; our arenas/table.yaml stands in"] if missing_arena else []
    lines += [source.stand_in for entry in task.config.robots if (source := robot_source(task, entry)).stand_in]
    lines += _cameras(task)
    for i, entry in enumerate(task.config.objects):
        lines += _object(task, f"objects.{i} ({entry.name})", entry, fixture=False)
    for entry in task.arena.fixtures:
        lines += _object(task, f"arena ({entry.name})", entry, fixture=True)
    if library_stands_in(task):
        lines.append("distractors.path: no assets there; small objects of our library stand in")
    return (*lines, *texture_stand_ins(task))


def _cameras(task: Task) -> Iterator[str]:
    for i, entry in enumerate(task.config.cameras):
        if entry.camera_file not in CAMERAS:
            try:
                task.find(entry.camera_file, what="")
            except ConfigError:
                stem = Path(entry.camera_file).stem
                yield f"cameras.{i}: {entry.camera_file} is not there; our {stem} stands in"


def _object(task: Task, where: str, entry: ObjectConfig, *, fixture: bool) -> Iterator[str]:
    if entry.target_class == "PlaneObject" or not is_missing(task, entry):
        return
    given = entry.path or entry.art_cat or ""
    if stands_as_table(task, entry):
        yield f"{where}: {given} is not there; our table stands in"
    elif fixture and stands_as_floor(task, entry):
        yield f"{where}: {given} is not there; a floor stands in"
    elif entry.apply_randomization and isinstance(entry.randomization_scope, tuple):
        count = len(entry.randomization_scope)
        yield f"{where}: {given} is not there; our objects that are like its {count} categories stand in"
    else:
        chosen = stand_in_of(task, entry)
        why = f"by the word {chosen.word!r}" if chosen.word else "since nothing says what it is"
        yield f"{where}: {given} is not there; our {chosen.category} stands in, {why}"

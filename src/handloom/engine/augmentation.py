"""Demonstrations of a dataset as the source of a run: checked when it begins, segmented once per worker."""

import hashlib
from collections.abc import Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from handloom.dataset.episodes.episode_files import EpisodeFiles
from handloom.dataset.files.reading import damage_named
from handloom.engine.trust import archives_of, trusted_record
from handloom.episode.augmented_source import AugmentedSource
from handloom.episode.demonstration import Demonstration
from handloom.errors import FileError, InputError
from handloom.safe_paths import below
from handloom.tasks import Task
from handloom.values import EpisodeRecord, TaskInstance

PREFIX = "augment="
"""Prefix of the name of a source that makes new demonstrations from existing ones."""


def augmenting_source(path: Path, *, most: int | None = None) -> str:
    """Return the name of the source that makes new demonstrations from those of a run or dataset.

    Args:
        path: A run or a dataset.
        most: Use only this many, from the first; None uses all.

    Raises:
        FileError: There is no dataset, it cannot be read, or it has no archives.
        InputError: It contains no demonstrations.
    """
    if most is not None and most < 1:
        raise InputError(f"--demonstrations must be at least 1, got {most}")
    folders = archives_of(path)
    if not folders:
        raise FileError(
            f"{path} has no archives of its episodes (extras/): it was written by another program, or they were "
            "removed; only recordings made by Handloom can be augmented"
        )
    wins = [folder for folder, record in _records(folders) if record.success]
    if not wins:
        raise InputError(f"{path} contains no demonstration: none of its {len(folders)} episodes succeeded")
    return _name(wins[:most])


def _name(folders: Sequence[Path]) -> str:
    """Return the name of a source, which contains its path and a content hash."""
    content = hashlib.sha256(b"".join(EpisodeFiles.at(folder).read("certificate.json") for folder in folders))
    names = ",".join(folder.name for folder in folders)
    return f"{PREFIX}{folders[0].parent.resolve()}|{names}|{content.hexdigest()[:16]}"


def _folders(source: str) -> list[Path]:
    place, names, _ = source.removeprefix(PREFIX).rsplit("|", 2)
    return [below(Path(place), name, what=f"the source {PREFIX}{place}") for name in names.split(",")]


def augmenting_factory(source: str) -> Any:
    """Return the factory of the sources of an augmentation run."""
    return partial(AugmentedSource, demonstrations=demonstrations_of(source))


@cache
def demonstrations_of(source: str) -> tuple[Demonstration, ...]:
    """Read the demonstrations of a source and split them into segments.

    Raises:
        FileError: They are gone or have changed.
        InputError: One of them cannot be transferred.
    """
    folders = _folders(source)
    if not all(EpisodeFiles.at(folder).has("certificate.json") for folder in folders) or _name(folders) != source:
        raise FileError(f"the demonstrations in {folders[0].parent} have changed since the run started")
    found = []
    for folder, record in _records(folders):
        with damage_named(folder):
            found.append(Demonstration.of_record(record, folder.name))
    return tuple(found)


def check_demonstrations(source: str, task: Task, seed: int | None) -> int:
    """Return the seed of the new scenes: the given one, or the first after those of the demonstrations.

    Args:
        source: Name of the source.
        task: The task for the new scenes.
        seed: The seed given by the user, if any.

    Raises:
        InputError: The demonstrations are of another task or other robots, or the scenes would be the same.
    """
    seeds = set()
    for folder, record in _records(_folders(source)):
        _check_task(folder.name, record.instance, task)
        seeds.add(record.instance.seed)
    if seed is not None and seed in seeds:
        raise InputError(
            f"--seed {seed} is the seed of the demonstrations, so its scenes are not new; give another one"
        )
    return max(seeds) + 1 if seed is None else seed


def _check_task(name: str, instance: TaskInstance, task: Task) -> None:
    if instance.task != task.name:
        raise InputError(f"{name} is a demonstration of the task {instance.task!r}, not of {task.name!r}")
    robots = {robot.name for robot in instance.robots}
    wanted = {robot.name for robot in task.config.robots}
    objects = {obj.name for obj in instance.objects}
    missing = {obj.name for obj in task.config.objects} - objects
    if robots != wanted or missing:
        what = (
            f"the robots {sorted(robots)}, not {sorted(wanted)}" if robots != wanted else f"no object {min(missing)!r}"
        )
        raise InputError(f"{name} has {what}: the task {task.name!r} has changed since it was recorded")


def _records(folders: Sequence[Path]) -> Iterator[tuple[Path, EpisodeRecord]]:
    for folder in folders:
        yield folder, trusted_record(folder)[1]

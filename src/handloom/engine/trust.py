"""Archives of datasets and runs, and the files to which they may refer: only the command line can grant trust.

An archive names its robots and objects, a manifest its task and everything in it. Files in the folders around them,
in the working folder or in Handloom's package are read; anything else needs ``--allow-outside``.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from handloom.config.own_code import allow_folders, allow_outside, allowed_folders, is_outside_allowed
from handloom.config.search import demand_inside, is_inside, search_folders
from handloom.dataset import DatasetReader, EpisodeArchive, read_archive, record_of_archive
from handloom.dataset.episodes.episode_files import EpisodeFiles
from handloom.dataset.files.reading import damage_named
from handloom.dataset.lerobot.dataset_reader import LARGE
from handloom.dataset.lerobot.file_list import refuse_strange_files
from handloom.errors import FileError, NotAllowedError
from handloom.robots import robot_names
from handloom.tasks import Task
from handloom.tasks.config.foreign_paths import foreign_paths
from handloom.tasks.retelling.retold_task import at_run
from handloom.values import EpisodeRecord, TaskInstance


def dataset_of(path: Path) -> Path:
    """Return a dataset folder: the path itself, or the dataset of the run at that path.

    Raises:
        FileError: There is no dataset there.
    """
    for root in (path, path / "dataset"):
        if (root / "meta" / "info.json").is_file():
            return root
    raise FileError(f"{path} contains no dataset: neither meta/info.json nor dataset/meta/info.json exists")


def archives_of(path: Path) -> tuple[Path, ...]:
    """Return the archives of a dataset, or of the dataset of a run, in order; other folders are skipped.

    Raises:
        FileError: The dataset cannot be read, or has links that lead out of it.
    """
    root = dataset_of(path)
    refuse_strange_files(root)
    dataset = DatasetReader(root)
    folders = (dataset.archive_folder(index) for index in range(_count(dataset)))
    return tuple(folder for folder in folders if EpisodeFiles.at(folder).exists())


def sampled_archives(path: Path, count: int, seed: int) -> tuple[int, tuple[Path, ...]]:
    """Return the number of episodes in a dataset, and randomly chosen archives; the others are not read.

    Args:
        path: A dataset, or a run.
        count: Number of archives to choose, if available.
        seed: Seed of the random choice.

    Raises:
        FileError: The dataset cannot be read, or has links that lead out of it.
    """
    root = dataset_of(path)
    refuse_strange_files(root)
    dataset = DatasetReader(root)
    total = _count(dataset)
    numbers = np.random.default_rng(seed).choice(total, size=min(count, total), replace=False)
    folders = (dataset.archive_folder(int(number)) for number in sorted(numbers))
    return total, tuple(folder for folder in folders if EpisodeFiles.at(folder).exists())


def _count(dataset: DatasetReader) -> int:
    """Return the number of episodes; for a small dataset the rows are counted, in case there are fewer."""
    return dataset.episode_count if dataset.episode_count > LARGE else len(dataset.episodes)


_FILES = ("path", "picture")
"""Keys of an object's parameters and looks that name a file."""


def trusted_record(folder: Path) -> tuple[EpisodeArchive, EpisodeRecord]:
    """Read an archive and its record, unless it refers to files elsewhere that the user did not allow.

    Raises:
        FileError: It is damaged.
        NotAllowedError: It names a file outside its folders.
    """
    with damage_named(folder):
        archive = read_archive(folder)
        record = record_of_archive(archive)
        demand_trusted(record.instance, folder)
    return archive, record


def demand_trusted(instance: TaskInstance, folder: Path) -> None:
    """Refuse an archived scene whose robots or objects are files elsewhere, before any of them is opened.

    Args:
        instance: The scene.
        folder: Folder of its archive.

    Raises:
        NotAllowedError: A file lies outside the folders around the archive, and was not allowed.
    """
    if is_outside_allowed():
        return
    what = f"{folder / 'instance.json'}"
    folders = (*search_folders(folder), *allowed_folders())
    for robot in instance.robots:
        if robot.robot not in robot_names():
            demand_inside(Path(robot.robot), folders, what=f"{what}: robot {robot.name!r}")
    for obj in instance.objects:
        for key, value in _entries({"parameters": obj.parameters, "look": obj.look}):
            if key == "allow_outside" and value:
                raise NotAllowedError(
                    f"{what}: object {obj.name!r} refers to files outside its folders; if you trust the archive, "
                    "allow it with --allow-outside"
                )
            if key in _FILES and isinstance(value, str):
                demand_inside(_expanded(value), folders, what=f"{what}: object {obj.name!r}")


def trust_task(task: Task) -> None:
    """Let runs and archives refer, from here on, to the files that a task given on the command line may refer to."""
    allow_folders(task.asset_folders)
    if task.config.allow_outside:
        allow_outside()


def trusted_task(task: Task, folder: Path) -> Task:
    """Return the task of a manifest, unless it refers to files elsewhere that the user did not allow.

    If its file is, or was, elsewhere, relative paths of the task start at the run instead.

    Args:
        task: The task as stored in the manifest.
        folder: Folder of the run.

    Raises:
        NotAllowedError: It is set to read files elsewhere, or refers to one.
    """
    task = at_run(task, folder)
    if is_outside_allowed():
        return replace(task, config=task.config.model_copy(update={"allow_outside": True}))
    what = f"{folder / 'run.yaml'}"
    if task.config.allow_outside:
        raise NotAllowedError(
            f"{what}: allow_outside: the task was allowed to read files outside its folders when the run began; only "
            "the command line can allow that, with --allow-outside"
        )
    around = (*search_folders(folder), *allowed_folders())
    if not is_inside(task.path, around):  # A path from another machine, or one chosen by an attacker.
        task = replace(task, path=folder / "run.yaml")
    for root in task.asset_folders[len(task.folders_around) :]:
        demand_inside(root, (*around, *task.folders_around), what=f"{what}: asset_root")
    if lines := list(foreign_paths(task)):
        raise NotAllowedError("\n".join(lines))
    return task


def _entries(values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield every key with its value, including nested ones."""
    for key, value in values.items():
        yield key, value
        if isinstance(value, Mapping):
            yield from _entries(value)


def _expanded(name: str) -> Path:
    try:
        return Path(name).expanduser()
    except RuntimeError:  # The home folder does not exist.
        return Path(name)

"""Runs that retell the demonstrations of a dataset with another robot; the scenes are collected at the start."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from handloom.dataset.files.durable import file_errors
from handloom.engine.runs.journal import Receipt
from handloom.engine.runs.run_directory import MANIFEST, RunDirectory
from handloom.engine.runs.run_settings import RunSettings
from handloom.engine.trust import archives_of, trust_task, trusted_record, trusted_task
from handloom.errors import FileError, InputError
from handloom.tasks import Task
from handloom.tasks.retelling.retold_task import at_run, retold_task
from handloom.tasks.retelling.told_scenes import SCENES, ToldScene, pair_ids, scenes_hash, write_scenes


@dataclass(frozen=True, kw_only=True)
class Retelling:
    """The input of a retelling run."""

    task: Task
    """The task, for the other robot."""
    rows: tuple[dict[str, Any], ...]
    """The scenes, as stored in their file."""
    seed: int
    """Seed of the first scene, and of the run."""

    def write(self, run: RunDirectory) -> None:
        """Write the scenes beside the manifest of the run, unless they are already there."""
        file = run.path / SCENES
        if not file.is_file():
            with file_errors("write", file):
                write_scenes(file, self.rows)


def retelling_of(
    path: Path, robot: str, out: Path, *, task: Task | None = None, most: int | None = None, same_view: bool = False
) -> Retelling:
    """Collect the scenes of a run or dataset, and adapt their task to another robot.

    Args:
        path: A run, or a dataset.
        robot: The robot that acts in the new run.
        out: Folder of the new run.
        task: The task of a dataset without its run; None uses the task recorded by the run.
        most: Use only this many demonstrations, from the first; None uses all.
        same_view: Whether to also keep the original room cameras, moved with the scene.

    Raises:
        FileError: There is no dataset, it cannot be read, or it has no archives.
        InputError: It contains no demonstrations, or those of another task; or no other robot can do the task.
    """
    if most is not None and most < 1:
        raise InputError(f"--episodes must be at least 1, got {most}")
    source = recorded_task(path) if task is None else task
    folders = archives_of(path)
    if not folders:
        raise FileError(
            f"{path} has no archives of its episodes (extras/): it was written by another program, or they were "
            "removed; only scenes recorded by Handloom can be rebuilt"
        )
    rows, seed = [], None
    for folder in folders[:most]:
        record = trusted_record(folder)[1]
        if record.instance.task != source.name:
            raise InputError(f"{folder.name} is of the task {record.instance.task!r}, not of {source.name!r}")
        if not record.success:
            continue
        seed = record.instance.seed if seed is None else seed
        rows.append(ToldScene(instance=record.instance, last_state=record.states[-1]).row())
    if seed is None:
        raise InputError(f"{path} contains no demonstration: none of its {len(folders)} episodes succeeded")
    scenes = scenes_hash(row["sha256"] for row in rows)
    told = retold_task(source, robot, run=out.resolve(), scenes=scenes, same_view=same_view)
    return Retelling(task=told, rows=tuple(rows), seed=seed)


def recorded_task(path: Path) -> Task:
    """Return the recorded task of a run.

    Raises:
        InputError: There is no run around the dataset.
    """
    if not any((folder / MANIFEST).is_file() for folder in (path, path.parent)):
        raise InputError(f"{path} is a dataset without its run; give its task with --task TASK")
    run = RunDirectory.open(path)
    task = trusted_task(run.settings.loaded_task(), run.path)
    trust_task(task)
    return task


def not_retold(run: RunDirectory, receipts: Mapping[int, Receipt]) -> Iterator[tuple[str, Receipt]]:
    """Yield the scenes in which the robot of a retelling run failed, by name, with the outcome of the attempt.

    Args:
        run: Any run.
        receipts: Its attempts.
    """
    if run.settings.task.get("retold") is None:
        return
    names = pair_ids(_task(run.settings, run.path))
    for episode, receipt in receipts.items():
        if not receipt.success:
            yield names[episode], receipt


def _task(settings: RunSettings, folder: Path) -> Task:
    return at_run(settings.loaded_task(), folder)

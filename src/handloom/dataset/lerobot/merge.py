"""Merge many episode folders into one LeRobot v3 dataset, without re-encoding anything.

The dataset grows in ``<out>.partial`` file by file, each finished by an atomic rename, and is renamed last. Killed
at any moment and called again with the same episodes, the merge continues where it stopped and produces the same
bytes.
"""

from collections.abc import Callable, Iterable
from itertools import groupby
from pathlib import Path
from typing import Any

from handloom.dataset.episodes.certificate import package_versions
from handloom.dataset.episodes.episode_folder import EpisodeFolder, video_file
from handloom.dataset.files.durable import PARTIAL, atomic_write, file_errors, write_json
from handloom.dataset.files.parquet_files import names_table, write_groups
from handloom.dataset.files.reading import read_json
from handloom.dataset.files.replacing import RECEIPT, check_replaceable, remove_unnamed, settle, swap_in
from handloom.dataset.files.shapes import MergeReceipt
from handloom.dataset.lerobot.file_list import FILE_LIST, list_files, write_list
from handloom.dataset.lerobot.info_file import dataset_info
from handloom.dataset.lerobot.merge_plan import MergeOptions, MergePlan, plan_merge, writer_hash
from handloom.dataset.lerobot.tables import column_types
from handloom.dataset.lerobot.total_statistics import Totals
from handloom.dataset.merging.dataset_writer import DatasetWriter
from handloom.dataset.merging.extras_writer import ExtrasWriter
from handloom.dataset.merging.rare_collections import rare_collections
from handloom.dataset.video.video_join import join_videos
from handloom.errors import FileError

Progress = Callable[[str, int, int], None]
"""Called with the kind of file being written, the number done, and the total."""


def merge_episodes(
    folders: Iterable[Path],
    out: Path,
    *,
    options: MergeOptions | None = None,
    success: bool = True,
    replace: bool = False,
    progress: Progress | None = None,
) -> Path:
    """Merge the episodes in the given folders into a dataset, in the given order.

    Args:
        folders: Episode folders, e.g. from ``find_episodes``. They are read, never changed.
        out: Folder of the dataset. If it exists and has the same episodes, nothing is done.
        options: Division of the dataset into files; None for LeRobot's defaults.
        success: True merges the successful episodes, False the failed ones; the others are skipped.
        replace: Replace a dataset at ``out`` that was made from other episodes.
        progress: Called for every file.

    Returns:
        ``out``.

    Raises:
        FileError: ``out`` is something else, an episode is damaged, or the disk reports an error.
    """
    settle(out)
    with rare_collections():
        return _merge(folders, out, options=options, success=success, replace=replace, progress=progress)


def _merge(
    folders: Iterable[Path],
    out: Path,
    *,
    options: MergeOptions | None,
    success: bool,
    replace: bool,
    progress: Progress | None,
) -> Path:
    plan = plan_merge(folders, options or MergeOptions(), outcome=success)
    if is_made_of(out, plan):
        return out
    if out.exists() and not replace:
        raise FileError(f"{out} exists and was not made from these episodes; choose another folder or replace it")
    check_replaceable(out)
    work = out.with_name(out.name + PARTIAL)
    with file_errors("write", out):
        prepare(work, plan)
        _write_dataset(work, plan, progress or (lambda *_: None))
        swap_in(work, out)
    return out


def is_made_of(dataset: Path, plan: MergePlan) -> bool:
    """Return whether a dataset was made from this plan; false if there is none."""
    receipt = dataset / RECEIPT
    return receipt.is_file() and read_json(receipt, MergeReceipt)["fingerprint"] == plan.fingerprint


def prepare(work: Path, plan: MergePlan) -> None:
    """Create the folder in which the dataset is built, or keep that of an interrupted merge with the same plan."""
    if is_made_of(work, plan):
        return
    remove_unnamed(work)
    work.mkdir(parents=True)
    versions = {name: package_versions().get(name) for name in ("handloom", "pyarrow", "av")}
    receipt = {"fingerprint": plan.fingerprint, "versions": versions, "writer": writer_hash(plan.options)}
    write_json(work / RECEIPT, {**receipt, "end": plan.end}, indent=1)


def _write_dataset(work: Path, plan: MergePlan, progress: Progress) -> None:
    """Write every file that does not exist yet; the list of all files comes last."""
    if (work / FILE_LIST).is_file():
        return
    totals, extras = Totals.empty(plan), ExtrasWriter(work, plan)
    columns = column_types(plan)
    DatasetWriter(work, plan, episode_columns=columns, totals=totals, extras=extras).write(progress)
    _write_videos(work, plan, progress)
    write_facts(work, plan, totals)
    write_list(work, list_files(work, extras.known))


def write_facts(work: Path, plan: MergePlan, totals: Totals) -> None:
    """Write the dataset-wide metadata, given its totals."""
    _write_names(work / "meta" / "tasks.parquet", plan.tasks, "task_index")
    if plan.subtasks:
        _write_names(work / "meta" / "subtasks.parquet", plan.subtasks, "subtask_index")
    totals.write(work)
    _write_json(work / "meta" / "stats.json", lambda: totals.statistics(plan.table))
    _write_json(work / "meta" / "info.json", lambda: dataset_info(plan))


def _write_videos(work: Path, plan: MergePlan, progress: Progress) -> None:
    """Write the video files by copying packets."""
    for name in (feature.name for feature in plan.table.videos):
        for place, episodes in groupby(plan.episodes, key=lambda episode: episode.videos[name][0]):
            path = work / "videos" / name / place.path("mp4")
            members = list(episodes)
            if not path.is_file():
                sources = [
                    (EpisodeFolder.open(episode.folder).checked_file(video_file(name)), episode.length)
                    for episode in members
                ]
                with atomic_write(path) as partial:
                    join_videos(sources, partial, fps=plan.table.fps)
            progress(name, members[-1].episode_index + 1, len(plan.episodes))


def _write_names(path: Path, names: tuple[str, ...], column: str) -> None:
    """Write a table of numbered names."""
    if not path.is_file():
        table = names_table(names, column)
        write_groups(path, table.schema, [table])


def _write_json(path: Path, content: Callable[[], Any]) -> None:
    """Write a JSON file unless it exists."""
    if not path.is_file():
        write_json(path, content(), indent=4)

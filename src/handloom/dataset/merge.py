"""Make one LeRobot v3 dataset of many episode folders, without encoding anything again.

The dataset grows in ``<out>.partial`` file by file, each finished by an atomic rename, and gets its name last. Killed
at any moment and called again with the same episodes, the merge goes on where it stopped and ends with the same bytes.
"""

import os
import shutil
from collections.abc import Callable, Iterable
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from handloom.dataset.certificate import package_versions
from handloom.dataset.durable import (
    PARTIAL,
    atomic_write,
    file_errors,
    link_or_copy,
    sync_folder,
    write_json,
)
from handloom.dataset.episode_folder import SHEET, EpisodeFolder, folder_name, video_file
from handloom.dataset.episode_writer import level_values
from handloom.dataset.feature import BOOKKEEPING, Feature
from handloom.dataset.file_list import FILE_LIST, list_files
from handloom.dataset.info_file import dataset_info
from handloom.dataset.merge_plan import FilePlace, MergeOptions, MergePlan, plan_merge
from handloom.dataset.parquet_files import names_table, numpy_column, read_table, write_groups
from handloom.dataset.reading import damage_named, read_json
from handloom.dataset.shapes import MergeReceipt
from handloom.dataset.statistics import ImageHistogram, column_statistics
from handloom.dataset.tables import (
    ROWS_PER_FILE,
    SUBTASK_INDEX,
    column_types,
    episode_groups,
    episode_schema,
    frame_rows,
    frame_schema,
)
from handloom.dataset.video_join import join_videos
from handloom.errors import FileError


def global_statistics(dataset: Path, plan: MergePlan) -> dict[str, dict[str, list[Any]]]:
    """Return the statistics of every feature.

    Columns are read one at a time from the data files, so that memory holds one column of the whole dataset. Images
    come from the sum of the episodes' histograms.
    """
    plain = {**BOOKKEEPING, **({SUBTASK_INDEX: "int64"} if plan.subtasks else {})}
    return {
        feature.name: _image_statistics(plan, feature)
        if feature.is_video
        else _column_statistics(dataset, plan, feature.name, feature.dtype)
        for feature in plan.table
    } | {name: _column_statistics(dataset, plan, name, dtype) for name, dtype in plain.items()}


def _column_statistics(dataset: Path, plan: MergePlan, name: str, dtype: str) -> dict[str, list[Any]]:
    """Return the exact statistics of a column over all data files."""
    places = dict.fromkeys(episode.data for episode in plan.episodes)
    tables = [read_table(dataset / "data" / place.path("parquet"), [name]) for place in places]
    values = np.concatenate([numpy_column(table, name, dtype) for table in tables])
    if not np.isfinite(values).all():
        raise FileError(f"the column {name!r} holds numbers that are not finite; leave out the episodes that have them")
    return column_statistics(values).as_lists()


def _image_statistics(plan: MergePlan, feature: Feature) -> dict[str, list[Any]]:
    """Return the statistics of a camera over all episodes."""
    values = level_values(feature)
    total = ImageHistogram(channels=feature.shape[2], levels=len(values))
    for planned in plan.episodes:
        episode = EpisodeFolder.open(planned.folder)
        with damage_named(episode.path):
            total.merge(episode.histograms[feature.name])
    return total.statistics(values).as_lists(image=True)


RECEIPT = "meta/merge.json"
"""Says which plan a dataset was made from, and with which versions."""

Progress = Callable[[str, int, int], None]
"""Called with what is being written, how many are done, and how many there are."""


def merge_episodes(
    folders: Iterable[Path],
    out: Path,
    *,
    options: MergeOptions | None = None,
    success: bool = True,
    replace: bool = False,
    progress: Progress | None = None,
) -> Path:
    """Write a dataset of the episodes in the given folders, in the given order.

    Args:
        folders: Episode folders, e.g. from ``find_episodes``. They are read, never changed.
        out: Folder of the dataset. When it is there already, made of the same episodes, nothing is done.
        options: How the dataset is cut into files; None for LeRobot's defaults.
        success: True takes the successful episodes, False the failed ones; the others are passed over.
        replace: Exchange a dataset at ``out`` that was made of other episodes.
        progress: Told about every file.

    Returns:
        ``out``.

    Raises:
        FileError: ``out`` is something else, an episode is damaged, or the disk refuses.
    """
    plan = plan_merge(folders, options or MergeOptions(), outcome=success)
    if _is_made_of(out, plan):
        return out
    if out.exists() and not replace:
        raise FileError(f"{out} exists and was not made of these episodes; choose another folder or replace it")
    work = out.with_name(out.name + PARTIAL)
    with file_errors("write", out):
        _prepare(work, plan)
        _write_dataset(work, plan, progress or (lambda *_: None))
        _give_name(work, out)
    return out


def _is_made_of(dataset: Path, plan: MergePlan) -> bool:
    """Whether a dataset is the one of this plan; false when there is none."""
    receipt = dataset / RECEIPT
    return receipt.is_file() and read_json(receipt, MergeReceipt)["fingerprint"] == plan.fingerprint


def _prepare(work: Path, plan: MergePlan) -> None:
    """Make the folder the dataset grows in, or keep the one of an interrupted merge with the same plan."""
    if _is_made_of(work, plan):
        return
    if work.exists():
        _remove_stale(work)
    work.mkdir(parents=True)
    versions = {name: package_versions().get(name) for name in ("handloom", "pyarrow", "av")}
    write_json(work / RECEIPT, {"fingerprint": plan.fingerprint, "versions": versions}, indent=1)


def _remove_stale(work: Path) -> None:
    """Remove an interrupted merge of other episodes; its receipt goes last, so that this can be interrupted, too."""
    receipt = work / RECEIPT
    beginning = receipt.with_name(receipt.name + PARTIAL)
    others = [path for path in work.rglob("*") if not path.is_dir() and path not in (receipt, beginning)]
    if others and not receipt.is_file():
        raise FileError(f"{work} is in the way and no interrupted merge; move it away and run again")
    for path in others:
        path.unlink()
    shutil.rmtree(work)


def _write_dataset(work: Path, plan: MergePlan, progress: Progress) -> None:
    """Write every file that is not there yet; the list of them all comes last."""
    _write_data(work, plan, progress)
    _write_videos(work, plan, progress)
    _link_archives(work, plan, progress)
    _write_episodes(work, plan)
    _write_names(work / "meta" / "tasks.parquet", plan.tasks, "task_index")
    if plan.subtasks:
        _write_names(work / "meta" / "subtasks.parquet", plan.subtasks, "subtask_index")
    _write_json(work / "meta" / "stats.json", lambda: global_statistics(work, plan))
    _write_json(work / "meta" / "info.json", lambda: dataset_info(plan))
    _write_json(work / FILE_LIST, lambda: list_files(work))


def _write_data(work: Path, plan: MergePlan, progress: Progress) -> None:
    """Write the data files, with one row group per episode."""
    schema = frame_schema(plan)
    for place, episodes in groupby(plan.episodes, key=lambda episode: episode.data):
        path = work / "data" / place.path("parquet")
        members = list(episodes)
        if not path.is_file():
            write_groups(path, schema, (frame_rows(plan, episode) for episode in members))
        progress("data", members[-1].episode_index + 1, len(plan.episodes))


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


def _link_archives(work: Path, plan: MergePlan, progress: Progress) -> None:
    """Put the archive and the sheet of every episode into ``extras/``."""
    for planned in plan.episodes:
        target = work / "extras" / folder_name(planned.episode_index)
        episode = EpisodeFolder.open(planned.folder)
        for name in episode.archive_files():
            if not (target / name).is_file():
                link_or_copy(episode.path / name if name == SHEET else episode.checked_file(name), target / name)
        progress("extras", planned.episode_index + 1, len(plan.episodes))


def _write_episodes(work: Path, plan: MergePlan) -> None:
    """Write the episode table."""
    schema = episode_schema(plan, column_types(plan))
    place = FilePlace()
    for start in range(0, len(plan.episodes), ROWS_PER_FILE):
        path = work / "meta" / "episodes" / place.path("parquet")
        if not path.is_file():
            members = plan.episodes[start : start + ROWS_PER_FILE]
            write_groups(path, schema, episode_groups(plan, schema, members, place))
        place = place.following(plan.options.chunks_size)


def _write_names(path: Path, names: tuple[str, ...], column: str) -> None:
    """Write a table of numbered names."""
    if not path.is_file():
        table = names_table(names, column)
        write_groups(path, table.schema, [table])


def _write_json(path: Path, content: Callable[[], Any]) -> None:
    """Write a JSON file unless it is there."""
    if not path.is_file():
        write_json(path, content(), indent=4)


def _give_name(work: Path, out: Path) -> None:
    """Give the finished dataset its name; one that was there before goes when the new one has it."""
    sync_folder(work)
    old = out.with_name(f"{out.name}.replaced{PARTIAL}")
    if out.exists():
        shutil.rmtree(old, ignore_errors=True)
        os.replace(out, old)
    os.replace(work, out)
    sync_folder(out.parent)
    shutil.rmtree(old, ignore_errors=True)

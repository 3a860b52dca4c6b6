"""Make one LeRobot v3 dataset of many episode folders, without encoding anything again.

The dataset grows in ``<out>.partial`` file by file, each finished by an atomic rename, and gets its name last. Killed
at any moment and called again with the same episodes, the merge continues where it stopped and ends with the same
bytes.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from handloom.dataset.episodes.certificate import package_versions
from handloom.dataset.episodes.episode_folder import SHEET, EpisodeFolder, folder_name, video_file
from handloom.dataset.files.durable import PARTIAL, atomic_write, file_errors, link_or_copy, write_json
from handloom.dataset.files.parquet_files import names_table, write_groups
from handloom.dataset.files.reading import read_json
from handloom.dataset.files.replacing import RECEIPT, check_replaceable, remove_unnamed, settle, swap_in
from handloom.dataset.files.shapes import MergeReceipt
from handloom.dataset.lerobot.file_list import FILE_LIST, list_files, write_list
from handloom.dataset.lerobot.info_file import dataset_info
from handloom.dataset.lerobot.merge_plan import FilePlace, MergeOptions, MergePlan, plan_merge
from handloom.dataset.lerobot.statistics import ImageHistogram
from handloom.dataset.lerobot.tables import (
    ROWS_PER_FILE,
    column_types,
    episode_groups,
    episode_schema,
    frame_rows,
    frame_schema,
)
from handloom.dataset.lerobot.total_statistics import HISTOGRAMS, total_histograms, total_statistics
from handloom.dataset.video.video_join import join_videos
from handloom.errors import FileError

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
        out: Folder of the dataset. If it exists and has the same episodes, nothing is done.
        options: How the dataset is cut into files; None for LeRobot's defaults.
        success: True takes the successful episodes, False the failed ones; the others are passed over.
        replace: Exchange a dataset at ``out`` that was made of other episodes.
        progress: Told about every file.

    Returns:
        ``out``.

    Raises:
        FileError: ``out`` is something else, an episode is damaged, or the disk refuses.
    """
    settle(out)
    plan = plan_merge(folders, options or MergeOptions(), outcome=success)
    if is_made_of(out, plan):
        return out
    if out.exists() and not replace:
        raise FileError(f"{out} exists and was not made of these episodes; choose another folder or replace it")
    check_replaceable(out)
    work = out.with_name(out.name + PARTIAL)
    with file_errors("write", out):
        prepare(work, plan)
        _write_dataset(work, plan, progress or (lambda *_: None))
        swap_in(work, out)
    return out


def is_made_of(dataset: Path, plan: MergePlan) -> bool:
    """Whether a dataset is the one of this plan; false when there is none."""
    receipt = dataset / RECEIPT
    return receipt.is_file() and read_json(receipt, MergeReceipt)["fingerprint"] == plan.fingerprint


def prepare(work: Path, plan: MergePlan) -> None:
    """Make the folder the dataset grows in, or keep the one of an interrupted merge with the same plan."""
    if is_made_of(work, plan):
        return
    remove_unnamed(work)
    work.mkdir(parents=True)
    versions = {name: package_versions().get(name) for name in ("handloom", "pyarrow", "av")}
    write_json(work / RECEIPT, {"fingerprint": plan.fingerprint, "versions": versions}, indent=1)


def _write_dataset(work: Path, plan: MergePlan, progress: Progress) -> None:
    """Write every file that is not there yet; the list of them all comes last."""
    _write_data(work, plan, progress)
    _write_videos(work, plan, progress)
    known = link_archives(work, plan, progress)
    _write_episodes(work, plan)
    places = dict.fromkeys(episode.data for episode in plan.episodes)
    histograms = total_histograms([episode.folder for episode in plan.episodes], plan)
    write_facts(work, plan, [work / "data" / place.path("parquet") for place in places], histograms)
    if not (work / FILE_LIST).is_file():
        write_list(work, list_files(work, known))


def write_facts(work: Path, plan: MergePlan, data: Sequence[Path], histograms: dict[str, ImageHistogram]) -> None:
    """Write what is known of a dataset as a whole, given its data files and the sums of its histograms."""
    _write_names(work / "meta" / "tasks.parquet", plan.tasks, "task_index")
    if plan.subtasks:
        _write_names(work / "meta" / "subtasks.parquet", plan.subtasks, "subtask_index")
    if histograms:
        _write_json(work / HISTOGRAMS, lambda: {name: total.to_json() for name, total in histograms.items()})
    _write_json(work / "meta" / "stats.json", lambda: total_statistics(data, plan, histograms))
    _write_json(work / "meta" / "info.json", lambda: dataset_info(plan))


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


def link_archives(work: Path, plan: MergePlan, progress: Progress) -> dict[str, dict[str, Any]]:
    """Put the archive and the sheet of every episode into ``extras/``; return size and hash of what was compared."""
    known: dict[str, dict[str, Any]] = {}
    for planned in plan.episodes:
        target = work / "extras" / folder_name(planned.episode_index)
        episode = EpisodeFolder.open(planned.folder)
        for name in episode.archive_files():
            if not (target / name).is_file():
                link_or_copy(episode.path / name if name == SHEET else episode.checked_file(name), target / name)
                if name in episode.sheet["files"] and name not in episode.copies:
                    known[f"extras/{target.name}/{name}"] = dict(episode.sheet["files"][name])
        progress("extras", planned.episode_index + 1, plan.episode_count)
    return known


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

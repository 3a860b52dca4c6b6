"""Append episodes to a dataset in place: existing files stay, and the cost is that of the new episodes.

Files that are full are kept. The last data file, the last video file of each camera and the last part of the episode
table are written again, longer, beside the dataset, with everything else that changes; then each takes its place by a
rename. The list of files comes last: while it is there, all of the new files are, and a call after a kill continues
with the renames. The dataset has the bytes that one merge of all episodes would have given.
"""

import os
from collections.abc import Sequence
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa

from handloom.dataset.episodes.episode_folder import SHEET, EpisodeFolder, folder_name, video_file
from handloom.dataset.files.durable import PARTIAL, atomic_write, file_errors, sha256_of, sync_folder
from handloom.dataset.files.parquet_append import append_groups
from handloom.dataset.files.parquet_files import open_parquet, read_table, write_groups
from handloom.dataset.files.reading import checked_size, damage_named, read_json
from handloom.dataset.files.replacing import RECEIPT, remove_unnamed
from handloom.dataset.files.shapes import MergeReceipt
from handloom.dataset.lerobot.dataset_reader import DatasetReader
from handloom.dataset.lerobot.file_list import FILE_LIST, list_files, longer_list, read_list, write_list
from handloom.dataset.lerobot.info_file import dataset_info
from handloom.dataset.lerobot.merge import link_archives, prepare, write_facts
from handloom.dataset.lerobot.merge_plan import (
    FilePlace,
    KeptEpisodes,
    MergeOptions,
    MergePlan,
    fingerprint,
    plan_merge,
)
from handloom.dataset.lerobot.tables import (
    ROWS_PER_FILE,
    ROWS_PER_GROUP,
    column_types,
    episode_groups,
    episode_schema,
    frame_rows,
    frame_schema,
)
from handloom.dataset.lerobot.total_statistics import HISTOGRAMS, total_histograms
from handloom.dataset.video.video_join import cut_video, join_videos
from handloom.errors import FileError

MORE = f".more{PARTIAL}"
"""Ending of the name of the folder in which the new files of a dataset are made."""


def extend_dataset(
    out: Path, folders: Sequence[Path], *, options: MergeOptions, success: bool = True, hashes: bool = True
) -> bool:
    """Add the episodes in the given folders to a dataset, after those that it has.

    Killed at any moment and called again with the same episodes, it goes on.

    Args:
        out: The dataset; ``finish_extension`` was called for it.
        folders: Episode folders. They are read, never changed.
        options: How the dataset is cut into files; the same as when it was made.
        success: Whether these are successes or failures; the others are passed over.
        hashes: Compare the files of the dataset that are read or replaced with their hashes.

    Returns:
        False when the dataset cannot be added to, because it was made with other options or other versions of the
        packages that write files, or because more columns are needed; then nothing was done.

    Raises:
        FileError: A file of the dataset that is needed is not as it was written, or an episode is damaged.
    """
    published = _Published.open(out, options, hashes=hashes)
    if published is None:
        return False
    plan = plan_merge(folders, options, outcome=success, kept=published.kept())
    if not published.can_have(plan):
        return False
    work = out.with_name(out.name + MORE)
    with file_errors("write", out):
        prepare(work, plan)
        published.write_more(work, plan)
        finish_extension(out)
    return True


def finish_extension(out: Path) -> None:
    """Put the new files of an interrupted extension in their places, if they are all there."""
    work = out.with_name(out.name + MORE)
    if work.is_symlink() or not (work / FILE_LIST).is_file():
        return
    with file_errors("write", out):
        names = sorted(file.relative_to(work).as_posix() for file in work.rglob("*") if file.is_file())
        names = [name for name in names if not name.endswith(PARTIAL)]
        # What the list and the receipt promise is there before they are.
        for name in sorted(
            names, key=lambda name: (name == FILE_LIST, name == RECEIPT, name.startswith("meta/"), name)
        ):
            _refuse_links(out, name)
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            os.replace(work / name, out / name)
        for folder in sorted({(out / name).parent for name in names}):
            sync_folder(folder)
        remove_unnamed(work)


def _refuse_links(out: Path, name: str) -> None:
    """Refuse to write a file of a dataset through a link."""
    for part in (out / name).parents:
        if part == out.parent:
            return
        if part.is_symlink():
            raise FileError(f"{part} is a link, and a dataset is only written where it is; replace it by a copy")


class _Published:
    """A dataset that was merged here, and what is known of it without looking at every episode."""

    def __init__(self, root: Path, options: MergeOptions, listing: dict[str, dict[str, Any]], *, hashes: bool) -> None:
        self.root = root
        self.options = options
        self.listing = listing
        self.hashes = hashes
        self.reader = DatasetReader(root)
        self.cameras = [feature.name for feature in self.reader.table.videos]
        self.tables = sorted(name for name in listing if name.startswith("meta/episodes/"))
        count = self.reader.info["total_episodes"]
        sheets = [listing.get(f"extras/{folder_name(i)}/{SHEET}", {}).get("sha256", "") for i in range(count)]
        self.sheets = tuple(sheets)
        self._first_lengths: dict[str, int] = {}
        """Frames of the first episode in a video file."""

    @classmethod
    def open(cls, root: Path, options: MergeOptions, *, hashes: bool) -> "_Published | None":
        """Open a dataset; None if it was not made by a merge with these options and the present packages."""
        if root.is_symlink() or not ((root / RECEIPT).is_file() and (root / FILE_LIST).is_file()):
            return None
        published = cls(root, options, read_list(root), hashes=hashes)
        same = read_json(root / RECEIPT, MergeReceipt)["fingerprint"] == fingerprint(options, published.sheets)
        return published if same and published.sheets and published.tables else None

    def checked(self, name: str) -> Path:
        """Return a file after making sure that it is the one that was written."""
        file, written = self.root / name, self.listing.get(name)
        _refuse_links(self.root, name)
        known = written is not None and file.is_file() and not file.is_symlink()
        if known and written and self.hashes:
            known = checked_size(file) == written["bytes"] and sha256_of(file) == written["sha256"]
        if not known:
            raise FileError(
                f"{self.root} is not as it was written: {name} was changed, added or removed after it was written; "
                "restore it, or use it with --skip-hashes"
            )
        return file

    def kept(self) -> KeptEpisodes:
        """Return what a plan needs to know of the episodes."""
        for name in ("meta/info.json", "meta/tasks.parquet", "meta/stats.json", RECEIPT):
            self.checked(name)
        if self.reader.subtasks:
            self.checked("meta/subtasks.parquet")
        places = ["data/chunk_index", "data/file_index", "length", "dataset_to_index"]
        places += [f"videos/{name}/{key}" for name in self.cameras for key in ("chunk_index", "file_index")]
        parts = [read_table(self.checked(name), places) for name in self.tables]
        rows = pa.concat_tables(parts).to_pydict()
        if len(rows["length"]) != len(self.sheets):
            raise FileError(
                f"{self.root / 'meta'}: the episode table has {len(rows['length'])} rows, not as many as info.json says"
            )
        place, members = _last_file(rows, "data")
        return KeptEpisodes(
            sheets=self.sheets,
            lengths=tuple(rows["length"]),
            frames=rows["dataset_to_index"][-1],
            tasks=self.reader.tasks,
            subtasks=self.reader.subtasks,
            robot_type=str(self.reader.info.get("robot_type") or ""),
            data=(place, sum(rows["length"][i] for i in members)),
            videos={name: self._last_video(rows, name) for name in self.cameras},
        )

    def _last_video(self, rows: dict[str, list[Any]], camera: str) -> tuple[FilePlace, int, int, str]:
        place, members = _last_file(rows, f"videos/{camera}")
        self._first_lengths[f"videos/{camera}/{place.path('mp4')}"] = rows["length"][members[0]]
        size, header = 0, ""
        for index in members:
            name = f"extras/{folder_name(index)}"
            episode = EpisodeFolder.open(self.checked(f"{name}/{SHEET}").parent)
            with damage_named(episode.path):
                size += episode.sheet["files"][video_file(camera)]["bytes"]
                header = episode.sheet["video_headers"][camera]
        return place, size, sum(rows["length"][i] for i in members), header

    def can_have(self, plan: MergePlan) -> bool:
        """Return whether the tables of a plan have the columns that these have."""
        if self.reader.table.difference(plan.table):
            return False
        types, extra = column_types(plan), self._extra_columns(plan)
        # What earlier episodes do not have, or have of another type, does not fit; whole numbers go where fractions go.
        fits = all(
            name in extra
            and (extra[name] in (kind, pa.float64() if kind == pa.int64() else kind) or not _has_values(plan, name))
            for name, kind in types.items()
        )
        same = list(self.reader.info["features"]) == list(dataset_info(plan)["features"])
        return fits and same and episode_schema(plan, extra).equals(self._schema)

    @cached_property
    def _schema(self) -> pa.Schema:
        """Schema of the episode table."""
        with open_parquet(self.checked(self.tables[-1])) as file:
            return file.schema_arrow

    def _extra_columns(self, plan: MergePlan) -> dict[str, pa.DataType]:
        """Return the columns of the episode table that are the task's own."""
        plain = set(episode_schema(plan, {}).names)
        return {field.name: field.type for field in self._schema if field.name not in plain}

    def write_more(self, work: Path, plan: MergePlan) -> None:
        """Write every file that changes or is new and not there yet; the list of all files comes last."""
        data = self._write_data(work, plan)
        self._write_videos(work, plan)
        link_archives(work, plan, lambda *_: None)
        self._write_episodes(work, plan)
        before = self.checked(HISTOGRAMS) if HISTOGRAMS in self.listing else None
        new = [episode.folder for episode in plan.episodes]
        kept = (
            [] if before or not self.cameras else [self.root / "extras" / folder_name(i) for i in range(len(plan.kept))]
        )
        write_facts(work, plan, data, total_histograms([*kept, *new], plan, before))
        added = list_files(work)
        for name in added:
            if name not in self.listing and os.path.lexists(self.root / name):
                raise FileError(
                    f"{self.root / name} is not one of the dataset's files and in the way of a new one; move it away "
                    "and run again"
                )
        if not (work / FILE_LIST).is_file():
            write_list(work, longer_list(self.listing, added))

    def _write_data(self, work: Path, plan: MergePlan) -> list[Path]:
        """Write the data files that grow or are new; return all of the dataset, in order."""
        schema = frame_schema(plan)
        files = {name: self.root / name for name in sorted(self.listing) if name.startswith("data/")}
        for place, episodes in groupby(plan.episodes, key=lambda episode: episode.data):
            name = f"data/{place.path('parquet')}"
            rows = (frame_rows(plan, episode) for episode in episodes)
            if not (work / name).is_file():
                if name in files:
                    with atomic_write(work / name) as partial:
                        append_groups(self.checked(name), partial, schema, list(rows))
                else:
                    write_groups(work / name, schema, rows)
            files[name] = work / name
        return list(files.values())

    def _write_videos(self, work: Path, plan: MergePlan) -> None:
        """Write the video files that grow or are new, by copying packets."""
        for camera in self.cameras:
            for place, episodes in groupby(plan.episodes, key=lambda episode: episode.videos[camera][0]):
                name, members = f"videos/{camera}/{place.path('mp4')}", list(episodes)
                if (work / name).is_file():
                    continue
                sources = [(EpisodeFolder.open(e.folder).checked_file(video_file(camera)), e.length) for e in members]
                with atomic_write(work / name) as partial:
                    if name in self.listing:
                        self._lengthen_video(name, members[0].videos[camera][1], sources, partial)
                    else:
                        join_videos(sources, partial, fps=plan.table.fps)

    def _lengthen_video(self, name: str, frames: int, sources: list[tuple[Path, int]], target: Path) -> None:
        """Write a video file that has so many frames with more videos behind them."""
        old, fps = self.checked(name), self.reader.fps
        # The parameters are those of the first episode alone, as in a merge of all.
        template = target.with_name(f"template{PARTIAL}")
        try:
            cut_video(old, template, start=0, length=self._first_lengths[name], fps=fps)
            join_videos([(old, frames), *sources], target, fps=fps, template=template)
        finally:
            template.unlink(missing_ok=True)

    def _write_episodes(self, work: Path, plan: MergePlan) -> None:
        """Write the files of the episode table that grow or are new."""
        schema = episode_schema(plan, self._extra_columns(plan))
        place = FilePlace()
        for start in range(0, plan.episode_count, ROWS_PER_FILE):
            name = f"meta/episodes/{place.path('parquet')}"
            members = [e for e in plan.episodes if start <= e.episode_index < start + ROWS_PER_FILE]
            if members and not (work / name).is_file():
                if name in self.listing:
                    self._lengthen(work, name, plan, schema, members, place)
                else:
                    write_groups(work / name, schema, episode_groups(plan, schema, tuple(members), place))
            place = place.following(plan.options.chunks_size)

    def _lengthen(
        self, work: Path, name: str, plan: MergePlan, schema: pa.Schema, members: list[Any], place: FilePlace
    ) -> None:
        """Write a file of the episode table with more rows; its last row group is filled first."""
        old = self.checked(name)
        filled = (members[0].episode_index % ROWS_PER_FILE) % ROWS_PER_GROUP
        first = members[: ROWS_PER_GROUP - filled] if filled else []
        tables = list(episode_groups(plan, schema, tuple(first), place))
        if filled:
            with open_parquet(old) as file:
                last = file.read_row_group(file.num_row_groups - 1, use_threads=False)
            tables = [pa.concat_tables([last, *tables]).combine_chunks()]
        tables += episode_groups(plan, schema, tuple(members[len(first) :]), place)
        with atomic_write(work / name) as partial:
            append_groups(old, partial, schema, tables, last=bool(filled))


def _last_file(rows: dict[str, list[Any]], kind: str) -> tuple[FilePlace, list[int]]:
    """Return the last file of a kind and the numbers of the episodes in it."""
    places = list(zip(rows[f"{kind}/chunk_index"], rows[f"{kind}/file_index"], strict=True))
    first = places.index(places[-1])  # Files are filled one after another.
    return FilePlace(chunk=places[-1][0], file=places[-1][1]), list(range(first, len(places)))


def _has_values(plan: MergePlan, column: str) -> bool:
    """Return whether an episode has a value in an outcome's column."""
    return any(EpisodeFolder.open(e.folder).outcome.columns.get(column) is not None for e in plan.episodes)

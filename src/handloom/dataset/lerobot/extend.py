"""Append episodes to a dataset in place: existing files stay, and the cost depends only on the new episodes.

Full files are kept. The last data file, the last video file of each camera and the last part of the episode table
are rewritten in extended form beside the dataset, together with everything else that changes; then each is moved
into place by a rename. The list of files is written last: once it exists, so do all of the new files, and a call
after a kill continues with the renames. The dataset has the bytes that one merge of all episodes would have given.
"""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa

from handloom.dataset.episodes import archive_pack
from handloom.dataset.episodes.archive import LABEL_FILES
from handloom.dataset.episodes.archive_pack import ARCHIVES, LABELS, pack_name
from handloom.dataset.episodes.episode_files import EXTRAS
from handloom.dataset.episodes.episode_folder import EpisodeFolder, folder_name, video_file
from handloom.dataset.files.durable import PARTIAL, atomic_write, file_errors, sha256_of, sync_folder
from handloom.dataset.files.parquet_files import open_parquet, read_table
from handloom.dataset.files.reading import checked_size, read_json
from handloom.dataset.files.replacing import RECEIPT, remove_unnamed
from handloom.dataset.files.shapes import MergeReceipt
from handloom.dataset.lerobot.dataset_reader import DatasetReader
from handloom.dataset.lerobot.file_list import FILE_LIST, list_files, longer_list, read_list, write_list
from handloom.dataset.lerobot.info_file import dataset_info
from handloom.dataset.lerobot.merge import prepare, write_facts
from handloom.dataset.lerobot.merge_plan import KeptEpisodes, MergeOptions, MergePlan, plan_merge, writer_hash
from handloom.dataset.lerobot.planned_episodes import FilePlace
from handloom.dataset.lerobot.tables import column_types, episode_schema
from handloom.dataset.lerobot.total_statistics import HISTOGRAMS, Totals
from handloom.dataset.merging.column_totals import TOTALS
from handloom.dataset.merging.dataset_writer import DatasetWriter
from handloom.dataset.merging.extras_writer import ExtrasWriter
from handloom.dataset.video.video_join import cut_video, join_videos
from handloom.errors import FileError, InputError

MORE = f".more{PARTIAL}"
"""Suffix of the folder in which the new files of a dataset are made."""


def extend_dataset(
    out: Path, folders: Sequence[Path], *, options: MergeOptions, success: bool = True, hashes: bool = True
) -> bool:
    """Add the episodes in the given folders to a dataset, after its existing ones.

    Killed at any moment and called again with the same episodes, it continues.

    Args:
        out: The dataset; ``finish_extension`` was called for it.
        folders: Episode folders. They are read, never changed.
        options: Division of the dataset into files; the same as when it was made.
        success: Whether to add the successes or the failures; the others are skipped.
        hashes: Compare the files of the dataset that are read or replaced with their hashes.

    Returns:
        False if the dataset cannot be extended, because it was made with other options or other versions of the
        packages that write files, or because more columns are needed; then nothing was changed.

    Raises:
        FileError: A required file of the dataset has changed, or an episode is damaged.
    """
    published = _Published.open(out, options, hashes=hashes)
    if published is None:
        return False
    kept = published.kept()
    published.refuse_known(folders)
    plan = plan_merge(folders, options, outcome=success, kept=kept)
    if not published.can_have(plan):
        return False
    work = out.with_name(out.name + MORE)
    with file_errors("write", out):
        prepare(work, plan)
        published.write_more(work, plan)
        finish_extension(out)
    return True


def finish_extension(out: Path) -> None:
    """Move the new files of an interrupted extension into place, if they are complete."""
    work = out.with_name(out.name + MORE)
    if work.is_symlink() or not (work / FILE_LIST).is_file():
        return
    with file_errors("write", out):
        names = sorted(file.relative_to(work).as_posix() for file in work.rglob("*") if file.is_file())
        names = [name for name in names if not name.endswith(PARTIAL)]
        # The list and the receipt are moved last, after all files that they refer to.
        for name in sorted(
            names, key=lambda name: (name == FILE_LIST, name == RECEIPT, name.startswith("meta/"), name)
        ):
            if name == FILE_LIST:
                _remove_packed(out, read_list(out), read_list(work))
            _refuse_links(out, name)
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            os.replace(work / name, out / name)
        for folder in sorted({(out / name).parent for name in names}):
            sync_folder(folder)
        remove_unnamed(work)


def _remove_packed(out: Path, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    """Remove files that no longer belong to a dataset: archives that are now in packs."""
    for name in before:
        if name not in after and name.startswith(f"{EXTRAS}/"):
            _refuse_links(out, name)
            (out / name).unlink(missing_ok=True)
            with suppress(OSError):  # A user's own files keep their folder.
                (out / name).parent.rmdir()


def _refuse_links(out: Path, name: str) -> None:
    """Refuse to write a file of a dataset through a link."""
    for part in (out / name).parents:
        if part == out.parent:
            return
        if part.is_symlink():
            raise FileError(f"{part} is a link, and a dataset is never written through links; replace it by a copy")


class _Published:
    """A dataset merged by Handloom, and facts about it that do not require reading every episode."""

    def __init__(
        self, root: Path, options: MergeOptions, listing: dict[str, dict[str, Any]], receipt: Any, *, hashes: bool
    ) -> None:
        self.root = root
        self.options = options
        self.listing = listing
        self.receipt = receipt
        self.hashes = hashes
        self.reader = DatasetReader(root)
        self.cameras = [feature.name for feature in self.reader.table.videos]
        self.tables = sorted(name for name in listing if name.startswith("meta/episodes/"))

    @classmethod
    def open(cls, root: Path, options: MergeOptions, *, hashes: bool) -> "_Published | None":
        """Open a dataset; None if it was not made by a merge with these options and the present packages."""
        if root.is_symlink() or not ((root / RECEIPT).is_file() and (root / FILE_LIST).is_file()):
            return None
        receipt = read_json(root / RECEIPT, MergeReceipt)
        if receipt.get("writer") != writer_hash(options) or "end" not in receipt:
            return None
        published = cls(root, options, read_list(root), receipt, hashes=hashes)
        known = published.tables and {*published.cameras} == {*receipt["end"]["videos"]}
        return published if known and published.reader.info["total_episodes"] else None

    def checked(self, name: str) -> Path:
        """Return a file after checking that it is unchanged."""
        file, written = self.root / name, self.listing.get(name)
        _refuse_links(self.root, name)
        known = written is not None and file.is_file() and not file.is_symlink()
        if known and written and self.hashes:
            known = checked_size(file) == written["bytes"] and sha256_of(file) == written["sha256"]
        if not known:
            raise FileError(
                f"{self.root} has changed: {name} was changed, added or removed after the dataset was written; "
                "restore it, or use it with --skip-hashes"
            )
        return file

    def archive(self, index: int) -> EpisodeFolder:
        """Open the archive of an episode in a folder, after checking that it is unchanged."""
        folder = f"{EXTRAS}/{folder_name(index)}"
        for name in os.listdir(self.root / folder):
            if f"{folder}/{name}" in self.listing:
                self.checked(f"{folder}/{name}")
        return EpisodeFolder.open(self.root / folder)

    def kept(self) -> KeptEpisodes:
        """Return the facts that a plan needs about the episodes."""
        for name in ("meta/info.json", "meta/tasks.parquet", "meta/stats.json", RECEIPT, TOTALS, self.tables[-1]):
            self.checked(name)
        if self.reader.subtasks:
            self.checked("meta/subtasks.parquet")
        return KeptEpisodes(
            count=self.reader.info["total_episodes"],
            frames=self.reader.info["total_frames"],
            tasks=self.reader.tasks,
            subtasks=self.reader.subtasks,
            robot_type=str(self.reader.info.get("robot_type") or ""),
            fingerprint=self.receipt["fingerprint"],
            end=self.receipt["end"],
            data_episodes=self._data_episodes(),
        )

    def _data_episodes(self) -> int:
        """Return the number of episodes in the last data file, which has a row group for each."""
        end = self.receipt["end"]["data"]
        place = FilePlace(chunk=end["chunk"], file=end["file"]).path("parquet")
        with open_parquet(self.checked(f"data/{place}")) as file:
            return file.num_row_groups

    def refuse_known(self, folders: Sequence[Path]) -> None:
        """Refuse episodes that the dataset already contains.

        Attempt numbers higher than any in the dataset are new; only the others are looked up among its episodes.
        """
        episodes = [EpisodeFolder.open(folder) for folder in folders]
        low = {e.outcome.index: e for e in episodes if e.outcome.index <= self.receipt["end"]["last_attempt"]}
        if not low:
            return
        parts = [read_table(self.checked(name), ["attempt_index"]) for name in self.tables]
        attempts = pa.concat_tables(parts)["attempt_index"].to_pylist()
        for index, attempt in enumerate(attempts):
            there = self.root / EXTRAS / folder_name(index)
            if attempt in low and EpisodeFolder.open(there).sheet_sha256 == low[attempt].sheet_sha256:
                raise InputError(
                    f"episode {index} of the dataset and {low[attempt].path} are the same episode; list it once"
                )

    def can_have(self, plan: MergePlan) -> bool:
        """Return whether the tables of a plan have the same columns as these."""
        if self.reader.table.difference(plan.table):
            return False
        types, extra = column_types(plan), self._extra_columns(plan)
        # Columns that earlier episodes lack, or have in another type, do not fit; integers fit into float columns.
        fits = all(
            name in extra
            and (extra[name] in (kind, pa.float64() if kind == pa.int64() else kind) or not plan.columns[name])
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
        """Return the task-specific columns of the episode table."""
        plain = set(episode_schema(plan, {}).names)
        return {field.name: field.type for field in self._schema if field.name not in plain}

    def write_more(self, work: Path, plan: MergePlan) -> None:
        """Write every new or changed file that does not exist yet; the list of all files comes last."""
        if (work / FILE_LIST).is_file():
            return
        totals = Totals.read(self.checked(TOTALS), self.checked(HISTOGRAMS) if self.cameras else None)
        extras = ExtrasWriter(work, plan, kept=self.archive)
        present = lambda name: self.checked(name) if name in self.listing else None  # noqa: E731
        columns = self._extra_columns(plan)
        writer = DatasetWriter(work, plan, episode_columns=columns, totals=totals, extras=extras, present=present)
        writer.write(lambda *_: None)
        self._write_videos(work, plan)
        write_facts(work, plan, totals)
        added = list_files(work, extras.known)
        for name in added:
            if name not in self.listing and os.path.lexists(self.root / name):
                raise FileError(
                    f"{self.root / name} is not one of the dataset's files and in the way of a new one; move it away "
                    "and run again"
                )
        write_list(work, longer_list(self._left(extras.packed, added), added))

    def _left(self, packed: list[int], added: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        """Return the list without the folders of episodes that are now in packs."""
        names = {f"{EXTRAS}/{folder_name(index)}" for index in packed}
        return {
            name: entry
            for name, entry in self.listing.items()
            if name.rpartition("/")[0] not in names or not _is_packed(name, added)
        }

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
                        first_length = self.receipt["end"]["videos"][camera]["first_length"]
                        self._lengthen_video(name, members[0].videos[camera][1], first_length, sources, partial)
                    else:
                        join_videos(sources, partial, fps=plan.table.fps)

    def _lengthen_video(
        self, name: str, frames: int, first_length: int, sources: list[tuple[Path, int]], target: Path
    ) -> None:
        """Write a video file with this many existing frames, followed by further videos."""
        old, fps = self.checked(name), self.reader.fps
        # The parameters are those of the first episode alone, as in a merge of all.
        template = target.with_name(f"template{PARTIAL}")
        try:
            cut_video(old, template, start=0, length=first_length, fps=fps)
            join_videos([(old, frames), *sources], target, fps=fps, template=template)
        finally:
            template.unlink(missing_ok=True)


def _is_packed(name: str, added: Mapping[str, Any]) -> bool:
    """Return whether a file of an episode's folder is in one of the added packs."""
    index = int(Path(name).parent.name.rpartition("_")[2])
    kind = LABELS if Path(name).name in LABEL_FILES else ARCHIVES
    return f"{EXTRAS}/{pack_name(kind, index - index % archive_pack.PACK)}" in added

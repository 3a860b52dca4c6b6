"""Writes tables, archives and totals of planned episodes in one pass: each episode is opened and read once."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from handloom.dataset.episodes.episode_folder import EpisodeFolder
from handloom.dataset.files.durable import atomic_write, file_errors
from handloom.dataset.files.parquet_append import append_groups
from handloom.dataset.files.parquet_files import OPTIONS, open_parquet
from handloom.dataset.files.reading import damage_named
from handloom.dataset.lerobot import tables
from handloom.dataset.lerobot.merge_plan import MergePlan
from handloom.dataset.lerobot.planned_episodes import FilePlace, PlannedEpisode
from handloom.dataset.lerobot.total_statistics import Totals
from handloom.dataset.merging.extras_writer import ExtrasWriter
from handloom.errors import HandloomError

ROWS_COUNTED = 2**14
"""Approximate number of frames whose values are added to the totals at a time."""
Present = Callable[[str], Path | None]
"""Returns an existing file of a dataset that will be extended, after checking it; None for new files."""


class TableFile:
    """An unfinished Parquet file, written one row group at a time; the result is complete or absent.

    Args:
        path: The file.
        schema: Its schema.
        old: File whose row groups come first, if any.
        last: The first added table replaces that file's last row group.
    """

    def __init__(self, path: Path, schema: pa.Schema, *, old: Path | None = None, last: bool = False) -> None:
        self.path = path
        self._schema, self._old, self._last = schema, old, last
        self._tables: list[pa.Table] = []
        self._stack = ExitStack()
        self._partial = self._stack.enter_context(atomic_write(path))
        self._writer = None
        if old is None:
            self._writer = self._stack.enter_context(pq.ParquetWriter(str(self._partial), schema, **OPTIONS))

    def add(self, table: pa.Table) -> None:
        """Add a row group."""
        if self._writer is None:
            self._tables.append(table)
            return
        with file_errors("write", self.path):
            self._writer.write_table(table.combine_chunks(), row_group_size=max(table.num_rows, 1))

    def finish(self) -> None:
        """Move the file into place."""
        try:
            if self._old is not None:
                append_groups(self._old, self._partial, self._schema, self._tables, last=self._last)
        except BaseException as error:
            self.abandon(error)
            raise
        self._stack.close()

    def abandon(self, error: BaseException) -> None:
        """Remove the unfinished file."""
        try:
            self._stack.__exit__(type(error), error, None)
        except BaseException as raised:
            if raised is not error and not isinstance(raised, OSError):
                raise


class DatasetWriter:
    """Writes the missing tables and archives of a dataset.

    Args:
        work: Folder in which the files are made; files finished by an interrupted call are kept.
        plan: The dataset.
        episode_columns: Task-specific columns of the episode table.
        totals: Totals of the preceding episodes; those of the plan are added.
        extras: Writes the archives.
        present: Finds existing files to extend.
    """

    def __init__(
        self,
        work: Path,
        plan: MergePlan,
        *,
        episode_columns: dict[str, pa.DataType],
        totals: Totals,
        extras: ExtrasWriter,
        present: Present = lambda _: None,
    ) -> None:
        self.work, self.plan, self.totals = work, plan, totals
        self._extras, self._present = extras, present
        self._frame_schema = tables.frame_schema(plan)
        self._row_schema = tables.episode_schema(plan, episode_columns)
        self._data: _Open = _Open()
        self._table: _Open = _Open()
        self._rows: list[dict[str, Any]] = []
        self._uncounted: list[tuple[Path, pa.Table]] = []
        """Recent episodes whose values are not in the totals yet."""

    def write(self, progress: Callable[[str, int, int], None]) -> None:
        """Write everything; if an error occurs, unfinished files are removed."""
        try:
            for number, planned in enumerate(self.plan.episodes):
                self._add(planned, last=number == len(self.plan.episodes) - 1)
                progress("data", planned.episode_index + 1, self.plan.episode_count)
            for open_file in (self._data, self._table):
                open_file.turn_to(None)
            self._extras.finish()
        except BaseException as error:
            for open_file in (self._data, self._table):
                open_file.abandon(error)
            with suppress(Exception):  # Report the first error.
                self._extras.close()
            raise

    def _add(self, planned: PlannedEpisode, *, last: bool) -> None:
        plan = self.plan
        episode = EpisodeFolder.again(planned.folder, planned.sheet_sha256, plan.table)
        rows = tables.frame_rows(plan, planned, episode, self._frame_schema)
        name = f"data/{planned.data.path('parquet')}"
        if self._data.name != name:
            self._data.turn_to(name, lambda: self._begin(name, self._frame_schema))
        self._data.add(rows)
        with damage_named(episode.path):
            statistics = tables.counted_statistics(plan, planned, episode)
            self.totals.add(episode, statistics)
        self._uncounted.append((episode.path, rows))
        if last or len(self._uncounted) * max(len(rows), 1) >= ROWS_COUNTED:
            self._count()
        self._extras.add(planned, episode)
        self._add_row(planned, episode, statistics, last=last)

    def _count(self) -> None:
        """Count the values of recent episodes, all at once: a thousand conversions of short columns take far longer."""
        waiting, self._uncounted = self._uncounted, []
        dtypes = self.totals.columns.dtypes
        try:
            self.totals.columns.tally(tables.counted_values(dtypes, pa.concat_tables([rows for _, rows in waiting])))
        except HandloomError:
            for path, rows in waiting:  # Name the episode.
                with damage_named(path):
                    tables.counted_values(dtypes, rows)
            raise

    def _add_row(self, planned: PlannedEpisode, episode: EpisodeFolder, statistics: Any, *, last: bool) -> None:
        """Add a row of the episode table; a group is written when it is full or the last one."""
        place = table_place(planned.episode_index, self.plan)
        name = f"meta/episodes/{place.path('parquet')}"
        if self._table.name != name:
            self._table.turn_to(name, lambda: self._begin_table(name, planned.episode_index))
        with damage_named(episode.path):
            self._rows.append(tables.episode_row(self.plan, planned, episode, place, statistics))
        after = planned.episode_index % tables.ROWS_PER_FILE + 1
        if last or after % tables.ROWS_PER_GROUP == 0 or after == tables.ROWS_PER_FILE:
            with damage_named(planned.folder.parent):
                group = tables.rows_table(self._row_schema, self._rows)
            self._rows = []
            if self._begun is not None:  # The group has rows already.
                group, self._begun = pa.concat_tables([self._begun, group]).combine_chunks(), None
            self._table.add(group)

    _begun: pa.Table | None = None
    """The last row group of an extended table, if it is not full."""

    def _begin(self, name: str, schema: pa.Schema, *, last: bool = False) -> TableFile | None:
        """Return a file to write, or None if an interrupted call has finished it."""
        if (self.work / name).is_file():
            return None
        return TableFile(self.work / name, schema, old=self._present(name), last=last)

    def _begin_table(self, name: str, index: int) -> TableFile | None:
        filled = (index % tables.ROWS_PER_FILE) % tables.ROWS_PER_GROUP
        old = self._present(name) if filled and not (self.work / name).is_file() else None
        if old is not None:
            with open_parquet(old) as file:
                self._begun = file.read_row_group(file.num_row_groups - 1, use_threads=False)
        return self._begin(name, self._row_schema, last=bool(filled))


class _Open:
    """The file that is being written, if there is one."""

    def __init__(self) -> None:
        self.name: str | None = None
        self._file: TableFile | None = None

    def turn_to(self, name: str | None, begin: Callable[[], TableFile | None] = lambda: None) -> None:
        """Finish the current file and start another."""
        file, self._file, self.name = self._file, None, name
        if file is not None:
            file.finish()
        self._file = begin()

    def add(self, table: pa.Table) -> None:
        """Add a row group; nothing is done if the file already exists."""
        if self._file is not None:
            self._file.add(table)

    def abandon(self, error: BaseException) -> None:
        """Remove the current unfinished file."""
        file, self._file = self._file, None
        if file is not None:
            file.abandon(error)


def table_place(index: int, plan: MergePlan) -> FilePlace:
    """Return the file of the episode table that contains an episode's row."""
    number, size = index // tables.ROWS_PER_FILE, plan.options.chunks_size
    return FilePlace(chunk=number // size, file=number % size)


def places_of(episodes: Sequence[PlannedEpisode]) -> list[FilePlace]:
    """Return the data files of episodes, in order."""
    return list(dict.fromkeys(episode.data for episode in episodes))

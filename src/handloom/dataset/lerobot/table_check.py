"""Recompute the tables of a dataset from the sheets of its episodes, and compare them value by value.

Together with a replay, which recomputes the sheets and the features, this covers everything in ``data/`` and
``meta/``: every number follows from the archives. The statistics of images cannot be recomputed from lossy videos, so
they are compared only with the sheets.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from handloom.dataset.episodes.episode_files import EpisodeFiles
from handloom.dataset.episodes.episode_folder import SHEET, EpisodeFolder
from handloom.dataset.files.parquet_files import numpy_column, open_parquet, read_table
from handloom.dataset.files.reading import damage_named, read_json
from handloom.dataset.files.replacing import RECEIPT
from handloom.dataset.files.shapes import MergeReceipt
from handloom.dataset.lerobot.dataset_reader import DatasetReader, rows_per_file
from handloom.dataset.lerobot.info_file import dataset_info
from handloom.dataset.lerobot.layout_check import Fault
from handloom.dataset.lerobot.merge_plan import MergeOptions, MergePlan, plan_of_sheets
from handloom.dataset.lerobot.planned_episodes import FilePlace
from handloom.dataset.lerobot.statistics import column_statistics
from handloom.dataset.lerobot.tables import (
    LANGUAGE_COLUMNS,
    added_columns,
    column_types,
    counted_dtypes,
    counted_statistics,
    counted_values,
    episode_groups,
    episode_schema,
)
from handloom.dataset.lerobot.total_statistics import HISTOGRAMS, Totals
from handloom.dataset.merging.column_totals import TOTALS, ColumnTotals
from handloom.dataset.merging.dataset_writer import places_of
from handloom.errors import FileError, HandloomError

SUMMED = ("mean", "std", "q01", "q10", "q50", "q90", "q99")
"""Statistics whose last bits depend on the order of summation on a processor."""
SUM_TOLERANCE = 1e-12
"""Largest allowed difference of these, relative to the value or to one."""


def check_tables(root: Path) -> tuple[Fault, ...]:
    """Return the entries of a dataset's tables that do not follow from its episodes; empty if all do.

    Args:
        root: Folder of the dataset. Missing sheets, which ``check_layout`` reports, are skipped.
    """
    dataset = DatasetReader(root)
    folders = [dataset.archive_folder(episode.index) for episode in dataset.episodes]
    if not folders or not all(EpisodeFiles.at(folder).has(SHEET) for folder in folders):
        return ()
    try:
        with damage_named(root):
            _check_lengths(dataset, folders)
            receipt = read_json(root / RECEIPT, MergeReceipt) if (root / RECEIPT).is_file() else {}
            plan = plan_of_sheets(folders, _options(dataset), receipt.get("parts", ()))
    except HandloomError as error:
        return (Fault(file="meta", problem=f"cannot be recomputed from the sheets: {error}"),)
    found: list[Fault] = []
    for rule in (_check_info, _check_names, _check_frames, _check_episodes, _check_statistics):
        try:
            with damage_named(root):
                found += [Fault(file=file, problem=problem) for file, problem in rule(dataset, plan)]
        except HandloomError as error:
            found.append(Fault(file="meta", problem=f"cannot be recomputed from the sheets: {error}"))
    return tuple(found)


def _options(dataset: DatasetReader) -> MergeOptions:
    """Return the options by which a dataset was divided into files, from its metadata."""
    info = dataset.info
    names = ("chunks_size", "data_files_size_in_mb", "video_files_size_in_mb")
    told = {name: info[name] for name in names if name in info}
    if not all(isinstance(value, int | float) and not isinstance(value, bool) for value in told.values()):
        raise FileError(f"meta/info.json: {', '.join(names)} must be numbers")
    return MergeOptions(**told, language=any(name in info["features"] for name in LANGUAGE_COLUMNS))


def _check_lengths(dataset: DatasetReader, folders: Sequence[Path]) -> None:
    """Refuse episodes whose length differs from that in their rows, since memory is allocated for it."""
    stored: dict[FilePlace, int] = {}
    for episode, folder in zip(dataset.episodes, folders, strict=True):
        if episode.data not in stored:
            with open_parquet(dataset.root / "data" / episode.data.path("parquet")) as file:
                stored[episode.data] = file.metadata.num_rows
        told = EpisodeFolder.open(folder).length
        if told != episode.length:
            raise FileError(f"episode {episode.index} has {told} frames in its sheet, but {episode.length} in its row")
        stored[episode.data] -= episode.length
    if any(stored.values()):
        raise FileError("the data files do not contain as many frames as meta/episodes says")


Found = Iterator[tuple[str, str]]
"""File and description of the fault."""


def _check_info(dataset: DatasetReader, plan: MergePlan) -> Found:
    wanted, stored = dataset_info(plan), dict(dataset.info)
    features, told = wanted.pop("features"), stored.pop("features")
    parts = (("", wanted, stored), ("features.", features, told))
    for prefix, right, there in parts:
        for name in {**right, **there}:
            if name not in there or name not in right or there[name] != right[name]:
                yield "meta/info.json", _difference(prefix + name, there.get(name), right.get(name))


def _check_names(dataset: DatasetReader, plan: MergePlan) -> Found:
    for file, stored, wanted in (
        ("meta/tasks.parquet", dataset.tasks, plan.tasks),
        ("meta/subtasks.parquet", dataset.subtasks, plan.subtasks),
    ):
        for number in range(max(len(stored), len(wanted))):
            there, right = (names[number] if number < len(names) else None for names in (stored, wanted))
            if there != right:
                yield file, _difference(f"name {number}", there, right)


def _check_frames(dataset: DatasetReader, plan: MergePlan) -> Found:
    """Compare the columns that the format adds to the frames; the replay compares those of the features."""
    for planned in plan.episodes:
        file = f"data/{planned.data.path('parquet')}"
        rows = dataset.rows(planned.episode_index)
        added = added_columns(plan, planned, EpisodeFolder.open(planned.folder))
        known = {*added, *(feature.name for feature in plan.table.columns)}
        for name in rows.column_names:
            if name not in known:
                yield file, f"the column {name} cannot be computed from the recording"
        for name, values in added.items():
            if name not in rows.column_names:
                yield file, f"the column {name} is missing"
                continue
            if not rows.column(name).equals(pa.chunked_array([values])):
                what = f"{name} of episode {planned.episode_index}"
                yield file, _first_difference(what, rows.column(name), values)


def _first_difference(name: str, stored: Any, wanted: Any) -> str:
    pairs = zip(stored.to_pylist(), wanted.to_pylist(), strict=True)
    for frame, (there, right) in enumerate(pairs):
        if there != right:
            return _difference(f"{name}, frame {frame}", there, right)
    return f"{name} is stored as {stored.type}, expected {wanted.type}"


def _check_episodes(dataset: DatasetReader, plan: MergePlan) -> Found:
    schema = episode_schema(plan, column_types(plan))
    place, size = FilePlace(), rows_per_file(dataset.root)
    for start in range(0, len(plan.episodes), size):
        path = dataset.root / "meta" / "episodes" / place.path("parquet")
        file, members = str(path.relative_to(dataset.root)), plan.episodes[start : start + size]
        stored, first = read_table(path), 0
        there = set(stored.column_names)
        if names := sorted(there ^ set(schema.names)):
            yield file, f"it has columns that do not follow from the episodes: {', '.join(names[:3])}"
        shared = [name for name in schema.names if name in there]
        for wanted in episode_groups(plan, schema, members, place):
            rows = stored.slice(first, wanted.num_rows)
            for name in shared:
                yield from ((file, problem) for problem in _row_differences(name, rows, wanted, start + first))
            first += wanted.num_rows
        place = place.following(plan.options.chunks_size)


def _row_differences(name: str, stored: pa.Table, wanted: pa.Table, first: int) -> Iterator[str]:
    """Yield differences in a column of the episode table; values are compared one by one only if bits differ."""
    if stored.column(name).equals(wanted.column(name)):
        return
    pairs = zip(stored.column(name).to_pylist(), wanted.column(name).to_pylist(), strict=True)
    for row, (there, right) in enumerate(pairs):
        if not same_statistic(name.rsplit("/", 1)[-1] if name.startswith("stats/") else "", there, right):
            yield _difference(f"{name} of episode {first + row}", there, right)


def _check_statistics(dataset: DatasetReader, plan: MergePlan) -> Found:
    totals = Totals.empty(plan)
    for planned in plan.episodes:
        values = counted_values(totals.columns.dtypes, dataset.rows(planned.episode_index))
        episode = EpisodeFolder.open(planned.folder)
        totals.add(episode, counted_statistics(plan, planned, episode))
        totals.columns.tally(values)
    if totals.cameras and read_json(dataset.root / HISTOGRAMS) != {
        name: sums.to_json() for name, sums in totals.cameras.items()
    }:
        yield HISTOGRAMS, "the sums do not match the episodes' histograms"
    if (dataset.root / TOTALS).is_file():
        for name in totals.columns.differs_from(ColumnTotals.read(dataset.root / TOTALS)):
            yield TOTALS, f"the counts of {name} do not match its values"
    wanted, stored = totals.statistics(plan.table), dataset.statistics
    if not (dataset.root / TOTALS).is_file():
        wanted |= _exact_statistics(dataset, plan)
    for name in {**wanted, **stored}:
        there, right = stored.get(name, {}), wanted.get(name, {})
        yield from (("meta/stats.json", problem) for problem in statistic_differences(name, there, right))


def _exact_statistics(dataset: DatasetReader, plan: MergePlan) -> dict[str, dict[str, list[Any]]]:
    """Return the statistics of columns as earlier versions computed them: from all values at once, without totals."""
    tables = [read_table(dataset.root / "data" / place.path("parquet")) for place in places_of(plan.episodes)]
    return {
        name: column_statistics(np.concatenate([numpy_column(table, name, dtype) for table in tables])).as_lists()
        for name, dtype in counted_dtypes(plan).items()
    }


def statistic_differences(feature: str, stored: Mapping[str, Any], wanted: Mapping[str, Any]) -> Iterator[str]:
    """Yield differences between the statistics of a feature and the recomputed ones."""
    for name in {**wanted, **stored}:
        if not same_statistic(name, stored.get(name), wanted.get(name)):
            yield _difference(f"{feature}/{name}", stored.get(name), wanted.get(name))


def same_statistic(name: str, stored: Any, wanted: Any) -> bool:
    """Return whether a statistic equals the recomputed one: bit for bit, or within rounding for sums."""
    if stored == wanted:
        return True
    if isinstance(stored, list) and isinstance(wanted, list):
        pairs = zip(stored, wanted, strict=False)
        return len(stored) == len(wanted) and all(same_statistic(name, a, b) for a, b in pairs)
    if name in SUMMED and isinstance(stored, int | float) and isinstance(wanted, int | float):
        return abs(stored - wanted) <= SUM_TOLERANCE * max(1.0, abs(stored), abs(wanted))
    return False


def _difference(what: str, stored: Any, wanted: Any) -> str:
    return f"{what}: recorded is {short(stored)}, expected {short(wanted)}"


def short(value: Any) -> str:
    """Return a value as at most one line of text."""
    text = "nothing" if value is None else repr(value)
    return text if len(text) <= 120 else f"{text[:117]}..."

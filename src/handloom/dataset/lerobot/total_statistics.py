"""The statistics of a whole dataset, and the sums of its histograms, from which those of more episodes follow."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handloom.dataset.episodes.episode_folder import EpisodeFolder
from handloom.dataset.episodes.episode_writer import level_values
from handloom.dataset.files.parquet_files import numpy_column, read_table
from handloom.dataset.files.reading import damage_named, read_json
from handloom.dataset.files.shapes import Histogram
from handloom.dataset.lerobot.feature import BOOKKEEPING
from handloom.dataset.lerobot.merge_plan import MergePlan
from handloom.dataset.lerobot.statistics import ImageHistogram, column_statistics
from handloom.dataset.lerobot.tables import SUBTASK_INDEX
from handloom.errors import FileError

HISTOGRAMS = "meta/histograms.json"
"""Sums of the histograms of every camera: with them, more episodes are added without reading the sheets of all."""
VALUES_AT_ONCE = 2**25
"""Values of columns that are read together; a column with more is read by itself."""


def total_histograms(folders: Sequence[Path], plan: MergePlan, before: Path | None = None) -> dict[str, ImageHistogram]:
    """Return the sums of the episodes' histograms by camera.

    Args:
        folders: Folders with the sheets of the episodes that are counted.
        plan: The dataset.
        before: File with sums that the episodes are added to.
    """
    totals = {
        feature.name: ImageHistogram(channels=feature.shape[2], levels=len(level_values(feature)))
        for feature in plan.table.videos
    }
    if before is not None:
        stored = read_json(before, dict[str, Histogram])
        with damage_named(before):
            for name, total in totals.items():
                total.merge(ImageHistogram.from_json(stored[name]))
    for folder in folders if totals else ():
        episode = EpisodeFolder.open(folder)
        with damage_named(episode.path):
            for name, total in totals.items():
                total.merge(episode.histograms[name])
    return totals


def total_statistics(
    files: Sequence[Path], plan: MergePlan, histograms: dict[str, ImageHistogram]
) -> dict[str, dict[str, list[Any]]]:
    """Return the statistics of every feature over all episodes.

    Those of columns are exact over all frames, quantiles among them, so every value is looked at again, however few are
    new. What only counts frames and episodes is not read but counted again. Cameras have the sums of their histograms.

    Args:
        files: Data files of the dataset, in order.
        plan: The dataset.
        histograms: Sums by camera.
    """
    counted = {name: column_statistics(values[:, None]).as_lists() for name, values in _counted(plan).items()}
    dtypes = {feature.name: feature.dtype for feature in plan.table.columns}
    dtypes |= {**BOOKKEEPING, **({SUBTASK_INDEX: "int64"} if plan.subtasks else {})}
    stored = {name: dtype for name, dtype in dtypes.items() if name not in counted}
    columns = {**counted, **dict(_column_statistics(files, plan, stored))}
    cameras = {
        feature.name: histograms[feature.name].statistics(level_values(feature)).as_lists(image=True)
        for feature in plan.table.videos
    }
    order = dict.fromkeys([*(feature.name for feature in plan.table), *dtypes])
    return {name: columns[name] if name in columns else cameras[name] for name in order}


def _counted(plan: MergePlan) -> dict[str, NDArray[Any]]:
    """Return the columns that follow from the episodes' lengths, and a single task, as they stand in the data files."""
    lengths = np.array(plan.lengths)
    index = np.arange(lengths.sum())
    frames = index - np.repeat(np.cumsum(lengths) - lengths, lengths)
    single = {"task_index": np.zeros_like(index)} if len(plan.tasks) == 1 else {}
    return {
        **single,
        "timestamp": (frames / plan.table.fps).astype(np.float32),
        "frame_index": frames,
        "episode_index": np.repeat(np.arange(len(lengths)), lengths),
        "index": index,
    }


def _column_statistics(
    files: Sequence[Path], plan: MergePlan, dtypes: dict[str, str]
) -> Iterator[tuple[str, dict[str, list[Any]]]]:
    """Yield the name and the statistics of every column; as many are read at a time as memory is meant for."""
    widths = {feature.name: feature.shape[0] for feature in plan.table.columns}
    left = list(dtypes)
    while left:
        together, size = [left.pop(0)], 0
        size = widths.get(together[0], 1)
        while left and (size + widths.get(left[0], 1)) * plan.frame_count <= VALUES_AT_ONCE:
            size += widths.get(left[0], 1)
            together.append(left.pop(0))
        tables = [read_table(path, together) for path in files]
        for name in together:
            values = np.concatenate([numpy_column(table, name, dtypes[name]) for table in tables])
            if not np.isfinite(values).all():
                raise FileError(
                    f"the column {name!r} holds numbers that are not finite; leave out the episodes that have them"
                )
            yield name, column_statistics(values).as_lists()

"""``meta/stats.json``: statistics over every frame of a dataset."""

from pathlib import Path
from typing import Any

import numpy as np

from handloom.dataset.episode_folder import EpisodeFolder
from handloom.dataset.episode_writer import level_values
from handloom.dataset.feature import BOOKKEEPING, Feature
from handloom.dataset.frame_table import SUBTASK_INDEX
from handloom.dataset.image_histogram import ImageHistogram
from handloom.dataset.merge_plan import MergePlan
from handloom.dataset.parquet_files import numpy_column, read_table
from handloom.dataset.reading import damage_named
from handloom.dataset.statistics import column_statistics
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

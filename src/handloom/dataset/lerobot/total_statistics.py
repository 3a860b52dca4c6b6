"""The statistics of a whole dataset, and the totals needed to add more episodes."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from handloom.dataset.episodes.episode_folder import EpisodeFolder
from handloom.dataset.episodes.episode_writer import level_values
from handloom.dataset.files.durable import write_json
from handloom.dataset.files.reading import damage_named, read_json
from handloom.dataset.files.shapes import Histogram
from handloom.dataset.lerobot.feature import FeatureTable
from handloom.dataset.lerobot.merge_plan import MergePlan
from handloom.dataset.lerobot.statistics import ImageHistogram
from handloom.dataset.lerobot.tables import counted_dtypes
from handloom.dataset.merging.column_totals import TOTALS, ColumnTotals

HISTOGRAMS = "meta/histograms.json"
"""Sums of the histograms of every camera."""


@dataclass(frozen=True, kw_only=True)
class Totals:
    """The totals behind the statistics of a dataset: those of its columns and of its cameras' histograms."""

    columns: ColumnTotals
    cameras: dict[str, ImageHistogram]

    @classmethod
    def empty(cls, plan: MergePlan) -> "Totals":
        """Return empty totals."""
        widths = {feature.name: feature.shape[0] for feature in plan.table.columns}
        dtypes = counted_dtypes(plan)
        return cls(
            columns=ColumnTotals(dtypes, {name: widths.get(name, 1) for name in dtypes}),
            cameras={
                feature.name: ImageHistogram(channels=feature.shape[2], levels=len(level_values(feature)))
                for feature in plan.table.videos
            },
        )

    @classmethod
    def read(cls, columns: Path, cameras: Path | None) -> "Totals":
        """Read the totals of a dataset.

        Args:
            columns: File of the columns.
            cameras: File of the cameras; None if there are no cameras.
        """
        stored = {} if cameras is None else read_json(cameras, dict[str, Histogram])
        with damage_named(cameras or columns):
            sums = {name: ImageHistogram.from_json(histogram) for name, histogram in stored.items()}
        return cls(columns=ColumnTotals.read(columns), cameras=sums)

    def add(self, episode: EpisodeFolder, statistics: Mapping[str, Mapping[str, list[Any]]]) -> None:
        """Add the next episode, with the statistics of its columns; ``columns.tally`` counts its values."""
        self.columns.add(statistics)
        for name, total in self.cameras.items():
            total.merge(episode.histograms[name])

    def write(self, root: Path) -> None:
        """Write the totals that do not exist yet."""
        if not (root / TOTALS).is_file():
            self.columns.write(root / TOTALS)
        if self.cameras and not (root / HISTOGRAMS).is_file():
            sums = {name: total.to_json() for name, total in self.cameras.items()}
            write_json(root / HISTOGRAMS, sums, indent=4)

    def statistics(self, table: FeatureTable) -> dict[str, dict[str, list[Any]]]:
        """Return the statistics of every feature, as in ``meta/stats.json``."""
        columns = {name: found.as_lists() for name, found in self.columns.statistics().items()}
        cameras = {
            feature.name: self.cameras[feature.name].statistics(level_values(feature)).as_lists(image=True)
            for feature in table.videos
        }
        order = dict.fromkeys([*(feature.name for feature in table), *columns])
        return {name: columns[name] if name in columns else cameras[name] for name in order}

"""One row of a dataset's episode table."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from handloom.dataset.merge_plan import FilePlace
from handloom.dataset.reading import check_shape
from handloom.dataset.shapes import EpisodeRow, VideoRow


@dataclass(frozen=True, kw_only=True)
class DatasetEpisode:
    """Where an episode is in a dataset, and what became of it."""

    index: int
    """Number in the dataset."""
    length: int
    """Number of frames."""
    tasks: tuple[str, ...]
    """What the robot was told."""
    first_frame: int
    """Number of its first frame in the dataset."""
    data: FilePlace
    """Its data file."""
    videos: Mapping[str, tuple[FilePlace, float]]
    """Its video file by camera, and the time it starts there [s]."""
    columns: Mapping[str, Any]
    """Further columns: ``success``, ``failure_reason``, ``seed``, ``robot``, ``segments`` and the task's own."""

    @classmethod
    def from_row(cls, row: Mapping[str, Any], cameras: tuple[str, ...], *, source: str) -> "DatasetEpisode":
        """Return the episode that a row of the table describes; ``source`` is named when it cannot be."""
        check_shape(row, EpisodeRow, source=source)
        for name in cameras:
            place = {key: row.get(f"videos/{name}/{key}") for key in VideoRow.__annotations__}
            check_shape(place, VideoRow, source=f"{source}: videos/{name}")
        known = ("episode_index", "length", "tasks", "dataset_from_index", "dataset_to_index")
        return cls(
            index=row["episode_index"],
            length=row["length"],
            tasks=tuple(row["tasks"]),
            first_frame=row["dataset_from_index"],
            data=FilePlace(chunk=row["data/chunk_index"], file=row["data/file_index"]),
            videos={
                name: (
                    FilePlace(chunk=row[f"videos/{name}/chunk_index"], file=row[f"videos/{name}/file_index"]),
                    row[f"videos/{name}/from_timestamp"],
                )
                for name in cameras
            },
            columns={name: value for name, value in row.items() if "/" not in name and name not in known},
        )

"""Read a LeRobot v3 dataset with pyarrow and PyAV only: metadata, frames, images, archives."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from handloom.dataset.episodes.archive import EpisodeArchive, read_archive
from handloom.dataset.episodes.episode_files import EXTRAS, EpisodeFiles
from handloom.dataset.episodes.episode_folder import folder_name
from handloom.dataset.files.parquet_files import column_field, numpy_column, open_parquet
from handloom.dataset.files.reading import check_shape, damage_named, read_json
from handloom.dataset.files.shapes import EpisodeRow, Info, PlainObject, Statistics, VideoRow, Words
from handloom.dataset.lerobot.feature import BOOKKEEPING, COLUMN_DTYPES, Feature, FeatureTable
from handloom.dataset.lerobot.info_file import CODEBASE_VERSION
from handloom.dataset.lerobot.planned_episodes import FilePlace
from handloom.dataset.lerobot.tables import ROWS_PER_FILE, ROWS_PER_GROUP, SUBTASK_INDEX
from handloom.dataset.merging.column_totals import TOTALS
from handloom.dataset.video.video_codec import CODECS, DepthRange
from handloom.dataset.video.video_reader import read_frames
from handloom.errors import FileError, InputError, unknown_name

EARLIER_ROWS_PER_FILE = 10_000
"""Rows per file of the episode table in datasets written by earlier versions."""
LARGE = 2000
"""Number of episodes above which single episodes are looked up: reading the whole table takes 0.1 ms per episode."""


@dataclass(frozen=True, kw_only=True)
class DatasetEpisode:
    """The location and outcome of an episode in a dataset."""

    index: int
    """Index in the dataset."""
    length: int
    """Number of frames."""
    tasks: tuple[str, ...]
    """Instruction given to the robot."""
    first_frame: int
    """Index of its first frame in the dataset."""
    data: FilePlace
    """Its data file."""
    videos: Mapping[str, tuple[FilePlace, float]]
    """Its video file by camera, and the time it starts there [s]."""
    columns: Mapping[str, Any]
    """Further columns: ``success``, ``failure_reason``, ``seed``, ``robot``, ``segments`` and the task's own."""
    dataset: "DatasetReader | None" = field(default=None, repr=False, compare=False)
    """The dataset that contains it."""

    def frames(self) -> dict[str, NDArray[Any]]:
        """Return its columns, each ``(frames, n)``: ``action``, ``observation.state`` and the others."""
        return self._dataset.frames(self.index)

    def images(self, camera: str, *, start: int = 0, stop: int | None = None) -> Iterator[NDArray[Any]]:
        """Yield the images (h, w, 3) of a camera from frame ``start`` to ``stop`` (exclusive)."""
        return self._dataset.images(self.index, camera, start=start, stop=stop)

    @property
    def _dataset(self) -> "DatasetReader":
        if self.dataset is None:
            raise InputError(f"episode {self.index} was not read from a dataset; open it with DatasetReader")
        return self.dataset

    @classmethod
    def from_row(
        cls, row: Mapping[str, Any], cameras: tuple[str, ...], *, source: str, dataset: "DatasetReader | None" = None
    ) -> "DatasetEpisode":
        """Return the episode described by a table row; errors name ``source``."""
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
            dataset=dataset,
        )


class DatasetReader:
    """A dataset opened for reading; opening it costs one small JSON file.

    Example::

        dataset = DatasetReader("run")
        frames = dataset.episodes[3].frames()  # {"action": (n, 8) float32, ...}
        image = dataset.image(3, "observation.images.head", frame=0)

    Args:
        root: Folder of the dataset, or of the run that made it.
    """

    def __init__(self, root: str | Path) -> None:
        root = Path(root)
        if not (root / "meta" / "info.json").is_file() and (root / "dataset" / "meta" / "info.json").is_file():
            root = root / "dataset"
        self.root = root
        if not (root / "meta" / "info.json").is_file():
            raise FileError(f"{root} is not a LeRobot dataset: meta/info.json is missing; check the path")
        file = root / "meta" / "info.json"
        self.info: dict[str, Any] = read_json(file, PlainObject)
        """Raw ``meta/info.json``."""
        if (version := self.info.get("codebase_version")) != CODEBASE_VERSION:
            raise FileError(f"{root} has the format {version!r}; Handloom reads {CODEBASE_VERSION!r}")
        check_shape(self.info, Info, source=str(file))

    @property
    def fps(self) -> int:
        """Frames per second."""
        return self.info["fps"]

    @cached_property
    def table(self) -> FeatureTable:
        """Features of each frame, without the columns that the format adds."""
        with damage_named(self.root / "meta" / "info.json"):
            features = [
                _feature(name, described)
                for name, described in self.info["features"].items()
                if name not in (*BOOKKEEPING, SUBTASK_INDEX)
                and (described["dtype"] == "video" or described["dtype"] in COLUMN_DTYPES)
            ]
            return FeatureTable(fps=self.fps, features=tuple(features))

    @cached_property
    def tasks(self) -> tuple[str, ...]:
        """Tasks in words, by ``task_index``."""
        return _names(self.root / "meta" / "tasks.parquet", "task_index")

    @cached_property
    def subtasks(self) -> tuple[str, ...]:
        """Sub-tasks in words, by ``subtask_index``; empty if the episodes have none."""
        path = self.root / "meta" / "subtasks.parquet"
        return _names(path, SUBTASK_INDEX) if SUBTASK_INDEX in self.info["features"] else ()

    @cached_property
    def statistics(self) -> dict[str, dict[str, list[Any]]]:
        """Raw ``meta/stats.json``."""
        return read_json(self.root / "meta" / "stats.json", Statistics)

    @cached_property
    def episodes(self) -> tuple[DatasetEpisode, ...]:
        """All episodes in order; their statistics are not read."""
        cameras = tuple(feature.name for feature in self.table.videos)
        rows: list[DatasetEpisode] = []
        for path in sorted((self.root / "meta" / "episodes").glob("*/*.parquet")):
            with damage_named(path), open_parquet(path) as file:
                names = [name for name in file.schema_arrow.names if not name.startswith("stats/")]
                table = file.read(columns=names, use_threads=False)
                rows += [
                    DatasetEpisode.from_row(row, cameras, source=str(path), dataset=self) for row in table.to_pylist()
                ]
        if wrong := [number for number, episode in enumerate(rows) if episode.index != number]:
            number = wrong[0]
            raise FileError(
                f"{self.root / 'meta' / 'episodes'}: row {number} is episode {rows[number].index}; readers look up by "
                "position; merge the dataset again"
            )
        return tuple(rows)

    @property
    def episode_count(self) -> int:
        """Number of episodes, without reading them."""
        return self.info["total_episodes"]

    def episode(self, index: int) -> DatasetEpisode:
        """Return an episode by its index; in a large dataset only its part of the table is read."""
        if "episodes" not in self.__dict__ and self.episode_count > LARGE and (found := self._row_of(index)):
            return found
        if not 0 <= index < len(self.episodes):
            raise InputError(f"{self.root}: episode {index} is out of range (0 to {len(self.episodes) - 1})")
        return self.episodes[index]

    def _row_of(self, index: int) -> DatasetEpisode | None:
        """Return an episode from its row group if that is where it should be, otherwise None."""
        files = self._episode_files
        if not 0 <= index < self.episode_count or not files:
            return None
        cameras = tuple(feature.name for feature in self.table.videos)
        size = rows_per_file(self.root)
        path = files[min(index // size, len(files) - 1)]
        with damage_named(path), open_parquet(path) as file:
            names = [name for name in file.schema_arrow.names if not name.startswith("stats/")]
            group = (index % size) // ROWS_PER_GROUP
            if group >= file.num_row_groups:
                return None
            for row in file.read_row_group(group, columns=names, use_threads=False).to_pylist():
                if row.get("episode_index") == index:
                    return DatasetEpisode.from_row(row, cameras, source=str(path), dataset=self)
        return None

    @cached_property
    def _episode_files(self) -> tuple[Path, ...]:
        return tuple(sorted((self.root / "meta" / "episodes").glob("*/*.parquet")))

    def rows(self, index: int) -> pa.Table:
        """Read the rows of an episode as stored in the data file."""
        episode = self.episode(index)
        path = self.root / "data" / episode.data.path("parquet")
        with damage_named(path), open_parquet(path, footer=self._known_footer(path)) as file:
            self._footer = path, _stamp(path), file.metadata
            start = episode.first_frame - self._first_frame(episode.data, file)
            counts = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
            starts = np.concatenate([[0], np.cumsum(counts)])
            stop = start + episode.length
            groups = [g for g in range(len(counts)) if starts[g] < stop and starts[g + 1] > start]
            if start < 0 or not groups or starts[-1] < stop:
                raise FileError(f"{path} does not contain the frames of episode {index}; merge the dataset again")
            return file.read_row_groups(groups, use_threads=False).slice(start - starts[groups[0]], episode.length)

    def frames(self, index: int) -> dict[str, NDArray[Any]]:
        """Return the columns of an episode, each ``(frames, n)``."""
        rows, path = self.rows(index), self.root / "data" / self.episode(index).data.path("parquet")
        with damage_named(path):
            for feature in self.table.columns:
                if rows.schema.field(feature.name).type != column_field(feature).type:
                    raise FileError(f"{path}: the column {feature.name} must be {column_field(feature).type}")
            return {feature.name: numpy_column(rows, feature.name, feature.dtype) for feature in self.table.columns}

    def images(self, index: int, camera: str, *, start: int = 0, stop: int | None = None) -> Iterator[NDArray[Any]]:
        """Yield the images of a camera from frame ``start`` to ``stop`` (exclusive) of an episode.

        Yields:
            ``(h, w, 3)`` uint8 colour, ``(h, w)`` float32 depth [m], or ``(h, w)`` uint8 instance ids, whose names are
            in the episode's column ``segmentation``.
        """
        episode, feature = self.episode(index), self._camera(camera)
        last = episode.length if stop is None else stop
        if not 0 <= start <= last <= episode.length:
            raise InputError(f"episode {index} has {episode.length} frames; {start} to {last} is out of range")
        offset = self.first_video_frame(index, camera)
        return read_frames(
            self.video_path(index, camera), feature, start=offset + start, stop=offset + last, fps=self.fps
        )

    def image(self, index: int, camera: str, frame: int) -> NDArray[Any]:
        """Return one image."""
        return next(self.images(index, camera, start=frame, stop=frame + 1))

    def video_path(self, index: int, camera: str) -> Path:
        """Return the file that contains an episode's stream of a camera."""
        place, _ = self.episode(index).videos[self._camera(camera).name]
        return self.root / "videos" / camera / place.path("mp4")

    def first_video_frame(self, index: int, camera: str) -> int:
        """Return the index of an episode's first frame in its video file."""
        return round(self.episode(index).videos[self._camera(camera).name][1] * self.fps)

    def archive_folder(self, index: int) -> Path:
        """Return the nominal path of an episode's archive; it may be in a pack: use ``archive_files``."""
        return self.root / EXTRAS / folder_name(self._checked_index(index))

    def archive_files(self, index: int) -> EpisodeFiles:
        """Return the files of an episode's archive; there may be none."""
        return EpisodeFiles.at(self.archive_folder(index))

    def _checked_index(self, index: int) -> int:
        """Return a valid episode index; in a large dataset nothing is read."""
        if self.episode_count > LARGE and 0 <= index < self.episode_count:
            return index
        return self.episode(index).index

    def archive(self, index: int, *, check: bool = True) -> EpisodeArchive:
        """Read the archive of an episode, by default comparing it with its certificate."""
        return read_archive(self.archive_folder(index), check=check)

    _footer: tuple[Path, Any, Any] | None = None
    """The data file that was read last, its size and date, and its metadata, which describe thousands of episodes."""

    def _known_footer(self, path: Path) -> Any:
        """Return the metadata of a data file if it was the last one read and is unchanged."""
        known = self._footer
        return known[2] if known is not None and known[0] == path and known[1] == _stamp(path) else None

    def _first_frame(self, place: FilePlace, file: Any) -> int:
        """Return the index of the first frame of a data file; in a large dataset it is read from the file itself."""
        if "episodes" not in self.__dict__ and self.episode_count > LARGE and "index" in file.schema_arrow.names:
            return int(file.read_row_group(0, columns=["index"], use_threads=False)["index"][0].as_py())
        return self._first_frame_of_file[place]

    @cached_property
    def _first_frame_of_file(self) -> dict[Any, int]:
        """Index of the first frame of every data file."""
        firsts: dict[Any, int] = {}
        for episode in self.episodes:
            firsts.setdefault(episode.data, episode.first_frame)
        return firsts

    def _camera(self, name: str) -> Feature:
        """Return a camera stream by name; the error lists those that exist."""
        cameras = {feature.name: feature for feature in self.table.videos}
        if name not in cameras:
            raise unknown_name("camera", name, cameras)
        return cameras[name]


def _stamp(path: Path) -> tuple[int, ...] | None:
    try:
        facts = path.stat()
    except OSError:
        return None
    return facts.st_mtime_ns, facts.st_size, facts.st_ino


def rows_per_file(root: Path) -> int:
    """Return the number of episodes per file of a dataset's episode table; earlier versions wrote no totals."""
    return ROWS_PER_FILE if (root / TOTALS).is_file() else EARLIER_ROWS_PER_FILE


def _feature(name: str, described: dict[str, Any]) -> Feature:
    """Return the feature that an entry of ``info.json`` describes."""
    names = described["names"]
    codec = depth = None
    if described["dtype"] == "video":
        stored = described["info"]
        is_depth = bool(stored.get("is_depth_map", stored.get("video.is_depth_map", False)))
        kinds = {(c.stored_name, c.is_depth, c.is_segmentation): c.name for c in CODECS.values()}
        codec = kinds.get((stored["video.codec"], is_depth, bool(stored.get("is_segmentation", False))))
        if codec is None:
            raise FileError(f"camera {name!r} is stored as {stored['video.codec']!r}, which Handloom cannot read")
        if is_depth:
            keys = {"depth_min": "video.depth_min", "depth_max": "video.depth_max", "shift": "video.shift"}
            depth = DepthRange(**{key: stored[stored_key] for key, stored_key in keys.items()})
    return Feature(
        name=name,
        dtype=described["dtype"],
        shape=tuple(described["shape"]),
        names=_entry_names(names, described["shape"]),
        codec=codec,
        depth=depth,
    )


def _entry_names(names: Any, shape: list[int]) -> tuple[str, ...] | None:
    """Return the names of a feature's entries; other writers nest them or use another key."""
    if isinstance(names, dict) and len(names) == 1:
        (names,) = names.values()
    if isinstance(names, list) and len(names) == 1 and isinstance(names[0], list):
        (names,) = names
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        return None
    fits = len(shape) != 1 or len(names) == shape[0]
    return tuple(names) if fits else None


def _names(path: Path, column: str) -> tuple[str, ...]:
    """Read a table of numbered names; pandas stores the names in an index column."""
    with damage_named(path), open_parquet(path) as file:
        table = file.read(use_threads=False)
        (names_column,) = [name for name in table.column_names if name != column]
        pairs = zip(table[column].to_pylist(), table[names_column].to_pylist(), strict=True)
        numbered = sorted(pairs)
        check_shape([name for _, name in numbered], list[Words], source=str(path))
        return tuple(name for _, name in numbered)

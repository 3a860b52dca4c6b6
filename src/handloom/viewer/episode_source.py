"""Sources of episodes: any LeRobot dataset, and the finished episodes of a run that is not yet merged."""

import threading
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any

import pyarrow as pa

from handloom.dataset import DatasetReader
from handloom.dataset.episodes.archive import EpisodeArchive, read_archive
from handloom.dataset.episodes.episode_files import EXTRAS, EpisodeFiles
from handloom.dataset.episodes.episode_folder import FRAMES, EpisodeFolder, find_episodes, folder_name, video_file
from handloom.dataset.files.parquet_files import open_parquet, read_table
from handloom.dataset.files.reading import damage_named
from handloom.dataset.lerobot.dataset_reader import rows_per_file
from handloom.dataset.lerobot.info_file import described_feature
from handloom.dataset.lerobot.planned_episodes import FilePlace
from handloom.dataset.lerobot.tables import outcome_columns
from handloom.errors import FileError, InputError
from handloom.safe_paths import below
from handloom.viewer.episode_table import EpisodeTable, oddness_of, read_episode_table, table_of

PLAYABLE = ("h264", "av1", "vp9", "vp8")
"""Codecs that browsers can play; others are decoded on the server."""


@dataclass(frozen=True, kw_only=True)
class Camera:
    """A camera stream."""

    name: str
    """Name of the feature, e.g. ``observation.images.head``."""
    height: int
    width: int
    kind: str
    """``colour``, ``depth`` or ``segmentation``."""
    playable: bool
    """Whether a browser can play its videos; otherwise images are requested one by one."""


@dataclass(frozen=True, kw_only=True)
class VideoPlace:
    """Location of an episode's stream."""

    chunk: int
    file: int
    start: float
    """Time of its first frame in the file [s]."""


MOST_EPISODES = 10_000
"""Maximum number of episodes of a dataset shown on the page."""


class EpisodeSource(ABC):
    """A group of episodes that are shown together.

    Args:
        key: Name in addresses.
        name: Display name.
        root: Folder from which everything is read.
    """

    kind = "dataset"

    def __init__(self, key: str, name: str, root: Path) -> None:
        self.key, self.name, self.root = key, name, root
        self._lock = threading.Lock()
        self._read: tuple[Any, EpisodeTable] | None = None

    @property
    @abstractmethod
    def features(self) -> dict[str, dict[str, Any]]:
        """Features of each frame, as in ``meta/info.json``."""

    @property
    @abstractmethod
    def fps(self) -> int:
        """Frames per second."""

    @abstractmethod
    def stamp(self) -> Any:
        """Return a value that changes when episodes are added or removed."""

    @abstractmethod
    def _table(self) -> EpisodeTable: ...

    @abstractmethod
    def frames(self, index: int) -> pa.Table:
        """Return the rows of an episode."""

    @abstractmethod
    def video_place(self, index: int, camera: str) -> VideoPlace | None:
        """Return the location of a camera's stream; None if unknown."""

    @abstractmethod
    def video_file(self, camera: str, chunk: int, file: int) -> Path:
        """Return a video file, whose path is built only from numbers and the name of a known camera."""

    @abstractmethod
    def archive_folder(self, index: int) -> Path:
        """Return the folder of an episode's archive, if it has one."""

    def flags_root(self, index: int) -> Path:
        """Return the dataset beside which the flag of an episode is stored."""
        return self.root

    def oddness(self) -> tuple[list[float], list[str]]:
        """Return how unusual each episode is, and in which number; empty if unknown."""
        count = self.table().count
        return [0.0] * count, [""] * count

    def table(self) -> EpisodeTable:
        """Return the current episodes; they are read again only if they have changed."""
        with self._lock:
            stamp = self.stamp()
            if self._read is None or self._read[0] != stamp:
                self._read = stamp, self._table()
            return self._read[1]

    def check(self, index: int) -> int:
        """Return a valid episode index, or raise an error with the valid range."""
        count = self.table().count
        if not 0 <= index < count:
            raise InputError(f"{self.name}: episode {index} is out of range (0-{count - 1})")
        return index

    @cached_property
    def cameras(self) -> dict[str, Camera]:
        """Camera streams by name."""
        return {
            name: _camera(name, described)
            for name, described in self.features.items()
            if described.get("dtype") in ("video", "image")
        }

    def camera(self, number: int) -> Camera:
        """Return a camera by its index."""
        cameras = list(self.cameras.values())
        if not 0 <= number < len(cameras):
            raise InputError(f"{self.name}: camera {number} is out of range (0-{len(cameras) - 1})")
        return cameras[number]

    def has_archive(self, index: int) -> bool:
        """Return whether an episode can be replayed and rendered again."""
        return EpisodeFiles.at(self.archive_folder(self.check(index))).has("instance.json")

    def archive(self, index: int, *, check: bool = False) -> EpisodeArchive:
        """Read the archive of an episode: instance, commands, states, timeline, certificate."""
        if not self.has_archive(index):
            raise FileError(f"{self.name}: episode {index} has no archive; only datasets made by Handloom have them")
        return read_archive(self.archive_folder(index), check=check)


class DatasetSource(EpisodeSource):
    """A LeRobot v3 dataset from any writer: merged, rendered, downloaded."""

    def __init__(self, key: str, name: str, root: Path) -> None:
        self.reader = DatasetReader(root)
        count = self.reader.episode_count
        # A page with a million rows is useless, and the cost of a large dataset must stay bounded.
        name = f"{name}, the first {MOST_EPISODES:,} of {count:,} episodes" if count > MOST_EPISODES else name
        super().__init__(key, name, self.reader.root)
        self._odd: tuple[EpisodeTable, tuple[list[float], list[str]]] | None = None

    @property
    def features(self) -> dict[str, dict[str, Any]]:
        """Features of each frame, as in ``meta/info.json``."""
        return self.reader.info["features"]

    @property
    def fps(self) -> int:
        """Frames per second."""
        return self.reader.fps

    def stamp(self) -> Any:
        """Return a value that changes when the dataset is merged again or grows."""
        return tuple((file, file.stat().st_mtime_ns, file.stat().st_size) for file in self._files())

    def oddness(self) -> tuple[list[float], list[str]]:
        """Return how unusual each episode is, and in which number."""
        table = self.table()
        with self._lock:
            if self._odd is None or self._odd[0] is not table:
                self._odd = table, oddness_of(self._files(), table.columns["length"], self.features)
            return self._odd[1]

    def _files(self) -> list[Path]:
        files = sorted((self.root / "meta" / "episodes").glob("*/*.parquet"))
        if self.reader.episode_count <= MOST_EPISODES:
            return files
        return files[: -(-MOST_EPISODES // rows_per_file(self.root))]

    def _table(self) -> EpisodeTable:
        self.reader = DatasetReader(self.root)
        return read_episode_table(self._files())

    def frames(self, index: int) -> pa.Table:
        """Return the rows of an episode."""
        rows = self.table().rows
        places = list(zip(rows["data/chunk_index"], rows["data/file_index"], strict=True))
        place = places[self.check(index)]
        start = sum(rows["length"][places.index(place) : index])
        name = f"data/{FilePlace(chunk=place[0], file=place[1]).path('parquet')}"
        file = below(self.root, name, what=f"{self.root}/meta/episodes")
        return _read_rows(file, start, start + rows["length"][index])

    def video_place(self, index: int, camera: str) -> VideoPlace | None:
        """Return the location of a camera's stream; None for images stored in the table."""
        rows = self.table().rows
        found = [rows.get(f"videos/{camera}/{part}") for part in ("chunk_index", "file_index", "from_timestamp")]
        if any(column is None or column[index] is None for column in found):
            return None
        chunk, file, start = (column[index] for column in found if column is not None)
        return VideoPlace(chunk=int(chunk), file=int(file), start=float(start))

    def video_file(self, camera: str, chunk: int, file: int) -> Path:
        """Return a video file."""
        place = FilePlace(chunk=chunk, file=file).path("mp4")
        return below(self.root, f"videos/{self.cameras[camera].name}/{place}", what=f"{self.root}/meta/info.json")

    def archive_folder(self, index: int) -> Path:
        """Return the folder of an episode's archive, if it has one."""
        return self.root / EXTRAS / folder_name(index)


class RunSource(EpisodeSource):
    """The finished episodes of a run in progress."""

    kind = "run"

    def __init__(self, key: str, name: str, root: Path) -> None:
        super().__init__(key, name, root)
        self._folders: dict[Path, EpisodeFolder] = {}
        self._order: tuple[EpisodeFolder, ...] = ()

    @property
    def features(self) -> dict[str, dict[str, Any]]:
        """Features of each frame; empty before the first episode exists."""
        self.table()
        if not self._order:
            return {}
        return {feature.name: described_feature(feature, self.fps) for feature in self._order[0].table}

    @property
    def fps(self) -> int:
        """Frames per second."""
        self.table()
        return self._order[0].table.fps if self._order else 30

    def stamp(self) -> Any:
        """Return a value that changes when an episode is finished."""
        return find_episodes([self.root]) if self.root.is_dir() else ()

    def _table(self) -> EpisodeTable:
        for path in self.stamp():
            if path not in self._folders:
                self._folders[path] = EpisodeFolder.open(path)
        self._order = tuple(self._folders[path] for path in self.stamp())
        rows = [_row_of(folder) for folder in self._order]
        names = {name: None for row in rows for name in row}
        return table_of({"length": [], **{name: [row.get(name) for row in rows] for name in names}})

    def frames(self, index: int) -> pa.Table:
        """Return the rows of an episode."""
        return read_table(self._order[self.check(index)].path / FRAMES)

    def video_place(self, index: int, camera: str) -> VideoPlace | None:
        """Return the video file of a camera."""
        return VideoPlace(chunk=0, file=index, start=0.0)

    def video_file(self, camera: str, chunk: int, file: int) -> Path:
        """Return a video file."""
        return self._order[self.check(file)].path / video_file(self.cameras[camera].name)

    def flags_root(self, index: int) -> Path:
        """Return the dataset that an episode will be merged into."""
        run = self.root.parent
        return run / "dataset" if self._order[self.check(index)].outcome.success else run / "failures"

    def archive_folder(self, index: int) -> Path:
        """Return the folder of an episode, which contains its archive."""
        return self._order[self.check(index)].path


def _row_of(folder: EpisodeFolder) -> dict[str, Any]:
    return {"length": folder.length, **outcome_columns(folder.outcome)}


def _read_rows(path: Path, start: int, stop: int) -> pa.Table:
    """Read rows of a file; only the row groups that contain them are read."""
    with damage_named(path), open_parquet(path) as file:
        counts = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
        starts = list(accumulate(counts, initial=0))
        if stop > starts[-1]:
            raise FileError(
                f"{path} has {starts[-1]} rows, but the table of episodes expects {stop}; merge the dataset again"
            )
        groups = [g for g, count in enumerate(counts) if starts[g] < stop and starts[g] + count > start]
        return file.read_row_groups(groups, use_threads=False).slice(start - starts[groups[0]], stop - start)


def _camera(name: str, described: dict[str, Any]) -> Camera:
    info = described.get("info") or {}
    height, width = _size(described)
    depth = bool(info.get("is_depth_map", info.get("video.is_depth_map", False)))
    kind = "depth" if depth else "segmentation" if info.get("is_segmentation") else "colour"
    codec = str(info.get("video.codec", "h264"))
    playable = described.get("dtype") == "video" and kind == "colour" and codec in PLAYABLE
    return Camera(name=name, height=height, width=width, kind=kind, playable=playable)


def _size(described: dict[str, Any]) -> tuple[int, int]:
    """Return height and width; other writers name the axes and store the channels first."""
    shape, names = list(described.get("shape") or [0, 0]), described.get("names")
    if isinstance(names, list) and {"height", "width"} <= set(names) and len(names) == len(shape):
        return int(shape[names.index("height")]), int(shape[names.index("width")])
    if len(shape) == 3 and shape[0] in (1, 3) and shape[2] not in (1, 3):
        return int(shape[1]), int(shape[2])
    return int(shape[0]), int(shape[1]) if len(shape) > 1 else 0

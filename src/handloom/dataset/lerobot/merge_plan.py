"""Decide where every episode goes in a dataset, before a byte of it is written.

The plan depends on the sheets of the episodes and on the options only. Each file of the dataset then depends on the
plan and its episodes only, so that an interrupted merge can go on file by file and end with the same bytes.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import av
import numpy as np
import pyarrow as pa

from handloom.dataset.episodes.episode_folder import FRAMES, SHEET, EpisodeFolder, video_file
from handloom.dataset.files.durable import json_bytes, sha256_of
from handloom.dataset.files.parquet_files import open_parquet
from handloom.dataset.lerobot.feature import BOOKKEEPING, COLUMN_DTYPES, FeatureTable
from handloom.errors import FileError, InputError


@dataclass(frozen=True, kw_only=True)
class MergeOptions:
    """How a dataset is cut into files, and which optional columns it gets. The defaults are LeRobot's."""

    chunks_size: int = 1000
    """Most files per chunk folder."""
    data_files_size_in_mb: float = 100
    """Largest data file before compression [MiB]."""
    video_files_size_in_mb: float = 200
    """Largest video file [MiB]."""
    video_files_duration_s: float = 1000
    """Longest video file [s]. LeRobot compares frame times as float32 and allows 0.1 ms. Past 1024 s a float32 is
    coarser than that, and of a long episode (4 minutes and more) up to a tenth of the frames would be refused."""
    language: bool = False
    """Write the language columns that LeRobot >= 0.6 reads; older readers then refuse the dataset."""

    def __post_init__(self) -> None:
        """Refuse sizes that hold nothing."""
        sizes = (self.data_files_size_in_mb, self.video_files_size_in_mb, self.video_files_duration_s)
        if self.chunks_size < 1 or not min(sizes) > 0:
            raise InputError(f"sizes must be > 0, got {self}")


MEGABYTE = 1024 * 1024
BACKEND = "render_backend"
"""Column that says what drew the images of an episode."""
SEVERAL = "several"
"""Type of the robot of a dataset whose episodes have different ones."""


@dataclass(frozen=True, kw_only=True)
class FilePlace:
    """Which file of a kind something is in."""

    chunk: int = 0
    file: int = 0

    def following(self, chunks_size: int) -> "FilePlace":
        """Return the place of the next file."""
        if self.file + 1 < chunks_size:
            return FilePlace(chunk=self.chunk, file=self.file + 1)
        return FilePlace(chunk=self.chunk + 1, file=0)

    def path(self, ending: str) -> str:
        """Return the path below the folder of the kind, e.g. ``chunk-000/file-002.mp4``."""
        return f"chunk-{self.chunk:03d}/file-{self.file:03d}.{ending}"


@dataclass(frozen=True, kw_only=True)
class PlannedEpisode:
    """One episode and where it goes."""

    folder: Path
    """Where its files are now."""
    sheet_sha256: str
    """Hash of its sheet, which in turn has the hashes of its files."""
    episode_index: int
    """Number in the dataset, from 0 without gaps."""
    length: int
    """Number of frames."""
    first_frame: int
    """Number of its first frame in the dataset."""
    task_index: int
    """Number of its task."""
    data: FilePlace
    """Its data file."""
    videos: dict[str, tuple[FilePlace, int]]
    """Its video file by camera, and the number of its first frame there."""


@dataclass(frozen=True, kw_only=True)
class MergePlan:
    """A whole dataset on paper, or what is added to one."""

    options: MergeOptions
    table: FeatureTable
    episodes: tuple[PlannedEpisode, ...]
    tasks: tuple[str, ...]
    """In the order in which they first appear."""
    subtasks: tuple[str, ...]
    """In the order in which they first appear; empty when no episode has segments."""
    robot_type: str
    kept: tuple[str, ...] = ()
    """Hashes of the sheets of the episodes that the dataset has already; ``episodes`` come after them."""
    kept_lengths: tuple[int, ...] = ()
    """Their numbers of frames."""

    @property
    def episode_count(self) -> int:
        """Number of episodes, those that are kept among them."""
        return len(self.kept) + len(self.episodes)

    @property
    def lengths(self) -> list[int]:
        """Number of frames of every episode, those that are kept among them."""
        return [*self.kept_lengths, *(episode.length for episode in self.episodes)]

    @property
    def frame_count(self) -> int:
        """Number of frames of all episodes."""
        last = self.episodes[-1]
        return last.first_frame + last.length

    @property
    def fingerprint(self) -> str:
        """Hash of everything the bytes of the dataset depend on; not of where the episodes are."""
        return fingerprint(self.options, [*self.kept, *(episode.sheet_sha256 for episode in self.episodes)])


def fingerprint(options: MergeOptions, sheets: Sequence[str]) -> str:
    """Return the hash of everything the bytes of a dataset depend on, given the hashes of its episodes' sheets."""
    facts = {
        "options": asdict(options),
        "pyarrow": pa.__version__,
        "av": av.__version__,
        "episodes": list(sheets),
    }
    return hashlib.sha256(json_bytes(facts)).hexdigest()


@dataclass(frozen=True, kw_only=True)
class KeptEpisodes:
    """What a plan needs to know of the episodes that a dataset has already."""

    sheets: tuple[str, ...]
    """Hashes of their sheets."""
    lengths: tuple[int, ...]
    """Their numbers of frames."""
    frames: int
    tasks: tuple[str, ...]
    subtasks: tuple[str, ...]
    robot_type: str
    data: tuple[FilePlace, int]
    """The last data file and the frames in it."""
    videos: dict[str, tuple[FilePlace, int, int, str]]
    """By camera: the last video file, the bytes of the episodes' videos in it, their frames, and their header."""


class _FileFiller:
    """Puts one episode after the other into files, and turns to the next file when one is full."""

    def __init__(self, *, chunks_size: int, limits: Sequence[float]) -> None:
        self.place = FilePlace()
        self._chunks_size = chunks_size
        self._limits = np.array(limits, dtype=float)
        self._used = np.zeros(len(limits))
        self._kind: str | None = None

    def go_on(self, place: FilePlace, used: Sequence[float], kind: str = "") -> None:
        """Go on with a file that so much is in."""
        self.place, self._used, self._kind = place, np.array(used, dtype=float), kind

    def put(self, sizes: Sequence[float], kind: str = "") -> tuple[FilePlace, bool]:
        """Place something of the given sizes; return its file and whether it is the first there.

        Things of different kinds, such as videos with other parameter sets, never share a file.
        """
        first = self._kind is None
        if not first and (kind != self._kind or np.any(self._used + sizes > self._limits)):
            self.place, first = self.place.following(self._chunks_size), True
        self._used = np.array(sizes, dtype=float) + (0 if first else self._used)
        self._kind = kind
        return self.place, first


def plan_merge(
    folders: Iterable[Path], options: MergeOptions, *, outcome: bool = True, kept: KeptEpisodes | None = None
) -> MergePlan:
    """Plan a dataset of the episodes in the given folders, in the given order.

    Args:
        folders: Episode folders; those with the other outcome are passed over.
        options: How the dataset is cut into files.
        outcome: True for the successful episodes, False for the failed ones. They never share a dataset.
        kept: Episodes that the dataset has already, which the given ones come after.
    """
    planner: _Planner | None = None
    for folder in folders:
        episode = EpisodeFolder.open(folder)
        if episode.outcome.success != outcome:
            continue
        _check_length(episode)
        planner = planner or _Planner(episode, options, kept)
        planner.add(episode)
    if planner is None:
        raise InputError(f"there is no {'successful' if outcome else 'failed'} episode to merge")
    return planner.plan()


def plan_of_sheets(folders: Sequence[Path], options: MergeOptions) -> MergePlan:
    """Return the plan from which a dataset was made, reconstructed from the sheets in its ``extras/``."""
    episodes = [EpisodeFolder.open(folder) for folder in folders]
    planner = _Planner(episodes[0], options, None)
    for episode in episodes:
        planner.add(episode)
    return planner.plan()


def _check_length(episode: EpisodeFolder) -> None:
    """Refuse an episode whose sheet and frames differ in length, before memory is allocated for them."""
    path = episode.checked_file(FRAMES)
    with open_parquet(path) as file:
        if file.metadata.num_rows != episode.length:
            raise FileError(
                f"{path} has {file.metadata.num_rows} frames, its sheet {episode.length}; generate the episode again"
            )


class _Planner:
    """Builds the plan, one episode at a time."""

    def __init__(self, first: EpisodeFolder, options: MergeOptions, kept: KeptEpisodes | None) -> None:
        self._first = first
        self._table = first.table
        self._options = options
        self._episodes: list[PlannedEpisode] = []
        self._hashes: dict[str, Path | str] = {}
        self._tasks: dict[str, int] = {}
        self._subtasks: dict[str, int] = {}
        self._has_segments = False
        self._robots: set[str] = set()
        self._frames = 0
        self._row_bytes = sum(f.shape[0] * COLUMN_DTYPES[f.dtype]().itemsize for f in self._table.columns)
        self._row_bytes += sum(COLUMN_DTYPES[dtype]().itemsize for dtype in BOOKKEEPING.values())
        chunks = options.chunks_size
        self._data = _FileFiller(chunks_size=chunks, limits=[options.data_files_size_in_mb * MEGABYTE])
        limits = [options.video_files_size_in_mb * MEGABYTE, options.video_files_duration_s * self._table.fps]
        self._videos = {f.name: _FileFiller(chunks_size=chunks, limits=limits) for f in self._table.videos}
        self._video_ends = dict.fromkeys(self._videos, 0)
        self._kept = kept.sheets if kept else ()
        self._kept_lengths = kept.lengths if kept else ()
        if kept:
            self._go_on(kept)

    def _go_on(self, kept: KeptEpisodes) -> None:
        """Take the state that planning the kept episodes would have ended in."""
        self._hashes = {sheet: f"episode {i} of the dataset" for i, sheet in enumerate(kept.sheets)}
        self._tasks = {task: i for i, task in enumerate(kept.tasks)}
        self._subtasks = {label: i for i, label in enumerate(kept.subtasks)}
        self._has_segments = bool(kept.subtasks)
        self._robots = {kept.robot_type, ""} if kept.robot_type == SEVERAL else {kept.robot_type}
        self._frames = kept.frames
        place, frames = kept.data
        self._data.go_on(place, [frames * self._row_bytes])
        for name, filler in self._videos.items():
            place, size, frames, header = kept.videos[name]
            filler.go_on(place, [size, frames], header)
            self._video_ends[name] = frames

    def add(self, episode: EpisodeFolder) -> None:
        """Give the next episode its place."""
        if difference := self._table.difference(episode.table):
            raise FileError(f"{self._first.path} and {episode.path} cannot share a dataset: {difference}")
        before, now = (one.outcome.columns.get(BACKEND) for one in (self._first, episode))
        if before and now and before != now:
            raise FileError(
                f"{self._first.path} and {episode.path} cannot share a dataset: the images of one were drawn by "
                f"{before}, those of the other by {now}; draw one of the runs again with handloom render --backend"
            )
        digest = sha256_of(episode.path / SHEET)
        if digest in self._hashes:
            raise InputError(f"{self._hashes[digest]} and {episode.path} are the same episode; give it once")
        self._hashes[digest] = episode.path
        outcome, length = episode.outcome, episode.length
        self._robots.add(outcome.robot)
        self._has_segments |= bool(outcome.segments)
        for label in dict.fromkeys(outcome.labels(length)):
            self._subtasks.setdefault(label, len(self._subtasks))
        self._episodes.append(
            PlannedEpisode(
                folder=episode.path,
                sheet_sha256=digest,
                episode_index=len(self._kept) + len(self._episodes),
                length=length,
                first_frame=self._frames,
                task_index=self._tasks.setdefault(outcome.task, len(self._tasks)),
                data=self._data.put([length * self._row_bytes])[0],
                videos={name: self._video_place(episode, name) for name in self._videos},
            )
        )
        self._frames += length

    def _video_place(self, episode: EpisodeFolder, name: str) -> tuple[FilePlace, int]:
        """Return the file of a camera's stream and the number of its first frame there."""
        size = episode.sheet["files"][video_file(name)]["bytes"]
        place, first = self._videos[name].put([size, episode.length], episode.sheet["video_headers"][name])
        start = 0 if first else self._video_ends[name]
        self._video_ends[name] = start + episode.length
        return place, start

    def plan(self) -> MergePlan:
        """Return the finished plan."""
        return MergePlan(
            options=self._options,
            table=self._table,
            episodes=tuple(self._episodes),
            tasks=tuple(self._tasks),
            subtasks=tuple(self._subtasks) if self._has_segments else (),
            robot_type=next(iter(self._robots)) if len(self._robots) == 1 else SEVERAL,
            kept=self._kept,
            kept_lengths=self._kept_lengths,
        )

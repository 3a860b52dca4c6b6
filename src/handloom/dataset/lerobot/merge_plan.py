"""Plan the location of every episode in a dataset, before anything is written.

The plan depends only on the sheets of the episodes and on the options. Each file of the dataset then depends only on
the plan and its episodes, so that an interrupted merge can continue file by file and produce the same bytes.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path

import av
import numpy as np
import pyarrow as pa

from handloom.dataset.episodes import archive_pack
from handloom.dataset.episodes.episode_folder import EpisodeFolder, video_file
from handloom.dataset.files.durable import json_bytes
from handloom.dataset.files.shapes import DataEnd, PlanEnd, VideoEnd
from handloom.dataset.lerobot.feature import BOOKKEEPING, COLUMN_DTYPES, FeatureTable
from handloom.dataset.lerobot.planned_episodes import FilePlace, PlannedEpisode, PlannedEpisodes
from handloom.errors import FileError, InputError


@dataclass(frozen=True, kw_only=True)
class MergeOptions:
    """Division of a dataset into files, and its optional columns. The defaults are LeRobot's."""

    chunks_size: int = 1000
    """Maximum number of files per chunk folder."""
    data_files_size_in_mb: float = 100
    """Maximum size of a data file before compression [MiB]."""
    video_files_size_in_mb: float = 200
    """Maximum size of a video file [MiB]."""
    video_files_duration_s: float = 1000
    """Maximum length of a video file [s]. LeRobot compares frame times as float32 and allows 0.1 ms. Past 1024 s
    a float32 is coarser than that, and up to a tenth of the frames of a long episode (4 minutes and more) would
    be refused."""
    language: bool = False
    """Write the language columns that LeRobot >= 0.6 reads; older readers then refuse the dataset."""

    def __post_init__(self) -> None:
        """Refuse sizes that are not positive."""
        sizes = (self.data_files_size_in_mb, self.video_files_size_in_mb, self.video_files_duration_s)
        if self.chunks_size < 1 or not min(sizes) > 0:
            raise InputError(f"sizes must be > 0, got {self}")


MEGABYTE = 1024 * 1024
BACKEND = "render_backend"
"""Column with the renderer of an episode's images."""
LAYOUT = 2
"""Version of the file layout and statistics; datasets of another version are merged again when they grow."""
MOST_EPISODES = 10_000
"""Maximum number of episodes in a data file. Each is a row group, whose description takes some 40 kB of memory while
the file is written and 10 kB of the file's end, which every reader parses; Parquet allows 32,767 of them."""
SEVERAL = "several"
"""Robot type of a dataset whose episodes have different robots."""


@dataclass(frozen=True, kw_only=True)
class MergePlan:
    """The plan of a whole dataset, or of an addition to one."""

    options: MergeOptions
    table: FeatureTable
    episodes: PlannedEpisodes
    tasks: tuple[str, ...]
    """In the order in which they first appear."""
    subtasks: tuple[str, ...]
    """In the order in which they first appear; empty if no episode has segments."""
    robot_type: str
    columns: Mapping[str, frozenset[type]]
    """Columns of the outcomes and the types of their values."""
    fingerprint: str
    """Hash of all inputs of the dataset's bytes; the location of the episodes is not included."""
    end: PlanEnd
    """State from which planning more episodes continues."""
    kept: int = 0
    """Number of episodes already in the dataset; ``episodes`` come after them."""

    @cached_property
    def subtask_numbers(self) -> dict[str, int]:
        """Numbers of the sub-tasks by label."""
        return {label: number for number, label in enumerate(self.subtasks)}

    @property
    def episode_count(self) -> int:
        """Number of episodes, including the kept ones."""
        return self.kept + len(self.episodes)

    @property
    def frame_count(self) -> int:
        """Number of frames of all episodes."""
        last = self.episodes[-1]
        return last.first_frame + last.length


def writer_hash(options: MergeOptions) -> str:
    """Return the hash of all inputs of a dataset's bytes except its episodes."""
    facts = {
        "options": asdict(options),
        "pyarrow": pa.__version__,
        "av": av.__version__,
        "layout": LAYOUT,
        "episodes_per_pack": archive_pack.PACK,
    }
    return hashlib.sha256(json_bytes(facts)).hexdigest()


def chained(start: str, links: Iterable[str]) -> str:
    """Return the hash of a hash and further ones in sequence, so that the chain can be extended from the result."""
    for link in links:
        start = hashlib.sha256(f"{start}{link}".encode()).hexdigest()
    return start


@dataclass(frozen=True, kw_only=True)
class KeptEpisodes:
    """Facts about the episodes already in a dataset that a plan needs."""

    count: int
    frames: int
    tasks: tuple[str, ...]
    subtasks: tuple[str, ...]
    robot_type: str
    fingerprint: str
    end: PlanEnd
    data_episodes: int
    """Number of episodes in the last data file."""


class _FileFiller:
    """Assigns episodes to files one after another, and starts the next file when one is full."""

    def __init__(self, *, chunks_size: int, limits: Sequence[float]) -> None:
        self.place = FilePlace()
        self._chunks_size = chunks_size
        self._limits = np.array(limits, dtype=float)
        self._used = np.zeros(len(limits))
        self._kind: str | None = None
        self._full = False

    def go_on(self, place: FilePlace, used: Sequence[float], kind: str = "") -> None:
        """Continue a file that already contains this much."""
        self.place, self._used, self._kind = place, np.array(used, dtype=float), kind

    def put(self, sizes: Sequence[float], kind: str = "") -> tuple[FilePlace, bool]:
        """Place an item of the given sizes; return its file and whether it is the first one in it.

        Items of different kinds, such as videos with other parameter sets, never share a file.
        """
        first = self._kind is None
        if not first and (self._full or kind != self._kind or np.any(self._used + sizes > self._limits)):
            self.place, first = self.place.following(self._chunks_size), True
        self._used = np.array(sizes, dtype=float) + (0 if first else self._used)
        self._kind, self._full = kind, False
        return self.place, first

    def turn(self) -> None:
        """Close the current file."""
        self._full = True


def plan_merge(
    folders: Iterable[Path], options: MergeOptions, *, outcome: bool = True, kept: KeptEpisodes | None = None
) -> MergePlan:
    """Plan a dataset of the episodes in the given folders, in the given order.

    Args:
        folders: Episode folders; those with the other outcome are skipped.
        options: Division of the dataset into files.
        outcome: True for the successful episodes, False for the failed ones. They never share a dataset.
        kept: Episodes already in the dataset, before the given ones.
    """
    planner: _Planner | None = None
    for folder in folders:
        episode = EpisodeFolder.open(folder)
        if episode.outcome.success != outcome:
            continue
        planner = planner or _Planner(episode, options, kept)
        planner.add(episode)
    if planner is None:
        raise InputError(f"there is no {'successful' if outcome else 'failed'} episode to merge")
    return planner.plan()


def plan_of_sheets(folders: Sequence[Path], options: MergeOptions, parts: Sequence[int] = ()) -> MergePlan:
    """Return the plan from which a dataset was made, reconstructed from the sheets in its ``extras/``.

    Args:
        folders: The archives, in order.
        options: Its division into files.
        parts: Numbers of episodes of the datasets from whose files it was made; no file contains episodes of two of
            them.
    """
    planner = _Planner(EpisodeFolder.open(folders[0]), options, None)
    begins = set(accumulate(parts))
    for number, folder in enumerate(folders):
        if number in begins:
            planner.turn_to_new_files()
        planner.add(EpisodeFolder.open(folder))
    return planner.plan()


class _Planner:
    """Builds the plan, one episode at a time."""

    def __init__(self, first: EpisodeFolder, options: MergeOptions, kept: KeptEpisodes | None) -> None:
        self._first = first
        self._table = first.table
        self._options = options
        self._kept = kept.count if kept else 0
        self._episodes = PlannedEpisodes(first=self._kept, cameras=[feature.name for feature in self._table.videos])
        self._columns: dict[str, set[type]] = {}
        self._fingerprint, self._attempts, self._last_attempt = writer_hash(options), "", -1
        self._tasks: dict[str, int] = {}
        self._subtasks: dict[str, int] = {}
        self._has_segments = False
        self._robots: set[str] = set()
        self._frames = 0
        self._row_bytes = sum(f.shape[0] * COLUMN_DTYPES[f.dtype]().itemsize for f in self._table.columns)
        self._row_bytes += sum(COLUMN_DTYPES[dtype]().itemsize for dtype in BOOKKEEPING.values())
        chunks = options.chunks_size
        self._data = _FileFiller(chunks_size=chunks, limits=[options.data_files_size_in_mb * MEGABYTE, MOST_EPISODES])
        limits = [options.video_files_size_in_mb * MEGABYTE, options.video_files_duration_s * self._table.fps]
        self._videos = {f.name: _FileFiller(chunks_size=chunks, limits=limits) for f in self._table.videos}
        self._data_end = DataEnd(chunk=0, file=0, frames=0)
        self._video_ends: dict[str, VideoEnd] = {}
        if kept:
            self._go_on(kept)

    def _go_on(self, kept: KeptEpisodes) -> None:
        """Restore the state in which planning the kept episodes would have ended."""
        self._tasks = {task: i for i, task in enumerate(kept.tasks)}
        self._subtasks = {label: i for i, label in enumerate(kept.subtasks)}
        self._has_segments = bool(kept.subtasks)
        self._robots = {kept.robot_type, ""} if kept.robot_type == SEVERAL else {kept.robot_type}
        self._frames, self._fingerprint = kept.frames, kept.fingerprint
        self._attempts, self._last_attempt = kept.end["attempts"], kept.end["last_attempt"]
        self._data_end = data = kept.end["data"]
        used = [data["frames"] * self._row_bytes, kept.data_episodes]
        self._data.go_on(FilePlace(chunk=data["chunk"], file=data["file"]), used)
        for name, filler in self._videos.items():
            self._video_ends[name] = end = kept.end["videos"][name]
            place = FilePlace(chunk=end["chunk"], file=end["file"])
            filler.go_on(place, [end["bytes"], end["frames"]], end["header"])

    def turn_to_new_files(self) -> None:
        """Start new files with the next episode, no matter how full the current ones are."""
        for filler in (self._data, *self._videos.values()):
            filler.turn()

    def add(self, episode: EpisodeFolder) -> None:
        """Place the next episode."""
        if difference := self._table.difference(episode.table):
            raise FileError(f"{self._first.path} and {episode.path} cannot share a dataset: {difference}")
        before, now = (one.outcome.columns.get(BACKEND) for one in (self._first, episode))
        if before and now and before != now:
            raise FileError(
                f"{self._first.path} and {episode.path} cannot share a dataset: the images of one were rendered by "
                f"{before}, those of the other by {now}; render one of the runs again with handloom render --backend"
            )
        outcome, length = episode.outcome, episode.length
        self._fingerprint = chained(self._fingerprint, [episode.sheet_sha256])
        self._attempts = chained(self._attempts, [str(outcome.index)])
        self._last_attempt = max(self._last_attempt, outcome.index)
        self._robots.add(outcome.robot)
        self._has_segments |= bool(outcome.segments)
        for label in dict.fromkeys(outcome.labels(length)):
            self._subtasks.setdefault(label, len(self._subtasks))
        for name, value in outcome.columns.items():
            self._columns.setdefault(name, set()).update(() if value is None else (type(value),))
        self._episodes.append(
            PlannedEpisode(
                folder=episode.path,
                sheet_sha256=bytes.fromhex(episode.sheet_sha256),
                extra_bytes=(_size_of(episode, episode.archive_files()), _size_of(episode, episode.label_files())),
                episode_index=self._kept + len(self._episodes),
                length=length,
                first_frame=self._frames,
                task_index=self._tasks.setdefault(outcome.task, len(self._tasks)),
                data=self._data_place(length),
                videos={name: self._video_place(episode, name) for name in self._videos},
            )
        )
        self._frames += length

    def _data_place(self, length: int) -> FilePlace:
        place, first = self._data.put([length * self._row_bytes, 1])
        before = 0 if first else self._data_end["frames"]
        self._data_end = DataEnd(chunk=place.chunk, file=place.file, frames=before + length)
        return place

    def _video_place(self, episode: EpisodeFolder, name: str) -> tuple[FilePlace, int]:
        """Return the file of a camera's stream and the index of its first frame there."""
        size, header = episode.sheet["files"][video_file(name)]["bytes"], episode.sheet["video_headers"][name]
        place, first = self._videos[name].put([size, episode.length], header)
        end = self._video_ends.get(name)
        start, stored, first_length = (
            (0, 0, episode.length) if first or end is None else (end["frames"], end["bytes"], end["first_length"])
        )
        self._video_ends[name] = VideoEnd(
            chunk=place.chunk,
            file=place.file,
            bytes=stored + size,
            frames=start + episode.length,
            first_length=first_length,
            header=header,
        )
        return place, start

    def plan(self) -> MergePlan:
        """Return the finished plan."""
        self._episodes.refuse_duplicates()
        return MergePlan(
            options=self._options,
            table=self._table,
            episodes=self._episodes,
            tasks=tuple(self._tasks),
            subtasks=tuple(self._subtasks) if self._has_segments else (),
            robot_type=next(iter(self._robots)) if len(self._robots) == 1 else SEVERAL,
            columns={name: frozenset(found) for name, found in self._columns.items()},
            fingerprint=self._fingerprint,
            end=PlanEnd(
                data=self._data_end,
                videos=self._video_ends,
                attempts=self._attempts,
                last_attempt=self._last_attempt,
            ),
            kept=self._kept,
        )


def _size_of(episode: EpisodeFolder, names: Iterable[str]) -> int:
    """Return the space taken by some files of an episode [bytes], from the sheet if it lists them."""
    listed = episode.sheet["files"]
    return sum(listed[name]["bytes"] if name in listed else episode.files.size(name) for name in names)

"""Check a LeRobot v3 dataset rule by rule, without torch; problems for readers are reported as sentences."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from handloom.dataset.episodes.archive import ARCHIVE_FILES
from handloom.dataset.episodes.archive_pack import ARCHIVES, LABELS, first_of, packs_in
from handloom.dataset.episodes.episode_files import EpisodeFiles
from handloom.dataset.episodes.episode_folder import SHEET, EpisodeFolder, folder_name
from handloom.dataset.files.durable import PARTIAL
from handloom.dataset.files.parquet_files import column_field, numpy_column, open_parquet
from handloom.dataset.files.reading import damage_named, read_json
from handloom.dataset.files.replacing import RECEIPT
from handloom.dataset.files.shapes import MergeReceipt
from handloom.dataset.lerobot.dataset_reader import DatasetEpisode, DatasetReader
from handloom.dataset.lerobot.feature import BOOKKEEPING
from handloom.dataset.lerobot.file_list import FILE_LIST, changed_files, refuse_strange_files
from handloom.dataset.lerobot.info_file import DATA_PATH, VIDEO_PATH
from handloom.dataset.lerobot.statistics import STATISTICS
from handloom.dataset.lerobot.tables import outcome_columns
from handloom.dataset.video.video_codec import codec_named
from handloom.dataset.video.video_reader import read_packets
from handloom.errors import FileError

KEYFRAME_DISTANCE = 2
"""Maximum distance between keyframes; reading a single frame then costs at most two."""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A violation of the format."""

    file: str
    """Path within the dataset."""
    problem: str
    """Description of the fault."""

    def __str__(self) -> str:
        return f"{self.file}: {self.problem}"


def check_layout(root: Path) -> tuple[Fault, ...]:
    """Check every rule of the format over a whole dataset.

    Args:
        root: Folder of the dataset.

    Returns:
        All faults found; empty for a sound dataset. Checks that depend on something missing are skipped.
    """
    try:
        refuse_strange_files(root)
        dataset = DatasetReader(root)
        _ = (dataset.table, dataset.episodes, dataset.tasks, dataset.subtasks)
    except FileError as error:
        return (Fault(file="meta", problem=f"cannot be read: {error}"),)
    found: list[Fault] = []
    for rule in _RULES:
        try:
            with damage_named(root):
                found += rule(dataset)
        except FileError as error:
            found.append(Fault(file=rule.__name__.removeprefix("_check_"), problem=str(error)))
    return tuple(found)


def _check_info(dataset: DatasetReader) -> Iterator[Fault]:
    """The numbers in info.json match the episodes."""
    info, episodes = dataset.info, dataset.episodes
    wanted = {
        "total_episodes": len(episodes),
        "total_frames": sum(episode.length for episode in episodes),
        "total_tasks": len(dataset.tasks),
        "splits": {"train": f"0:{len(episodes)}"},
        "data_path": DATA_PATH,
        "video_path": VIDEO_PATH if dataset.table.videos else None,
    }
    for name, value in wanted.items():
        if info.get(name) != value:
            yield Fault(file="meta/info.json", problem=f"{name} is {info.get(name)!r}, should be {value!r}")
    for name in ("robot_type", "chunks_size", "data_files_size_in_mb", "video_files_size_in_mb"):
        if name not in info:
            yield Fault(file="meta/info.json", problem=f"{name} is missing")
    for name, dtype in BOOKKEEPING.items():
        if info["features"].get(name) != {"dtype": dtype, "shape": [1], "names": None}:
            yield Fault(file="meta/info.json", problem=f"the column {name} must be {dtype} of shape [1]")


def _check_videos_described(dataset: DatasetReader) -> Iterator[Fault]:
    """The description of every stream is consistent."""
    for feature in dataset.table.videos:
        codec = codec_named(feature.codec or "")
        stored = dataset.info["features"][feature.name]["info"]
        wanted = {
            "video.height": feature.shape[0],
            "video.width": feature.shape[1],
            "video.channels": feature.shape[2],
            "video.codec": codec.stored_name,
            "video.pix_fmt": codec.pixel_format,
            "video.fps": dataset.fps,
            "has_audio": False,
        }
        for name, value in wanted.items():
            if stored.get(name) != value:
                problem = f"{feature.name}: {name} is {stored.get(name)!r}, should be {value!r}"
                yield Fault(file="meta/info.json", problem=problem)


def _check_tasks(dataset: DatasetReader) -> Iterator[Fault]:
    """Tasks are numbered consecutively and stored so that pandas makes them the index."""
    for name, column in (("tasks", "task_index"), ("subtasks", "subtask_index")):
        path = dataset.root / "meta" / f"{name}.parquet"
        if name == "subtasks" and column not in dataset.info["features"]:
            continue
        with open_parquet(path) as file:
            if file.read([column], use_threads=False)[column].to_pylist() != list(range(file.metadata.num_rows)):
                yield _fault(dataset, path, f"{column} must count from 0")
            if b"pandas" not in (file.schema_arrow.metadata or {}):
                yield _fault(dataset, path, "the schema does not declare the pandas index column")


def _check_episodes(dataset: DatasetReader) -> Iterator[Fault]:
    """Each episode starts where the previous one ends, and its task is known."""
    frame = 0
    for number, episode in enumerate(dataset.episodes):
        file = "meta/episodes"
        if episode.first_frame != frame:
            yield Fault(file=file, problem=f"episode {number} starts at {episode.first_frame}, not at {frame}")
        if not set(episode.tasks) <= set(dataset.tasks):
            yield Fault(file=file, problem=f"episode {number} has a task that tasks.parquet does not list")
        frame += episode.length


def _check_episode_columns(dataset: DatasetReader) -> Iterator[Fault]:
    """The episode table has every column of the format."""
    wanted = {"episode_index", "tasks", "length", "dataset_from_index", "dataset_to_index"}
    wanted |= {f"{part}/{name}_index" for part in ("data", "meta/episodes") for name in ("chunk", "file")}
    for feature in dataset.table.videos:
        ends = ("chunk_index", "file_index", "from_timestamp", "to_timestamp")
        wanted |= {f"videos/{feature.name}/{end}" for end in ends}
    for name in [*(feature.name for feature in dataset.table), *BOOKKEEPING]:
        wanted |= {f"stats/{name}/{statistic}" for statistic in STATISTICS}
    for path in sorted((dataset.root / "meta" / "episodes").glob("*/*.parquet")):
        with open_parquet(path) as file:
            names = file.schema_arrow.names
            if missing := sorted(wanted - set(names)):
                yield _fault(dataset, path, f"columns are missing: {', '.join(missing)}")
                continue
            if len(set(names)) < len(names):
                yield _fault(dataset, path, "two columns have the same name")
            yield from (_fault(dataset, path, problem) for problem in _end_problems(dataset, file))


def _end_problems(dataset: DatasetReader, file: pq.ParquetFile) -> Iterator[str]:
    """Yield episodes whose end does not match the start of the next."""
    cameras = [f"videos/{feature.name}" for feature in dataset.table.videos]
    names = ["episode_index", "length", "dataset_from_index", "dataset_to_index"]
    names += [f"{camera}/{end}_timestamp" for camera in cameras for end in ("from", "to")]
    for row in file.read(columns=names, use_threads=False).to_pylist():
        if row["dataset_to_index"] - row["dataset_from_index"] != row["length"]:
            yield f"dataset_to_index of episode {row['episode_index']} does not match its end"
        for camera in cameras:
            duration = row[f"{camera}/to_timestamp"] - row[f"{camera}/from_timestamp"]
            if abs(duration - row["length"] / dataset.fps) > 1e-9:
                yield f"{camera}/to_timestamp of episode {row['episode_index']} does not match its end"


def _check_data(dataset: DatasetReader) -> Iterator[Fault]:
    """The data files contain exactly the frames of their episodes, one row group each."""
    expected = {feature.name: column_field(feature).type for feature in dataset.table.columns}
    expected |= {name: pa.float32() if dtype == "float32" else pa.int64() for name, dtype in BOOKKEEPING.items()}
    for place, members in groupby(dataset.episodes, key=lambda episode: episode.data):
        path = dataset.root / "data" / place.path("parquet")
        episodes = list(members)
        with open_parquet(path) as file:
            schema = file.schema_arrow
            for name, kind in expected.items():
                if name not in schema.names or schema.field(name).type != kind:
                    yield _fault(dataset, path, f"the column {name} must be {kind}")
                    return
            if cameras := [feature.name for feature in dataset.table.videos if feature.name in schema.names]:
                yield _fault(dataset, path, f"videos have no column here, but {', '.join(cameras)} does")
            lengths = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
            if lengths != [episode.length for episode in episodes]:
                yield _fault(dataset, path, "row groups and episodes do not match one to one")
                continue
            for group, episode in enumerate(episodes):
                rows = file.read_row_group(group, columns=list(expected), use_threads=False)
                yield from (_fault(dataset, path, problem) for problem in _row_problems(dataset, episode, rows))
            yield from (_fault(dataset, path, problem) for problem in _storage_problems(file))


def _row_problems(dataset: DatasetReader, episode: DatasetEpisode, rows: pa.Table) -> Iterator[str]:
    """Yield faults in the numbers of an episode's frames."""
    frames = np.arange(episode.length)
    wanted = {
        "timestamp": (frames / dataset.fps).astype(np.float32),
        "frame_index": frames,
        "episode_index": np.full(episode.length, episode.index),
        "index": frames + episode.first_frame,
    }
    for name, values in wanted.items():
        if not np.array_equal(numpy_column(rows, name, BOOKKEEPING[name])[:, 0], values):
            yield f"{name} of episode {episode.index} violates the format"
    for feature in dataset.table.columns:
        if not np.isfinite(numpy_column(rows, feature.name, feature.dtype)).all():
            yield f"{feature.name} of episode {episode.index} contains numbers that are not finite"
    own_tasks = {number for number, task in enumerate(dataset.tasks) if task in episode.tasks}
    if not set(rows["task_index"].to_pylist()) <= own_tasks:
        yield f"task_index of episode {episode.index} does not point to its task"


def _storage_problems(file: pq.ParquetFile) -> Iterator[str]:
    """Yield faults in the storage of a data file."""
    chunks = [file.metadata.row_group(0).column(column) for column in range(file.metadata.num_columns)]
    if other := {chunk.compression for chunk in chunks} - {"SNAPPY"}:
        yield f"compression is {', '.join(sorted(other))}, should be SNAPPY"


def _check_videos(dataset: DatasetReader) -> Iterator[Fault]:
    """Every video contains exactly its episodes' frames, at their times; each episode starts with a keyframe."""
    for feature in dataset.table.videos:
        codec = codec_named(feature.codec or "")
        for place, members in groupby(dataset.episodes, key=lambda episode: episode.videos[feature.name][0]):
            path = dataset.root / "videos" / feature.name / place.path("mp4")
            episodes = list(members)
            if not path.is_file():
                yield _fault(dataset, path, "is missing; render its episodes again")
                continue
            try:
                sheet = read_packets(path)
            except FileError as error:
                yield _fault(dataset, path, str(error))
                continue
            stored = (sheet.height, sheet.width, sheet.codec, sheet.pixel_format)
            if stored != (*feature.shape[:2], codec.stored_name, codec.pixel_format):
                yield _fault(dataset, path, f"is stored as {stored}, which contradicts meta/info.json")
            if sheet.times != tuple(Fraction(i, dataset.fps) for i in range(len(sheet.times))):
                yield _fault(dataset, path, f"frames are not exactly 1/{dataset.fps} s apart, starting at 0")
            if sheet.reordered:
                yield _fault(dataset, path, "frames are stored out of order (B-frames)")
            yield from (
                _fault(dataset, path, problem)
                for problem in _cut_problems(dataset, feature.name, episodes, sheet.keyframes)
            )


def _cut_problems(
    dataset: DatasetReader, camera: str, episodes: list[DatasetEpisode], keyframes: tuple[bool, ...]
) -> Iterator[str]:
    """Yield faults in the start and end times of episodes in a video."""
    frame = 0
    for episode in episodes:
        start = episode.videos[camera][1]
        if abs(start - frame / dataset.fps) > 1e-9:
            yield f"episode {episode.index} should start at {frame / dataset.fps} s, meta/episodes says {start}"
        if frame < len(keyframes) and not keyframes[frame]:
            yield f"episode {episode.index} does not start with a keyframe"
        frame += episode.length
    if frame != len(keyframes):
        yield f"has {len(keyframes)} frames, its episodes {frame}"
    keys = np.flatnonzero([*keyframes, True])
    if keys[0] != 0 or np.diff(keys).max(initial=0) > KEYFRAME_DISTANCE:
        yield f"keyframes are more than {KEYFRAME_DISTANCE} frames apart"


def _check_statistics(dataset: DatasetReader) -> Iterator[Fault]:
    """stats.json has every statistic of every feature, in the right shape."""
    for name in [*(feature.name for feature in dataset.table), *BOOKKEEPING]:
        stored = dataset.statistics.get(name)
        if stored is None or set(stored) != set(STATISTICS):
            yield Fault(file="meta/stats.json", problem=f"{name} needs {', '.join(STATISTICS)}")
            continue
        described = dataset.info["features"][name]
        shape = (described["shape"][2], 1, 1) if described["dtype"] == "video" else (described["shape"][0],)
        for statistic, value in stored.items():
            if np.shape(value) != ((1,) if statistic == "count" else shape):
                yield Fault(file="meta/stats.json", problem=f"{name}/{statistic} must have the shape {shape}")


def _check_extras(dataset: DatasetReader) -> Iterator[Fault]:
    """Archives, if any, are complete for every episode, and there are no foreign or unfinished files."""
    if (extras := dataset.root / "extras").is_dir():
        for row in dataset.episodes:
            folder = extras / folder_name(row.index)
            yield from (_fault(dataset, folder, problem) for problem in _archive_problems(dataset, row, folder))
        own = {folder_name(row.index) for row in dataset.episodes}
        packs = [*packs_in(extras, ARCHIVES), *packs_in(extras, LABELS)]
        ours = {pack for pack in packs if first_of(pack) < len(own)}
        chunks = {pack.parent for pack in ours}
        foreign = [path for path in extras.iterdir() if path.name not in own and path not in chunks]
        foreign += [path for chunk in chunks for path in chunk.iterdir() if path not in ours]
        for path in sorted(foreign):
            yield _fault(dataset, path, "does not belong to any episode; remove it")
    for path in sorted(dataset.root.rglob(f"*{PARTIAL}")):
        yield _fault(dataset, path, "is unfinished; merge again")


def _archive_problems(dataset: DatasetReader, row: DatasetEpisode, folder: Path) -> Iterator[str]:
    """Yield faults in the archive of an episode, without replaying it."""
    try:
        files = EpisodeFiles.at(folder)
        if not files.has(SHEET):
            yield f"lacks {', '.join(name for name in (*ARCHIVE_FILES, SHEET) if not files.has(name))}"
            return
        episode = EpisodeFolder.open(folder)
    except FileError as error:
        yield str(error)
        return
    # An episode that does not come from a simulation has no archive; its sheet records this.
    if missing := [name for name in (*episode.archive_files(), *episode.label_files()) if not files.has(name)]:
        yield f"lacks {', '.join(missing)}"
    if episode.length != row.length:
        yield f"its sheet says {episode.length} frames, the episode table {row.length}"
    if difference := dataset.table.difference(episode.table):
        yield f"its sheet describes other features: {difference}"
    told = {"tasks": list(row.tasks), **row.columns}
    for name, value in outcome_columns(episode.outcome).items():
        if told.get(name) != value:
            yield f"its sheet says that {name} is {value!r}, the episode table {told.get(name)!r}"


def _check_files(dataset: DatasetReader) -> Iterator[Fault]:
    """No file of the dataset has changed since the merge."""
    if (dataset.root / RECEIPT).is_file():
        read_json(dataset.root / RECEIPT, MergeReceipt)
        if not (dataset.root / FILE_LIST).is_file():
            yield Fault(file=FILE_LIST, problem="is missing; restore it or merge again")
    for name, problem in changed_files(dataset.root).items():
        yield Fault(file=name, problem=f"{problem}; restore it or merge again")


def _fault(dataset: DatasetReader, path: Path, problem: str) -> Fault:
    """Return a fault of a file or folder."""
    return Fault(file=str(path.relative_to(dataset.root)), problem=problem)


_RULES: tuple[Callable[[DatasetReader], Any], ...] = (
    _check_info,
    _check_videos_described,
    _check_tasks,
    _check_episodes,
    _check_episode_columns,
    _check_data,
    _check_videos,
    _check_statistics,
    _check_extras,
    _check_files,
)

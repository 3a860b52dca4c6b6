"""The two parquet tables of a dataset: one row per frame, one row per episode."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from handloom.dataset.episodes.episode_folder import FRAMES, EpisodeFolder
from handloom.dataset.episodes.episode_outcome import EpisodeOutcome
from handloom.dataset.files.parquet_files import bookkeeping_field, column_field, numpy_column, open_parquet
from handloom.dataset.files.reading import damage_named
from handloom.dataset.lerobot.feature import BOOKKEEPING, COLUMN_DTYPES
from handloom.dataset.lerobot.merge_plan import MergePlan
from handloom.dataset.lerobot.planned_episodes import FilePlace, PlannedEpisode
from handloom.dataset.lerobot.statistics import QUANTILES, STATISTICS, column_statistics
from handloom.errors import FileError

SUBTASK_INDEX = "subtask_index"
STATS = "stats"
"""Key of the statistics in a row of the episode table."""

# The Arrow types LeRobot 0.6 declares for its language columns.
_ROLE, _CONTENT = pa.field("role", pa.string(), nullable=False), pa.field("content", pa.string())
_STYLE, _CAMERA = pa.field("style", pa.string()), pa.field("camera", pa.string())
_TIME = pa.field("timestamp", pa.float32(), nullable=False)
_TOOLS = pa.field("tool_calls", pa.list_(pa.json_(pa.string())))
LANGUAGE_COLUMNS = {
    "language_persistent": pa.list_(pa.struct([_ROLE, _CONTENT, _STYLE, _TIME, _CAMERA, _TOOLS])),
    "language_events": pa.list_(pa.struct([_ROLE, _CONTENT, _STYLE, _CAMERA, _TOOLS])),
}


def frame_schema(plan: MergePlan) -> pa.Schema:
    """Return the schema of the data files."""
    fields = [*map(column_field, plan.table.columns), *map(bookkeeping_field, BOOKKEEPING)]
    if plan.subtasks:
        fields.append(pa.field(SUBTASK_INDEX, pa.int64()))
    if plan.options.language:
        fields += [pa.field(name, kind) for name, kind in LANGUAGE_COLUMNS.items()]
    return pa.schema(fields)


def frame_rows(
    plan: MergePlan, planned: PlannedEpisode, episode: EpisodeFolder, schema: pa.Schema | None = None
) -> pa.Table:
    """Return the rows of one episode as stored in a data file; ``schema`` is that of the file, if known.

    Raises:
        FileError: Its frames have changed, or their number differs from its sheet.
    """
    path = episode.path / FRAMES
    with open_parquet(path, content=pa.BufferReader(episode.checked_bytes(FRAMES))) as file:
        # Checked before memory is allocated for the number of frames in the sheet.
        if file.metadata.num_rows != episode.length:
            raise FileError(
                f"{path} has {file.metadata.num_rows} frames, but its sheet says {episode.length}; generate the "
                f"episode again"
            )
        stored = file.read(use_threads=False)
    added, wanted = added_columns(plan, planned, episode), frame_schema(plan) if schema is None else schema
    with damage_named(path):
        arrays = [added[name] if name in added else stored.column(name) for name in wanted.names]
        return pa.Table.from_arrays(arrays, schema=wanted)


def counted_dtypes(plan: MergePlan) -> dict[str, str]:
    """Return the numeric columns of the data files, in the order of their statistics, and their types."""
    dtypes = {feature.name: feature.dtype for feature in plan.table.columns}
    return dtypes | BOOKKEEPING | ({SUBTASK_INDEX: "int64"} if plan.subtasks else {})


def counted_values(dtypes: Mapping[str, str], rows: pa.Table) -> dict[str, NDArray[Any]]:
    """Return the numeric columns of some rows of a data file, each ``(frames, n)``."""
    return {name: numpy_column(rows, name, dtype) for name, dtype in dtypes.items()}


def counted_statistics(
    plan: MergePlan, planned: PlannedEpisode, episode: EpisodeFolder
) -> dict[str, dict[str, list[Any]]]:
    """Return the statistics of an episode's numeric columns, by name."""
    found = {**episode.statistics, **_bookkeeping_statistics(plan, planned)}
    if plan.subtasks:
        labels = _subtask_numbers(plan, episode)
        found[SUBTASK_INDEX] = column_statistics(labels[:, None]).as_lists()
    return found


def _subtask_numbers(plan: MergePlan, episode: EpisodeFolder) -> NDArray[np.int64]:
    """Return the sub-task index of every frame."""
    numbers = plan.subtask_numbers
    return np.array([numbers[label] for label in episode.labels], np.int64)


def added_columns(plan: MergePlan, planned: PlannedEpisode, episode: EpisodeFolder) -> dict[str, pa.Array]:
    """Return the columns of an episode in a data file other than its features, by name."""
    count, first = planned.length, planned.first_frame
    frames = np.arange(count, dtype=np.int64)
    added = {
        "timestamp": pa.array((frames / plan.table.fps).astype(np.float32)),
        "frame_index": pa.array(frames),
        "episode_index": pa.array(np.full(count, planned.episode_index, np.int64)),
        "index": pa.array(frames + first),
        "task_index": pa.array(np.full(count, planned.task_index, np.int64)),
    }
    if plan.subtasks:
        added[SUBTASK_INDEX] = pa.array(_subtask_numbers(plan, episode), pa.int64())
    if plan.options.language:
        added |= _language(episode)
    return added


def _language(episode: EpisodeFolder) -> dict[str, pa.Array]:
    """Return the language columns: every sub-task with its start time, and the words from the labels.

    These add the wordings of the instruction, the plan, and questions with answers, which are events.
    """
    segments, count = episode.outcome.segments, episode.length
    told = [("assistant", s.label, "subtask", s.start / episode.table.fps) for s in segments]
    said = episode.words()
    told += [("user", wording["text"], "task_aug", 0.0) for wording in said.get("wordings", ())]
    if said.get("plan"):
        plan = "\n".join(f"{number}. {step}" for number, step in enumerate(said["plan"], start=1))
        told.append(("assistant", plan, "plan", 0.0))
    names = ("role", "content", "style", "timestamp")
    fields = {name: [row[k] for row in told] for k, name in enumerate(names)}
    return {
        "language_persistent": _repeated(LANGUAGE_COLUMNS["language_persistent"], fields, len(told), count),
        "language_events": _events(episode, said.get("questions", ())),
    }


def _events(episode: EpisodeFolder, questions: Iterable[dict[str, Any]]) -> pa.Array:
    """Return the column of events: each question with its answer, on the frame that it is about."""
    camera = next((feature.name for feature in episode.table.videos if feature.is_colour), None)
    rows: list[list[dict[str, Any]]] = [[] for _ in range(episode.length)]
    for asked in questions:
        both = (("user", asked["question"]), ("assistant", json.dumps({"answer": asked["answer"]})))
        for role, content in both if camera and 0 <= asked["frame"] < episode.length else ():
            rows[asked["frame"]].append(
                {"role": role, "content": content, "style": "vqa", "camera": camera, "tool_calls": None}
            )
    kind = LANGUAGE_COLUMNS["language_events"]
    flat = [event for events in rows for event in events]
    fields = {name: [event[name] for event in flat] for name in ("role", "content", "style", "camera")}
    arrays = [
        pa.array(fields[field.name], field.type) if field.name in fields else pa.nulls(len(flat), field.type)
        for field in kind.value_type
    ]
    structs = pa.StructArray.from_arrays(arrays, fields=list(kind.value_type))
    offsets = np.concatenate([[0], np.cumsum([len(events) for events in rows])])
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), structs, type=kind)


def _repeated(kind: pa.ListType, fields: dict[str, list[Any]], length: int, count: int) -> pa.Array:
    """Return a column with the same list of structs in each of ``count`` rows; fields not given are null."""
    arrays = [
        pa.array(fields[field.name] * count, field.type)
        if field.name in fields
        else pa.nulls(length * count, field.type)
        for field in kind.value_type
    ]
    structs = pa.StructArray.from_arrays(arrays, fields=list(kind.value_type))
    return pa.ListArray.from_arrays(pa.array(np.arange(count + 1) * length, pa.int32()), structs, type=kind)


ROWS_PER_GROUP = 100
"""Number of rows held in memory at a time; with statistics a row has a few kilobytes."""

ROWS_PER_FILE = 1000
"""Episodes per file of the table: this many are rewritten when episodes are added, and read to find one."""

_OUTCOME = {
    "attempt_index": pa.int64(),
    "success": pa.bool_(),
    "failure_reason": pa.string(),
    "seed": pa.int64(),
    "robot": pa.string(),
    "duration_s": pa.float64(),
    "attempts": pa.int64(),
}
_SEGMENTS = pa.list_(pa.struct([("label", pa.string()), ("start", pa.int64()), ("stop", pa.int64())]))
_SCALARS = {bool: pa.bool_(), int: pa.int64(), float: pa.float64(), str: pa.string()}


def column_types(plan: MergePlan) -> dict[str, pa.DataType]:
    """Return the types of the outcomes' own columns over all episodes; int mixed with float becomes float."""
    types = {}
    for name, found in plan.columns.items():
        if len(found) > 1 and found != {int, float}:
            kinds_found = ", ".join(sorted(kind.__name__ for kind in found))
            raise FileError(f"episode column {name!r} holds {kinds_found}; use one type")
        types[name] = _SCALARS[float if float in found else next(iter(found), str)]
    return types


def episode_schema(plan: MergePlan, extra: dict[str, pa.DataType]) -> pa.Schema:
    """Return the schema of the episode table."""
    numbers = ("length", "data/chunk_index", "data/file_index", "dataset_from_index", "dataset_to_index")
    fields: list[tuple[str, Any]] = [("episode_index", pa.int64()), ("tasks", pa.list_(pa.string()))]
    fields += [(name, pa.int64()) for name in numbers]
    for video in plan.table.videos:
        fields += [(f"videos/{video.name}/{name}", pa.int64()) for name in ("chunk_index", "file_index")]
        fields += [(f"videos/{video.name}/{name}", pa.float64()) for name in ("from_timestamp", "to_timestamp")]
    for feature in plan.table:
        image = feature.is_video
        fields += [(f"stats/{feature.name}/{s}", _statistic_type(feature.dtype, s, image=image)) for s in STATISTICS]
    for name, dtype in BOOKKEEPING.items():
        fields += [(f"stats/{name}/{s}", _statistic_type(dtype, s, image=False)) for s in STATISTICS]
    fields += [(f"meta/episodes/{name}", pa.int64()) for name in ("chunk_index", "file_index")]
    fields += [*_OUTCOME.items(), ("segments", _SEGMENTS), *extra.items()]
    return pa.schema(fields)


def episode_groups(
    plan: MergePlan, schema: pa.Schema, episodes: Sequence[PlannedEpisode], place: FilePlace
) -> Iterator[pa.Table]:
    """Yield the rows of some episodes in groups for the file at ``place``."""
    for start in range(0, len(episodes), ROWS_PER_GROUP):
        group = episodes[start : start + ROWS_PER_GROUP]
        yield rows_table(schema, [episode_row(plan, e, EpisodeFolder.open(e.folder), place) for e in group])


def rows_table(schema: pa.Schema, rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Return rows of the episode table, from ``episode_row``, as a table."""
    arrays: list[pa.Array] = []
    for field in schema:
        if field.name.startswith("stats/"):
            feature, _, name = field.name.removeprefix("stats/").rpartition("/")
            values = [row[STATS].get(feature, {}).get(name) for row in rows]
        else:
            values = [row.get(field.name) for row in rows]
        arrays.append(pa.array(values, field.type))
    return pa.Table.from_arrays(arrays, schema=schema)


def outcome_columns(outcome: EpisodeOutcome) -> dict[str, Any]:
    """Return the columns for the outcome of an episode."""
    return {
        "tasks": [outcome.task],
        "attempt_index": outcome.index,
        "success": outcome.success,
        "failure_reason": outcome.failure_reason,
        "seed": outcome.seed,
        "robot": outcome.robot,
        "attempts": outcome.attempts,
        "segments": [{"label": s.label, "start": s.start, "stop": s.stop} for s in outcome.segments],
        **outcome.columns,
    }


def episode_row(
    plan: MergePlan,
    planned: PlannedEpisode,
    episode: EpisodeFolder,
    place: FilePlace,
    statistics: Mapping[str, Mapping[str, list[Any]]] | None = None,
) -> dict[str, Any]:
    """Return one row of the table by column name, and its statistics by feature under ``STATS``.

    Args:
        plan: The dataset.
        planned: Location of the episode in the dataset.
        episode: The episode.
        place: The file of the table for the row.
        statistics: Result of ``counted_statistics``, if known.
    """
    outcome, fps = episode.outcome, plan.table.fps
    row: dict[str, Any] = {
        "episode_index": planned.episode_index,
        "length": planned.length,
        "data/chunk_index": planned.data.chunk,
        "data/file_index": planned.data.file,
        "dataset_from_index": planned.first_frame,
        "dataset_to_index": planned.first_frame + planned.length,
        "meta/episodes/chunk_index": place.chunk,
        "meta/episodes/file_index": place.file,
        "duration_s": episode.duration_s,
        **outcome_columns(outcome),
    }
    for name, (video, start) in planned.videos.items():
        row[f"videos/{name}/chunk_index"], row[f"videos/{name}/file_index"] = video.chunk, video.file
        row[f"videos/{name}/from_timestamp"] = start / fps
        row[f"videos/{name}/to_timestamp"] = (start + planned.length) / fps
    row[STATS] = statistics or counted_statistics(plan, planned, episode)
    return row


def _bookkeeping_statistics(plan: MergePlan, planned: PlannedEpisode) -> dict[str, dict[str, list[Any]]]:
    """Return the statistics of the columns that the format adds."""
    length, fps = planned.length, plan.table.fps
    return {
        "timestamp": _clock_statistics(length, fps),
        "frame_index": _clock_statistics(length, 0),
        **renumbered_statistics(planned.episode_index, planned.first_frame, length, planned.task_index),
    }


def renumbered_statistics(
    episode_index: int, first_frame: int, length: int, task_index: int
) -> dict[str, dict[str, list[Any]]]:
    """Return the statistics of an episode's columns that depend on the preceding episodes of the dataset."""
    return {
        "episode_index": _constant_statistics(episode_index, length),
        "index": _consecutive_statistics(first_frame, length),
        "task_index": _constant_statistics(task_index, length),
    }


@lru_cache(maxsize=10_000)
def _clock_statistics(length: int, fps: int) -> dict[str, list[Any]]:
    """Return the statistics of the times of an episode, or of its frame indices if ``fps`` is 0."""
    frames = np.arange(length)
    values = (frames / fps).astype(np.float32) if fps else frames
    return column_statistics(values[:, None]).as_lists()


def _consecutive_statistics(first: int, length: int) -> dict[str, list[Any]]:
    """Return the statistics of consecutive integers, shifted from those that start at zero."""
    plain = _clock_statistics(length, 0)
    places = np.array(list(QUANTILES.values())) * (length - 1)
    below = np.floor(places)
    share, low = places - below, below + first
    levels = np.where(share >= 0.5, np.minimum(low + 1, first + length - 1) - (1 - share), low + share)
    moved = {name: [float(level)] for name, level in zip(QUANTILES, levels, strict=True)}
    return {
        **plain,
        "min": [first],
        "max": [first + length - 1],
        "mean": [plain["mean"][0] + first],
        **moved,
    }


def _constant_statistics(value: int, length: int) -> dict[str, list[Any]]:
    """Return the statistics of a constant column: those of one frame, with the count of all frames."""
    levels = {name: [float(value)] for name in QUANTILES}
    return {"min": [value], "max": [value], "mean": [float(value)], "std": [0.0], "count": [length], **levels}


def _statistic_type(dtype: str, statistic: str, *, image: bool) -> pa.DataType:
    """Return the type of a statistic's column: nested for images, integers where they are exact."""
    if statistic == "count":
        return pa.list_(pa.int64())
    if image:
        return pa.list_(pa.list_(pa.list_(pa.float64())))
    exact = statistic in ("min", "max") and not np.issubdtype(COLUMN_DTYPES[dtype], np.floating)
    return pa.list_(pa.int64() if exact else pa.float64())

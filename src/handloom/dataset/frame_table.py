"""The rows of the data files: an episode's columns plus the numbers that place it in the dataset."""

from typing import Any

import numpy as np
import pyarrow as pa

from handloom.dataset.episode_folder import FRAMES, EpisodeFolder
from handloom.dataset.feature import BOOKKEEPING
from handloom.dataset.merge_plan import MergePlan, PlannedEpisode
from handloom.dataset.parquet_files import bookkeeping_field, column_field, read_table
from handloom.dataset.reading import damage_named

SUBTASK_INDEX = "subtask_index"

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


def frame_rows(plan: MergePlan, planned: PlannedEpisode) -> pa.Table:
    """Return the rows of one episode as they stand in a data file."""
    episode = EpisodeFolder.open(planned.folder)
    path = episode.checked_file(FRAMES)
    stored = read_table(path)
    count, first = planned.length, planned.first_frame
    added = {
        "episode_index": pa.array(np.full(count, planned.episode_index, np.int64)),
        "index": pa.array(np.arange(first, first + count, dtype=np.int64)),
        "task_index": pa.array(np.full(count, planned.task_index, np.int64)),
    }
    if plan.subtasks:
        numbers = {label: number for number, label in enumerate(plan.subtasks)}
        labels = [numbers[label] for label in episode.outcome.labels(count)]
        added[SUBTASK_INDEX] = pa.array(labels, pa.int64())
    if plan.options.language:
        added |= _language(episode)
    schema = frame_schema(plan)
    with damage_named(path):
        arrays = [added[name] if name in added else stored.column(name) for name in schema.names]
        return pa.Table.from_arrays(arrays, schema=schema)


def _language(episode: EpisodeFolder) -> dict[str, pa.Array]:
    """Return the language columns: every sub-task with the time it starts, the same on each frame; no events."""
    segments, count = episode.outcome.segments, episode.length
    fields = {
        "role": ["assistant"] * len(segments),
        "content": [segment.label for segment in segments],
        "style": ["subtask"] * len(segments),
        "timestamp": [segment.start / episode.table.fps for segment in segments],
    }
    return {
        "language_persistent": _repeated(LANGUAGE_COLUMNS["language_persistent"], fields, len(segments), count),
        "language_events": _repeated(LANGUAGE_COLUMNS["language_events"], {}, 0, count),
    }


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

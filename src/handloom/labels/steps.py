"""What is being done in each frame: the sub-task, how far it is, and which arms act."""

from bisect import bisect_right

import numpy as np
import pyarrow as pa

from handloom.dataset.episodes.archive import segments_of
from handloom.labels import arrow_rows
from handloom.values import MARK, EpisodeRecord

RESTING = ("wait", "pour__water__succ", "artpreplan", MARK)
"""Skills during which an arm holds still, and stretches that belong to no arm."""
NO_STEP = -1
"""Step of a frame that belongs to no sub-task."""


def step_columns(record: EpisodeRecord) -> dict[str, pa.Array]:
    """Return sub-task, its number in the episode, the share of it that is over, and the acting arms of each frame."""
    kept = record.kept
    step = np.full(len(kept), NO_STEP, np.int64)
    progress = np.zeros(len(kept), np.float32)
    segments = segments_of(record)
    for number, segment in enumerate(segments):
        inside = np.arange(segment.start, segment.stop)
        step[inside] = number
        progress[inside] = (inside - segment.start) / (segment.stop - segment.start)
    texts = pa.array([segment.label for segment in segments] + [None], pa.string())
    acting = acting_arms(record)
    flat = pa.array([name for arms in acting for name in arms], pa.string())
    return {
        "subtask": texts.take(pa.array(np.where(step == NO_STEP, len(segments), step))),
        "step": pa.array(step),
        "progress": pa.array(progress),
        "acting": arrow_rows.lists([len(arms) for arms in acting], flat),
    }


def acting_arms(record: EpisodeRecord) -> list[tuple[str, ...]]:
    """Return the arms that carry out a skill in each frame of the demonstration, as ``robot/arm``."""
    busy: list[set[str]] = [set() for _ in range(record.frames)]
    for span in record.timeline:
        if span.skill in RESTING or not span.robot:
            continue
        for frame in range(max(span.start, 0), min(span.end, record.frames)):
            busy[frame].add(f"{span.robot}/{span.arm}" if span.arm else span.robot)
    return [tuple(sorted(busy[frame])) for frame in record.kept]


def step_at(starts: list[int], frame: int) -> int:
    """Return the number of the last step that starts at or before a frame; -1 before the first."""
    return bisect_right(starts, frame) - 1

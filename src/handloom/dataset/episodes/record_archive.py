"""An episode record as an archive and an outcome, and back."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.dataset.episodes.archive import EpisodeArchive
from handloom.dataset.episodes.episode_outcome import EpisodeOutcome, Scalar, Segment
from handloom.dataset.files.reading import check_shape
from handloom.dataset.files.shapes import Timeline
from handloom.errors import FileError
from handloom.values import MARK, Check, EpisodeRecord, Failure, FunnelStage, SkillSpan, TaskInstance

STATES = "integration"
"""Name of the integration states in ``states.npz``."""


def archive_of_record(record: EpisodeRecord) -> EpisodeArchive:
    """Return the archive of an episode that was recorded on this machine."""
    timeline = {
        "model_hash": record.model_hash,
        "spans": [asdict(span) for span in record.timeline],
        "goal": [asdict(term) for term in record.goal],
        "left_out": record.left_out,
        "failure": None if record.failure is None else asdict(record.failure),
    }
    return EpisodeArchive.made_here(
        instance=json.loads(record.instance.to_json()),
        commands={"asked": record.asked, "applied": record.applied},
        states={STATES: record.states},
        timeline=json.loads(json.dumps(timeline)),
    )


def record_of_archive(archive: EpisodeArchive) -> EpisodeRecord:
    """Return the record that an archive was made of; numbers are equal bit for bit.

    Raises:
        FileError: The archive does not hold a record; what it does hold fits together when this returns.
    """
    timeline = archive.timeline
    check_shape(timeline, Timeline, source="timeline.json")
    applied = _rows(archive.commands, "applied")
    frames, failure = len(applied), timeline["failure"]
    try:
        return EpisodeRecord(
            instance=TaskInstance.from_json(json.dumps(archive.instance)),
            states=_rows(archive.states, STATES, count=frames + 1),
            asked=_rows(archive.commands, "asked", count=frames),
            applied=applied,
            model_hash=timeline["model_hash"],
            timeline=tuple(_span(span) for span in timeline["spans"]),
            goal=tuple(Check(**term) for term in timeline.get("goal", ())),
            left_out=tuple((start, stop) for start, stop in timeline.get("left_out", ())),
            failure=None if failure is None else Failure(**{**failure, "stage": FunnelStage(failure["stage"])}),
        )
    except (TypeError, ValueError, KeyError) as error:
        raise FileError(f"the archive does not hold an episode record: {error}; generate the episode again") from error


def _rows(arrays: Mapping[str, NDArray[Any]], name: str, *, count: int | None = None) -> Array:
    """Return an array (count, n) of an archive, or say that it is something else."""
    array = arrays.get(name)
    if array is None or array.dtype != np.float64 or array.ndim != 2 or (count is not None and len(array) != count):
        found = "missing" if array is None else f"{array.dtype} of shape {array.shape}"
        wanted = "a table" if count is None else f"a table of {count} rows"
        raise FileError(f"the archive does not hold an episode record: {name!r} must be {wanted}, it is {found}")
    return array


def outcome_of_record(
    record: EpisodeRecord, archive: EpisodeArchive, *, attempts: int = 1, columns: Mapping[str, Scalar] | None = None
) -> EpisodeOutcome:
    """Return what the episode table says about a recorded episode.

    Args:
        record: The episode.
        archive: Its archive; the hash of its states becomes the column ``state_hash``.
        attempts: Tries of the expert within the episode.
        columns: Further columns.
    """
    instance, failure = record.instance, record.failure
    return EpisodeOutcome(
        index=instance.episode,
        task=instance.instruction,
        success=record.success,
        failure_reason=None if failure is None else failure.reason,
        seed=instance.seed,
        robot="+".join(robot.robot for robot in instance.robots),
        attempts=attempts,
        segments=segments_of(record),
        columns={
            "task_name": instance.task,
            "recovery": any(span.kind == "mistake" for span in record.timeline),
            "failure_stage": None if failure is None else str(failure.stage),
            "failure_detail": None if failure is None else failure.detail,
            "state_hash": archive.certificate.hashes[f"states/{STATES}"],
            **(columns or {}),
        },
    )


def segments_of(record: EpisodeRecord) -> tuple[Segment, ...]:
    """Return the sub-tasks of a demonstration; where two arms work at once, their labels are joined by ``and``.

    Where a person named a stretch while recording, its name stands alone.
    """
    active: list[list[str]] = [[] for _ in range(record.frames)]
    for span in sorted(record.timeline, key=lambda span: (span.robot, span.arm, span.start)):
        label = span.instruction or " ".join([span.skill, *span.objects])
        for frame in range(max(span.start, 0), min(span.end, record.frames)):
            if label not in active[frame]:
                active[frame].append(label)
    for span in record.timeline:
        if span.skill == MARK:
            active[span.start : span.end] = [[span.instruction]] * len(active[span.start : span.end])
    kept = [active[frame] for frame in record.kept]
    segments, start = [], 0
    for label, run in groupby(_joined(labels) for labels in kept):
        stop = start + len(list(run))
        if label:
            segments.append(Segment(label=label, start=start, stop=stop))
        start = stop
    return tuple(segments)


def _joined(labels: list[str]) -> str:
    """Return one label: sentences become one sentence, other labels are joined as they are."""
    if not all(label.endswith(".") for label in labels):
        return " and ".join(labels)
    first, *others = (label.removesuffix(".") for label in labels) if labels else ("",)
    return " and ".join([first, *(label[:1].lower() + label[1:] for label in others)]) + ("." if labels else "")


def _span(value: dict[str, Any]) -> SkillSpan:
    """Return a span as it was before it became JSON."""
    checks = tuple(Check(**check) for check in value["checks"])
    return SkillSpan(**{**value, "objects": tuple(value["objects"]), "checks": checks})

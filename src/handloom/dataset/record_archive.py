"""An episode record as an archive and an outcome, and back."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from itertools import groupby
from typing import Any

from handloom.dataset.archive import EpisodeArchive
from handloom.dataset.episode_outcome import EpisodeOutcome, Scalar, Segment
from handloom.errors import FileError
from handloom.values import Check, EpisodeRecord, Failure, SkillSpan, Stage, TaskInstance

STATES = "integration"
"""Name of the integration states in ``states.npz``."""


def archive_of_record(record: EpisodeRecord) -> EpisodeArchive:
    """Return the archive of an episode that was recorded on this machine."""
    return EpisodeArchive.made_here(
        instance=json.loads(record.instance.to_json()),
        commands={"asked": record.asked, "applied": record.applied},
        states={STATES: record.states},
        timeline={
            "model_hash": record.model_hash,
            "spans": [asdict(span) for span in record.timeline],
            "left_out": record.left_out,
            "failure": None if record.failure is None else asdict(record.failure),
        },
    )


def record_of_archive(archive: EpisodeArchive) -> EpisodeRecord:
    """Return the record that an archive was made of; numbers are equal bit for bit."""
    try:
        failure = archive.timeline["failure"]
        return EpisodeRecord(
            instance=TaskInstance.from_json(json.dumps(archive.instance)),
            states=archive.states[STATES],
            asked=archive.commands["asked"],
            applied=archive.commands["applied"],
            model_hash=archive.timeline["model_hash"],
            timeline=tuple(_span(span) for span in archive.timeline["spans"]),
            left_out=tuple((start, stop) for start, stop in archive.timeline.get("left_out", ())),
            failure=None if failure is None else Failure(**{**failure, "stage": Stage(failure["stage"])}),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise FileError(f"the archive does not hold an episode record: {error}; generate the episode again") from error


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
    """Return the sub-tasks of a demonstration; where two arms work at once, their labels are joined by ``and``."""
    active: list[list[str]] = [[] for _ in range(record.frames)]
    for span in sorted(record.timeline, key=lambda span: (span.robot, span.arm, span.start)):
        label = span.instruction or " ".join([span.skill, *span.objects])
        for frame in range(max(span.start, 0), min(span.end, record.frames)):
            if label not in active[frame]:
                active[frame].append(label)
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

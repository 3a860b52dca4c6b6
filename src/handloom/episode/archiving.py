"""Records to archives and back: what a replay or a later rendering needs, and nothing else."""

import json

import numpy as np
from pydantic import TypeAdapter

from handloom.dataset import EpisodeArchive
from handloom.errors import FileError
from handloom.values import EpisodeRecord, Failure, SkillSpan, TaskInstance

_SPANS = TypeAdapter(tuple[SkillSpan, ...])
_FAILURE = TypeAdapter(Failure | None)


def archive_of(record: EpisodeRecord) -> EpisodeArchive:
    """Return the archive of a record, certified on this machine."""
    return EpisodeArchive.made_here(
        instance=json.loads(record.instance.to_json()),
        commands={"asked": record.asked, "applied": record.applied},
        states={"integration": record.states},
        timeline={
            "spans": _SPANS.dump_python(record.timeline, mode="json"),
            "failure": _FAILURE.dump_python(record.failure, mode="json"),
        },
    )


def record_of(archive: EpisodeArchive) -> EpisodeRecord:
    """Return the record an archive was made of."""
    try:
        return EpisodeRecord(
            instance=TaskInstance.from_json(json.dumps(archive.instance)),
            states=np.asarray(archive.states["integration"], dtype=np.float64),
            asked=np.asarray(archive.commands["asked"], dtype=np.float64),
            applied=np.asarray(archive.commands["applied"], dtype=np.float64),
            timeline=_SPANS.validate_python(archive.timeline["spans"], strict=False),
            failure=_FAILURE.validate_python(archive.timeline["failure"], strict=False),
        )
    except (KeyError, ValueError) as error:
        raise FileError(
            f"an archive lacks a part that this version needs: {error}; generate the episode again"
        ) from error

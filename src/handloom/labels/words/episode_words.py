"""Everything that is said of one episode, as ``words.json`` holds it."""

from dataclasses import asdict
from typing import Any

from handloom.dataset.episodes.archive import segments_of
from handloom.labels.entities import Entities
from handloom.labels.motion import EpisodeMotion
from handloom.labels.touches import grasps_of
from handloom.labels.words.description import describe, relation_sentences
from handloom.labels.words.questions import questions
from handloom.labels.words.references import reference
from handloom.labels.words.things import SceneFacts
from handloom.labels.words.wordings import wordings


def episode_words(motion: EpisodeMotion, entities: Entities) -> dict[str, Any]:
    """Return the words of an episode as plain JSON values.

    Args:
        motion: The motion of the episode, with contacts.
        entities: Its entities.
    """
    record = motion.record
    first, last = SceneFacts(motion, entities, 0), SceneFacts(motion, entities, motion.frames - 1)
    known = {thing.name: reference(first, thing.name) for thing in first.things}
    return {
        "version": 1,
        "scene": describe(first, record.instance),
        "references": {name: None if found is None else found.text for name, found in known.items()},
        "relations": {"first": relation_sentences(first), "last": relation_sentences(last)},
        "questions": questions(first, last, record, grasps_of(motion)),
        "plan": [segment.label for segment in segments_of(record)],
        "wordings": [asdict(wording) for wording in wordings(first, record)],
    }

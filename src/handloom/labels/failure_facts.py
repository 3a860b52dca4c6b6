"""Where a failed attempt went wrong, and which stretch corrects which mistake: facts for the episode table."""

import json

from handloom.dataset.episodes.episode_outcome import Scalar
from handloom.labels.motion import motion_of
from handloom.labels.touches import grasps_of
from handloom.scene import Scene
from handloom.values import MARK, EpisodeRecord, SkillSpan

FAILURE_FRAME, FAILURE_SKILL, PAIRS = "failure_frame", "failure_skill", "mistake_pairs"


def failure_facts(scene: Scene, record: EpisodeRecord) -> dict[str, Scalar]:
    """Return further columns of the episode table; none for an episode in which nothing went wrong.

    ``failure_frame`` is the frame of the demonstration in which an attempt that failed went wrong: the last one in
    which the object of the skill that failed was held, if it was lost on the way, else the last of that skill.
    ``failure_skill`` names it; empty when time ran out. ``mistake_pairs`` is JSON: a list of stretches, first frame and
    one past the last, of each mistake and of the skill that made up for it.

    Args:
        scene: The scene of the record's instance; its state is overwritten.
        record: What happened.
    """
    facts: dict[str, Scalar] = {}
    if record.failure is not None:
        failed = _failed_span(record)
        facts[FAILURE_SKILL] = record.failure.skill or (failed.skill if failed else "")
        facts[FAILURE_FRAME] = _shown(record, _moment(scene, record, failed))
    if pairs := mistake_pairs(record):
        facts[PAIRS] = json.dumps(pairs)
    return facts


def _failed_span(record: EpisodeRecord) -> SkillSpan | None:
    """Return the skill that failed; the last one where all went well and the goal was missed all the same."""
    spans = [span for span in record.timeline if span.skill != MARK]
    failed = [span for span in spans if not span.success and span.kind != "mistake"]
    return max(failed or spans, key=lambda span: (span.end, span.start), default=None)


def _moment(scene: Scene, record: EpisodeRecord, failed: SkillSpan | None) -> int:
    """Return the frame of the recording in which it went wrong."""
    last = record.frames - 1
    if failed is None:
        return last
    end = min(max(failed.end - 1, 0), last)
    kept = record.kept
    for grasp in reversed(grasps_of(motion_of(scene, record, contacts=True))):
        let_go = int(kept[min(grasp.stop, len(kept)) - 1])
        if grasp.object in failed.objects and failed.start <= let_go < end:
            return let_go
    return end


def _shown(record: EpisodeRecord, frame: int) -> int:
    """Return the number of a frame in the demonstration, in which some are left out."""
    return max(int((record.kept <= frame).sum()) - 1, 0)


def mistake_pairs(record: EpisodeRecord) -> list[dict[str, object]]:
    """Return every mistake with the recovery of the same arm that follows it, in frames of the demonstration."""
    pairs: list[dict[str, object]] = []
    for mistake in (span for span in record.timeline if span.kind == "mistake"):
        after = [
            span
            for span in record.timeline
            if span.kind == "recovery" and (span.robot, span.arm) == (mistake.robot, mistake.arm)
            and span.start >= mistake.end
        ]  # fmt: skip
        if after:
            recovery = min(after, key=lambda span: span.start)
            pairs.append(
                {
                    "skill": mistake.skill,
                    "objects": list(mistake.objects),
                    "mistake": [_shown(record, mistake.start), _shown(record, mistake.end - 1) + 1],
                    "recovery": [_shown(record, recovery.start), _shown(record, recovery.end - 1) + 1],
                }
            )
    return pairs

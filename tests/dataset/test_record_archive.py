"""A record survives its archive bit for bit, and its outcome tells its story."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from handloom.dataset import archive_of_record, outcome_of_record, read_archive, record_of_archive
from handloom.dataset.episodes.archive import segments_of, write_archive
from handloom.values import Check, EpisodeRecord, Failure, FunnelStage, RobotInstance, SkillSpan, TaskInstance


def span(arm: str, start: int, end: int, instruction: str = "", **changes: object) -> SkillSpan:
    facts = {"robot": "fr3", "skill": "pick", "objects": ("cube",), "success": True}
    return SkillSpan(**{**facts, "arm": arm, "start": start, "end": end, "instruction": instruction, **changes})


def sample() -> EpisodeRecord:
    rng = np.random.default_rng(0)
    instance = TaskInstance(
        task="pick_cube",
        seed=11,
        episode=4,
        instruction="pick the red cube",
        robots=(RobotInstance(name="robot", robot="fr3", position=(0.1, 1 / 3, 0), quat=(1, 0, 0, 0)),),
        objects=(),
        cameras=(),
    )
    asked = rng.normal(size=(6, 3))
    asked[2] = np.nan
    check = Check(name="lifted", arguments={"object": "cube", "height": 0.1})
    return EpisodeRecord(
        instance=instance,
        states=rng.normal(size=(7, 9)),
        asked=asked,
        applied=rng.normal(size=(6, 4)),
        timeline=(span("left", 0, 4, "pick the cube", checks=(check,)), span("left", 4, 6)),
        stage_seconds={"plan": 1.0},
    )


def test_a_record_comes_back_bit_for_bit(tmp_path: Path) -> None:
    record = sample()
    write_archive(tmp_path, archive_of_record(record))
    back = record_of_archive(read_archive(tmp_path))
    assert back.instance == record.instance
    assert back.timeline == record.timeline
    for name in ("states", "asked", "applied"):
        np.testing.assert_array_equal(getattr(back, name), getattr(record, name))
    failure = Failure(stage=FunnelStage.REACH, reason="no_ik", detail="joint 3", counts={"ik": 4})
    assert record_of_archive(archive_of_record(replace(record, failure=failure))).failure == failure


def test_wall_clock_times_are_not_archived(tmp_path: Path) -> None:
    record = sample()
    later = replace(record, stage_seconds={"plan": 2.0})
    assert archive_of_record(record).certificate == archive_of_record(later).certificate


def test_the_outcome_tells_success_failure_and_the_hash_of_the_states() -> None:
    record = sample()
    archive = archive_of_record(record)
    outcome = outcome_of_record(record, archive, attempts=2, columns={"grasp": "top"})
    assert (outcome.index, outcome.seed, outcome.robot, outcome.attempts) == (4, 11, "fr3", 2)
    assert outcome.success
    assert outcome.columns["state_hash"] == archive.certificate.hashes["states/integration"]
    assert outcome.columns["grasp"] == "top"
    failed = replace(record, failure=Failure(stage=FunnelStage.PLAN, reason="no_path", detail="table in the way"))
    outcome = outcome_of_record(failed, archive_of_record(failed))
    assert (outcome.success, outcome.failure_reason, outcome.columns["failure_stage"]) == (False, "no_path", "plan")


def test_arms_at_work_together_share_a_segment() -> None:
    spans = [span("left", 0, 4, "hold the box"), span("right", 2, 6, "open the lid"), span("right", 7, 8)]
    record = replace(sample(), timeline=tuple(spans), applied=np.zeros((8, 4)))
    segments = [(s.label, s.start, s.stop) for s in segments_of(record)]
    assert segments == [
        ("hold the box", 0, 2),
        ("hold the box and open the lid", 2, 4),
        ("open the lid", 4, 6),
        ("pick cube", 7, 8),
    ]


def test_sentences_of_two_arms_become_one_sentence() -> None:
    timeline = (span("left", 0, 4, "Pick up the can."), span("right", 2, 6, "Open the lid."))
    labels = [s.label for s in segments_of(replace(sample(), timeline=timeline))]
    assert labels == ["Pick up the can.", "Pick up the can and open the lid.", "Open the lid."]

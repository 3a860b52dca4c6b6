"""Failures worth having: typed, with the frame in which they went wrong, balanced on request."""

import json
from dataclasses import replace

import numpy as np
import pytest

from handloom.cli.main import main
from handloom.dataset import DatasetReader
from handloom.engine import Goal, InlineExecutor, RunDirectory, RunSettings, generate_run, verify_dataset
from handloom.engine.attempt import Stopwatch, simulate
from handloom.engine.runs.goal import GoalTracker
from handloom.engine.runs.journal import Receipt
from handloom.labels.touches import failure_facts, mistake_pairs
from handloom.tasks import load_task

TOO_SHORT = "data.max_episode_length=60"
"""The hand is on its way to the cube when this ends."""


def receipts(pattern: str) -> dict[int, Receipt]:
    return {k: Receipt(episode=k, success=c == "+", frames=9) for k, c in enumerate(pattern)}


@pytest.mark.parametrize(("pattern", "end"), [("++--", 4), ("----++", 6), ("+++-+-", 6), ("++", None), ("+-+-", 4)])
def test_a_balanced_run_ends_with_the_attempt_that_gives_enough_of_both(pattern: str, end: int | None):
    assert GoalTracker(Goal(successes=2, failures=2)).update(receipts(pattern)) == end


def test_a_failure_that_never_moved_does_not_count():
    told = receipts("+--")
    told[1] = replace(told[1], frames=0)
    assert GoalTracker(Goal(successes=1, failures=2, max_attempts=50)).update(told) is None


def test_failures_say_where_they_went_wrong_and_verify(tmp_path):
    task = load_task("fr3_pick_cube", overrides=(TOO_SHORT,))
    settings = RunSettings.of_task(task, seed=0, render="none", keep_failures=True)
    run = RunDirectory.begin(tmp_path / "run", settings)
    generate_run(run, Goal(attempts=1), InlineExecutor())
    (episode,) = DatasetReader(run.failures).episodes
    assert episode.columns["failure_reason"]
    assert episode.columns["failure_frame"] == episode.length - 1  # It was still on its way.
    assert episode.columns["failure_skill"] == ""
    assert [v.verdict for v in verify_dataset(run.failures, InlineExecutor())] == ["exact"]


def test_a_run_without_a_success_names_the_folder_of_its_failures(tmp_path, capsys):
    run = tmp_path / "run"
    words = ["--set", TOO_SHORT, "--attempts", "1", "--workers", "1", "--render", "none", "--keep", "failures"]
    assert main(["generate", "fr3_pick_cube", *words, "-o", str(run)]) == 1
    assert (
        f"there is no dataset; see the reasons above; the failed ones are in {run / 'failures'}"
        in capsys.readouterr().err
    )


@pytest.mark.slow
def test_an_object_that_is_lost_on_the_way_went_wrong_when_it_was_lost():
    scene, record = simulate(load_task("fr3_pick_place"), 5, 0, Stopwatch())
    place = next(span for span in record.timeline if span.skill == "place")
    failed = replace(place, success=False, end=record.frames)
    from handloom.values import Failure, FunnelStage

    failure = Failure(stage=FunnelStage.EXECUTE, reason="not_placed", skill="place")
    facts = failure_facts(scene, replace(record, timeline=(record.timeline[0], failed), failure=failure))
    assert place.start < facts["failure_frame"] < len(record.kept) - 1


@pytest.mark.slow
def test_a_mistake_and_its_recovery_are_a_pair():
    scene, record = simulate(load_task("fr3_recovery_pick"), 0, 0, Stopwatch())
    pairs = mistake_pairs(record)
    assert len(pairs) >= 1
    (start, stop), (again, end) = pairs[0]["mistake"], pairs[0]["recovery"]
    assert start < stop <= again < end <= len(record.kept)
    assert json.loads(str(failure_facts(scene, record)["mistake_pairs"])) == pairs
    assert np.all(np.array([start, stop, again, end]) >= 0)

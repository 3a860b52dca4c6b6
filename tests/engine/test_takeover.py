"""The expert takes over from states that a policy led to, and what it does replays and verifies."""

import json
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from handloom.cli.main import main
from handloom.dataset import DatasetReader, record_of_archive
from handloom.episode.loop import run_episode
from handloom.episode.takeover_source import DONE, TakeoverSource, left_to_do
from handloom.judging.judge import Step
from handloom.scene import build_scene
from handloom.tasks import load_task, sample_task, worded_skills
from handloom.values import Check

sys.path.insert(0, str(Path(__file__).parent))
from clumsy_policy import ClumsyPolicy, Missing

TERM = (Check(name="in_hand", arguments={"object": "cube"}),)


def _step(skill: str, *objects: str) -> Step:
    return Step(robot="franka", arm="left", skill=skill, objects=objects, terms=TERM)


STEPS = (_step("pick", "cube"), _step("place", "cube", "plate"), _step("pick", "lemon"))
STAGES = [{"franka": [{"left": ["pick cube", "place cube"]}, {"left": ["pick lemon"]}]}]


@pytest.mark.parametrize(
    ("done", "held", "left"),
    [
        (0, [], ["pick cube", "place cube", "pick lemon"]),
        (1, ["cube"], ["place cube", "pick lemon"]),
        (1, [], ["pick cube", "place cube", "pick lemon"]),
        (2, [], ["pick lemon"]),
    ],
    ids=["nothing done", "in hand", "lost again", "placed"],
)
def test_what_is_left_to_do(done: int, held: list[str], left: list[str]) -> None:
    lane = ("franka", "left")
    found = left_to_do(STAGES, STEPS, Counter({lane: done}), {lane: held})
    assert [skill for stage in found for block in stage["franka"] for skill in block["left"]] == left


def _carried_out(policy: ClumsyPolicy):
    task = load_task("fr3_pick_cube", overrides=["data.max_episode_length=900"])
    instance = sample_task(task, 5, 0)
    scene = build_scene(instance)
    source = TakeoverSource(scene, worded_skills(task, instance), np.random.default_rng(0), policy=policy)
    return run_episode(scene, source)


@pytest.mark.slow
def test_the_expert_goes_on_where_a_policy_missed() -> None:
    record = _carried_out(ClumsyPolicy(0.05))
    assert record.success, record.failure
    taken = record.timeline[0].end
    assert record.timeline[0].kind == "mistake"
    assert {span.kind for span in record.timeline[1:]} == {"recovery"}
    assert taken > 0
    assert record.kept.min() >= taken  # Only the expert's part is shown.


@pytest.mark.slow
def test_nothing_is_kept_where_a_policy_succeeds() -> None:
    record = _carried_out(ClumsyPolicy())
    assert record.failure
    assert record.failure.reason == DONE


@pytest.mark.slow
def test_improve_writes_recoveries_that_verify(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert Missing is not None
    words = ["--policy", "clumsy_policy:Missing", "-n", "1", "--render", "none", "--executor", "inline", "--json"]
    assert main(["improve", "fr3_pick_cube", *words, "-o", str(tmp_path / "run")]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["policy_succeeded"] == 0
    assert told["demonstrations"] == 1
    assert main(["verify", str(tmp_path / "run")]) == 0
    record = record_of_archive(DatasetReader(tmp_path / "run" / "dataset").archive(0))
    assert record.timeline[0].kind == "mistake"


def test_test_scenes_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["improve", "fr3_pick_cube", "--policy", "clumsy_policy:Missing", "--seed", "1000000000"]) == 2
    assert "test scenes" in capsys.readouterr().err

"""A run that tells the demonstrations of another again, with another robot: a run like any."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from handloom.cli.main import main
from handloom.dataset import DatasetReader
from handloom.engine import Goal, InlineExecutor, RunDirectory, RunSettings, attempt, generate_run, verify_dataset
from handloom.engine.attempt import Stopwatch, simulate
from handloom.engine.retelling import retelling_of
from handloom.engine.trust import archives_of, trusted_record
from handloom.scene import build_scene
from handloom.tasks import load_task
from handloom.values import Failure, FunnelStage, pair_id

SMALL = ("cameras.0.size=[32, 32]", "cameras.1.size=[32, 32]")
SAME_PLACE = 0.03
"""How far from where it lay for the first robot an object lies in the end [m]."""


@pytest.fixture(scope="module")
def told(tmp_path_factory) -> Path:
    """A run with two demonstrations of the FR3 that puts a cube on a plate."""
    settings = RunSettings.of_task(load_task("fr3_pick_place", overrides=SMALL), unit_size=1, render="none", seed=11)
    run = RunDirectory.begin(tmp_path_factory.mktemp("told") / "run", settings)
    generate_run(run, Goal(successes=2), InlineExecutor())
    return run.path


@pytest.fixture(scope="module")
def retold(told: Path, tmp_path_factory) -> Path:
    """The same, retold with a Genie-1."""
    folder = tmp_path_factory.mktemp("retold") / "run"
    assert main(words(told, folder)) == 0
    return folder


def words(source: Path, folder: Path, *more: str) -> list[str]:
    robot = () if "--robot" in more else ("--robot", "genie1")
    return ["retell", str(source), *robot, "-o", str(folder), "--executor", "inline", "--render", "none", *more]


def end_of(folder: Path, name: str, target: str) -> np.ndarray:
    """Return where an object of an archive lies in the frame of another at the end (3,) [m]."""
    record = trusted_record(folder)[1]
    scene = build_scene(record.instance)
    scene.world.restore_state(record.states[-1])
    scene.world.forward()
    T_world_target = scene.object_pose(target)
    return T_world_target[:3, :3].T @ (scene.object_pose(name)[:3, 3] - T_world_target[:3, 3])


def test_episodes_of_both_robots_join_by_pair_id(told, retold):
    first, again = DatasetReader(told / "dataset"), DatasetReader(retold / "dataset")
    names = [pair_id(e.columns["task_name"], e.columns["seed"], e.columns["attempt_index"]) for e in first.episodes]
    assert [episode.columns["pair_id"] for episode in again.episodes] == names
    assert {episode.columns["robot"] for episode in again.episodes} == {"genie1"}
    assert all(str(e.columns["retold_from"]).startswith("fr3:") for e in again.episodes)
    assert [e.tasks for e in again.episodes] == [e.tasks for e in first.episodes]
    assert "pair_id" not in first.episodes[0].columns  # Data of other runs stay as they are.


def test_things_end_where_they_ended_for_the_first_robot(told, retold):
    for one, other in zip(archives_of(told), archives_of(retold), strict=True):
        way = end_of(one, "cube", "plate") - end_of(other, "cube", "plate")
        assert np.linalg.norm(way) < SAME_PLACE


def test_a_retold_run_is_verified_bit_for_bit_with_its_scenes_wherever_it_lies(retold, tmp_path):
    moved = tmp_path / "elsewhere"
    shutil.copytree(retold, moved)
    for verification in verify_dataset(moved, InlineExecutor()):
        assert verification.verdict == "exact", verification.detail
        assert "scenes with the task of the run" in verification.compared


def test_scenes_that_were_exchanged_are_found_out(retold, tmp_path):
    forged = tmp_path / "forged"
    shutil.copytree(retold, forged)
    table = pq.read_table(forged / "scenes.parquet")
    pq.write_table(table.slice(1), forged / "scenes.parquet")
    assert {v.verdict for v in verify_dataset(forged, InlineExecutor())} == {"different"}


def test_a_run_that_was_stopped_goes_on_to_the_same_bytes(told, retold, tmp_path):
    plan = retelling_of(told, "genie1", tmp_path / "run")
    settings = RunDirectory.open(retold).settings.model_copy(update={"task_path": str(plan.task.path)})
    run = RunDirectory.begin(tmp_path / "run", settings)  # Killed before the scenes were written.
    assert not (run.path / "scenes.parquet").exists()
    plan.write(run)
    generate_run(run, Goal(attempts=1), InlineExecutor())
    assert main(words(told, tmp_path / "run")) == 0
    for name in ("data/chunk-000/file-000.parquet", "extras/episode_000001/instance.json"):
        assert (tmp_path / "run" / "dataset" / name).read_bytes() == (retold / "dataset" / name).read_bytes()


def test_scenes_that_the_robot_cannot_do_are_listed_with_the_reason(told, tmp_path, monkeypatch, capsys):
    def fails(task, seed, episode, watch, *, source):
        scene, record = simulate(task, seed, episode, watch, source=source)
        failure = Failure(stage=FunnelStage.REACH, reason="goal_unreachable", detail="too far", skill="pick")
        return scene, record if episode else replace(record, failure=failure)

    monkeypatch.setattr("handloom.engine.attempt.simulate", fails)
    assert main(words(told, tmp_path / "run")) == 0
    line = "not retold: fr3_pick_place:11:0  goal_unreachable: pick: too far"
    assert line in capsys.readouterr().out
    assert main(["report", str(tmp_path / "run"), "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["not_retold"]
    assert listed == [{"pair_id": "fr3_pick_place:11:0", "reason": "goal_unreachable", "detail": "pick: too far"}]


def test_the_next_place_on_the_table_is_tried_where_the_expert_fails(told, tmp_path, monkeypatch):
    plan = retelling_of(told, "genie1", tmp_path, most=1)
    plan.write(RunDirectory(tmp_path, RunSettings.of_task(plan.task, seed=plan.seed)))
    act, tried = attempt._act, []

    def first_fails(task, instance, watch, source):
        scene, record = act(task, instance, watch, source)
        tried.append(instance.retold.placement)
        failure = Failure(stage=FunnelStage.PLAN, reason="no_path", detail="")
        return scene, record if len(tried) > 1 else replace(record, failure=failure)

    monkeypatch.setattr("handloom.engine.attempt._act", first_fails)
    _, record = simulate(plan.task, plan.seed, 0, Stopwatch())
    assert tried == list(range(len(tried)))
    assert len(tried) > 1
    assert record.success
    assert record.instance.retold.placement == tried[-1]


def test_bad_input_ends_with_one_message(told, retold, tmp_path, capsys):
    def message(*given: str) -> str:
        assert main(list(given)) == 2
        return capsys.readouterr().err

    assert "no robot at a table named 'genie2'; did you mean 'genie1'?" in message(
        *words(told, tmp_path / "run", "--robot", "genie2")
    )
    assert "contains no dataset" in message(*words(tmp_path, tmp_path / "run", "--task", "fr3_pick_place"))
    assert "give its task with --task TASK" in message(
        *words(shutil.copytree(told / "dataset", tmp_path / "d"), tmp_path / "run")
    )
    assert "contains another run" in message(*words(told, retold, "--robot", "lift2"))
    assert "--episodes must be at least 1" in message(*words(told, tmp_path / "run", "--episodes", "0"))

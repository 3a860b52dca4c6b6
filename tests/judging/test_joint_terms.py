"""Joints of an object that a task names move as far as asked, and its other joints stay."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from handloom.engine.attempt import Stopwatch, simulate
from handloom.engine.runs.run_settings import RunSettings
from handloom.engine.verification.resampled import goal_differs
from handloom.episode import replay
from handloom.judging.checks import NATURES, Nature, holds
from handloom.scene import Scene, build_scene
from handloom.skills.deeds import make_judge
from handloom.tasks import load_task, sample_task
from handloom.values import Check

STOVE = """
base: setups/kitchen_fr3.yaml
room: {{kind: kitchen, layout: one_wall, style: any, at: stove}}
cameras: []
skills: {skills}
"""
CHEST = """
base: setups/fr3.yaml
cameras: []
objects:
  - {{name: chest, category: drawer_cabinet, fix_base: true, parameters: {{drawers: 3}}}}
regions:
  - {{object: chest, target: table, random_config: {{pos_range: [[0, 0.4, 0], [0, 0.4, 0]], yaw_rotation: [0, 0]}}}}
skills: {skills}
"""


def goal_of(folder: Path, text: str, skills: str) -> tuple[Scene, tuple[Check, ...]]:
    (file := folder / "task.yaml").write_text(text.format(skills=skills))
    task = load_task(file)
    scene = build_scene(sample_task(task, 0, 0))
    return scene, make_judge(scene, task.config.skills, None).goal


def turned(scene: Scene, joints: dict[str, float]) -> None:
    for joint, position in joints.items():
        scene.world.data.qpos[scene.world.qpos_index(joint)] = position
    scene.world.refresh()


@pytest.fixture(scope="module")
def stove(tmp_path_factory) -> tuple[Scene, tuple[Check, ...]]:
    return goal_of(tmp_path_factory.mktemp("stove"), STOVE, "[{turn: knob_3, by: 60}]")


@pytest.mark.parametrize(
    ("degrees", "others", "done"),
    [(60, 0, True), (51.5, 0, True), (74, 0, True), (45, 0, False), (80, 0, False), (60, 10, True), (60, 24, False)],
)
def test_a_knob_is_turned_by_the_given_angle_and_its_neighbours_are_left_alone(stove, degrees, others, done):
    scene, goal = stove
    knobs = {f"stove/knob_{k}_joint": np.deg2rad(degrees if k == 3 else others if k == 2 else 0) for k in range(1, 5)}
    turned(scene, knobs)
    assert all(holds(scene, term) for term in goal) == done


def test_an_amount_asks_for_at_least_that_much(tmp_path):
    scene, goal = goal_of(tmp_path, STOVE, "[{turn: knob_3, amount: 0.2}]")
    turned(scene, {"stove/knob_3_joint": 4.0})
    assert all(holds(scene, term) for term in goal)


def test_every_knob_that_a_skill_names_may_turn(tmp_path):
    scene, goal = goal_of(tmp_path, STOVE, "[{turn: knob_3, by: 60}, {turn: knob_2, by: 90}]")
    turned(scene, {"stove/knob_3_joint": np.deg2rad(60), "stove/knob_2_joint": np.deg2rad(90)})
    assert all(holds(scene, term) for term in goal)
    turned(scene, {"stove/knob_1_joint": np.deg2rad(30)})
    assert [term.name for term in goal if not holds(scene, term)] == ["other_joints_kept"]


def test_another_drawer_may_come_out_a_little(tmp_path):
    scene, goal = goal_of(tmp_path, CHEST, "[{open: chest, joint: drawer_2}]")
    length = scene.assets["chest"].joints[0].range[1]
    for share, kept in ((0.2, True), (0.3, False)):
        turned(scene, {"chest/drawer_2_joint": 0.8 * length, "chest/drawer_1_joint": share * length})
        assert all(holds(scene, term) for term in goal) == kept


def test_a_recording_made_before_joints_were_bounded_is_judged_by_its_last_state(tmp_path):
    (file := tmp_path / "task.yaml").write_text(STOVE.format(skills="[{turn: knob_3, by: 60}]"))
    scene, record = simulate(task := load_task(file), 4711, 0, Stopwatch())
    assert record.success, record.failure
    run = RunSettings.of_task(task, seed=4711)
    assert replay(record).exact
    assert goal_differs(run, tmp_path, scene, record) == ""
    state, other = (next(t for t in record.goal if t.name == name) for name in ("joint_state", "other_joints_kept"))
    unbounded = replace(state, arguments={key: value for key, value in state.arguments.items() if key != "most"})
    earlier = replace(record, goal=tuple(unbounded if t == state else t for t in record.goal if t != other))
    assert goal_differs(run, tmp_path, scene, earlier) == ""
    scene.world.restore_state(record.states[-1])
    for joint, said in (("knob_3", "it moved by 120 degrees"), ("knob_2", "knob_2 moved by 120 degrees")):
        turned(scene, {f"stove/{joint}_joint": np.deg2rad(120)})
        wrong = replace(earlier, states=np.vstack([record.states[:-1], scene.world.save_state()[None]]))
        assert said in goal_differs(run, tmp_path, scene, wrong)


def test_a_part_left_alone_is_a_matter_of_joints(stove):
    assert NATURES["other_joints_kept"] is Nature.JOINT

"""The goal of a task: written by its author, or derived from its skills."""

from pathlib import Path

import numpy as np
import pytest
from tests.judging.conftest import put

from handloom.engine.attempt import Stopwatch, simulate
from handloom.engine.runs.run_settings import RunSettings
from handloom.errors import HandloomError
from handloom.judging.wording.words import in_words
from handloom.scene import Scene, build_scene
from handloom.skills.deeds import make_judge
from handloom.tasks import load_task, sample_task
from handloom.tasks.rehearsal import rehearse

TASK = """
base: setups/fr3.yaml
objects:
  - {name: lemon, category: lemon}
  - {name: egg, category: egg}
  - {name: bowl, category: bowl}
  - {name: tray, category: tray}
  - {name: cabinet, category: drawer_cabinet, fix_base: true, target_class: ArticulatedObject, parameters: {drawers: 2}}
regions:
  - {object: lemon, target: table, random_config: {pos_range: [[-0.25, -0.05, 0], [-0.25, -0.05, 0]]}}
  - {object: egg, target: table, random_config: {pos_range: [[-0.35, -0.05, 0], [-0.35, -0.05, 0]]}}
  - {object: bowl, target: table, random_config: {pos_range: [[-0.3, 0.2, 0], [-0.3, 0.2, 0]]}}
  - {object: tray, target: table, random_config: {pos_range: [[0.45, 0.0, 0], [0.45, 0.0, 0]]}}
  - {object: cabinet, target: table, random_config: {pos_range: [[0.1, 0.45, 0], [0.1, 0.45, 0]], yaw_rotation: [0, 0]}}
cameras: [{name: franka_head, translation: [0.5, -0.62, 1.6], orientation: null, look_at: [0.05, 0.2, 0.85]}]
skills: SKILLS
"""


def scene_of(folder: Path, skills: str, more: str = "") -> tuple[Scene, tuple]:
    (file := folder / "task.yaml").write_text(TASK.replace("SKILLS", skills) + more)
    task = load_task(file)
    return build_scene(sample_task(task, 0, 0)), task.config.skills


def words(folder: Path, skills: str, more: str = "") -> list[str]:
    scene, stages = scene_of(folder, skills, more)
    return [in_words(term) for term in make_judge(scene, stages, None).goal]


OPEN, CLOSE = "{name: open, objects: [cabinet]}", "{name: close, objects: [cabinet]}"
STORE = f"[{OPEN}, {{pick: lemon}}, {{place: lemon, in: cabinet}}, {CLOSE}, home]"


def test_what_is_undone_on_purpose_is_no_goal(tmp_path: Path):
    goal = words(tmp_path, STORE)
    assert goal[:3] == ["lemon is in cabinet", "lemon is released", "cabinet: drawer_1_joint is closed"]
    kept = "no other part of cabinet has moved: drawer_0"
    assert goal[3:] == ["lemon at rest", kept, "lemon still at rest a second later"]


def test_what_was_put_into_a_bowl_stays_in_it_when_the_bowl_is_carried_away(tmp_path: Path):
    goal = words(tmp_path, "[{pick: lemon}, {place: lemon, in: bowl}, {pick: bowl}, {place: bowl, on: tray}]")
    assert "lemon is in bowl" in goal
    assert "bowl rests on tray" in goal
    assert "bowl is upright to within 15 degrees" in goal


def test_a_pick_that_ends_a_task_asks_for_the_object_in_a_hand(tmp_path: Path):
    assert words(tmp_path, "[{pick: lemon}]") == ["lemon is in a hand", "lemon is 3 cm above its initial place"]
    assert not any("hand" in text for text in words(tmp_path, "[{pick: lemon}, {place: lemon, on: tray}]"))


def test_a_part_can_be_named(tmp_path: Path):
    assert words(tmp_path, "[{pick: egg}, {place: egg, in: {cabinet: drawer_0}}]")[0] == "egg is in cabinet (drawer_0)"


def test_a_written_goal_replaces_what_the_skills_say(tmp_path: Path):
    goal = "goal: [{object: egg, on: tray, at: [0.45, 0.0], within: 0.05}, {untouched: others}]\n"
    said = words(tmp_path, "[{pick: lemon}, {place: lemon, on: tray}]", goal)
    assert said[0] == "egg rests on tray"
    assert "egg is at its place" in said
    assert "bowl is where it was" in said
    assert "egg is where it was" not in said
    assert not any("lemon rests" in text for text in said)


def test_untouched_fails_when_something_was_moved_or_fell(tmp_path: Path):
    scene, stages = scene_of(tmp_path, "[{pick: lemon}]", "goal: [{untouched: [bowl]}]\n")
    judge = make_judge(scene, stages, None)
    assert judge.missing() is None
    at = scene.object_pose("bowl")[:3, 3].copy()
    put(scene, "bowl", at + np.array([0.04, 0.0, 0.0]))
    assert judge.missing() is None
    put(scene, "bowl", at + np.array([0.06, 0.0, 0.0]))
    assert judge.missing().reason == "not_unmoved"
    put(scene, "bowl", at, (0.0, 1.0, 0.0, 0.0))
    assert judge.missing().reason == "not_unmoved"


@pytest.mark.parametrize(
    ("goal", "wrong"),
    [
        ("[{object: lemmon, in: bowl}]", "did you mean 'lemon'"),
        ("[{in: bowl}]", "name an object and a relation"),
        ("[{object: lemon}]", "name an object and a relation"),
        ("[{object: lemon, inn: bowl}]", "unknown key"),
        ("[{stacked: [egg]}]", "two objects"),
        ("[{object: lemon, closed: true}]", "nothing to open or close"),
    ],
)
def test_a_goal_that_says_nothing_is_refused_in_words(tmp_path: Path, goal: str, wrong: str):
    (file := tmp_path / "task.yaml").write_text(TASK.replace("SKILLS", "[{pick: lemon}]") + f"goal: {goal}\n")
    try:
        mistakes = "\n".join(rehearse(load_task(file), scenes=1).mistakes)
    except HandloomError as error:
        mistakes = str(error)
    assert wrong in mistakes
    assert "task.yaml:" in mistakes


def test_a_place_into_something_shut_or_solid_is_refused_before_and_while_it_runs(tmp_path: Path):
    (file := tmp_path / "task.yaml").write_text(TASK.replace("SKILLS", "[{pick: lemon}, {place: lemon, in: cabinet}]"))
    task = load_task(file)
    (mistake,) = rehearse(task, scenes=1).mistakes
    assert "shut: drawer_" in mistake
    assert "open it first" in mistake
    _, record = simulate(task, 0, 0, Stopwatch())
    assert record.failure is not None
    assert record.failure.reason == "no_cavity"
    file.write_text(TASK.replace("SKILLS", "[{pick: lemon}, {place: lemon, in: egg}]"))
    (mistake,) = rehearse(load_task(file), scenes=1).mistakes
    assert "has no cavity" in mistake


def test_a_lemon_goes_into_the_drawer_that_was_opened(tmp_path: Path):
    (file := tmp_path / "task.yaml").write_text(TASK.replace("SKILLS", STORE) + "data: {max_episode_length: 1500}\n")
    scene, record = simulate(load_task(file), 0, 0, Stopwatch())
    assert record.failure is None
    names = ["in_cavity", "let_go", "joint_state", "lying_still", "other_joints_kept", "lasting_after"]
    assert [term.name for term in record.goal] == names
    assert make_judge(scene, (), None).goal == ()


def test_a_run_keeps_the_goal_of_its_task(tmp_path: Path):
    goal = "goal: [{object: lemon, in: bowl}, {object: egg, on: table}, {untouched: [tray]}]\n"
    (file := tmp_path / "task.yaml").write_text(
        TASK.replace("SKILLS", "[{pick: lemon}, {place: lemon, in: bowl}]") + goal
    )
    task = load_task(file)
    assert RunSettings.of_task(task, seed=0).loaded_task().config.goal == task.config.goal

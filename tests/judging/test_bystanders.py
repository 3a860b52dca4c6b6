"""What is moved or falls though the task is not about it is told."""

import numpy as np
from tests.judging.conftest import Make, put

from handloom.engine.attempt import Stopwatch, receipt_of, simulate
from handloom.judging import Bystanders
from handloom.judging.relations import relation_terms
from handloom.tasks import load_task
from handloom.values import SkillSpan

SIDEWAYS = (0.70710678, 0.70710678, 0.0, 0.0)


def test_what_the_task_names_may_move_and_others_are_told_when_they_moved_or_fell(table: Make):
    scene = table(cube="category: cube", bowl="category: bowl", mug="category: mug")
    goal, standers = relation_terms(scene, "cube", "in", "bowl"), Bystanders(scene)
    assert standers.disturbed(goal, ()) == ()
    at = scene.object_pose("mug")[:3, 3]
    put(scene, "mug", at + np.array([0.03, 0.0, 0.0]))
    assert standers.disturbed(goal, ()) == (), "by 3 cm"
    put(scene, "mug", at + np.array([0.07, 0.0, 0.0]))
    put(scene, "cube", scene.object_pose("cube")[:3, 3] + np.array([0.2, 0.0, 0.0]))
    assert standers.disturbed(goal, ()) == ("mug",)
    put(scene, "mug", at, SIDEWAYS)
    assert standers.disturbed(goal, ()) == ("mug",), "it fell"
    pushed = SkillSpan(robot="r", arm="left", skill="push", objects=("mug",), start=0, end=1, success=True)
    assert standers.disturbed(goal, (pushed,)) == ()


def test_what_is_carried_along_is_where_it_should_be(table: Make):
    scene = table(egg="category: egg", tray="category: tray", mat="category: place_mat")
    put(scene, "egg", scene.object_pose("tray")[:3, 3] + np.array([0.0, 0.0, 0.05]), settle=1.0)
    goal, standers = relation_terms(scene, "tray", "on", "mat"), Bystanders(scene)
    for name in ("egg", "tray"):
        put(scene, name, scene.object_pose(name)[:3, 3] + np.array([0.2, 0.0, 0.0]))
    assert standers.disturbed(goal, ()) == ()
    put(scene, "egg", scene.object_pose("egg")[:3, 3] + np.array([0.2, 0.0, 0.0]))
    assert standers.disturbed(goal, ()) == ("egg",)


def test_an_attempt_says_what_it_knocked_over(tmp_path):
    text = """
base: setups/fr3.yaml
objects:
  - {name: cube, target_class: RigidObject, category: cube, parameters: {edge: 0.05}}
  - {name: box, target_class: RigidObject, category: snack_box}
regions:
  - {object: cube, target: table, random_config: {pos_range: [[-0.1, 0.05, 0], [-0.1, 0.05, 0]]}}
  - {object: box, target: table, random_config: {pos_range: [[0.2, 0.25, 0], [0.2, 0.25, 0]]}}
skills: [{pick: cube}]
"""
    (file := tmp_path / "task.yaml").write_text(text)
    scene, record = simulate(load_task(file), 0, 0, Stopwatch())
    assert record.success
    assert receipt_of(record, Stopwatch()).disturbed == ()
    del scene

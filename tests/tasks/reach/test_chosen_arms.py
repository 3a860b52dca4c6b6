"""Tasks that leave the arm to the scene: chosen once, recorded, and the same for whoever asks."""

import numpy as np
import pytest

from handloom.engine.attempt import Stopwatch, simulate
from handloom.scene import build_scene
from handloom.skills.deeds import steps_of
from handloom.tasks import load_task, sample_task, worded_skills
from handloom.values import TaskInstance

DEED = """robot: fr3_pair
objects:
  - {name: cube, category: cube}
  - {name: block, category: cube}
  - {name: tray, category: tray}
regions:
  - {object: tray, at: [0.0, 0.1], yaw: 0}
  - {object: cube, at: [[-0.3, -0.1], [0.3, -0.1]], yaw: 0}
  - {object: block, at: [[-0.3, -0.25], [0.3, -0.25]], yaw: 0}
skills:
"""
TWO = "  - {pick: cube}\n  - {pick: block}\n  - {place: block, on: tray}\n  - {place: cube, on: tray}\n"


def written(folder, skills):
    file = folder / "deed.yaml"
    file.write_text(DEED + skills)
    return load_task(file)


def lanes(task, instance):
    return [
        (arm, [skill.name for skill in skills])
        for stage in worded_skills(task, instance)
        for blocks in stage.values()
        for block in blocks
        for arm, skills in block.items()
    ]


def test_the_nearer_arm_is_taken_and_stays_with_what_it_holds(tmp_path):
    task = written(tmp_path, "  - {pick: cube}\n  - {place: cube, on: tray}\n  - home\n")
    seen = set()
    for episode in range(6):
        instance = sample_task(task, 0, episode)
        x = next(obj.position[0] for obj in instance.objects if obj.name == "cube")
        side = "left" if x < 0 else "right"
        assert instance.arms == (side,)
        assert lanes(task, instance) == [(side, ["pick", "place", "home"])]
        seen.add(side)
    assert seen == {"left", "right"}


def test_a_hand_that_holds_something_takes_nothing_else(tmp_path):
    task = written(tmp_path, TWO)
    for episode in range(4):
        instance = sample_task(task, 0, episode)
        first, second, third = instance.arms
        assert {first, second} == {"left", "right"}
        assert third == first, "it is put down by the hand that has it"
        assert lanes(task, instance) == [(first, ["pick"]), (second, ["pick", "place"]), (first, ["place"])]


def test_the_choice_is_part_of_the_instance_and_of_nothing_else(tmp_path):
    task = written(tmp_path, TWO)
    instance = sample_task(task, 3, 1)
    assert instance == sample_task(task, 3, 1)
    assert TaskInstance.from_json(instance.to_json()).arms == instance.arms
    assert '"arms"' not in sample_task(load_task("fr3_pick_cube"), 0, 0).to_json(), "older scenes keep their bytes"
    scene = build_scene(instance)
    first, second, third = instance.arms
    assert [s.arm for s in steps_of(scene, worded_skills(task, instance), None)] == [first, second, second, third]


def test_keys_of_a_skill_may_depend_on_the_arm(tmp_path):
    by_arm = "by_arm: {left: {wait_steps: 5}, right: {wait_steps: 7}}"
    wait = f"  - {{pick: cube}}\n  - {{name: wait, objects: [cube], wait_steps: 3, success_threshold: 1.0, {by_arm}}}\n"
    task = written(tmp_path, wait)
    for episode in range(4):
        instance = sample_task(task, 0, episode)
        waits = [
            s.wait_steps
            for b in worded_skills(task, instance)[0]["franka_pair"]
            for v in b.values()
            for s in v
            if s.name == "wait"
        ]
        assert waits == [5 if instance.arms[0] == "left" else 7]


@pytest.mark.slow
def test_the_expert_does_it_with_the_chosen_arm_and_the_record_says_so(tmp_path):
    task = written(tmp_path, "  - {pick: cube}\n  - {place: cube, on: tray}\n")
    for episode in range(2):
        _, record = simulate(task, 0, episode, Stopwatch())
        assert record.success, record.failure
        assert {span.arm for span in record.timeline if span.skill in ("pick", "place")} == set(record.instance.arms)
        assert np.isfinite(record.states).all()

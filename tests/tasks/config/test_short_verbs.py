"""Short forms of what is done to joints, and from hand to hand, expand to the published skills."""

import re
from pathlib import Path

import pytest

from handloom.errors import ConfigError
from handloom.skills.configs.articulated import ArticulatedSkillConfig
from handloom.skills.configs.motions import WaitConfig
from handloom.skills.configs.places import CarryConfig
from handloom.tasks import Task, load_task
from handloom.tasks.config.short_form.skills import VERBS
from handloom.tasks.config.task_config import placed_skills

START = """base: setups/lift2.yaml
objects:
  - {name: cabinet, target_class: ArticulatedObject, category: drawer_cabinet, fix_base: true, parameters: {drawers: 3}}
  - {name: knob, target_class: ArticulatedObject, category: knob, fix_base: true}
  - {name: trash_can, target_class: ArticulatedObject, category: trash_can, fix_base: true}
  - {name: stick, category: block, parameters: {length: 0.03, width: 0.15, height: 0.03}}
  - {name: cube, category: cube}
  - {name: tray, category: tray}
"""


def loaded(folder: Path, *skills: str) -> Task:
    (folder / "task.yaml").write_text(START + "skills:\n" + "".join(f"  - {skill}\n" for skill in skills))
    return load_task(folder / "task.yaml")


def only(task: Task) -> ArticulatedSkillConfig:
    ((_, skill),) = placed_skills(task.config)
    assert isinstance(skill, ArticulatedSkillConfig)
    return skill


def test_open_and_close_take_an_object_or_a_part_of_it(tmp_path):
    whole = only(loaded(tmp_path, "{open: cabinet}"))
    assert (whole.name, whole.objects, whole.joint) == ("open", ("cabinet",), None)
    assert whole.least_amount is not None, "as far as the arm can"
    part = loaded(tmp_path, "{close: {cabinet: drawer_2}}")
    assert (only(part).name, only(part).joint) == ("close", "drawer_2")
    assert part.config.data.language_instruction == "Close the drawer 2 of the {cabinet}."
    assert only(loaded(tmp_path, "{open: cabinet, amount: 0.3}")).amount == 0.3


def test_turn_push_and_press_expand_to_published_skills(tmp_path):
    turn = only(loaded(tmp_path, "{turn: knob, by: 90}"))
    assert (turn.name, turn.by) == ("rotate", 90.0)
    push = only(loaded(tmp_path, "{push: {cabinet: drawer_1}}"))
    assert (push.name, push.joint, push.grasp) == ("close", "drawer_1", False)
    press = only(loaded(tmp_path, "{press: {trash_can: pedal}}"))
    assert (press.name, press.joint, press.grasp) == ("rotate", "pedal", False)


def test_a_turn_is_judged_by_its_joint_alone_however_its_part_is_named(tmp_path):
    for turn in ("{turn: knob, by: 90}", "{turn: knob.knob_0, by: 90}", "{turn: {knob: knob_0}, by: 90}"):
        assert only(loaded(tmp_path, turn)).collision_valid is False, turn
    asked = only(loaded(tmp_path, "{turn: knob.knob_0, by: 90, collision_valid: true}"))
    assert asked.collision_valid is True


def test_messages_name_the_entry_that_the_user_wrote(tmp_path):
    steps = ("{close: cabinet}", "{turn: knob.knob_0, by: 150}", "{handover: stick}", "{place: stick, in: tray}")
    task = loaded(tmp_path, *(step.replace("}", ", arm: left}") if "hand" not in step else step for step in steps))
    found = [(skill.name, task.where(*keys).rpartition("task.yaml:")[2]) for keys, skill in placed_skills(task.config)]
    assert found[:4] == [
        ("close", "10: skills.0"),
        ("gripper__action", "11: skills.1"),
        ("rotate", "11: skills.1"),
        ("rotate", "11: skills.1"),
    ]
    assert {place for name, place in found[4:-1]} == {"12: skills.2"}, "every part of the handover"
    assert found[-1] == ("place", "13: skills.3")


def test_a_wrong_key_of_a_short_form_is_named_as_it_was_written(tmp_path):
    with pytest.raises(ConfigError, match=r"task.yaml:11: skills\.1\.lift_th: .*got 'high'"):
        loaded(tmp_path, "{pick: cube, arm: right}", "{pick: stick, arm: left, lift_th: high}")


def test_a_handover_takes_a_long_thing_by_its_ends_with_both_arms_in_turn(tmp_path):
    task = loaded(tmp_path, "{handover: stick, from: left, to: right}", "{place: stick, in: tray, arm: right}")
    blocks = task.config.skills[0]["lift2"]
    lanes = [(arm, [skill.name for skill in lane]) for block in blocks for arm, lane in block.items()]
    assert lanes == [
        ("left", ["pick", "goto__pose"]),
        ("right", ["pick"]),
        ("left", ["gripper__action", "heuristic__skill"]),
        ("right", ["place"]),
    ]
    assert blocks[0]["left"][0].constraints == ("y", 0.0, 0.25), "the long axis of this stick is its y"
    picked = loaded(tmp_path, "{pick: stick, arm: right}", "{handover: stick, from: right, to: left}")
    first = picked.config.skills[0]["lift2"]
    assert [skill.name for block in first[:2] for skill in block.get("right", ())] == ["pick", "goto__pose"]


@pytest.mark.parametrize(
    ("skill", "expected"),
    [
        ("{opne: cabinet}", r"did you mean 'open'\?"),
        ("{shut: cabinet}", r"did you mean 'close'\?"),
        ("{juggle: tray}", r"skills are written"),
        ("{open: cube}", r"nothing of it moves.*\{pick: cube\}"),
        ("{open: {cabinet: door}}", r"no part 'door'; .*drawer_0, drawer_1, drawer_2"),
        ("{open: 3}", r"write an object, \{open: cabinet\}.*got 3"),
        ("{turn: cabinet}", r"drawer_2 slides; write \{open: cabinet\}"),
        ("{handover: cube, from: left, to: left}", r"\{handover: stick, from: left, to: right\}.*got 'cube'"),
        ("{left: [{handover: cube}]}", r"flat list"),
        ("{left: [{juggle: tray}]}", r"skills are written"),
        ("{flip: cube}", r"flip has no short form: write \{name: flip, objects: \[cube\]"),
        (
            "{approach_rotate: cube, to: tray}",
            r"\{name: approach__rotate, objects: \[cube, tray\], success_threshold: ",
        ),
        ("{carry: tray}", r"say where to, e.g. \{carry: tray, to: mat\}"),
        ("{carry: tray, to: [0, 1]}", r"the name of an object, such as mat; got \[0, 1\]"),
        ("{carry: tray, to: cube, with: left}", r"one hand carries it with \{pick: tray\} and \{place: tray\}"),
        ("{wait: long}", r"a time in seconds, at most 600, e.g. \{wait: 2\}; got 'long'"),
    ],
)
def test_mistakes_name_the_line_and_what_exists(skill, expected, tmp_path):
    with pytest.raises(ConfigError) as caught:
        loaded(tmp_path, "home", skill)
    assert re.search(r"task\.yaml:11: skills", str(caught.value)), caught.value
    assert re.search(expected, str(caught.value)), caught.value


def test_the_message_for_an_unknown_verb_shows_every_verb(tmp_path):
    with pytest.raises(ConfigError) as caught:
        loaded(tmp_path, "{juggle: tray}")
    assert [verb for verb in VERBS if not re.search(rf"\b{verb}\b", str(caught.value))] == []


@pytest.mark.parametrize("word", ["to", "on"])
def test_carry_takes_both_hands_to_a_target_and_any_key_of_the_skill(word, tmp_path):
    task = loaded(tmp_path, f"{{carry: tray, {word}: cube, tilt: 12, points: [left_handle, right_handle]}}")
    ((_, skill),) = placed_skills(task.config)
    assert (skill.name, skill.objects) == ("carry", ("tray", "cube"))
    assert isinstance(skill, CarryConfig)
    assert (skill.tilt, skill.points) == (12.0, ("left_handle", "right_handle"))
    assert task.config.data.language_instruction == "Carry the {tray} to the {cube} with both hands."


def test_a_wait_is_in_seconds_by_the_same_hand_and_leaves_its_gripper_as_it_is(tmp_path):
    task = loaded(tmp_path, "{pick: cube}", "{wait: 2}", "{place: cube, in: tray}")
    pick, wait, place = (skill for _, skill in placed_skills(task.config))
    assert (pick.name, wait.name, place.name) == ("pick", "wait", "place")
    assert isinstance(wait, WaitConfig)
    assert (wait.wait_steps, wait.gripper_state, wait.success_threshold) == (60, None, 0.02)
    assert wait.instruction == "Wait 2 seconds."
    (tmp_path / "fast.yaml").write_text("base: task.yaml\ndata: {fps: 10}\nskills: [{wait: 0.5}]\n")
    ((_, short),) = placed_skills(load_task(tmp_path / "fast.yaml").config)
    assert isinstance(short, WaitConfig)
    assert short.wait_steps == 5


def test_a_wait_without_an_arm_is_done_by_the_hand_before_it(tmp_path):
    objects = "objects: [{name: cube, category: cube}, {name: tray, category: tray}]\n"
    steps = "skills: [{pick: cube}, {place: cube, in: tray}, {wait: 1}]\n"
    (tmp_path / "deed.yaml").write_text(f"robot: lift2\n{objects}{steps}")
    ((_, blocks),) = load_task(tmp_path / "deed.yaml").config.skills[0].items()
    assert [[skill.name for skill in lane] for block in blocks for lane in block.values()] == [
        ["pick", "place", "wait"]
    ]

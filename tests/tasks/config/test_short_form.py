"""The short form of skills expands to the published one, wherever it stands, and remembers its lines."""

from pathlib import Path

import pytest

from handloom.errors import ConfigError
from handloom.tasks import Task, load_task

START = """base: setups/{setup}.yaml
objects:
  - {{name: apple, target_class: RigidObject, category: apple}}
  - {{name: cube, target_class: RigidObject, category: cube}}
  - {{name: block, target_class: RigidObject, category: cube}}
  - {{name: bowl, target_class: RigidObject, category: bowl}}
  - {{name: plate, target_class: RigidObject, category: plate}}
"""


def loaded(folder: Path, skills: str, *, setup: str = "fr3") -> Task:
    file = folder / "task.yaml"
    file.write_text(START.format(setup=setup) + f"skills:\n{skills}")
    return load_task(file)


def lanes(task: Task) -> list[tuple[str, list[str]]]:
    return [
        (arm, [skill.name for skill in skills])
        for stage in task.config.skills
        for blocks in stage.values()
        for block in blocks
        for arm, skills in block.items()
    ]


def test_a_flat_list_of_one_arm_becomes_one_block(tmp_path):
    task = loaded(tmp_path, "  - {pick: apple}\n  - {place: apple, in: bowl}\n  - home\n")
    assert lanes(task) == [("left", ["pick", "place", "home"])]
    pick, place, _ = task.config.skills[0]["franka"][0]["left"]
    assert pick.objects == ("apple",)
    assert place.objects == ("apple", "bowl")
    assert task.config.data.language_instruction == "Put the {apple} into the {bowl}.", "home goes without saying"


def test_arms_take_turns_or_work_at_the_same_time(tmp_path):
    turns = "  - {pick: apple, arm: left}\n  - {pick: cube, arm: right}\n  - {place: apple, in: bowl}\n"
    assert lanes(loaded(tmp_path, turns, setup="lift2")) == [
        ("left", ["pick"]),
        ("right", ["pick"]),
        ("left", ["place"]),
    ]
    task = loaded(tmp_path, "  - left: [{pick: apple}]\n    right: {pick: cube}\n", setup="lift2")
    assert len(task.config.skills[0]["lift2"]) == 1
    assert lanes(task) == [("left", ["pick"]), ("right", ["pick"])]


def test_an_arm_goes_home_by_its_name_and_a_list_may_mix_blocks_and_single_steps(tmp_path):
    text = "  - left: [{pick: apple}]\n    right: [{pick: cube}, home]\n  - {home: left}\n  - {home: , arm: right}\n"
    task = loaded(tmp_path, text, setup="lift2")
    assert lanes(task) == [("left", ["pick"]), ("right", ["pick", "home"]), ("left", ["home"]), ("right", ["home"])]
    with pytest.raises(ConfigError, match=r":\d+: .*home: in a flat list write \{home: left\}.*got 'lft'"):
        loaded(tmp_path, "  - {home: lft}\n")


def test_what_goes_to_one_place_is_told_in_one_sentence(tmp_path):
    text = "  - {pick: apple}\n  - {place: apple, in: bowl}\n  - {pick: cube}\n  - {place: cube, in: bowl}\n  - home\n"
    words = loaded(tmp_path, text).config.data.language_instruction
    assert words == "Put the {apple} and the {cube} into the {bowl}."
    other = loaded(tmp_path, text.replace("cube, in: bowl", "cube, beside: bowl")).config.data.language_instruction
    assert other == "Put the {apple} into the {bowl}. Put the {cube} beside the {bowl}."
    assert loaded(tmp_path, "  - home\n").config.data.language_instruction == "Go home."


def test_the_short_form_may_stand_inside_the_published_nesting(tmp_path):
    task = loaded(tmp_path, "  - franka:\n      - left: [{pick: apple, lift_th: 0.02}, {name: home}]\n")
    assert lanes(task) == [("left", ["pick", "home"])]
    assert task.config.skills[0]["franka"][0]["left"][0].lift_th == 0.02


@pytest.mark.parametrize(
    ("held", "target", "upright"), [("apple", "bowl", 25.0), ("cube", "plate", 10.0), ("cube", "block", 4.0)]
)
def test_to_chooses_by_what_the_target_is(held, target, upright, tmp_path):
    task = loaded(tmp_path, f"  - {{pick: {held}}}\n  - {{place: {held}, to: {target}}}\n")
    assert task.config.skills[0]["franka"][0]["left"][1].keep_upright == upright


def test_the_published_form_keeps_its_published_defaults(tmp_path):
    skills = "  - franka:\n      - left: [{name: pick, objects: [apple]}, {name: place, objects: [apple, bowl]}]\n"
    pick, place = loaded(tmp_path, skills).config.skills[0]["franka"][0]["left"]
    assert (pick.approach, pick.pre_grasp_offset, place.rest_on, place.place_z_offset) == (None, 0.1, None, 0.1)


def test_overrides_reach_what_a_short_form_became(tmp_path):
    file = tmp_path / "task.yaml"
    file.write_text(START.format(setup="fr3") + "skills: [{pick: apple}]\n")
    task = load_task(file, overrides=["skills.0.franka.0.left.0.lift_th=0.01"])
    assert task.config.skills[0]["franka"][0]["left"][0].lift_th == 0.01


def test_two_robots_need_a_name(tmp_path):
    robots = "robots: [{name: a, robot_config_file: fr3}, {name: b, robot_config_file: fr3}]\n"
    file = tmp_path / "task.yaml"
    file.write_text(
        robots + "objects: [{name: apple, target_class: RigidObject, category: apple}]\nskills: [{pick: apple}]\n"
    )
    with pytest.raises(ConfigError, match=r":3: skills\.0: say which robot does this: add robot: NAME, one of a, b"):
        load_task(file)
    file.write_text(file.read_text().replace("{pick: apple}", "{pick: apple, robot: b}"))
    assert list(load_task(file).config.skills[0]) == ["b"]


def test_robots_called_left_and_right_are_no_arms(tmp_path):
    file = tmp_path / "task.yaml"
    file.write_text(
        "robots: [{name: left, robot_config_file: fr3}, {name: right, robot_config_file: fr3}]\n"
        "objects: [{name: apple, target_class: RigidObject, category: apple}]\n"
        "skills:\n  - left: [{left: [{pick: apple}]}]\n    right: [{left: [{name: home}]}]\n"
    )
    assert list(load_task(file).config.skills[0]) == ["left", "right"]


def test_a_short_pour_names_what_it_pours_into(tmp_path):
    task = loaded(tmp_path, "  - {pick: apple}\n  - {pour: apple, into: bowl, spilled: 0.2}\n")
    pour = task.config.skills[0]["franka"][0]["left"][1]
    assert (pour.name, pour.objects, pour.spilled) == ("pour", ("apple", "bowl"), 0.2)
    with pytest.raises(ConfigError, match=r"say what into, e\.g\. \{pour: apple, into: bowl\}"):
        loaded(tmp_path, "  - {pour: apple}\n")

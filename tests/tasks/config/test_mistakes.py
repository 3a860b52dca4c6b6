"""Mistakes that people make in task files: each is found by ``check``, with its place, its cause and what to do."""

# ruff: noqa: E501 - a row is a row

import re
from pathlib import Path

import pytest

from handloom.cli.main import main
from handloom.cli.verbs import task as verb
from handloom.engine.trial import Try
from handloom.errors import ConfigError, HandloomError, InputError
from handloom.tasks import load_task
from handloom.tasks.rehearsal import rehearse
from handloom.values import Failure, FunnelStage

APPLE = "  - {object: apple, target: table, random_config: {pos_range: [[-0.25, 0, 0], [-0.1, 0.2, 0]], yaw_rotation: [-180, 180]}}\n"
TASK = f"""base: setups/fr3.yaml
objects:
  - {{name: apple, target_class: RigidObject, category: apple}}
  - {{name: bowl, target_class: RigidObject, category: bowl}}
regions:
{APPLE}  - {{object: bowl, target: table, random_config: {{pos_range: [[0.1, 0, 0], [0.25, 0.2, 0]], yaw_rotation: [-180, 180]}}}}
data: {{language_instruction: "Put the {{apple}} into the {{bowl}}."}}
skills:
  - {{pick: apple}}
  - {{place: apple, in: bowl}}
"""
PLACE = "[[-0.25, 0, 0], [-0.1, 0.2, 0]]"

AT_ONCE = {
    "an arm the robot does not have": ("{pick: apple}", "{pick: apple, arm: right}", r":10: .*no right arm.*: left"),
    "an unknown placeholder": ("{apple} into", "{aple} into", r":8: .*\{aple\}.*did you mean 'apple'\?"),
    "an unknown placeholder of a skill": ("{pick: apple}", '{pick: apple, instruction: "Get {it}"}', r":10: .*\{it\}"),
    "a skill without its keys": ("{pick: apple}", "{name: move, objects: [apple, bowl]}", r":10: .*required and missing"),
    "a tab": ("  - {pick: apple}", "\t- {pick: apple}", r":10: .*this line contains a tab.*spaces"),
    "an unknown skill": ("{pick: apple}", "{name: pik, objects: [apple]}", r":10: .*did you mean 'pick'\?"),
    "an unknown short form": ("{pick: apple}", "{pik: apple}", r":10: .*did you mean 'pick'\?"),
    "an unknown robot": ("base: setups/fr3.yaml", "robots: [{name: franka, robot_config_file: frr3}]", r":1: .*did you mean 'fr3'\?"),
    "an unknown base": ("setups/fr3.yaml", "setups/fr4.yaml", r":1: base: setups/fr4.yaml was not found; did you mean 'setups/fr3.yaml'\? searched .*its setups: .*setups/genie1.yaml"),
    "a base of one's own misspelt": ("setups/fr3.yaml", "tsk.yaml", r":1: base: tsk.yaml was not found; did you mean 'task.yaml'\?"),
    "a camera to drop that is not there": ("data:", "cameras: [{name: franka_hnd, drop: true}]\ndata:", r":8: cameras\.0: drop: the base has no 'franka_hnd'; did you mean 'franka_hand'\?"),
    "a picture of one number": ("data:", "cameras: [{name: front, look_at: [apple], size: 320}]\ndata:", r":8: cameras\.2\.size: is width and height \[px\], e\.g\. \[320, 240\], got 320$"),
    "millimetres": (PLACE, "[[-250, 0, 0], [-100, 200, 0]]", r":6: .*lengths are in metres.*-250 mm would be -0\.25"),
    "a number for a list": ("data:", "table_height: 0.75\ndata:", r":8: table_height: must be a list, such as \[0\.75, \.\.\.\]"),
    "an unknown category": ("category: apple", "category: aple", r":3: .*did you mean 'apple'\?"),
    "an unknown object": ("{pick: apple}", "{pick: aple}", r":10: .*did you mean 'apple'\?"),
    "a place without a target": ("{place: apple, in: bowl}", "{place: apple}", r":11: .*in, on, stack_on, beside, left_of.*to or at"),
    "a place with another word": ("in: bowl}", "inside: bowl}", r":11: .*got inside; did you mean in\?"),
    "home with a wrong arm": ("  - {pick: apple}", "  - {home: lft}\n  - {pick: apple}", r":10: .*\{home: left\}.*'lft'"),
    "a place with two targets": ("in: bowl}", "in: bowl, on: bowl}", r":11: .*got in, on"),
    "a pick of a number": ("{pick: apple}", "{pick: 3}", r":10: .*name of an object.*got 3"),
    "a lift that is too small": ("{pick: apple}", "{pick: apple, lift_th: 0.1}", r":10: .*0\.1 m \(lift_th\).*0\.07 m"),
    "a way down that goes up": ("in: bowl}", "in: bowl, pre_place_z_offset: 0.0}", r":11: .*0 m to place_z_offset 0\.01"),
    "a place beside that must be over": ("in: bowl}", "in: bowl, x_ratio_range: [1.2, 1.5]}", r":11: .*\[1\.2, 1\.5\]"),
    "an unknown target": ("{object: apple, target: table", "{object: apple, target: tabel", r":6: .*did you mean 'table'"),
    "an unknown colour": ("category: apple}", "category: apple, color: rde}", r":3: .*did you mean 'red'\?"),
    "an unknown approach": ("{pick: apple}", "{pick: apple, approach: above}", r":10: .*down, side, front, any or"),
    "an unknown key": ("{pick: apple}", "{pick: apple, lift_ht: 0.1}", r":10: .*did you mean 'lift_th'\?"),
    "a base that does not drive": ("{pick: apple}", "{name: mobile__rotate, objects: [apple]}", r":10: .*franka, which has none that drives; robots with one: lift2"),
    "a key twice": ("data: {", "data: {fps: 30, fps: 20, ", r":8: .*given twice"),
    "a word for a number": ("fr3.yaml\n", "fr3.yaml\ntable_height: high\n", r":2: table_height: .*got 'high'"),
    "one name for two": ("name: bowl", "name: apple", r":4: objects\.1\.name: .*used twice: apple, which is objects\.0 already"),
    "a camera that looks nowhere": ("data:", "cameras: [{name: front, translation: [1, 1, 1]}]\ndata:", r"orientation .* or a look_at"),
    "a camera that looks at nothing": ("data:", "cameras: [{name: front, look_at: [appel]}]\ndata:", r"did you mean 'apple'\?"),
}  # fmt: skip
IN_A_SCENE = {
    "a mesh that is not there": ("category: apple", "path: meshes/apple.obj", r":3: objects\.0\.path: no asset file"),
    "a wrong parameter": ("category: apple}", "category: apple, parameters: {radios: 0.04}}", r":3: .*no parameter 'radios'; known: .*width"),
    "an object without a region": (APPLE, "", r":3: .*apple has no region and no translation; add a region such as"),
    "a region out of reach": (PLACE, "[[-0.55, 0.4, 0], [-0.5, 0.45, 0]]", r":6: .*reaches 0\.9\d m.*towards -y and \+x"),
    "a region off the table": (PLACE, "[[-2.5, 0, 0], [-2.1, 0.2, 0]]", r":6: .*x from -2\.5 to -2\.1 m.*ends at -0\.70"),
    "a region just off the table": (PLACE, "[[-1.2, 0, 0], [-1.1, 0.2, 0]]", r":6: .*x from -1\.2 to -1\.1 m.*ends at -0\.70"),
    "an object that was not picked": ("  - {pick: apple}\n", "", r":10: .*needs apple in the hand.*\{pick: apple\}"),
    "an object that is too wide": ("category: apple}", "category: apple, scale: [1.6, 1.6, 1.6]}", r":10: .*apple is 0\.1\d\d x .* the hand of franka opens 0\.080 m.*scale"),
    "an approach that no grasp has": ("{pick: apple}", "{pick: apple, approach: [down, 0.01]}", r":10: .*approach: \[down, 0\.01\].* degrees off straight down.*any"),
    "a camera that sees nothing": ("data:", "cameras: [{name: franka_head, translation: [0, 3, 1], orientation: [1, 0, 0, 0]}, {name: franka_hand, translation: [0, 0, -0.2]}]\ndata:", r"no camera has apple in its image.*look_at"),
    "a camera in the table": ("data:", "cameras: [{name: front, translation: [0, 0, 0.74], look_at: [0, 0.3, 0.75]}]\ndata:", r"front is inside table"),
}  # fmt: skip

CLOSE = """base: setups/fr3.yaml
objects:
  - {name: bowl, category: bowl}
regions:
  - {object: bowl, target: table, random_config: {pos_range: [[0.17, 0.1], [0.18, 0.11]]}}
cameras: [{name: franka_head, translation: [0.17, 0.1, 0.9], orientation: [1, 0, 0, 0]}]
skills:
  - {pick: bowl, rim: true}
"""
"""A camera just above a bowl, and what may be left out of objects and regions."""

CABINET = """base: setups/fr3.yaml
objects:
  - {name: cabinet, category: drawer_cabinet, target_class: ArticulatedObject, fix_base: true}
regions:
  - {object: cabinet, target: table, random_config: {pos_range: [[-0.1, 0.38], [0.1, 0.4]], yaw_rotation: [-5, 5]}}
distractors: {target: table, min_num: 20, max_num: 20, pos_range: [[-0.1, 0.0], [0.1, 0.1]]}
skills:
  - {name: open, objects: [cabinet]}
"""
"""The camera that this setup brings looks at the back of a cabinet, and twenty things do not fit there."""

DESK = """base: setups/so101.yaml
objects:
  - {name: egg, target_class: RigidObject, category: egg}
  - {name: bowl, target_class: RigidObject, category: bowl}
regions:
  - {object: egg, target: so101, random_type: A_by_B_circle_sampler, random_config: {r_range: [0.22, 0.24], theta_range: [100, 110], yaw_rotation: [0, 0]}}
  - {object: bowl, target: so101, random_type: A_by_B_circle_sampler, random_config: {r_range: [0.22, 0.24], theta_range: [50, 60], yaw_rotation: [0, 0]}}
data: {language_instruction: "Put the {egg} into the {bowl}."}
skills:
  - {pick: egg}
  - {place: egg, in: bowl}
"""
BY_A_SHORT_ARM = {
    "an object that is too near": ("[0.22, 0.24], theta_range: [100, 110]", "[0.1, 0.11], theta_range: [85, 95]", r":10: .*hand reaches none of them: it lies 0\.1\d m from the base of so101's left arm, which reaches from above from 0\.1\d to 0\.\d\d m.*towards \+y"),
    "a target that the hand cannot come to so": ("in: bowl}", "in: bowl, approach: [side, 3], keep_upright_widest: null}", r":11: .*egg can be grasped.*no place for it at bowl: it lies 0\.2\d m"),
    "an object that is too wide": ("category: egg", "category: orange", r":10: .*egg is 0\.07\d x .* the hand of so101 opens 0\.066 m"),
    "an object whose rim alone fits": ("category: egg", "category: plate", r":10: .*egg is 0\.1\d* x .* the hand of so101 opens 0\.066 m.*rim: true"),
    "an object that is too flat": ("category: egg", "category: chocolate_bar", r":10: .*touches what is around it.*too flat for this hand"),
    "an object that needs more joints": ("category: egg", "category: bottle", r":10: .*suits the 5 joints of this arm"),
}  # fmt: skip


def written(tmp_path: Path, old: str, new: str, task: str = TASK) -> Path:
    assert old in task
    file = tmp_path / "task.yaml"
    file.write_text(task.replace(old, new, 1))
    return file


@pytest.mark.parametrize("name", AT_ONCE)
def test_a_mistake_is_found_when_the_file_is_read(name, tmp_path):
    old, new, expected = AT_ONCE[name]
    with pytest.raises(HandloomError) as caught:
        load_task(written(tmp_path, old, new))
    assert re.search(expected, str(caught.value)), str(caught.value)


def test_an_object_that_is_not_there_is_told_once_with_the_line_of_the_skill(tmp_path):
    text = TASK.replace('data: {language_instruction: "Put the {apple} into the {bowl}."}\n', "")
    (file := tmp_path / "task.yaml").write_text(text.replace("{pick: apple}", "{pick: pear}"))
    with pytest.raises(HandloomError) as caught:
        load_task(file)
    (line,) = str(caught.value).splitlines()
    assert line.startswith(f"{file}:9: skills"), "not the sentence that was made up of the skills"


def test_what_lies_far_out_is_told_to_be_out_of_reach_first_and_in_the_users_own_file(tmp_path):
    far = written(tmp_path, PLACE, "[[0.6, 0.35, 0], [0.65, 0.4, 0]]")
    first, *others = rehearse(load_task(far), scenes=1).mistakes
    assert re.search(r":\d+: .*apple.*(lies|gets to)", first), first
    assert all(line.startswith(str(far)) for line in (first, *others)), others


def test_what_no_camera_shows_whole_and_what_never_varies_is_noted(tmp_path, capsys):
    (file := tmp_path / "task.yaml").write_text(CLOSE)
    notes = rehearse(load_task(file)).notes
    assert any(re.search(r":\d+: .*in \d of 3 scenes no camera shows the whole of bowl", note) for note in notes), notes
    file.write_text(TASK)
    assert main(["check", "--fast", str(file)]) == 0
    assert "every episode shows the same apple and bowl; apply_randomization: true" in capsys.readouterr().out
    file.write_text(TASK.replace("category: apple}", "category: apple, apply_randomization: true}"))
    assert main(["check", "--fast", str(file)]) == 0
    assert "every episode" not in capsys.readouterr().out


def test_what_the_workplaces_camera_does_not_see_is_a_note_and_what_ones_own_does_not_see_a_mistake(tmp_path):
    corner = CLOSE.replace("[[0.17, 0.1], [0.18, 0.11]]", "[[-0.5, -0.3], [-0.49, -0.29]]")
    (file := tmp_path / "task.yaml").write_text(re.sub("cameras: .*\n", "", corner))
    seen = rehearse(load_task(file), scenes=2, hands=False)
    assert not seen.mistakes
    (note,) = [note for note in seen.notes if "no camera has bowl in its image" in note]
    assert re.search(
        r"task.yaml:5: .*; (cameras: \[\{name: front, look_at: \[bowl\]\}\]) in the task file would", note
    ), note
    file.write_text(corner)
    seen = rehearse(load_task(file), scenes=2, hands=False)
    assert seen.mistakes == seen.unseen
    assert re.search(r"task.yaml:6: .*; under cameras, - \{name: front, look_at: \[bowl\]\} would", seen.mistakes[0])


def test_check_goes_on_to_the_tries_and_tells_the_rate_whatever_the_cameras_see(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(verb, "tries_of", lambda task, count, on_try: [Try(k, None) for k in range(count)])
    corner = CLOSE.replace("[[0.17, 0.1], [0.18, 0.11]]", "[[-0.5, -0.3], [-0.49, -0.29]]")
    (file := tmp_path / "task.yaml").write_text(corner)
    assert main(["check", str(file)]) == 2
    shown = capsys.readouterr().out
    assert shown.startswith(f"wrong {file}")
    assert "note: the expert succeeded in 8 of 8 tries" in shown
    file.write_text(re.sub("cameras: .*\n", "", corner))
    assert main(["check", str(file)]) == 0
    assert capsys.readouterr().out.startswith(f"ok {file}")


@pytest.mark.parametrize(("outcomes", "rc", "word"), [("++++-+-+", 0, "unsure"), ("-+--+-+-", 2, "wrong")])
def test_check_calls_a_task_by_its_tries(outcomes, rc, word, tmp_path, capsys, monkeypatch):
    dropped = Failure(stage=FunnelStage.EXECUTE, reason="not_held", detail="it fell")
    tried = [Try(k, None if outcome == "+" else dropped, ("skills",)) for k, outcome in enumerate(outcomes)]
    monkeypatch.setattr(verb, "tries_of", lambda *_, **__: tried)
    (file := tmp_path / "task.yaml").write_text(TASK)
    assert main(["check", str(file)]) == rc
    shown = capsys.readouterr().out
    assert shown.startswith(f"{word} {file}")
    assert f"in {outcomes.count('+')} of 8 tries, so expect " in shown


def test_a_place_without_a_pick_is_found_without_a_scene(tmp_path, capsys):
    file = written(tmp_path, "  - {pick: apple}\n", "")
    assert main(["check", "--fast", str(file)]) == 2
    assert re.search(r"task.yaml:10: .*needs apple in the hand", capsys.readouterr().out)


def test_objects_that_find_no_room_in_the_default_area_are_told_to_get_regions(tmp_path, capsys, monkeypatch):
    for search in ("proposals", "nearby_proposals"):
        monkeypatch.setattr(verb, search, lambda *given: iter(()))
    trays = "\n".join(f"  - {{name: tray_{k}, category: tray}}" for k in range(6))
    (file := tmp_path / "task.yaml").write_text(f"robot: so101\nobjects:\n{trays}\nskills: [{{pick: tray_0}}]\n")
    assert main(["check", str(file)]) == 2
    shown = capsys.readouterr().out
    assert re.search(
        r"task.yaml:3: .*6 objects without a region \(tray_0, .*no room together in the default area", shown
    )
    assert "regions.5" not in shown
    assert "pos_range" not in shown


def test_a_task_whose_default_place_is_a_table_that_its_rooms_lack_is_told_what_to_write(tmp_path):
    text = "robot: fr3\nroom: {kind: kitchen, layout: any, at: stove}\nobjects: [{name: bell, category: desk_bell}]\n"
    (file := tmp_path / "task.yaml").write_text(text + "skills: [{press: bell}]\n")
    with pytest.raises(ConfigError) as caught:
        load_task(file)
    said = str(caught.value)
    assert re.search(r"task.yaml:3: objects.0: bell has no region of its own and is placed on 'table'", said), said
    assert "write base: setups/kitchen_fr3.yaml or setups/kitchen_lift2.yaml instead of robot" in said


def test_only_objects_with_joints_are_offered_to_a_skill_that_moves_one(tmp_path):
    text = "robot: fr3\nobjects: [{name: oven, category: microwave}, {name: flour, category: can}]\nskills: [{close: door}]\n"
    (file := tmp_path / "task.yaml").write_text(text)
    with pytest.raises(
        ConfigError, match=r"no object with joints named 'door'; known: oven; .*\{close: \{oven: door\}\}"
    ):
        load_task(file)


def test_a_setup_can_be_shown_by_the_name_that_base_uses(capsys):
    assert main(["show", "setups/kitchen_fr3.yaml"]) == 0
    shown = capsys.readouterr().out
    assert "write base: setups/kitchen_fr3.yaml" in shown
    assert "robot_stand" in shown
    assert "robot_config_file: fr3" in shown, "its base is merged"


def test_what_the_judge_demands_beyond_the_words_is_noted(tmp_path):
    text = TASK.replace("category: apple", "category: can").replace("category: bowl", "category: tray")
    (file := tmp_path / "task.yaml").write_text(text)
    (note,) = [note for note in rehearse(load_task(file), scenes=1, hands=False).notes if "the judge demands" in note]
    assert re.search(r"task.yaml:11: .*at the end: apple upright in bowl, .*upright: false in place", note), note
    file.write_text(text.replace("in: bowl}", "in: bowl, upright: true}"))
    assert "the judge" not in " ".join(rehearse(load_task(file), scenes=1, hands=False).notes)


def test_a_camera_behind_a_cabinet_and_too_much_clutter_are_noted(tmp_path):
    (file := tmp_path / "task.yaml").write_text(CABINET)
    notes = " ".join(rehearse(load_task(file), scenes=1).notes)
    assert re.search(r"task.yaml:5: .*franka_head does not see the handle of drawer_\d of cabinet", notes), notes
    assert re.search(r"task.yaml:6: .*only \d+ of at least 20 distractors found room", notes), notes
    there = re.search(r"would?", notes) and re.search(r"\{name: franka_head, translation.*?\}", notes)
    assert there, notes
    file.write_text(CABINET.replace("skills:", f"cameras: [{there[0]}]\nskills:"))
    assert "does not see" not in " ".join(rehearse(load_task(file), scenes=1).notes), "what the note proposes sees it"


@pytest.mark.parametrize("name", IN_A_SCENE)
def test_a_mistake_is_found_in_a_sampled_scene(name, tmp_path):
    old, new, expected = IN_A_SCENE[name]
    found = rehearse(load_task(written(tmp_path, old, new)), scenes=1).mistakes
    assert any(re.search(expected, line) for line in found), found


@pytest.mark.parametrize("name", BY_A_SHORT_ARM)
def test_what_a_hand_cannot_take_or_put_away_is_told_with_its_limit(name, tmp_path):
    old, new, expected = BY_A_SHORT_ARM[name]
    found = rehearse(load_task(written(tmp_path, old, new, DESK)), scenes=1).mistakes
    assert any(re.search(expected, line) for line in found), found


@pytest.mark.parametrize("task", [TASK, DESK])
def test_a_task_without_a_mistake_has_none(task, tmp_path):
    file = tmp_path / "task.yaml"
    file.write_text(task)
    found = rehearse(load_task(file))
    assert found.mistakes == ()
    assert found.notes == ("3 of 3 sampled scenes: every object can be grasped and placed",)


def test_pictures_that_would_fill_the_memory_are_refused_with_the_way_around(monkeypatch):
    large = ["cameras.0.size=[4096, 4000]", "cameras.1.size=[1024, 1024]"]
    with pytest.raises(ConfigError, match=r"cameras.1: the cameras have 17432576 pixels .* HANDLOOM_MAX_PIXELS"):
        load_task("fr3_pick_cube", overrides=large)
    monkeypatch.setenv("HANDLOOM_MAX_PIXELS", "20000000")
    assert load_task("fr3_pick_cube", overrides=large).config.cameras[0].size == (4096, 4000)
    monkeypatch.setenv("HANDLOOM_MAX_PIXELS", "many")
    with pytest.raises(InputError, match="HANDLOOM_MAX_PIXELS must be a whole number of pixels"):
        load_task("fr3_pick_cube", overrides=large)


def test_a_parameter_of_a_category_written_beside_it_is_sent_to_parameters(tmp_path):
    entry = "{name: chest, category: drawer_cabinet, front_color: teal}"
    (file := tmp_path / "chest.yaml").write_text(f"robot: fr3\nobjects: [{entry}]\nskills: [{{open: chest}}]\n")
    with pytest.raises(ConfigError) as caught:
        load_task(file)
    assert "unknown key, it is a parameter of drawer_cabinet; put it into parameters: {front_color: teal}" in str(
        caught.value
    )


def test_check_notes_a_step_in_the_middle_that_the_end_state_does_not_show(tmp_path):
    objects = "[{name: egg, category: egg}, {name: scale, category: kitchen_scale}, {name: bowl, category: bowl}]"
    steps = "[{pick: egg}, {place: egg, on: scale}, {pick: egg}, {place: egg, in: bowl}]"
    (file := tmp_path / "weigh.yaml").write_text(f"robot: fr3\nobjects: {objects}\nskills: {steps}\n")
    notes = rehearse(load_task(file), scenes=1, hands=False).notes
    (note,) = [note for note in notes if "is not judged" in note]
    assert "that egg is put on or in scale is not judged: a later step moves it again" in note
    (file := tmp_path / "once.yaml").write_text("base: weigh.yaml\nskills: [{pick: egg}, {place: egg, in: bowl}]\n")
    assert not [note for note in rehearse(load_task(file), scenes=1, hands=False).notes if "is not judged" in note]

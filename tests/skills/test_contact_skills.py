"""Deeds by contact, in physics: pressed, struck, stamped, shaken, pushed, wiped, scanned, lifted together."""

from collections.abc import Sequence
from pathlib import Path

import mujoco
import numpy as np
import pytest

from handloom.engine.attempt import Stopwatch, simulate
from handloom.errors import ConfigError
from handloom.judging.checks import holds
from handloom.judging.judge import Judge
from handloom.scene import Scene
from handloom.scene.measures import world_box
from handloom.skills.contacts import press
from handloom.tasks import load_task
from handloom.values import Check, EpisodeRecord

HEAD = "base: setups/{robot}.yaml\ncameras: []\nobjects:\n"
SPOT = "  - {{object: {0}, target: table, random_config: {{pos_range: [[{1}, {2}], [{3}, {4}]], yaw_rotation: {5}}}}}\n"


def written(folder: Path, skills: str, *, robot: str = "fr3", **things: tuple[str, Sequence[float]]) -> Path:
    """Write a task: name > (keys of the object, x and y of its place [m] and its yaw [deg])."""
    text = HEAD.format(robot=robot)
    text += "".join(f"  - {{name: {name}, {keys}}}\n" for name, (keys, _) in things.items()) + "regions:\n"
    for name, (_, (x, y, *yaw)) in things.items():
        turn = [yaw[0] - 3, yaw[0] + 3] if yaw else [-180, 180]
        text += SPOT.format(name, x - 0.01, y - 0.01, x + 0.01, y + 0.01, turn)
    (file := folder / "task.yaml").write_text(text + f"skills: [{skills}]\n")
    return file


def attempt(file: Path, seed: int = 2) -> tuple[Scene, EpisodeRecord]:
    return simulate(load_task(file), seed, 0, Stopwatch())


def held_at(scene: Scene, record: EpisodeRecord, term: Check) -> list[bool]:
    """Return whether a term holds, frame by frame."""
    found = []
    for state in record.states[::2]:
        scene.world.restore_state(state)
        found.append(holds(scene, term))
    return found


def term_of(record: EpisodeRecord, name: str) -> Check:
    return next(term for term in record.goal if term.name == name)


def judged(scene: Scene, record: EpisodeRecord, terms: Sequence[Check]) -> bool:
    """Return whether terms have all been fulfilled at the end of an episode, in their order."""
    judge = Judge(scene, terms, hold=0.0)
    for frame, state in enumerate(record.states):
        scene.world.restore_state(state)
        judge.look(frame)
    return judge.achieved


BELL = ("category: desk_bell, target_class: ArticulatedObject", (0.05, 0.05))
STAPLER = ("category: lever_stapler, target_class: ArticulatedObject", (0.05, 0.05))
SWITCH = ("category: toggle_switch, target_class: ArticulatedObject, fix_base: true", (0.05, 0.05, 0))


@pytest.mark.parametrize(
    ("skill", "thing", "joint"),
    [
        ("{press: thing}", BELL, "button"),
        ("{press: thing.top}", STAPLER, None),
        ("{press: thing.lever}", SWITCH, "lever"),
    ],
)
def test_what_moves_is_pressed_by_fingers_at_its_point(tmp_path: Path, skill, thing, joint):
    scene, record = attempt(written(tmp_path, skill, thing=thing))
    assert record.success, record.failure
    term = term_of(record, "pressed_at")
    moments = held_at(scene, record, term)
    assert any(moments)
    assert not moments[0]
    # A joint that is in, but not because of a finger, has not been pressed.
    scene.world.restore_state(record.states[0])
    address = scene.world.qpos_index(f"thing/{term.arguments['joint']}")
    scene.world.data.qpos[address] += 1.1 * term.arguments["travel"]
    mujoco.mj_forward(scene.world.model, scene.world.data)
    scene.world.invalidate()
    assert not holds(scene, term)


def test_a_press_that_was_not_deep_enough_is_repeated_deeper(tmp_path: Path, monkeypatch):
    # The fingertips end in front of where the planner takes them to be, as with bent meshes in a box.
    monkeypatch.setattr(press, "BEYOND", -0.004)
    file = written(tmp_path, "{press: thing}", thing=BELL)
    monkeypatch.setattr(press, "REPEATS", 0)
    _, once = attempt(file)
    assert once.failure is not None
    assert once.failure.reason.endswith("not_pressed_at")
    monkeypatch.setattr(press, "REPEATS", 3)
    _, record = attempt(file)
    assert record.success, record.failure
    assert record.frames > once.frames


def test_what_does_not_move_is_pressed_with_a_force(tmp_path: Path):
    scene, record = attempt(written(tmp_path, "{press: book.top, force: 2}", book=("category: book", (0.0, 0.05))))
    assert record.success, record.failure
    term = term_of(record, "pressed_at")
    harder = Check(name=term.name, arguments={**term.arguments, "force": 500.0})
    assert not any(held_at(scene, record, harder))
    elsewhere = Check(name=term.name, arguments={**term.arguments, "point": "left"})
    assert not any(held_at(scene, record, elsewhere))


def test_a_mallet_strikes_with_its_head_twice(tmp_path: Path):
    things = {"mallet": ("category: mallet", (0.1, 0.02, 90)), "block": ("category: cube", (-0.12, 0.04))}
    scene, record = attempt(written(tmp_path, "{pick: mallet}, {strike: block, with: mallet.head, times: 2}", **things))
    assert record.success, record.failure
    terms = [term for term in record.goal if term.name == "used_on"]
    assert [term.arguments.get("apart", False) for term in terms] == [False, True, False]
    more = (*terms, *(Check(name=t.name, arguments={**t.arguments, "stroke": 9}, seconds=t.seconds) for t in terms[1:]))
    assert judged(scene, record, terms)
    assert not judged(scene, record, more), "it struck twice, not three times"
    handle = Check(name="used_on", arguments={**terms[0].arguments, "point": "handle"})
    assert not any(held_at(scene, record, handle))


def test_a_shake_needs_its_number_of_strokes_in_a_hand(tmp_path: Path):
    file = written(tmp_path, "{pick: bottle}, {shake: bottle, times: 2}", bottle=("category: bottle", (0.05, 0.05)))
    scene, record = attempt(file)
    assert record.success, record.failure
    strokes = [term for term in record.goal if term.name == "swings"]
    assert len(strokes) == 4
    assert judged(scene, record, strokes)
    more = (*strokes, *(Check(name=s.name, arguments={**s.arguments, "stroke": 7}, seconds=0.1) for s in strokes[:2]))
    assert not judged(scene, record, more)
    sideways = [Check(name=s.name, arguments={**s.arguments, "way": [1.0, 0.0, 0.0]}, seconds=0.1) for s in strokes]
    assert not judged(scene, record, sideways)


@pytest.mark.parametrize(
    ("skill", "thing"),
    [
        ("{push: plate, by: [-0.12, 0.06]}", "category: plate"),
        ("{slide: plate, to: [-0.1, 0.0]}", "category: snack_box"),
    ],
)
def test_a_thing_is_pushed_to_its_spot_and_never_lifted(tmp_path: Path, skill: str, thing: str):
    scene, record = attempt(written(tmp_path, skill, plate=(thing, (0.08, 0.04))))
    assert record.success, record.failure
    heights = []
    for state in record.states[::3]:
        scene.world.restore_state(state)
        heights.append(float(world_box(scene, "plate")[0, 2]))
    assert max(heights) - min(heights) < 0.02
    term = term_of(record, "placed_at")
    assert not held_at(scene, record, term)[0]


def test_a_plate_is_wiped_with_a_sponge(tmp_path: Path):
    things = {"sponge": ("category: sponge", (0.16, 0.02)), "plate": ("category: plate", (-0.1, 0.04))}
    _, record = attempt(written(tmp_path, "{pick: sponge}, {wipe: plate, with: sponge}", robot="fr3", **things))
    assert record.success, record.failure
    assert term_of(record, "wipes").seconds == pytest.approx(0.5)


def test_a_pen_goes_into_its_cup_with_the_named_end_down(tmp_path: Path):
    things = {"pen": ("category: pen", (0.17, 0.02)), "cup": ("category: pen_holder", (-0.08, 0.07))}
    scene, record = attempt(written(tmp_path, "{pick: pen}, {insert: pen.head, into: cup}", robot="fr3", **things))
    assert record.success, record.failure
    scene.world.restore_state(record.states[-1])
    down = term_of(record, "points_up")
    assert holds(scene, down)
    other = Check(name=down.name, arguments={**down.arguments, "axis": np.negative(down.arguments["axis"]).tolist()})
    assert not holds(scene, other)


def test_both_hands_lift_a_pot_by_its_handles_and_hold_it(tmp_path: Path):
    pot = ("category: soup_pot", (0.0, -0.345, 0))
    skill = "{lift: pot, with: both, by: 0.1, points: [left_handle, right_handle]}"
    scene, record = attempt(written(tmp_path, skill, robot="lift2", pot=pot))
    assert record.success, record.failure
    scene.world.restore_state(record.states[-1])
    assert holds(scene, Check(name="held_by_both", arguments={"object": "pot"}))


def test_a_handover_needs_both_hands_at_once_and_then_one(tmp_path: Path):
    (file := tmp_path / "task.yaml").write_text(
        "robot: lift2\ncameras: []\nobjects: [{name: mic, category: microphone}]\n"
        "regions: [{object: mic, at: [[0.12, -0.03], [0.18, 0.03]]}]\nskills: [{handover: mic}]\n"
    )
    scene, record = attempt(file)
    assert record.success, record.failure
    assert {term.name for term in record.goal} == {"held_by_both", "in_one_hand"}
    picked = next(k for k, ok in enumerate(held_at(scene, record, term_of(record, "in_one_hand"))) if ok)
    scene.world.restore_state(record.states[2 * picked])
    assert not holds(scene, term_of(record, "held_by_both")), "the first hand alone has it"


def test_a_held_scanner_looks_at_what_the_other_hand_holds(tmp_path: Path):
    things = {
        "scanner": ("category: hand_scanner", (0.21, -0.35, 180)),
        "box": ("category: tea_box", (-0.21, -0.35, 0)),
    }
    skills = "{pick: box, arm: left}, {pick: scanner, arm: right}, {scan: box, with: scanner, arm: right}"
    _, record = attempt(written(tmp_path, skills, robot="lift2", **things))
    assert record.success, record.failure
    assert term_of(record, "in_view").arguments["scanner"] == "scanner"


def test_a_knob_is_turned_further_than_a_hand_turns_by_taking_hold_again(tmp_path: Path):
    knob = "category: knob, target_class: ArticulatedObject, fix_base: true, parameters: {knobs: 1, height: 0.36}"
    scene, record = attempt(written(tmp_path, "{turn: panel.knob_0, by: 180}", panel=(knob, (0.0, 0.26, 0))))
    assert record.success, record.failure
    assert sum(span.skill == "rotate" for span in record.timeline) == 2
    scene.world.restore_state(record.states[-1])
    assert scene.world.joint_position("panel/knob_0_joint") > 0.85 * np.pi


def test_a_goal_names_points_tools_and_both_hands(tmp_path: Path):
    things = {"mallet": ("category: mallet", (0.1, 0.02, 90)), "block": ("category: cube", (-0.12, 0.04))}
    file = written(tmp_path, "{pick: mallet}, {strike: block, with: mallet.head}", robot="fr3", **things)
    goal = "[{object: block, touched_with: {mallet: head}}, {object: mallet, held: true}]"
    file.write_text(file.read_text() + f"goal: {goal}\n")
    _, record = attempt(file)
    assert record.success, record.failure
    assert [term.name for term in record.goal] == ["used_on", "in_hand"]
    file.write_text(file.read_text().replace("{mallet: head}", "{mallet: handle}"))
    _, record = attempt(file)
    assert not record.success


def test_hang_takes_its_peg_from_the_point_of_the_tree(tmp_path: Path):
    things = {"mug": ("category: mug", (0.1, 0.0)), "tree": ("category: mug_tree", (-0.1, 0.1))}
    task = load_task(written(tmp_path, "{pick: mug}, {hang: mug.handle, on: tree.peg_1}", robot="fr3", **things))
    hang = task.config.skills[0]["franka"][0]["left"][1]
    assert (hang.name, hang.objects, getattr(hang, "peg", None)) == ("hang", ("mug", "tree"), "peg_1")


@pytest.mark.parametrize(
    ("skill", "message"),
    [
        ("{press: bell.nose}", r"bell \(desk_bell\) has no point 'nose'"),
        ("{strike: bell}", "say with what, e.g. {strike: bell, with: hammer.head}"),
        ("{wipe: bell}", "say with what"),
        ("{scan: bell}", "with: scanner points a held scanner at it"),
        ("{slide: bell}", r"say where to, with one of to: \[x, y\]"),
        ("{push: bell, to: [0, 0], by: [0.1, 0]}", "say where to, with one of"),
        ("{lift: bell, with: left}", "one hand lifts it with {pick: bell}"),
        ("{stack: [bell]}", "two objects or more"),
        ("{arrange: [bell, bell]}", "every object once"),
        ("{insert: bell}", "say what into"),
        ("{shake: bell, times: 0}", "times"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_file_and_line(tmp_path: Path, skill: str, message: str):
    file = written(tmp_path, skill, bell=BELL)
    with pytest.raises(ConfigError, match=message) as raised:
        load_task(file)
    assert f"{file}:7" in str(raised.value)

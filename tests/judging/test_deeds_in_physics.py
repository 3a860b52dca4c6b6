"""Deeds of a moment and places by the metre, carried out in physics: pressed, wiped, at a spot, facing."""

from pathlib import Path

import numpy as np
import pytest
from tests.judging.conftest import put

from handloom.engine.attempt import Stopwatch, simulate
from handloom.errors import HandloomError
from handloom.judging.checks import holds
from handloom.scene import Scene, build_scene
from handloom.scene.measures import world_box
from handloom.spatial import quat_from_rotvec
from handloom.tasks import load_task, sample_task
from handloom.values import EpisodeRecord

PEDAL = """
base: setups/fr3.yaml
cameras: []
objects: [{name: bin, target_class: ArticulatedObject, category: trash_can, fix_base: true}]
regions:
  - {object: bin, target: table, random_config: {pos_range: [[0.0, 0.25], [0.05, 0.3]], yaw_rotation: [-5, 5]}}
skills: [{press: {bin: pedal}}]
"""
HOVER = """
base: setups/fr3.yaml
cameras: []
objects: [{{name: book, category: book}}]
regions: [{{object: book, target: table, random_config: {{pos_range: [[0, 0.05], [0, 0.05]], yaw_rotation: [0, 0]}}}}]
goal: [{{object: book, pressed: true}}]
data: {{language_instruction: Press the book.}}
skills:
  - {{name: goto__pose, objects: [], over: book, position: [0, 0, {height}], euler: [180, 0, 0], gripper_state: -1,
     ignore_substring: [book], test_mode: ik}}
"""
WIPE = """
base: franka_robotiq85_wipe_plate.yaml
cameras: []
goal: [{{object: plate, wiped_with: {tool}}}]
"""
SPOT = """
base: setups/fr3.yaml
cameras: []
objects: [{name: mug, category: mug}]
regions: [{object: mug, target: table, random_config: {pos_range: [[-0.2, 0.0], [-0.1, 0.1]]}}]
skills: [{pick: mug}, {place: mug, on: table, at: [0.15, 0.05], facing: 90}]
"""


def attempt(folder: Path, text: str, seed: int = 3) -> tuple[Scene, EpisodeRecord]:
    (file := folder / "task.yaml").write_text(text)
    scene, record = simulate(load_task(file), seed, 0, Stopwatch())
    scene.world.restore_state(record.states[-1])
    return scene, record


def test_a_pedal_that_springs_back_has_been_pressed(tmp_path: Path):
    scene, record = attempt(tmp_path, PEDAL)
    assert record.success, record.failure
    assert scene.world.joint_position("bin/pedal_joint") == pytest.approx(0.0, abs=0.05)
    (term,) = (term for term in record.goal if term.name == "joint_state")
    assert not holds(scene, term), "it is back where it was"
    moments = []
    for state in record.states[::4]:
        scene.world.restore_state(state)
        moments.append(holds(scene, term))
    assert any(moments)
    assert not moments[0]


def test_a_hand_above_a_thing_has_not_pressed_it_and_one_upon_it_has(tmp_path: Path):
    scene = build_scene(sample_task(load_task(written(tmp_path, HOVER.format(height=0.2))), 0, 0))
    arm = scene.robot("franka").arms[0].spec
    reach = float(arm.T_tool_tcp[:3, 3] @ arm.approach)
    _, above = attempt(tmp_path, HOVER.format(height=reach + 0.03))
    assert not above.success
    assert above.failure is not None
    assert above.failure.reason == "not_pushed_down"
    _, upon = attempt(tmp_path, HOVER.format(height=reach - 0.012))
    assert upon.success, upon.failure


def written(folder: Path, text: str) -> Path:
    (file := folder / "task.yaml").write_text(text)
    return file


def test_a_plate_is_wiped_with_what_rubs_on_it(tmp_path: Path):
    _, record = attempt(tmp_path, WIPE.format(tool="sponge"))
    assert record.success, record.failure
    assert [term.name for term in record.goal] == ["wipes"]
    with pytest.raises(HandloomError, match=r"part of sponge.*'bristles'"):
        attempt(tmp_path, WIPE.format(tool="{sponge: bristles}"))


def test_what_lies_still_on_a_plate_does_not_wipe_it(tmp_path: Path):
    scene, record = attempt(tmp_path, WIPE.format(tool="sponge"))
    (term,) = record.goal
    assert world_box(scene, "sponge")[0, 2] < world_box(scene, "plate")[1, 2] + 0.002
    assert not holds(scene, term)


def test_a_short_place_says_where_and_how_it_is_turned_and_both_are_judged(tmp_path: Path):
    scene, record = attempt(tmp_path, SPOT)
    assert record.success, record.failure
    middle = world_box(scene, "mug").mean(axis=0)[:2] - world_box(scene, "table").mean(axis=0)[:2]
    assert np.abs(middle - [0.15, 0.05]).max() < 0.03
    x = scene.object_pose("mug")[:2, 0]
    assert np.rad2deg(np.arctan2(x[1], x[0])) == pytest.approx(90.0, abs=15.0)
    place, heading = (next(term for term in record.goal if term.name == name) for name in ("placed_at", "headed"))
    for shift, turn, still_there, still_turned in (
        (0.0, 0.0, True, True),
        (0.06, 0.0, False, True),
        (0.0, 0.6, True, False),
    ):
        scene.world.restore_state(record.states[-1])
        yaw = float(np.arctan2(x[1], x[0])) + turn
        put(scene, "mug", scene.object_pose("mug")[:3, 3] + [shift, 0.0, 0.0], quat_from_rotvec([0.0, 0.0, yaw]))
        assert (holds(scene, place), holds(scene, heading)) == (still_there, still_turned)

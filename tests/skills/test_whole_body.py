"""Whole-body reach: a robot whose arm does not reach drives nearer, if its task lets it, and only then."""

from pathlib import Path

import numpy as np
import pytest

from handloom.engine.attempt import Stopwatch, parked, simulate
from handloom.episode.columns import robot_series
from handloom.episode.replay import replay
from handloom.scene import build_scene
from handloom.skills.mobile_base.whole_body import FARTHEST, imagined_stance, places_around
from handloom.tasks import Task, load_task, sample_task

TASK = """
base: setups/lift2.yaml
robots: [{name: lift2, translation: [0.0, Y, 0.168]}]
objects: [{name: cube, target_class: RigidObject, category: cube, parameters: {edge: 0.05}}]
regions:
  - {object: cube, target: table, random_config: {pos_range: [[-0.42, -0.3, 0], [-0.38, -0.25, 0]],
     yaw_rotation: [-10, 10]}}
cameras: []
data: {language_instruction: Pick up the cube., max_episode_length: 600}
skills:
  - lift2: [{left: [{name: pick, objects: [cube], filter_x_dir: [downward, 130], lift_th: 0.03,
                    post_grasp_offset_min: 0.08, post_grasp_offset_max: 0.1}]}]
"""


def task(folder: Path, *, y: float, keys: str = "") -> Task:
    """Return a pick by a robot that stands ``y`` from the middle of the table [m]."""
    file = folder / "far.yaml"
    file.write_text(TASK.replace("Y", str(y)) + keys)
    return load_task(file)


@pytest.fixture(scope="module")
def far(tmp_path_factory):
    """Return scene and record of a robot that drives nearer and picks."""
    return simulate(task(tmp_path_factory.mktemp("far"), y=-1.15, keys="whole_body: true"), 3, 0, Stopwatch())


def test_a_robot_that_stands_too_far_fails_unless_its_task_lets_it_drive(tmp_path: Path, far) -> None:
    _, held = simulate(task(tmp_path, y=-1.15), 3, 0, Stopwatch())
    assert held.failure is not None
    assert held.failure.stage.value in ("reach", "plan")
    _, record = far
    assert record.failure is None
    assert [(span.skill, span.objects, span.success) for span in record.timeline] == [
        ("reposition", ("cube",), True),
        ("pick", ("cube",), True),
    ]
    assert record.timeline[0].instruction == "Drive to where the cube is in reach."


def test_the_drive_is_in_the_columns_and_the_episode_replays_bit_for_bit(far) -> None:
    scene, record = far
    assert replay(record).first_difference is None
    scene.world.restore_state(record.states[0])
    base = robot_series(scene, record)["lift2"].base
    assert base is not None
    assert 0.05 < np.hypot(*(base.pose[-1] - base.pose[0])[:2]) <= FARTHEST
    drive = record.timeline[0]
    assert np.abs(base.command[drive.start : drive.end]).max() > 0.05
    assert not base.command[drive.end + 1 :].any(), "the base stands while the arm works"


def test_an_episode_that_needs_no_drive_has_the_bits_of_a_held_base_and_columns_of_one_that_stands(
    tmp_path: Path,
) -> None:
    _, held = simulate(task(tmp_path, y=-0.82), 3, 0, Stopwatch())
    scene, record = simulate(task(tmp_path, y=-0.82, keys="whole_body: true"), 3, 0, Stopwatch())
    assert held.failure is None
    assert record.model_hash == held.model_hash
    assert np.array_equal(record.states, held.states)
    base = robot_series(scene, record)["lift2"].base
    assert base is not None
    assert not base.command.any()
    assert base.pose[0] == pytest.approx([0.0, -0.82, np.pi / 2], abs=1e-6)


def test_files_of_the_reference_system_allow_it_and_others_say_so(tmp_path: Path) -> None:
    assert "base" not in sample_task(task(tmp_path, y=-0.82), 0, 0).robots[0].overrides
    allowed = sample_task(task(tmp_path, y=-0.82, keys="whole_body: true"), 0, 0)
    assert allowed.robots[0].overrides["base"] == "reaching"
    assert parked(allowed).robots[0].overrides["base"] == "parked"
    robot = tmp_path / "robots" / "lift2.yaml"
    robot.parent.mkdir()
    robot.write_text("target_class: Lift2\npath: lift2/robot.usd\n")
    for keys, base in (("", "reaching"), ("whole_body: false", None)):
        file = tmp_path / "published.yaml"
        named = TASK.replace("Y", "-0.82").replace(
            "{name: lift2,", "{name: lift2, robot_config_file: robots/lift2.yaml,"
        )
        file.write_text(named + keys)
        assert sample_task(load_task(file), 0, 0).robots[0].overrides.get("base") == base


def test_an_imagined_place_leaves_the_scene_as_it_was(tmp_path: Path) -> None:
    scene = build_scene(sample_task(task(tmp_path, y=-0.82, keys="whole_body: true"), 0, 0))
    base = scene.robot("lift2").base
    assert base is not None
    before, hand = scene.world.save_state(), scene.robot("lift2").arm("left").T_world_base.copy()
    with imagined_stance(scene, base, base.pose + np.array([0.2, 0.1, 0.3]), ()):
        assert np.linalg.norm(scene.robot("lift2").arm("left").T_world_base[:3, 3] - hand[:3, 3]) > 0.1
    assert np.array_equal(scene.world.save_state(), before)
    assert np.array_equal(scene.robot("lift2").arm("left").T_world_base, hand)


def test_places_to_stand_are_near_first_and_look_at_the_object_as_before() -> None:
    here, point = np.array([0.0, -0.8, np.pi / 2]), np.array([0.2, 0.0])
    places = places_around(here, point)
    ways = [np.hypot(*(place[:2] - here[:2])) for place in places]
    assert 0.0 < min(ways) < 0.2
    assert max(ways) <= FARTHEST
    assert all(abs(place[2] - here[2]) <= np.deg2rad(40.0) + 1e-9 for place in places)

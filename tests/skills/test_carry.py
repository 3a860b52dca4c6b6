"""Carrying an object with both hands in physics."""

from pathlib import Path

import numpy as np
import pytest
from tests.skills.conftest import run_with

from handloom.arrays import Array
from handloom.engine.attempt import Stopwatch, simulate
from handloom.episode import replay
from handloom.errors import ConfigError
from handloom.judging.checks import holds
from handloom.scene import Scene
from handloom.scene.named_points import named_point
from handloom.tasks import load_task, sample_task
from handloom.tasks.goal_rehearsal import goal_in_words
from handloom.values import Check, EpisodeRecord, FunnelStage, TaskInstance

CARRY = {"name": "carry", "objects": ["tray", "mat"], "t_eps": 0.01, "o_eps": 0.1}


@pytest.fixture(scope="module")
def instance() -> TaskInstance:
    return sample_task(load_task("lift2_carry_tray"), 3, 0)


@pytest.fixture(scope="module")
def carried(instance: TaskInstance) -> tuple[Scene, EpisodeRecord]:
    return run_with(instance, CARRY)


def poses(scene: Scene, record: EpisodeRecord, name: str) -> Array:
    """Return T_world_object (frames, 4, 4)."""
    found = []
    for state in record.states:
        scene.world.restore_state(state)
        found.append(scene.object_pose(name))
    return np.array(found)


def test_both_hands_carry_a_tray_level_and_put_it_down_with_the_cup_on_it(carried):
    scene, record = carried
    assert record.success, record.failure
    tray, cup = (poses(scene, record, name) for name in ("tray", "cup"))
    assert np.rad2deg(np.arccos(np.clip(tray[:, 2, 2], -1, 1))).max() < 5.0
    assert tray[:, 2, 3].max() - tray[0, 2, 3] > 0.08, "it was lifted, not pushed"
    assert np.linalg.norm(tray[-1, :2, 3] - tray[0, :2, 3]) > 0.25
    on_tray = np.linalg.norm(cup[:, :2, 3] - tray[:, :2, 3], axis=1)
    assert np.ptp(on_tray) < 0.02, "the cup stands where it stood"
    names = {check.name for span in record.timeline for check in span.checks}
    assert {"points_up", "grasped", "lifted", "released"} <= names


def test_carrying_replays_bit_for_bit_and_succeeds_again(carried):
    _, record = carried
    report = replay(record)
    assert report.first_difference is None
    assert report.success_again


def test_more_tilt_than_was_allowed_is_no_success(instance: TaskInstance) -> None:
    _, record = run_with(instance, {**CARRY, "tilt": 0.05})
    assert record.failure is not None
    assert record.failure.reason == "not_points_up"
    assert "tray is upright to within 0 degrees, throughout (a larger tilt allows more)" in record.failure.detail


def test_what_must_hold_throughout_is_told_with_the_goal() -> None:
    assert goal_in_words(load_task("lift2_carry_tray"))[-1] == (
        "carry: tray is upright to within 5 degrees, throughout (a larger tilt allows more); else the expert's attempt "
        "fails"
    )


def test_a_pot_is_carried_by_its_handles(tmp_path: Path) -> None:
    file = tmp_path / "pot.yaml"
    file.write_text("""
robot: split_aloha
cameras: []
objects: [{name: pot, category: soup_pot}, {name: mat, category: place_mat}]
regions:
  - {object: pot, at: [[-0.18, -0.08], [-0.12, 0.02]], yaw: [-20, 20]}
  - {object: mat, at: [[0.14, -0.08], [0.2, 0.02]], yaw: [-20, 20]}
skills: [{carry: pot, to: mat, points: [left_handle, right_handle], tilt: 12}]
""")
    scene, record = simulate(load_task(file), 11, 0, Stopwatch())
    assert record.success, record.failure
    gaps = []
    for state in record.states:
        scene.world.restore_state(state)
        if holds(scene, Check(name="held_by_both", arguments={"object": "pot"})):
            handles = [named_point(scene, "pot", f"{side}_handle") for side in ("left", "right")]
            for arm in scene.robot("split_aloha").arms:
                tool = scene.world.data.body(arm.tool_body)
                tip = tool.xpos + tool.xmat.reshape(3, 3) @ arm.spec.T_tool_tcp[:3, 3]
                gaps.append(min(float(np.linalg.norm(tip - handle)) for handle in handles))
    assert len(gaps) > 60
    assert max(gaps) < 0.06


def test_a_target_that_one_hand_cannot_reach_names_the_hand(instance: TaskInstance) -> None:
    _, record = run_with(instance, {**CARRY, "x_ratio_range": (3.0, 3.0)})
    assert record.failure is not None
    assert record.failure.stage is FunnelStage.REACH
    assert "hand reaches none of" in record.failure.detail


def test_both_arms_are_needed_and_get_a_block_of_their_own(tmp_path: Path) -> None:
    file = tmp_path / "task.yaml"
    file.write_text("""
base: lift2_carry_tray.yaml
skills: [{lift2: [{left: [{name: carry, objects: [tray, mat]}], right: [{name: home}]}]}]
""")
    with pytest.raises(ConfigError, match="carry takes both arms; give it a block of one arm"):
        load_task(file)


def test_a_robot_with_one_arm_is_told_so(plate_instance: TaskInstance) -> None:
    with pytest.raises(ConfigError, match="carry takes both arms, and franka has one"):
        run_with(plate_instance, {**CARRY, "objects": ["cube", "plate"]})

"""Skills without an object of their own, each run in physics to its end."""

from pathlib import Path

import numpy as np
import pytest
from tests.skills.conftest import RunSkills, run_with, table_instance, thing

from handloom.engine.attempt import Stopwatch, simulate
from handloom.errors import ConfigError
from handloom.tasks import load_task
from handloom.values import FunnelStage

HOME = [0.0, -0.143, 0.0, -2.435, 0.0, 2.235, 0.789]


def test_joints_go_where_joint_ctrl_sends_them_and_home_brings_them_back(run_skills: RunSkills) -> None:
    turn = {"name": "joint_ctrl", "ctrl_list": [[6, 40.0, "delta"], [0, 10.0, "abs"]], "success_threshold_js": 0.05}
    scene, record = run_skills(turn)
    arm = scene.robot("franka").arm("left")
    assert record.success, record.failure
    assert arm.joints[0] == pytest.approx(np.deg2rad(10), abs=0.03)
    scene, record = run_skills(turn, {"name": "home"})
    assert record.success, record.failure
    assert np.linalg.norm(scene.robot("franka").arm("left").joints - HOME) < 0.088


LID = """
base: setups/franka_robotiq85.yaml
cameras: []
objects:
  - name: chest
    target_class: ArticulatedObject
    fix_base: true
    category: lidded_box
    parameters: {grip: bar, length: 0.1837, width: 0.131, height: 0.1207, style: bands, joint_damping: 0.0443}
regions: [{object: chest, target: table, random_config: {pos_range: [[0.061, 0.0077, 0], [0.061, 0.0077, 0]],
                                                         yaw_rotation: [14.8, 14.8]}}]
skills: [{open: chest}, home]
"""


def test_an_arm_whose_home_is_behind_the_lid_it_has_opened_stops_short_and_does_not_shut_it(tmp_path: Path) -> None:
    (file := tmp_path / "lid.yaml").write_text(LID)
    scene, record = simulate(load_task(file), 0, 0, Stopwatch())
    assert record.success, record.failure
    opened, home = record.timeline
    scene.world.restore_state(record.states[opened.end])
    angle = scene.world.joint_position("chest/lid_joint")
    scene.world.restore_state(record.states[-1])
    assert scene.world.joint_position("chest/lid_joint") == pytest.approx(angle, abs=0.02)
    arm = scene.robot("franka").arm("left")
    short = np.abs(np.array(home.checks[0].arguments["joints"]) - arm.spec.home).max()
    assert 0.01 < short < 0.6
    assert not scene.world.touching(scene.world.subtree("chest/lid"), arm.finger_bodies)


def test_relative_joints_add_to_the_present_ones(run_skills: RunSkills) -> None:
    delta = np.array([0.1, 0.0, 0.0, 0.15, 0.0, 0.0, -0.2])
    still, _ = run_skills({"name": "wait", "wait_steps": 2, "success_threshold": 0.02})
    before = still.robot("franka").arm("left").joints
    move = {"name": "heuristic__skill", "mode": "rel_qpos", "value": delta.tolist(), "t_eps": 0.03}
    scene, record = run_skills(move)
    assert record.success, record.failure
    assert np.abs(scene.robot("franka").arm("left").joints - before - delta).max() < 0.02


def test_the_hand_moves_by_a_pose_in_the_arm_base(run_skills: RunSkills) -> None:
    up = np.eye(4)
    up[2, 3] = 0.08
    move = {"name": "heuristic_skill", "mode": "rel_ee", "value": up.tolist(), "t_eps": 0.03}
    still, _ = run_skills({"name": "wait", "wait_steps": 2, "success_threshold": 0.02})
    scene, record = run_skills(move)
    assert record.success, record.failure
    lift = scene.world.body_pose("franka/fr3_hand") - still.world.body_pose("franka/fr3_hand")
    assert np.abs(lift[:3, 3] - [0, 0, 0.08]).max() < 0.01


def test_a_value_of_the_wrong_shape_is_refused(run_skills: RunSkills) -> None:
    with pytest.raises(ConfigError, match="needs a value of shape"):
        run_skills({"name": "heuristic__skill", "mode": "abs_qpos", "value": [0.0, 1.0]})


@pytest.mark.parametrize("ways", [1, 3])
def test_the_hand_reaches_a_pose_in_one_or_several_steps(run_skills: RunSkills, ways: int) -> None:
    pose = {"position": [0.45, 0.1, 0.4], "euler": [180, 0, 0]}
    scene, record = run_skills({"name": "goto_pose", **pose, "interp_nums": ways})
    arm = scene.robot("franka").arm("left")
    assert record.success, record.failure
    in_base = np.linalg.inv(arm.T_world_base) @ scene.world.body_pose(arm.tool_body)
    assert np.abs(in_base[:3, 3] - pose["position"]).max() < 0.01


def test_a_pose_out_of_reach_fails_with_the_reason(run_skills: RunSkills) -> None:
    _, record = run_skills({"name": "goto__pose", "position": [2.0, 0.0, 0.4], "euler": [180, 0, 0]})
    assert record.failure is not None
    assert (record.failure.stage, record.failure.reason) == (FunnelStage.REACH, "goal_unreachable")
    assert record.failure.skill == "goto__pose"


def test_a_pose_inside_the_table_fails_with_the_obstacle(run_skills: RunSkills) -> None:
    _, record = run_skills({"name": "goto__pose", "position": [0.45, 0.1, 0.05], "euler": [180, 0, 0]})
    assert record.failure is not None
    assert (record.failure.stage, record.failure.reason) == (FunnelStage.PLAN, "goal_in_collision")
    assert "table" in record.failure.detail


def test_the_gripper_closes_where_it_is(run_skills: RunSkills) -> None:
    scene, record = run_skills({"name": "gripper_action", "gripper_state": -1, "wait_steps": 25})
    arm = scene.robot("franka").arm("left")
    assert record.success
    assert scene.world.data.qpos[arm.gripper_qpos_index].max() < 0.01


def test_a_move_of_the_joints_goes_around_what_is_in_its_way(tmp_path) -> None:
    instance = table_instance(tmp_path, thing("box", "cereal_box", (0.0, 0.08)))
    beside = [0.7, 0.35, 0.0, -2.1, 0.0, 2.45, 0.785]
    sides = (beside, [-0.7, *beside[1:]])
    scene, record = run_with(instance, *({"name": "heuristic__skill", "mode": "abs_qpos", "value": q} for q in sides))
    assert record.success
    start = next(obj.position for obj in instance.objects if obj.name == "box")
    assert np.linalg.norm(scene.object_pose("box")[:3, 3] - start) < 0.001  # The published line pushes it by 0.2 m.

"""The pace of the expert and the limits of robots."""

import numpy as np
import pytest
from tests.skills.conftest import FRANKA, run_with, table_instance, thing

from handloom.episode.examine import examine
from handloom.robots import load_robot, robot_names
from handloom.scene import build_scene
from handloom.skills.arms.arm_controller import (
    JOINT_ACCELERATION,
    JOINT_SPEED,
    SHARE_OF_LIMITS,
    ArmController,
    motion_limits,
)
from handloom.skills.arms.arm_motion import LIMIT_MARGIN
from handloom.tasks import load_task, sample_task

ARMS = [arm for name in robot_names() for arm in load_robot(name).arms]


@pytest.mark.parametrize("arm", ARMS, ids=lambda arm: f"{arm.tool_body}")
def test_every_arm_of_the_zoo_has_limits_that_allow_the_pace_of_the_expert(arm):
    assert np.isfinite(arm.speed_limit).all()
    assert np.isfinite(arm.gripper_speed_limit).all()
    limits = motion_limits(arm)
    assert np.array_equal(limits.velocity, np.full(len(arm.joint_names), JOINT_SPEED))
    assert np.array_equal(limits.acceleration, np.full(len(arm.joint_names), JOINT_ACCELERATION))


def test_a_robot_without_limits_moves_at_the_pace_of_the_expert():
    arm = load_robot("fr3", overrides={"left_joint_speed_limit": [], "left_joint_acceleration_limit": []}).arms[0]
    assert np.isinf(arm.speed_limit).all()
    assert np.array_equal(motion_limits(arm).velocity, np.full(7, JOINT_SPEED))


def test_a_slow_joint_slows_its_motion_and_no_other():
    slow = [1.0, 2.62, 2.62, 2.62, 5.26, 4.18, 5.26]
    lazy = [10.0, 10.0, 10.0, 10.0, 10.0, 10.0, 2.0]
    overrides = {"left_joint_speed_limit": slow, "left_joint_acceleration_limit": lazy}
    limits = motion_limits(load_robot("fr3", overrides=overrides).arms[0])
    assert limits.velocity.tolist() == [SHARE_OF_LIMITS, *[JOINT_SPEED] * 6]
    assert limits.acceleration.tolist() == [*[JOINT_ACCELERATION] * 6, 2.0 * SHARE_OF_LIMITS]


@pytest.mark.parametrize("skill", [{"name": "pick", "objects": ["cube"], "gripper_change_steps": 12}, {"name": "home"}])
def test_planned_moves_and_joint_lines_keep_the_limits_of_a_slow_robot(tmp_path, skill):
    robot = {**FRANKA, "left_joint_speed_limit": [0.5] * 7}
    instance = table_instance(tmp_path, thing("cube", "cube", (-0.1, 0.0)), robot=robot)
    away = {"name": "heuristic__skill", "mode": "abs_qpos", "value": [0.4, 0.1, 0, -2, 0, 2.1, 0.8], "move_steps": 5}
    _, record = run_with(instance, away, skill)
    assert record.success, record.failure
    seen = examine(record)
    assert 0.9 * 0.35 < seen.commanded_speed < 1.01 * 0.35
    assert seen.share_of_speed_limit <= 1.0


@pytest.mark.parametrize("task", ["franka_robotiq85_pick_place", "split_aloha_pick_place", "so101_stack_cubes"])
def test_goals_stay_inside_the_joint_limits_but_a_folded_home_is_allowed(task):
    scene = build_scene(sample_task(load_task(task), 0, 0))
    for arm in next(iter(scene.robots.values())).arms:
        chain = ArmController(scene, arm).chain
        lower, upper = scene.world.model.jnt_range[[scene.world.joint_index(name) for name in arm.joint_names]].T
        home = arm.spec.home
        assert np.all((chain.lower <= home) & (home <= chain.upper))
        roomy = (home - lower > LIMIT_MARGIN) & (upper - home > LIMIT_MARGIN)
        assert roomy.any()
        assert np.allclose((chain.lower - lower)[roomy], LIMIT_MARGIN)
        assert np.allclose((upper - chain.upper)[roomy], LIMIT_MARGIN)
        assert np.all((chain.lower >= lower) & (chain.upper <= upper))

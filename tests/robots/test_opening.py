"""Grippers open as far as the real ones."""

import json
from pathlib import Path

import mujoco
import numpy as np
import pytest

from handloom.robots import load_robot, robot_names
from handloom.robots.checks.gripper_checks import measured_opening

ARMS = [(name, arm.name) for name in robot_names() for arm in load_robot(name).arms if not arm.suction]
TABLES = json.loads(Path(__file__).with_name("golden_opening.json").read_text())
# The SO-101's table gives the distance of its fingertips; the others the gap between the pads.
LINKAGES = [(robot, *row) for robot in TABLES for row in TABLES[robot] if robot in robot_names() and robot != "so101"]


@pytest.mark.parametrize(("robot", "arm_name"), ARMS)
def test_the_gripper_opens_to_its_published_width(robot, arm_name):
    description = load_robot(robot)
    arm = description.arm(arm_name)
    opening = measured_opening(description, arm, arm.gripper_open)
    if robot in TABLES and robot != "so101":
        # The published width is a rounded one; the table is what the linkage does.
        assert opening == pytest.approx(max(gap for _, gap in TABLES[robot]), abs=1e-3)
    else:
        assert opening == pytest.approx(arm.gripper_max_width, rel=0.02)


@pytest.mark.parametrize(("robot", "arm_name"), ARMS)
def test_the_gripper_closes(robot, arm_name):
    description = load_robot(robot)
    arm = description.arm(arm_name)
    assert abs(measured_opening(description, arm, arm.gripper_closed) - arm.gripper_min_width) < 1e-3


@pytest.mark.parametrize(("angle", "distance"), TABLES["so101"])
def test_the_jaw_of_the_so101_opens_as_the_table_says(angle, distance):
    model = load_robot("so101").compile()
    data = mujoco.MjData(model)
    data.joint("gripper").qpos = angle
    mujoco.mj_kinematics(model, data)
    first, second = data.site("fixed_tip").xpos, data.site("moving_tip").xpos
    assert np.linalg.norm(second - first) == pytest.approx(distance, abs=1e-3)


@pytest.mark.parametrize(("robot", "angle", "gap"), LINKAGES)
def test_linkages_open_as_the_table_says(robot, angle, gap):
    description = load_robot(robot)
    for arm in description.arms:
        opening = measured_opening(description, arm, np.full(len(arm.gripper_actuators), angle))
        assert opening == pytest.approx(gap, abs=1e-3)

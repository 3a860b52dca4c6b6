"""Rims of things on a table, for a hand that is open only a little."""

import numpy as np
import pytest

from handloom.errors import InputError
from handloom.grasping import RIM, AnnotateOptions, GripperShape, clear_of, rim_grasps_for
from handloom.grasping.ground import Ground
from handloom.objects import make_object
from handloom.robots import load_robot
from handloom.robots.checks import measured_opening

TWO_FINGERS = ("fr3", "franka_robotiq85", "genie1", "lift2", "split_aloha")


@pytest.mark.parametrize("name", TWO_FINGERS)
def test_the_drive_opens_the_real_gripper_as_far_as_it_says(name):
    robot = load_robot(name)
    gripper = GripperShape.of(robot)
    for opening in (0.01, 0.02, 0.05):
        drive = gripper.drive_at(gripper.level_at(opening))
        assert measured_opening(robot, robot.arms[0], drive) == pytest.approx(opening, abs=1e-3)


@pytest.mark.parametrize("name", TWO_FINGERS)
def test_joints_of_the_hand_follow_the_level(name):
    gripper = GripperShape.of(load_robot(name))
    last = len(gripper.position) - 1
    closed, opened, half = (gripper.joints_at(level) for level in (0, last, last / 2))
    for joint, target in zip(gripper.arm.gripper_joint_names, gripper.arm.gripper_open, strict=True):
        assert opened[joint] == pytest.approx(target, abs=5e-3)
        assert min(closed[joint], opened[joint]) < half[joint] < max(closed[joint], opened[joint])


def test_a_gripper_says_so_when_it_does_not_open_that_far(fr3):
    with pytest.raises(InputError, match=r"does not open 0\.2 m"):
        fr3.level_at(0.2)


def test_an_opening_is_wider_than_the_room_beside_the_fingers():
    with pytest.raises(InputError, match="opening"):
        AnnotateOptions(opening=0.002)
    with pytest.raises(InputError, match="opening"):
        AnnotateOptions(opening=0.02, preshape=True)


def test_plates_are_taken_by_the_rim_with_one_finger_under_it():
    gripper = GripperShape.of(load_robot("franka_robotiq85"))
    plate = make_object("plate", rng=np.random.default_rng(0), parameters={"radius": 0.09, "height": 0.022})
    rows = rim_grasps_for(plate, gripper)
    assert len(rows) > 50
    assert rows[:, 1].max() <= RIM.opening - 2.0 * RIM.clearance + 1e-6
    # An open hand at the same places would have a finger in the table.
    R = rows[:, 4:13].reshape(-1, 3, 3).astype(float)
    hand = rows[:, 13:16] - R[:, :, 0] * (gripper.advance(rows[:, 1]) - rows[:, 3])[:, None]
    ground, table = Ground.under(plate, 0), AnnotateOptions(preshape=True)
    upright = R[:, 2, 0] < 0.0
    clear = {}
    for opening in (RIM.opening, 0.08):
        level = np.full(len(R), gripper.level_at(opening))
        clear[opening] = clear_of(ground.solid, gripper, R, np.ascontiguousarray(hand, float), level, table)[upright]
    assert upright.sum() > 50
    assert clear[RIM.opening].all()
    assert clear[0.08].mean() < 0.2

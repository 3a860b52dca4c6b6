"""The physics test agrees with the geometry, and drops what cannot hold."""

import numpy as np
import pytest

from handloom.grasping import AnnotateOptions, GraspTrial, GripperShape, annotate
from handloom.grasping.grasp_trial import hand_spec
from handloom.objects import make_object
from handloom.robots import load_robot, robot_names

DOZEN = ["cube", "can", "banana", "apple", "mug", "bottle", "bowl", "plate", "screwdriver", "marker", "pear", "toy_car"]


def best(category: str, robot_name: str, count: int):
    robot = load_robot(robot_name)
    asset = make_object(category, rng=np.random.default_rng(0))
    grasps = annotate(asset, GripperShape.of(robot), AnnotateOptions(), np.random.default_rng(0))
    return robot, asset, grasps.take(np.arange(min(count, len(grasps))))


@pytest.mark.parametrize("category", ["cube", "banana"])
def test_the_best_grasps_hold(category):
    robot, asset, grasps = best(category, "fr3", 6)
    result = GraspTrial(robot, asset).run(grasps.hands)
    assert result.held.all()
    assert np.median(result.slip) < 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("robot_name", ["fr3", "so101"])
def test_nearly_all_of_the_best_grasps_of_a_dozen_objects_hold(robot_name):
    held = tested = 0
    for category in DOZEN:
        robot, asset, grasps = best(category, robot_name, 32)
        held += int(GraspTrial(robot, asset).run(grasps.hands).held.sum())
        tested += len(grasps)
    assert tested >= 200
    assert held >= 0.97 * tested


def test_a_hand_beside_the_object_holds_nothing():
    robot, asset, grasps = best("cube", "fr3", 3)
    beside = grasps.hands.copy()
    beside[:, :3, 3] += 0.2 * grasps.hands[:, :3, 2]
    result = GraspTrial(robot, asset).run(beside)
    assert not result.held.any()


def test_the_same_trial_gives_the_same_bits():
    robot, asset, grasps = best("cube", "fr3", 4)
    first = GraspTrial(robot, asset).run(grasps.hands)
    again = GraspTrial(robot, asset).run(grasps.hands[::-1])
    assert first.slip.tobytes() == again.slip[::-1].tobytes()


@pytest.mark.parametrize("name", [n for n in robot_names() if load_robot(n).config.left_joint_names])
def test_only_the_gripper_of_a_robot_is_left(name):
    robot = load_robot(name)
    for arm in robot.arms:
        model = hand_spec(robot, arm).compile()
        joints = {model.joint(i).name for i in range(model.njnt)}
        assert set(arm.gripper_joint_names) <= joints
        assert not set(arm.joint_names) & joints
        assert {model.actuator(i).name for i in range(model.nu)} == set(arm.gripper_actuators)

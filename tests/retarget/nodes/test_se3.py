"""The pose retargeters give the published numbers."""

import math

import numpy as np
import pytest
from controller_samples import about, controller, product, running

from handloom.retarget import (
    HandInput,
    HandJointIndex,
    HandSnapshot,
    Se3AbsRetargeter,
    Se3RelRetargeter,
    Se3RetargeterConfig,
    group_of,
)

RIGHT = "controller_right"
Z = (0.0, 0.0, 1.0)
P = (0.1, 0.2, 0.3)


def absolute(quat=(0, 0, 0, 1), **settings) -> np.ndarray:
    node = Se3AbsRetargeter(Se3RetargeterConfig(input_device=RIGHT, **settings), "n")
    return node({RIGHT: controller(P, quat)})["ee_pose"][0]


def test_absolute_poses_match_the_published_numbers() -> None:
    yaw = about(Z, 0.5)
    np.testing.assert_allclose(absolute(), (*P, 1, 0, 0, 0), atol=5e-8)
    np.testing.assert_allclose(absolute(yaw), (*P, 0.9689124, 0.247404, 0, 0), atol=5e-7)
    np.testing.assert_allclose(absolute(zero_out_xy_rotation=False), (*P, 0.7071068, 0, 0, 0.7071068), atol=5e-8)
    offset = absolute(yaw, zero_out_xy_rotation=False, target_offset_roll=0.0, target_offset_x=0.1)
    np.testing.assert_allclose(offset, (0.1877583, 0.2479426, 0.3, 0, 0, 0.247404, 0.9689124), atol=5e-7)


def test_offset_angles_are_intrinsic_x_y_z() -> None:
    pose = absolute(
        zero_out_xy_rotation=False, target_offset_roll=30.0, target_offset_pitch=40.0, target_offset_yaw=50.0
    )
    expected = product(
        product(about((1, 0, 0), math.radians(30)), about((0, 1, 0), math.radians(40))), about(Z, math.radians(50))
    )
    np.testing.assert_allclose(pose[3:], expected, atol=1e-6)


def test_absolute_holds_lost_frames_and_returns_to_the_origin_on_reset() -> None:
    node = Se3AbsRetargeter(Se3RetargeterConfig(input_device=RIGHT), "n")
    origin = (0, 0, 0, 0, 0, 0, 1)
    np.testing.assert_array_equal(node({})["ee_pose"][0], origin)
    held = node({RIGHT: controller(P)})["ee_pose"][0]
    np.testing.assert_array_equal(node({RIGHT: controller((9, 9, 9), valid=False)})["ee_pose"][0], held)
    np.testing.assert_array_equal(node({}, running(reset=True))["ee_pose"][0], origin)
    np.testing.assert_array_equal(node({RIGHT: controller(P)}, running(reset=True))["ee_pose"][0], held)


def test_offsets_can_be_tuned_while_the_graph_runs() -> None:
    node = Se3AbsRetargeter(Se3RetargeterConfig(input_device=RIGHT), "n")
    node.get_parameter_state().set(
        {"zero_out_xy_rotation": False, "rotation_offset_rpy": [0, 0, 0], "position_offset_xyz": [0.1, 0, 0]}
    )
    np.testing.assert_allclose(node({RIGHT: controller(P)})["ee_pose"][0], (0.2, 0.2, 0.3, 0, 0, 0, 1), atol=1e-6)


def hand(**joints):
    positions, orientations = np.zeros((26, 3)), np.tile([0.0, 0, 0, 1], (26, 1))
    valid = np.ones(26)
    for name, (position, quat, ok) in joints.items():
        index = HandJointIndex[name]
        positions[index], orientations[index], valid[index] = position, quat, ok
    sample = HandSnapshot(
        joint_positions=positions, joint_orientations=orientations, joint_radii=np.zeros(26), joint_valid=valid
    )
    return group_of(HandInput(), *sample.slots())


def test_a_hand_moves_with_its_wrist_and_turns_with_its_pinch() -> None:
    config = Se3RetargeterConfig(zero_out_xy_rotation=False, target_offset_roll=0.0)
    node = Se3AbsRetargeter(config, "n")
    joints = {
        "WRIST": ((1, 1, 1), about(Z, 3.0), 1),
        "THUMB_TIP": ((0, 0, 0), about(Z, 0.2), 1),
        "INDEX_TIP": ((0, 0, 0.2), about(Z, 0.6), 1),
    }
    pose = node({"hand_right": hand(**joints)})["ee_pose"][0]
    np.testing.assert_allclose(pose, (1, 1, 1, *about(Z, 0.4)), atol=1e-6)
    joints["INDEX_TIP"] = ((0, 0, 0.2), about(Z, 0.6), 0)
    pose = node({"hand_right": hand(**joints)})["ee_pose"][0]
    np.testing.assert_allclose(pose[3:], about(Z, 3.0), atol=1e-6)
    pinch = Se3AbsRetargeter(Se3RetargeterConfig(use_wrist_position=False, zero_out_xy_rotation=False), "p")
    joints["INDEX_TIP"] = ((0, 0, 0.2), about(Z, 0.6), 1)
    np.testing.assert_allclose(pinch({"hand_right": hand(**joints)})["ee_pose"][0][:3], (0, 0, 0.1), atol=1e-7)


def test_an_unknown_device_is_refused() -> None:
    with pytest.raises(ValueError, match="no input_device 'foot_left'"):
        Se3RetargeterConfig(input_device="foot_left")


def delta(node, position, yaw=0.0, **context) -> np.ndarray:
    return node({RIGHT: controller(position, about(Z, yaw))}, running(**context))["ee_delta"][0]


def test_relative_motion_matches_the_published_numbers() -> None:
    node = Se3RelRetargeter(Se3RetargeterConfig(input_device=RIGHT), "n")
    np.testing.assert_array_equal(delta(node, (0, 0, 0)), np.zeros(6))
    np.testing.assert_allclose(delta(node, (0.01, 0, 0)), (0.05, 0, 0, 0, 0, 0), atol=1e-7)
    np.testing.assert_allclose(delta(node, (0.01, 0, 0), 0.1), (0.025, 0, 0, 0, 0, 0.5), atol=1e-6)
    np.testing.assert_allclose(delta(node, (0.01, 0, 0), 0.1), (0.0125, 0, 0, 0, 0, 0.25), atol=1e-6)


def test_relative_motion_never_adds_up_over_a_drop_out_or_a_reset() -> None:
    node = Se3RelRetargeter(Se3RetargeterConfig(input_device=RIGHT), "n")
    delta(node, (0, 0, 0))
    for lost in ({}, {RIGHT: controller((0, 0, 0), valid=False)}, {RIGHT: controller((math.nan, 0, 0))}):
        np.testing.assert_array_equal(node(lost)["ee_delta"][0], np.zeros(6))
        np.testing.assert_array_equal(delta(node, (5.0, 0, 0)), np.zeros(6))
    np.testing.assert_array_equal(delta(node, (9.0, 0, 0), reset=True), np.zeros(6))


def test_tremor_is_not_motion() -> None:
    node = Se3RelRetargeter(Se3RetargeterConfig(input_device=RIGHT), "n")
    delta(node, (0, 0, 0))
    np.testing.assert_array_equal(delta(node, (0.0019, 0, 0), 0.019), np.zeros(6))


def tips(joints=("THUMB_TIP", "INDEX_TIP"), *, move=0.0, thumb=(0, 0, 0, 1), index=(0, 0, 0, 1)):
    """Return a right hand of which only some joints are valid."""
    positions, orientations, valid = np.zeros((26, 3)), np.tile((0.0, 0.0, 0.0, 1.0), (26, 1)), np.zeros(26)
    positions[HandJointIndex.THUMB_TIP], positions[HandJointIndex.INDEX_TIP] = (0.2 + move, 0, 0), (0.4 + move, 0, 0)
    orientations[HandJointIndex.THUMB_TIP], orientations[HandJointIndex.INDEX_TIP] = thumb, index
    for joint in joints:
        valid[HandJointIndex[joint]] = 1
    hand = HandSnapshot(
        joint_positions=positions, joint_orientations=orientations, joint_radii=np.zeros(26), joint_valid=valid
    )
    return {"hand_right": group_of(HandInput(), *hand.slots())}


def test_fingertips_give_a_pose_without_a_wrist() -> None:
    plain = {"zero_out_xy_rotation": False, "target_offset_roll": 0.0}
    hand = tips(thumb=about(Z, 0.2), index=about(Z, 0.6))
    both = Se3AbsRetargeter(Se3RetargeterConfig(use_wrist_position=False, **plain), "n")
    np.testing.assert_allclose(both(hand)["ee_pose"][0], (0.3, 0, 0, *about(Z, 0.4)), atol=1e-6)
    # The wrist is asked for and lost: its part holds, the part of the tips follows.
    rotation = Se3AbsRetargeter(Se3RetargeterConfig(**plain), "n")
    np.testing.assert_allclose(rotation(hand)["ee_pose"][0], (0, 0, 0, *about(Z, 0.4)), atol=1e-6)
    position = Se3AbsRetargeter(Se3RetargeterConfig(use_wrist_position=False, use_wrist_rotation=True, **plain), "n")
    np.testing.assert_allclose(position(hand)["ee_pose"][0], (0.3, 0, 0, 0, 0, 0, 1), atol=1e-6)


def test_offsets_reach_two_metres() -> None:
    pose = absolute(target_offset_x=1.9, zero_out_xy_rotation=False)
    assert pose[0] == pytest.approx(2.0)
    with pytest.raises(ValueError, match="position_offset_xyz"):
        absolute(target_offset_x=2.1)


def test_relative_rotation_of_a_hand_is_the_mean_of_its_fingertips() -> None:
    X = (1.0, 0.0, 0.0)
    config = Se3RetargeterConfig(use_wrist_position=False, zero_out_xy_rotation=False, delta_rot_scale_factor=2.0)
    node = Se3RelRetargeter(config, "n")
    # The tips point elsewhere at the start; what counts is how far each turned.
    node(tips(thumb=about(X, 2.0), index=about(Z, 2.0)))
    turned = tips(thumb=product(about(X, 0.2), about(X, 2.0)), index=product(about(Z, 0.4), about(Z, 2.0)))
    np.testing.assert_allclose(node(turned)["ee_delta"][0][3:], (0.1, 0, 0.2), atol=1e-6)


def test_a_relative_motion_below_the_threshold_starts_the_mean_anew() -> None:
    node = Se3RelRetargeter(Se3RetargeterConfig(input_device=RIGHT), "n")
    seen = [node({RIGHT: controller((x, 0, 0))})["ee_delta"][0][0] for x in (0.0, 0.0015, 0.003, 0.0035, 0.02, 0.02)]
    assert seen == pytest.approx([0, 0, 0, 0, 0.0825, 0.04125])

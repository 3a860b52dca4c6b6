"""Key frames around a goal: published motions in their frames, and a hand that keeps to the joint's own path."""

import numpy as np
import pytest

from handloom.objects import make_object
from handloom.skills.articulated_objects.actuation import HandMotions, JointAxis, KeyFrames, perturbed
from handloom.skills.articulated_objects.joint_strategies import WIDER, grasp_setting
from handloom.skills.configs.articulated import KeypointConstraint, PlannerSetting, RandomPose
from handloom.spatial import make_pose, matrix_from_rotvec, pose_error

GOAL = make_pose(matrix_from_rotvec([0.3, -0.2, 0.9]), [0.5, 0.1, 0.3])
CONTACT = np.array([0.0, 0.0, 0.1])
ANY = KeypointConstraint(
    name="fingers_contact_with_link0", keypoint_name="tool_head", target_keypoint_name="link_contact_point", tolerance=1
)


def motions(pivot=1.0):
    joint = JointAxis(axis=np.array([0.0, 0.0, 1.0]), anchor=np.array([0.4, -0.2, 0.0]), pivot=pivot)
    return HandMotions(joint=joint, approach=np.array([0.0, 0.0, 1.0]), contact=CONTACT)


def setting(**keys):
    return PlannerSetting(constraint_list=(ANY,), success_threshold=0.1, **keys)


def test_translations_are_in_the_hand_and_words_in_the_base():
    for k, word in enumerate(("translate_x", "translate_y", "translate_z")):
        np.testing.assert_allclose(motions().end(GOAL, (word, 0.05))[:3, 3], GOAL[:3, 3] + 0.05 * GOAL[:3, k])
    np.testing.assert_allclose(motions().end(GOAL, "move-left")[:3, 3], GOAL[:3, 3] + [0.0, 0.08, 0.0])
    np.testing.assert_allclose(motions().end(GOAL, ("slide", 0.2))[:3, 3], GOAL[:3, 3] + [0.0, 0.0, 0.2])


@pytest.mark.parametrize("pivot", [1.0, 0.5, 0.0])
def test_the_point_of_contact_follows_the_arc_whatever_the_hand_does(pivot):
    way = motions(pivot).way(GOAL, ("rotate", 1.2))
    anchor = np.array([0.4, -0.2, 0.0])
    start = GOAL[:3, :3] @ CONTACT + GOAL[:3, 3]
    for k, T in enumerate(way, 1):
        turn = matrix_from_rotvec([0.0, 0.0, 1.2 * k / len(way)])
        np.testing.assert_allclose(T[:3, :3] @ CONTACT + T[:3, 3], anchor + turn @ (start - anchor), atol=1e-12)
    _, angle = pose_error(way[-1], GOAL)
    assert angle == pytest.approx(1.2 * pivot, abs=1e-9)


def test_the_contact_is_counted_from_the_present_pose():
    pushed = setting(
        pre_actuation_motions=(("translate_z", -0.1),), post_actuation_motions=(("slide", 0.1), ("slide", 0.1))
    )
    frames = KeyFrames.of(GOAL, pushed, motions())
    assert len(frames.approach) == 2
    np.testing.assert_allclose(frames.approach[-1], GOAL)
    np.testing.assert_allclose(frames.approach[0], KeyFrames.first(GOAL, pushed, motions()))
    assert len(frames.actuation) == 2
    # Without a motion before, the first one after the goal brings the hand into contact.
    pulled = setting(post_actuation_motions=(("translate_z", 0.04), ("rotate", -0.5)))
    frames = KeyFrames.of(GOAL, pulled, motions())
    np.testing.assert_allclose(frames.approach[-1], motions().end(GOAL, ("translate_z", 0.04)))
    assert len(frames.actuation) >= 8


def test_random_ranges_turn_and_shift_the_goal_in_the_hand():
    spread = RandomPose(orientation={"z_min": -10.0, "z_max": 10.0}, position={"x_min": 0.01, "x_max": 0.02})
    T = perturbed(np.tile(GOAL, (50, 1, 1)), spread, np.random.default_rng(0))
    local = np.linalg.inv(GOAL) @ T
    assert local[:, 0, 3].min() >= 0.01
    assert local[:, 0, 3].max() <= 0.02
    assert np.abs(local[:, 1:3, 3]).max() < 1e-12
    angle = np.rad2deg(np.arctan2(local[:, 1, 0], local[:, 0, 0]))
    assert 5.0 < np.abs(angle).max() <= 10.0


@pytest.mark.parametrize("category", ["faucet", "knob"])
def test_a_hand_may_lean_on_a_lever_and_on_a_knob_if_it_has_no_room_to_be_square(category):
    link = make_object(category, rng=np.random.default_rng(0)).joints[0]
    square, leaning = (grasp_setting(link, 0.5, wider).constraint_list[1].tolerance for wider in WIDER[:2])
    assert square < 0.1
    assert leaning > square

"""Easings of a setting: how far aside, how deep, and which hands they leave alone."""

import numpy as np

from handloom.skills.articulated_objects.easing import easings, shifted
from handloom.skills.configs.articulated import PlannerSetting

MEETS = {
    "name": "fingers_contact_with_link0",
    "keypoint_name": "tool_head",
    "target_keypoint_name": "articulated_object_head",
    "tolerance": 1e-6,
}


def setting(**keys):
    return PlannerSetting.model_validate({"constraint_list": [MEETS], "success_threshold": 0.5, **keys})


def test_only_the_way_from_the_goal_to_the_contact_is_shortened():
    given = setting(contact_pose_index=2, post_actuation_motions=[["translate_z", 0.04], ["rotate", -0.2]])
    eased = list(easings(given))
    assert all(e.setting.post_actuation_motions[1:] == (("rotate", -0.2),) for e in eased)
    depths = {round(e.setting.post_actuation_motions[0][1], 6) for e in eased}
    assert max(depths) == 0.04
    assert min(depths) < 0.02
    assert all(e.aside > 0.0 or e.setting.post_actuation_motions[0][1] < 0.04 for e in eased), "one that eases nothing"


def test_a_setting_whose_goal_is_the_contact_is_eased_aside_only():
    given = setting(contact_pose_index=2, pre_actuation_motions=[["translate_z", -0.05]])
    assert all(e.aside > 0.0 and e.setting == given for e in easings(given))


def test_hands_go_along_their_fingers_line_the_way_the_joint_opens_and_others_stay_out():
    turned = np.eye(4)
    turned[:3, :3] = np.diag([-1.0, -1.0, 1.0])
    across = np.eye(4)
    across[:3, :3] = [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    goals = np.stack([np.eye(4), turned, across])
    moved = shifted(goals, np.array([0.0, 1.0, 0.0]), np.array([0.0, 1.0, 0.0]), 0.02)
    np.testing.assert_allclose(moved[:, :3, 3], [[0.0, 0.02, 0.0]] * 2)
    assert shifted(goals, np.array([0.0, 1.0, 0.0]), np.array([0.0, 1.0, 0.0]), 0.0) is goals

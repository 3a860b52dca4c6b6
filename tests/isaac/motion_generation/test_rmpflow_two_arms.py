"""RMPflow with several frames: two hands with a target each, targets set and cleared apart."""

import numpy as np
import pytest

from handloom.errors import ConfigError, InputError, NotFoundError
from handloom.isaac.motion_generation import RmpFlow


def two_armed_files(folder) -> dict:
    """Return the arguments of a policy of a torso that turns and has two arms of six joints."""
    links, joints, names = ['<link name="base"/><link name="torso"/>'], [], ["waist"]
    joints.append(
        '<joint name="waist" type="revolute"><parent link="base"/><child link="torso"/><origin xyz="0 0 0.5"/>'
        '<axis xyz="0 0 1"/><limit lower="-2.5" upper="2.5" velocity="2" effort="0"/></joint>'
    )
    for side, y in (("left", 0.2), ("right", -0.2)):
        parent, place = "torso", f"0 {y} 0.3"
        for number, axis in enumerate(("0 1 0", "1 0 0", "0 0 1", "0 1 0", "0 0 1", "0 1 0")):
            names.append(f"{side}_{number}")
            links.append(f'<link name="{side}_link_{number}"/>')
            joints.append(
                f'<joint name="{side}_{number}" type="revolute"><parent link="{parent}"/>'
                f'<child link="{side}_link_{number}"/><origin xyz="{place}"/><axis xyz="{axis}"/>'
                '<limit lower="-2.8" upper="2.8" velocity="3" effort="0"/></joint>'
            )
            parent, place = f"{side}_link_{number}", "0.12 0 0"
        links.append(f'<link name="{side}_hand"/>')
        joints.append(
            f'<joint name="{side}_tip" type="fixed"><parent link="{parent}"/><child link="{side}_hand"/>'
            '<origin xyz="0.1 0 0"/></joint>'
        )
    (folder / "two.urdf").write_text(f'<robot name="two">{"".join(links + joints)}</robot>')
    (folder / "two.yaml").write_text(
        f"api_version: 1.0\ncspace: [{', '.join(names)}]\nroot_link: base\ndefault_q: {[0.0, *[0.3] * 12]}\n"
        "cspace_to_urdf_rules: []\ncollision_spheres:\n  - torso: [{center: [0, 0, 0.1], radius: 0.05}]\n"
    )
    (folder / "rmpflow.yaml").write_text("format: rmpflow\napi_version: 1.0\n")
    return {
        "robot_description_path": folder / "two.yaml",
        "urdf_path": folder / "two.urdf",
        "rmpflow_config_path": folder / "rmpflow.yaml",
        "end_effector_frame_name": "left_hand",
        "maximum_substep_size": 0.00334,
    }


def test_two_hands_reach_two_targets(tmp_path):
    policy = RmpFlow(**two_armed_files(tmp_path))
    policy.add_target_frame("right_hand")
    assert policy.get_target_frame_names() == ["left_hand", "right_hand"]
    solver, n = policy.get_kinematics_solver(), len(policy.get_active_joints())
    goal_q = policy.robot.default_q + np.random.default_rng(3).uniform(-0.4, 0.4, n)
    goals = {hand: solver.compute_forward_kinematics(hand, goal_q)[0] for hand in policy.get_target_frame_names()}
    for hand, place in goals.items():
        policy.set_pose_target(hand, place)
    q, qd = policy.robot.default_q, np.zeros(n)
    for _ in range(1200):
        q, qd = policy.compute_joint_targets(q, qd, [], [], 1 / 60)
    for hand, place in goals.items():
        assert np.linalg.norm(solver.compute_forward_kinematics(hand, q)[0] - place) < 1e-3, hand
    policy.remove_target_frame("right_hand")
    with pytest.raises(NotFoundError, match="no target frame named 'right_hand'"):
        policy.set_pose_target("right_hand", [0, 0, 0])
    with pytest.raises(NotFoundError, match="did you mean 'right_hand'"):
        policy.add_target_frame("rigth_hand")
    with pytest.raises(InputError, match="already a target frame"):
        policy.add_target_frame("left_hand")


def test_position_and_orientation_of_a_frame_are_set_and_cleared_apart(tmp_path):
    policy = RmpFlow(**two_armed_files(tmp_path))
    policy.add_target_frame("right_hand")
    assert (policy.num_target_frames(), policy.target_frame_names()) == (2, ["left_hand", "right_hand"])
    state = np.full(13, 0.1), np.zeros(13)

    def force() -> np.ndarray:
        return policy.acceleration(*state)[2]

    free = force()
    policy.set_pose_target("right_hand", [0.4, -0.1, 0.9], [1, 0, 0, 0])
    both = force()
    policy.clear_orientation_target("right_hand")
    place = force()
    policy.clear_position_target("right_hand")
    np.testing.assert_array_equal(force(), free)
    policy.set_position_target("right_hand", [0.4, -0.1, 0.9])
    np.testing.assert_array_equal(force(), place)
    policy.set_orientation_target("right_hand", [2, 0, 0, 0])
    np.testing.assert_array_equal(force(), both)
    policy.clear_pose_target("right_hand")
    np.testing.assert_array_equal(force(), free)
    with pytest.raises(NotFoundError, match="no target frame named 'torso'"):
        policy.set_position_target("torso", [0, 0, 0])


def test_targets_of_two_frames_add_up(tmp_path):
    def root(*hands: str) -> tuple[np.ndarray, np.ndarray]:
        policy = RmpFlow(**two_armed_files(tmp_path))
        policy.add_target_frame("right_hand")
        for hand in hands:
            policy.set_pose_target(hand, [0.4, 0.1 if hand == "left_hand" else -0.1, 0.9], [1, 0, 0, 0])
        rng = np.random.default_rng(0)
        return policy.acceleration(rng.uniform(-0.5, 0.5, 13), rng.uniform(-0.5, 0.5, 13))[1:]

    none, left, right, both = root(), root("left_hand"), root("right_hand"), root("left_hand", "right_hand")
    for nothing, one, other, together in zip(none, left, right, both, strict=True):
        np.testing.assert_allclose(together - nothing, (one - nothing) + (other - nothing), atol=1e-6)
        assert np.abs(one - nothing).max() > 1.0


def test_a_file_of_another_format_is_refused(tmp_path):
    files = two_armed_files(tmp_path)
    files["rmpflow_config_path"].write_text("format: xrdf\n")
    with pytest.raises(ConfigError, match=r"rmpflow.yaml:1: format"):
        RmpFlow(**files)

"""Columns made of a robot's series: canonical ones and the reference system's keys."""

import numpy as np
import pytest

from handloom.dataset import ArmSeries, FeatureTable, RobotSeries, robot_columns
from handloom.dataset.robot_columns import STYLES
from handloom.errors import InputError, NotFoundError
from handloom.spatial import make_pose, pose_from_pos_quat, random_rotations

FRAMES = 5


def poses(rng: np.random.Generator, count: int) -> np.ndarray:
    return np.stack([make_pose(r, rng.normal(size=3)) for r in random_rotations(rng, count)])


def arm(name: str, seed: int) -> ArmSeries:
    rng = np.random.default_rng(seed)
    return ArmSeries(
        name=name,
        joint_names=("j1", "j2", "j3"),
        joint_position=rng.normal(size=(FRAMES, 3)),
        joint_command=rng.normal(size=(FRAMES, 3)),
        gripper_position=0.08 * rng.uniform(size=FRAMES),
        gripper_opening=rng.uniform(size=FRAMES),
        gripper_openness=np.array([1.0, 1.0, 0.0, 0.0, 1.0]),
        T_armbase_ee=poses(rng, FRAMES),
        T_armbase_tcp=poses(rng, FRAMES),
        T_robot_armbase=poses(rng, 1)[0],
    )


def robot(*arms: ArmSeries) -> RobotSeries:
    return RobotSeries(arms=arms, T_world_robot=poses(np.random.default_rng(9), FRAMES))


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("arms", [[""], ["left", "right"]], ids=["one arm", "two arms"])
def test_every_style_makes_a_valid_table(style: str, arms: list[str]) -> None:
    columns = robot_columns(style, robot(*(arm(name, i) for i, name in enumerate(arms))))
    table = FeatureTable(fps=30, features=columns.features)
    assert [feature.name for feature in table] == list(columns.values)
    for feature in table:
        feature.as_array(columns.values[feature.name], length=FRAMES)


def test_canonical_columns_join_the_arms() -> None:
    left, right = arm("left", 0), arm("right", 1)
    series = robot(left, right)
    values = robot_columns("canonical", series).values
    assert values["observation.state"].shape == values["action"].shape == (FRAMES, 8)
    np.testing.assert_array_equal(values["observation.state"][:, 3], left.gripper_opening)
    np.testing.assert_array_equal(values["action"][:, 4:7], right.joint_command)
    world = series.T_world_robot @ right.T_robot_armbase @ right.T_armbase_ee
    stored = values["observation.ee_pose.world"][:, 7:]
    np.testing.assert_allclose([pose_from_pos_quat(p[:3], p[3:]) for p in stored], world, atol=1e-12)
    names = robot_columns("canonical", series).features[0].names
    assert names[:5] == ("left_j1", "left_j2", "left_j3", "left_gripper", "right_j1")


def test_quaternions_do_not_jump() -> None:
    angles = np.linspace(0, 4 * np.pi, FRAMES * 40)
    T = np.stack([pose_from_pos_quat([0, 0, 0], [np.cos(a / 2), 0, 0, np.sin(a / 2)]) for a in angles])
    count = len(angles)
    series = ArmSeries(
        name="",
        joint_names=("j",),
        joint_position=np.zeros((count, 1)),
        joint_command=np.zeros((count, 1)),
        gripper_position=np.zeros(count),
        gripper_opening=np.zeros(count),
        gripper_openness=np.zeros(count),
        T_armbase_ee=T,
        T_armbase_tcp=T,
        T_robot_armbase=np.eye(4),
    )
    values = robot_columns("canonical", RobotSeries(arms=(series,), T_world_robot=np.tile(np.eye(4), (count, 1, 1))))
    quats = values.values["observation.ee_pose.base"][:, 3:]
    assert np.abs(np.diff(quats, axis=0)).max() < 0.1


def test_reference_actions_are_the_next_states() -> None:
    left, right = arm("left", 0), arm("right", 1)
    values = robot_columns("reference", robot(left, right)).values
    for key in ("left_joint.position", "right_gripper.position", "left_ee_to_robot_pose", "right_tcp_to_armbase_pose"):
        np.testing.assert_array_equal(values[f"actions.{key}"][:-1], values[f"states.{key}"][1:])
        np.testing.assert_array_equal(values[f"actions.{key}"][-1], values[f"states.{key}"][-1])
    np.testing.assert_array_equal(values["master_actions.left_joint.position"], left.joint_command)
    np.testing.assert_array_equal(values["master_actions.right_gripper.openness"][:, 0], right.gripper_openness)
    np.testing.assert_array_equal(values["actions.right_gripper.openness"][:, 0], right.gripper_openness)
    assert values["states.robot_to_env_pose"].shape == (FRAMES, 7)


def test_a_single_arm_has_keys_without_a_side_and_a_gripper_pose() -> None:
    values = robot_columns("reference", robot(arm("", 0))).values
    assert {"states.joint.position", "states.gripper.pose", "master_actions.gripper.pose"} <= values.keys()
    assert not any("left" in key or "right" in key for key in values)
    np.testing.assert_array_equal(values["states.gripper.pose"][:, :3], arm("", 0).T_armbase_ee[:, :3, 3])


def test_wrong_series_and_styles_are_refused() -> None:
    with pytest.raises(NotFoundError, match="did you mean 'canonical'"):
        robot_columns("cannonical", robot(arm("", 0)))
    with pytest.raises(InputError, match="same name"):
        robot(arm("left", 0), arm("left", 1))


def test_state_and_action_give_the_gripper_in_one_unit_with_the_width_beside() -> None:
    one = arm("", 0)
    values = robot_columns("canonical", robot(one)).values
    np.testing.assert_array_equal(values["observation.state"][:, -1], one.gripper_opening)
    np.testing.assert_array_equal(values["action"][:, -1], one.gripper_openness)
    np.testing.assert_array_equal(values["observation.gripper_width"][:, 0], one.gripper_position)

"""UR5e and ViperX: forward kinematics against the makers' published parameters, and parts shared between robots."""

import mujoco
import numpy as np
import pytest

from handloom.robots import load_robot
from handloom.robots.checks.grip_trial import GripTrial

SAMPLES = 50
# Denavit-Hartenberg parameters of the maker: a [m], d [m], alpha [rad].
UR5E = (
    (0.0, 0.1625, np.pi / 2),
    (-0.425, 0.0, 0.0),
    (-0.3922, 0.0, 0.0),
    (0.0, 0.1333, np.pi / 2),
    (0.0, 0.0997, -np.pi / 2),
    (0.0, 0.0996, 0.0),
)
# Published screw axes of the ViperX 300 in its base at zero: direction, then a point on the axis [m].
VIPERX = (
    ((0, 0, 1), (0, 0, 0)),
    ((0, 1, 0), (0, 0, 0.12705)),
    ((0, 1, 0), (0.05955, 0, 0.42705)),
    ((1, 0, 0), (0, 0, 0.42705)),
    ((0, 1, 0), (0.35955, 0, 0.42705)),
    ((1, 0, 0), (0, 0, 0.42705)),
)
VIPERX_GRIPPER_LINK = (0.429294, 0.0, 0.42705)


def dh_pose(q):
    """Return the pose of the tool flange in the maker's base frame."""
    T = np.eye(4)
    for angle, (a, d, alpha) in zip(q, UR5E, strict=True):
        c, s, ca, sa = np.cos(angle), np.sin(angle), np.cos(alpha), np.sin(alpha)
        T = T @ [[c, -s * ca, s * sa, a * c], [s, c * ca, -c * sa, a * s], [0, sa, ca, d], [0, 0, 0, 1]]
    return T


def turn_about(axis, point, angle):
    """Return the motion that turns by an angle about an axis through a point."""
    quat, R = np.zeros(4), np.zeros(9)
    mujoco.mju_axisAngle2Quat(quat, np.array(axis, float), angle)
    mujoco.mju_quat2Mat(R, quat)
    T = np.eye(4)
    T[:3, :3] = R.reshape(3, 3)
    T[:3, 3] = point - T[:3, :3] @ point
    return T


def relative(data, base, body):
    """Return the pose of a body in another body's frame."""
    R = data.body(base).xmat.reshape(3, 3)
    T = np.eye(4)
    T[:3, :3] = R.T @ data.body(body).xmat.reshape(3, 3)
    T[:3, 3] = R.T @ (data.body(body).xpos - data.body(base).xpos)
    return T


def random_configurations(model, joints, rng):
    lower, upper = np.array([model.joint(name).range for name in joints]).T
    return rng.uniform(lower, upper, (SAMPLES, len(joints)))


def test_the_flange_of_the_ur5e_is_where_the_makers_parameters_put_it():
    arm = load_robot("ur5e_robotiq85").arms[0]
    model = load_robot("ur5e_robotiq85").spec().compile()
    data = mujoco.MjData(model)
    for q in random_configurations(model, arm.joint_names, np.random.default_rng(1)):
        for name, value in zip(arm.joint_names, q, strict=True):
            data.joint(name).qpos = value
        mujoco.mj_kinematics(model, data)
        assert np.allclose(relative(data, "base_link_inertia", "wrist_3_link"), dh_pose(q), atol=1e-6)


@pytest.mark.parametrize("side", [0, 1])
def test_the_grippers_of_aloha_are_where_the_published_screw_axes_put_them(side):
    robot = load_robot("aloha")
    arm, prefix = robot.arms[side], ("fl", "fr")[side]
    model = robot.spec().compile()
    data = mujoco.MjData(model)
    for q in random_configurations(model, arm.joint_names, np.random.default_rng(2 + side)):
        for name, value in zip(arm.joint_names, q, strict=True):
            data.joint(name).qpos = value
        mujoco.mj_kinematics(model, data)
        expected = np.eye(4)
        expected[:3, 3] = VIPERX_GRIPPER_LINK
        for (axis, point), angle in zip(VIPERX[::-1], q[::-1], strict=True):
            expected = turn_about(axis, np.array(point, float), angle) @ expected
        assert np.allclose(relative(data, f"{prefix}/base_link", f"{prefix}/gripper_link"), expected, atol=1e-6)


def test_the_arms_of_aloha_face_each_other_across_the_table():
    data = mujoco.MjData(model := load_robot("aloha").spec().compile())
    mujoco.mj_kinematics(model, data)
    left, right = (data.body(f"{side}/base_link") for side in ("fl", "fr"))
    assert np.isclose(np.linalg.norm(left.xpos - right.xpos), 0.938)
    across = (right.xpos - left.xpos) / 0.938
    assert np.allclose(left.xmat.reshape(3, 3)[:, 0], across)
    assert np.allclose(right.xmat.reshape(3, 3)[:, 0], -across)


def test_a_cube_that_rises_less_than_asked_because_the_arm_ends_is_not_a_dropped_cube():
    robot = load_robot("so101")
    stretched = [0.0, 0.9, -0.9, 0.9, 0.0]  # The arm reaches far forward and cannot rise by half a metre from there.
    trial = GripTrial(robot, "left", cube_edge=0.03, cube_mass=0.05, q_grasp=stretched)
    result = trial.run(rise=0.5, hold_s=0.5)
    assert result.lift < 0.4
    assert np.isclose(result.rise, result.lift, atol=0.01)

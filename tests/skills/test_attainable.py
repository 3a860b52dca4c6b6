"""An arm with five joints gets poses it can take; one with more keeps what it was given."""

import numpy as np
import pytest

from handloom.motion.kinematics import Chain, IkSolver
from handloom.robots import load_robot
from handloom.skills.attainable import attainable
from handloom.spatial import make_pose, matrix_from_euler_deg


@pytest.fixture(scope="module")
def so101():
    robot = load_robot("so101")
    arm = robot.arms[0]
    return arm, Chain.from_model(robot.compile(), arm.tool_body, arm.base_body, arm.joint_names)


def wanted_poses(count: int) -> np.ndarray:
    """Return hands that point down over a table in front of the arm, tilted and turned."""
    rng = np.random.default_rng(0)
    tilt, yaw = rng.uniform(-25, 25, (count, 2)), rng.uniform(-90, 90, count)
    R = [matrix_from_euler_deg((180 + a, b, c)) for (a, b), c in zip(tilt, yaw, strict=True)]
    p = np.column_stack([rng.uniform(0.18, 0.26, count), rng.uniform(-0.1, 0.1, count), rng.uniform(0.11, 0.16, count)])
    return np.array([make_pose(r, x) for r, x in zip(R, p, strict=True)])


def test_five_joints_keep_the_point_and_the_axis(so101):
    arm, chain = so101
    point, axis = arm.T_tool_tcp[:3, 3], arm.R_ee_graspnet[:, 1]
    wanted = wanted_poses(100)
    got, found = attainable(chain, wanted, point_tool=point, axis_tool=axis, seed=arm.home)
    assert found.mean() > 0.5
    points = [T[:, :3, :3] @ point + T[:, :3, 3] for T in (wanted[found], got[found])]
    assert np.linalg.norm(points[0] - points[1], axis=1).max() < 1e-3
    cosine = np.einsum("ni,ni->n", wanted[found][:, :3, :3] @ axis, got[found][:, :3, :3] @ axis)
    assert np.arccos(np.clip(cosine, -1, 1)).max() < np.deg2rad(0.5)


def test_what_comes_back_can_be_reached_as_it_is(so101):
    arm, chain = so101
    wanted = wanted_poses(40)
    got, found = attainable(
        chain, wanted, point_tool=arm.T_tool_tcp[:3, 3], axis_tool=arm.R_ee_graspnet[:, 1], seed=arm.home
    )
    solver = IkSolver(chain)
    assert solver.solve(got[found], seed=arm.home).solved.all()
    assert not solver.solve(wanted, seed=arm.home).solved.any()


def test_more_joints_leave_poses_as_they_are():
    robot = load_robot("fr3")
    arm = robot.arms[0]
    chain = Chain.from_model(robot.compile(), arm.tool_body, arm.base_body, arm.joint_names)
    wanted = wanted_poses(3)
    got, found = attainable(chain, wanted, point_tool=np.zeros(3), axis_tool=(0, 1, 0), seed=arm.home)
    assert got is wanted
    assert found.all()

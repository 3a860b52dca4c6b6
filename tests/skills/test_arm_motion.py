"""Poses that a short arm can take, and joint paths at true speed."""

import itertools

import numpy as np
import pytest

from handloom.motion.kinematics import Chain, IkSolver
from handloom.motion.trajectory import MotionLimits
from handloom.robots import load_robot
from handloom.skills.arms.arm_motion import ROUNDING, attainable, play
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


FPS = 30
LIMITS = MotionLimits.of(1.2, 4.0, 40.0, dof=7)


def corners(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.cumsum(rng.uniform(-0.6, 0.6, (rng.integers(2, 6), 7)), axis=0)


def many_points(seed: int) -> np.ndarray:
    """A curve of short pieces, as a straight move of the tool is in joint space."""
    s = np.linspace(0.0, 1.0, 60)[:, None]
    return np.sin(s * np.random.default_rng(seed).uniform(-2.0, 2.0, 7))


@pytest.mark.parametrize("make", [corners, many_points])
@pytest.mark.parametrize("seed", range(8))
def test_a_played_path_keeps_all_limits_and_ends_at_the_goal(make, seed: int) -> None:
    path = make(seed)
    q = play(path, LIMITS, fps=FPS)
    assert np.array_equal(q[-1], path[-1])
    q = np.concatenate([path[:1], path[:1], path[:1], q, q[-1:], q[-1:], q[-1:]])
    velocity = np.diff(q, axis=0) * FPS
    acceleration = np.diff(velocity, axis=0) * FPS
    assert np.abs(velocity).max() <= 1.2 * (1 + 1e-6)
    assert np.abs(acceleration).max() <= 4.0 * (1 + 1e-6)
    assert np.abs(np.diff(acceleration, axis=0) * FPS).max() <= 40.0 * (1 + 1e-6)


@pytest.mark.parametrize("seed", range(8))
def test_rounded_corners_stay_near_the_planned_path(seed: int) -> None:
    path = corners(seed)
    q = play(path, LIMITS, fps=FPS)
    dense = np.concatenate([np.linspace(a, b, 400) for a, b in itertools.pairwise(path)])
    away = np.linalg.norm(q[:, None] - dense[None], axis=2).min(axis=1)
    # Corners are rounded by the deviation; averaging over the window of the jerk limit adds a / 24 window^2.
    assert away.max() < ROUNDING + np.sqrt(7) * 4.0 / 24 * (2 * 4.0 / 40.0) ** 2


def test_a_path_that_does_not_move_is_one_frame() -> None:
    assert len(play(np.ones((3, 7)), LIMITS, fps=FPS)) == 1


def test_half_the_speed_takes_about_twice_as_long() -> None:
    path = np.array([[0.0, 0.0], [3.0, 1.0]])
    fast, slow = MotionLimits.of(1.0, 50.0, 5e4, dof=2), MotionLimits.of(0.5, 50.0, 5e4, dof=2)
    assert abs(len(play(path, slow, fps=FPS)) / len(play(path, fast, fps=FPS)) - 2.0) < 0.1

"""Tool poses of grasps, and the curves of finger openings."""

import numpy as np
import pytest
from scipy.interpolate import interp1d

from handloom.errors import HandloomError, InputError
from handloom.robots import load_robot, robot_names, tool_poses_of_grasps
from handloom.robots.tool_poses import CubicCurve
from handloom.spatial import random_rotations


def test_it_reproduces_any_cubic_exactly():
    rng = np.random.default_rng(0)
    for _ in range(50):
        x = np.sort(rng.uniform(-1, 1, rng.integers(4, 12)))
        c = rng.normal(size=4)
        at = rng.uniform(x[0], x[-1], 100)
        np.testing.assert_allclose(CubicCurve(x, np.polyval(c, x))(at), np.polyval(c, at), atol=1e-9)


def test_it_agrees_with_the_usual_cubic_interpolation():
    rng = np.random.default_rng(1)
    for _ in range(50):
        x = np.cumsum(rng.uniform(0.1, 1, rng.integers(4, 15)))
        y = rng.normal(size=len(x))
        at = np.concatenate([x, rng.uniform(x[0], x[-1], 200)])
        np.testing.assert_allclose(CubicCurve(x, y)(at), interp1d(x, y, kind="cubic")(at), atol=1e-8)


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ([0, 1, 2], [0, 0, 0]),
        ([0, 1, 1, 2], [0, 0, 0, 0]),
        ([0, 1, 2, 3], [0, 0, np.nan, 0]),
        ([0, 1, 2, 3], [0, 0, 0]),
    ],
)
def test_points_that_give_no_curve_are_refused(x, y):
    with pytest.raises(InputError, match="cubic curve needs"):
        CubicCurve(x, y)


def test_it_does_not_guess_outside_its_points():
    with pytest.raises(InputError, match="defined from 0 to 3"):
        CubicCurve([0, 1, 2, 3], [0, 1, 0, 1])([1.0, 3.5])


ARMS = [(name, arm.name) for name in robot_names() for arm in load_robot(name).arms]
AXIS_COLUMN = {"x": 0, "y": 1, "z": 2}


def random_rows(rng, count: int, length: int = 16) -> np.ndarray:
    rows = np.zeros((count, length))
    rows[:, 0] = rng.uniform(0, 1, count)
    rows[:, 1] = rng.uniform(-0.02, 0.15, count)
    rows[:, 2] = 0.02
    rows[:, 3] = rng.choice([0.0, 0.01, 0.02, 0.03], count)
    rows[:, 4:13] = random_rotations(rng, count).reshape(count, 9)
    rows[:, 13:16] = rng.uniform(-0.1, 0.1, (count, 3))
    return rows


def brute_force(arm, rows, scale, tcp_offset, constraints):
    """One row at a time, with 4x4 products only."""
    offset = arm.tcp_offset if tcp_offset is None else tcp_offset
    tcps, ees = [], []
    for row in rows:
        T_obj_grasp = np.eye(4)
        T_obj_grasp[:3, :3] = [row[4:7], row[7:10], row[10:13]]
        T_obj_grasp[:3, 3] = [row[13] * scale, row[14] * scale, row[15] * scale]
        T_grasp_ee = np.eye(4)
        T_grasp_ee[:3, :3] = np.linalg.inv(arm.R_ee_graspnet)
        depth = row[3]
        if arm.extra_depth is not None:
            table = arm.extra_depth
            curve = interp1d(table.width[1:], table.offset[1:], kind="cubic")
            depth += float(curve(min(max(row[1], table.width[1]), table.width[-1])))
        slide = np.eye(4)
        slide[AXIS_COLUMN[arm.ee_axis], 3] = depth - offset
        tcps.append(T_obj_grasp @ T_grasp_ee)
        ees.append(T_obj_grasp @ T_grasp_ee @ slide)
    kept = range(len(rows))
    if constraints is not None:
        axis, low, high = constraints
        values = [T[AXIS_COLUMN[axis], 3] for T in tcps]
        lower = min(values) + low * (max(values) - min(values))
        upper = min(values) + high * (max(values) - min(values))
        kept = [i for i in kept if lower <= values[i] <= upper]
    turn = np.eye(4)
    for i in range(3):
        turn[i, i] = 1.0 if i == AXIS_COLUMN[arm.ee_axis] else -1.0
    poses = [ees[i] for i in kept] + [ees[i] @ turn for i in kept]
    return np.array(poses), np.array([rows[i, 0] for i in kept] * 2)


@pytest.mark.parametrize(("robot", "arm_name"), ARMS)
@pytest.mark.parametrize("constraints", [None, ("x", 0.0, 1.0), ("y", 0.2, 0.3), ("z", 0.65, 0.9)])
def test_poses_equal_a_brute_force_matrix_implementation(robot, arm_name, constraints):
    arm = load_robot(robot).arm(arm_name)
    rng = np.random.default_rng(3)
    for scale, tcp_offset, length in ((1.0, None, 16), (0.37, 0.2, 17)):
        rows = random_rows(rng, 60, length)
        poses, scores = tool_poses_of_grasps(
            arm, rows, grasp_scale=scale, tcp_offset=tcp_offset, constraints=constraints
        )
        expected, expected_scores = brute_force(arm, rows, scale, tcp_offset, constraints)
        np.testing.assert_allclose(poses, expected, atol=1e-12)
        np.testing.assert_array_equal(scores, expected_scores)


@pytest.mark.parametrize(("robot", "arm_name"), ARMS)
def test_the_tool_centre_ends_up_at_the_grasp_with_graspnet_axes(robot, arm_name):
    """The law behind the formula, for a closed gripper and no depth."""
    arm = load_robot(robot).arm(arm_name)
    rows = random_rows(np.random.default_rng(5), 20)
    rows[:, 3] = 0.0
    if arm.extra_depth is not None:
        # At the width where the extra depth vanishes the tool centre is the annotated point.
        widths = np.linspace(arm.extra_depth.width[1], arm.extra_depth.width[-1], 4001)
        curve = interp1d(arm.extra_depth.width[1:], arm.extra_depth.offset[1:], kind="cubic")
        rows[:, 1] = widths[np.argmin(np.abs(curve(widths)))]
    poses, _ = tool_poses_of_grasps(arm, rows)
    T_obj_tcp = poses[:20] @ arm.T_tool_tcp
    np.testing.assert_allclose(T_obj_tcp[:, :3, 3], rows[:, 13:16], atol=1e-5)
    np.testing.assert_allclose(T_obj_tcp[:, :3, :3] @ arm.R_ee_graspnet, rows[:, 4:13].reshape(-1, 3, 3), atol=1e-12)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (np.zeros((0, 16)), "empty"),
        (np.zeros((3, 15)), r"got shape \(3, 15\)"),
        (np.zeros(16), r"got shape \(16,\)"),
        (np.zeros((2, 3, 16)), r"got shape \(2, 3, 16\)"),
        (np.full((2, 16), np.nan), "2 of 2 grasps have values that are not finite"),
        (np.where(np.arange(16) == 14, np.inf, 0.0)[None], "1 of 1 grasps"),
    ],
)
def test_bad_rows_are_refused(rows, words):
    with pytest.raises(InputError, match=words):
        tool_poses_of_grasps(load_robot("fr3").arms[0], rows)


@pytest.mark.parametrize("constraints", [("w", 0, 1), ("x", 0.6, 0.4), ("x", 0.0)])
def test_bad_constraints_are_refused(constraints):
    rows = random_rows(np.random.default_rng(0), 10)
    with pytest.raises(HandloomError, match="constraints"):
        tool_poses_of_grasps(load_robot("fr3").arms[0], rows, constraints=constraints)

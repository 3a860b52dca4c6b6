"""Paths that keep the hand upright, and paths found in task space."""

from itertools import pairwise

import numpy as np
import pytest

from handloom.errors import InputError
from handloom.motion.collision import ExactChecker
from handloom.motion.kinematics import Chain
from handloom.motion.planning import ArmPlanner, Hold, PlannerOptions, PlanStatus
from handloom.spatial import make_pose, matrix_from_rotvec, pose_error, translation

HOME = np.array([0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785])
DOWN = np.diag([1.0, -1.0, -1.0])


@pytest.fixture(scope="module")
def planner(tabletop) -> ArmPlanner:
    return ArmPlanner(tabletop, Chain.from_model(tabletop, tool="tcp", base="link0"))


@pytest.fixture(scope="module")
def upright(planner) -> tuple[np.ndarray, np.ndarray]:
    """Configurations with the hand pointing down on either side of the wall."""
    T = make_pose(DOWN, np.array([[0.5, 0.3, 0.3], [0.5, -0.3, 0.3]]))
    found = planner.free_ik(T, HOME)
    assert found.free.all()
    return found.q[0], found.q[1]


def dense(path: np.ndarray) -> np.ndarray:
    return np.concatenate([a + np.linspace(0, 1, 40)[:, None] * (b - a) for a, b in pairwise(path)])


def test_a_held_axis_keeps_its_direction_all_the_way(planner, upright):
    hold = Hold(tool_axis=(0.0, 0.0, 1.0), tolerance=0.1)
    result = planner.plan_to_joints(*upright, hold=hold)
    assert result.ok, result.reason
    np.testing.assert_array_equal(result.path[[0, -1]], np.stack(upright))
    axes = planner.chains[0].T_base_tool(dense(result.path))[:, :3, 2]
    assert np.arccos(np.clip(-axes[:, 2], -1, 1)).max() <= 0.1
    exact = ExactChecker(planner.robot.tree, planner.robot.parts, list(planner.world), planner.robot.ignored)
    assert all(exact.is_free(q) for q in dense(result.path))


def test_without_a_hold_the_hand_tilts_on_the_same_way(planner, upright):
    free = planner.plan_to_joints(*upright)
    axes = planner.chains[0].T_base_tool(dense(free.path))[:, :3, 2]
    assert np.arccos(np.clip(-axes[:, 2], -1, 1)).max() > 0.1


def test_held_paths_repeat_bit_for_bit(planner, upright):
    hold = Hold()
    first = planner.plan_to_joints(*upright, hold=hold)
    planner.plan_to_joints(HOME, upright[0])
    np.testing.assert_array_equal(planner.plan_to_joints(*upright, hold=hold).path, first.path)


def test_candidates_that_break_the_hold_are_left_out(planner, upright):
    tilted = make_pose(DOWN @ matrix_from_rotvec([0.6, 0, 0]), [0.5, -0.3, 0.3])
    good = make_pose(matrix_from_rotvec([0, 0, 0.7]) @ DOWN, [0.5, -0.3, 0.3])
    result = planner.plan_to_poses(upright[0], np.stack([tilted, good]), hold=Hold())
    assert result.ok, result.reason
    assert result.goal == 1
    assert result.counts.hold_broken == 1
    alone = planner.plan_to_poses(upright[0], tilted, hold=Hold())
    assert alone.status is PlanStatus.HOLD_BROKEN
    assert alone.counts.hold_broken == alone.counts.given == 1


def test_a_goal_configuration_that_breaks_the_hold_says_by_how_much(planner, upright):
    result = planner.plan_to_joints(upright[0], HOME + np.array([0, 0, 0, 0, 0, 0.5, 0]), hold=Hold(tolerance=0.2))
    assert result.status is PlanStatus.HOLD_BROKEN
    assert result.excess == pytest.approx(0.5 - 0.2, abs=0.02)
    assert "tilts the held axis by 0.5" in result.reason


def test_holds_that_hold_nothing_are_refused():
    with pytest.raises(InputError, match="length zero"):
        Hold(tool_axis=(0.0, 0.0, 0.0))
    with pytest.raises(InputError, match="between 0 and pi/2"):
        Hold(tolerance=2.0)


@pytest.mark.parametrize("place", [(0.5, -0.35, 0.3), (0.4, 0.35, 0.4), (0.6, -0.2, 0.5)])
def test_task_space_planning_reaches_poses_freely(planner, place):
    T = make_pose(DOWN, place)
    result = planner.plan_task_space(HOME, T)
    assert result.ok, result.reason
    distance, angle = pose_error(planner.chains[0].T_base_tool(result.path[-1]), T)
    assert distance <= 1e-3
    assert angle <= np.deg2rad(0.5)
    exact = ExactChecker(planner.robot.tree, planner.robot.parts, list(planner.world), planner.robot.ignored)
    assert all(exact.is_free(q) for q in dense(result.path))
    np.testing.assert_array_equal(planner.plan_task_space(HOME, T).path, result.path)


def test_task_space_planning_gives_up_after_its_iterations(tabletop, planner):
    options = PlannerOptions(iterations=50)
    result = ArmPlanner(tabletop, planner.chains, options=options).plan_task_space(HOME, translation([3, 0, 0]))
    assert result.status is PlanStatus.NO_PATH
    assert result.iterations == 7 + 13 + 25 + 50 + 50 + 200
    bad = planner.plan_task_space(HOME, np.full((4, 4), np.nan))
    assert bad.status is PlanStatus.INVALID_REQUEST

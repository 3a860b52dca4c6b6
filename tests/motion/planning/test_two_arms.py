"""Two arms as one chain: straight moves, things carried between two hands, JT-RRT."""

from itertools import pairwise

import mujoco
import numpy as np
import pytest
from numpy.typing import ArrayLike

from handloom.errors import InputError
from handloom.motion.collision import ExactChecker, Shape, ShapeKind
from handloom.motion.kinematics import Chain
from handloom.motion.planning import ArmPlanner, Hold, Move, PlanStatus
from handloom.spatial import make_pose, matrix_from_rotvec, pose_error, translation

HOME = np.tile([0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785], 2)
DOWN = np.diag([1.0, -1.0, -1.0])
BASES = np.array([[0.0, 0.25, 0.0], [0.0, -0.25, 0.0]])
HANDS = np.array([[0.45, 0.21, 0.3], [0.45, -0.21, 0.3]])
"""Where the hands hold a tray, in the world [m]."""
RIGHT_HAND = ("right_hand", "right_leftfinger", "right_rightfinger")
APART, TWIST = 0.5e-3, 2e-3
"""How well hands that move straight keep their relative pose [m], [rad]."""


def in_bases(T_world_tool: np.ndarray) -> np.ndarray:
    """Return tool poses (..., 2, 4, 4) of the world in the bases of their arms."""
    return translation(-BASES) @ T_world_tool


def hands(shift: ArrayLike = (0.0, 0.0, 0.0), yaw: float = 0.0) -> np.ndarray:
    """Return both hands at a tray that was moved and turned about its middle."""
    middle = HANDS.mean(axis=0)
    R = matrix_from_rotvec([0.0, 0.0, yaw])
    return in_bases(make_pose(R @ DOWN, (HANDS - middle) @ R.T + middle + np.asarray(shift)))


def make_planner(two_arms: mujoco.MjModel) -> ArmPlanner:
    chains = [Chain.from_model(two_arms, tool=f"{side}_tcp", base=f"{side}_link0") for side in ("left", "right")]
    return ArmPlanner(two_arms, chains)


@pytest.fixture(scope="module")
def planner(two_arms) -> ArmPlanner:
    return make_planner(two_arms)


@pytest.fixture(scope="module")
def start(planner) -> np.ndarray:
    """Both hands at the tray, pointing down."""
    found = planner.free_ik(hands()[None], HOME)
    assert found.free.all()
    return found.q[0]


@pytest.fixture
def carrying(two_arms, start) -> ArmPlanner:
    """The arms with a tray between them, and a bar that is in the way of carrying it straight ahead."""
    planner = make_planner(two_arms)
    T_hand_tcp = translation([0.0, 0.0, 0.1034])
    T_tcp_tray = translation(DOWN.T @ (HANDS.mean(axis=0) - HANDS[0]))
    tray = Shape(kind=ShapeKind.BOX, size=(0.1, 0.18, 0.01))
    planner.attach("tray", tray, "left_hand", T_hand_tcp @ T_tcp_tray, may_touch=RIGHT_HAND)
    planner.world.add_box("bar", (0.04, 0.2, 0.4), translation([0.62, 0.0, 0.2]))
    return planner


def dense(path: np.ndarray) -> np.ndarray:
    return np.concatenate([a + np.linspace(0, 1, 12)[:, None] * (b - a) for a, b in pairwise(path)])


def in_world(planner: ArmPlanner, q: np.ndarray) -> np.ndarray:
    """Return the tools (n, 2, 4, 4) in the world."""
    return translation(BASES) @ planner.arms.tools(q)


def shift_of_hands(planner: ArmPlanner, q: np.ndarray) -> tuple[float, float]:
    """Return the largest change [m], [rad] of the right hand in the left one, from the first configuration on."""
    T = in_world(planner, q)
    distance, angle = pose_error(np.linalg.inv(T[:, 0]) @ T[:, 1], np.linalg.inv(T[0, 0]) @ T[0, 1])
    return float(distance.max()), float(angle.max())


def exactly_free(planner: ArmPlanner, q: np.ndarray) -> bool:
    robot = planner.robot
    exact = ExactChecker(robot.tree, robot.parts, list(planner.world), robot.ignored)
    return all(exact.is_free(row) for row in q)


def within_limits(planner: ArmPlanner, q: np.ndarray) -> bool:
    tree = planner.robot.tree
    return bool(np.all((q >= tree.lower) & (q <= tree.upper)))


def test_each_hand_follows_its_own_line_at_the_same_time(planner, start):
    shifts = np.array([[0.1, 0.05, 0.1], [-0.05, -0.1, 0.0]])
    goal = in_bases(make_pose(DOWN, HANDS + shifts))
    result = planner.plan_straight(start, goal)
    assert result.ok, result.reason
    done = np.linspace(0, 1, len(result.path))[:, None, None]
    p = in_world(planner, result.path)[..., :3, 3]
    assert np.linalg.norm(p - (HANDS + done * shifts), axis=-1).max() < 1e-4
    assert within_limits(planner, result.path)
    assert exactly_free(planner, dense(result.path))


def test_hands_that_move_together_keep_their_relative_pose_while_they_turn(planner, start):
    goal = hands([0.08, 0.03, 0.1], yaw=0.6)
    result = planner.plan_straight(start, goal, together=True)
    assert result.ok, result.reason
    q = dense(result.path)
    apart, twist = shift_of_hands(planner, q)
    assert apart < APART
    assert twist < TWIST
    middle = in_world(planner, q)[..., :3, 3].mean(axis=1) - HANDS.mean(axis=0)
    off_line = np.cross(middle, [0.08, 0.03, 0.1]) / np.linalg.norm([0.08, 0.03, 0.1])
    assert np.linalg.norm(off_line, axis=1).max() < APART
    assert within_limits(planner, result.path)
    assert exactly_free(planner, q)
    # Each hand on its own line comes to the same place, but not with the tray: the lines cut across the turn.
    alone = planner.plan_straight(start, goal)
    assert shift_of_hands(planner, dense(alone.path))[0] > 5e-3


def test_a_goal_that_tears_the_tray_is_refused(planner, start):
    torn = hands([0.05, 0.0, 0.0])
    torn[1, 1, 3] += 0.01
    result = planner.plan_straight(start, torn, together=True)
    assert result.status is PlanStatus.HOLD_BROKEN
    assert "relative to one another by 10.0 mm" in result.reason
    assert planner.plan_straight(start, torn).ok


def test_a_tray_is_carried_level_over_a_bar(carrying, start):
    goal = hands([0.18, 0.0, 0.13], yaw=0.3)
    blocked = carrying.plan_straight(start, goal, together=True)
    assert blocked.status is PlanStatus.LINE_IN_COLLISION
    assert {blocked.touches[0].part, blocked.touches[0].other} == {"tray", "bar"}
    hold = Hold(tool_axis=(0.0, 0.0, 1.0), tolerance=np.deg2rad(4))
    result = carrying.plan_to_poses(start, goal[None], hold=hold)
    assert result.ok, result.reason
    q = dense(result.path)
    apart, twist = shift_of_hands(carrying, q)
    assert apart <= hold.apart
    assert twist <= hold.twist
    tilt = np.arccos(np.clip(-in_world(carrying, q)[:, 0, 2, 2], -1, 1))
    assert tilt.max() <= hold.tolerance
    assert within_limits(carrying, result.path)
    assert exactly_free(carrying, q)
    assert pose_error(carrying.arms.tools(result.path[-1]), goal)[0].max() < APART
    np.testing.assert_array_equal(carrying.plan_to_poses(start, goal[None], hold=hold).path, result.path)


def test_without_the_hold_the_tray_would_be_torn_on_the_way(planner, start):
    goal = planner.free_ik(hands([0.0, 0.0, 0.25], yaw=0.5)[None], start)
    assert goal.free.all()
    free = planner.plan_to_joints(start, goal.q[0])
    assert free.ok
    assert shift_of_hands(planner, dense(free.path))[0] > 0.005
    held = planner.plan_to_joints(start, goal.q[0], hold=Hold())
    assert held.ok, held.reason
    assert shift_of_hands(planner, dense(held.path))[0] <= 0.002


def test_a_goal_that_breaks_the_hold_of_two_hands_says_how(planner, start):
    moved = start + np.concatenate([np.zeros(7), [0.1, 0, 0, 0, 0, 0, 0.1]])
    result = planner.plan_to_joints(start, moved, hold=Hold())
    assert result.status is PlanStatus.HOLD_BROKEN
    assert "moves the tools relative to one another" in result.reason
    assert result.excess > 0.0
    goals = np.stack([hands([0.05, 0.0, 0.0]), in_bases(make_pose(DOWN, HANDS + np.array([[0, 0.05, 0], [0, 0, 0]])))])
    result = planner.plan_to_poses(start, goals[::-1], hold=Hold())
    assert result.ok, result.reason
    assert result.goal == 1
    assert result.counts.hold_broken == 1


def test_a_line_that_one_hand_cannot_follow_names_its_tool(planner, start):
    far = hands()
    far[1, :3, 3] += [0.6, -0.3, 0.0]
    result = planner.plan_straight(start, far)
    assert result.status is PlanStatus.LINE_UNREACHABLE
    assert "right_tcp" in result.reason
    assert 0.0 < result.fraction < 1.0


def test_hands_that_would_meet_collide_with_each_other(planner, start):
    crossed = hands()
    crossed[0, :3, 3] += [0.0, -0.2, 0.0]
    crossed[1, :3, 3] += [0.0, 0.2, 0.0]
    result = planner.plan_straight(start, crossed)
    assert result.status is PlanStatus.LINE_IN_COLLISION
    touch = result.touches[0]
    assert {touch.part.split("_")[0], touch.other.split("_")[0]} == {"left", "right"}


def test_both_hands_grasp_and_lift_in_one_chain(planner, start):
    stages = [
        Move(T_base_tool=hands([0.0, 0.0, 0.08])[None]),
        Move(T_base_tool=hands()[None], straight=True),
        Move(T_base_tool=hands([0.0, 0.0, 0.1], yaw=0.2)[None], straight=True, together=True),
    ]
    result = planner.plan_chain(HOME, stages)
    assert result.ok, result.reason
    assert len(result.segments) == 3
    assert shift_of_hands(planner, dense(result.segments[2]))[0] < APART


@pytest.mark.parametrize("shift", [(0.1, 0.0, 0.1), (0.0, -0.1, 0.2)])
def test_jt_rrt_brings_both_hands_to_their_poses(carrying, shift):
    carrying.detach("tray")
    T = hands(shift)
    result = carrying.plan_task_space(HOME, T[None])
    assert result.ok, result.reason
    distance, angle = pose_error(carrying.arms.tools(result.path[-1]), T)
    assert distance.max() <= 1e-3
    assert angle.max() <= np.deg2rad(0.5)
    assert exactly_free(carrying, dense(result.path))
    np.testing.assert_array_equal(carrying.plan_task_space(HOME, T[None]).path, result.path)


def test_malformed_requests_for_two_arms_are_refused(planner, start):
    with pytest.raises(InputError, match=r"\(2, 4, 4\)"):
        planner.plan_straight(start, hands()[0])
    with pytest.raises(InputError, match="must be > 0"):
        Hold(apart=0.0)

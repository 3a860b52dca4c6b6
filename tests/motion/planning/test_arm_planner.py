"""Plans are exactly free, repeat bit for bit, and prefer the best candidate."""

from itertools import pairwise

import mujoco
import numpy as np
import pytest

from handloom.errors import InputError
from handloom.motion.collision import ExactChecker, Shape, ShapeKind
from handloom.motion.kinematics import Chain
from handloom.motion.planning import ArmPlanner, Move, PlannerOptions, PlanStatus
from handloom.spatial import make_pose, pose_error, translation

HOME = np.array([0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785])
LEFT = np.array([0.6, 0.2, 0.0, -2.0, 0.0, 2.2, 0.785])
RIGHT = np.array([-0.6, 0.2, 0.0, -2.0, 0.0, 2.2, 0.785])
DOWN = np.diag([1.0, -1.0, -1.0])


def open_state(model: mujoco.MjModel) -> mujoco.MjData:
    data = mujoco.MjData(model)
    for j in range(model.njnt):
        if "finger" in model.joint(j).name:
            data.qpos[model.jnt_qposadr[j]] = 0.04
    mujoco.mj_kinematics(model, data)
    return data


@pytest.fixture
def planner(tabletop) -> ArmPlanner:
    data = open_state(tabletop)
    return ArmPlanner(tabletop, Chain.from_model(tabletop, tool="tcp", base="link0", qpos=data.qpos), data=data)


def assert_free(planner: ArmPlanner, path: np.ndarray) -> None:
    """Check every hundredth of a radian, one by one, with a checker of its own."""
    exact = ExactChecker(planner.robot.tree, planner.robot.parts, list(planner.world), planner.robot.ignored)
    for a, b in pairwise(path):
        for f in np.linspace(0, 1, int(np.ceil(np.abs(b - a).max() / 0.01)) + 1):
            assert exact.is_free(a + f * (b - a))


def grasp_poses(position: np.ndarray, turns: np.ndarray) -> np.ndarray:
    c, s, zero = np.cos(turns), np.sin(turns), np.zeros_like(turns)
    Rz = np.stack([np.stack([c, -s, zero], -1), np.stack([s, c, zero], -1), np.tile([0, 0, 1.0], (len(turns), 1))], 1)
    return make_pose(Rz @ DOWN, position)


def test_a_path_leads_around_the_wall_and_is_exactly_free(planner):
    result = planner.plan_to_joints(LEFT, RIGHT)
    assert result.status is PlanStatus.SUCCESS
    np.testing.assert_array_equal(result.path[0], LEFT)
    np.testing.assert_array_equal(result.path[-1], RIGHT)
    assert len(result.path) > 2
    assert_free(planner, result.path)


def test_the_same_request_gives_the_same_bits_whatever_came_before(planner):
    first = planner.plan_to_joints(LEFT, RIGHT)
    planner.plan_to_joints(HOME, LEFT)
    planner.plan_to_joints(LEFT, RIGHT, ignore=["wall"])
    np.testing.assert_array_equal(planner.plan_to_joints(LEFT, RIGHT).path, first.path)


def test_another_seed_gives_another_path(tabletop, planner):
    other = ArmPlanner(tabletop, planner.chains, data=open_state(tabletop), options=PlannerOptions(seed=1))
    a, b = planner.plan_to_joints(LEFT, RIGHT), other.plan_to_joints(LEFT, RIGHT)
    assert a.ok
    assert b.ok
    assert a.path.shape != b.path.shape or not np.array_equal(a.path, b.path)


def test_a_free_straight_motion_is_found_at_once(planner):
    result = planner.plan_to_joints(HOME, HOME + 0.1)
    assert result.ok
    assert len(result.path) == 2
    assert result.iterations == 1


def test_already_being_there_is_a_success(planner):
    result = planner.plan_to_joints(HOME, HOME)
    assert result.ok
    assert result.path.shape == (1, 7)
    assert "the start is the goal" in result.notes


def test_ignored_obstacles_do_not_count_for_that_request_only(planner):
    direct = planner.plan_to_joints(LEFT, RIGHT, ignore=["wall"])
    assert direct.ok
    assert len(direct.path) == 2
    assert len(planner.plan_to_joints(LEFT, RIGHT).path) > 2


def test_the_best_reachable_candidate_wins(planner):
    cube = np.array([0.45, -0.25, 0.0])
    far, inside = translation([2.0, 0, 0.5]), make_pose(DOWN, [0.5, 0.0, 0.3])
    good = grasp_poses(cube + np.array([0, 0, 0.3]), np.array([0.0, 0.5]))
    T = np.concatenate([far[None], inside[None], good])
    result = planner.plan_to_poses(HOME, T, scores=[4.0, 3.0, 1.0, 2.0])
    assert result.ok
    assert result.goal == 3
    assert result.counts.given == 4
    assert result.counts.unreachable == 1
    assert result.counts.in_collision == 1
    assert result.counts.chosen == 1
    assert result.counts.untried == 1
    distance, angle = pose_error(planner.chains[0].T_base_tool(result.path[-1]), T[3])
    assert distance <= 1e-3
    assert angle <= np.deg2rad(0.5)
    assert_free(planner, result.path)


def test_hundreds_of_candidates_are_counted_to_the_last(planner):
    rng = np.random.default_rng(0)
    T = grasp_poses(rng.uniform([0.3, -0.5, 0.2], [1.2, 0.5, 0.5], (200, 3)), rng.uniform(-3, 3, 200))
    result = planner.plan_to_poses(HOME, T, scores=rng.random(200))
    counts = result.counts
    assert result.ok
    parts = (counts.untried, counts.unreachable, counts.in_collision, counts.line_failed, counts.not_connected)
    assert sum(parts) + counts.chosen == counts.given == 200


def test_a_grasp_is_chained_from_its_pre_grasp_and_lifts_straight(planner):
    cube = np.array([0.45, -0.25, 0.14])
    turns = np.array([0.0, 0.8])
    grasp = grasp_poses(cube, turns)
    stages = [
        Move(T_base_tool=grasp @ translation([0, 0, -0.12])),
        Move(T_base_tool=grasp, straight=True, ignore=("cube",)),
        Move(T_base_tool=translation([0, 0, 0.1]) @ grasp, straight=True, ignore=("cube",)),
    ]
    result = planner.plan_chain(HOME, stages)
    assert result.ok, result.reason
    assert len(result.segments) == 3
    for before, after in pairwise(result.segments):
        np.testing.assert_array_equal(before[-1], after[0])
    chain = planner.chains[0]
    tips = chain.T_base_tool(result.segments[1])
    goal = grasp[result.goal]
    sideways = (tips[:, :3, 3] - goal[:3, 3]) @ goal[:3, :2]
    assert np.abs(sideways).max() < 1e-3
    assert np.diff(tips[:, 2, 3]).max() < 1e-4
    assert pose_error(tips[-1], goal)[0] < 1e-3
    assert np.abs(np.diff(np.concatenate(result.segments[1:]), axis=0)).max() < 0.15


def test_later_free_stages_are_planned_from_where_the_last_one_ends(planner):
    up = translation([0, 0, 0.3])
    stages = [
        Move(T_base_tool=make_pose(DOWN, [0.45, -0.3, 0.3])),
        Move(T_base_tool=make_pose(DOWN, [0.45, -0.3, 0.25]), straight=True),
        Move(T_base_tool=make_pose(DOWN, [0.45, 0.3, 0.25])),
        Move(T_base_tool=up @ make_pose(DOWN, [0.45, 0.3, 0.1]), straight=True),
    ]
    result = planner.plan_chain(HOME, stages)
    assert result.ok, result.reason
    assert len(result.segments) == 4
    assert_free(planner, result.path)


def test_a_straight_move_keeps_the_tool_on_the_line(planner):
    start = planner.plan_to_poses(HOME, make_pose(DOWN, [0.45, -0.3, 0.35])).path[-1]
    chain = planner.chains[0]
    goal = chain.T_base_tool(start) @ translation([0.05, 0.05, 0.1])
    result = planner.plan_straight(start, goal)
    assert result.ok, result.reason
    begin, end = chain.T_base_tool(start)[:3, 3], goal[:3, 3]
    tips = chain.T_base_tool(result.path)[:, :3, 3]
    along = (end - begin) / np.linalg.norm(end - begin)
    off = (tips - begin) - np.outer((tips - begin) @ along, along)
    assert np.linalg.norm(off, axis=1).max() < 5e-4
    assert np.linalg.norm(tips[-1] - end) < 5e-4


def test_poses_too_tight_for_padded_spheres_are_reached_all_the_same(planner):
    # Fingers around the cube, a few millimetres from it and from the table.
    grasp = make_pose(DOWN, [0.45, -0.25, 0.135])
    result = planner.plan_to_poses(HOME, grasp)
    assert result.ok, result.reason
    assert not planner.scene.spheres(0.005).configurations_free(result.path[-1])[0]
    assert_free(planner, result.path)


def test_collision_free_inverse_kinematics_tells_reachable_from_free(planner):
    T = np.stack([make_pose(DOWN, [0.45, -0.3, 0.35]), make_pose(DOWN, [0.5, 0.0, 0.3]), translation([3, 0, 0])])
    result = planner.free_ik(T, HOME)
    assert result.reachable.tolist() == [True, True, False]
    assert result.free.tolist() == [True, False, False]
    assert pose_error(planner.chains[0].T_base_tool(result.q[0]), T[0])[0] <= 1e-3


def test_obstacles_and_fingers_follow_the_state(tabletop, planner):
    data = open_state(tabletop)
    above = make_pose(DOWN, [0.45, -0.25, 0.135])
    q = planner.plan_to_poses(HOME, above).path[-1]
    data.qpos[tabletop.joint("leftfinger_joint").qposadr] = 0.0
    mujoco.mj_kinematics(tabletop, data)
    planner.update(data)
    closed = planner.plan_to_joints(HOME, q)
    assert closed.status is PlanStatus.GOAL_IN_COLLISION
    assert {closed.touches[0].part, closed.touches[0].other} == {"leftfinger", "cube/cube_geom"}
    cube = tabletop.jnt_qposadr[tabletop.body("cube").jntadr[0]]
    data.qpos[cube : cube + 3] = [0.45, -0.45, 0.145]
    mujoco.mj_kinematics(tabletop, data)
    planner.update(data)
    assert planner.plan_to_joints(HOME, q).ok


def test_an_attached_object_takes_part_in_planning(planner):
    low = make_pose(DOWN, [0.45, -0.35, 0.25])
    q = planner.plan_to_poses(HOME, low).path[-1]
    high = planner.plan_to_poses(HOME, make_pose(DOWN, [0.45, -0.35, 0.6])).path[-1]
    stick = Shape(kind=ShapeKind.BOX, size=(0.01, 0.01, 0.1))
    planner.attach("stick", stick, "hand", translation([0, 0, 0.2]), may_touch=["leftfinger", "rightfinger"])
    blocked = planner.plan_to_joints(high, q)
    assert blocked.status is PlanStatus.GOAL_IN_COLLISION
    assert {blocked.touches[0].part, blocked.touches[0].other} == {"stick", "table/top"}
    planner.detach("stick")
    assert planner.plan_to_joints(high, q).ok


def test_two_arms_move_together_without_touching_each_other(two_arms):
    chains = [Chain.from_model(two_arms, tool=f"{side}_tcp", base=f"{side}_link0") for side in ("left", "right")]
    planner = ArmPlanner(two_arms, chains)
    assert len(planner.joint_names) == 14
    # Each hand goes to the other side of the middle line, one above the other.
    T = np.stack([make_pose(DOWN, [0.45, -0.3, 0.65]), make_pose(DOWN, [0.45, 0.3, 0.35])])[None]
    start = np.concatenate([HOME, HOME])
    result = planner.plan_to_poses(start, T)
    assert result.ok, result.reason
    for arm, chain in enumerate(chains):
        tool = chain.T_base_tool(result.path[-1][planner.columns[arm]])
        assert pose_error(tool, T[0, arm])[0] <= 1e-3
    assert_free(planner, result.path)


def test_malformed_requests_are_refused_as_errors(planner):
    with pytest.raises(InputError, match="7 values here"):
        planner.plan_to_joints(np.zeros(6), HOME)
    with pytest.raises(InputError, match=r"goal poses must have shape \(n, 4, 4\)"):
        planner.plan_to_poses(HOME, np.eye(3))
    with pytest.raises(InputError, match="scores of shape"):
        planner.plan_to_poses(HOME, np.eye(4), scores=[1.0, 2.0])
    with pytest.raises(InputError, match="first one must not be straight"):
        planner.plan_chain(HOME, [Move(T_base_tool=np.eye(4), straight=True)])
    with pytest.raises(InputError, match="they must agree"):
        planner.plan_chain(HOME, [Move(T_base_tool=np.tile(np.eye(4), (k, 1, 1))) for k in (2, 3)])
    with pytest.raises(InputError, match="tree_step must be > 0"):
        PlannerOptions(tree_step=0.0)


def test_of_equal_grasps_the_one_with_the_least_turn_is_taken(planner):
    position = planner.chains[0].T_base_tool(HOME)[:3, 3]
    turns = np.deg2rad([170.0, 100.0, 3.0, -120.0, 60.0])
    result = planner.plan_to_poses(HOME, grasp_poses(position, turns))
    assert result.status is PlanStatus.SUCCESS
    distances = [np.linalg.norm(planner.plan_to_poses(HOME, T).path[-1] - HOME) for T in grasp_poses(position, turns)]
    assert result.goal == int(np.argmin(distances))


def test_the_tool_moves_through_poses_along_an_arc_or_says_how_far_it_came(planner):
    T = planner.chains[0].T_base_tool(HOME)
    angles = np.linspace(0.05, 0.6, 12)
    arc = np.tile(T, (len(angles), 1, 1))
    arc[:, :3, 3] += np.stack([0.1 * np.sin(angles), 0.1 * (1 - np.cos(angles)), 0 * angles], axis=1)
    result = planner.plan_through(HOME, arc)
    assert result.ok, result.reason
    distance, angle = pose_error(planner.chains[0].T_base_tool(result.path[-1]), arc[-1])
    assert distance < 1e-3
    assert angle < 0.01
    tips = planner.chains[0].T_base_tool(result.path)[:, :3, 3]
    centre = T[:3, 3] + [0.0, 0.1, 0.0]
    assert np.abs(np.linalg.norm(tips - centre, axis=1) - 0.1).max() < 1e-3
    far = translation([0.0, 0.0, 2.0]) @ T
    result = planner.plan_through(HOME, np.stack([arc[0], far]))
    assert result.status in {PlanStatus.LINE_UNREACHABLE, PlanStatus.LINE_JUMPS}
    assert "the straight move ends after" in result.reason


def test_fingers_may_touch_what_they_grasp_and_nothing_else_may(planner):
    tip = planner.chains[0].T_base_tool(LEFT)
    finger = planner.chains[0].T_base_tool(LEFT) @ translation([0.0, 0.045, -0.01])
    planner.world.add_box("cube", (0.02, 0.02, 0.02), finger)
    assert planner.plan_to_joints(RIGHT, LEFT).status is PlanStatus.GOAL_IN_COLLISION
    planner.let_touch(("leftfinger", "rightfinger"), "cube")
    result = planner.plan_to_joints(RIGHT, LEFT)
    assert result.ok, result.reason
    assert_free(planner, result.path)
    planner.world.add_box("slab", (0.1, 0.1, 0.1), tip @ translation([0.0, 0.0, -0.08]))
    assert planner.plan_to_joints(RIGHT, LEFT).status is PlanStatus.GOAL_IN_COLLISION

"""Every way a request can fail, each with the reason a person needs."""

from dataclasses import replace

import mujoco
import numpy as np
import pytest

from handloom.motion.kinematics import Chain, IkOptions, Orientation
from handloom.motion.planning import ArmPlanner, Move, PlannerOptions, PlanStatus
from handloom.spatial import make_pose, translation

HOME = np.array([0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785])
LEFT = np.array([0.6, 0.2, 0.0, -2.0, 0.0, 2.2, 0.785])
RIGHT = np.array([-0.6, 0.2, 0.0, -2.0, 0.0, 2.2, 0.785])
DOWN = np.diag([1.0, -1.0, -1.0])


@pytest.fixture
def planner(tabletop) -> ArmPlanner:
    return ArmPlanner(tabletop, Chain.from_model(tabletop, tool="tcp", base="link0"))


def test_values_that_are_not_finite_are_named(planner):
    bad = HOME.copy()
    bad[2] = np.nan
    result = planner.plan_to_joints(bad, HOME)
    assert result.status is PlanStatus.INVALID_REQUEST
    assert result.joint == "joint3"
    assert planner.plan_to_joints(HOME, bad).status is PlanStatus.INVALID_REQUEST
    poses = np.tile(np.eye(4), (3, 1, 1))
    poses[1, 0, 0] = np.inf
    result = planner.plan_to_poses(HOME, poses)
    assert result.status is PlanStatus.INVALID_REQUEST
    assert "goal pose 1 of stage 0 is not finite" in result.reason
    assert planner.plan_straight(HOME, poses[1]).status is PlanStatus.INVALID_REQUEST


def test_no_goal_at_all_is_said_so(planner):
    result = planner.plan_to_poses(HOME, np.empty((0, 4, 4)))
    assert result.status is PlanStatus.INVALID_REQUEST
    assert "no goal pose at all" in result.reason


def test_a_joint_out_of_its_range_is_named_with_the_amount(planner):
    out = HOME.copy()
    out[3] = 0.1
    for result, status in (
        (planner.plan_to_joints(out, HOME), PlanStatus.START_OUT_OF_LIMITS),
        (planner.plan_to_joints(HOME, out), PlanStatus.GOAL_OUT_OF_LIMITS),
    ):
        assert result.status is status
        assert result.joint == "joint4"
        assert result.excess == pytest.approx(0.2518)
        assert "0.2518 above its range [-3.0421, -0.1518]" in result.reason
        assert result.path.shape == (0, 7)


def test_a_start_barely_outside_a_limit_is_moved_in_and_reported(planner):
    edge = HOME.copy()
    edge[3] = planner.robot.tree.upper[3]
    outside = edge.copy()
    outside[3] += 1e-8
    result = planner.plan_to_joints(outside, HOME)
    assert result.ok
    assert result.path[0, 3] == edge[3]
    assert "moved into the joint limits: joint4 by 1e-08" in result.notes[0]


def test_a_start_in_collision_names_the_pair_and_the_depth(planner):
    planner.world.add_sphere("ball", 0.1, planner.chains[0].T_base_tool(HOME)[:3, 3])
    result = planner.plan_to_joints(HOME, LEFT)
    assert result.status is PlanStatus.START_IN_COLLISION
    assert result.touches[0].other == "ball"
    assert result.touches[0].depth > 0.01
    assert "overlaps ball by" in result.reason


def test_a_start_in_grazing_contact_is_tolerated_and_reported(planner):
    tool = planner.chains[0].T_base_tool(HOME)[:3, 3]
    planner.world.add_box("plate", (0.1, 0.1, 0.02), translation(tool))
    planner.plan_to_joints(HOME, LEFT)
    clearance = planner.scene.exact.touches(HOME, within=np.inf)[0]
    # Lower the plate until it overlaps by one millimetre.
    planner.world.move("plate", translation(tool - np.array([0, 0, -clearance.distance - 1e-3])))
    result = planner.plan_to_joints(HOME, LEFT)
    assert result.ok, result.reason
    assert "the start is in contact, which was tolerated" in result.notes[0]
    np.testing.assert_array_equal(result.path[0], HOME)


def test_free_ends_without_room_for_the_padding_are_called_enclosed(tabletop, planner):
    careful = ArmPlanner(tabletop, planner.chains, options=PlannerOptions(padding=0.05))
    # Three centimetres from the first link, which only turns about its own axis and never gets further away.
    careful.world.add_sphere("ball", 0.01, [-0.11, 0.0, 0.243])
    result = careful.plan_to_joints(HOME, LEFT)
    assert result.status is PlanStatus.START_IN_COLLISION
    assert "the start is enclosed: it is free, but no motion leads out of it" in result.reason
    assert "mm from" in result.reason
    assert result.touches[0].depth == 0.0


def test_a_goal_configuration_in_collision_names_the_pair(planner):
    into_table = np.array([0.0, 0.9, 0.0, -1.9, 0.0, 2.8, 0.785])
    result = planner.plan_to_joints(HOME, into_table)
    assert result.status is PlanStatus.GOAL_IN_COLLISION
    assert result.touches[0].other in {"table/top", "wall/panel"}
    assert "the goal collides:" in result.reason


def test_goal_poses_that_all_collide_are_counted(planner):
    T = make_pose(DOWN, np.array([[0.5, 0.0, 0.3], [0.4, 0.0, 0.25], [2.0, 0.0, 0.3]]))
    result = planner.plan_to_poses(HOME, T)
    assert result.status is PlanStatus.GOAL_IN_COLLISION
    assert result.counts.in_collision == 2
    assert result.counts.unreachable == 1
    assert result.touches[0].depth > 0
    assert "3 candidates: 1 unreachable, 2 in collision" in result.reason


def test_poses_out_of_reach_are_called_unreachable(planner):
    result = planner.plan_to_poses(HOME, translation([[2.0, 0, 0.5], [0, 0, 3.0]]))
    assert result.status is PlanStatus.GOAL_UNREACHABLE
    assert result.counts.unreachable == 2


def test_a_search_that_runs_out_of_samples_says_how_many(tabletop, planner):
    impatient = ArmPlanner(
        tabletop, planner.chains, options=PlannerOptions(iterations=3, goal_iterations=1, tree_step=0.2, branches=1)
    )
    result = impatient.plan_to_joints(LEFT, RIGHT)
    assert result.status is PlanStatus.NO_PATH
    # Six rounds with an eighth, a quarter, a half, all, all and four times the budget, rounded up.
    assert result.iterations == 1 + 1 + 2 + 3 + 3 + 12
    assert "no path was found in 22 samples" in result.reason
    poses = impatient.plan_to_poses(LEFT, planner.chains[0].T_base_tool(RIGHT))
    assert poses.status is PlanStatus.NO_PATH
    assert poses.counts.not_connected == 1


@pytest.fixture
def turret() -> ArmPlanner:
    """An arm that turns and reaches: its straight moves are easy to predict."""
    model = mujoco.MjModel.from_xml_string("""
    <mujoco><compiler angle="radian"/><worldbody><body name="turret"><joint name="turn" axis="0 0 1"/>
      <geom type="sphere" size=".001"/><body name="rod"><joint name="reach" type="slide" axis="1 0 0" range="0 1"/>
      <geom type="sphere" size=".001"/><site name="tool"/></body></body></worldbody></mujoco>""")
    options = PlannerOptions(ik=IkOptions(orientation=Orientation.FREE, position_axes=(True, True, False)))
    return ArmPlanner(model, Chain.from_model(model, tool="tool"), options=options)


def test_a_straight_move_out_of_reach_says_how_far_it_gets(turret):
    result = turret.plan_straight([0.0, 0.5], translation([1.5, 0.0, 0.0]))
    assert result.status is PlanStatus.LINE_UNREACHABLE
    assert result.fraction == pytest.approx(0.5, abs=0.01)
    assert "the straight move ends after 50 %" in result.reason


def test_a_straight_move_into_something_names_it(planner):
    start = planner.plan_to_poses(HOME, make_pose(DOWN, [0.55, -0.4, 0.35])).path[-1]
    result = planner.plan_straight(start, make_pose(DOWN, [0.55, -0.4, 0.05]))
    assert result.status is PlanStatus.LINE_IN_COLLISION
    assert result.touches[0].other == "table/top"
    assert 0.3 < result.fraction < 1.0


def test_a_straight_move_that_needs_a_jump_says_so(turret):
    # The line passes 1 cm from the turret's axis, where a few millimetres take half a radian.
    start = np.array([np.arctan2(0.01, 0.3), np.hypot(0.3, 0.01)])
    result = turret.plan_straight(start, translation([-0.3, 0.01, 0.0]))
    assert result.status is PlanStatus.LINE_JUMPS
    assert result.fraction == pytest.approx(0.5, abs=0.1)
    assert "jump to another configuration" in result.reason


def test_a_chain_whose_straight_part_fails_says_so(planner):
    above = make_pose(DOWN, np.array([[0.55, -0.4, 0.35], [0.6, -0.4, 0.35]]))
    stages = [Move(T_base_tool=above), Move(T_base_tool=translation([0, 0, -0.3]) @ above, straight=True)]
    result = planner.plan_chain(HOME, stages)
    assert result.status is PlanStatus.LINE_IN_COLLISION
    assert result.counts.line_failed == 2
    assert result.touches[0].other == "table/top"


def test_paths_that_only_spheres_believe_in_fail_verification(planner):
    # A robot whose spheres do not look at the wall: the exact check must refuse what the search finds.
    blind = {frozenset((body, "wall")) for body in planner.robot.bodies}
    planner._use(replace(planner.robot, coarse=planner.robot.coarse | blind))
    result = planner.plan_to_joints(LEFT, RIGHT)
    assert result.status is PlanStatus.VERIFICATION_FAILED
    assert result.touches[0].other == "wall/panel"
    assert "exact verification rejected every path found" in result.reason


def test_every_status_is_provoked_somewhere_in_this_file():
    with open(__file__, encoding="utf-8") as file:
        text = file.read()
    elsewhere = {PlanStatus.SUCCESS, PlanStatus.HOLD_BROKEN}
    failures = [status for status in PlanStatus if status not in elsewhere]
    assert all(f"PlanStatus.{status.name}" in text for status in failures)

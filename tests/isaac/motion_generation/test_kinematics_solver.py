"""Kinematics solvers: closed loops, warm starts, partial targets, contracts of the published interface."""

import numpy as np
import pytest

from handloom.errors import InputError, NotFoundError
from handloom.isaac.articulation import SingleArticulation
from handloom.isaac.motion_generation import (
    ArticulationKinematicsSolver,
    LulaKinematicsSolver,
    load_supported_lula_kinematics_solver_config,
)
from handloom.spatial import matrix_from_quat, quat_from_matrix

TOOL = "fr3_hand"
HOME = np.array([0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785])


@pytest.fixture(scope="module")
def solver() -> LulaKinematicsSolver:
    files = load_supported_lula_kinematics_solver_config("fr3")
    assert files is not None
    return LulaKinematicsSolver(**files)


@pytest.fixture
def robot(fr3_world) -> SingleArticulation:
    robot = SingleArticulation(fr3_world)
    robot.initialize()
    return robot


def angle(R, quat) -> float:
    quat = np.array(quat, float) / np.linalg.norm(quat)
    return float(np.arccos(np.clip((np.trace(R.T @ matrix_from_quat(quat)) - 1) / 2, -1, 1)))


def test_the_published_ik_example_is_solved_from_a_moved_base(published_franka):
    solver = LulaKinematicsSolver(published_franka / "robot_descriptor.yaml", published_franka / "lula_franka_gen.urdf")
    solver.set_robot_base_pose([0.1, 0, 0.5], [0.1, 0, 0.3, 0.7])
    q, success = solver.compute_inverse_kinematics("right_gripper", [0.4, 0.3, 0.6], [0.1, 0, 0, -1])
    assert success
    position, R = solver.compute_forward_kinematics("right_gripper", q)
    assert np.linalg.norm(position - [0.4, 0.3, 0.6]) < 1e-3
    assert angle(R, [0.1, 0, 0, -1]) < 0.1
    np.testing.assert_array_equal(solver.get_cspace_velocity_limits(), [2.175] * 4 + [2.61] * 3)
    assert solver.get_cspace_jerk_limits()[0] == 7500


def test_random_poses_are_solved_and_forward_kinematics_confirms(solver):
    rng, solved = np.random.default_rng(0), 0
    for q in rng.uniform(*solver.get_cspace_position_limits(), (100, 7)):
        p, R = solver.compute_forward_kinematics(TOOL, q)
        found, success = solver.compute_inverse_kinematics(TOOL, p, quat_from_matrix(R), HOME)
        again, turned = solver.compute_forward_kinematics(TOOL, found)
        solved += success
        assert not success or (np.linalg.norm(again - p) < 1e-3 and angle(turned, quat_from_matrix(R)) < 0.01)
    assert solved == 100


def test_a_target_without_orientation_leaves_it_free(solver):
    q, success = solver.compute_inverse_kinematics(TOOL, [0.5, 0.2, 0.4], warm_start=HOME)
    assert success
    assert np.linalg.norm(solver.compute_forward_kinematics(TOOL, q, position_only=True)[0] - [0.5, 0.2, 0.4]) < 1e-3
    assert solver.compute_forward_kinematics(TOOL, q, position_only=True)[1] is None


def test_a_warm_start_at_the_solution_stays_there(solver):
    p, R = solver.compute_forward_kinematics(TOOL, HOME)
    q, success = solver.compute_inverse_kinematics(TOOL, p, quat_from_matrix(R), HOME)
    assert success
    np.testing.assert_allclose(q, HOME, atol=1e-6)


def test_joints_beyond_the_frame_stay_as_in_the_warm_start(solver):
    p, _ = solver.compute_forward_kinematics("fr3_link5", HOME + 0.1)
    q, success = solver.compute_inverse_kinematics("fr3_link5", p, warm_start=HOME)
    assert success
    np.testing.assert_array_equal(q[5:], HOME[5:])


def test_what_cannot_be_reached_says_so(solver):
    q, success = solver.compute_inverse_kinematics(TOOL, [3.0, 0, 0.5], warm_start=HOME)
    assert not success
    assert q.shape == (7,)


def test_default_seeds_and_tolerances_are_kept(solver):
    solver.set_default_cspace_seeds([HOME, HOME + 0.1])
    assert solver.get_default_cspace_seeds().shape == (2, 7)
    solver.set_default_position_tolerance(5e-4)
    solver.set_default_orientation_tolerance(0.005)
    assert (solver.get_default_position_tolerance(), solver.get_default_orientation_tolerance()) == (5e-4, 0.005)
    assert solver.compute_inverse_kinematics(TOOL, [0.5, 0.2, 0.4], [0, 1, 0, 0])[1]
    assert not solver.supports_collision_avoidance()


def test_an_articulation_solver_reads_the_robot_and_returns_actions(robot, solver):
    pair = ArticulationKinematicsSolver(robot, solver, TOOL)
    position, R = pair.compute_end_effector_pose()
    body = robot.world.data.body(TOOL)
    np.testing.assert_allclose(position, body.xpos, atol=1e-6)
    np.testing.assert_allclose(R, body.xmat.reshape(3, 3), atol=1e-6)
    action, success = pair.compute_inverse_kinematics(position + np.array([0.02, 0, 0]), quat_from_matrix(R))
    assert success
    assert len(action.joint_positions) == 7
    assert action.joint_velocities is None
    with pytest.raises(ValueError, match="no frame named 'hnad'"):
        pair.set_end_effector_frame("hnad")
    assert pair.get_end_effector_frame() == TOOL


def test_an_articulation_solver_before_initialisation_answers_none(fr3_world, solver):
    pair = ArticulationKinematicsSolver(SingleArticulation(fr3_world), solver, TOOL)
    assert pair.compute_end_effector_pose() == (None, None)
    assert pair.compute_inverse_kinematics([0.5, 0, 0.5]) == (None, False)


def test_mistakes_are_named(solver):
    with pytest.raises(NotFoundError, match="no frame named 'elbow'"):
        solver.compute_forward_kinematics("elbow", HOME)
    with pytest.raises(InputError, match="joint_positions must have 7 finite values"):
        solver.compute_forward_kinematics(TOOL, HOME[:6])
    with pytest.raises(InputError, match="quaternion"):
        solver.compute_inverse_kinematics(TOOL, [0.5, 0, 0.5], [0, 0, 0, 0])
    with pytest.raises(InputError, match="robot_description_path and urdf_path"):
        LulaKinematicsSolver()


def test_published_settings_of_the_solver_have_defaults_and_keep_what_they_are_given(solver):
    assert solver.ccd_max_iterations == 10
    assert solver.bfgs_cspace_limit_penalty_region == 0.01
    solver.ccd_max_iterations = 15
    assert solver.ccd_max_iterations == 15
    with pytest.raises(AttributeError, match="ccd_iterations"):
        _ = solver.ccd_iterations

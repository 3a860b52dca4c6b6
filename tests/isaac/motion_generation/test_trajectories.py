"""Trajectories: published durations, limits at 1 kHz, geometry of task-space paths, contracts."""

import numpy as np
import pytest

from handloom.errors import InputError
from handloom.isaac.articulation import SingleArticulation
from handloom.isaac.motion_generation import (
    ArticulationTrajectory,
    LulaCSpaceTrajectoryGenerator,
    LulaTaskSpaceTrajectoryGenerator,
    PathConversionConfig,
    Pose3,
    Rotation3,
    TransitionMode,
    create_c_space_path_spec,
    create_composite_path_spec,
    create_task_space_path_spec,
    load_supported_lula_kinematics_solver_config,
)
from handloom.isaac.motion_generation.trajectories.cubic_spline import SCurve
from handloom.motion.trajectory import MotionLimits

DOWN = [0.0, 1.0, 0.0, 0.0]
TOOL = "fr3_hand"
HOME = np.array([0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785])
PANDA = MotionLimits.of(
    [2.175] * 4 + [2.61] * 3, [15, 7.5, 10, 12.5, 15, 20, 20], [7500, 3750, 5000, 6250, 7500, 10000, 10000]
)


@pytest.fixture(scope="module")
def generator() -> LulaTaskSpaceTrajectoryGenerator:
    files = load_supported_lula_kinematics_solver_config("fr3")
    assert files is not None
    return LulaTaskSpaceTrajectoryGenerator(**files)


def assert_limits_hold(generator, trajectory) -> None:
    """Sample at 1 kHz; jerk is what accelerations change by between samples."""
    times = np.arange(0.0, trajectory.end_time, 1e-3)
    q, qd, qdd = trajectory.motion.sample(times)
    lower, upper = generator.get_c_space_position_limits()
    assert np.all(q >= lower - 1e-9)
    assert np.all(q <= upper + 1e-9)
    assert np.all(np.abs(qd) <= generator.get_c_space_velocity_limits() * (1 + 1e-6))
    assert np.all(np.abs(qdd) <= generator.get_c_space_acceleration_limits() * (1 + 1e-6))
    assert np.all(np.abs(np.diff(qdd, axis=0)) / 1e-3 <= generator.get_c_space_jerk_limits() * (1 + 1e-6))
    for end in (q[0], trajectory.get_joint_targets(trajectory.end_time)[0]):
        assert np.all(np.isfinite(end))
    np.testing.assert_allclose(trajectory.get_joint_targets(trajectory.end_time)[1], 0.0, atol=1e-9)


def test_the_published_two_waypoint_move_takes_1_28_seconds():
    end = np.array([0.0, 0.0, 0.0, -2.4, 0.0, 0.0, 0.0])
    move = SCurve(np.zeros(7), end, PANDA)
    assert move.duration == pytest.approx(2.4 / 2.175 + 2.175 / 12.5 + 12.5 / 6250, abs=1e-9)
    assert move.duration <= 1.28
    np.testing.assert_array_equal(move.sample(move.duration)[0], end)


@pytest.mark.parametrize("size", [3.0, 1.0, 0.3, 0.02, 1e-4])
def test_an_s_curve_reaches_a_limit_and_exceeds_none(size):
    rng = np.random.default_rng(int(1e4 * size))
    move = SCurve(np.zeros(7), size * rng.uniform(-1, 1, 7), PANDA)
    q, qd, qdd = move.sample(np.linspace(0, move.duration, 20001))
    step = move.duration / 20000
    used = [np.abs(qd / PANDA.velocity).max(), np.abs(qdd / PANDA.acceleration).max()]
    used.append(np.abs(np.diff(qdd, axis=0) / step / PANDA.jerk).max())
    assert max(used) <= 1 + 1e-6
    assert max(used) > 0.99
    np.testing.assert_allclose(np.gradient(q, step, axis=0), qd, atol=2e-3)


def test_trajectories_through_configurations_keep_all_limits_and_pass_near_waypoints(generator):
    rng = np.random.default_rng(5)
    for count in (2, 3, 6):
        waypoints = HOME + 0.4 * rng.uniform(-1, 1, (count, 7))
        trajectory = generator.compute_c_space_trajectory(waypoints)
        assert_limits_hold(generator, trajectory)
        q = trajectory.motion.sample(np.linspace(0, trajectory.end_time, 5000))[0]
        for waypoint in waypoints:
            assert np.linalg.norm(q - waypoint, axis=1).min() < 0.02
        np.testing.assert_allclose(q[[0, -1]], waypoints[[0, -1]], atol=1e-9)


@pytest.mark.parametrize("mode", ["cubic_spline", "linear"])
def test_timestamped_waypoints_are_met_exactly_at_their_times(generator, mode):
    waypoints = HOME + 0.2 * np.random.default_rng(1).uniform(-1, 1, (5, 7))
    times = [2.0, 3.0, 4.5, 5.0, 7.0]
    trajectory = generator.compute_timestamped_c_space_trajectory(waypoints, times, mode)
    assert (trajectory.start_time, trajectory.end_time) == (2.0, 7.0)
    for waypoint, time in zip(waypoints, times, strict=True):
        np.testing.assert_allclose(trajectory.get_joint_targets(time)[0], waypoint, atol=1e-12)
    if mode == "cubic_spline":
        _, qd, qdd = trajectory.motion.sample(np.linspace(0, 5, 5001))
        np.testing.assert_allclose(qd[[0, -1]], 0.0, atol=1e-9)
        assert np.abs(np.diff(qdd, axis=0)).max() < 0.02


def test_a_timetable_that_is_too_fast_has_no_trajectory(generator, caplog):
    waypoints = np.array([HOME, HOME + 0.5])
    assert generator.compute_timestamped_c_space_trajectory(waypoints, [0.0, 0.1]) is None
    assert "exceeds the velocity limits" in caplog.text
    with pytest.raises(InputError, match="ascending"):
        generator.compute_timestamped_c_space_trajectory(waypoints, [0.0, 0.0])
    with pytest.raises(InputError, match="interpolation_mode"):
        generator.compute_timestamped_c_space_trajectory(waypoints, [0.0, 1.0], "quintic")


def test_a_spline_that_overshoots_the_position_limits_has_no_trajectory(generator, caplog):
    edge = HOME.copy()
    edge[0] = generator.get_c_space_position_limits()[1][0] - 1e-3
    waypoints = [HOME, edge, edge, HOME]
    assert generator.compute_timestamped_c_space_trajectory(waypoints, [0.0, 4.0, 8.0, 12.0]) is None
    assert "position limits" in caplog.text


def test_waypoints_outside_the_limits_are_refused(generator):
    with pytest.raises(InputError, match="waypoint 1 has fr3_joint1 at 9, outside its limits"):
        generator.compute_c_space_trajectory([HOME, [9, *HOME[1:]]])
    with pytest.raises(InputError, match=r"shape \(m, 7\)"):
        generator.compute_c_space_trajectory([[0.0, 1.0]])


def test_limits_can_be_changed_and_solver_parameters_are_checked(generator):
    slow = LulaCSpaceTrajectoryGenerator(**load_supported_lula_kinematics_solver_config("fr3"))
    move = [HOME, HOME + 0.5]
    before = slow.compute_c_space_trajectory(move).end_time
    slow.set_c_space_velocity_limits(0.1 * np.ones(7))
    assert slow.compute_c_space_trajectory(move).end_time > max(4.9, before)
    with pytest.raises(InputError, match="velocity_limits must be positive"):
        slow.set_c_space_velocity_limits(-np.ones(7))
    assert generator.set_solver_param("convergence_dt", 0.01)
    assert generator.set_solver_param("time_split_method", "uniform")
    assert not generator.set_solver_param("time_split_method", "random")
    assert not generator.set_solver_param("no_such_thing", 1)
    with pytest.raises(InputError, match="max_segment_iterations must be of type int"):
        generator.set_solver_param("max_segment_iterations", "many")


def deviation(generator, trajectory, path) -> float:
    """Return how far the hand gets from a path while it is followed [m]."""
    q = trajectory.motion.sample(np.arange(0, trajectory.end_time, 2e-3))[0]
    hand = generator.robot.chain(TOOL).T_base_tool(q)[:, :3, 3]
    dense = np.array([path.pose(s)[:3, 3] for s in np.linspace(0, path.domain().upper, 3000)])
    return max(float(np.linalg.norm(dense - p, axis=1).min()) for p in hand)


def test_a_rectangle_is_followed_within_the_stated_deviation(generator):
    corners = [[0.5, -0.2, 0.3], [0.5, 0.2, 0.3], [0.5, 0.2, 0.5], [0.5, -0.2, 0.5], [0.5, -0.2, 0.3]]
    trajectory = generator.compute_task_space_trajectory_from_points(corners, [DOWN] * 5, TOOL)
    assert_limits_hold(generator, trajectory)
    spec = create_task_space_path_spec(Pose3(DOWN, corners[0]))
    assert all(spec.add_translation(corner) for corner in corners[1:])
    assert deviation(generator, trajectory, spec.generate_path()) < 0.004


def test_a_circle_of_two_arcs_then_a_turn_is_followed_within_the_stated_deviation(generator):
    spec = create_task_space_path_spec(Pose3(DOWN, [0.5, 0.15, 0.4]))
    assert spec.add_three_point_arc([0.5, -0.15, 0.4], [0.5, 0.0, 0.55])
    assert spec.add_three_point_arc([0.5, 0.15, 0.4], [0.5, 0.0, 0.25])
    assert spec.add_rotation(Rotation3(0.0, np.cos(np.pi / 4), np.sin(np.pi / 4), 0.0))
    trajectory = generator.compute_task_space_trajectory_from_path_spec(spec, TOOL)
    assert_limits_hold(generator, trajectory)
    path = spec.generate_path()
    assert deviation(generator, trajectory, path) < 0.004
    q = trajectory.get_joint_targets(trajectory.end_time)[0]
    np.testing.assert_allclose(generator.robot.chain(TOOL).T_base_tool(q), path.pose(path.domain().upper), atol=2e-3)


@pytest.mark.parametrize("mode", list(TransitionMode))
def test_a_composite_path_goes_through_all_its_parts(generator, mode):
    spec = create_task_space_path_spec(Pose3(DOWN, [0.5, 0.1, 0.4]))
    spec.add_translation([0.5, -0.1, 0.4])
    joints = create_c_space_path_spec(HOME)
    assert joints.add_c_space_waypoint(HOME + 0.1)
    assert not joints.add_c_space_waypoint([0.0])
    composite = create_composite_path_spec(HOME)
    assert composite.add_task_space_path_spec(spec, mode)
    assert composite.add_c_space_path_spec(joints, mode) == (mode != TransitionMode.LINEAR_TASK_SPACE)
    trajectory = generator.compute_task_space_trajectory_from_path_spec(composite, TOOL)
    assert_limits_hold(generator, trajectory)
    q = trajectory.motion.sample(np.linspace(0, trajectory.end_time, 4000))[0]
    hand = generator.robot.chain(TOOL).T_base_tool(q)[:, :3, 3]
    assert np.linalg.norm(hand - [0.5, -0.1, 0.4], axis=1).min() < 0.01
    starts = np.linalg.norm(hand - [0.5, 0.1, 0.4], axis=1).min()
    assert (starts < 0.01) == (mode != TransitionMode.SKIP)
    if mode != TransitionMode.LINEAR_TASK_SPACE:
        np.testing.assert_allclose(q[-1], HOME + 0.1, atol=1e-9)


def test_paths_out_of_reach_say_where(generator, caplog):
    spec = create_task_space_path_spec(Pose3(DOWN, [0.5, 0.0, 0.4]))
    spec.add_translation([1.5, 0.0, 0.4])
    assert generator.compute_task_space_trajectory_from_path_spec(spec, TOOL) is None
    assert "cannot follow the path beyond s =" in caplog.text
    assert generator.compute_task_space_trajectory_from_points([[0.5, 0, 0.4]], [DOWN, DOWN], TOOL) is None
    assert "differ in number" in caplog.text
    assert generator.compute_task_space_trajectory_from_path_spec("a circle", TOOL) is None
    with pytest.raises(InputError, match="min_position_deviation"):
        PathConversionConfig(min_position_deviation=0.01)


def test_segments_have_the_length_and_the_turn_of_their_geometry():
    spec = create_task_space_path_spec(np.eye(4))
    assert spec.add_translation([1, 0, 0], blend_radius=0.1)
    assert spec.add_translation([1, 1, 0])
    assert spec.add_tangent_arc([0, 1, 0])
    assert spec.add_rotation(Rotation3(0, 0, 0, 1))
    assert spec.add_three_point_arc([0, 0, 0], [-0.5, 0.5, 0], False)
    assert spec.add_linear_path(Pose3([1, 0, 0, 0], [0, 0, 2]))
    path = spec.generate_path()
    assert path.path_length() == pytest.approx(2 - 0.2 + 0.05 * np.pi + np.pi / 2 + np.pi / 2 + 2)
    assert path.accumulated_rotation() == pytest.approx(np.pi + np.pi, abs=1e-9)
    np.testing.assert_allclose(path.eval(path.domain().upper).translation, [0, 0, 2], atol=1e-12)
    np.testing.assert_allclose(path.min_position(), [-0.5, 0, 0], atol=1e-4)
    assert path.domain().span == path.domain().upper
    for s in path.corners()[1:-1]:
        gap = path.pose(s + 1e-7) - path.pose(s - 1e-7)
        assert np.abs(gap).max() < 1e-5


def test_blends_replace_at_most_half_of_a_segment_and_touch_both():
    spec = create_task_space_path_spec(np.eye(4))
    spec.add_translation([0.2, 0, 0], blend_radius=10.0)
    spec.add_translation([0.2, 1, 0])
    path = spec.generate_path()
    assert path.path_length() == pytest.approx(0.1 + 0.1 * np.pi / 2 + 0.9)


def test_arcs_without_a_circle_are_refused_with_a_warning(caplog):
    spec = create_task_space_path_spec(np.eye(4))
    assert not spec.add_tangent_arc([1, 0, 0])
    assert not spec.add_three_point_arc([2, 0, 0], [1, 0, 0])
    assert not spec.add_translation([0, 0, 0])
    spec.add_rotation(Rotation3(0, 1, 0, 0))
    assert not spec.add_tangent_arc([1, 0, 0])
    assert "tangent arc needs a preceding segment" in caplog.text
    with pytest.raises(InputError, match="at least one segment"):
        create_task_space_path_spec(np.eye(4)).generate_path()


def test_a_trajectory_becomes_actions_of_a_robot(fr3_world, generator, caplog):
    robot = SingleArticulation(fr3_world)
    robot.initialize()
    trajectory = generator.compute_c_space_trajectory([HOME, HOME + 0.2])
    actions = ArticulationTrajectory(robot, trajectory, 0.01)
    sequence = actions.get_action_sequence()
    assert len(sequence) == int(np.ceil(actions.get_trajectory_duration() / 0.01 - 1e-9))
    np.testing.assert_allclose(sequence[0].joint_positions, HOME)
    assert len(actions.get_action_sequence(0.1)) < len(sequence)
    for time, said in ((-1.0, "before the start time"), (99.0, "after the end time")):
        with pytest.raises(ValueError, match=said):
            actions.get_action_at_time(time)
        assert said in caplog.text
    assert trajectory.get_joint_targets(99.0) is None

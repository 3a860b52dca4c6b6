"""What the motion pages of the published notes show, one test each, in our own words, with only the import changed."""

import mujoco
import numpy as np
import pytest

from handloom.compat import isaac
from handloom.compat.isaac import (
    ArticulationKinematicsSolver,
    ArticulationMotionPolicy,
    ArticulationTrajectory,
    DynamicSphere,
    FixedCuboid,
    LulaCSpaceTrajectoryGenerator,
    LulaKinematicsSolver,
    LulaTaskSpaceTrajectoryGenerator,
    MotionPolicyController,
    PathPlannerVisualizer,
    RmpFlow,
    RMPFlowController,
    SingleArticulation,
    VisualCone,
    create_task_space_path_spec,
    load_supported_lula_kinematics_solver_config,
    load_supported_motion_policy_config,
    load_supported_path_planner_config,
)
from handloom.errors import InputError
from handloom.robots import load_robot
from handloom.sim import World

HOME = np.array([0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785])
FRAME = 1 / 60


@pytest.fixture
def robot(fr3_world) -> SingleArticulation:
    robot = SingleArticulation(fr3_world)
    robot.initialize()
    return robot


def play(robot: SingleArticulation, seconds: float) -> None:
    model, data = robot.world.model, robot.world.data
    for _ in range(round(seconds / model.opt.timestep)):
        mujoco.mj_step(model, data)


def test_every_published_name_of_motion_generation_resolves():
    for name in isaac.PUBLISHED:
        assert getattr(isaac, name) is not None
    assert isaac.Trajectory.__name__ == "TrajectoryInterface"


def test_motion_policy_a_robot_reaches_a_target_around_an_obstacle_frame_by_frame(robot):
    policy = RmpFlow(**load_supported_motion_policy_config("fr3", "RMPflow"))
    assert policy.get_active_joints() == list(robot.dof_names[:7])
    assert policy.get_watched_joints() == []
    assert policy.add_sphere(DynamicSphere("ball", radius=0.08, position=(0.45, 0.15, 0.45)))
    assert not policy.add_obstacle(VisualCone("cone"))
    policy.set_robot_base_pose(*robot.get_world_pose())
    policy.set_end_effector_target(target_position=np.array([0.45, 0.35, 0.35]))
    driver = ArticulationMotionPolicy(robot, policy, FRAME)
    for _ in range(360):
        policy.update_world()
        action = driver.get_next_articulation_action()
        assert len(action.joint_positions) == len(action.joint_indices) == 7
        robot.get_articulation_controller().apply_action(action)
        play(robot, FRAME)
    reached, _ = policy.get_end_effector_pose(robot.get_joint_positions()[:7])
    assert np.linalg.norm(reached - [0.45, 0.35, 0.35]) < 0.02


def test_motion_policy_controller_returns_an_action_for_a_target(robot):
    controller = RMPFlowController("rmpflow", robot, FRAME)
    assert isinstance(controller, MotionPolicyController)
    policy = controller.get_motion_policy()
    assert policy.end_effector_frame == load_robot("fr3").arms[0].tool_body
    wall = FixedCuboid("wall", scale=(0.05, 0.05, 0.6), position=(0.55, 0.25, 0.3))
    controller.add_obstacle(wall)
    for _ in range(300):
        robot.apply_action(controller.forward(target_end_effector_position=np.array([0.4, -0.3, 0.5])))
        play(robot, FRAME)
    reached, _ = policy.get_end_effector_pose(robot.get_joint_positions()[:7])
    assert np.linalg.norm(reached - [0.4, -0.3, 0.5]) < 0.02
    controller.remove_obstacle(wall)
    controller.reset()
    assert policy.obstacles == ()


def test_a_robot_that_does_not_ship_needs_a_policy_of_its_own():
    file = "<mujoco><worldbody><body name='arm'><joint name='swing'/><geom size='.1'/></body></worldbody></mujoco>"
    stranger = SingleArticulation(World(mujoco.MjModel.from_xml_string(file)))
    stranger.initialize()
    with pytest.raises(InputError, match=r"no built-in robot has the joints swing in this arrangement; give policy="):
        RMPFlowController("rmpflow", stranger)


def test_kinematics_a_robot_goes_to_a_pose_by_inverse_kinematics(robot):
    solver = LulaKinematicsSolver(**load_supported_lula_kinematics_solver_config("fr3"))
    solver.set_max_iterations(80)
    solver.set_robot_base_pose(*robot.get_world_pose())
    pair = ArticulationKinematicsSolver(robot, solver, "fr3_hand")
    action, success = pair.compute_inverse_kinematics(np.array([0.45, 0.2, 0.4]), np.array([0, 1, 0, 0]))
    assert success
    robot.apply_action(action)
    play(robot, 3.0)
    position, R = pair.compute_end_effector_pose()
    assert np.linalg.norm(position - [0.45, 0.2, 0.4]) < 0.02
    np.testing.assert_allclose(R, np.diag([1.0, -1.0, -1.0]), atol=0.05)


def test_trajectories_through_configurations_are_played_as_actions(robot):
    generator = LulaCSpaceTrajectoryGenerator(**load_supported_lula_kinematics_solver_config("fr3"))
    trajectory = generator.compute_c_space_trajectory(np.array([HOME, HOME + 0.3, HOME - 0.2]))
    robot.set_joint_positions(HOME, np.arange(7))
    for action in ArticulationTrajectory(robot, trajectory, FRAME).get_action_sequence():
        robot.apply_action(action)
        play(robot, FRAME)
    play(robot, 1.0)
    np.testing.assert_allclose(robot.get_joint_positions()[:7], HOME - 0.2, atol=0.02)


def test_trajectories_along_task_space_paths_are_played_as_actions(robot):
    generator = LulaTaskSpaceTrajectoryGenerator(**load_supported_lula_kinematics_solver_config("fr3"))
    path = create_task_space_path_spec(isaac.Pose3(isaac.Rotation3(0, 1, 0, 0), np.array([0.45, 0.1, 0.4])))
    assert path.add_translation(np.array([0.45, -0.1, 0.4]))
    assert path.add_tangent_arc(np.array([0.45, -0.1, 0.6]))
    trajectory = generator.compute_task_space_trajectory_from_path_spec(path, "fr3_hand")
    robot.set_joint_positions(trajectory.get_joint_targets(trajectory.start_time)[0], np.arange(7))
    for action in ArticulationTrajectory(robot, trajectory, FRAME).get_action_sequence():
        robot.apply_action(action)
        play(robot, FRAME)
    play(robot, 1.0)
    assert np.linalg.norm(robot.world.data.body("fr3_hand").xpos - [0.45, -0.1, 0.6]) < 0.02


def test_path_planner_a_plan_is_followed_as_actions(robot):
    planner = isaac.RRT(**load_supported_path_planner_config("fr3", "RRT"))
    assert planner.set_param("max_iterations", 6000)
    assert planner.get_watched_joints() == []
    planner.add_cuboid(FixedCuboid("wall", scale=(0.03, 0.03, 1.2), position=(0.55, 0.1, 0.6)))
    planner.update_world()
    planner.set_end_effector_target(np.array([0.45, 0.35, 0.4]))
    actions = PathPlannerVisualizer(robot, planner).compute_plan_as_articulation_actions(max_cspace_dist=0.02)
    assert actions
    for action in actions:
        robot.apply_action(action)
        play(robot, 2 * FRAME)
    play(robot, 1.0)
    hand = robot.world.data.body(load_supported_path_planner_config("fr3")["end_effector_frame_name"]).xpos
    assert np.linalg.norm(hand - [0.45, 0.35, 0.4]) < 0.02


def test_unknown_robots_and_algorithms_are_none_with_an_error_in_the_log(caplog):
    assert load_supported_motion_policy_config("fr4") is None
    assert load_supported_motion_policy_config("fr3", "Fabrics") is None
    assert load_supported_path_planner_config("fr3", "PRM") is None
    assert load_supported_lula_kinematics_solver_config("jetbot") is None
    assert "named 'fr4'" in caplog.text
    assert isaac.get_supported_robot_policy_pairs()["fr3"] == ["RMPflow"]
    assert isaac.get_supported_robot_path_planner_pairs()["so101"] == ["RRT"]

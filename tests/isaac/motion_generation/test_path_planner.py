"""RRT: published scene, exact freedom of its paths, parameters, what a robot gets of a plan."""

import mujoco
import numpy as np
import pytest

from handloom.errors import ConfigError, InputError, NotFoundError
from handloom.isaac.articulation import SingleArticulation
from handloom.isaac.motion_generation import (
    RRT,
    Capsule,
    Cuboid,
    Cylinder,
    GroundPlane,
    PathPlanner,
    PathPlannerVisualizer,
    Sphere,
    load_supported_path_planner_config,
)

HOME = np.array([0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785])
FRANKA_Q = np.array([0.012, -0.57, 0, -2.81, 0, 3.037, 0.741])
BARRIERS = {
    "left": ((0.01, 0.5, 1.0), (0, 0.45, 0.5)),
    "right": ((0.04, 0.5, 0.5), (0, -0.45, 0.35)),
    "back": ((0.5, 0.01, 1.0), (-0.45, 0, 1.0)),
    "top": ((0.25, 0.25, 0.01), (0, 0, 1.2)),
}


@pytest.fixture
def rrt() -> RRT:
    files = load_supported_path_planner_config("fr3")
    assert files is not None
    return RRT(**files)


def gap(planner: RRT, path: np.ndarray, boxes: list[Cuboid]) -> float:
    """Return the smallest distance between a sphere of the robot and a box along a path [m], computed in NumPy."""
    smallest = np.inf
    for q in planner.interpolated_path(path):
        for link, rows in planner.robot.spheres.items():
            T = planner.robot.T_base_frame(q, link)
            if link in planner.robot.frame_names[:2]:
                continue  # The base does not move.
            centers = rows[:, :3] @ T[:3, :3].T + T[:3, 3]
            for box in boxes:
                outside = np.maximum(np.abs(centers - box.get_world_pose()[0]) - box.sides / 2, 0.0)
                smallest = min(smallest, float((np.linalg.norm(outside, axis=1) - rows[:, 3]).min()))
    return smallest


def test_the_published_scene_is_solved_for_a_pose_and_for_a_configuration(published_franka, tmp_path):
    config = tmp_path / "rrt.yaml"
    config.write_text("seed: 123456\nmax_iterations: 8000\n")
    files = (published_franka / "robot_descriptor.yaml", published_franka / "lula_franka_gen.urdf", config)
    planner = RRT(*files, "right_gripper")
    boxes = [Cuboid(name, scale=sides, position=at) for name, (sides, at) in BARRIERS.items()]
    for box in boxes:
        assert planner.add_obstacle(box)
    assert planner.add_obstacle(GroundPlane("ground", position=(0, 0, -0.05)))
    planner.update_world()
    planner.set_end_effector_target([-0.4, 0.3, 0.5], [0.6837, -0.5746, 0.1488, -0.4245])
    path = planner.compute_path(FRANKA_Q)
    assert path is not None
    np.testing.assert_array_equal(path[0], FRANKA_Q)
    reached = planner.robot.T_base_frame(path[-1], "right_gripper")[:3, 3]
    assert np.linalg.norm(reached - [-0.4, 0.3, 0.5]) < 1e-3
    assert gap(planner, path, boxes) > 0
    np.testing.assert_array_equal(planner.compute_path(FRANKA_Q), path)
    goal = np.array([-2.2236, 1.2671, -1.5803, -2.0446, -0.8897, 1.6706, 0.4140])
    planner.set_cspace_target(goal)
    path = planner.compute_path(FRANKA_Q)
    np.testing.assert_allclose(path[-1], goal, atol=1e-9)
    assert gap(planner, path, boxes) > 0


def test_a_wall_is_gone_around_and_switching_it_off_makes_the_way_straight(rrt):
    wall = Cuboid("wall", scale=(0.02, 0.02, 1.2), position=(0.3, 0.0, 0.6))
    rrt.set_cspace_target([1.2, *HOME[1:]])
    start = np.array([-1.2, *HOME[1:]])
    assert len(rrt.compute_path(start)) == 2
    rrt.add_obstacle(wall)
    path = rrt.compute_path(start)
    assert len(path) > 2
    assert gap(rrt, path, [wall]) > 0
    rrt.disable_obstacle(wall)
    assert len(rrt.compute_path(start)) == 2
    rrt.enable_obstacle(wall)
    wall.set_world_pose(position=(5.0, 0.0, 0.6))
    rrt.update_world()
    assert len(rrt.compute_path(start)) == 2
    rrt.reset()
    assert not rrt.remove_obstacle(wall)


def test_a_position_is_reached_whatever_the_orientation_and_one_target_clears_the_other(rrt):
    rrt.set_cspace_target(HOME + 0.3)
    rrt.set_robot_base_pose([0.0, 0.0, 0.2], [1, 0, 0, 0])
    rrt.set_end_effector_target([0.4, 0.3, 0.6])
    path = rrt.compute_path(HOME)
    frame = load_supported_path_planner_config("fr3")["end_effector_frame_name"]
    assert np.linalg.norm(rrt.robot.T_base_frame(path[-1], frame)[:3, 3] - [0.4, 0.3, 0.4]) < 1e-3
    rrt.set_cspace_target(HOME + 0.3)
    np.testing.assert_allclose(rrt.compute_path(HOME)[-1], HOME + 0.3, atol=1e-9)


def test_no_path_is_none_and_the_reason_is_kept(rrt, caplog):
    rrt.set_end_effector_target([2.0, 0, 0.5], [1, 0, 0, 0])
    assert rrt.compute_path(HOME) is None
    assert "no path" in caplog.text
    assert rrt.last_result.reason
    rrt.add_obstacle(Sphere("ball", radius=0.2, position=(0.3, 0, 0.6)))
    rrt.set_cspace_target(HOME + 0.1)
    assert rrt.compute_path(HOME) is None
    assert "ball" in rrt.last_result.reason


def test_parameters_are_checked_and_change_nothing_when_wrong(rrt):
    assert rrt.set_param("max_iterations", 500)
    assert rrt.set_param("step_size", 0.1)
    assert rrt.set_param("task_space_planning_params/translation_target_zone_tolerance", 0.02)
    assert rrt.set_param("distance_metric_weights", [1.0] * 7)
    assert rrt.set_param("task_space_limits", [[0.0, 0.7], [-0.6, 0.6], [0.0, 0.8]])
    for name, value in (
        ("no_such_parameter", 1),
        ("max_iterations", -1),
        ("step_size", 0.0),
        ("c_space_planning_params/exploration_fraction", 1.5),
        ("task_space_planning_params/task_space_exploitation_fraction", 0.95),
        ("task_space_planning_params/extension_substep_target_region_scale_factor", 0.5),
        ("task_space_planning_params/no_such_parameter", 1),
        ("distance_metric_weights", [1.0]),
        ("task_space_limits", [[0.7, 0.0], [-0.6, 0.6], [0.0, 0.8]]),
        ("task_space_frame_name", "nowhere"),
        ("max_iterations", "many"),
    ):
        assert not rrt.set_param(name, value), name
    with pytest.raises(InputError, match="max_iterations"):
        rrt.set_max_iterations(0)
    rrt.set_random_seed(7)


def test_mistakes_are_named(rrt, tmp_path):
    with pytest.raises(InputError, match="there is no target"):
        rrt.compute_path(HOME)
    with pytest.raises(InputError, match="active_joint_targets must have 7 finite values"):
        rrt.set_cspace_target([0.0])
    with pytest.raises(InputError, match="orientation alone"):
        rrt.set_end_effector_target(None, [1, 0, 0, 0])
    assert not rrt.add_obstacle(Cylinder("pipe"))
    assert rrt.add_obstacle(Capsule("pole", radius=0.05, height=0.5, position=(0.0, 0.8, 0.5)))
    files = load_supported_path_planner_config("fr3")
    with pytest.raises(NotFoundError, match="end effector frame"):
        RRT(**{**files, "end_effector_frame_name": "hnad"})
    bad = tmp_path / "rrt.yaml"
    for text, said in (
        ("max_iteration: 5", "max_iteration"),
        ("distance_metric_weights: [1]", "1 values for 7 joints"),
    ):
        bad.write_text(text)
        with pytest.raises(ConfigError, match=f"(?s)rrt.yaml.*{said}"):
            RRT(**{**files, "rrt_config_path": bad})


def test_paths_are_interpolated_by_the_largest_joint_motion(fr3_world, rrt):
    robot = SingleArticulation(fr3_world)
    robot.initialize()
    visualizer = PathPlannerVisualizer(robot, rrt)
    path = visualizer.interpolate_path([[0.0, 0.0], [0.3, 0.1], [0.3, 0.15]], 0.1)
    np.testing.assert_allclose(path, [[0, 0], [0.1, 0.1 / 3], [0.2, 0.2 / 3], [0.3, 0.1], [0.3, 0.15]])
    assert PathPlanner().compute_path([], []) is None
    assert PathPlannerVisualizer(robot, rrt).get_watched_joints_subset() is None


def test_a_plan_becomes_actions_that_the_robot_follows_in_physics(fr3_world, rrt):
    robot = SingleArticulation(fr3_world)
    robot.initialize()
    rrt.add_obstacle(Cuboid("wall", scale=(0.02, 0.02, 1.2), position=(0.32, 0.24, 0.6)))
    rrt.set_cspace_target([1.3, *HOME[1:]])
    actions = PathPlannerVisualizer(robot, rrt).compute_plan_as_articulation_actions(max_cspace_dist=0.01)
    assert len(actions) > 50
    for action in actions:
        robot.apply_action(action)
        for _ in range(10):
            mujoco.mj_step(fr3_world.model, fr3_world.data)
    for _ in range(300):
        mujoco.mj_step(fr3_world.model, fr3_world.data)
    arm = robot.get_joint_positions()[:7]
    assert np.abs(arm - [1.3, *HOME[1:]]).max() < 0.02

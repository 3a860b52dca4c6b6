"""The wrapper: homes, targets, observations, frames, contacts, for every robot with arms."""

import sys

import mujoco
import numpy as np
import pytest

from handloom.config import allow_code
from handloom.errors import HandloomError, InputError, NotAllowedError, NotFoundError
from handloom.isaac.articulation import TemplateRobot, make_robot, register_robot, robot_class
from handloom.robots import load_robot, robot_names
from handloom.sim import World
from handloom.spatial import relative_pose
from handloom.values import ArticulationAction

ROBOTS = [name for name in robot_names() if load_robot(name).arms]


def in_world(name: str, *, place=(0.4, -0.3, 0.1), overrides=None, with_block: bool = False) -> TemplateRobot:
    """Attach a robot under a prefix, away from the origin and turned, and initialize it."""
    description = load_robot(name, overrides=overrides)
    spec = mujoco.MjSpec()
    spec.option = description.spec().option
    frame = spec.worldbody.add_frame(pos=place, quat=[np.cos(0.4), 0, 0, np.sin(0.4)])
    spec.attach(description.spec(), frame=frame, prefix="r/")
    if with_block:
        block = spec.worldbody.add_body(name="block", mocap=True)
        block.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.05, 0, 0])
    robot = make_robot(World.from_spec(spec), description, prefix="r/")
    robot.initialize()
    return robot


@pytest.mark.parametrize("name", ROBOTS)
def test_observations_have_the_published_names_and_values(name):
    robot = in_world(name)
    seen = robot.get_observations()
    if len(robot.arms) == 2:
        expected = {f"states.{s}_{part}.position" for s in ("left", "right") for part in ("joint", "gripper")}
        expected |= {"T_base_ee_fl", "T_base_ee_fr"}
        np.testing.assert_allclose(seen["states.right_joint.position"], robot.arms[1].home, atol=1e-12)
        left = "left_"
    else:
        expected = {"states.joint.position", "states.gripper.position", "states.gripper.pose", "T_base_ee_fl"}
        np.testing.assert_allclose(seen["states.gripper.pose"][:3], seen["T_base_ee_fl"][:3, 3], atol=1e-12)
        left = ""
    assert set(seen) == expected | {"qvel", "T_world_base"}
    np.testing.assert_allclose(seen[f"states.{left}joint.position"], robot.arms[0].home, atol=1e-12)
    np.testing.assert_allclose(seen[f"states.{left}gripper.position"], robot.arms[0].gripper_home, atol=1e-12)
    assert seen["qvel"].shape == (len(robot.description.config.dof_names),)
    np.testing.assert_allclose(seen["T_world_base"][:3, 3], [0.4, -0.3, 0.1], atol=1e-9)


@pytest.mark.parametrize("name", ROBOTS)
def test_targets_move_the_joints_they_are_given_for(name):
    robot = in_world(name)
    arm = robot.arms[-1]
    goal = arm.home + 0.05 * np.where(arm.home > 0.5, -1, 1)
    lower, upper = np.array([robot.world.model.joint(f"r/{j}").range for j in arm.joint_names]).T
    goal = np.clip(goal, lower, upper)
    robot.apply_action(goal, robot.joint_indices(arm.name))
    robot.world.step(510)
    np.testing.assert_allclose(robot.get_joint_positions(robot.joint_indices(arm.name)), goal, atol=2e-3)
    for other in robot.arms[:-1]:
        np.testing.assert_allclose(robot.get_joint_positions(robot.joint_indices(other.name)), other.home, atol=2e-3)


def test_an_action_is_applied_as_it_is():
    robot = in_world("fr3")
    robot.apply_action(ArticulationAction(joint_positions=[0.3], joint_indices=[0]))
    assert robot.get_applied_action().joint_positions[0] == pytest.approx(0.3)
    with pytest.raises(InputError, match="carries its own joint_indices"):
        robot.apply_action(ArticulationAction(joint_positions=[0.3], joint_indices=[0]), [0])
    with pytest.raises(HandloomError):
        robot.apply_action([0.1, 0.2], [0])


@pytest.mark.parametrize("name", ROBOTS)
def test_homes_with_noise_have_the_asked_spread_and_stay_inside_limits(name):
    arm = load_robot(name).arms[0]
    std = [0.05] * len(arm.home)
    robot = in_world(name, overrides={"left_joint_home_std": std})
    rng = np.random.default_rng(0)
    samples = np.array([[robot.sample_home(rng)[j] for j in arm.joint_names] for _ in range(400)])
    lower, upper = np.array([robot.world.model.joint(f"r/{j}").range for j in arm.joint_names]).T
    assert np.all((samples >= lower) & (samples <= upper))
    inside = (arm.home - lower > 0.3) & (upper - arm.home > 0.3)
    np.testing.assert_allclose(samples.std(0)[inside], 0.05, rtol=0.15)
    np.testing.assert_allclose(samples.mean(0)[inside], arm.home[inside], atol=0.01)
    robot.go_home(np.random.default_rng(1))
    first = robot.get_joint_positions(robot.joint_indices("left"))
    robot.go_home(np.random.default_rng(1))
    np.testing.assert_array_equal(first, robot.get_joint_positions(robot.joint_indices("left")))
    assert np.abs(first - arm.home).max() > 1e-3


@pytest.mark.parametrize("name", ROBOTS)
def test_frames_agree_in_base_and_world(name):
    robot = in_world(name)
    for arm in robot.arms:
        T_world_base = robot.arm_base_pose(arm.name)
        np.testing.assert_allclose(robot.ee_pose(arm.name, frame="world"), T_world_base @ robot.ee_pose(arm.name))
        T_world_tcp = robot.tcp_pose(arm.name, frame="world")
        np.testing.assert_allclose(T_world_tcp, robot.world.site_pose(f"r/{arm.tcp_site}"), atol=1e-9)
        points = robot.gripper_keypoints(arm.name)
        local = relative_pose(robot.ee_pose(arm.name, frame="world"), np.eye(4))
        back = local[:3, :3] @ points["tool_side"] + local[:3, 3]
        np.testing.assert_allclose(back, arm.keypoints.tool_side[:3], atol=1e-9)
    with pytest.raises(NotFoundError, match="no frame named 'table'"):
        robot.ee_pose("left", frame="table")


@pytest.mark.parametrize("name", ROBOTS)
def test_grippers_open_and_close_on_command(name):
    robot = in_world(name)
    for arm in robot.arms:
        assert robot.gripper_states[arm.name] == 1
        robot.set_gripper(arm.name, -1)
        robot.world.step(510)
        measured = robot.get_joint_positions(robot.gripper_indices(arm.name))
        half = (arm.gripper_open + arm.gripper_closed) / 2
        assert np.all((measured - half) * (arm.gripper_closed - half) > 0)
        assert robot.gripper_states[arm.name] == -1


@pytest.mark.parametrize("name", ROBOTS)
def test_finger_and_forbidden_contacts_are_found(name):
    robot = in_world(name, with_block=True)
    arm = robot.arms[-1]
    assert robot.finger_contacts(arm.name, "block") == ()
    assert robot.forbidden_contacts(arm.name) == ()
    T = np.eye(4)
    geoms = arm.pad_geoms or ("suction_bellows",)
    T[:3, 3] = robot.world.data.geom_xpos[robot.world.geom_index(f"r/{geoms[0]}")]
    robot.world.set_body_pose("block", T)
    assert robot.finger_contacts(arm.name, ["block"])
    assert robot.finger_contacts(arm.name, ["nothing"]) == ()
    T[:3, 3] = robot.world.body_pose(f"r/{arm.forbidden_bodies[1]}")[:3, 3]
    robot.world.set_body_pose("block", T)
    assert "block" in {other for _, other in robot.forbidden_contacts(arm.name)}


def test_pose_matrices_pass_through_grasp_conversion():
    robot = in_world("fr3")
    poses = np.tile(np.eye(4), (5, 1, 1))
    np.testing.assert_array_equal(robot.pose_post_process_fn(poses), poses)
    rows = np.zeros((2, 16))
    rows[:, [4, 8, 12]] = 1.0
    converted, scores = robot.pose_post_process_fn(rows, lr_arm="left")
    assert converted.shape == (4, 4, 4)
    assert scores.shape == (4,)
    with pytest.raises(NotFoundError, match="has no arm 'right'"):
        robot.pose_post_process_fn(rows, lr_arm="right")


class Waver(TemplateRobot):
    """A user's wrapper."""


def test_a_users_class_is_checked_and_found_by_its_module_name(monkeypatch):
    monkeypatch.setitem(sys.modules, "my_robots", sys.modules[__name__])
    assert register_robot(Waver) is Waver
    with pytest.raises(NotAllowedError, match="target_class 'my_robots:Waver' would run"):
        robot_class("my_robots:Waver")
    with allow_code():
        assert robot_class("my_robots:Waver") is Waver
    assert robot_class("FR3") is TemplateRobot
    with pytest.raises(InputError, match="must derive from TemplateRobot"):
        register_robot(dict)
    with pytest.raises(NotFoundError, match="no target_class named 'FR4'"):
        robot_class("FR4")
    with allow_code(), pytest.raises(InputError, match="has no attribute 'Nobody'"):
        robot_class("my_robots:Nobody")
    with allow_code(), pytest.raises(InputError, match="No module named 'no_such_module'"):
        robot_class("no_such_module:Robot")

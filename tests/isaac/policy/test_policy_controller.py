"""A policy controller sees the robot as its file says and drives it in its own time."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from tests.isaac.policy.onnx_files import write_linear

from handloom.errors import ConfigError, InputError, StateError
from handloom.isaac.policy import PolicyController
from handloom.isaac.wheeled import floor_world
from handloom.robots import load_robot
from handloom.sim import World

GO2 = load_robot("go2")
ENV = GO2.folder / "policy" / "env.yaml"
JOINTS = GO2.config.dof_names
OBSERVATION = 50
COMMAND = slice(9, 12)


@pytest.fixture
def world() -> World:
    return floor_world(GO2)


def controller_with(world: World, file: Path, env: Path = ENV) -> PolicyController:
    controller = PolicyController("go2", world, "robot/", position=[0, 0, 0.333], dof_names=JOINTS)
    controller.load_policy(file, env)
    return controller


def network(tmp_path: Path, weight: np.ndarray | None = None, bias: np.ndarray | None = None) -> Path:
    shape = (len(JOINTS), OBSERVATION)
    return write_linear(
        tmp_path / "policy.onnx",
        np.zeros(shape) if weight is None else weight,
        np.zeros(len(JOINTS)) if bias is None else bias,
    )


def test_initialize_puts_the_robot_into_the_policys_hands(world: World, tmp_path: Path) -> None:
    controller = controller_with(world, network(tmp_path))
    controller.initialize()
    kps, kds = controller.robot.get_articulation_controller().get_gains()
    assert kps.tolist() == [40.0] * 12
    assert kds.tolist() == [1.0] * 12
    efforts = controller.robot.get_articulation_controller().get_max_efforts()
    assert efforts.tolist() == [23.7] * 8 + [45.43] * 4
    np.testing.assert_array_equal(controller.robot.get_joint_positions(), controller.default_pos)
    assert controller.default_pos.tolist() == [0.0] * 4 + [0.75] * 4 + [-1.5] * 4


def test_an_action_is_scaled_and_added_to_the_default_pose(world: World, tmp_path: Path) -> None:
    bias = np.linspace(-1.0, 1.0, 12)
    controller = controller_with(world, network(tmp_path, bias=bias))
    controller.initialize()
    action = controller.forward(world.timestep, [0.0, 0.0, 0.0])
    expected = controller.default_pos + 0.25 * bias
    np.testing.assert_allclose(np.asarray(action.joint_positions), expected, rtol=1e-6)
    applied = controller.robot.get_articulation_controller().get_applied_action()
    np.testing.assert_allclose(np.asarray(applied.joint_positions), expected, rtol=1e-6)


@pytest.mark.parametrize("timestep", [0.005, 0.002, 1.0 / 510.0])
def test_the_network_is_asked_once_per_control_period_whatever_the_physics_step(
    tmp_path: Path, timestep: float
) -> None:
    weight = np.zeros((12, OBSERVATION))
    weight[0, COMMAND] = [1.0, 0.0, 0.0]
    controller = controller_with(floor_world(GO2), network(tmp_path, weight))
    controller.initialize()
    asked = []
    for step in range(round(0.055 / timestep)):
        before = controller.action[0]
        controller.forward(timestep, [0.1 + step, 0.0, 0.0])
        if controller.action[0] != before:
            asked.append(step * timestep)
    np.testing.assert_allclose(asked, [0.0, 0.02, 0.04], atol=1e-3)


def test_the_observation_is_that_of_the_robot(world: World, tmp_path: Path) -> None:
    controller = controller_with(world, network(tmp_path, bias=np.full(12, 0.5)))
    controller.initialize()
    robot = controller.robot
    # Rolled to its right side: gravity pulls along -y of the base.
    robot.set_world_pose([0, 0, 1.0], [np.cos(np.pi / 4), np.sin(np.pi / 4), 0, 0])
    robot.set_linear_velocity([0.3, 0.0, 0.2])
    robot.set_angular_velocity([0.0, 0.0, 0.7])
    robot.set_joint_positions(controller.default_pos + 0.01 * np.arange(12))
    robot.set_joint_velocities(0.1 * np.arange(12))
    seen = controller._compute_observation(np.array([1.0, 0.0, 0.5]))
    np.testing.assert_allclose(seen[:3], [0.3, 0.2, 0.0], atol=1e-9)
    np.testing.assert_allclose(seen[3:6], [0.0, 0.7, 0.0], atol=1e-9)
    np.testing.assert_allclose(seen[6:9], [0.0, -1.0, 0.0], atol=1e-9)
    assert seen[9:12].tolist() == [1.0, 0.0, 0.5]
    np.testing.assert_allclose(seen[12:24], 0.01 * np.arange(12), atol=1e-9)
    np.testing.assert_allclose(seen[24:36], 0.1 * np.arange(12), atol=1e-9)
    assert seen[36:48].tolist() == [0.0] * 12
    assert seen[48:].tolist() == [0.0, 1.0]
    controller.forward(world.timestep, [1.0, 0.0, 0.5])
    after = controller._compute_observation(np.array([1.0, 0.0, 0.5]))
    np.testing.assert_allclose(after[36:48], 0.5)
    phase = 2 * np.pi * controller.env.gait()["frequency"] * controller.env.period
    np.testing.assert_allclose(after[48:], [np.sin(phase), np.cos(phase)])
    controller.post_reset()
    assert controller._compute_observation(np.zeros(3))[36:].tolist() == [0.0] * 14


@pytest.mark.parametrize("command", [[1.0, 0.0], [np.nan, 0.0, 0.0], "fast", [np.inf, 0, 0], None])
def test_a_bad_command_is_refused(world: World, tmp_path: Path, command: object) -> None:
    controller = controller_with(world, network(tmp_path))
    controller.initialize()
    with pytest.raises(InputError, match="command must be three finite numbers"):
        controller.forward(world.timestep, command)
    with pytest.raises(InputError, match="dt must be a positive number"):
        controller.forward(0.0, [0, 0, 0])


def test_calls_out_of_order_are_refused(world: World, tmp_path: Path) -> None:
    controller = PolicyController("go2", world, "robot/", dof_names=JOINTS)
    with pytest.raises(StateError, match=r"no policy yet. Call load_policy\(\) first"):
        controller.forward(world.timestep, [0, 0, 0])
    with pytest.raises(StateError, match="no policy yet"):
        controller.initialize()
    controller.load_policy(network(tmp_path), ENV)
    with pytest.raises(StateError, match="not initialized"):
        controller.forward(world.timestep, [0, 0, 0])


def test_a_wrong_layout_says_which_terms_there_are(world: World, tmp_path: Path) -> None:
    env = tmp_path / "env.yaml"
    shutil.copy(ENV, env)
    lines = [line for line in env.read_text().splitlines() if "projected_gravity" not in line]
    env.write_text("\n".join(lines))
    with pytest.raises(ConfigError, match=r"takes 50 numbers.*base_ang_vel 3 \+ velocity_commands 3.*= 47 .*env.yaml"):
        controller_with(world, network(tmp_path), env)


def test_a_network_that_overflows_stops_the_robot_with_its_observation(world: World, tmp_path: Path) -> None:
    weight = np.zeros((12, OBSERVATION))
    weight[:, COMMAND] = 3e38
    controller = controller_with(world, network(tmp_path, weight))
    controller.initialize()
    with pytest.raises(StateError, match="the policy returned values that are not finite; the observation was"):
        controller.forward(world.timestep, [10.0, 10.0, 0.0])

import numpy as np
import pytest

from handloom.errors import InputError, NotFoundError
from handloom.isaac.wheeled import AckermannController, DifferentialController, WheeledRobot
from handloom.sim import World
from handloom.values import ArticulationAction

# A base with two wheels, a steering pair and an arm joint that must never be touched.
MODEL = """
<mujoco>
  <worldbody>
    <body name="base">
      <joint name="arm" axis="0 0 1"/><geom size="0.1"/>
      <body name="l"><joint name="left" axis="0 1 0"/><geom size="0.05"/></body>
      <body name="r"><joint name="right" axis="0 1 0"/><geom size="0.05"/></body>
      <body name="sl"><joint name="steer_left" axis="0 0 1"/><geom size="0.05"/></body>
      <body name="sr"><joint name="steer_right" axis="0 0 1"/><geom size="0.05"/></body>
    </body>
  </worldbody>
  <actuator>
    <position joint="arm" kp="10" kv="1"/>
    <velocity joint="left" kv="1"/>
    <position joint="right" kp="10" kv="1"/>
    <position joint="steer_left" kp="10" kv="1"/>
    <position joint="steer_right" kp="10" kv="1"/>
  </actuator>
</mujoco>
"""


def robot(**options: object) -> WheeledRobot:
    made = WheeledRobot(World.from_xml_string(MODEL), wheel_dof_names=["left", "right"], **options)  # type: ignore[arg-type]
    made.initialize()
    return made


def test_wheel_commands_reach_the_wheels_and_nothing_else() -> None:
    made = robot()
    made.apply_action(ArticulationAction(joint_positions=[0.7], joint_indices=[0]))
    before = made.get_applied_action()
    made.apply_wheel_actions(DifferentialController("drive", 0.05, 0.3).forward([0.5, 0.2]))
    after = made.get_applied_action()
    assert after.joint_velocities[[1, 2]].tolist() == pytest.approx([9.4, 10.6])
    assert after.joint_positions[0] == 0.7
    others = [0, 3, 4]
    for channel in ("joint_positions", "joint_velocities", "joint_efforts"):
        assert getattr(after, channel)[others].tolist() == getattr(before, channel)[others].tolist()


def test_wheels_are_in_velocity_mode_and_others_keep_their_gains() -> None:
    made = robot()
    for _ in range(2):
        kps, kds = made.get_articulation_controller().get_gains()
        assert kps.tolist() == [10, 0, 0, 10, 10]
        assert np.all(kds > 0)
        made.post_reset()


def test_an_ackermann_action_steers_two_joints_and_spins_the_others() -> None:
    car = WheeledRobot(
        World.from_xml_string(MODEL),
        wheel_dof_names=["left", "right"],
        steering_dof_names=["steer_left", "steer_right"],
    )
    car.initialize()
    action = AckermannController("car", 0.3, 0.2, 0.05).forward([0.3, 0.0, 1.0, 0.0, 0.0])
    car.apply_wheel_actions(
        ArticulationAction(joint_positions=action.joint_positions, joint_velocities=action.joint_velocities[2:])
    )
    applied = car.get_applied_action()
    assert applied.joint_positions[3:].tolist() == pytest.approx(action.joint_positions.tolist())
    assert applied.joint_velocities[1:3].tolist() == pytest.approx(action.joint_velocities[2:].tolist())
    with pytest.raises(InputError, match="joint_velocities needs 2 values"):
        car.apply_wheel_actions(action)
    assert car.get_applied_action().joint_positions.tolist() == applied.joint_positions.tolist()


def test_indices_name_the_wheels_too_and_entries_of_none_keep_their_target() -> None:
    made = WheeledRobot(World.from_xml_string(MODEL), wheel_dof_indices=[2, 1])
    made.initialize()
    assert made.wheel_dof_indices == (2, 1)
    made.apply_wheel_actions(ArticulationAction(joint_velocities=[1.0, 2.0]))
    made.apply_wheel_actions(ArticulationAction(joint_velocities=[None, 3.0]))
    assert made.get_applied_action().joint_velocities[[2, 1]].tolist() == [1.0, 3.0]


def test_wheel_states_are_read_and_set() -> None:
    made = robot()
    made.set_wheel_positions([0.5, -0.5])
    made.set_wheel_velocities([1.0, 2.0])
    assert made.get_wheel_positions().tolist() == [0.5, -0.5]
    assert made.get_wheel_velocities().tolist() == [1.0, 2.0]
    assert made.get_joint_positions()[0] == 0.0


def test_bad_wheels_and_actions_are_refused() -> None:
    world = World.from_xml_string(MODEL)
    with pytest.raises(InputError, match="give either wheel_dof_names"):
        WheeledRobot(world)
    with pytest.raises(InputError, match="give either wheel_dof_names"):
        WheeledRobot(world, wheel_dof_names=["left"], wheel_dof_indices=[1])
    with pytest.raises(NotFoundError, match="did you mean 'left'"):
        WheeledRobot(world, wheel_dof_names=["lefd"])
    with pytest.raises(InputError, match="wheel_dof_indices holds 9"):
        WheeledRobot(world, wheel_dof_indices=[9])
    with pytest.raises(InputError, match="no joint twice"):
        WheeledRobot(world, wheel_dof_names=["left", "left"])
    made = robot()
    for bad in ([1.0], [1.0, 2.0, 3.0], []):
        with pytest.raises(InputError, match="joint_velocities needs 2 values"):
            made.apply_wheel_actions(ArticulationAction(joint_velocities=bad))
    with pytest.raises(InputError, match="joint_indices"):
        made.apply_wheel_actions(ArticulationAction(joint_velocities=[1, 2], joint_indices=[1, 2]))

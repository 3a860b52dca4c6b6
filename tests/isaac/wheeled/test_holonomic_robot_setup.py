import numpy as np
import pytest

from handloom.errors import InputError, NotFoundError
from handloom.isaac.wheeled import HolonomicController, HolonomicRobotSetup, floor_world
from handloom.robots import load_robot
from handloom.sim import World
from handloom.spatial import quat_rotate

USER_DATA = """
<mujoco>
  <size nuser_jnt="2"/>
  <worldbody>
    <body name="base" pos="1 2 0.1" euler="0 0 30"><freejoint/><geom size="0.1"/>
      <body name="w1" pos="0.3 0.2 0"><joint name="j1" axis="0 1 0" user="0.1 -45"/><geom size="0.05"/></body>
      <body name="w2" pos="0.3 -0.2 0" euler="0 0 180">
        <joint name="j2" axis="0 -1 0" user="0.1 -135"/><geom size="0.05"/>
      </body>
      <body name="arm"><joint name="arm"/><geom size="0.05"/></body>
    </body>
  </worldbody>
</mujoco>
"""


def test_kaya_is_read_from_the_numbers_of_its_model() -> None:
    world = floor_world(load_robot("kaya"))
    setup = HolonomicRobotSetup(world, "robot/", "base_link")
    assert setup.get_articulation_controller_params() == ("axle_0_joint", "axle_1_joint", "axle_2_joint")
    params = setup.get_holonomic_controller_params()
    assert params.wheel_radius.tolist() == [0.04] * 3
    assert params.mecanum_angles.tolist() == [-90] * 3
    assert np.hypot(*params.wheel_positions[:, :2].T) == pytest.approx([0.1179] * 3, abs=1e-6)
    # Axles point outwards.
    axles = quat_rotate(params.wheel_orientations, params.wheel_axis)
    assert axles[:, :2] * 0.1179 == pytest.approx(params.wheel_positions[:, :2], abs=1e-6)
    controller = HolonomicController("kaya", *params, kinematics="rigid_body")
    assert controller.unreachable([1, 1, 1]) == pytest.approx([0, 0, 0], abs=1e-9)


def test_user_data_on_joints_serves_as_well_and_the_pose_of_the_base_plays_no_part() -> None:
    setup = HolonomicRobotSetup(World.from_xml_string(USER_DATA))
    params = setup.get_holonomic_controller_params()
    assert setup.get_articulation_controller_params() == ("j1", "j2")
    assert params.wheel_positions == pytest.approx(np.array([[0.3, 0.2, 0], [0.3, -0.2, 0]]), abs=1e-9)
    axles = quat_rotate(params.wheel_orientations, params.wheel_axis)
    assert axles == pytest.approx(np.array([[0, 1, 0], [0, 1, 0]]), abs=1e-9)
    assert params.mecanum_angles.tolist() == [-45, -135]


def test_missing_marks_and_bodies_are_refused() -> None:
    with pytest.raises(InputError, match="marked as a wheel"):
        HolonomicRobotSetup(floor_world(load_robot("jetbot")), "robot/")
    with pytest.raises(NotFoundError, match="base_link"):
        HolonomicRobotSetup(floor_world(load_robot("kaya")), "robot/", "base_lnk")
    custom = '<custom><numeric name="isaacmecanumwheel:angle:arm" data="45"/></custom>'
    half = USER_DATA.replace("<worldbody>", f"{custom}<worldbody>")
    with pytest.raises(InputError, match="lacks isaacmecanumwheel:radius"):
        HolonomicRobotSetup(World.from_xml_string(half))


def test_every_parameter_is_a_property_too() -> None:
    setup = HolonomicRobotSetup(floor_world(load_robot("kaya")), "robot/", "base_link")
    params = setup.get_holonomic_controller_params()
    for name in params._fields:
        np.testing.assert_array_equal(getattr(setup, name), getattr(params, name))
    assert setup.wheel_dof_names == setup.get_articulation_controller_params()

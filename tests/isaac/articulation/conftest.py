"""A small arm with a coupled gripper, driven in two ways."""

from collections.abc import Callable

import mujoco
import pytest

from handloom.isaac.articulation import SingleArticulation, add_drive_inputs
from handloom.sim import World

ARM = """
<mujoco model="arm">
  <compiler angle="radian"/>
  <option timestep="0.002" integrator="implicitfast"/>
  <default>
    <joint damping="0.2" armature="0.02"/>
    <position kp="400" kv="40"/>
    <geom type="capsule" size=".03" mass="1" contype="0" conaffinity="0"/>
  </default>
  <worldbody>
    <body name="r/base" pos=".1 0 .2" gravcomp="1">
      <geom fromto="0 0 0 0 0 .1" mass="2"/>
      <body name="r/link1" pos="0 0 .1" gravcomp="1">
        <joint name="r/turn" axis="0 0 1" range="-3 3" limited="true"/>
        <geom fromto="0 0 0 0 0 .3"/>
        <body name="r/link2" pos="0 0 .3" gravcomp="1">
          <joint name="r/lift" axis="0 1 0" range="-2 2" limited="true"/>
          <geom fromto="0 0 0 .3 0 0"/>
          <body name="r/link3" pos=".3 0 0" gravcomp="1">
            <joint name="r/bend" axis="0 1 0"/>
            <geom fromto="0 0 0 .2 0 0"/>
            <body name="r/left" pos=".22 .03 0" gravcomp="1">
              <joint name="r/left" type="slide" axis="0 1 0" range="0 .04" limited="true" damping="5"/>
              <geom fromto="0 0 0 .05 0 0" size=".01" mass=".1"/>
            </body>
            <body name="r/right" pos=".22 -.03 0" gravcomp="1">
              <joint name="r/right" type="slide" axis="0 -1 0" range="0 .04" limited="true" damping="5"/>
              <geom fromto="0 0 0 .05 0 0" size=".01" mass=".1"/>
            </body>
          </body>
        </body>
      </body>
    </body>
    <body name="box" pos="1 1 1"><freejoint name="box"/><geom type="box" size=".1 .1 .1"/></body>
  </worldbody>
  <equality><joint joint1="r/right" joint2="r/left" polycoef="0 1 0 0 0"/></equality>
  <actuator>
    <position name="r/turn" joint="r/turn" ctrlrange="-3 3" forcerange="-500 500"/>
    <position name="r/lift" joint="r/lift" ctrlrange="-2 2" forcerange="-500 500"/>
    <position name="r/bend" joint="r/bend" forcerange="-300 300"/>
    <position name="r/left" joint="r/left" kp="2000" kv="100" ctrlrange="0 .04" forcerange="-70 70"/>
  </actuator>
</mujoco>
"""


def make_world(inputs: str) -> World:
    """Return the arm with plain servos ("one") or with three inputs per drive ("three")."""
    spec = mujoco.MjSpec.from_string(ARM)
    if inputs == "three":
        assert add_drive_inputs(spec, prefix="r/") == ("r/turn", "r/lift", "r/bend", "r/left")
    return World.from_spec(spec)


@pytest.fixture(params=["one", "three"])
def make_robot(request: pytest.FixtureRequest) -> Callable[[], SingleArticulation]:
    """A function that builds the robot anew."""

    def make() -> SingleArticulation:
        robot = SingleArticulation(make_world(request.param), "r/", name="arm")
        robot.initialize()
        return robot

    return make


@pytest.fixture
def robot(make_robot: Callable[[], SingleArticulation]) -> SingleArticulation:
    """The robot, initialized."""
    return make_robot()

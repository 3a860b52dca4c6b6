"""Small worlds for the tests of sim."""

import pytest

BOXES = "".join(
    f'<body name="box{i}" pos="{0.05 * (i % 3)} {0.1 * (i % 2)} {0.1 + 0.12 * i}"><freejoint name="free{i}"/>'
    '<geom name="geom{i}" type="box" size=".04 .04 .05"/></body>'.replace("{i}", str(i))
    for i in range(6)
)
PILE = f"""
<mujoco model="pile">
  <option timestep="0.002" integrator="implicitfast" cone="elliptic" impratio="10"/>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 .1"/>
    <camera name="eye" pos="0 -1 1" xyaxes="1 0 0 0 0 1"/>
    {BOXES}
    <body name="arm" pos=".4 0 .6">
      <joint name="hinge" axis="0 1 0" damping=".1"/>
      <geom name="link" type="capsule" fromto="0 0 0 -.4 0 0" size=".03"/>
      <site name="tip" pos="-.4 0 0"/>
    </body>
  </worldbody>
  <actuator><position name="servo" joint="hinge" kp="40" kv="4"/></actuator>
  <keyframe><key name="raised" qpos="{"0 0 1 1 0 0 0 " * 6} .5"/></keyframe>
</mujoco>
"""


@pytest.fixture
def pile_xml() -> str:
    """An arm that swings into six falling boxes."""
    return PILE

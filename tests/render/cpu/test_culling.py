"""Geoms are cast nearest first, until the next lies behind all hits; what is seen does not depend on that order."""

import mujoco
import pytest

from handloom.render import Renderer

# The upper faces of both solids are in one plane; the second begins nearer to the camera.
COPLANAR = """
<mujoco>
  <worldbody>
    <light pos="0 0 2" dir="0 0 -1"/>
    <geom type="{kind}" size="{size}" rgba=".9 .2 .1 1"/>
    <geom type="box" size=".2 .3 .125" pos="0 -.1 0" rgba=".1 .2 .9 1"/>
    <geom type="box" size="2 2 .1" pos="0 0 -.4" rgba=".5 .5 .5 1"/>
    <camera name="front" pos="0 -1 .9" xyaxes="1 0 0 0 .67 .74" fovy="40" resolution="64 48"/>
  </worldbody>
</mujoco>
"""
# Depths of both kinds come from the same arithmetic, so that ties are exact.
SOLIDS = {"box": ".2 .2 .125", "cylinder": ".2 .125"}


@pytest.mark.parametrize("kind", SOLIDS)
def test_of_two_faces_in_one_plane_that_of_the_first_geom_is_seen(kind):
    model = mujoco.MjModel.from_xml_string(COPLANAR.format(kind=kind, size=SOLIDS[kind]))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    images = Renderer(model, "fast").render(data, ["front"], ("depth", "segmentation"))["front"]
    seen = images["segmentation"]
    # Seen from above, the first geom lies in the middle rows and the second, where it is alone, below them.
    assert (seen == 0).sum() > 200
    assert (seen == 1).sum() > 50
    middle = seen[20:24, 28:36]
    assert (middle == 0).all()
    assert (seen[:, 32] == 1).any(), "what is before the first geom is the second"

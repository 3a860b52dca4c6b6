"""A small table scene and the reference every pixel is compared with: MuJoCo's own ray casting."""

from collections.abc import Callable

import mujoco
import numpy as np
import pytest
from numpy.typing import NDArray

from handloom.render import camera_pose
from handloom.values import CameraSpec

TABLE = """
<mujoco>
  <visual><headlight ambient=".3 .3 .3" diffuse=".2 .2 .2" specular="0 0 0"/></visual>
  <asset>
    <texture name="checks" type="2d" builtin="checker" rgb1=".8 .7 .5" rgb2=".3 .25 .2" width="64" height="64"/>
    <material name="wood" texture="checks" texrepeat="4 4" texuniform="true"/>
    <material name="steel" rgba=".7 .7 .75 1" metallic="1" roughness=".3"/>
    <mesh name="wedge" vertex="-.05 -.05 0  .05 -.05 0  .05 .05 0  -.05 .05 0  0 -.05 .08  0 .05 .08"/>
  </asset>
  <worldbody>
    <light name="key" pos=".6 -.6 1.5" dir="-.4 .4 -1" diffuse=".8 .8 .8"/>
    <geom name="floor" type="plane" size="0 0 1" rgba=".6 .6 .6 1"/>
    <geom name="top" type="box" size=".5 .4 .02" pos="0 0 .4" material="wood"/>
    <geom name="ball" type="sphere" size=".06" pos="-.2 -.1 .48" rgba=".8 .2 .1 1"/>
    <geom name="tube" type="capsule" size=".03 .08" pos=".2 -.15 .45" quat=".7 0 .7 0" rgba=".1 .5 .8 1"/>
    <geom name="can" type="cylinder" size=".04 .06" pos="0 .15 .48" material="steel"/>
    <geom name="egg" type="ellipsoid" size=".07 .04 .03" pos="-.25 .2 .45" rgba=".9 .8 .2 1"/>
    <geom name="roof" type="mesh" mesh="wedge" pos=".25 .15 .42" rgba=".3 .6 .3 1"/>
    <geom name="hidden" type="box" size="1 1 1" group="3"/>
    <body name="arm" pos="0 0 .9"><joint name="swing" axis="0 1 0"/>
      <geom name="link" type="box" size=".04 .04 .15" pos="0 0 -.15" rgba=".85 .85 .88 1"/>
      <camera name="wrist" pos="0 0 -.34" quat="1 0 0 0" fovy="70"/>
    </body>
    <camera name="front" pos=".9 -.9 1.1" xyaxes=".707 .707 0 -.4 .4 .82" fovy="50"/>
  </worldbody>
</mujoco>
"""

Reference = Callable[[mujoco.MjModel, mujoco.MjData, CameraSpec], tuple[NDArray[np.int32], NDArray[np.float64]]]


@pytest.fixture
def table() -> tuple[mujoco.MjModel, mujoco.MjData]:
    """A table with one geom of every simple kind, and a link that swings."""
    model = mujoco.MjModel.from_xml_string(TABLE)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


@pytest.fixture(scope="session")
def cast_reference() -> Reference:
    """Cast one ray per pixel centre with mj_multiRay: geom ids (h, w) and planar depths (h, w) [m]."""

    def cast(model: mujoco.MjModel, data: mujoco.MjData, camera: CameraSpec):
        T = camera_pose(model, data, camera)
        x = (np.arange(camera.width) + 0.5 - camera.cx) / camera.fx
        y = (np.arange(camera.height) + 0.5 - camera.cy) / camera.fy
        rays = np.stack(np.broadcast_arrays(x[None, :], y[:, None], 1.0), axis=-1).reshape(-1, 3) @ T[:3, :3].T
        length = np.linalg.norm(rays, axis=1)
        ids, distance = np.zeros(len(rays), np.int32), np.zeros(len(rays))
        groups = np.array([1, 1, 1, 0, 0, 0], np.uint8)
        vectors = (rays / length[:, None]).ravel()
        mujoco.mj_multiRay(
            model, data, T[:3, 3].copy(), vectors, groups, True, -1, ids, distance, None, len(rays), mujoco.mjMAXVAL
        )
        depth = np.where(ids >= 0, distance / length, np.inf)
        return ids.reshape(camera.height, camera.width), depth.reshape(camera.height, camera.width)

    return cast

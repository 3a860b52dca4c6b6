"""Tiles of the last picture are kept exactly where drawing them again would give the same bits."""

from dataclasses import replace

import mujoco
import numpy as np
import pytest

from handloom.render import Renderer, spec_of_mjcf_camera
from handloom.render.cpu.cpu_renderer import MAX_CANVASES, CpuRenderer
from handloom.render.preset import CpuPreset, cpu_preset

# Something of every kind moves: shapes, a mesh with hollows, glass, a mirror, a lamp; and two cameras, one on a body.
MOVING = """
<mujoco>
  <visual><headlight ambient=".3 .3 .3" diffuse=".2 .2 .2" specular=".1 .1 .1"/></visual>
  <default><joint type="slide" axis=".8 .6 0"/></default>
  <asset>
    <texture name="checks" type="2d" builtin="checker" rgb1=".8 .7 .5" rgb2=".3 .25 .2" width="64" height="64"/>
    <material name="wood" texture="checks" texrepeat="4 4" texuniform="true"/>
    <material name="water" rgba=".3 .4 .5 1" reflectance=".4"/>
    <mesh name="wedge" vertex="-.05 -.05 0 .05 -.05 0 .05 .05 0 -.05 .05 0 0 -.05 .08 0 .05 .08"/>
    <hfield name="hill" nrow="3" ncol="3" size=".1 .1 .06 .02" elevation="0 .2 0 .3 1 .2 0 .4 0"/>
  </asset>
  <worldbody>
    <light pos=".6 -.6 1.5" dir="-.4 .4 -1" diffuse=".6 .6 .6"/>
    <body pos="-.8 .2 1.8"><joint/><geom type="sphere" size=".02" pos="0 0 .1"/>
      <light dir=".4 0 -1" diffuse=".3 .3 .3" bulbradius=".1"/></body>
    <geom type="plane" size="0 0 1" rgba=".6 .6 .6 1"/>
    <geom type="box" size=".5 .4 .02" pos="0 0 .4" material="wood"/>
    <geom type="box" size=".2 .1 .005" pos="0 -.25 .425" material="water"/>
    <body pos="-.2 -.1 .48"><joint/><geom type="sphere" size=".06" rgba=".8 .2 .1 1"/></body>
    <body pos=".2 -.15 .45"><joint/><geom type="capsule" size=".03 .08" quat=".7 0 .7 0" rgba=".1 .5 .8 1"/></body>
    <body pos="0 .15 .48"><joint/><geom type="cylinder" size=".04 .06" rgba=".3 .5 .9 .4"/></body>
    <body pos="-.25 .2 .45"><joint/><geom type="ellipsoid" size=".07 .04 .03" rgba=".9 .8 .2 1"/></body>
    <body pos=".25 .15 .42"><joint/><geom type="mesh" mesh="wedge" rgba=".3 .6 .3 1"/></body>
    <body pos="-.05 0 .44"><joint/><geom type="hfield" hfield="hill" rgba=".5 .4 .3 1"/></body>
    <body name="arm" pos="0 0 .9"><joint type="hinge" axis="0 1 0"/>
      <geom type="box" size=".04 .04 .15" pos="0 0 -.15" rgba=".85 .85 .88 1"/>
      <camera name="wrist" pos="0 0 -.34" quat="1 0 0 0" fovy="70" resolution="72 60"/>
    </body>
    <camera name="front" pos=".9 -.9 1.1" xyaxes=".707 .707 0 -.4 .4 .82" fovy="50" resolution="100 90"/>
  </worldbody>
</mujoco>
"""
LAMP = 0


@pytest.fixture
def moving() -> tuple[mujoco.MjModel, mujoco.MjData]:
    model = mujoco.MjModel.from_xml_string(MOVING)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


@pytest.mark.parametrize("preset", ["fast", "balanced", "quality"])
@pytest.mark.parametrize("kinds", [("rgb", "depth", "segmentation"), ("depth",), ("rgb", "normals", "albedo")])
def test_every_picture_of_a_busy_scene_is_the_one_a_new_renderer_draws(moving, preset, kinds):
    model, data = moving
    rng = np.random.default_rng(7)
    renderer = Renderer(model, preset)
    seen = [data.qpos.copy()]
    for frame in range(24):
        # Few things move at a time, some of them hardly, and now and then an older state comes back.
        movers = rng.choice(np.arange(1, model.nq), rng.integers(0, 4), replace=False)
        data.qpos[movers] += rng.normal(size=len(movers)) * rng.choice([1e-6, 0.01, 0.1])
        if frame % 6 == 5:
            data.qpos[LAMP] += 0.05
        if frame % 8 == 7:
            data.qpos[:] = seen[rng.integers(len(seen))]
        seen.append(data.qpos.copy())
        mujoco.mj_forward(model, data)
        wanted = ("rgb",) if frame == 12 else kinds
        images = renderer.render(data, ["front", "wrist"], wanted)
        fresh = Renderer(model, preset).render(data, ["front", "wrist"], wanted)
        for camera, drawn in images.items():
            for kind, image in drawn.items():
                assert image.tobytes() == fresh[camera][kind].tobytes(), (frame, camera, kind)


def test_what_nothing_moved_near_is_kept_and_the_rest_is_drawn_again(moving):
    model, data = moving
    camera = spec_of_mjcf_camera(model, "front")
    renderer = CpuRenderer(model, CpuPreset(mirrors=False))

    def draw() -> np.ndarray:
        mujoco.mj_forward(model, data)
        renderer.place(data)
        return renderer.draw(data, camera, ("rgb",)).rgb.copy()

    first = draw()
    canvas = renderer._canvases[camera]
    canvas.base[:] = 0
    assert not draw().any()
    data.qpos[1] += 0.02
    changed = draw().any(axis=2)
    # The ball, its shadows and the space around it; not the floor in the corners.
    assert 0.05 < changed.mean() < 0.6
    assert not changed[:8, :16].any()
    data.qpos[LAMP] += 0.02
    data.qpos[1] -= 0.02
    assert draw().any(axis=2).all()
    data.qpos[LAMP] -= 0.02
    assert np.array_equal(draw(), first)


def test_cameras_without_end_take_no_memory_without_end(moving):
    model, data = moving
    renderer = CpuRenderer(model, cpu_preset("fast"))
    renderer.place(data)
    spec = spec_of_mjcf_camera(model, "front")
    for k in range(3 * MAX_CANVASES):
        renderer.draw(data, replace(spec, name=f"c{k}"), ("rgb",))
    assert len(renderer._canvases) == MAX_CANVASES

"""Looks: shadows without seams, the sky of the model, lamps of any size, mirrors."""

import mujoco
import numpy as np
import pytest

from handloom.render import Renderer, camera_pose, project, spec_of_mjcf_camera

SHADOW = """
<mujoco>
  <visual><headlight ambient=".3 .3 .3" diffuse="0 0 0" specular="0 0 0"/></visual>
  <worldbody>
    <light pos="{x} .3 2.5" dir="0 0 -1" diffuse=".8 .8 .8" specular="0 0 0" bulbradius="{radius}"/>
    <geom type="plane" size="4 4 1" rgba=".7 .7 .7 1"/>
    <geom name="caster" type="{shape}" size="{size}" pos="0 0 .7" euler="10 25 {turn}"/>
    <camera name="top" pos="0 0 6" fovy="30"/>
  </worldbody>
</mujoco>
"""


def picture(xml: str, camera: str = "top", **options: str) -> tuple[np.ndarray, np.ndarray]:
    """Colours and geom ids of a scene."""
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    images = Renderer(model, **options).render(data, [camera], ("rgb", "segmentation"))[camera]
    return images["rgb"].astype(int), images["segmentation"]


def test_soft_shadows_have_no_seams_where_tiles_meet():
    shapes = {"box": ".3 .2 .002", "cylinder": ".2 .3", "capsule": ".1 .3"}
    for shape, size in shapes.items():
        for turn in (0, 20, 45, 70):
            xml = SHADOW.format(x=0.4, radius=0.3, shape=shape, size=size, turn=turn)
            rgb, ids = picture(xml)
            floor = ids == 0
            step = np.abs(np.diff(rgb[..., 0], axis=1))[floor[:, 1:] & floor[:, :-1]]
            # Away from the caster itself the penumbra is dozens of pixels wide: no step of more than a few levels.
            assert np.quantile(step, 0.9995) <= 6, (shape, turn)


def test_panels_on_the_sides_of_a_block_throw_no_shadow_on_its_top():
    for x, y, turn in ((0.3, -0.5, 20), (0.6, 0.8, 40), (0.2, -0.2, 60), (-0.2, 0.8, 75)):
        rgb, ids = picture(
            f"""<mujoco><visual><headlight ambient=".3 .3 .3" diffuse="0 0 0" specular="0 0 0"/></visual>
            <worldbody><light pos="{x} {y} 1" dir="{-x} {-y} -1" diffuse=".8 .8 .8" specular="0 0 0"/>
            <body euler="0 0 {turn}"><geom type="box" size=".02 .02 .02"/>
            <geom type="box" size=".0204 .0124 .0124"/><geom type="box" size=".0124 .0204 .0124"/></body>
            <camera name="top" pos="0 0 .1" fovy="30"/></worldbody></mujoco>"""
        )
        top = rgb[..., 0][ids == 0]
        assert (top < np.median(top) - 12).mean() < 0.002, (x, y, turn)


def test_a_wider_lamp_throws_a_softer_shadow():
    steps = []
    for radius in (0.02001, 0.3):
        rgb, ids = picture(SHADOW.format(x=0.4, radius=radius, shape="box", size=".3 .2 .05", turn=20))
        floor = ids == 0
        step = np.abs(np.diff(rgb[..., 0], axis=1))[floor[:, 1:] & floor[:, :-1]]
        steps.append(np.quantile(step, 0.999))
    assert steps[0] > 2 * steps[1]


def test_the_sky_is_the_models_skybox():
    sky = '<asset><texture type="skybox" builtin="gradient" rgb1="{up}" rgb2="{down}" width="64" height="64"/></asset>'
    scene = (
        '<mujoco>{}<worldbody><camera name="level" pos="0 0 1" xyaxes="1 0 0 0 0 1" fovy="90"/></worldbody></mujoco>'
    )
    red, _ = picture(scene.format(sky.format(up=".9 .1 .1", down=".1 .1 .1")), "level")
    plain, _ = picture(scene.format(""), "level")
    top, bottom = red[:40].mean(axis=(0, 1)), red[-40:].mean(axis=(0, 1))
    assert top[0] > 1.5 * top[2]
    assert abs(bottom[0] - bottom[2]) < 40
    assert plain[:40].mean(axis=(0, 1))[2] > plain[:40].mean(axis=(0, 1))[0]


MIRROR = """
<mujoco>
  <visual><headlight ambient=".4 .4 .4" diffuse=".4 .4 .4" specular="0 0 0"/></visual>
  <asset><material name="glass" rgba=".1 .1 .1 1" reflectance="{reflectance}"/></asset>
  <worldbody>
    <geom name="mirror" type="{shape}" size="{size}" material="glass"/>
    <geom name="ball" type="sphere" size=".1" pos="0 0 .5" rgba="1 0 0 1"/>
    <camera name="side" pos="0 -1.5 1" xyaxes="1 0 0 0 .5 1" fovy="60"/>
  </worldbody>
</mujoco>
"""


@pytest.mark.parametrize(("shape", "size"), [("plane", "1 1 1"), ("box", "1 1 .02")])
def test_a_mirror_shows_a_ball_where_the_mirrored_ball_would_be(shape, size):
    top = 0.02 if shape == "box" else 0.0
    rgb, ids = picture(MIRROR.format(reflectance=0.8, shape=shape, size=size), "side")
    plain, _ = picture(MIRROR.format(reflectance=0, shape=shape, size=size), "side")
    y, x = np.nonzero((rgb[..., 0] - rgb[..., 2] > 60) & (ids == 0))
    model = mujoco.MjModel.from_xml_string(MIRROR.format(reflectance=0, shape=shape, size=size))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    camera = spec_of_mjcf_camera(model, "side")
    image, _ = project(camera, camera_pose(model, data, camera), [[0, 0, 2 * top - 0.5]])
    assert np.hypot(x.mean() + 0.5 - image[0, 0], y.mean() + 0.5 - image[0, 1]) < 2.0
    assert (rgb == plain)[ids == 1].mean() > 0.8

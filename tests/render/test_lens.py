"""Real lenses and sensors: what is bent, what is not, and that a moment looks the same again."""

from dataclasses import replace

import mujoco
import numpy as np
import pytest

from handloom.render import Renderer
from handloom.render.appearance.lens import exposed
from handloom.render.cameras import distorted, project, undistorted, unproject
from handloom.values import CameraSpec
from handloom.values.camera import Optics

XML = """
<mujoco>
  <worldbody>
    <light pos="0 0 3" dir="0 0 -1"/>
    <geom name="floor" type="plane" size="3 3 1"/>
    <geom name="post" type="cylinder" size="0.02 0.3" pos="0.35 0.22 0.3" rgba="0.8 0.2 0.2 1"/>
    <geom name="ball" type="sphere" size="0.05" pos="-0.6 0.25 0.05" rgba="0.2 0.2 0.8 1"/>
  </worldbody>
</mujoco>
"""
BARREL = (-0.2, 0.03, 0.001, -0.002, 0.0)
CAMERA = CameraSpec.looking_at("front", (0, 0, 0.1), eye=(0.1, -0.8, 0.6), width=160, height=120, focal=110)


@pytest.fixture(scope="module")
def scene() -> tuple[mujoco.MjModel, mujoco.MjData]:
    model = mujoco.MjModel.from_xml_string(XML)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


def _with(optics: Optics) -> CameraSpec:
    return replace(CAMERA, optics=optics)


def test_undistorting_undoes_distorting() -> None:
    x, y = np.meshgrid(np.linspace(-0.8, 0.8, 33), np.linspace(-0.6, 0.6, 25))
    u, v = undistorted(BARREL, *distorted(BARREL, x, y))
    assert np.abs(u - x).max() < 1e-4
    assert np.abs(v - y).max() < 1e-4


def test_projected_points_lie_where_a_bent_picture_shows_them(scene: tuple[mujoco.MjModel, mujoco.MjData]) -> None:
    model, data = scene
    camera = _with(Optics(distortion=BARREL))
    images = Renderer(model).render(data, [camera], ("segmentation", "depth"))["front"]
    ball = images["segmentation"] == model.geom("ball").id
    rows, columns = np.nonzero(ball)
    middle, _ = project(camera, camera.T_parent_camera, [data.geom("ball").xpos])
    straight, _ = project(CAMERA, CAMERA.T_parent_camera, [data.geom("ball").xpos])
    seen = np.array([columns.mean() + 0.5, rows.mean() + 0.5])
    assert np.linalg.norm(seen - middle[0]) < 1.0
    assert np.linalg.norm(straight[0] - middle[0]) > 1.5
    points = unproject(camera, camera.T_parent_camera, images["depth"].astype(np.float32))
    assert np.abs(np.linalg.norm(points[ball] - data.geom("ball").xpos, axis=1) - 0.05).max() < 0.012


def test_a_lens_without_effects_changes_nothing_but_the_eighth_bit(
    scene: tuple[mujoco.MjModel, mujoco.MjData],
) -> None:
    model, data = scene
    plain = Renderer(model).render(data, [CAMERA])["front"]["rgb"]
    same = Renderer(model).render(data, [_with(Optics())])["front"]["rgb"]
    assert np.abs(plain.astype(int) - same.astype(int)).max() <= 1


def test_the_same_moment_has_the_same_noise_and_another_moment_another(
    scene: tuple[mujoco.MjModel, mujoco.MjData],
) -> None:
    model, data = scene
    renderer, camera = Renderer(model), _with(Optics(noise=0.03, jpeg=80, distortion=BARREL, seed=3))
    first = renderer.render(data, [camera])["front"]["rgb"].copy()
    assert np.array_equal(first, Renderer(model).render(data, [camera])["front"]["rgb"])
    data.time = 0.5
    later = renderer.render(data, [camera])["front"]["rgb"]
    data.time = 0.0
    assert not np.array_equal(first, later)


def test_noise_exposure_and_vignetting_have_the_size_they_say() -> None:
    gray = np.full((200, 200, 3), 128, np.uint8)
    noisy = exposed(gray, Optics(noise=0.02, seed=1), 0.0).astype(float)
    # The slope of sRGB at this gray is 0.60 levels per level of linear light at 0.216, so 2 % of noise are 4.3 levels.
    assert 2.0 < noisy.std() < 6.0
    assert abs(noisy.mean() - 128) < 1.0
    assert exposed(gray, Optics(exposure=1.5), 0.0).mean() > 148
    dim = exposed(gray, Optics(vignetting=0.5), 0.0)
    assert dim[100, 100, 0] >= 126
    assert dim[0, 0, 0] < 100
    warm = exposed(gray, Optics(white_balance=(1.2, 0.8)), 0.0)
    assert warm[0, 0, 0] > 128 > warm[0, 0, 2]
    drifting = [exposed(gray, Optics(exposure_drift=0.2, drift_seconds=4.0), t).mean() for t in (0.0, 1.0, 3.0)]
    assert drifting[2] < drifting[0] < drifting[1]

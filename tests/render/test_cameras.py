"""Cameras: poses, intrinsics, projection."""

import mujoco
import numpy as np
import pytest

from handloom.errors import NotFoundError
from handloom.render import Renderer, camera_pose, camera_pose_in, project, spec_of_mjcf_camera, unproject
from handloom.spatial import invert_pose
from handloom.values import CameraSpec


def test_the_pose_of_an_mjcf_camera_is_mujocos_with_opencv_axes(table):
    model, data = table
    data.joint("swing").qpos[0] = 0.4
    mujoco.mj_forward(model, data)
    for name in ("front", "wrist"):
        T = camera_pose(model, data, name)
        camera = model.camera(name).id
        assert np.allclose(T[:3, 3], data.cam_xpos[camera], atol=1e-12)
        assert np.allclose(T[:3, :3], data.cam_xmat[camera].reshape(3, 3) @ np.diag([1, -1, -1]), atol=1e-12)


def test_extrinsics_in_a_body_undo_that_bodys_motion(table):
    model, data = table
    before = camera_pose_in(model, data, "wrist", "arm")
    data.joint("swing").qpos[0] = 0.9
    mujoco.mj_forward(model, data)
    assert np.allclose(camera_pose_in(model, data, "wrist", "arm"), before, atol=1e-12)
    with pytest.raises(NotFoundError, match="no body named 'arn'; did you mean 'arm'"):
        camera_pose_in(model, data, "wrist", "arn")


def test_intrinsics_of_an_mjcf_camera_follow_its_sensor():
    model = mujoco.MjModel.from_xml_string(
        """<mujoco><worldbody><camera name="c" resolution="640 480" sensorsize="0.0064 0.0048" focal="0.004 0.005"
        principal="0.0002 -0.0001"/></worldbody></mujoco>"""
    )
    camera = spec_of_mjcf_camera(model, "c")
    assert (camera.width, camera.height) == (640, 480)
    assert (camera.fx, camera.fy) == pytest.approx((400.0, 500.0))
    assert (camera.cx, camera.cy) == pytest.approx((340.0, 230.0))


def test_a_projected_centre_is_the_centre_of_what_is_drawn(table):
    model, data = table
    camera = CameraSpec(
        name="c",
        width=320,
        height=240,
        fx=330.0,
        fy=300.0,
        cx=150.0,
        cy=131.0,
        position=(-0.2, -0.1, 1.5),
        quat=(0.0, 1.0, 0.0, 0.0),
    )
    T = camera_pose(model, data, camera)
    ball = model.geom("ball").id
    pixels, depth = project(camera, T, data.geom_xpos[ball][None])
    ids = Renderer(model).render(data, [camera], ("segmentation",))["c"]["segmentation"]
    y, x = np.nonzero(ids == ball)
    assert np.abs(pixels[0] - (x.mean() + 0.5, y.mean() + 0.5)).max() < 0.1
    assert depth[0] == pytest.approx(1.5 - 0.48)


def test_unprojecting_a_depth_image_gives_back_the_surface(table):
    model, data = table
    camera = spec_of_mjcf_camera(model, "front", width=80, height=60)
    images = Renderer(model).render(data, [camera], ("depth", "segmentation"))["front"]
    T = camera_pose(model, data, camera)
    points = unproject(camera, T, images["depth"])
    top = images["segmentation"] == model.geom("top").id
    assert np.abs(points[top][:, 2].max() - 0.42) < 1e-5
    pixels, _ = project(camera, T, points[top])
    y, x = np.nonzero(top)
    assert np.abs(pixels - np.column_stack([x, y]) - 0.5).max() < 1e-3


def test_points_behind_the_camera_have_no_pixel(table):
    model, data = table
    camera = spec_of_mjcf_camera(model, "front")
    T = camera_pose(model, data, camera)
    behind = (T @ [0.0, 0.0, -1.0, 1.0])[:3]
    pixels, depth = project(camera, T, behind[None])
    assert np.all(np.isnan(pixels))
    assert depth[0] == pytest.approx(-1.0)
    assert np.allclose(invert_pose(T) @ T, np.eye(4), atol=1e-12)

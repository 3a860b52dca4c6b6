"""Published cameras."""

import numpy as np
import pytest

from handloom.errors import InputError, NotFoundError
from handloom.render.camera_files import camera_from_intrinsics, camera_from_lens, opencv_from_axes, with_pose_noise
from handloom.spatial import matrix_from_quat, random_quats

K = [[606.1, 0.0, 324.4], [0.0, 605.9, 241.7], [0.0, 0.0, 1.0]]


@pytest.mark.parametrize(
    ("axes", "forward", "right"),
    [
        ("usd", (0, 0, -1), (1, 0, 0)),
        ("gl", (0, 0, -1), (1, 0, 0)),
        ("world", (1, 0, 0), (0, -1, 0)),
        ("ros", (0, 0, 1), (1, 0, 0)),
    ],
)
def test_published_axes_keep_what_the_camera_looks_at(axes, forward, right):
    for quat in random_quats(np.random.default_rng(0), 5):
        R = matrix_from_quat(quat)
        cv = matrix_from_quat(opencv_from_axes(quat, axes))
        assert np.allclose(cv @ [0, 0, 1], R @ forward, atol=1e-12)
        assert np.allclose(cv @ [1, 0, 0], R @ right, atol=1e-12)


def test_an_off_centre_principal_point_is_kept():
    camera = camera_from_intrinsics("wrist", width=640, height=480, K=K, parent="hand", position=(0, 0, 0.1))
    assert np.allclose(camera.K, K)
    assert np.allclose(camera_from_intrinsics("a", width=640, height=480, K=[606.1, 605.9, 324.4, 241.7]).K, K)


def test_a_lens_and_a_pixel_size_give_the_focal_length():
    camera = camera_from_lens("head", width=1280, height=720, focal_length=1.93e-3, pixel_size=3e-6, axes="usd")
    assert camera.fx == pytest.approx(1.93e-3 / 3e-6)
    assert (camera.cx, camera.cy) == (640.0, 360.0)


def test_pose_noise_has_the_stated_size():
    camera = camera_from_intrinsics("c", width=64, height=48, K=[50, 50, 32, 24])
    rng = np.random.default_rng(1)
    noisy = [with_pose_noise(camera, rng, position_std=0.01, angle_std=0.02) for _ in range(400)]
    assert np.std([c.position for c in noisy]) == pytest.approx(0.01, rel=0.1)
    angles = [2 * np.arccos(min(abs(c.quat[0]), 1.0)) for c in noisy]
    assert np.sqrt(np.mean(np.square(angles)) / 3) == pytest.approx(0.02, rel=0.1)


def test_mistakes_are_named():
    with pytest.raises(NotFoundError, match="no camera axis convention named 'unreal'"):
        opencv_from_axes((1, 0, 0, 0), "unreal")
    with pytest.raises(InputError, match="intrinsics are"):
        camera_from_intrinsics("c", width=4, height=4, K=[1, 2, 3])

"""Cameras that are told where to look."""

import numpy as np
import pytest

from handloom.errors import InputError
from handloom.spatial import invert_pose, transform_points
from handloom.values import CameraSpec


def test_what_a_camera_looks_at_is_in_the_middle_of_its_picture_and_up_is_up() -> None:
    rng = np.random.default_rng(4)
    for _ in range(50):
        eye, target = rng.uniform(-2.0, 2.0, (2, 3))
        camera = CameraSpec.looking_at("front", target, eye=eye, width=64, height=48, focal=50.0)
        points = transform_points(invert_pose(camera.T_parent_camera), target + np.array([[0, 0, 0], [0, 0, 0.01]]))
        assert np.all(points[:, 2] > 0.0)
        pixels = points @ camera.K.T
        middle, above = pixels[:, :2] / pixels[:, 2:]
        assert np.allclose(middle, [32.0, 24.0])
        assert np.isclose(above[0], 32.0)
        assert above[1] < 24.0


@pytest.mark.parametrize("eye", [(0.0, 0.0, 1.0), (0.0, 0.0, -1.0), (0.0, 0.0, 0.0)])
def test_a_camera_that_looks_straight_up_or_down_has_no_upper_side(eye: tuple[float, float, float]) -> None:
    with pytest.raises(InputError, match="straight up or down"):
        CameraSpec.looking_at("top", (0.0, 0.0, 0.0), eye=eye, width=64, height=48, focal=50.0)

"""Direction filters against their definition in angles."""

import numpy as np
import pytest

from handloom.skills.configs.parts import Filters
from handloom.skills.filters import direction_mask
from handloom.spatial import make_pose, random_rotations

Z = np.array([0.0, 0.0, 1.0])
AXES = {
    "forward": [1, 0, 0],
    "leftward": [0, 1, 0],
    "upward": [0, 0, 1],
    "backward": [1, 0, 0],
    "rightward": [0, 1, 0],
    "downward": [0, 0, 1],
}


@pytest.fixture
def poses():
    return make_pose(random_rotations(np.random.default_rng(0), 5000), np.zeros(3))


@pytest.mark.parametrize("direction", AXES)
@pytest.mark.parametrize("column", [0, 1, 2])
@pytest.mark.parametrize("angles", [(140,), (30,), (60, 30), (135, 45)])
def test_a_filter_keeps_axes_in_its_cone(poses, direction, column, angles):
    negative = direction in ("backward", "rightward", "downward")
    key = f"filter_{'xyz'[column]}_dir"
    kept = direction_mask(
        poses, Filters.model_validate({key: [direction, *(angles if not negative else sorted(angles))]}), Z
    )
    angle = np.rad2deg(np.arccos(np.clip(poses[:, :3, column] @ AXES[direction], -1, 1)))
    if negative:
        low, high = sorted(angles)[0], sorted(angles)[1] if len(angles) == 2 else 180
        expected = (angle >= low) & (angle <= high)
    else:
        high, low = angles[0], angles[1] if len(angles) == 2 else 0
        expected = (angle >= low) & (angle <= high)
    sure = np.abs(angle[:, None] - np.array(angles)).min(axis=1) > 1e-6
    np.testing.assert_array_equal(kept[sure], expected[sure])


def test_no_filter_keeps_everything(poses):
    assert direction_mask(poses, Filters(), Z).all()


@pytest.mark.parametrize("axis", [(0, 0, 1), (1, 0, 0), (0, -1, 0)])
@pytest.mark.parametrize(
    ("given", "direction", "low", "high"),
    [
        ("down", (0, 0, -1), 0, 40),
        (["down", 20], (0, 0, -1), 0, 20),
        ("side", (0, 0, 1), 60, 120),
        ("front", (1, 0, 0), 0, 45),
        ("any", (0, 0, 1), 0, 180),
    ],
)
def test_an_approach_means_the_same_whichever_axis_of_the_hand_reaches(poses, axis, given, direction, low, high):
    kept = direction_mask(poses, Filters.model_validate({"approach": given}), np.array(axis, float))
    angle = np.rad2deg(np.arccos(np.clip(poses[:, :3, :3] @ np.array(axis, float) @ np.array(direction, float), -1, 1)))
    np.testing.assert_array_equal(kept, (angle >= low) & (angle <= high))
    assert kept.any()

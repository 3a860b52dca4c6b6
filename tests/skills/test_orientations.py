"""Orientations and direction filters of the tool."""

import numpy as np
import pytest

from handloom.skills.arms.orientations import BASE_AXIS as BASE
from handloom.skills.arms.orientations import Alignment, direction_mask, sample_orientations, widened
from handloom.skills.configs.parts import Filters
from handloom.spatial import make_pose, matrix_from_rotvec, random_rotations

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
        poses, Filters.model_validate({key: [direction, *(angles if not negative else sorted(angles))]}), Z, Z
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
    assert direction_mask(poses, Filters(), Z, Z).all()


AXIS, DIRECTION = np.array([0.6, 0.0, 0.8]), np.array([0.0, 0.28, 0.96])


def alignment(degrees: float) -> Alignment:
    return Alignment(axis_tool=AXIS, axis_base=DIRECTION, tolerance=float(np.deg2rad(degrees)))


@pytest.mark.parametrize("degrees", [0.1, 1.0, 12.0, 90.0])
def test_narrow_tolerances_are_met_by_every_orientation(degrees):
    R = sample_orientations(np.random.default_rng(0), 200, Filters(), alignment(degrees), approach_axis=AXIS, up=Z)
    assert len(R) == 200
    assert alignment(degrees).passes(R).all()
    np.testing.assert_allclose(R @ R.transpose(0, 2, 1), np.tile(np.eye(3), (200, 1, 1)), atol=1e-12)


def test_aligned_orientations_are_spread_as_those_found_by_trying():
    wide = alignment(40.0)
    direct = wide.applied(random_rotations(np.random.default_rng(1), 20_000), np.random.default_rng(2))
    tried = random_rotations(np.random.default_rng(3), 200_000)
    tried = tried[wide.passes(tried)]
    for probe in (np.eye(3)[0], np.eye(3)[1], AXIS):
        for base in np.eye(3):
            one, two = direct @ probe @ base, tried @ probe @ base
            # Means and mean squares of numbers up to 1, from 20,000 draws: 0.03 is four times what chance does.
            np.testing.assert_allclose([one.mean(), (one**2).mean()], [two.mean(), (two**2).mean()], atol=0.03)


def test_an_axis_that_is_to_be_level_points_anywhere_around():
    level = Alignment(axis_tool=AXIS, axis_base=DIRECTION, tolerance=np.deg2rad(8.0), across=True)
    R = sample_orientations(np.random.default_rng(0), 400, Filters(), level, approach_axis=AXIS, up=Z)
    off = np.rad2deg(np.arcsin(R @ AXIS @ DIRECTION))
    assert len(R) == 400
    assert 7.0 < np.abs(off).max() < 8.0
    around = (R @ AXIS) @ np.linalg.svd(DIRECTION[None])[2][1:].T
    assert np.abs(around.mean(axis=0)).max() < 0.1, "no way is preferred"
    for R_given in R[:5]:
        turned = level.exact(R_given)
        assert abs(turned @ AXIS @ DIRECTION) < 1e-12
        np.testing.assert_allclose(turned @ turned.T, np.eye(3), atol=1e-12)


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
    kept = direction_mask(poses, Filters.model_validate({"approach": given}), np.array(axis, float), Z)
    angle = np.rad2deg(np.arccos(np.clip(poses[:, :3, :3] @ np.array(axis, float) @ np.array(direction, float), -1, 1)))
    np.testing.assert_array_equal(kept, (angle >= low) & (angle <= high))
    assert kept.any()


@pytest.mark.parametrize(
    ("given", "direction", "low", "high"),
    [
        (["down", 20], (0, 0, -1), 0, 20),
        (["side", 20], (0, 0, 1), 70, 110),
        (["front", 30], (1, 0, 0), 0, 30),
        (["front", 30], (np.cos(0.7), np.sin(0.7), 0), 0, 30),
    ],
)
def test_an_approach_is_about_the_world_on_an_arm_whose_base_leans_with_a_waist(poses, given, direction, low, high):
    heading = np.arctan2(direction[1], direction[0]) if given[0] == "front" else 0.4
    R_world_base = matrix_from_rotvec([0.0, 0.0, heading]) @ matrix_from_rotvec([0.0, 0.63, 0.0])
    kept = direction_mask(poses, Filters.model_validate({"approach": given}), Z, R_world_base[2])
    in_world = R_world_base @ poses[:, :3, 2].T
    angle = np.rad2deg(np.arccos(np.clip(np.array(direction, float) @ in_world, -1, 1)))
    np.testing.assert_array_equal(kept, (angle >= low) & (angle <= high))
    assert kept.any()


def test_published_filters_keep_to_the_axes_of_a_leaning_base(poses):
    filters = Filters(filter_z_dir=("downward", 140))
    leaning = matrix_from_rotvec([0.0, 0.63, 0.0])[2]
    np.testing.assert_array_equal(direction_mask(poses, filters, Z, leaning), direction_mask(poses, filters, Z, Z))


@pytest.mark.parametrize("given", [("forward", 60), ("downward", 140), ("forward", 135, 45), ("downward", 120, 160)])
def test_a_widened_filter_keeps_what_passed_and_lets_more_through(poses, given):
    filters = Filters(filter_z_dir=given)
    before = direction_mask(poses, filters, Z, Z)
    after = direction_mask(poses, widened(filters, 20.0), Z, Z)
    assert np.all(after[before])
    angle = np.rad2deg(np.arccos(poses[:, BASE[given[0]], 2]))
    added = angle[after & ~before]
    edges = np.array(given[1:])
    assert len(added)
    assert np.all(np.abs(added[:, None] - edges).min(axis=1) <= 20.0 + 1e-9)

"""Where things are put: every point obeys the ratios and offsets of the config."""

import numpy as np
import pytest

from handloom.errors import ConfigError
from handloom.skills.arms.orientations import Alignment, sample_orientations
from handloom.skills.configs.places import PlaceConfig
from handloom.skills.placing.landing import BESIDE, HeldSize, place_points
from handloom.spatial import random_rotations

HELD = HeldSize(rise=0.03, half_width=0.02)
Z = np.array([0.0, 0.0, 1.0])
BOX = np.array([[0.1, -0.3, 0.7], [0.5, 0.1, 0.8]])


def config(**keys: object) -> PlaceConfig:
    return PlaceConfig(name="place", objects=("a", "b"), **keys)  # pyright: ignore[reportArgumentType]


def points(given: PlaceConfig, R: np.ndarray, *, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    return place_points(given, BOX, R, 500, np.random.default_rng(seed), hand_to_object=0.12, held=HELD)


def test_vertical_points_lie_over_the_ratios_at_the_two_heights() -> None:
    pre, place = points(config(x_ratio_range=(-0.5, 0.2), y_ratio_range=(0.9, 1.5)), np.eye(3))
    ratio = (place[:, :2] - BOX[0, :2]) / (BOX[1] - BOX[0])[:2]
    assert ratio[:, 0].min() >= -0.5
    assert ratio[:, 0].max() <= 0.2
    assert np.ptp(ratio[:, 0]) > 0.6
    assert ratio[:, 1].min() >= 0.9
    assert ratio[:, 1].max() <= 1.5
    assert np.allclose(pre[:, 2], 1.0)
    assert np.allclose(place[:, 2], 0.9)
    assert np.array_equal(pre[:, :2], place[:, :2])


@pytest.mark.parametrize("seed", range(3))
def test_horizontal_points_are_shifted_along_the_axes_of_the_target(seed: int) -> None:
    R = random_rotations(np.random.default_rng(seed), 1)[0]
    keys = {"place_direction": "horizontal", "align_place_obj_axis": (0, 1, 0), "offset_place_obj_axis": (0, 0, 1)}
    pre, place = points(config(**keys, position_constraint="object", pre_place_align=0.3, place_offset=0.05), R)
    assert np.allclose((pre - place) @ R, [0.0, 0.3 - 0.1, 0.2 - 0.05])
    by_hand = points(config(**keys), R)
    assert np.allclose((by_hand[0] - by_hand[1]) @ R, [0.0, -0.1, 0.0])


def test_heights_of_the_lowest_point_are_measured_from_the_top_or_from_what_the_target_stands_on() -> None:
    keys = {"position_constraint": "object", "pre_place_z_offset": 0.08, "place_z_offset": 0.01}
    for rest_on, level in (("target", 0.8), ("support", 0.7)):
        pre, place = points(config(**keys, rest_on=rest_on), np.eye(3))
        assert np.allclose(pre[:, 2], level + 0.08 + HELD.rise)
        assert np.allclose(place[:, 2], level + 0.01 + HELD.rise)


@pytest.mark.parametrize(("side", "edge", "sign"), [("left", 0.1, -1.0), ("right", 0.5, 1.0)])
def test_points_beside_leave_a_gap_between_the_two(side: str, edge: float, sign: float) -> None:
    _, place = points(config(beside=side, success_mode="beside"), np.eye(3))
    gap = sign * (place[:, 0] - edge) - HELD.half_width
    assert gap.min() >= BESIDE[0]
    assert gap.max() <= BESIDE[1]


def test_horizontal_placing_without_a_direction_is_refused() -> None:
    with pytest.raises(ConfigError, match="align_place_obj_axis"):
        points(config(place_direction="horizontal"), np.eye(3))


def test_orientations_pass_filter_and_alignment() -> None:
    rng = np.random.default_rng(1)
    axis, direction = np.array([0.0, 0.6, 0.8]), np.array([0.0, 0.0, 1.0])
    alignment = Alignment(axis_tool=axis, axis_base=direction, tolerance=np.deg2rad(6))
    R = sample_orientations(rng, 32, config(filter_x_dir=("forward", 90)), alignment, approach_axis=Z, up=Z)
    assert len(R) == 32
    assert np.all(R[:, 0, 0] >= 0.0)
    assert np.all(np.rad2deg(np.arccos(R @ axis @ direction)) < 6.0)


def test_filters_nothing_can_pass_leave_no_orientation() -> None:
    impossible = config(filter_z_dir=("upward", 20), filter_x_dir=("upward", 20))
    assert len(sample_orientations(np.random.default_rng(0), 8, impossible, approach_axis=Z, up=Z)) == 0

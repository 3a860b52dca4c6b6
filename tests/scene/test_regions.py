"""Every region sampler against its definition, over many draws."""

import numpy as np
import pytest
from pydantic import ValidationError

from handloom.scene.region_config import RandomConfig, RegionConfig
from handloom.scene.regions import CLEARANCE, SINK, Placed, sample_region
from handloom.spatial import quat_angle, quat_from_euler_deg, quat_multiply, quat_rotate, random_quats

DRAWS = 10_000
"""Enough for the means below to be sharp; the other facts hold for every draw and need fewer."""
FEW = 1_000


def box_points(size):
    half = np.asarray(size) / 2
    return np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * half


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def cup(rng):
    return Placed(np.array([1.0, 2.0, 3.0]), random_quats(rng, 1)[0], box_points([0.05, 0.07, 0.1]) + 0.01)


@pytest.fixture
def table(rng):
    return Placed(np.array([0.3, -0.2, 0.4]), quat_from_euler_deg([0, 0, 30]), box_points([1.0, 0.6, 0.8]))


def draw(kind, ranges, a, b, rng, *, count=FEW, **more):
    region = RegionConfig(
        object="a", target="b", random_type=kind, random_config=ranges, target2=more.pop("target2", None)
    )
    return [sample_region(region, ranges, a, b, rng, **more) for _ in range(count)]


def test_on_puts_the_lowest_point_on_the_highest_of_the_target(cup, table, rng):
    ranges = RandomConfig(pos_range=((-0.2, -0.1, 0.0), (0.2, 0.3, 0.02)), yaw_rotation=(-90, 45))
    placed = draw("A_on_B_region_sampler", ranges, cup, table, rng, count=DRAWS)
    shift = np.array([p.position - [*table.box.mean(axis=0)[:2], 0] for p in placed])
    assert shift[:, 0].min() >= -0.2
    assert shift[:, 0].max() <= 0.2
    assert shift[:, 1].min() >= -0.1
    assert shift[:, 1].max() <= 0.3
    np.testing.assert_allclose(shift[:, :2].mean(axis=0), [0.0, 0.1], atol=5e-3)
    gap = np.array([p.box[0, 2] for p in placed]) - table.box[1, 2]
    assert gap.min() >= CLEARANCE - 1e-9
    assert gap.max() <= CLEARANCE + 0.02 + 1e-9
    assert abs(gap.mean() - (CLEARANCE + 0.01)) < 5e-4


def test_yaw_turns_about_the_world_z_on_the_left(cup, table, rng):
    ranges = RandomConfig(pos_range=((0, 0, 0), (0, 0, 0)), yaw_rotation=(-90, 45))
    yaws = []
    for placed in draw("A_on_B_region_sampler", ranges, cup, table, rng):
        turn = quat_multiply(placed.quat, cup.quat * [1, -1, -1, -1])
        assert np.abs(turn[1:3]).max() < 1e-12
        yaws.append(np.rad2deg(2 * np.arctan2(turn[3], turn[0])))
    assert min(yaws) >= -90
    assert max(yaws) <= 45
    assert abs(np.mean(yaws) + 22.5) < 4.0


def test_in_uses_the_origin_and_biases_and_keeps_the_orientation(cup, table, rng):
    ranges = RandomConfig(x_bias=0.1, y_bias=-0.2, z_bias=0.05)
    placed = draw("A_in_B_region_sampler", ranges, cup, table, rng)[0]
    np.testing.assert_allclose(placed.position[:2], table.position[:2] + np.array([0.1, -0.2]))
    assert placed.box[0, 2] == pytest.approx(table.box[1, 2] - SINK + 0.05)
    assert quat_angle(placed.quat, cup.quat) < 1e-12


def test_by_puts_bottoms_level(cup, table, rng):
    ranges = RandomConfig(pos_range=((0.5, 0.5, 0), (0.6, 0.7, 0)), yaw_rotation=(0, 0))
    placed = draw("A_by_B_region_sampler", ranges, cup, table, rng)
    np.testing.assert_allclose([p.box[0, 2] for p in placed], table.box[0, 2], atol=1e-12)
    x = np.array([p.position[0] for p in placed]) - table.box.mean(axis=0)[0]
    assert x.min() >= 0.5
    assert x.max() <= 0.6


def test_the_circle_sampler_stays_in_its_ring_and_sector(cup, table, rng):
    ranges = RandomConfig(r_range=(0.3, 0.5), theta_range=(20, 70), yaw_rotation=(0, 0))
    offset = np.array(
        [p.position - table.box.mean(axis=0) for p in draw("A_by_B_circle_sampler", ranges, cup, table, rng)]
    )
    radius, theta = np.hypot(offset[:, 0], offset[:, 1]), np.rad2deg(np.arctan2(offset[:, 1], offset[:, 0]))
    assert radius.min() >= 0.3 - 1e-12
    assert radius.max() <= 0.5 + 1e-12
    assert theta.min() >= 20 - 1e-9
    assert theta.max() <= 70 + 1e-9


def test_facing_uses_the_yaw_of_the_target(cup, table, rng):
    ranges = RandomConfig(r_range=(0.3, 0.3), yaw_rotation=(0, 0))
    offset = draw("A_face_B_circle_sampler", ranges, cup, table, rng)[0].position - table.box.mean(axis=0)
    np.testing.assert_allclose(offset[:2], 0.3 * quat_rotate(table.quat, [1, 0, 0])[:2], atol=1e-12)


def test_along_adds_the_distance_between_the_targets(cup, table, rng):
    other = table.at(table.position + np.array([0.3, 0.4, 0.0]), table.quat)
    ranges = RandomConfig(r_range=(0.1, 0.1), yaw_rotation=(0, 0))
    placed = draw("A_along_B_C_circle_sampler", ranges, cup, table, rng, c=other, target2="c")[0]
    offset = placed.position - table.box.mean(axis=0)
    assert np.hypot(offset[0], offset[1]) == pytest.approx(0.6)


@pytest.mark.parametrize(
    ("region", "what"),
    [
        ({"random_type": "A_on_B_region_sampler"}, "needs a random_config"),
        ({"random_type": "A_on_B_region_sampler", "random_config": {"yaw_rotation": [0, 1]}}, "pos_range"),
        ({"random_type": "A_along_B_C_circle_sampler", "random_config": {"r_range": [0, 1]}}, "target2"),
        ({"random_config": {"pos_range": [[0, 0, 0], [0, 0, 0]], "yaw_rotation": [1, 0]}}, "low to high"),
        ({"random_type": ["A_on_B_region_sampler"], "random_config": {"yaw_rotation": [0, 1]}}, "random_type"),
    ],
)
def test_regions_that_make_no_sense_are_refused(region, what):
    with pytest.raises(ValidationError, match=what):
        RegionConfig.model_validate({"object": "a", "target": "b", **region})

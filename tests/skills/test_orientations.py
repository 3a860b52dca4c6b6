"""Orientations that align an axis: always within the tolerance, otherwise as random as can be."""

import numpy as np
import pytest

from handloom.skills.configs.parts import Filters
from handloom.skills.orientations import Alignment, sample_orientations
from handloom.spatial import random_rotations

AXIS, DIRECTION = np.array([0.6, 0.0, 0.8]), np.array([0.0, 0.28, 0.96])


def alignment(degrees: float) -> Alignment:
    return Alignment(axis_tool=AXIS, axis_base=DIRECTION, tolerance=float(np.deg2rad(degrees)))


@pytest.mark.parametrize("degrees", [0.1, 1.0, 12.0, 90.0])
def test_narrow_tolerances_are_met_by_every_orientation(degrees):
    R = sample_orientations(np.random.default_rng(0), 200, Filters(), alignment(degrees), approach_axis=AXIS)
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

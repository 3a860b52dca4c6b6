"""The curve through a table agrees with a spline library and with every cubic."""

import numpy as np
import pytest
from scipy.interpolate import interp1d

from handloom.errors import InputError
from handloom.robots.cubic_curve import CubicCurve


def test_it_reproduces_any_cubic_exactly():
    rng = np.random.default_rng(0)
    for _ in range(50):
        x = np.sort(rng.uniform(-1, 1, rng.integers(4, 12)))
        c = rng.normal(size=4)
        at = rng.uniform(x[0], x[-1], 100)
        np.testing.assert_allclose(CubicCurve(x, np.polyval(c, x))(at), np.polyval(c, at), atol=1e-9)


def test_it_agrees_with_the_usual_cubic_interpolation():
    rng = np.random.default_rng(1)
    for _ in range(50):
        x = np.cumsum(rng.uniform(0.1, 1, rng.integers(4, 15)))
        y = rng.normal(size=len(x))
        at = np.concatenate([x, rng.uniform(x[0], x[-1], 200)])
        np.testing.assert_allclose(CubicCurve(x, y)(at), interp1d(x, y, kind="cubic")(at), atol=1e-8)


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ([0, 1, 2], [0, 0, 0]),
        ([0, 1, 1, 2], [0, 0, 0, 0]),
        ([0, 1, 2, 3], [0, 0, np.nan, 0]),
        ([0, 1, 2, 3], [0, 0, 0]),
    ],
)
def test_points_that_give_no_curve_are_refused(x, y):
    with pytest.raises(InputError, match="cubic curve needs"):
        CubicCurve(x, y)


def test_it_does_not_guess_outside_its_points():
    with pytest.raises(InputError, match="known from 0 to 3"):
        CubicCurve([0, 1, 2, 3], [0, 1, 0, 1])([1.0, 3.5])

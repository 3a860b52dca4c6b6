import math

import numpy as np
import pytest

from handloom.errors import InputError
from handloom.isaac.wheeled import QuinticPolynomial, quintic_polynomials_planner


def test_published_coefficients_and_demo_are_reproduced() -> None:
    unit = QuinticPolynomial(0, 0, 0, 1, 0, 0, 5.0).coefficients
    assert unit == pytest.approx([0, 0, 0, 0.08, -0.024, 0.00192], abs=1e-15)
    ten, twenty = math.radians(10), math.radians(20)
    time, x, y, yaw, v, a, j = quintic_polynomials_planner(
        10, 10, ten, 1, 0.1, 30, -10, twenty, 1, 0.1, max_accel=1.0, max_jerk=0.5, dt=0.1
    )
    assert len(time) == 151
    assert time[-1] == pytest.approx(15.0)
    assert [round(float(np.max(np.abs(row))), 6) for row in (v, a, j)] == [3.184514, 0.637116, 0.433897]
    assert [x[-1], y[-1], yaw[-1], v[-1]] == pytest.approx([30, -10, twenty, 1], abs=1e-9)


def test_boundary_conditions_hold_for_random_ends() -> None:
    rng = np.random.default_rng(0)
    for start, end, duration in zip(
        rng.normal(size=(50, 3)), rng.normal(size=(50, 3)), rng.uniform(0.1, 50, 50), strict=True
    ):
        poly = QuinticPolynomial(*start, *end, duration)
        for order in range(3):
            ends = poly.derivative(np.array([0.0, duration]), order)
            assert ends == pytest.approx([start[order], end[order]], abs=1e-8)


def test_derivatives_agree_with_finite_differences() -> None:
    poly = QuinticPolynomial(1, -1, 0.5, 3, 0.2, -0.1, 7.0)
    t, h = np.linspace(0.5, 6.5, 13), 1e-5
    for order in range(3):
        numeric = (poly.derivative(t + h, order) - poly.derivative(t - h, order)) / (2 * h)
        assert poly.derivative(t, order + 1) == pytest.approx(numeric, abs=1e-6)


def test_signs_of_acceleration_and_jerk_follow_the_change_of_speed_and_acceleration() -> None:
    _, _, _, _, v, a, j = quintic_polynomials_planner(0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 1.0, 1.0, 0.1)
    assert np.all((np.diff(v) < 0) == (a[1:] < 0))
    assert np.all((np.diff(a) < 0) == (j[1:] < 0))


def test_a_path_from_rest_to_rest_starts_and_ends_at_the_given_headings() -> None:
    _, _, _, yaw, *_ = quintic_polynomials_planner(0, 0, 0.7, 0, 0, 0, 0, -0.4, 0, 0, 1.0, 1.0, 0.1)
    assert yaw[0] == 0.7
    assert yaw[-1] == -0.4


def test_impossible_limits_and_steps_are_refused() -> None:
    with pytest.raises(ValueError, match=r"no path of up to 95 s satisfies max_accel 0\.0"):
        quintic_polynomials_planner(0, 0, 0, 1, 0.1, 5, 5, 0, 1, 0.1, 0.0, 0.5, 0.1)
    with pytest.raises(InputError, match="dt must be > 0"):
        quintic_polynomials_planner(0, 0, 0, 1, 0.1, 5, 5, 0, 1, 0.1, 1.0, 0.5, 0.0)
    with pytest.raises(InputError, match="samples"):
        quintic_polynomials_planner(0, 0, 0, 1, 0.1, 5, 5, 0, 1, 0.1, 1.0, 0.5, 1e-9)
    with pytest.raises(InputError, match="gyaw must be finite"):
        quintic_polynomials_planner(0, 0, 0, 1, 0.1, 5, 5, math.nan, 1, 0.1, 1.0, 0.5, 0.1)


def test_a_polynomial_is_evaluated_by_its_published_names() -> None:
    poly = QuinticPolynomial(0, 0, 0, 1, 0, 0, 5.0)
    assert poly.calc_point(2.5) == pytest.approx(0.5)
    assert poly.calc_first_derivative(0.0) == 0.0
    assert poly.calc_first_derivative(2.5) == pytest.approx(0.375)
    assert poly.calc_second_derivative(5.0) == pytest.approx(0.0, abs=1e-12)
    assert poly.calc_third_derivative(0.0) == pytest.approx(6 * 0.08)

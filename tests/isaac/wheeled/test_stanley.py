import math

import numpy as np
import pytest

from handloom.errors import InputError
from handloom.isaac.wheeled import (
    BicycleState,
    calc_target_index,
    normalize_angle,
    pid_control,
    quintic_polynomials_planner,
    stanley_control,
)

# A path along x with a point every metre, as in the published vectors.
AXIS = np.arange(0.0, 10.0)
ZERO = np.zeros(10)


@pytest.mark.parametrize(
    ("pose", "error", "steer"), [((0.0, 0.5, 0.0), -0.5, -0.244979), ((0.0, -0.5, 0.1), 0.497502, 0.143803)]
)
def test_published_vectors_are_reproduced(pose: tuple[float, ...], error: float, steer: float) -> None:
    state = BicycleState(0.4132, *pose, v=1.0)
    assert round(calc_target_index(state, AXIS, ZERO)[1], 6) == error
    delta, index = stanley_control(state, AXIS, ZERO, ZERO, 0)
    assert round(delta, 6) == steer
    assert index == 0


def test_angles_are_wrapped_as_published() -> None:
    pi = math.pi
    for angle, wrapped in (
        (5 * pi, pi),
        (-5 * pi, -pi),
        (1.5 * pi, -0.5 * pi),
        (3 * pi, pi),
        (-3 * pi, -pi),
        (0.3, 0.3),
    ):
        assert normalize_angle(angle) == pytest.approx(wrapped, abs=1e-12)
    for bad in (math.nan, math.inf, -math.inf):
        with pytest.raises(ValueError, match="angle must be finite"):
            normalize_angle(bad)


def test_the_path_is_never_followed_backwards() -> None:
    state = BicycleState(0.4, 1.0, 0.0, 0.0, 1.0)
    assert stanley_control(state, AXIS, ZERO, ZERO, 6)[1] == 6


@pytest.mark.parametrize("start", [(0.0, 0.3, 0.0), (0.0, -0.4, 0.3), (-0.3, 0.0, -0.5)])
def test_the_closed_loop_settles_on_a_quintic_path(start: tuple[float, float, float]) -> None:
    _, cx, cy, cyaw, *_ = quintic_polynomials_planner(0, 0, 0, 0.5, 0.02, 8, 3, 0.5, 0.5, 0.02, 1.5, 0.3, 0.02)
    state = BicycleState(0.4132, *start, v=0.5, max_steering_angle=0.6)
    index = 0
    errors = []
    while index < len(cx) - 30:
        delta, index = stanley_control(state, cx, cy, cyaw, index, k=1.5)
        state.update(pid_control(0.8, state.v, Kp=1.0), delta, 0.02)
        errors.append(abs(calc_target_index(state, cx, cy)[1]))
    assert max(errors[-50:]) < 0.02


def test_the_bicycle_turns_on_the_circle_of_its_steering_angle() -> None:
    state = BicycleState(0.5, v=1.0, max_steering_angle=1.0)
    radius = 0.5 / math.tan(0.3)
    for _ in range(4000):
        state.update(0.0, 0.3, 0.001)
    assert math.hypot(state.x, state.y - radius) == pytest.approx(radius, abs=0.003)
    assert state.w == pytest.approx(1.0 / radius)


def test_steering_beyond_the_limit_is_clipped() -> None:
    state = BicycleState(0.5, v=1.0)
    state.update(0.0, 1.0, 0.1)
    assert state.w == pytest.approx(math.tan(math.radians(5)) / 0.5)


def test_bad_paths_and_numbers_are_refused_and_leave_the_state_alone() -> None:
    state = BicycleState(0.4, v=1.0)
    for path in (([], [], []), ([0, 1], [0], [0, 0]), ([0, 1], [0, 0], [0]), ([0, math.nan], [0, 0], [0, 0])):
        with pytest.raises(InputError):
            stanley_control(state, *path, 0)
    with pytest.raises(InputError, match="last_target_idx"):
        stanley_control(state, AXIS, ZERO, ZERO, 10)
    with pytest.raises(InputError, match="delta"):
        state.update(0.0, math.nan, 0.1)
    assert (state.x, state.yaw, state.v) == (0.0, 0.0, 1.0)
    with pytest.raises(InputError, match="wheel_base"):
        BicycleState(0.0)


def test_older_keywords_mean_the_same() -> None:
    assert pid_control(1.0, 0.5, Kp=0.2) == pytest.approx(0.1)
    older, newer = BicycleState(0.4, v=1.0, Ks=0.3), BicycleState(0.4, v=1.0, max_steering_angle=0.3)
    for state in (older, newer):
        state.update(0.0, 1.0, 0.1)
    assert (older.yaw, older.w) == (newer.yaw, newer.w)


def test_the_older_name_of_the_steering_limit_can_be_read_and_set() -> None:
    state = BicycleState(1.0, Ks=0.4)
    assert state.Ks == 0.4
    state.Ks = 0.2
    assert state.max_steering_angle == 0.2

"""Motions keep their limits, their path and their optimum; derivatives are derivatives."""

import numpy as np
import pytest

from handloom.errors import InputError
from handloom.motion.trajectory import MotionLimits, jerk_limited, time_optimal
from handloom.motion.trajectory.topp_kernels import IntervalEnds, fastest_profile

# Published limits of the Franka arm: rad/s, rad/s^2, rad/s^3.
PANDA = MotionLimits.of(
    [2.175] * 4 + [2.61] * 3, [15, 7.5, 10, 12.5, 15, 20, 20], [7500, 3750, 5000, 6250, 7500, 10000, 10000]
)


def random_paths(count: int) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [np.cumsum(rng.normal(size=(rng.integers(2, 10), 7)) * 0.6, axis=0) for _ in range(count)]


PATHS = {f"random {i}": path for i, path in enumerate(random_paths(8))}
PATHS["there and back"] = np.array([[0.0] * 7, [1.0] + [0.5] * 6, [0.0] * 7])
PATHS["many in a row"] = np.linspace(0, 1, 40)[:, None] * np.arange(1, 8)
PATHS["tiny"] = np.array([[0.0] * 7, [1e-4] * 7])
PATHS["one joint"] = np.array([[0.0] * 7, [0, 0, 2.0, 0, 0, 0, 0]])


@pytest.fixture(params=PATHS)
def path(request) -> np.ndarray:
    return PATHS[request.param]


@pytest.mark.parametrize("parameterise", [time_optimal, jerk_limited])
@pytest.mark.parametrize("deviation", [0.0, 0.01, 0.1])
def test_limits_hold_at_a_kilohertz(path, parameterise, deviation):
    motion = parameterise(path, PANDA, deviation=deviation)
    times = np.arange(0.0, motion.duration, 1e-3)
    _, qd, qdd = motion.sample(times)
    assert np.all(np.abs(qd) <= PANDA.velocity)
    assert np.all(np.abs(qdd) <= PANDA.acceleration)
    if parameterise is jerk_limited:
        jerk = np.diff(qdd, axis=0) / 1e-3
        assert np.all(np.abs(jerk) <= PANDA.jerk * (1 + 1e-9))


@pytest.mark.parametrize("parameterise", [time_optimal, jerk_limited])
def test_motions_start_and_end_at_rest_where_the_path_does(path, parameterise):
    motion = parameterise(path, PANDA)
    q, qd, _ = motion.sample([0.0, motion.duration])
    np.testing.assert_allclose(q, path[[0, -1]], atol=1e-9)
    np.testing.assert_allclose(qd, 0.0, atol=1e-6)


@pytest.mark.parametrize("parameterise", [time_optimal, jerk_limited])
def test_velocity_and_acceleration_are_derivatives(path, parameterise):
    motion = parameterise(path, PANDA)
    h = 1e-6
    t = np.linspace(0.02, 0.98, 97) * motion.duration
    _, qd, qdd = motion.sample(t)
    after, before = motion.sample(t + h), motion.sample(t - h)
    np.testing.assert_allclose((after[0] - before[0]) / (2 * h), qd, atol=1e-3)
    # Accelerations jump between intervals; a difference across a jump is no derivative.
    smooth = np.abs(after[2] - before[2]) < 1e-2
    np.testing.assert_allclose(((after[1] - before[1]) / (2 * h))[smooth], qdd[smooth], atol=1e-2)


@pytest.mark.parametrize("deviation", [0.002, 0.01, 0.1])
def test_corners_are_rounded_within_the_deviation(path, deviation):
    motion = time_optimal(path, PANDA, deviation=deviation)
    q = motion.sample(np.linspace(0.0, motion.duration, 2000))[0]
    for point in q[::7]:
        a, b = path[:-1], path[1:]
        along = np.clip(np.sum((point - a) * (b - a), axis=1) / np.sum((b - a) ** 2, axis=1), 0, 1)
        assert np.linalg.norm(point - a - along[:, None] * (b - a), axis=1).min() <= deviation + 1e-9


def test_without_deviation_every_waypoint_is_a_stop():
    path = PATHS["random 2"]
    motion = time_optimal(path, PANDA, deviation=0.0)
    q, qd, _ = motion.sample(np.linspace(0.0, motion.duration, 20001))
    for waypoint in path:
        nearest = np.linalg.norm(q - waypoint, axis=1).argmin()
        assert np.linalg.norm(q[nearest] - waypoint) < 1e-5
        assert np.abs(qd[nearest]).max() < 0.02


def test_a_straight_motion_is_the_textbook_trapezoid():
    limits = MotionLimits.of([1.0, 1.0], [2.0, 2.0])
    motion = time_optimal([[0.0, 0.0], [3.0, 1.0]], limits)
    assert motion.duration == pytest.approx(3.0 / 1.0 + 1.0 / 2.0, rel=0.005)
    short = time_optimal([[0.0, 0.0], [0.1, 0.0]], limits)
    assert short.duration == pytest.approx(2.0 * np.sqrt(0.1 / 2.0), rel=0.01)


def test_a_straight_jerk_limited_motion_is_the_textbook_s_curve():
    # Slowest joint of a published two-waypoint move: 2.4/2.175 + 2.175/12.5 + 12.5/6250 s.
    limits = MotionLimits.of([2.175, 2.175], [12.5, 12.5], [6250.0, 6250.0])
    motion = jerk_limited([[0.0, 0.0], [2.4, 1.0]], limits)
    assert motion.duration == pytest.approx(1.2794, rel=0.005)


def numpy_profile(D0, K0, D1, K1, steps, v_max, a_max):
    """The same two passes, each step as a linear programme solved by trying all vertices."""
    count = len(steps)
    x = np.full(count + 1, np.inf)
    for i in range(count + 1):
        for D in ([D0[i]] if i < count else []) + ([D1[i - 1]] if i > 0 else []):
            x[i] = min(x[i], ((v_max / np.maximum(np.abs(D), 1e-12)) ** 2).min())
    x[[0, -1]] = 0.0

    def rows(i):
        h = steps[i]
        A = np.concatenate([np.c_[K0[i], D0[i]], np.c_[K1[i], D1[i] + 2 * h * K1[i]]])
        return np.concatenate([A, -A, [[1.0, 2 * h], [-1.0, 0.0]]]), np.tile(a_max, 4)

    for i in range(count - 1, -1, -1):
        A, b = rows(i)
        b = np.concatenate([b, [x[i + 1], 0.0]])
        best = 0.0
        for j in range(len(b)):
            for k in range(j):
                M = A[[j, k]]
                if abs(np.linalg.det(M)) > 1e-12:
                    vertex = np.linalg.solve(M, b[[j, k]])
                    if np.all(A @ vertex <= b + 1e-9):
                        best = max(best, vertex[0])
        x[i] = min(x[i], best)
    for i in range(count):
        A, b = rows(i)
        A = A[: 4 * len(a_max)]
        up = A[:, 1] > 1e-9
        u = ((b - A[:, 0] * x[i])[up] / A[up, 1]).min()
        x[i + 1] = min(x[i + 1], max(x[i] + 2 * steps[i] * u, 0.0))
    return x


def test_the_profile_agrees_with_a_linear_programme_in_numpy():
    rng = np.random.default_rng(1)
    s = np.linspace(0, 1, 13)
    coefficients = rng.normal(size=(4, 2))
    D = np.stack([s**k for k in range(4)], 1) @ coefficients
    K = np.stack([k * s ** max(k - 1, 0) for k in range(4)], 1) @ coefficients
    steps, v_max, a_max = np.diff(s), np.array([1.0, 1.5]), np.array([2.0, 1.0])
    x = np.empty(len(s))
    arrays = [np.ascontiguousarray(a) for a in (D[:-1], K[:-1], D[1:], K[1:])]
    fastest_profile(IntervalEnds(*arrays), steps, np.zeros(len(steps), bool), v_max, a_max, x)
    np.testing.assert_allclose(x, numpy_profile(*arrays, steps, v_max, a_max), rtol=1e-6, atol=1e-9)
    assert x.max() > 0.1


def test_a_path_that_never_moves_takes_no_time():
    for parameterise in (time_optimal, jerk_limited):
        motion = parameterise(np.ones((3, 7)), PANDA)
        assert motion.duration == 0.0
        q, qd, qdd = motion.sample([0.0, 1.0])
        np.testing.assert_array_equal(q, np.ones((2, 7)))
        np.testing.assert_array_equal(qd, 0.0)
        np.testing.assert_array_equal(qdd, 0.0)


def test_sampling_works_at_any_time_order_and_rate():
    motion = jerk_limited(PATHS["random 0"], PANDA)
    shuffled = np.random.default_rng(0).permutation(np.linspace(-0.1, motion.duration + 0.1, 50))
    q, qd, _ = motion.sample(shuffled)
    for time, row, speed in zip(shuffled, q, qd, strict=True):
        np.testing.assert_allclose(motion.sample(time)[0], row, atol=1e-12)
        np.testing.assert_allclose(motion.sample(time)[1], speed, atol=1e-12)
    times, positions = motion.sampled(30.0)
    assert len(times) == len(positions) == int(np.ceil(motion.duration * 30)) + 1
    np.testing.assert_allclose(positions[-1], PATHS["random 0"][-1], atol=1e-9)


def test_half_the_speed_takes_twice_as_long():
    path = PATHS["random 1"]
    fast, slow = time_optimal(path, PANDA), time_optimal(path, PANDA.scaled(0.5))
    assert slow.duration == pytest.approx(2.0 * fast.duration, rel=1e-6)


def test_bad_requests_are_refused_with_the_reason():
    with pytest.raises(InputError, match="limits must be finite and > 0"):
        MotionLimits.of([1.0, 0.0], [1.0, 1.0])
    with pytest.raises(InputError, match="acceleration limits have shape"):
        MotionLimits.of([1.0, 1.0, 1.0], [1.0, 1.0])
    with pytest.raises(InputError, match="needs MotionLimits with jerk"):
        jerk_limited([[0.0], [1.0]], MotionLimits.of([1.0], [1.0]))
    with pytest.raises(InputError, match="has 2 joints but the limits 7"):
        time_optimal(np.zeros((2, 2)), PANDA)
    with pytest.raises(InputError, match="finite waypoints"):
        time_optimal(np.full((2, 7), np.nan), PANDA)
    with pytest.raises(InputError, match="deviation must be >= 0"):
        time_optimal(np.zeros((2, 7)), PANDA, deviation=-1.0)
    with pytest.raises(InputError, match="times that are not finite"):
        time_optimal(np.zeros((2, 7)), PANDA).sample(np.nan)

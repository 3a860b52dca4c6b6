"""Played paths: they keep the limits, start and end at rest, and stay on the path."""

import itertools

import numpy as np
import pytest

from handloom.motion.trajectory import MotionLimits
from handloom.skills.trajectory import ROUNDING, play

FPS = 30
LIMITS = MotionLimits.of(1.2, 4.0, 40.0, dof=7)


def corners(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.cumsum(rng.uniform(-0.6, 0.6, (rng.integers(2, 6), 7)), axis=0)


def many_points(seed: int) -> np.ndarray:
    """A curve of short pieces, as a straight move of the tool is in joint space."""
    s = np.linspace(0.0, 1.0, 60)[:, None]
    return np.sin(s * np.random.default_rng(seed).uniform(-2.0, 2.0, 7))


@pytest.mark.parametrize("make", [corners, many_points])
@pytest.mark.parametrize("seed", range(8))
def test_a_played_path_keeps_all_limits_and_ends_at_the_goal(make, seed: int) -> None:
    path = make(seed)
    q = play(path, LIMITS, fps=FPS)
    assert np.array_equal(q[-1], path[-1])
    q = np.concatenate([path[:1], path[:1], path[:1], q, q[-1:], q[-1:], q[-1:]])
    velocity = np.diff(q, axis=0) * FPS
    acceleration = np.diff(velocity, axis=0) * FPS
    assert np.abs(velocity).max() <= 1.2 * (1 + 1e-6)
    assert np.abs(acceleration).max() <= 4.0 * (1 + 1e-6)
    assert np.abs(np.diff(acceleration, axis=0) * FPS).max() <= 40.0 * (1 + 1e-6)


@pytest.mark.parametrize("seed", range(8))
def test_rounded_corners_stay_near_the_planned_path(seed: int) -> None:
    path = corners(seed)
    q = play(path, LIMITS, fps=FPS)
    dense = np.concatenate([np.linspace(a, b, 400) for a, b in itertools.pairwise(path)])
    away = np.linalg.norm(q[:, None] - dense[None], axis=2).min(axis=1)
    # Corners are rounded by the deviation; averaging over the window of the jerk limit adds a / 24 window^2.
    assert away.max() < ROUNDING + np.sqrt(7) * 4.0 / 24 * (2 * 4.0 / 40.0) ** 2


def test_a_path_that_does_not_move_is_one_frame() -> None:
    assert len(play(np.ones((3, 7)), LIMITS, fps=FPS)) == 1


def test_half_the_speed_takes_about_twice_as_long() -> None:
    path = np.array([[0.0, 0.0], [3.0, 1.0]])
    fast, slow = MotionLimits.of(1.0, 50.0, 5e4, dof=2), MotionLimits.of(0.5, 50.0, 5e4, dof=2)
    assert abs(len(play(path, slow, fps=FPS)) / len(play(path, fast, fps=FPS)) - 2.0) < 0.1

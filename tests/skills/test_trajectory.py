"""Played paths: they keep the limits, start and end at rest, and stay on the path."""

import itertools

import numpy as np
import pytest

from handloom.skills.trajectory import ROUNDING, play

FPS = 30


def corners(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.cumsum(rng.uniform(-0.6, 0.6, (rng.integers(2, 6), 7)), axis=0)


@pytest.mark.parametrize("seed", range(8))
def test_a_played_path_keeps_speed_and_acceleration_and_ends_at_the_goal(seed: int) -> None:
    path, speed, acceleration = corners(seed), np.full(7, 1.2), np.full(7, 4.0)
    q = play(path, speed=speed, acceleration=acceleration, fps=FPS).positions
    q = np.concatenate([path[:1], q, q[-1:], q[-1:]])
    velocity = np.diff(q, axis=0) * FPS
    assert np.array_equal(q[-1], path[-1])
    assert np.abs(velocity).max() <= 1.2 * (1 + 1e-6)
    # The mean over five frames can only lower accelerations; sampling between grid points adds a little.
    assert np.abs(np.diff(velocity, axis=0) * FPS).max() <= 4.0 * 1.15


@pytest.mark.parametrize("seed", range(8))
def test_rounding_and_averaging_stay_near_the_planned_path(seed: int) -> None:
    path = corners(seed)
    q = play(path, speed=np.full(7, 1.2), acceleration=np.full(7, 4.0), fps=FPS).positions
    dense = np.concatenate([np.linspace(a, b, 400) for a, b in itertools.pairwise(path)])
    away = np.linalg.norm(q[:, None] - dense[None], axis=2).min(axis=1)
    assert away.max() < 2 * ROUNDING


def test_a_path_that_does_not_move_is_one_frame() -> None:
    path = np.ones((3, 6))
    assert len(play(path, speed=np.ones(6), acceleration=np.ones(6), fps=FPS)) == 1


def test_half_the_speed_takes_about_twice_as_long() -> None:
    path = np.array([[0.0, 0.0], [3.0, 1.0]])
    fast = play(path, speed=np.full(2, 1.0), acceleration=np.full(2, 50.0), fps=FPS)
    slow = play(path, speed=np.full(2, 0.5), acceleration=np.full(2, 50.0), fps=FPS)
    assert abs(len(slow) / len(fast) - 2.0) < 0.1

import math

import numpy as np
import pytest

from handloom.errors import InputError
from handloom.isaac.wheeled import PlanarOdometry, PlanarPose


def test_a_constant_twist_is_integrated_without_step_error() -> None:
    twist = [0.4, -0.1, 0.7]
    once, many = PlanarPose(x=1.0, yaw=0.3).moved(twist, 5.0), PlanarPose(x=1.0, yaw=0.3)
    for _ in range(500):
        many = many.moved(twist, 0.01)
    assert [many.x, many.y, many.yaw] == pytest.approx([once.x, once.y, once.yaw], abs=1e-12)


def test_a_full_circle_comes_back() -> None:
    pose = PlanarPose().moved([1.0, 0.0, 2.0], math.pi)
    assert [pose.x, pose.y, pose.yaw] == pytest.approx([0, 0, 0], abs=1e-12)


def test_motion_agrees_with_the_matrix_exponential() -> None:
    from scipy.linalg import expm

    for vx, vy, w in [*np.random.default_rng(0).normal(size=(20, 3)), (0.3, 0.2, 1e-9), (0.3, 0.2, 0.0)]:
        T = expm(np.array([[0, -w, vx], [w, 0, vy], [0, 0, 0]]) * 0.7)
        pose = PlanarPose().moved([vx, vy, w], 0.7)
        assert [pose.x, pose.y] == pytest.approx(T[:2, 2], abs=1e-12)
        assert math.cos(pose.yaw) == pytest.approx(T[0, 0], abs=1e-12)


def test_reset_goes_back_to_the_start_and_bad_twists_change_nothing() -> None:
    odometry = PlanarOdometry(PlanarPose(x=2.0))
    odometry.update([1, 0, 0], 1.0)
    with pytest.raises(InputError):
        odometry.update([math.nan, 0, 0], 1.0)
    assert odometry.pose.x == 3.0
    odometry.reset()
    assert odometry.pose.x == 2.0

"""Rate limiters: bounded steps, unit quaternions, anomalies held, clocks that misbehave."""

import math

import numpy as np
import pytest
from controller_samples import about

from handloom.retarget import (
    ComputeContext,
    EePose,
    EePoseRateLimiter,
    JointRateLimiter,
    RateLimiterConfig,
    RobotHandJoints,
    group_of,
)

DT_NS = 20_000_000
Z = (0.0, 0.0, 1.0)


def pose(*position, yaw=0.0, quat=None):
    values = [*position, *(about(Z, yaw) if quat is None else quat)]
    return {"ee_pose": group_of(EePose(), np.array(values, np.float32))}


def step(node, inputs, frame, *, reset=False):
    return node(inputs, ComputeContext.at(frame * DT_NS, reset=reset))["ee_pose"]


def test_the_first_frame_passes_and_the_next_moves_at_most_v_dt() -> None:
    node = EePoseRateLimiter("l", RateLimiterConfig())
    np.testing.assert_allclose(step(node, pose(1, 0, 0), 0)[0][:3], (1, 0, 0))
    np.testing.assert_allclose(step(node, pose(2, 0, 0), 1)[0][:3], (1 + 0.25 * 0.02, 0, 0), atol=1e-6)
    turned = step(node, pose(2, 0, 0, yaw=1.0), 2)[0]
    np.testing.assert_allclose(turned[3:], about(Z, 1.5 * 0.02), atol=1e-6)


def test_a_slow_input_passes_unchanged() -> None:
    node = EePoseRateLimiter("l")
    for frame in range(20):
        out = step(node, pose(0.001 * frame, 0, 0, yaw=0.01 * frame), frame)[0]
        np.testing.assert_allclose(out, pose(0.001 * frame, 0, 0, yaw=0.01 * frame)["ee_pose"][0], atol=1e-7)


def test_quaternions_stay_unit_over_many_frames() -> None:
    node, rng = EePoseRateLimiter("l"), np.random.default_rng(0)
    for frame in range(500):
        out = step(node, pose(0, 0, 0, quat=1.01 * about(rng.normal(size=3), rng.uniform(-3, 3))), frame)[0]
        assert np.linalg.norm(out[3:]) == pytest.approx(1.0, abs=1e-6)


def test_lost_frames_hold_and_before_the_first_nothing_is_set() -> None:
    node = EePoseRateLimiter("l")
    for lost in ({}, pose(math.nan, 0, 0), pose(0, 0, 0, quat=(0, 0, 0, 0))):
        with pytest.raises(ValueError, match="not been set"):
            _ = step(node, lost, 0)[0]
    held = step(node, pose(1, 2, 3, yaw=0.3), 1)[0]
    for lost in ({}, pose(math.nan, 0, 0), pose(math.inf, 0, 0)):
        np.testing.assert_array_equal(step(node, lost, 2)[0], held)
    np.testing.assert_allclose(step(node, pose(1, 2, 3, quat=(0, 0, 0, 0)), 3)[0], held)


@pytest.mark.parametrize(("frames", "allowed"), [((0, 0), 1 / 60), ((5, 0), 1 / 60), ((0, 1000), 0.1), ((0, 1), 0.02)])
def test_the_believed_period_is_clamped_and_nominal_when_time_does_not_advance(frames, allowed) -> None:
    node = EePoseRateLimiter("l")
    step(node, pose(0, 0, 0), frames[0])
    assert step(node, pose(9, 0, 0), frames[1])[0][0] == pytest.approx(0.25 * allowed, rel=1e-5)


def test_anomalies_are_held_until_enough_frames_agree() -> None:
    node = EePoseRateLimiter("l", RateLimiterConfig(reject_linear_velocity=1.0, max_consecutive_rejections=3))
    step(node, pose(0, 0, 0), 0)
    for frame in (1, 2, 3):
        assert step(node, pose(5, 0, 0), frame)[0][0] == 0.0
    # Four frames after the last accepted one, 80 ms of motion are allowed.
    assert step(node, pose(5, 0, 0), 4)[0][0] == pytest.approx(0.25 * 0.08, rel=1e-5)
    assert step(node, pose(5, 0, 0), 5)[0][0] == pytest.approx(0.25 * 0.10, rel=1e-5)


def test_a_zero_quaternion_while_the_output_lags_behind_is_not_a_jump() -> None:
    node = EePoseRateLimiter("l", RateLimiterConfig(reject_angular_velocity=3.0))
    for frame in range(4):
        out = step(node, pose(0, 0, 0, yaw=0.05 * frame), frame)[0]
    np.testing.assert_allclose(out[3:], about(Z, 3 * 1.5 * 0.02), atol=1e-6)
    lost = step(node, pose(0, 0, 0, quat=(0, 0, 0, 0)), 4)[0]
    np.testing.assert_allclose(lost, out, atol=1e-7)
    back = step(node, pose(0, 0, 0, yaw=0.15), 5)[0]
    np.testing.assert_allclose(back[3:], about(Z, 4 * 1.5 * 0.02), atol=1e-6)


def test_without_a_bound_on_rejections_an_anomaly_is_held_for_ever() -> None:
    node = EePoseRateLimiter("l", RateLimiterConfig(reject_angular_velocity=2.0, max_consecutive_rejections=None))
    step(node, pose(0, 0, 0), 0)
    for frame in range(1, 60):
        np.testing.assert_allclose(step(node, pose(0, 0, 0, yaw=3.0), frame)[0][3:], (0, 0, 0, 1))


def test_a_reset_forgets_and_lets_the_same_frame_through() -> None:
    node = EePoseRateLimiter("l")
    step(node, pose(0, 0, 0), 0)
    assert step(node, pose(7, 0, 0), 1, reset=True)[0][0] == 7.0


@pytest.mark.parametrize(
    "bad",
    [
        {"max_linear_velocity": 0.0},
        {"max_dt": math.inf},
        {"min_dt": 0.5},
        {"nominal_dt": 1.0},
        {"reject_linear_velocity": 0.1},
        {"reject_joint_velocity": 2.0, "joint_velocity_overrides": {"a": 3.0}},
        {"joint_velocity_overrides": {"a": math.nan}},
        {"max_consecutive_rejections": 0},
    ],
)
def test_impossible_limits_are_refused(bad) -> None:
    with pytest.raises(ValueError, match=next(iter(bad)).split("_", maxsplit=1)[0]):
        RateLimiterConfig(**bad)


def joints(*values):
    return {"joint_targets": group_of(RobotHandJoints("joint_targets", ["a", "b"]), *values)}


def joint_step(node, inputs, frame, **kwargs) -> list[float]:
    group = node(inputs, ComputeContext.at(frame * DT_NS, **kwargs))["joint_targets"]
    return [group[0], group[1]]


def test_each_joint_has_its_own_limit() -> None:
    node = JointRateLimiter("l", ["a", "b"], RateLimiterConfig(joint_velocity_overrides={"b": 0.5}))
    assert joint_step(node, joints(0.0, 0.0), 0) == [0.0, 0.0]
    assert joint_step(node, joints(1.0, -1.0), 1) == pytest.approx([0.03, -0.01])
    assert joint_step(node, joints(math.nan, 0.5), 2) == pytest.approx([0.03, -0.01])
    assert joint_step(node, {}, 3) == pytest.approx([0.03, -0.01])


def test_one_jumping_joint_rejects_the_frame() -> None:
    node = JointRateLimiter("l", ["a", "b"], RateLimiterConfig(reject_joint_velocity=2.0))
    joint_step(node, joints(0.0, 0.0), 0)
    assert joint_step(node, joints(0.01, 9.0), 1) == [0.0, 0.0]
    assert joint_step(node, joints(0.01, 0.0), 2) == pytest.approx([0.01, 0.0])


def test_joint_names_are_checked() -> None:
    with pytest.raises(ValueError, match="at least one joint"):
        JointRateLimiter("l", [])
    with pytest.raises(ValueError, match="no joint 'c'"):
        JointRateLimiter("l", ["a"], RateLimiterConfig(joint_velocity_overrides={"c": 1.0}))

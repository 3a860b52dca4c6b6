"""Engaging never moves the arm, whatever the tracker did before."""

import math

import numpy as np
import pytest
from controller_samples import about, controller, running

from handloom.retarget import (
    ExecutionState,
    SO101PoseClutchRetargeter,
    SO101PositionClutchRetargeter,
    TransformMatrix,
    group_of,
)

RIGHT = "controller_right"
STATES = (ExecutionState.STOPPED, ExecutionState.PAUSED, ExecutionState.UNKNOWN)
SEQUENCES = 1000


def broken(rng: np.random.Generator):
    """Return the inputs of one frame that carries no pose: absent, flagged, NaN, infinite, zero quaternion."""
    kind = rng.integers(6)
    position, quat = rng.uniform(-1, 1, 3), about(rng.normal(size=3), rng.uniform(-3, 3))
    if kind == 0:
        return {}
    if kind == 1:
        return {RIGHT: controller(position, quat, valid=False, squeeze_value=1.0)}
    if kind == 2:
        position[rng.integers(3)] = math.nan
    elif kind == 3:
        position[rng.integers(3)] = math.inf
    elif kind == 4:
        quat[:] = 0.0
    else:
        quat[rng.integers(4)] = math.nan
    return {RIGHT: controller(position, quat, squeeze_value=1.0)}


def good(rng: np.random.Generator):
    """Return the inputs of one frame with a random valid pose, squeezed."""
    position, quat = rng.uniform(-1, 1, 3), about(rng.normal(size=3), rng.uniform(-3, 3))
    return {RIGHT: controller(position, quat, squeeze_value=1.0)}


@pytest.mark.parametrize("kind", ["position", "pose"])
def test_a_thousand_engagements_do_not_move_the_command(kind) -> None:
    rng = np.random.default_rng(1)
    worst = 0.0
    for _ in range(SEQUENCES):
        node = (
            SO101PositionClutchRetargeter("c", position_scale=rng.uniform(0.2, 2.0))
            if kind == "position"
            else SO101PoseClutchRetargeter("c", np.eye(4), position_scale=rng.uniform(0.2, 2.0))
        )
        last = node({}, running(state=ExecutionState.STOPPED))["ee_pose"][0]
        for _ in range(rng.integers(2, 5)):
            # Idle, perhaps with the hand moving; then engage; then drive, with drop-outs.
            for _ in range(rng.integers(0, 3)):
                idle = running(state=STATES[rng.integers(3)])
                np.testing.assert_array_equal(node(good(rng), idle)["ee_pose"][0], last)
            for _ in range(rng.integers(0, 2)):
                np.testing.assert_array_equal(node(broken(rng), running())["ee_pose"][0], last)
            assert not node.is_engaged
            for _ in range(rng.integers(1, 6)):
                if rng.random() < 0.3:
                    pose = node(broken(rng), running())["ee_pose"][0]
                    np.testing.assert_array_equal(pose, last)
                    continue
                latching = not node.is_engaged
                pose = node(good(rng), running())["ee_pose"][0]
                assert np.all(np.isfinite(pose))
                if latching:
                    worst = max(worst, float(np.linalg.norm(pose[:3] - last[:3])))
                last = pose
            node({}, running(state=ExecutionState.STOPPED))
    assert worst < 1e-6


def test_a_thousand_engagements_start_at_the_live_end_effector() -> None:
    rng = np.random.default_rng(2)
    for _ in range(SEQUENCES):
        node = SO101PositionClutchRetargeter("c")
        T_world_base, T_world_ee = np.eye(4), np.eye(4)
        yaw = rng.uniform(-3, 3)
        T_world_base[:2, :2] = [[math.cos(yaw), -math.sin(yaw)], [math.sin(yaw), math.cos(yaw)]]
        T_world_base[:3, 3], T_world_ee[:3, 3] = rng.uniform(-1, 1, 3), rng.uniform(-1, 1, 3)
        live = {
            "robot_ee_pos": group_of(TransformMatrix(), T_world_ee.astype(np.float32)),
            "robot_base_pos": group_of(TransformMatrix(), T_world_base.astype(np.float32)),
        }
        if rng.random() < 0.5:
            node(broken(rng) | live, running())
        home = (np.linalg.inv(T_world_base) @ T_world_ee)[:3, 3]
        pose = node(good(rng) | live, running())["ee_pose"][0]
        assert np.linalg.norm(pose[:3] - home) < 1e-6

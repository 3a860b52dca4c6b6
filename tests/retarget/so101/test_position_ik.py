"""Position-only inverse kinematics: exact positions, a still arm for a still target, no jumps, limits kept."""

import numpy as np
import pytest

from handloom.errors import InputError
from handloom.motion.kinematics import Chain
from handloom.retarget.so101.position_ik import PositionIk, PositionIkConfig
from handloom.robots import load_robot

HOME = np.array([0.0, -0.6, 0.8, 0.6, 0.0])


@pytest.fixture(scope="module")
def chain() -> Chain:
    robot = load_robot("so101")
    arm = robot.arms[0]
    return Chain.from_model(robot.compile(), tool=arm.tcp_site, base=arm.base_body, joints=arm.joint_names)


def at_home(chain: Chain, **config) -> tuple[PositionIk, np.ndarray]:
    ik = PositionIk(chain, PositionIkConfig(**config))
    ik.reset(HOME)
    return ik, chain.T_base_tool(HOME)[:3, 3]


def test_the_present_position_as_target_moves_nothing(chain) -> None:
    ik, start = at_home(chain)
    for _ in range(20):
        np.testing.assert_array_equal(ik.step(start, 0.0), HOME)


def test_a_target_that_stands_still_lets_the_arm_stand_still(chain) -> None:
    ik, start = at_home(chain)
    q = ik.step(np.add(start, (0.02, 0.03, -0.01)), 0.1)
    q = ik.step(np.add(start, (0.02, 0.03, -0.01)), 0.1)
    for _ in range(10):
        np.testing.assert_allclose(ik.step(np.add(start, (0.02, 0.03, -0.01)), 0.1), q, atol=1e-6)


def test_positions_in_reach_are_met_and_the_tool_comes_to_point_down(chain) -> None:
    ik, start = at_home(chain)
    rng = np.random.default_rng(0)
    for _ in range(20):
        goal = np.array([rng.uniform(0.17, 0.27), rng.uniform(-0.1, 0.1), rng.uniform(0.02, 0.05)])
        roll = rng.uniform(-1.0, 1.0)
        steps = np.linspace(start, goal, 30)
        for target in steps:
            q = ik.step(target, roll)
        T = chain.T_base_tool(q)
        assert np.linalg.norm(T[:3, 3] - goal) < 1e-4
        assert q[-1] == roll
        assert T[2, 2] < -np.cos(np.radians(3.0))
        start = goal


def test_joints_follow_a_path_without_jumps_and_within_limits(chain) -> None:
    ik, start = at_home(chain)
    last = HOME
    for phase in np.linspace(0, 4 * np.pi, 400):
        target = np.add(start, (0.05 * np.sin(phase), 0.1 * np.sin(2 * phase), 0.05 * np.cos(phase) - 0.05))
        q = ik.step(target, 0.5 * np.sin(phase))
        assert np.all(q >= chain.lower)
        assert np.all(q <= chain.upper)
        assert np.max(np.abs(q[:-1] - last[:-1])) < 0.4
        last = q


def test_targets_out_of_reach_give_finite_joints_within_limits_and_the_arm_comes_back(chain) -> None:
    ik, start = at_home(chain)
    for target in ((2.0, 0.0, 0.0), (0.0, 0.0, 3.0), (-1.0, -1.0, -1.0)):
        for _ in range(30):
            q = ik.step(target, 0.0)
        assert np.all(np.isfinite(q))
        assert not np.any(chain.limit_excess(q))
    for target in np.linspace((0.3, 0.0, 0.1), start, 60):
        q = ik.step(target, 0.0)
    assert np.linalg.norm(chain.T_base_tool(q)[:3, 3] - start) < 1e-3


def test_measured_joints_outside_the_limits_are_not_snapped_back(chain) -> None:
    outside = HOME.copy()
    outside[1] = chain.lower[1] - 0.05
    ik = PositionIk(chain)
    ik.reset(outside)
    np.testing.assert_array_equal(ik.step(chain.T_base_tool(outside)[:3, 3], 0.0), outside)


def test_without_a_wish_the_spare_joint_is_left_alone(chain) -> None:
    ik, start = at_home(chain, approach=None)
    for target in np.linspace(start, np.add(start, (0.03, 0.0, 0.03)), 20):
        q = ik.step(target, 0.0)
    tilt = np.degrees(np.arccos(-chain.T_base_tool(q)[2, 2]))
    assert tilt > 30.0


@pytest.mark.parametrize("bad", [(0.0, 0.0), (np.nan, 0.0, 0.0), "here"])
def test_impossible_targets_are_typed_errors(chain, bad) -> None:
    ik, _ = at_home(chain)
    with pytest.raises((InputError, ValueError)):
        ik.step(bad, 0.0)
    with pytest.raises(InputError):
        ik.reset([0.0])
    with pytest.raises(InputError, match="damping"):
        PositionIkConfig(damping=0.0)

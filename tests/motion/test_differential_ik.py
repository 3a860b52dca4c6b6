"""Differential inverse kinematics: what it follows, what it never exceeds, what it stays away from."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.optimize import nnls

from handloom.errors import InputError
from handloom.motion.clearance import Clearance
from handloom.motion.differential_ik import DifferentialIk, DifferentialIkConfig, bounded_step
from handloom.motion.kinematics import Chain
from handloom.scene import SceneArm, build_scene
from handloom.spatial import make_pose, matrix_from_rotvec
from handloom.tasks import load_task, sample_task

DT = 1.0 / 60.0
TASKS = (
    "fr3_pick_place",
    "franka_robotiq85_pick_place",
    "lift2_handover",
    "split_aloha_tidy_shelf",
    "genie1_two_plates",
)


@dataclass(frozen=True)
class Case:
    arm: SceneArm
    ik: DifferentialIk
    clearance: Clearance


def case(task: str, number: int = 0) -> Case:
    scene = build_scene(sample_task(load_task(task), 0, 0))
    arm = [arm for robot in scene.robots.values() for arm in robot.arms][number]
    data = scene.world.data
    chain = Chain.from_model(scene.world.model, arm.tool_body, arm.base_body, arm.joint_names, qpos=data.qpos)
    clearance = Clearance(scene.world.model, data, chain)
    ik = DifferentialIk(chain, arm.spec.speed_limit, clearance=clearance)
    ik.reset(arm.joints)
    return Case(arm, ik, clearance)


@pytest.mark.parametrize("task", TASKS)
def test_a_target_where_the_tool_is_moves_no_joint_by_any_bit(task: str) -> None:
    ik = case(task).ik
    q = ik.q
    for _ in range(10):
        assert np.array_equal(ik.step(ik.T_base_tool, DT), q)


@pytest.mark.parametrize("task", TASKS)
def test_the_tool_reaches_poses_near_it_to_a_tenth_of_a_millimetre(task: str) -> None:
    found, rng = case(task), np.random.default_rng(1)
    ik, home = found.ik, found.ik.q
    for _ in range(5):
        ik.reset(home)
        goal = home + rng.uniform(-0.15, 0.15, len(home))
        goal = np.clip(goal, ik.chain.lower + 0.05, ik.chain.upper - 0.05)
        if found.clearance.clearance(goal) < 0.02:
            continue
        T = ik.chain.T_base_tool(goal)
        for _ in range(120):
            ik.step(T, DT)
        assert np.linalg.norm(ik.T_base_tool[:3, 3] - T[:3, 3]) < 1e-4
        assert np.abs(ik.T_base_tool[:3, :3] - T[:3, :3]).max() < 1e-3


@pytest.mark.parametrize("task", TASKS)
def test_wild_targets_exceed_no_joint_limit_no_speed_and_never_touch_what_is_fixed(task: str) -> None:
    found, rng = case(task), np.random.default_rng(2)
    ik, config = found.ik, found.ik.config
    least = min(config.clearance, found.clearance.clearance(ik.q))
    for _ in range(12):
        T = make_pose(matrix_from_rotvec(rng.normal(size=3) * 2.0), rng.uniform(-1.2, 1.2, 3))
        for _ in range(25):
            before = ik.q
            q = ik.step(T, DT)
            assert np.all(np.abs(q - before) <= found.arm.spec.speed_limit * DT * (1 + 1e-9))
            assert np.all(ik.chain.limit_excess(q) == 0.0)
            assert found.clearance.clearance(q) >= least - 1e-9


def test_an_arm_told_to_go_through_the_table_stops_above_it_and_comes_back() -> None:
    found = case("fr3_pick_place")
    ik, start = found.ik, found.ik.T_base_tool
    below = start.copy()
    below[2, 3] -= 0.8
    for _ in range(240):
        ik.step(below, DT)
    assert found.clearance.clearance(ik.q) == pytest.approx(ik.config.clearance, abs=1e-4)
    assert ik.T_base_tool[2, 3] < start[2, 3] - 0.05
    for _ in range(240):
        ik.step(start, DT)
    assert np.linalg.norm(ik.T_base_tool[:3, 3] - start[:3, 3]) < 1e-4


def test_joints_that_start_outside_the_limits_stay_until_asked_and_then_only_come_back() -> None:
    ik = case("fr3_pick_place").ik
    q = ik.q
    q[3] = ik.chain.upper[3] + 0.02
    ik.reset(q)
    assert np.array_equal(ik.step(ik.T_base_tool, DT), q)
    T = ik.T_base_tool
    T[2, 3] -= 0.05
    for _ in range(30):
        assert ik.step(T, DT)[3] <= q[3]


def test_the_change_of_a_distance_is_its_finite_difference() -> None:
    found = case("lift2_handover")
    q, h = found.ik.q, 1e-6
    near = found.clearance.near(q, 0.05)
    assert len(near.distance)
    nearest = int(np.argmin(near.distance))
    for joint in range(len(q)):
        ahead, behind = q.copy(), q.copy()
        ahead[joint] += h
        behind[joint] -= h
        slope = (found.clearance.clearance(ahead) - found.clearance.clearance(behind)) / (2 * h)
        assert slope == pytest.approx(near.gradient[nearest, joint], abs=1e-4)


def test_a_base_that_drives_keeps_the_distances_to_what_it_carries() -> None:
    scene = build_scene(sample_task(load_task("lift2_handover"), 0, 0))
    world = scene.world
    arm = next(iter(scene.robots.values())).arms[0]
    chain = Chain.from_model(world.model, arm.tool_body, arm.base_body, arm.joint_names, qpos=world.data.qpos)
    clearance = Clearance(world.model, world.data, chain)
    before = clearance.clearance(arm.joints)
    world.data.qpos[world.qpos_index("lift2/mobile_translate_x")] -= 0.4
    world.forward()
    clearance.update(world.data)
    assert clearance.clearance(arm.joints) == pytest.approx(before, abs=1e-9)


def test_distances_follow_the_other_arm_wherever_it_goes() -> None:
    scene = build_scene(sample_task(load_task("lift2_handover"), 0, 0))
    world = scene.world
    arm, other = next(iter(scene.robots.values())).arms
    chain = Chain.from_model(world.model, arm.tool_body, arm.base_body, arm.joint_names, qpos=world.data.qpos)
    kept = Clearance(world.model, world.data, chain)
    rng = np.random.default_rng(0)
    for _ in range(5):
        world.data.qpos[other.qpos_index] += rng.normal(scale=0.2, size=len(other.qpos_index))
        world.forward()
        kept.update(world.data)
        made = Clearance(world.model, world.data, chain)
        for q in arm.joints + rng.normal(scale=0.3, size=(20, chain.dof)):
            assert kept.clearance(q) == pytest.approx(made.clearance(q), abs=1e-12)


def test_a_bounded_step_meets_the_conditions_of_the_optimum() -> None:
    rng = np.random.default_rng(3)
    for _ in range(300):
        n, m = int(rng.integers(1, 8)), int(rng.integers(0, 12))
        A = rng.normal(size=(n, n))
        H, g = A @ A.T + 0.01 * np.eye(n), rng.normal(size=n)
        C = np.concatenate([np.eye(n), -np.eye(n), rng.normal(size=(m, n))])
        d = np.concatenate([rng.uniform(0.0, 0.5, 2 * n), rng.choice([0.0, 0.2], m)])
        x = bounded_step(H, g, C, d)
        assert np.all(C @ x <= d + 1e-8)
        # The gradient is a combination, with weights >= 0, of the bounds that are met: there is no better direction.
        met = C[d - C @ x < 1e-7]
        residual = nnls(met.T, g - H @ x)[1] if len(met) else np.linalg.norm(g - H @ x)
        assert residual < 1e-6


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"damping": 0.0}, "damping must be > 0"),
        ({"linear_speed": float("nan")}, "linear_speed must be > 0"),
        ({"clearance": 0.05}, "clearance < look_ahead"),
        ({"look_ahead": 0.2}, "clearance < look_ahead"),
    ],
)
def test_settings_that_cannot_work_are_refused(changed: dict[str, float], said: str) -> None:
    with pytest.raises(InputError, match=said):
        DifferentialIkConfig(**changed)


def test_targets_and_joints_that_are_no_numbers_are_refused_and_change_nothing() -> None:
    ik = case("fr3_pick_place").ik
    q = ik.q
    broken = ik.T_base_tool
    broken[0, 3] = np.nan
    for call in (lambda: ik.step(broken, DT), lambda: ik.step(ik.T_base_tool, 0.0), lambda: ik.reset(q[:-1])):
        with pytest.raises(InputError):
            call()
    assert np.array_equal(ik.q, q)

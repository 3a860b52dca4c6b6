"""Inverse kinematics: closed loops through forward kinematics, a NumPy reference, partial targets, contracts."""

import mujoco
import numpy as np
import pytest

from handloom.errors import InputError
from handloom.motion.kinematics import Chain, IkOptions, IkSolver, Orientation
from handloom.motion.kinematics.ik_kernels import descend, make_scratch
from handloom.spatial import make_pose, matrix_from_rotvec, pose_error, rotvec_from_matrix

HOME = np.array([0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785])


@pytest.fixture(scope="module")
def chain(fr3) -> Chain:
    return Chain.from_model(fr3, tool="tcp", base="link0")


@pytest.fixture(scope="module")
def reachable(chain) -> np.ndarray:
    lower, upper = chain.sampling_box
    return chain.T_base_tool(lower + (upper - lower) * np.random.default_rng(0).random((2000, chain.dof)))


def test_reachable_poses_are_solved_within_tolerance_and_limits_as_mujoco_confirms(fr3, chain, reachable):
    result = IkSolver(chain).solve(reachable)
    assert result.solved.mean() >= 0.999
    assert np.all(chain.limit_excess(result.q) == 0.0)
    data = mujoco.MjData(fr3)
    for i in range(0, len(reachable), 10):
        data.qpos[chain.qpos_index] = result.q[i]
        mujoco.mj_kinematics(fr3, data)
        tool = make_pose(data.site("tcp").xmat.reshape(3, 3), data.site("tcp").xpos)
        distance, angle = pose_error(tool, reachable[i])
        assert distance <= 1e-3
        assert angle <= np.deg2rad(0.5)


def test_reported_errors_are_those_of_the_returned_configuration(chain, reachable):
    far = reachable[:20].copy()
    far[10:, :3, 3] *= 3.0
    result = IkSolver(chain, IkOptions(max_seeds=8)).solve(far)
    distance, angle = pose_error(chain.T_base_tool(result.q), far)
    np.testing.assert_allclose(result.position_error, distance, atol=1e-9)
    np.testing.assert_allclose(result.rotation_error, angle, atol=1e-7)
    assert not result.solved[10:].any()
    assert np.all(result.seeds_used[10:] == 8)


def test_every_run_thread_count_and_batch_gives_the_same_bits(chain, reachable):
    targets = reachable[:300]
    one = IkSolver(chain, IkOptions(threads=1)).solve(targets, rng_seed=5)
    many = IkSolver(chain, IkOptions(threads=4)).solve(targets, rng_seed=5)
    alone = IkSolver(chain).solve(targets[77], rng_seed=5)
    np.testing.assert_array_equal(one.q, many.q)
    np.testing.assert_array_equal(one.seeds_used, many.seeds_used)
    np.testing.assert_array_equal(alone.q[0], one.q[77])


def test_a_seed_near_the_answer_is_used_and_kept(chain):
    T = chain.T_base_tool(HOME + 0.02)
    result = IkSolver(chain).solve(T, seed=HOME)
    assert result.seeds_used[0] == 1
    assert np.abs(result.q[0] - HOME).max() < 0.1


def numpy_descent(chain: Chain, T: np.ndarray, q: np.ndarray, options: IkOptions) -> np.ndarray:
    """The kernel's descent for full poses, in plain NumPy."""
    w, damping = options.rotation_weight, 1e-3

    def residual(q):
        now = chain.T_base_tool(q)
        turn = rotvec_from_matrix(T[:3, :3] @ now[:3, :3].T)
        return np.concatenate([T[:3, 3] - now[:3, 3], w * turn])

    e = residual(q)
    for _ in range(options.iterations):
        if np.linalg.norm(e[:3]) <= 0.5e-3 and np.linalg.norm(e[3:]) / w <= np.deg2rad(0.25):
            break
        J = chain.jacobian(q) * np.array([1, 1, 1, w, w, w])[:, None]
        g = J.T @ e
        stuck = ((q <= chain.lower) & (g < 0)) | ((q >= chain.upper) & (g > 0))
        J[:, stuck], g[stuck] = 0.0, 0.0
        improved = False
        for _ in range(4):
            step = np.linalg.solve(J.T @ J + damping * np.eye(chain.dof), g)
            trial = np.clip(q + step, chain.lower, chain.upper)
            e_trial = residual(trial)
            if e_trial @ e_trial < e @ e:
                improved = (e @ e - e_trial @ e_trial) / (e @ e)
                q, e, damping = trial, e_trial, max(damping * 0.2, 1e-7)
                break
            damping *= 8.0
        near = np.linalg.norm(e[:3]) < 5e-3 and np.linalg.norm(e[3:]) / w < np.deg2rad(2.5)
        if not improved or (improved < 1e-3 and not near):
            break
    return q


def test_one_descent_agrees_with_numpy(chain, reachable):
    solver = IkSolver(chain, IkOptions(max_seeds=1))
    solved = 0
    for T in reachable[:40]:
        q = HOME.copy()
        descend(chain.arrays, solver.problem(), T[:3, :3].copy(), T[:3, 3].copy(), q, make_scratch(chain.dof))
        if pose_error(chain.T_base_tool(q), T)[0] < 1e-3:
            np.testing.assert_allclose(q, numpy_descent(chain, T, HOME.copy(), solver.options), atol=1e-6)
            solved += 1
    assert solved > 10


def test_position_only_targets_ignore_the_orientation(chain, reachable):
    T = reachable[:200].copy()
    T[:, :3, :3] = np.eye(3)
    result = IkSolver(chain, IkOptions(orientation=Orientation.FREE)).solve(T)
    assert result.solved.all()
    assert pose_error(chain.T_base_tool(result.q), T)[0].max() <= 1e-3


def test_an_axis_target_leaves_the_turn_about_that_axis_free(chain, reachable):
    turned = reachable[:200] @ make_pose(matrix_from_rotvec([0.0, 0.0, 2.5]), np.zeros(3))
    options = IkOptions(orientation=Orientation.AXIS, tool_axis=(0.0, 0.0, 1.0))
    result = IkSolver(chain, options).solve(turned)
    assert result.solved.all()
    tips = chain.T_base_tool(result.q)
    assert np.linalg.norm(tips[:, :3, 3] - turned[:, :3, 3], axis=1).max() <= 1e-3
    assert np.arccos(np.clip(np.sum(tips[:, :3, 2] * turned[:, :3, 2], axis=1), -1, 1)).max() <= np.deg2rad(0.5)


def test_a_free_position_axis_may_be_missed_along_that_axis_only(chain):
    T = chain.T_base_tool(HOME)
    T[:3, 3] += 2.0 * T[:3, 2]
    result = IkSolver(chain, IkOptions(position_axes=(True, True, False))).solve(T, seed=HOME)
    assert result.solved[0]
    miss = T[:3, :3].T @ (chain.T_base_tool(result.q[0])[:3, 3] - T[:3, 3])
    assert np.linalg.norm(miss[:2]) <= 1e-3
    assert abs(miss[2]) > 0.5


def test_seed_bias_brings_redundant_joints_closer_to_the_seed(chain, reachable):
    plain = IkSolver(chain).solve(reachable[:200], seed=HOME)
    biased = IkSolver(chain, IkOptions(seed_bias=0.5)).solve(reachable[:200], seed=HOME)
    assert biased.solved.all()
    before = np.linalg.norm(plain.q - HOME, axis=1)
    after = np.linalg.norm(biased.q - HOME, axis=1)
    assert np.all(after <= before + 1e-9)
    assert np.mean(after) < 0.97 * np.mean(before)


def test_limit_bias_brings_joints_closer_to_their_middle(chain, reachable):
    plain = IkSolver(chain).solve(reachable[:200])
    biased = IkSolver(chain, IkOptions(limit_bias=0.5)).solve(reachable[:200])
    distance = lambda q: np.mean(np.linalg.norm(q - chain.middle, axis=1))  # noqa: E731 - used twice, here only
    assert biased.solved.all()
    assert distance(biased.q) < distance(plain.q)


def test_a_limit_margin_is_kept(chain, reachable):
    result = IkSolver(chain, IkOptions(limit_margin=0.1)).solve(reachable[:200])
    inside = np.minimum(result.q - chain.lower, chain.upper - result.q)
    assert inside.min() >= 0.1 - 1e-12


def test_branches_are_distinct_and_all_reach_the_target(chain, reachable):
    found = IkSolver(chain, IkOptions(max_seeds=40)).branches(reachable[:20], most=6)
    assert found.count.min() >= 2
    for T, q, count in zip(reachable[:20], found.q, found.count, strict=True):
        distance, angle = pose_error(chain.T_base_tool(q[:count]), T)
        assert distance.max() <= 1e-3
        assert angle.max() <= np.deg2rad(0.5)
        gaps = np.abs(q[:count, None] - q[None, :count]).max(axis=2)
        assert gaps[~np.eye(count, dtype=bool)].min() >= 0.05


def test_an_awkward_arm_with_slides_is_solved_too(odd_arm):
    chain = Chain.from_model(odd_arm, tool="tool")
    lower, upper = chain.sampling_box
    q = lower + (upper - lower) * np.random.default_rng(1).random((300, chain.dof))
    result = IkSolver(chain).solve(chain.T_base_tool(q))
    assert result.solved.mean() >= 0.99


def test_targets_half_a_turn_away_are_solved(chain):
    T = chain.T_base_tool(HOME)
    flipped = T @ make_pose(np.diag([1.0, -1.0, -1.0]), np.zeros(3))
    assert IkSolver(chain).solve(flipped @ make_pose(np.eye(3), [0, 0, 0.05]), seed=HOME).solved[0]


def test_bad_requests_are_refused_with_the_reason(chain):
    solver = IkSolver(chain)
    with pytest.raises(InputError, match=r"\(n, 4, 4\)"):
        solver.solve(np.eye(3))
    with pytest.raises(InputError, match="not finite"):
        solver.solve(np.full((1, 4, 4), np.nan))
    with pytest.raises(InputError, match="not a rotation"):
        solver.solve(np.diag([2.0, 1.0, 1.0, 1.0]))
    with pytest.raises(InputError, match="a seed must be finite, with shape"):
        solver.solve(np.eye(4), seed=np.zeros(3))
    with pytest.raises(InputError, match="leaves no range for"):
        IkSolver(chain, IkOptions(limit_margin=2.0))
    with pytest.raises(InputError, match="every configuration is a solution"):
        IkOptions(orientation=Orientation.FREE, position_axes=(False, False, False))
    with pytest.raises(InputError, match="iterations must be > 0"):
        IkOptions(iterations=0)


def test_an_empty_batch_has_an_empty_answer(chain):
    assert IkSolver(chain).solve(np.empty((0, 4, 4))).q.shape == (0, chain.dof)
    assert IkSolver(chain).branches(np.empty((0, 4, 4)), 4, seed=HOME).q.shape == (0, 4, chain.dof)


def axes_of_half_turns() -> np.ndarray:
    """Return the coordinate axes, all diagonals and random directions, as unit vectors (n, 3)."""
    corners = np.stack(np.meshgrid(*[[-1.0, 0.0, 1.0]] * 3), -1).reshape(-1, 3)
    axes = np.concatenate([corners[np.any(corners != 0, axis=1)], np.random.default_rng(1).normal(size=(200, 3))])
    return axes / np.linalg.norm(axes, axis=1, keepdims=True)


def test_the_residual_of_half_a_turn_is_about_the_axis_of_the_turn(chain):
    problem, w = IkSolver(chain).problem()._replace(iterations=0), make_scratch(chain.dof)
    T = chain.T_base_tool(HOME)
    for axis in axes_of_half_turns():
        goal = matrix_from_rotvec(np.pi * axis) @ T[:3, :3]
        _, angle = descend(chain.arrays, problem, goal, T[:3, 3].copy(), HOME.copy(), w)
        turn = w.error[3:] / problem.rotation_weight
        assert angle == pytest.approx(np.pi)
        np.testing.assert_allclose(matrix_from_rotvec(turn) @ T[:3, :3], goal, atol=1e-6)


@pytest.mark.parametrize("axis", axes_of_half_turns()[:26:2], ids=str)
def test_half_a_turn_away_is_reached_from_the_seed_alone(axis):
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    body = spec.worldbody.add_body(name="flange", pos=(0.1, 0.2, 0.3))
    body.add_joint(name="turn", axis=axis, range=(-4, 4), limited=1)
    body.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=(0.1, 0, 0))
    wrist = Chain.from_model(spec.compile(), tool="flange")
    result = IkSolver(wrist, IkOptions(max_seeds=1)).solve(wrist.T_base_tool([np.pi]), seed=[0.0])
    assert result.solved[0]
    assert abs(result.q[0, 0]) == pytest.approx(np.pi, abs=0.01)

"""Batched inverse kinematics compared with mink: the same reachable poses, the same tolerances, one run."""

import time
from importlib.util import find_spec
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.bench.motion.planning_problems import ArmSetup, arm_setup
from handloom.bench.result import BenchResult
from handloom.motion.kinematics import IkOptions, IkSolver, Orientation
from handloom.spatial import invert_pose, make_pose, pose_error

POSITION, ANGLE = 1e-3, float(np.deg2rad(0.5))
"""A target counts as solved within limits and these errors [m], [rad], as measured by MuJoCo's own kinematics."""

MINK_RESTARTS, MINK_STEPS = 60, 10
"""Random restarts per target and steps per restart for mink; of 10 to 100 steps, 10 was fastest."""

ARMS = ("fr3", "franka_robotiq85", "lift2", "split_aloha", "genie1", "so101")


CARD_TARGETS, CONFIRMED = 1_000_000, 20_000
"""Poses per GPU batch, and the number of solutions that MuJoCo checks."""


def run(
    targets: int = 10_000, peer_targets: int = 100, robots: tuple[str, ...] = ARMS, *, device: str = "cpu"
) -> BenchResult:
    """Solve random reachable poses for every arm of the zoo, and for the FR3 also with mink.

    Args:
        targets: Poses per robot, drawn uniformly from the joint ranges.
        peer_targets: Number of these for mink.
        robots: Robots of the zoo.
        device: ``cuda`` measures a GPU instead, with a million targets at once, for arms with six or more joints.
    """
    if device == "cuda":
        return _on_card(robots)
    rows: list[dict[str, Any]] = []
    for robot in robots:
        setup = arm_setup(robot)
        T = _reachable(setup, targets)
        rows += [_ours(robot, setup, T, threads) for threads in ((1, None) if robot == "fr3" else (None,))]
        if robot == "fr3" and find_spec("mink") is not None:
            rows.append(_mink(setup, T[:peer_targets]))
    _add_ratios(rows)
    return BenchResult(bench="ik", rows=tuple(rows))


def _on_card(robots: tuple[str, ...]) -> BenchResult:
    """Return the targets that a GPU solves per second, including copies to it and back."""
    rows: list[dict[str, Any]] = []
    for robot in robots:
        setup = arm_setup(robot)
        if setup.chain.dof < FULL_POSE:
            continue
        T, solver = _reachable(setup, CARD_TARGETS), IkSolver(setup.chain, device="cuda")
        solver.solve(T)
        begin = time.perf_counter()
        result = solver.solve(T)
        seconds = time.perf_counter() - begin
        good = _confirmed(setup, T[:CONFIRMED], result.q[:CONFIRMED], full=True)
        rows.append(
            {
                "name": f"handloom {robot}, card",
                "targets": len(T),
                "targets_per_s": len(T) / seconds,
                "solved_percent": 100.0 * float(result.solved.mean()),
                "confirmed_percent": 100.0 * float(good.mean()),
                "mean_seeds": float(result.seeds_used.mean()),
            }
        )
    return BenchResult(bench="ik", rows=tuple(rows))


FULL_POSE = 6
"""Joints needed to reach any pose."""


def _reachable(setup: ArmSetup, count: int) -> Array:
    lower, upper = setup.chain.sampling_box
    q = lower + (upper - lower) * np.random.default_rng(0).random((count, setup.chain.dof))
    return setup.chain.T_base_tool(q)


def _ours(robot: str, setup: ArmSetup, T: Array, threads: int | None) -> dict[str, Any]:
    # Five joints cannot reach arbitrary poses; such arms only get target positions.
    orientation = Orientation.FULL if setup.chain.dof >= 6 else Orientation.FREE
    solver = IkSolver(setup.chain, IkOptions(orientation=orientation, threads=threads))
    solver.solve(T[:64])
    begin = time.perf_counter()
    result = solver.solve(T)
    seconds = time.perf_counter() - begin
    good = _confirmed(setup, T, result.q, full=orientation is Orientation.FULL)
    return {
        "name": f"handloom {robot}{'' if orientation is Orientation.FULL else ' position only'}"
        f"{', 1 thread' if threads == 1 else ', all cores'}",
        "targets": len(T),
        "targets_per_s": len(T) / seconds,
        "solved_percent": 100.0 * float(good.mean()),
        "mean_seeds": float(result.seeds_used.mean()),
    }


def _confirmed(setup: ArmSetup, T: Array, q: Array, *, full: bool) -> NDArray[np.bool_]:
    """Return which configurations are within limits and reach their target according to MuJoCo."""
    model, data, chain = setup.model, mujoco.MjData(setup.model), setup.chain
    data.qpos[:] = setup.data.qpos
    good = np.all((q >= chain.lower - 1e-9) & (q <= chain.upper + 1e-9), axis=1)
    base, tip = model.body(chain.base).id, model.site(chain.tool).id
    for i in range(len(q)):
        data.qpos[chain.qpos_index] = q[i]
        mujoco.mj_kinematics(model, data)
        T_world_base = make_pose(data.xmat[base].reshape(3, 3), data.xpos[base])
        T_world_tool = make_pose(data.site_xmat[tip].reshape(3, 3), data.site_xpos[tip])
        distance, angle = pose_error(invert_pose(T_world_base) @ T_world_tool, T[i])
        good[i] &= bool(distance <= POSITION and (not full or angle <= ANGLE))
    return good


def _mink(setup: ArmSetup, T: Array) -> dict[str, Any]:
    """Solve by differential inverse kinematics with joint limits, restarted at random until solved."""
    import mink

    configuration = mink.Configuration(setup.model)
    task = mink.FrameTask(setup.chain.tool, "site", position_cost=1.0, orientation_cost=1.0, lm_damping=1e-6)
    limits = [mink.ConfigurationLimit(setup.model)]
    T_world_base = setup.T_world_base
    rng, solutions = np.random.default_rng(1), np.tile(setup.chain.middle, (len(T), 1))
    lower, upper = setup.chain.sampling_box
    _mink_one(mink, configuration, task, limits, setup, T_world_base @ T[0], rng, lower, upper)
    begin = time.perf_counter()
    for i in range(len(T)):
        solutions[i] = _mink_one(mink, configuration, task, limits, setup, T_world_base @ T[i], rng, lower, upper)
    seconds = time.perf_counter() - begin
    good = _confirmed(setup, T, solutions, full=True)
    return {
        "name": "mink fr3, daqp",
        "targets": len(T),
        "targets_per_s": len(T) / seconds,
        "solved_percent": 100.0 * float(good.mean()),
    }


def _mink_one(
    mink: Any,
    configuration: Any,
    task: Any,
    limits: list[Any],
    setup: ArmSetup,
    T_world_target: Array,
    rng: np.random.Generator,
    lower: Array,
    upper: Array,
) -> Array:
    """Return the configuration for one target; the first start is the middle of the joint ranges."""
    task.set_target(mink.SE3.from_matrix(T_world_target))
    index, q = setup.chain.qpos_index, setup.chain.middle
    for _ in range(MINK_RESTARTS):
        qpos = setup.data.qpos.copy()
        qpos[index] = q
        configuration.update(qpos)
        for _ in range(MINK_STEPS):
            error = task.compute_error(configuration)
            if np.linalg.norm(error[:3]) <= POSITION and np.linalg.norm(error[3:]) <= ANGLE:
                return configuration.q[index].copy()
            velocity = mink.solve_ik(configuration, [task], 1.0, "daqp", limits=limits)
            configuration.integrate_inplace(velocity, 1.0)
        q = lower + (upper - lower) * rng.random(len(lower))
    return configuration.q[index].copy()


def _add_ratios(rows: list[dict[str, Any]]) -> None:
    """Add the speed of each FR3 row relative to mink."""
    peer = next((row["targets_per_s"] for row in rows if row["name"].startswith("mink")), None)
    for row in rows:
        if peer and row["name"].startswith("handloom fr3"):
            row["times_mink"] = row["targets_per_s"] / peer

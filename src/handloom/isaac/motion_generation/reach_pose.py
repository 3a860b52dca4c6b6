"""Moves to a pose with RMPflow and reports whether it was reached or where the arm got stuck."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.isaac.motion_generation.rmpflow.rmpflow import RmpFlow
from handloom.motion.kinematics import IkOptions, IkSolver
from handloom.spatial import invert_pose, make_pose, matrix_from_quat

POSTURES = 16
"""Number of arm postures considered at the target."""
STALLED = 0.01
"""Progress that the tool [m] or the joints [rad] must make within ``PATIENCE``; otherwise the next posture is tried."""
PATIENCE = 1.5
"""[s]."""
NEAR = 0.1
"""Largest joint distance from a posture at which the tool is pulled to the pose again [rad or m]."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ReachResult:
    """Result of a reach."""

    reached: bool
    """False if the arm is stuck or time has run out."""
    distance: float
    """Distance from the target at the end [m]."""
    angle: float
    """Angle from the target at the end [rad]."""
    smallest_gap: float
    """Smallest distance between the arm and an obstacle along the way [m]; negative means contact."""
    states: Array
    """Configurations (m, n), one per frame."""
    reason: str = ""
    """On failure, one sentence."""


def reach_pose(
    policy: RmpFlow,
    q: ArrayLike,
    position: ArrayLike,
    orientation: ArrayLike,
    *,
    seconds: float = 20.0,
    frame: float = 1 / 60,
    tolerance: tuple[float, float] = (0.02, 0.1),
) -> ReachResult:
    """Roll out a policy to a pose among its obstacles, starting at rest.

    RMPflow is a local policy and may come to rest short of a target. If the tool stops getting closer, the joints are
    pulled to a collision-free arm posture at the pose, nearest first, still keeping away from obstacles.

    Args:
        policy: Policy with its obstacles; its targets are replaced.
        q: Joint positions at the start (n,).
        position: Target position of the end effector in the world (3,) [m].
        orientation: Quaternion wxyz (4,).
        seconds: Time after which the arm counts as stuck [s].
        frame: Time between two calls of the policy [s].
        tolerance: Distance [m] and angle [rad] that count as reached.
    """
    quat = np.asarray(orientation, float)
    if quat.shape != (4,) or not np.linalg.norm(quat) > 1e-9:
        raise InputError(f"orientation must be a quaternion wxyz, got {orientation!r}")
    T = make_pose(matrix_from_quat(quat / np.linalg.norm(quat)), np.asarray(position, float))
    state, speed = np.array(q, float), np.zeros(policy.robot.dof)
    postures = _free_postures(policy, T, state)
    policy.set_end_effector_target(position, quat)
    states, best, since, gap = [state], np.inf, 0.0, policy.smallest_gap(state)
    posture: Array | None = None
    distance, angle = _errors(policy, state, T)
    for _ in range(round(seconds / frame)):
        state, speed = policy.compute_joint_targets(state, speed, [], [], frame)
        states.append(state)
        gap = min(gap, policy.smallest_gap(state))
        distance, angle = _errors(policy, state, T)
        if distance < tolerance[0] and angle < tolerance[1] and np.abs(speed).max() < 0.2:
            return ReachResult(reached=True, distance=distance, angle=angle, smallest_gap=gap, states=np.array(states))
        score = distance + 0.2 * angle if posture is None else float(np.linalg.norm(state - posture))
        since += frame
        if score < best - STALLED:
            best, since = score, 0.0
        if posture is not None and np.abs(state - posture).max() < NEAR:
            policy.set_end_effector_target(position, quat)
            posture, best, since = None, np.inf, 0.0
        elif since > PATIENCE and postures:
            posture = postures.pop(0)
            policy.set_end_effector_target(None, None)
            policy.set_cspace_target(posture)
            best, since = np.inf, 0.0
    why = f"stuck {100 * distance:.1f} cm and {angle:.2f} rad from the target after {seconds:g} s"
    return ReachResult(
        reached=False, distance=distance, angle=angle, smallest_gap=gap, states=np.array(states), reason=why
    )


def _free_postures(policy: RmpFlow, T: Array, q: Array) -> list[Array]:
    """Return collision-free configurations that bring the end effector to a pose, nearest first."""
    robot = policy.robot
    chain = robot.chain(policy.end_effector_frame)
    columns = [robot.joint_names.index(name) for name in chain.joint_names]
    solver = IkSolver(chain, IkOptions(position_tolerance=5e-3, rotation_tolerance=0.03, limit_margin=0.03, threads=1))
    T_base_target = invert_pose(policy.T_world_base) @ T
    seed = np.clip(q[columns], chain.lower + 0.03, chain.upper - 0.03)
    found = solver.branches(T_base_target, most=POSTURES, seed=seed)
    rows = np.tile(q, (int(found.count[0]), 1))
    rows[:, columns] = found.q[0, : found.count[0]]
    free = [row for row in rows if policy.smallest_gap(row) > 0.005]
    return sorted(free, key=lambda row: float(np.linalg.norm(row - q)))


def _errors(policy: RmpFlow, q: Array, T: Array) -> tuple[float, float]:
    p, R = policy.get_end_effector_pose(q)
    return (
        float(np.linalg.norm(p - T[:3, 3])),
        float(np.arccos(np.clip((np.trace(R.T @ T[:3, :3]) - 1) / 2, -1.0, 1.0))),
    )

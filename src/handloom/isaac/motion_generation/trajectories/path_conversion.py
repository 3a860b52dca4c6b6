"""Converts task-space paths to configurations by inverse kinematics, as dense as the deviation requires."""

from dataclasses import dataclass

import numpy as np

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.isaac.motion_generation.descriptions.motion_robot import MotionRobot
from handloom.isaac.motion_generation.trajectories.task_space_path import (
    CompositePathSpec,
    TaskSpacePath,
    TaskSpacePathSpec,
    TransitionMode,
    create_task_space_path_spec,
)
from handloom.motion.kinematics import Chain, IkOptions, IkSolver

LARGEST_JUMP = 0.5
"""Joint motion between two poses beyond which it counts as a jump to another branch [rad or m]."""


@dataclass
class PathConversionConfig:
    """Published settings."""

    min_position_deviation: float = 0.001
    """Steps grow while straight joint motions stay closer than this to the path [m]."""
    max_position_deviation: float = 0.003
    """Straight joint motions stay this close to the path [m]."""
    initial_s_step_size: float = 0.05
    initial_s_step_size_delta: float = 0.005
    min_s_step_size: float = 1e-5
    min_s_step_size_delta: float = 1e-5
    max_iterations: int = 50
    """Attempts per step."""
    alpha: float = 1.4
    """Factor by which the change of the step grows while its direction stays the same."""

    def __post_init__(self) -> None:
        """Reject settings that cannot be met."""
        if not 0 < self.min_position_deviation < self.max_position_deviation or self.alpha <= 1:
            raise InputError("0 < min_position_deviation < max_position_deviation and alpha > 1 must hold")


def path_waypoints(
    robot: MotionRobot, chain: Chain, path: TaskSpacePath, config: PathConversionConfig, start: Array | None = None
) -> Array | str:
    """Return configurations (m, n) along a path, or a message with the position beyond which the frame cannot follow.

    Args:
        robot: The robot.
        chain: Joints that move the frame.
        path: Path of the frame.
        config: How close.
        start: Configuration (n,) at the beginning; None finds one from the default configuration.
    """
    columns = [robot.joint_names.index(name) for name in chain.joint_names]
    tight = {"position_tolerance": 1e-4, "rotation_tolerance": 1e-3, "threads": 1}
    if start is None:
        found = IkSolver(chain, IkOptions(**tight)).solve(path.pose(0.0), seed=robot.default_q[columns])
        if not found.solved[0]:
            return "no configuration brings the frame to the start of the path"
        q = found.q[0]
    else:
        q = start[columns]
    follow = IkSolver(chain, IkOptions(max_seeds=1, **tight))
    rows, s, step, delta, way = [q], 0.0, config.initial_s_step_size, config.initial_s_step_size_delta, 0
    corners = path.corners()
    while s < corners[-1] - 1e-12:
        for _ in range(config.max_iterations):
            # Corners are waypoints, so that rounding and chords never cut them off.
            end = min(s + step, float(corners[np.searchsorted(corners, s + 1e-9, side="right")]))
            found = follow.solve(path.pose(end), seed=q)
            reached = found.solved[0] and np.abs(found.q[0] - q).max() < LARGEST_JUMP
            deviation = _deviation(chain, path, (s, end), (q, found.q[0])) if reached else np.inf
            if deviation > config.max_position_deviation:
                step, delta, way = _changed(step, delta, way, -1, config)
                if step < config.min_s_step_size:
                    why = "would have to jump" if found.solved[0] else "cannot reach further"
                    return f"the frame cannot follow the path beyond s = {s:.4g} of {corners[-1]:.4g}: the arm {why}"
                continue
            break
        else:
            return f"no step is small enough at s = {s:.4g} of {corners[-1]:.4g}"
        s, q = end, found.q[0]
        rows.append(q)
        if deviation < config.min_position_deviation:
            step, delta, way = _changed(step, delta, way, 1, config)
    base = robot.default_q if start is None else start
    full = np.tile(base, (len(rows), 1))
    full[:, columns] = rows
    return full


def _changed(step: float, delta: float, way: int, now: int, config: PathConversionConfig) -> tuple[float, float, int]:
    """Return the step after a change up or down; the change grows while its direction stays the same."""
    delta = delta * config.alpha if way == now else max(delta / config.alpha, config.min_s_step_size_delta)
    return (step + delta if now > 0 else min(step - delta, 0.7 * step)), delta, now


def _deviation(chain: Chain, path: TaskSpacePath, s: tuple[float, float], q: tuple[Array, Array]) -> float:
    """Return the deviation of the frame from the path on the straight joint motion between two of its points [m]."""
    u = np.array([0.25, 0.5, 0.75])
    between = chain.T_base_tool(q[0] + u[:, None] * (q[1] - q[0]))[:, :3, 3]
    dense = np.array([path.pose(x)[:3, 3] for x in np.linspace(s[0], s[1], 9)])
    # Distance to the polyline: the timing along the two differs, the geometry does not.
    a, d = dense[:-1], np.diff(dense, axis=0)
    t = np.clip(np.einsum("pki,ki->pk", between[:, None] - a, d) / np.maximum((d**2).sum(1), 1e-18), 0.0, 1.0)
    gaps = np.linalg.norm(between[:, None] - (a + t[..., None] * d), axis=2)
    return float(gaps.min(axis=1).max())


def composite_waypoints(
    robot: MotionRobot, chain: Chain, spec: CompositePathSpec, config: PathConversionConfig
) -> Array | str:
    """Return configurations (m, n) along a composite path, or a message naming the part that cannot be followed."""
    rows = [spec.initial_q[None]]
    columns = [robot.joint_names.index(name) for name in chain.joint_names]
    for part, mode in spec.parts:
        q = rows[-1][-1]
        if not isinstance(part, TaskSpacePathSpec):
            rows.append(np.array(part.waypoints[1:] if mode == TransitionMode.SKIP else part.waypoints))
            continue
        here = chain.T_base_tool(q[columns])
        if mode == TransitionMode.SKIP:
            part = part.starting_at(here)  # noqa: PLW2901 - the same part, from the current end of the path
        elif mode == TransitionMode.LINEAR_TASK_SPACE:
            line = create_task_space_path_spec(here)
            if line.add_linear_path(part.initial_pose):
                way = path_waypoints(robot, chain, line.generate_path(), config, q)
                if isinstance(way, str):
                    return way
                rows.append(way[1:])
        else:
            free = IkSolver(chain, IkOptions(position_tolerance=1e-4, rotation_tolerance=1e-3, threads=1))
            found = free.solve(part.initial_pose, seed=q[columns])
            if not found.solved[0]:
                return "no configuration brings the frame to the start of a part of the path"
            start = q.copy()
            start[columns] = found.q[0]
            rows.append(start[None])
        way = path_waypoints(robot, chain, part.generate_path(), config, rows[-1][-1])
        if isinstance(way, str):
            return way
        rows.append(way[1:])
    return np.concatenate([part for part in rows if len(part)])

"""Trajectories under their published names: through configurations, along task-space paths, as actions of a robot."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.isaac.articulation import ArticulationSubset, SingleArticulation
from handloom.isaac.motion_generation.descriptions.motion_robot import MotionRobot, load_motion_robot
from handloom.isaac.motion_generation.published_log import LOGGER, fail
from handloom.isaac.motion_generation.trajectories.cubic_spline import SCurve, TimedWaypoints
from handloom.isaac.motion_generation.trajectories.path_conversion import (
    PathConversionConfig,
    composite_waypoints,
    path_waypoints,
)
from handloom.isaac.motion_generation.trajectories.task_space_path import (
    CompositePathSpec,
    TaskSpacePathSpec,
    create_task_space_path_spec,
)
from handloom.motion.trajectory import MotionLimits, Trajectory, jerk_limited, time_optimal
from handloom.spatial import make_pose, matrix_from_quat
from handloom.values import ArticulationAction

DEVIATION = 0.01
"""Largest deviation of a trajectory from the configurations between the first and the last [rad or m]."""
TASK_DEVIATION = 5e-4
"""The same for the dense waypoints of a task-space path."""


class TrajectoryInterface:
    """Published interface ``Trajectory``: joint targets over time."""

    @property
    def start_time(self) -> float:
        """Start time [s]."""
        raise NotImplementedError

    @property
    def end_time(self) -> float:
        """End time [s]."""
        raise NotImplementedError

    def get_active_joints(self) -> list[str]:
        """Return the joints of the targets, in order."""
        raise NotImplementedError

    def get_joint_targets(self, time: float) -> tuple[Array, Array] | None:
        """Return positions and velocities (n,), (n,) at a time [s]."""
        raise NotImplementedError


class LulaTrajectory(TrajectoryInterface):
    """A generated trajectory.

    Args:
        motion: Joint motion, starting at time 0.
        active_joints: Its joints, in order.
        start_time: Start time [s].
    """

    def __init__(self, motion: Trajectory, active_joints: Sequence[str], start_time: float = 0.0) -> None:
        self.motion, self._joints, self._start = motion, list(active_joints), float(start_time)

    @property
    def start_time(self) -> float:
        """Start time [s]."""
        return self._start

    @property
    def end_time(self) -> float:
        """End time [s]."""
        return self._start + self.motion.duration

    def get_active_joints(self) -> list[str]:
        """Return the joints of the targets, in order."""
        return list(self._joints)

    def get_joint_targets(self, time: float) -> tuple[Array, Array] | None:
        """Return positions and velocities (n,), (n,) at a time [s]; logs an error and returns None outside."""
        if not self.start_time <= time <= self.end_time:
            return fail(f"the trajectory runs from {self.start_time} s to {self.end_time} s, got {time} s")
        q, qd, _ = self.motion.sample(time - self._start)
        return q, qd


class ArticulationTrajectory:
    """A trajectory converted to actions of a robot.

    Args:
        robot_articulation: The robot.
        trajectory: The trajectory.
        physics_dt: Time between actions of a sequence [s].
    """

    def __init__(
        self, robot_articulation: SingleArticulation, trajectory: TrajectoryInterface, physics_dt: float
    ) -> None:
        self._robot, self._trajectory, self._dt = robot_articulation, trajectory, physics_dt
        self._joints = ArticulationSubset(robot_articulation, trajectory.get_active_joints())

    def get_action_at_time(self, time: float) -> ArticulationAction:
        """Return the action at a time [s].

        Raises:
            InputError: The time is outside the trajectory; this is also logged.
        """
        start, end = self._trajectory.start_time, self._trajectory.end_time
        if time < start or time > end:
            side, edge = ("before the start", start) if time < start else ("after the end", end)
            message = f"time {time} s is {side} time of the trajectory, {edge} s"
            LOGGER.error(message)
            raise InputError(message)
        targets = self._trajectory.get_joint_targets(time)
        assert targets is not None
        return self._joints.make_articulation_action(*targets)

    def get_action_sequence(self, timestep: float | None = None) -> list[ArticulationAction]:
        """Return actions from the start, one per time step [s], excluding the end."""
        step = self._dt if timestep is None else timestep
        if not step > 0:
            raise InputError(f"a time step must be a positive number of seconds, got {step}")
        times = np.arange(self._trajectory.start_time, self._trajectory.end_time, step)
        return [self.get_action_at_time(float(time)) for time in times]

    def get_trajectory_duration(self) -> float:
        """Return the duration [s]."""
        return self._trajectory.end_time - self._trajectory.start_time

    def get_active_joints_subset(self) -> ArticulationSubset:
        """Return the joints of the robot that the trajectory moves."""
        return self._joints

    def get_robot_articulation(self) -> SingleArticulation:
        """Return the robot."""
        return self._robot

    def get_trajectory(self) -> TrajectoryInterface:
        """Return the trajectory."""
        return self._trajectory


class LulaCSpaceTrajectoryGenerator:
    """The fastest trajectories through configurations, from rest to rest.

    Args:
        robot_description_path: Lula robot description YAML or XRDF.
        urdf_path: URDF beside it.
    """

    def __init__(self, robot_description_path: str | Path, urdf_path: str | Path) -> None:
        self.robot: MotionRobot = load_motion_robot(robot_description_path, urdf_path)
        self._position = (self.robot.lower.copy(), self.robot.upper.copy())
        self._velocity, self._acceleration, self._jerk = (
            self.robot.velocity.copy(),
            self.robot.acceleration,
            self.robot.jerk,
        )

    def compute_c_space_trajectory(self, waypoint_positions: ArrayLike) -> LulaTrajectory | None:
        """Return a trajectory through configurations (m, n), or None, with an error in the log.

        Between the first and the last waypoint, corners are rounded within ``DEVIATION`` of the waypoints.

        Raises:
            InputError: A waypoint has a wrong size or is outside the position limits.
        """
        return self.trajectory_through(waypoint_positions, DEVIATION)

    def trajectory_through(self, waypoint_positions: ArrayLike, deviation: float) -> LulaTrajectory | None:
        """As ``compute_c_space_trajectory``, rounding corners by a deviation [rad or m]."""
        waypoints = self._waypoints(waypoint_positions)
        moves = np.abs(np.diff(waypoints, axis=0)).max(axis=1) > 1e-9
        if not moves.any():
            return fail("a trajectory needs at least two different waypoints")
        if self._acceleration is None:
            return fail("the description gives no acceleration_limits; call set_c_space_acceleration_limits")
        limits = MotionLimits.of(self._velocity, self._acceleration, self._jerk)
        if moves.sum() == 1:
            motion: Trajectory = SCurve(waypoints[0], waypoints[-1], limits)
        elif self._jerk is None:
            motion = time_optimal(waypoints, limits, deviation=deviation)
        else:
            motion = jerk_limited(waypoints, limits, deviation=deviation)
        return LulaTrajectory(motion, self.robot.joint_names)

    def compute_timestamped_c_space_trajectory(
        self, waypoint_positions: ArrayLike, timestamps: ArrayLike, interpolation_mode: str = "cubic_spline"
    ) -> LulaTrajectory | None:
        """Return a trajectory through waypoints (m, n) at given times (m,) [s], or None if a limit is exceeded.

        Args:
            waypoint_positions: Configurations (m, n).
            timestamps: Ascending times (m,) [s].
            interpolation_mode: ``cubic_spline``, from rest to rest, or ``linear``.
        """
        waypoints, times = self._waypoints(waypoint_positions), np.asarray(timestamps, float)
        if times.shape != (len(waypoints),) or not np.all(np.diff(times) > 0):
            raise InputError(f"timestamps must be {len(waypoints)} ascending times, got {timestamps!r}")
        motion = TimedWaypoints(times - times[0], waypoints, interpolation_mode)
        problem = motion.exceeded(*self._position, self._velocity, self._acceleration, self._jerk)
        if problem is not None:
            return fail(f"the trajectory through these times exceeds the {problem} of the robot")
        return LulaTrajectory(motion, self.robot.joint_names, float(times[0]))

    def get_active_joints(self) -> list[str]:
        """Return the joints of trajectories, in order."""
        return list(self.robot.joint_names)

    def get_c_space_position_limits(self) -> tuple[Array, Array]:
        """Return lower and upper limits (n,), (n,) [rad or m]."""
        return self._position[0].copy(), self._position[1].copy()

    def get_c_space_velocity_limits(self) -> Array:
        """Return maximum speeds (n,) [rad/s or m/s]."""
        return self._velocity.copy()

    def get_c_space_acceleration_limits(self) -> Array | None:
        """Return maximum accelerations (n,), None if there are none."""
        return None if self._acceleration is None else self._acceleration.copy()

    def get_c_space_jerk_limits(self) -> Array | None:
        """Return maximum jerks (n,), None if there are none."""
        return None if self._jerk is None else self._jerk.copy()

    def set_c_space_position_limits(self, lower_position_limits: ArrayLike, upper_position_limits: ArrayLike) -> None:
        """Set lower and upper limits (n,), (n,) [rad or m]."""
        lower, upper = self._per_joint(lower_position_limits), self._per_joint(upper_position_limits)
        if np.any(lower >= upper):
            raise InputError("each lower position limit must be below the upper one")
        self._position = (lower, upper)

    def set_c_space_velocity_limits(self, velocity_limits: ArrayLike) -> None:
        """Set maximum speeds (n,) [rad/s or m/s]."""
        self._velocity = self._positive("velocity_limits", velocity_limits)

    def set_c_space_acceleration_limits(self, acceleration_limits: ArrayLike) -> None:
        """Set maximum accelerations (n,)."""
        self._acceleration = self._positive("acceleration_limits", acceleration_limits)

    def set_c_space_jerk_limits(self, jerk_limits: ArrayLike) -> None:
        """Set maximum jerks (n,)."""
        self._jerk = self._positive("jerk_limits", jerk_limits)

    def set_solver_param(self, param_name: str, param_val: Any) -> bool:
        """Set a published parameter of the spline solver; False if name or value is invalid.

        The motion is computed in closed form here, so none of these parameters changes it.
        """
        return valid_solver_param(param_name, param_val)

    def _waypoints(self, given: ArrayLike) -> Array:
        waypoints = np.asarray(given, float)
        if waypoints.ndim != 2 or waypoints.shape[1] != self.robot.dof or not np.all(np.isfinite(waypoints)):
            raise InputError(f"waypoints must have shape (m, {self.robot.dof}), got {np.shape(given)}")
        lower, upper = self._position
        outside = np.argwhere((waypoints < lower - 1e-9) | (waypoints > upper + 1e-9))
        if len(outside):
            row, joint = outside[0]
            raise InputError(
                f"waypoint {row} has {self.robot.joint_names[joint]} at {waypoints[row, joint]:.4g}, "
                f"outside its limits {lower[joint]:.4g} to {upper[joint]:.4g}"
            )
        return waypoints

    def _per_joint(self, values: ArrayLike) -> Array:
        result = np.array(values, float)
        if result.shape != (self.robot.dof,):
            raise InputError(f"limits must have {self.robot.dof} values, got {values!r}")
        return result

    def _positive(self, name: str, values: ArrayLike) -> Array:
        result = self._per_joint(values)
        if not np.all(result > 0):
            raise InputError(f"{name} must be positive, got {values!r}")
        return result


class LulaTaskSpaceTrajectoryGenerator(LulaCSpaceTrajectoryGenerator):
    """The fastest trajectories of a frame along task-space paths, from rest to rest."""

    def __init__(self, robot_description_path: str | Path, urdf_path: str | Path) -> None:
        super().__init__(robot_description_path, urdf_path)
        self._conversion = PathConversionConfig()

    def get_path_conversion_config(self) -> PathConversionConfig:
        """Return the settings of the conversion to configurations; change them in place."""
        return self._conversion

    def get_all_frame_names(self) -> list[str]:
        """Return every frame of the robot."""
        return list(self.robot.frame_names)

    def set_c_space_trajectory_generator_solver_param(self, param_name: str, param_val: Any) -> bool:
        """As ``set_solver_param``."""
        return valid_solver_param(param_name, param_val)

    def compute_task_space_trajectory_from_points(
        self, positions: ArrayLike, orientations: ArrayLike, frame_name: str
    ) -> LulaTrajectory | None:
        """Return a trajectory along straight lines through positions (m, 3) and quaternions wxyz (m, 4), or None."""
        p, quats = np.asarray(positions, float), np.asarray(orientations, float)
        if p.ndim != 2 or quats.ndim != 2 or len(p) != len(quats) or len(p) < 2:
            return fail(f"positions (m, 3) and orientations (m, 4) differ in number: {p.shape} and {quats.shape}")
        poses = [make_pose(matrix_from_quat(q / np.linalg.norm(q)), x) for x, q in zip(p, quats, strict=True)]
        spec = create_task_space_path_spec(poses[0])
        for pose in poses[1:]:
            spec.add_linear_path(pose)
        return self.compute_task_space_trajectory_from_path_spec(spec, frame_name)

    def compute_task_space_trajectory_from_path_spec(
        self, path_spec: TaskSpacePathSpec | CompositePathSpec, frame_name: str
    ) -> LulaTrajectory | None:
        """Return a trajectory along a path, or None, with an error in the log, if the frame cannot follow."""
        chain = self.robot.chain(frame_name)
        if isinstance(path_spec, TaskSpacePathSpec):
            rows = path_waypoints(self.robot, chain, path_spec.generate_path(), self._conversion)
        elif isinstance(path_spec, CompositePathSpec):
            rows = composite_waypoints(self.robot, chain, path_spec, self._conversion)
        else:
            return fail(f"expected a TaskSpacePathSpec or a CompositePathSpec, got {type(path_spec).__name__}")
        if isinstance(rows, str):
            return fail(rows)
        return self.trajectory_through(rows, TASK_DEVIATION)


SOLVER_PARAMS: dict[str, type] = {
    "max_segment_iterations": int,
    "max_aggregate_iterations": int,
    "convergence_dt": float,
    "max_dilation_iterations": int,
    "dilation_dt": float,
    "min_time_span": float,
    "time_split_method": str,
}
SPLITS = ("uniform", "chord_length", "centripetal")


def valid_solver_param(name: str, value: Any) -> bool:
    """Return whether a published parameter exists and takes a value; a wrong type raises InputError."""
    kind = SOLVER_PARAMS.get(name)
    if kind is None:
        return False
    if isinstance(value, bool) or not isinstance(value, (int, float) if kind is float else kind):
        raise InputError(f"{name} must be of type {kind.__name__}, got {value!r}")
    return value in SPLITS if kind is str else value >= 0 if kind is int else value > 0

"""Forward and inverse kinematics under their published names."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from handloom.arrays import Array
from handloom.errors import InputError, unknown_name
from handloom.isaac.articulation import ArticulationSubset, SingleArticulation
from handloom.isaac.motion_generation.descriptions.motion_robot import MotionRobot, load_motion_robot
from handloom.isaac.motion_generation.published_log import LOGGER
from handloom.motion.kinematics import Chain, IkOptions, IkSolver, Orientation
from handloom.spatial import invert_pose, make_pose, matrix_from_quat
from handloom.values import ArticulationAction

WITHOUT_EFFECT: dict[str, Any] = {
    "bfgs_cspace_limit_biasing": "AUTO",
    "bfgs_cspace_limit_biasing_weight": 1.0,
    "bfgs_cspace_limit_penalty_region": 0.01,
    "bfgs_gradient_norm_termination": 1e-6,
    "bfgs_gradient_norm_termination_coarse_scale_factor": 1e7,
    "bfgs_position_weight": 1.0,
    "ccd_bracket_search_num_uniform_samples": 10,
    "ccd_descent_termination_delta": 0.1,
    "ccd_max_iterations": 10,
    "ccd_orientation_weight": 0.05,
    "ccd_position_weight": 1.0,
    "irwin_hall_sampling_order": 2,
}
"""Published settings of a two-stage solver with their defaults; a single damped descent replaces both stages."""


class KinematicsSolver:
    """Published interface."""

    def set_robot_base_pose(self, robot_position: ArrayLike, robot_orientation: ArrayLike) -> None:
        """Place the robot's base in the world: position (3,) [m], quaternion wxyz (4,)."""
        raise NotImplementedError

    def get_joint_names(self) -> list[str]:
        """Return the joints of configurations, in order."""
        raise NotImplementedError

    def get_all_frame_names(self) -> list[str]:
        """Return every frame that can be queried."""
        raise NotImplementedError

    def compute_forward_kinematics(
        self, frame_name: str, joint_positions: ArrayLike, position_only: bool = False
    ) -> tuple[Array, Array | None]:
        """Return position (3,) [m] and rotation (3, 3) of a frame in the world."""
        raise NotImplementedError

    def compute_inverse_kinematics(
        self,
        frame_name: str,
        target_position: ArrayLike,
        target_orientation: ArrayLike | None = None,
        warm_start: ArrayLike | None = None,
        position_tolerance: float | None = None,
        orientation_tolerance: float | None = None,
    ) -> tuple[Array, bool]:
        """Return a configuration (n,) and whether it brings the frame to the target."""
        raise NotImplementedError

    def supports_collision_avoidance(self) -> bool:
        """Return whether obstacles count."""
        return False


class LulaKinematicsSolver(KinematicsSolver):
    """Kinematics of a robot given by its description and its URDF; obstacles are ignored.

    Args:
        robot_description_path: Lula robot description YAML or XRDF.
        urdf_path: URDF beside it.
        robot_description: A robot that is already loaded, instead of the two paths.
    """

    def __init__(
        self,
        robot_description_path: str | Path | None = None,
        urdf_path: str | Path | None = None,
        robot_description: MotionRobot | None = None,
    ) -> None:
        if robot_description is None:
            if robot_description_path is None or urdf_path is None:
                raise InputError("give robot_description_path and urdf_path, or a loaded robot_description")
            robot_description = load_motion_robot(robot_description_path, urdf_path)
        self.robot = robot_description
        self.T_world_base = np.eye(4)
        """Pose of the base (4, 4)."""
        self.max_num_descents = 100
        """Number of starting points tried per target."""
        self.bfgs_max_iterations = 60
        """Steps per starting point."""
        self.bfgs_orientation_weight = 100.0
        """Kept for ported code; orientation and position are weighted by their tolerances."""
        self.sampling_seed = 123456
        """Seed of the starting points tried after the given ones."""
        self._position_tolerance, self._orientation_tolerance = 1e-3, 0.01
        self._seeds: Array = np.empty((0, self.robot.dof))

    def __getattr__(self, name: str) -> Any:
        if name in WITHOUT_EFFECT:
            return WITHOUT_EFFECT[name]
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name in WITHOUT_EFFECT:
            LOGGER.info("%s has no effect: a single damped descent replaces the two published stages", name)
        super().__setattr__(name, value)

    def set_robot_base_pose(self, robot_position: ArrayLike, robot_orientation: ArrayLike) -> None:
        """Place the robot's base in the world: position (3,) [m], quaternion wxyz (4,)."""
        self.T_world_base = make_pose(_rotation(robot_orientation), np.asarray(robot_position, float))

    def get_joint_names(self) -> list[str]:
        """Return the joints of configurations, in order."""
        return list(self.robot.joint_names)

    def get_all_frame_names(self) -> list[str]:
        """Return every link of the URDF and every added frame."""
        return list(self.robot.frame_names)

    def set_max_iterations(self, iterations: int) -> None:
        """Set the number of steps per starting point; the same as ``bfgs_max_iterations``."""
        if iterations < 1:
            raise InputError(f"iterations must be at least 1, got {iterations}")
        self.bfgs_max_iterations = int(iterations)

    def compute_forward_kinematics(
        self, frame_name: str, joint_positions: ArrayLike, position_only: bool = False
    ) -> tuple[Array, Array | None]:
        """Return position (3,) [m] and rotation (3, 3) of a frame in the world; None for the rotation if not wanted."""
        q = self._configuration("joint_positions", joint_positions)
        if frame_name not in self.robot.frame_names:
            raise unknown_name("frame", frame_name, self.robot.frame_names)
        T = self.T_world_base @ self.robot.T_base_frame(q, frame_name)
        return T[:3, 3].copy(), None if position_only else T[:3, :3].copy()

    def compute_inverse_kinematics(
        self,
        frame_name: str,
        target_position: ArrayLike,
        target_orientation: ArrayLike | None = None,
        warm_start: ArrayLike | None = None,
        position_tolerance: float | None = None,
        orientation_tolerance: float | None = None,
    ) -> tuple[Array, bool]:
        """Return a configuration (n,) and whether it brings a frame to the target.

        The warm start is tried first, then the default seeds, then points spread over the limits. Joints that do not
        move the frame stay as in the warm start.

        Args:
            frame_name: Frame to bring to the target.
            target_position: In the world (3,) [m].
            target_orientation: Quaternion wxyz (4,), of any norm; None leaves it free.
            warm_start: Configuration (n,) to start from; None uses the default one.
            position_tolerance: [m].
            orientation_tolerance: [rad].
        """
        start = self._configuration("warm_start", self.robot.default_q if warm_start is None else warm_start)
        chain = self.robot.chain(frame_name)
        columns = [self.robot.joint_names.index(name) for name in chain.joint_names]
        R = np.eye(3) if target_orientation is None else _rotation(target_orientation)
        position = np.asarray(target_position, float)
        if position.shape != (3,) or not np.all(np.isfinite(position)):
            raise InputError(f"target_position must have three finite values, got {target_position!r}")
        solver = self._solver(chain, target_orientation is None, position_tolerance, orientation_tolerance)
        T = invert_pose(self.T_world_base) @ make_pose(R, position)
        seeds = [np.clip(seed[columns], chain.lower, chain.upper) for seed in (start, *self._seeds)]
        # First only the warm start and the default seeds; then the warm start and points spread over the limits.
        alone = IkSolver(chain, replace(solver.options, max_seeds=1))
        result = alone.solve(T, seed=seeds[0])
        for seed in seeds[1:]:
            if not result.solved[0]:
                result = alone.solve(T, seed=seed)
        if not result.solved[0]:
            result = solver.solve(T, seed=seeds[0], rng_seed=self.sampling_seed)
        answer = start.copy()
        answer[columns] = result.q[0]
        return answer, bool(result.solved[0])

    def _solver(
        self, chain: Chain, free: bool, position_tolerance: float | None, orientation_tolerance: float | None
    ) -> IkSolver:
        options = IkOptions(
            orientation=Orientation.FREE if free else Orientation.FULL,
            position_tolerance=self._position_tolerance if position_tolerance is None else position_tolerance,
            rotation_tolerance=self._orientation_tolerance if orientation_tolerance is None else orientation_tolerance,
            max_seeds=self.max_num_descents,
            iterations=self.bfgs_max_iterations,
            threads=1,
        )
        return IkSolver(chain, options)

    def supports_collision_avoidance(self) -> bool:
        """Return False: obstacles are ignored."""
        return False

    # -- defaults and limits -------------------------------------------------------------------------------------

    def set_default_position_tolerance(self, tolerance: float) -> None:
        """Set the accepted distance [m]."""
        self._position_tolerance = float(tolerance)

    def get_default_position_tolerance(self) -> float:
        """Return the accepted distance [m]."""
        return self._position_tolerance

    def set_default_orientation_tolerance(self, tolerance: float) -> None:
        """Set the accepted angle [rad]."""
        self._orientation_tolerance = float(tolerance)

    def get_default_orientation_tolerance(self) -> float:
        """Return the accepted angle [rad]."""
        return self._orientation_tolerance

    def set_default_cspace_seeds(self, seeds: ArrayLike) -> None:
        """Set configurations (k, n) that are tried after the warm start."""
        rows = np.atleast_2d(np.asarray(seeds, float))
        if rows.shape[1:] != (self.robot.dof,):
            raise InputError(f"seeds must have {self.robot.dof} values each, got shape {rows.shape}")
        self._seeds = rows

    def get_default_cspace_seeds(self) -> Array:
        """Return the configurations (k, n) that are tried after the warm start."""
        return self._seeds.copy()

    def get_cspace_position_limits(self) -> tuple[Array, Array]:
        """Return lower and upper limits (n,), (n,) [rad or m]."""
        return self.robot.lower.copy(), self.robot.upper.copy()

    def get_cspace_velocity_limits(self) -> Array:
        """Return maximum speeds (n,) [rad/s or m/s]."""
        return self.robot.velocity.copy()

    def get_cspace_acceleration_limits(self) -> Array | None:
        """Return maximum accelerations (n,), None if the description has none."""
        return None if self.robot.acceleration is None else self.robot.acceleration.copy()

    def get_cspace_jerk_limits(self) -> Array | None:
        """Return maximum jerks (n,), None if the description has none."""
        return None if self.robot.jerk is None else self.robot.jerk.copy()

    def _configuration(self, name: str, values: ArrayLike) -> Array:
        q = np.array(values, float)
        if q.shape != (self.robot.dof,) or not np.all(np.isfinite(q)):
            raise InputError(f"{name} must have {self.robot.dof} finite values, got {values!r}")
        return q


class ArticulationKinematicsSolver:
    """Kinematics of a simulated robot: reads its current joints and returns actions.

    Args:
        robot_articulation: The robot.
        kinematics_solver: The solver.
        end_effector_frame_name: Frame that poses are for.
    """

    def __init__(
        self, robot_articulation: SingleArticulation, kinematics_solver: KinematicsSolver, end_effector_frame_name: str
    ) -> None:
        self._robot, self._solver, self._frame = robot_articulation, kinematics_solver, ""
        self.set_end_effector_frame(end_effector_frame_name)

    def compute_end_effector_pose(self, position_only: bool = False) -> tuple[Array | None, Array | None]:
        """Return position (3,) [m] and rotation (3, 3) in the world; (None, None) before the robot is initialised."""
        if not self._robot.handles_initialized:
            return None, None
        q = self._joints.get_joint_positions()
        return self._solver.compute_forward_kinematics(self._frame, q, position_only)

    def compute_inverse_kinematics(
        self,
        target_position: ArrayLike,
        target_orientation: ArrayLike | None = None,
        position_tolerance: float | None = None,
        orientation_tolerance: float | None = None,
    ) -> tuple[ArticulationAction | None, bool]:
        """Return an action with positions only, and whether it brings the end effector to the target."""
        if not self._robot.handles_initialized:
            return None, False
        q, success = self._solver.compute_inverse_kinematics(
            self._frame,
            target_position,
            target_orientation,
            self._joints.get_joint_positions(),
            position_tolerance,
            orientation_tolerance,
        )
        return self._joints.make_articulation_action(q, None), success

    def set_end_effector_frame(self, end_effector_frame_name: str) -> None:
        """Change the frame.

        Raises:
            InputError: There is no such frame; the message lists the existing ones.
        """
        known: Sequence[str] = self._solver.get_all_frame_names()
        if end_effector_frame_name not in known:
            raise InputError(str(unknown_name("frame", end_effector_frame_name, known)))
        self._frame = end_effector_frame_name

    def get_end_effector_frame(self) -> str:
        """Return the frame."""
        return self._frame

    @cached_property
    def _joints(self) -> ArticulationSubset:
        return ArticulationSubset(self._robot, self._solver.get_joint_names())

    def get_joints_subset(self) -> ArticulationSubset:
        """Return the robot's joints in the solver's order."""
        return self._joints

    def get_kinematics_solver(self) -> KinematicsSolver:
        """Return the solver."""
        return self._solver


def _rotation(quat: ArrayLike) -> Array:
    values = np.asarray(quat, float)
    if values.shape != (4,) or not np.linalg.norm(values) > 1e-9:
        raise InputError(f"an orientation must be a nonzero quaternion wxyz (4,), got {quat!r}")
    return matrix_from_quat(values / np.linalg.norm(values))

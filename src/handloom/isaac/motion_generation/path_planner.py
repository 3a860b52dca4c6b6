"""Path planners under their published names: the interface, RRT, and the conversion of plans to actions."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from handloom.arrays import Array
from handloom.config import Config, load_config
from handloom.errors import ConfigError, InputError, unknown_name
from handloom.isaac.articulation import SingleArticulation
from handloom.isaac.motion_generation.descriptions.motion_robot import load_motion_robot
from handloom.isaac.motion_generation.motion_policy import JointMover, RobotJoints
from handloom.isaac.motion_generation.published_log import LOGGER
from handloom.isaac.motion_generation.world_interface import KeptObstacle
from handloom.motion.kinematics import IkOptions, Orientation
from handloom.motion.planning import ArmPlanner, PlannerOptions, PlanResult
from handloom.spatial import invert_pose, make_pose, matrix_from_quat
from handloom.values import ArticulationAction


class PathPlanner(JointMover):
    """Published interface of a planner; the base class finds no path."""

    def compute_path(self, active_joint_positions: ArrayLike, watched_joint_positions: ArrayLike) -> Array | None:
        """Return configurations (m, n) connected by collision-free straight joint motions, or None."""
        del active_joint_positions, watched_joint_positions

    def set_end_effector_target(
        self, target_translation: ArrayLike | None = None, target_orientation: ArrayLike | None = None
    ) -> None:
        """Set a position (3,) [m] and a quaternion wxyz (4,) in the world as the target."""


class TaskSpacePlanningParams(Config):
    """Parameters of plans to a pose."""

    translation_target_zone_tolerance: float = 0.05
    orientation_target_zone_tolerance: float = 0.09
    translation_target_final_tolerance: float = 1e-4
    orientation_target_final_tolerance: float = 0.005
    translation_gradient_weight: float = 1.0
    orientation_gradient_weight: float = 0.125
    nn_translation_distance_weight: float = 1.0
    nn_orientation_distance_weight: float = 0.125
    task_space_exploitation_fraction: float = 0.4
    task_space_exploration_fraction: float = 0.1
    max_extension_substeps_away_from_target: int = 6
    max_extension_substeps_near_target: int = 50
    extension_substep_target_region_scale_factor: float = 2.0
    unexploited_nodes_culling_scalar: float = 1.0
    gradient_substep_size: float = 0.025


class CSpacePlanningParams(Config):
    """Parameters of plans to a configuration."""

    exploration_fraction: float = 0.5


class CudaTreeParams(Config):
    """Parameters of nearest-neighbour search on a GPU, which is not used here."""

    max_num_nodes: int = 10000
    max_buffer_size: int = 30
    num_nodes_cpu_gpu_crossover: int = 3000


class RrtFile(Config):
    """A published RRT parameter file."""

    seed: int = 123456
    step_size: float = 0.05
    """Distance between configurations of an interpolated path [rad or m]."""
    max_iterations: int = 10000
    max_sampling: int = 10000
    distance_metric_weights: list[float] | None = None
    task_space_frame_name: str | None = None
    task_space_limits: list[tuple[float, float]] | None = None
    enable_self_collision_checking: bool = True
    cuda_tree_params: CudaTreeParams = CudaTreeParams()
    c_space_planning_params: CSpacePlanningParams = CSpacePlanningParams()
    cspace_planning_params: CSpacePlanningParams = CSpacePlanningParams()
    task_space_planning_params: TaskSpacePlanningParams = TaskSpacePlanningParams()


ACTING = {
    "seed",
    "max_iterations",
    "step_size",
    "task_space_frame_name",
    "task_space_planning_params/translation_target_final_tolerance",
    "task_space_planning_params/orientation_target_final_tolerance",
}
"""Parameters that have an effect here. The others tune the published tree searches and are only stored: here goal
configurations are solved for first and connected by RRT-Connect, which finds more paths in less time."""


class RRT(PathPlanner):
    """Published planner: collision-free paths to configurations and poses; results repeat bit for bit.

    Args:
        robot_description_path: Lula robot description YAML or XRDF.
        urdf_path: URDF beside it.
        rrt_config_path: Parameters.
        end_effector_frame_name: Frame that pose targets are for.
    """

    def __init__(
        self,
        robot_description_path: str | Path,
        urdf_path: str | Path,
        rrt_config_path: str | Path,
        end_effector_frame_name: str,
    ) -> None:
        super().__init__()
        self.robot = load_motion_robot(robot_description_path, urdf_path)
        self._params = load_config(rrt_config_path, RrtFile)
        weights = self._params.distance_metric_weights
        if weights is not None and len(weights) != self.robot.dof:
            raise ConfigError(
                f"{rrt_config_path}: distance_metric_weights has {len(weights)} values for {self.robot.dof} joints"
            )
        if end_effector_frame_name not in self.robot.frame_names:
            raise unknown_name("end effector frame", end_effector_frame_name, self.robot.frame_names)
        self._frame = end_effector_frame_name
        self._target: Array | tuple[Array, Array | None] | None = None
        self._planners: dict[bool, ArmPlanner] = {}
        self._placed: dict[bool, dict[str, KeptObstacle]] = {}
        self.last_result: PlanResult | None = None
        """Result of the last ``compute_path``, with the reason if there is no path."""

    def get_active_joints(self) -> list[str]:
        """Return the planned joints, in order."""
        return list(self.robot.joint_names)

    def set_cspace_target(self, active_joint_targets: ArrayLike) -> None:
        """Set a configuration (n,) as the target; replaces a pose target."""
        q = np.array(active_joint_targets, float)
        if q.shape != (self.robot.dof,) or not np.all(np.isfinite(q)):
            raise InputError(
                f"active_joint_targets must have {self.robot.dof} finite values, got {active_joint_targets!r}"
            )
        self._target = q

    def set_end_effector_target(
        self, target_translation: ArrayLike | None = None, target_orientation: ArrayLike | None = None
    ) -> None:
        """Set a position and, if given, an orientation as the target; replaces a configuration target."""
        if target_translation is None:
            if target_orientation is not None:
                raise InputError("a target needs a position; an orientation alone is not enough")
            self._target = None
            return
        p = np.asarray(target_translation, float)
        if p.shape != (3,) or not np.all(np.isfinite(p)):
            raise InputError(f"target_translation must have three finite values, got {target_translation!r}")
        R = None
        if target_orientation is not None:
            quat = np.asarray(target_orientation, float)
            if quat.shape != (4,) or not np.linalg.norm(quat) > 1e-9:
                raise InputError(f"target_orientation must be a quaternion wxyz, got {target_orientation!r}")
            R = matrix_from_quat(quat / np.linalg.norm(quat))
        self._target = (p, R)

    def set_max_iterations(self, max_iter: int) -> None:
        """Set the number of samples that a search may draw."""
        if not self.set_param("max_iterations", max_iter):
            raise InputError(f"max_iterations must be a positive integer, got {max_iter!r}")

    def set_random_seed(self, random_seed: int) -> None:
        """Set the seed of the samples."""
        if not self.set_param("seed", random_seed):
            raise InputError(f"a seed must be a positive integer, got {random_seed!r}")

    def set_param(self, param_name: str, value: Any) -> bool:
        """Set a parameter, ``group/name`` inside a group; return False, with no change, if either is invalid."""
        group, _, name = param_name.rpartition("/")
        owner: Any = getattr(self._params, group, None) if group else self._params
        if not isinstance(owner, Config) or name not in type(owner).model_fields:
            return False
        if isinstance(value, bool) != isinstance(getattr(owner, name), bool) or not _valid(name, value, self.robot.dof):
            return False
        changed = {**owner.model_dump(), name: value}
        fractions = ("task_space_exploitation_fraction", "task_space_exploration_fraction")
        if name in fractions and sum(changed[key] for key in fractions) > 1:
            return False
        if name == "task_space_frame_name":
            if value not in self.robot.frame_names:
                return False
            self._frame = value
        try:
            new: Any = type(owner).model_validate(changed)
        except ValueError:
            return False
        self._params = self._params.model_copy(update={group: new}) if group else new
        if param_name in ACTING:
            self._planners.clear()
        else:
            LOGGER.info("%s is stored but has no effect: goals are computed first, then connected", param_name)
        return True

    def compute_path(self, active_joint_positions: ArrayLike, watched_joint_positions: ArrayLike = ()) -> Array | None:
        """Return configurations (m, n) to the target, connected by collision-free straight motions, or None.

        ``last_result`` has the reason if there is no path.
        """
        del watched_joint_positions
        q = np.asarray(active_joint_positions, float)
        if q.shape != (self.robot.dof,) or not np.all(np.isfinite(q)):
            raise InputError(
                f"active_joint_positions must have {self.robot.dof} finite values, got {active_joint_positions!r}"
            )
        if self._target is None:
            raise InputError("there is no target; call set_cspace_target or set_end_effector_target")
        free = isinstance(self._target, tuple) and self._target[1] is None
        planner = self._planner(free)
        self._place(planner, free)
        if isinstance(self._target, tuple):
            p, R = self._target
            T = invert_pose(self._T_world_base) @ make_pose(np.eye(3) if R is None else R, p)
            result = planner.plan_to_poses(self._to_planner(planner, q), T)
        else:
            result = planner.plan_to_joints(self._to_planner(planner, q), self._to_planner(planner, self._target))
        self.last_result = result
        if not result.ok:
            LOGGER.warning("no path: %s", result.reason)
            return None
        full = np.tile(q, (len(result.path), 1))
        full[:, [self.robot.joint_names.index(name) for name in planner.joint_names]] = result.path
        return full

    def interpolated_path(self, path: Array) -> Array:
        """Return a path with configurations every ``step_size`` [rad or m] on each straight motion."""
        return interpolate(path, self._params.step_size, norm=2)

    def _to_planner(self, planner: ArmPlanner, q: Array) -> Array:
        return q[[self.robot.joint_names.index(name) for name in planner.joint_names]]

    def _planner(self, free: bool) -> ArmPlanner:
        """Return the planner for targets without, or with, orientation."""
        if free not in self._planners:
            params = self._params.task_space_planning_params
            ik = IkOptions(
                orientation=Orientation.FREE if free else Orientation.FULL,
                position_tolerance=params.translation_target_final_tolerance,
                rotation_tolerance=params.orientation_target_final_tolerance,
                max_seeds=64,
                threads=1,
            )
            options = PlannerOptions(
                ik=ik,
                iterations=self._params.max_iterations,
                seed=self._params.seed,
                sphere_tolerance=1e-4,
                padding=0.002,
            )
            model, chain = self.robot.model, self.robot.chain(self._frame)
            self._planners[free] = ArmPlanner(model, chain, options=options)
            self._placed[free] = {}
        return self._planners[free]

    def _place(self, planner: ArmPlanner, free: bool) -> None:
        """Copy the obstacles of this world to a planner."""
        wanted = {f"{kept.obstacle.name}#{key}": kept for key, kept in self._kept.items()}
        placed = self._placed[free]
        for name in [name for name in placed if name not in wanted]:
            planner.world.remove(name)
            del placed[name]
        for name, kept in wanted.items():
            if name not in placed:
                a, b, _ = kept.size
                if kept.kind == "cuboid":
                    planner.world.add_box(name, kept.size, kept.T_base)
                elif kept.kind == "sphere":
                    planner.world.add_sphere(name, a, kept.T_base[:3, 3])
                else:
                    planner.world.add_capsule(name, a, b, kept.T_base)
                placed[name] = kept
            planner.world.move(name, kept.T_base)
            planner.world.enable(name, kept.enabled)


def _valid(name: str, value: Any, dof: int) -> bool:
    """Return whether a value makes sense for a parameter."""
    if isinstance(value, bool | str):
        return True
    if name == "distance_metric_weights":
        return len(value) == dof and all(weight > 0 for weight in value)
    if name == "task_space_limits":
        return np.shape(value) == (3, 2) and all(low < high for low, high in value)
    if not isinstance(value, int | float) or not np.isfinite(value):
        return False
    if name.endswith("fraction"):
        return 0 <= value <= 1
    least = {"extension_substep_target_region_scale_factor": 1.0, "unexploited_nodes_culling_scalar": 0.0}
    return value >= least[name] if name in least else value > 0


def interpolate(path: ArrayLike, distance: float, *, norm: float = np.inf) -> Array:
    """Return a path (m, n) with ``ceil(length / distance)`` points per motion and its last configuration."""
    points = np.asarray(path, float)
    if not distance > 0:
        raise InputError(f"a distance between configurations must be positive, got {distance}")
    rows = []
    for a, b in pairwise(points):
        count = int(np.ceil(np.linalg.norm(b - a, norm) / distance - 1e-12))
        rows.append(a + (np.arange(count) / max(count, 1))[:, None] * (b - a))
    return np.concatenate([*rows, points[-1:]])


class PathPlannerVisualizer(RobotJoints):
    """Plans for a simulated robot, returned as actions.

    Args:
        robot_articulation: The robot.
        path_planner: The planner.
    """

    def __init__(self, robot_articulation: SingleArticulation, path_planner: PathPlanner) -> None:
        super().__init__(robot_articulation, path_planner)
        self._planner = path_planner

    def compute_plan_as_articulation_actions(self, max_cspace_dist: float = 0.05) -> list[ArticulationAction]:
        """Return a plan from the robot's current position as actions; empty if there is none.

        Args:
            max_cspace_dist: Largest joint motion from one action to the next [rad or m].
        """
        watched = np.empty(0) if self._watched is None else self._watched.get_joint_positions()
        path = self._planner.compute_path(self._active.get_joint_positions(), watched)
        if path is None:
            return []
        return [self._active.make_articulation_action(q, None) for q in self.interpolate_path(path, max_cspace_dist)]

    def interpolate_path(self, path: ArrayLike, max_cspace_dist: float = 0.05) -> Array:
        """Return a path with more configurations, with no joint motion longer than a distance between two."""
        return interpolate(path, max_cspace_dist)

    def get_path_planner(self) -> PathPlanner:
        """Return the planner."""
        return self._planner

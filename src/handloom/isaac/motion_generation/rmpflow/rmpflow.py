"""RMPflow: a policy that reaches for a pose and keeps away from obstacles at every step."""

import math
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from handloom.arrays import Array
from handloom.config import Config, load_config
from handloom.errors import ConfigError, InputError, unknown_name
from handloom.isaac.articulation import SingleArticulation
from handloom.isaac.motion_generation.descriptions.motion_robot import load_motion_robot
from handloom.isaac.motion_generation.descriptions.supported_robots import (
    load_supported_motion_policy_config,
    robot_like,
)
from handloom.isaac.motion_generation.kinematics_solver import LulaKinematicsSolver
from handloom.isaac.motion_generation.motion_policy import (
    ArticulationMotionPolicy,
    MotionPolicy,
    MotionPolicyController,
)
from handloom.isaac.motion_generation.rmpflow.rmpflow_config import RmpFlowFile
from handloom.isaac.motion_generation.rmpflow.rmpflow_kernels import (
    Policy,
    PolicyGoal,
    accelerate,
    nearest_gap,
    roll_out,
)
from handloom.isaac.motion_generation.rmpflow.rmpflow_layout import bodies_of, constant_parts
from handloom.isaac.motion_generation.rmpflow.rmpflow_space import Bodies, make_state
from handloom.isaac.motion_generation.rmpflow.rmpflow_targets import RmpFlowTargets, finite_vector
from handloom.isaac.motion_generation.rmpflow.rmpflow_visuals import RmpFlowVisuals
from handloom.spatial import invert_pose


class RmpFlow(RmpFlowTargets, RmpFlowVisuals, MotionPolicy):
    """Published policy, from the robot's description files and a parameter file.

    Args:
        robot_description_path: Lula robot description YAML or XRDF.
        urdf_path: URDF beside it.
        rmpflow_config_path: Parameters of the leaves.
        end_effector_frame_name: Frame that targets are for.
        maximum_substep_size: Longest integration step [s].
        ignore_robot_state_updates: Roll out the policy's own state instead of starting from the robot's each time.
    """

    def __init__(
        self,
        robot_description_path: str | Path,
        urdf_path: str | Path,
        rmpflow_config_path: str | Path,
        end_effector_frame_name: str,
        maximum_substep_size: float,
        ignore_robot_state_updates: bool = False,
    ) -> None:
        super().__init__()
        if not maximum_substep_size > 0:
            raise InputError(f"maximum_substep_size must be a positive number of seconds, got {maximum_substep_size}")
        self.robot = load_motion_robot(robot_description_path, urdf_path)
        """Kinematics, limits, spheres."""
        self._files = (robot_description_path, urdf_path)
        self._params = load_config(rmpflow_config_path, RmpFlowFile)
        if end_effector_frame_name not in self.robot.frame_names:
            raise unknown_name("end effector frame", end_effector_frame_name, self.robot.frame_names)
        self.end_effector_frame, self.maximum_substep_size = end_effector_frame_name, float(maximum_substep_size)
        self._ignore_state = ignore_robot_state_updates
        self._state: tuple[Array, Array] | None = None
        self._targets = {end_effector_frame_name: (None, None)}
        self._q_target = self.robot.default_q.copy()
        self._constant = constant_parts(self.robot, self._params, str(rmpflow_config_path))
        self._seen: tuple[int, Bodies] | None = None

    # -- targets -------------------------------------------------------------------------------------------------

    def set_end_effector_target(
        self, target_position: ArrayLike | None = None, target_orientation: ArrayLike | None = None
    ) -> None:
        """Pull the end effector to a position (3,) [m] and a quaternion wxyz (4,) in the world; None releases it."""
        self.set_pose_target(self.end_effector_frame, target_position, target_orientation)

    def set_cspace_target(self, active_joint_targets: ArrayLike) -> None:
        """Pull the joints to a configuration (n,); it never overrides an end effector target."""
        self._q_target = finite_vector("active_joint_targets", active_joint_targets, self.robot.dof)

    def reset(self) -> None:
        """Clear obstacles, targets and the policy's own state; target frames stay."""
        super().reset()
        self._targets = dict.fromkeys(self._targets, (None, None))
        self._q_target, self._state = self.robot.default_q.copy(), None

    # -- the policy ----------------------------------------------------------------------------------------------

    def compute_joint_targets(
        self,
        active_joint_positions: ArrayLike,
        active_joint_velocities: ArrayLike,
        watched_joint_positions: ArrayLike,
        watched_joint_velocities: ArrayLike,
        frame_duration: float,
    ) -> tuple[Array, Array]:
        """Return position and velocity targets (n,) after ``frame_duration`` [s]; see :class:`MotionPolicy`."""
        del watched_joint_positions, watched_joint_velocities
        if not (np.isfinite(frame_duration) and frame_duration >= 0):
            raise InputError(f"frame_duration must be a number of seconds >= 0, got {frame_duration}")
        if self._state is None or not self._ignore_state:
            q = finite_vector("active_joint_positions", active_joint_positions, self.robot.dof)
            qd = finite_vector("active_joint_velocities", active_joint_velocities, self.robot.dof)
        else:
            q, qd = self._state
        q, qd = q.copy(), qd.copy()
        self._integrate(q, qd, float(frame_duration))
        self._state = (q, qd)
        self._place_visuals()
        return q.copy(), qd.copy()

    def acceleration(self, q: ArrayLike, qd: ArrayLike) -> tuple[Array, Array, Array]:
        """Return acceleration (n,), metric (n, n) and force (n,) of the root at a state."""
        s, a = make_state(self.robot.dof), np.empty(self.robot.dof)
        at, speed = (finite_vector(name, value, self.robot.dof) for name, value in (("q", q), ("qd", qd)))
        accelerate(self._policy(), at, speed, s, a)
        return a, s.M, s.f

    def _integrate(self, q: Array, qd: Array, duration: float) -> None:
        count = math.ceil(duration / self.maximum_substep_size - 1e-9)
        if count > 0:
            roll_out(self._policy(), q, qd, duration / count, count)

    def _policy(self) -> Policy:
        links, spheres, controllers, base, leaves = self._constant
        return Policy(links, spheres, self._bodies(), controllers, base, self._goal(), leaves)

    def _goal(self) -> PolicyGoal:
        T_base_world, frames = invert_pose(self._T_world_base), self._links_of_frames
        places, turns, found = [], [], list(self._targets.values())
        for position, R in found:
            places.append(np.zeros(3) if position is None else T_base_world[:3, :3] @ position + T_base_world[:3, 3])
            turns.append(np.eye(3) if R is None else T_base_world[:3, :3] @ R)
        return PolicyGoal(
            np.array([frames[name][0] for name in self._targets], dtype=np.int64),
            np.array([frames[name][1] for name in self._targets]),
            np.array(places),
            np.array(turns),
            np.array([position is not None for position, _ in found]),
            np.array([R is not None for _, R in found]),
            self._q_target,
        )

    @property
    def _links_of_frames(self) -> dict[str, tuple[int, Array]]:
        if not hasattr(self, "_frames"):
            tree, model = self.robot.tree(), self.robot.model
            self._frames = {
                model.body(b).name: (int(tree.body_link[b]), np.ascontiguousarray(tree.T_link_body[b]))
                for b in range(model.nbody)
            }
        return self._frames

    def _bodies(self) -> Bodies:
        if self._seen is None or self._seen[0] != self.world_version:
            self._seen = (self.world_version, bodies_of([kept for kept in self.obstacles if kept.enabled]))
        return self._seen[1]

    # -- published extras ----------------------------------------------------------------------------------------

    def get_active_joints(self) -> list[str]:
        """Return the planned joints, in the order of configurations."""
        return list(self.robot.joint_names)

    def set_ignore_state_updates(self, ignore_robot_state_updates: bool = True) -> None:
        """Choose whether to roll out the policy's own state or to start from the robot's each time."""
        self._ignore_state = bool(ignore_robot_state_updates)

    def set_internal_robot_joint_states(
        self,
        active_joint_positions: ArrayLike,
        active_joint_velocities: ArrayLike,
        watched_joint_positions: ArrayLike = (),
        watched_joint_velocities: ArrayLike = (),
    ) -> None:
        """Set the policy's own state."""
        del watched_joint_positions, watched_joint_velocities
        n = self.robot.dof
        self._state = (
            finite_vector("positions", active_joint_positions, n),
            finite_vector("velocities", active_joint_velocities, n),
        )

    def get_internal_robot_joint_states(self) -> tuple[Array, Array, Array, Array]:
        """Return positions and velocities of the active joints (n,) and of the watched joints (0,)."""
        q, qd = self._state or (self.robot.default_q, np.zeros(self.robot.dof))
        return q.copy(), qd.copy(), np.empty(0), np.empty(0)

    def get_default_cspace_position_target(self) -> Array:
        """Return the configuration of the description file (n,)."""
        return self.robot.default_q.copy()

    def get_end_effector_pose(self, active_joint_positions: ArrayLike) -> tuple[Array, Array]:
        """Return position (3,) [m] and rotation (3, 3) of the end effector in the world."""
        q = finite_vector("active_joint_positions", active_joint_positions, self.robot.dof)
        T = self._T_world_base @ self.robot.T_base_frame(q, self.end_effector_frame)
        return T[:3, 3].copy(), T[:3, :3].copy()

    def get_kinematics_solver(self) -> LulaKinematicsSolver:
        """Return a kinematics solver for the same robot with the same base pose."""
        solver = LulaKinematicsSolver(*self._files)
        solver.T_world_base = self._T_world_base
        return solver

    @property
    def T_world_base(self) -> Array:  # noqa: N802 - frame notation
        """Pose of the robot's base (4, 4)."""
        return self._T_world_base

    def smallest_gap(self, active_joint_positions: ArrayLike) -> float:
        """Return the smallest distance between the moving spheres and an obstacle [m]; negative means contact."""
        q = finite_vector("active_joint_positions", active_joint_positions, self.robot.dof)
        _, spheres, *_ = self._constant
        return float(nearest_gap(self._constant[0], spheres, self._bodies(), q))

    def collision_spheres(self, active_joint_positions: ArrayLike) -> tuple[Array, Array]:
        """Return centres (k, 3) in the world and radii (k,) [m] of the spheres that keep away from obstacles."""
        q = finite_vector("active_joint_positions", active_joint_positions, self.robot.dof)
        centers, radii = [], []
        frames = self.robot.T_base_frames(q, self.robot.spheres)
        for rows, T_base_link in zip(self.robot.spheres.values(), frames, strict=True):
            T = self._T_world_base @ T_base_link
            centers.append(rows[:, :3] @ T[:3, :3].T + T[:3, 3])
            radii.append(rows[:, 3])
        return np.concatenate(centers), np.concatenate(radii)


class RmpFlowSmoothed(RmpFlow):
    """RMPflow that lowers its speed scale when its acceleration would jump: ``a = s^2 policy(q, qd / s)``."""

    JUMP, LARGEST_CHANGE = 10.0, 7.0
    SLOW, RECOVERY = 0.2, 0.015
    PAUSE = 0.5
    """Shortest time between two drops of the speed scale [s], counted in policy time so that results repeat."""

    def _integrate(self, q: Array, qd: Array, duration: float) -> None:
        count = math.ceil(duration / self.maximum_substep_size - 1e-9)
        policy, s, a = self._policy(), make_state(len(q)), np.empty(len(q))
        last: Array = getattr(self, "_last", np.zeros(len(q)))
        scale, waited = getattr(self, "_scale", (1.0, self.PAUSE))
        for _ in range(count):
            step = duration / count
            accelerate(policy, q, qd / scale, s, a)
            change = scale**2 * a - last
            size = float(np.linalg.norm(change))
            if size > self.JUMP and waited >= self.PAUSE:
                scale, waited = self.SLOW, 0.0
            if size > self.LARGEST_CHANGE:
                change *= self.LARGEST_CHANGE / size
            last = last + change
            q += step * qd
            qd += step * last
            scale, waited = (1.0 - self.RECOVERY) * scale + self.RECOVERY, waited + step
        self._last, self._scale = last, (scale, waited)


class RMPFlowController(MotionPolicyController):
    """A controller that drives a robot with RMPflow.

    Args:
        name: Its name.
        robot_articulation: The robot.
        physics_dt: Time between calls of ``forward`` [s].
        policy: The policy, see ``load_motion_policy`` and :class:`RmpFlow`; the default is that of the built-in robot
            with the same joints in the same arrangement.

    Raises:
        InputError: No policy was given, and no built-in robot has these joints.
    """

    def __init__(
        self,
        name: str,
        robot_articulation: SingleArticulation,
        physics_dt: float = 1 / 60,
        *,
        policy: RmpFlow | None = None,
    ) -> None:
        policy = policy or _shipped_policy(robot_articulation)
        super().__init__(name, ArticulationMotionPolicy(robot_articulation, policy, physics_dt))
        self._policy.set_robot_base_pose(*robot_articulation.get_world_pose())

    def reset(self) -> None:
        """Clear obstacles and targets, and set the base pose again."""
        super().reset()
        self._policy.set_robot_base_pose(*self._driver.get_robot_articulation().get_world_pose())


def _shipped_policy(robot: SingleArticulation) -> RmpFlow:
    found = robot_like(robot.world.model, robot.dof_names)
    config = None if found is None else load_supported_motion_policy_config(found)
    if config is None:
        raise InputError(
            f"no built-in robot has the joints {', '.join(robot.dof_names)} in this arrangement; "
            "give policy=RmpFlow(...), with files that `handloom robot describe` writes"
        )
    return RmpFlow(**config)


class PolicyPaths(Config):
    """Files beside a ``config.json``."""

    robot_description_path: str
    urdf_path: str
    rmpflow_config_path: str


class PolicyFile(Config):
    """A published ``config.json`` of an RMPflow policy."""

    end_effector_frame_name: str
    maximum_substep_size: float
    ignore_robot_state_updates: bool = False
    relative_asset_paths: PolicyPaths


def load_motion_policy(config: str | Path) -> RmpFlow:
    """Return the policy of a published ``config.json``; its files are searched at the given paths, then beside it.

    Raises:
        ConfigError: A key is invalid or a file does not exist; the message has the file, the line and the searched
            locations.
    """
    folder, given = Path(config).parent, load_config(config, PolicyFile)
    files: list[Path] = []
    for key, name in given.relative_asset_paths:
        places = [folder / name, folder / Path(name).name]
        found = next((place for place in places if place.is_file()), None)
        if found is None:
            looked = " and ".join(str(place) for place in places)
            raise ConfigError(f"{config}: relative_asset_paths.{key}: no such file; searched {looked}")
        files.append(found)
    description, urdf, parameters = files
    frame, substep = given.end_effector_frame_name, given.maximum_substep_size
    return RmpFlow(description, urdf, parameters, frame, substep, given.ignore_robot_state_updates)

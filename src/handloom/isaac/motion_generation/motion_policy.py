"""Motion policies, which compute joint targets at every physics step: the interface, and the adapter to a robot."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.isaac.articulation import ArticulationSubset, SingleArticulation
from handloom.isaac.motion_generation.world_interface import MotionObstacle, WorldInterface
from handloom.values import ArticulationAction


class JointMover(WorldInterface):
    """Common interface of policies and planners: joints that they move, and a target; the base class moves none."""

    def get_active_joints(self) -> list[str]:
        """Return the names of the joints that are moved, in order."""
        return []

    def get_watched_joints(self) -> list[str]:
        """Return the joints that are read but not moved."""
        return []

    def set_cspace_target(self, active_joint_targets: ArrayLike) -> None:
        """Set a configuration (n,) as the target of the joints."""


class RobotJoints:
    """The joints of a robot that a policy or a planner moves, and those it only reads.

    Args:
        robot_articulation: The robot; it may be initialised later.
        mover: Names its joints: ``get_active_joints`` and ``get_watched_joints``.
    """

    def __init__(self, robot_articulation: SingleArticulation, mover: JointMover) -> None:
        self._robot = robot_articulation
        self._active = ArticulationSubset(robot_articulation, mover.get_active_joints())
        watched = mover.get_watched_joints()
        self._watched = ArticulationSubset(robot_articulation, watched) if watched else None

    def get_active_joints_subset(self) -> ArticulationSubset:
        """Return the joints that are moved."""
        return self._active

    def get_watched_joints_subset(self) -> ArticulationSubset | None:
        """Return the joints that are read; None if there are none."""
        return self._watched

    def get_robot_articulation(self) -> SingleArticulation:
        """Return the robot."""
        return self._robot


class MotionPolicy(JointMover):
    """Published interface of a policy; the base class stays at its current position."""

    def compute_joint_targets(
        self,
        active_joint_positions: ArrayLike,
        active_joint_velocities: ArrayLike,
        watched_joint_positions: ArrayLike,
        watched_joint_velocities: ArrayLike,
        frame_duration: float,
    ) -> tuple[Array, Array]:
        """Return position and velocity targets (n,) of the active joints for the next frame.

        Args:
            active_joint_positions: (n,) [rad or m], in the order of ``get_active_joints``.
            active_joint_velocities: (n,) [rad/s or m/s].
            watched_joint_positions: Of ``get_watched_joints``.
            watched_joint_velocities: Of ``get_watched_joints``.
            frame_duration: Time until the next call [s].
        """
        del active_joint_velocities, watched_joint_positions, watched_joint_velocities, frame_duration
        q = np.array(active_joint_positions, float)
        return q, np.zeros_like(q)

    def set_end_effector_target(
        self, target_position: ArrayLike | None = None, target_orientation: ArrayLike | None = None
    ) -> None:
        """Pull the end effector to a position (3,) [m] and a quaternion wxyz (4,) in the world; None releases it."""


class ArticulationMotionPolicy(RobotJoints):
    """Maps a policy's joints to a robot's.

    Args:
        robot_articulation: The robot; it may be initialised later.
        motion_policy: The policy.
        default_physics_dt: Default time between calls [s].
    """

    def __init__(
        self, robot_articulation: SingleArticulation, motion_policy: MotionPolicy, default_physics_dt: float = 1 / 60
    ) -> None:
        super().__init__(robot_articulation, motion_policy)
        self.motion_policy = motion_policy
        self.physics_dt = default_physics_dt

    def move(self, physics_dt: float | None = None) -> None:
        """Compute the next action and apply it."""
        self._robot.apply_action(self.get_next_articulation_action(physics_dt))

    def get_next_articulation_action(self, physics_dt: float | None = None) -> ArticulationAction:
        """Return the next action for the robot; other joints keep their targets."""
        step = self.physics_dt if physics_dt is None else physics_dt
        q, qd = self._active.get_joint_positions(), self._active.get_joint_velocities()
        seen = (np.empty(0), np.empty(0))
        if self._watched is not None:
            seen = self._watched.get_joint_positions(), self._watched.get_joint_velocities()
        targets = self.motion_policy.compute_joint_targets(q, qd, *seen, step)
        return self._active.make_articulation_action(*targets)

    def get_motion_policy(self) -> MotionPolicy:
        """Return the policy."""
        return self.motion_policy

    def get_default_physics_dt(self) -> float:
        """Return the default time between calls [s]."""
        return self.physics_dt

    def set_default_physics_dt(self, physics_dt: float) -> None:
        """Change the default time between calls [s]."""
        if not physics_dt > 0:
            raise InputError(f"physics_dt must be a positive number of seconds, got {physics_dt}")
        self.physics_dt = physics_dt


class MotionPolicyController:
    """A policy as a controller: ``forward`` takes a target and returns an action."""

    def __init__(self, name: str, articulation_motion_policy: ArticulationMotionPolicy) -> None:
        self.name, self._driver = name, articulation_motion_policy
        self._policy = articulation_motion_policy.get_motion_policy()

    def forward(
        self, target_end_effector_position: ArrayLike, target_end_effector_orientation: ArrayLike | None = None
    ) -> ArticulationAction:
        """Set the target in the world, update the obstacles, and return the next action."""
        self._policy.set_end_effector_target(target_end_effector_position, target_end_effector_orientation)
        self._policy.update_world()
        return self._driver.get_next_articulation_action()

    def add_obstacle(self, obstacle: MotionObstacle, static: bool = False) -> None:
        """Add an obstacle to the policy's world."""
        self._policy.add_obstacle(obstacle, static)

    def remove_obstacle(self, obstacle: MotionObstacle) -> None:
        """Remove an obstacle from the policy's world."""
        self._policy.remove_obstacle(obstacle)

    def reset(self) -> None:
        """Forget all obstacles and targets."""
        self._policy.reset()

    def get_articulation_motion_policy(self) -> ArticulationMotionPolicy:
        """Return the articulation policy that drives the robot."""
        return self._driver

    def get_motion_policy(self) -> Any:
        """Return the policy."""
        return self._policy

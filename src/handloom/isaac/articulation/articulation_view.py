"""Several robots of the same kind; every array has one row per robot."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.isaac.articulation.joint_drives import JointDrives
from handloom.isaac.articulation.single_articulation import SingleArticulation
from handloom.values import ArticulationAction, ArticulationActions

Rows = Sequence[int] | NDArray[Any] | None
"""Indices of robots; None means all."""


class ArticulationView:
    """A view of robots that have the same joints; ``indices`` (m,) selects robots, ``joint_indices`` (k,) joints.

    Args:
        robots: The robots, each in a world; they may share one.
        name: Name of the view.
    """

    def __init__(self, robots: Sequence[SingleArticulation], name: str = "articulation_view") -> None:
        if not robots:
            raise InputError(f"view {name!r} needs at least one robot")
        self.robots = tuple(robots)
        self.name = name

    def initialize(self, physics_sim_view: object = None) -> None:
        """Initialize the robots where needed, and check that all have the same joints.

        Args:
            physics_sim_view: No effect; accepted for ported code.
        """
        del physics_sim_view
        for robot in self.robots:
            if not robot.handles_initialized:
                robot.initialize()
        for robot in self.robots[1:]:
            if robot.dof_names != self.dof_names:
                raise InputError(
                    f"view {self.name!r}: {robot.name!r} has joints {', '.join(robot.dof_names)}, "
                    f"{self.robots[0].name!r} has {', '.join(self.dof_names)}"
                )

    @property
    def count(self) -> int:
        """Number of robots."""
        return len(self.robots)

    @property
    def num_dof(self) -> int:
        """Number of joints of each robot."""
        return self.robots[0].num_dof

    @property
    def dof_names(self) -> tuple[str, ...]:
        """Joints of each robot."""
        return self.robots[0].dof_names

    @property
    def drives(self) -> JointDrives:
        """The drives of the only robot; an ``ArticulationController`` may be bound to a view of one robot."""
        if self.count != 1:
            raise InputError(f"view {self.name!r} has {self.count} robots; a controller drives one")
        return self.robots[0].drives

    def get_dof_index(self, dof_name: str) -> int:
        """Return the index of a joint."""
        return self.robots[0].get_dof_index(dof_name)

    def get_joint_positions(self, indices: Rows = None, joint_indices: Rows = None) -> Array:
        """Return positions (m, k) [rad or m]."""
        return self._stack(indices, lambda robot: robot.get_joint_positions(joint_indices))

    def get_joint_velocities(self, indices: Rows = None, joint_indices: Rows = None) -> Array:
        """Return velocities (m, k) [rad/s or m/s]."""
        return self._stack(indices, lambda robot: robot.get_joint_velocities(joint_indices))

    def get_measured_joint_efforts(self, indices: Rows = None, joint_indices: Rows = None) -> Array:
        """Return the efforts that the joints transmit along their axes (m, k) [N m or N]."""
        return self._stack(indices, lambda robot: robot.get_measured_joint_efforts(joint_indices))

    def get_world_poses(self, indices: Rows = None) -> tuple[Array, Array]:
        """Return positions (m, 3) [m] and orientations wxyz (m, 4) of the bases."""
        poses = [robot.get_world_pose() for robot in self._chosen(indices)]
        return np.array([pose[0] for pose in poses]), np.array([pose[1] for pose in poses])

    def set_joint_positions(self, positions: Any, indices: Rows = None, joint_indices: Rows = None) -> None:
        """Set joint positions immediately (m, k) [rad or m]."""
        for robot, row in self._rows("positions", positions, indices):
            robot.set_joint_positions(row, joint_indices)

    def set_joint_velocities(self, velocities: Any, indices: Rows = None, joint_indices: Rows = None) -> None:
        """Set joint velocities immediately (m, k) [rad/s or m/s]."""
        for robot, row in self._rows("velocities", velocities, indices):
            robot.set_joint_velocities(row, joint_indices)

    def set_joint_efforts(self, efforts: Any, indices: Rows = None, joint_indices: Rows = None) -> None:
        """Add efforts to the drives (m, k) [N m or N]."""
        for robot, row in self._rows("efforts", efforts, indices):
            robot.set_joint_efforts(row, joint_indices)

    def set_joint_position_targets(self, positions: Any, indices: Rows = None, joint_indices: Rows = None) -> None:
        """Command positions (m, k) [rad or m]."""
        self.apply_action(ArticulationActions(np.asarray(positions, float), joint_indices=joint_indices), indices)

    def set_joint_velocity_targets(self, velocities: Any, indices: Rows = None, joint_indices: Rows = None) -> None:
        """Command velocities (m, k) [rad/s or m/s]."""
        velocities = np.asarray(velocities, float)
        self.apply_action(ArticulationActions(joint_velocities=velocities, joint_indices=joint_indices), indices)

    def apply_action(self, control_actions: ArticulationActions, indices: Rows = None) -> None:
        """Write targets, one row per robot (m, k); NaN keeps the target in force.

        Raises:
            InputError: A robot rejected its row; earlier robots have already received theirs.
        """
        joints = control_actions.joint_indices
        if control_actions.joint_names is not None:
            joints = [self.get_dof_index(name) for name in control_actions.joint_names]
        channels = [
            None if values is None else self._rows(name, values, indices)
            for name, values in (
                ("joint_positions", control_actions.joint_positions),
                ("joint_velocities", control_actions.joint_velocities),
                ("joint_efforts", control_actions.joint_efforts),
            )
        ]
        for row, robot in enumerate(self._chosen(indices)):
            values = [None if channel is None else channel[row][1] for channel in channels]
            robot.apply_action(ArticulationAction(*values, joint_indices=joints))

    def get_applied_actions(self) -> ArticulationActions | None:
        """Return the targets in force, each (m, n); None after a stop."""
        actions = [action for robot in self.robots if (action := robot.get_applied_action()) is not None]
        if len(actions) != self.count:
            return None
        positions, velocities, efforts = (
            np.array([getattr(action, channel) for action in actions])
            for channel in ("joint_positions", "joint_velocities", "joint_efforts")
        )
        return ArticulationActions(positions, velocities, efforts)

    def set_gains(
        self,
        kps: Any = None,
        kds: Any = None,
        indices: Rows = None,
        joint_indices: Rows = None,
        save_to_usd: bool = False,
    ) -> None:
        """Set stiffness and damping (m, k); None keeps them."""
        stiffness = None if kps is None else self._rows("kps", kps, indices)
        damping = None if kds is None else self._rows("kds", kds, indices)
        for row, robot in enumerate(self._chosen(indices)):
            robot.get_articulation_controller().set_gains(
                None if stiffness is None else stiffness[row][1],
                None if damping is None else damping[row][1],
                save_to_usd,
                joint_indices=joint_indices,
            )

    def get_gains(self, indices: Rows = None) -> tuple[Array, Array]:
        """Return stiffness and damping, each (m, n)."""
        gains = [robot.get_articulation_controller().get_gains() for robot in self._chosen(indices)]
        return np.array([kps for kps, _ in gains]), np.array([kds for _, kds in gains])

    def switch_control_mode(self, mode: str, indices: Rows = None) -> None:
        """Switch all joints to "position", "velocity" or "effort"."""
        for robot in self._chosen(indices):
            robot.get_articulation_controller().switch_control_mode(mode)

    def post_reset(self) -> None:
        """Return every robot to its default state and gains."""
        for robot in self.robots:
            robot.post_reset()

    def _chosen(self, indices: Rows) -> list[SingleArticulation]:
        if indices is None:
            return list(self.robots)
        wrong = [int(index) for index in indices if not 0 <= int(index) < self.count]
        if wrong:
            raise InputError(f"view {self.name!r} has robots 0 ... {self.count - 1}, got {wrong}")
        return [self.robots[int(index)] for index in indices]

    def _stack(self, indices: Rows, read: Callable[[SingleArticulation], Array]) -> Array:
        return np.array([read(robot) for robot in self._chosen(indices)])

    def _rows(self, what: str, values: Any, indices: Rows) -> list[tuple[SingleArticulation, Any]]:
        chosen, rows = self._chosen(indices), list(values)
        if len(rows) != len(chosen) or any(np.ndim(row) != 1 for row in rows):
            shape = np.shape(values)
            raise InputError(f"{what} of view {self.name!r} need one row for each of {len(chosen)} robots, got {shape}")
        return list(zip(chosen, rows, strict=True))

"""The gripper joints of a robot, with an open and a closed position."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from handloom.arrays import Array
from handloom.errors import InputError, StateError
from handloom.isaac.articulation.articulation_controller import ArticulationController
from handloom.isaac.articulation.single_articulation import SingleArticulation
from handloom.values import ArticulationAction


class ArticulationGripper:
    """The joints of a robot that open and close together as a gripper.

    Args:
        gripper_dof_names: The joints.
        gripper_open_position: Open positions (k,) [rad or m].
        gripper_closed_position: Closed positions (k,) [rad or m].
    """

    def __init__(
        self,
        gripper_dof_names: Sequence[str],
        gripper_open_position: ArrayLike | None = None,
        gripper_closed_position: ArrayLike | None = None,
    ) -> None:
        self._names = tuple(gripper_dof_names)
        self._open = self._checked("gripper_open_position", gripper_open_position)
        self._closed = self._checked("gripper_closed_position", gripper_closed_position)
        self._robot: SingleArticulation | None = None
        self._controller: ArticulationController | None = None

    def initialize(
        self, articulation: SingleArticulation, articulation_controller: ArticulationController | None = None
    ) -> None:
        """Bind to a robot.

        Args:
            articulation: The robot, initialized; the published method takes its prim path.
            articulation_controller: The controller to use; None takes the robot's.
        """
        self._indices = np.array([articulation.get_dof_index(name) for name in self._names], dtype=np.int64)
        self._robot = articulation
        self._controller = articulation_controller or articulation.get_articulation_controller()

    @property
    def open_position(self) -> Array | None:
        """Open joint positions (k,) [rad or m]."""
        return self._open

    @property
    def closed_position(self) -> Array | None:
        """Closed joint positions (k,) [rad or m]."""
        return self._closed

    @property
    def dof_indices(self) -> NDArray[np.int64]:
        """Indices of the joints in the robot's order (k,)."""
        self._bound()
        return self._indices.copy()

    def get_positions(self) -> Array:
        """Return positions (k,) [rad or m]."""
        return self._bound().get_joint_positions(self._indices)

    def get_velocities(self) -> Array:
        """Return velocities (k,) [rad/s or m/s]."""
        return self._bound().get_joint_velocities(self._indices)

    def set_positions(self, positions: ArrayLike) -> None:
        """Set joint positions immediately (k,) [rad or m]."""
        self._bound().set_joint_positions(positions, self._indices)

    def set_velocities(self, velocities: ArrayLike) -> None:
        """Set joint velocities immediately (k,) [rad/s or m/s]."""
        self._bound().set_joint_velocities(velocities, self._indices)

    def apply_action(self, action: ArticulationAction) -> None:
        """Command the joints; the action has one entry per joint of the gripper."""
        self._bound()
        if action.joint_indices is not None:
            raise InputError("an action of a gripper has one entry per gripper joint; omit joint_indices")
        channels = (action.joint_positions, action.joint_velocities, action.joint_efforts)
        assert self._controller is not None
        self._controller.apply_action(ArticulationAction(*channels, joint_indices=self._indices))

    def open(self) -> None:
        """Command the open position."""
        self.apply_action(ArticulationAction(self._known("open", self._open)))

    def close(self) -> None:
        """Command the closed position."""
        self.apply_action(ArticulationAction(self._known("closed", self._closed)))

    def _bound(self) -> SingleArticulation:
        if self._robot is None:
            raise StateError("ArticulationGripper is not initialized. Call initialize() first.")
        return self._robot

    def _checked(self, what: str, values: Any) -> Array | None:
        if values is None:
            return None
        array = np.array(values, float)
        if array.shape != (len(self._names),) or not np.all(np.isfinite(array)):
            raise InputError(f"{what} needs one finite value for each of {', '.join(self._names)}, got {values!r}")
        return array

    def _known(self, word: str, position: Array | None) -> Array:
        if position is None:
            raise InputError(f"this gripper was made without gripper_{word}_position")
        return position

"""A subset of a robot's joints, in its own order."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.isaac.articulation.joint_values import joint_values as checked_values
from handloom.isaac.articulation.single_articulation import SingleArticulation
from handloom.values import ArticulationAction, JointsState


class ArticulationSubset:
    """A view of some of a robot's joints; every array has one entry per joint of the subset, in its order.

    Args:
        articulation: The robot.
        joint_names: Joints of the subset.
    """

    def __init__(self, articulation: SingleArticulation, joint_names: Sequence[str]) -> None:
        self._articulation = articulation
        self._names = tuple(joint_names)
        self._indices = np.array([articulation.get_dof_index(name) for name in self._names], dtype=np.int64)
        if np.unique(self._indices).size != self._indices.size:
            raise InputError(f"a joint is listed twice in a subset: {', '.join(self._names)}")

    @property
    def articulation(self) -> SingleArticulation:
        """The robot."""
        return self._articulation

    @property
    def is_initialized(self) -> bool:
        """Whether the robot is initialized."""
        return self._articulation.handles_initialized

    @property
    def num_joints(self) -> int:
        """Number of joints in the subset."""
        return len(self._names)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints of the subset."""
        return self._names

    @property
    def joint_indices(self) -> NDArray[np.int64]:
        """Indices of the joints in the robot's order (k,)."""
        return self._indices.copy()

    def get_joint_subset_indices(self) -> NDArray[np.int64]:
        """Return the indices of the joints in the robot's order (k,)."""
        return self._indices.copy()

    def get_joint_positions(self) -> Array:
        """Return positions (k,) [rad or m]."""
        return self._articulation.get_joint_positions(self._indices)

    def get_joint_velocities(self) -> Array:
        """Return velocities (k,) [rad/s or m/s]."""
        return self._articulation.get_joint_velocities(self._indices)

    def get_joint_efforts(self) -> Array:
        """Return the efforts added to the drives (k,) [N m or N]."""
        return self._articulation.get_applied_joint_efforts(self._indices)

    def get_joints_state(self) -> JointsState:
        """Return positions, velocities and efforts, each (k,)."""
        return JointsState(self.get_joint_positions(), self.get_joint_velocities(), self.get_joint_efforts())

    def set_joint_positions(self, positions: Any) -> None:
        """Set joint positions immediately (k,) [rad or m]."""
        self._articulation.set_joint_positions(positions, self._indices)

    def set_joint_velocities(self, velocities: Any) -> None:
        """Set joint velocities immediately (k,) [rad/s or m/s]."""
        self._articulation.set_joint_velocities(velocities, self._indices)

    def set_joint_efforts(self, efforts: Any) -> None:
        """Add efforts to the drives (k,) [N m or N]."""
        self._articulation.set_joint_efforts(efforts, self._indices)

    def make_articulation_action(self, joint_positions: Any, joint_velocities: Any) -> ArticulationAction:
        """Return an action for the whole robot that commands only these joints."""
        return ArticulationAction(joint_positions, joint_velocities, joint_indices=self._indices.copy())

    def apply_action(
        self, joint_positions: Any = None, joint_velocities: Any = None, joint_efforts: Any = None
    ) -> None:
        """Write targets for the joints of the subset."""
        self._articulation.apply_action(
            ArticulationAction(joint_positions, joint_velocities, joint_efforts, self._indices.copy())
        )

    def get_applied_action(self) -> ArticulationAction | None:
        """Return the targets in force for the joints of the subset; None after a stop."""
        if self._articulation.get_articulation_controller().stopped:
            return None
        targets = self._articulation.drives.targets()
        return ArticulationAction(*(channel[self._indices] for channel in targets), joint_indices=self._indices.copy())

    def map_to_articulation_order(self, joint_values: Any) -> list[Any]:
        """Return values of the subset, (k,) or (m, k), in the robot's order, with None for the other joints."""
        if np.ndim(joint_values) == 2:
            return [self.map_to_articulation_order(row) for row in joint_values]
        values = checked_values("joint_values", joint_values, self._indices, self._articulation.dof_names)
        ordered: list[float | None] = [None] * self._articulation.num_dof
        for index, value in zip(self._indices, values, strict=True):
            ordered[index] = None if np.isnan(value) else float(value)
        return ordered

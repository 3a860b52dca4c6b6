"""Applies actions to the joints of a robot."""

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.errors import InputError, StateError, suggest
from handloom.isaac.articulation.joint_drives import JointDrives
from handloom.isaac.articulation.joint_values import JointSelection
from handloom.isaac.articulation.joint_values import joint_indices as checked_indices
from handloom.isaac.articulation.joint_values import joint_values as checked_values
from handloom.values import ArticulationAction

if TYPE_CHECKING:
    from handloom.isaac.articulation.articulation_view import ArticulationView
    from handloom.isaac.articulation.single_articulation import SingleArticulation

MODES = {"position": (1.0, 1.0), "velocity": (0.0, 1.0), "effort": (0.0, 0.0)}
"""Fraction of the default stiffness and damping kept by each control mode."""


class ArticulationController:
    """Position, velocity and effort targets, gains, modes and limits of the joints of one robot.

    All targets, including efforts, stay in force until they are replaced: a control loop that runs at the frame rate
    would otherwise lose them after the first of many physics steps. A rejected call writes nothing.
    """

    def __init__(self) -> None:
        self._drives: JointDrives | None = None
        self._names: tuple[str, ...] = ()
        self._default_kps = self._default_kds = np.empty(0)
        self.stopped = False
        """Whether the simulation is stopped, in which case there is no applied action."""

    def initialize(self, articulation: "SingleArticulation | ArticulationView") -> None:
        """Bind to a robot, or to a view of one, initializing it if needed; its gains become the defaults."""
        self.stopped = False
        if any(not robot.handles_initialized for robot in vars(articulation).get("robots", ())):
            articulation.initialize()
        self._drives = articulation.drives
        self._names = articulation.dof_names
        self._default_kps, self._default_kds = self._drives.kps.copy(), self._drives.kds.copy()

    @property
    def drives(self) -> JointDrives:
        """The drives of the robot."""
        if self._drives is None:
            raise StateError("ArticulationController is not initialized. Call initialize() first.")
        return self._drives

    # -- actions -------------------------------------------------------------------------------------------------

    def apply_action(self, control_actions: ArticulationAction) -> None:
        """Write the targets of an action; None and NaN keep the target in force.

        Raises:
            InputError: Wrong length, type or index, a joint without a drive, or a position together with a different
                effort for one joint. Nothing was written.
        """
        drives = self.drives
        if not isinstance(control_actions, ArticulationAction):
            raise InputError(f"apply_action takes an ArticulationAction, got {type(control_actions).__name__}")
        joints = checked_indices(control_actions.joint_indices, self._names)
        channels = {
            "joint_positions": control_actions.joint_positions,
            "joint_velocities": control_actions.joint_velocities,
            "joint_efforts": control_actions.joint_efforts,
        }
        targets = [
            self._scatter(checked_values(channel, values, joints, self._names), joints)
            for channel, values in channels.items()
        ]
        self._refuse_two_ways(targets[0], targets[2])
        drives.write_targets(*targets)

    def _refuse_two_ways(self, positions: Array, efforts: Array) -> None:
        """Reject a position target together with an effort: a joint is controlled in one mode at a time.

        Zero effort, or the effort already in force, is allowed.
        """
        new = ~np.isnan(efforts) & (efforts != 0.0) & (efforts != self.drives.targets().efforts)
        for joint in np.flatnonzero(new & ~np.isnan(positions)):
            raise InputError(
                f"joint {self._names[joint]!r} is given a position ({positions[joint]:g}) and an effort "
                f"({efforts[joint]:g}) at once; give one of them and set the other to None or NaN"
            )

    def get_applied_action(self) -> ArticulationAction | None:
        """Return the targets in force as a full-length action, NaN for joints that take none; None after a stop."""
        if self.stopped:
            return None
        positions, velocities, efforts = self.drives.targets()
        return ArticulationAction(positions, velocities, efforts)

    # -- gains and modes -----------------------------------------------------------------------------------------

    def set_gains(
        self,
        kps: Any = None,
        kds: Any = None,
        save_to_usd: bool = False,
        *,
        joint_indices: JointSelection = None,
        update_default_gains: bool = True,
    ) -> None:
        """Set stiffness [N m/rad or N/m] and damping [N m s/rad or N s/m]; None and NaN keep a gain.

        Args:
            kps: Stiffness of the selected joints (k,).
            kds: Damping of the selected joints (k,).
            save_to_usd: No effect; accepted for ported code, with a warning.
            joint_indices: The joints; None means all.
            update_default_gains: Whether ``switch_control_mode`` and ``post_reset`` return to these gains.
        """
        drives = self.drives
        if save_to_usd:
            warnings.warn("save_to_usd has no effect: there is no USD stage behind this robot", stacklevel=2)
        joints = checked_indices(joint_indices, self._names)
        new_kps = self._scatter(checked_values("kps", kps, joints, self._names), joints)
        new_kds = self._scatter(checked_values("kds", kds, joints, self._names), joints)
        drives.set_gains(new_kps, new_kds)
        if update_default_gains:
            self._default_kps = np.where(np.isnan(new_kps), self._default_kps, new_kps)
            self._default_kds = np.where(np.isnan(new_kds), self._default_kds, new_kds)

    def get_gains(self) -> tuple[Array, Array]:
        """Return stiffness (n,) and damping (n,) in force."""
        return self.drives.kps.copy(), self.drives.kds.copy()

    def restore_default_gains(self) -> None:
        """Return every joint to its default gains, which is position control."""
        self.drives.set_gains(self._default_kps, self._default_kds)

    def switch_control_mode(self, mode: str) -> None:
        """Switch all joints to "position" (default gains), "velocity" (no stiffness) or "effort" (no gains)."""
        self._switch(np.arange(len(self.drives.names)), mode)

    def switch_dof_control_mode(self, dof_index: int, mode: str) -> None:
        """Switch one joint; the others keep their gains."""
        drives = self.drives
        self._switch(checked_indices([dof_index], drives.names), mode)

    def _switch(self, joints: NDArray[np.int64], mode: str) -> None:
        if mode not in MODES:
            raise InputError(f"no control mode {mode!r}; {suggest(str(mode), MODES)}")
        stiffness, damping = MODES[mode]
        self.drives.set_gains(
            self._scatter(stiffness * self._default_kps[joints], joints),
            self._scatter(damping * self._default_kds[joints], joints),
        )

    # -- limits --------------------------------------------------------------------------------------------------

    def set_max_efforts(self, values: Any, joint_indices: JointSelection = None) -> None:
        """Set the maximum effort of the selected drives (k,) [N m or N]; it clips the whole drive law.

        None and NaN keep a limit; infinity lifts it.
        """
        drives = self.drives
        joints = checked_indices(joint_indices, self._names)
        limits = checked_values("max efforts", values, joints, self._names, infinite=True)
        drives.set_max_efforts(self._scatter(limits, joints))

    def get_max_efforts(self) -> Array:
        """Return the maximum effort of each drive (n,) [N m or N]; infinite when unlimited, zero without a drive."""
        return self.drives.max_efforts()

    def set_effort_modes(self, mode: str, joint_indices: JointSelection = None) -> None:
        """Choose whether the gains of the selected joints yield a "force" or an "acceleration"."""
        self.drives.set_effort_modes(mode, checked_indices(joint_indices, self.drives.names))

    def get_effort_modes(self) -> list[str]:
        """Return "force" or "acceleration" for each joint."""
        return self.drives.effort_modes()

    def get_joint_limits(self) -> Array:
        """Return lower and upper joint limits (n, 2) [rad or m]."""
        return self.drives.limits()

    def _scatter(self, values: Array, joints: NDArray[np.int64]) -> Array:
        """Return values (k,) of some joints as an array over all (n,), NaN elsewhere."""
        full = np.full(len(self._names), np.nan)
        full[joints] = values
        return full

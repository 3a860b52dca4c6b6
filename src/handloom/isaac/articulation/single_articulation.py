"""One robot in a World, by the name prefix of its parts."""

import warnings
from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from handloom.arrays import Array
from handloom.errors import InputError, StateError, unknown_name
from handloom.isaac.articulation.articulation_controller import ArticulationController
from handloom.isaac.articulation.articulation_root import ArticulationRoot
from handloom.isaac.articulation.joint_drives import JointDrives, Targets
from handloom.isaac.articulation.joint_values import JointSelection
from handloom.isaac.articulation.joint_values import joint_indices as checked_indices
from handloom.isaac.articulation.joint_values import joint_values as checked_values
from handloom.isaac.articulation.solver_settings import SolverSettings, joint_efforts, joint_wrenches
from handloom.sim import World
from handloom.spatial import pos_quat_from_pose
from handloom.values import ArticulationAction, DOFInfo, JointsState

_DOF_PROPERTIES = np.dtype(
    [
        ("type", np.uint8),
        ("hasLimits", bool),
        ("lower", np.float64),
        ("upper", np.float64),
        ("driveMode", np.uint8),
        ("maxVelocity", np.float64),
        ("maxEffort", np.float64),
        ("stiffness", np.float64),
        ("damping", np.float64),
    ]
)


class SingleArticulation(SolverSettings):
    """A robot: the hinge and slide joints whose names start with a prefix.

    Names are used without the prefix. ``initialize`` must be called once before anything else; the joint positions it
    finds become the default state.

    Args:
        world: The world that holds the robot.
        prefix: Name prefix of its bodies, joints and actuators, e.g. ``"fr3/"``.
        name: Name of the robot, for messages.
        position: Position of the base in world (3,) [m]; a fixed base must already be there.
        translation: The same as ``position``, under its other published name.
        orientation: Orientation of the base in world, wxyz (4,).
        scale: Must be None or one: the size of a compiled model is fixed.
        visible: Must be None or True: visibility is set in the model.
        reset_xform_properties: No effect; accepted for ported code.
        articulation_controller: A custom controller; None creates one.
        dof_names: The joints in the robot's order; None takes those of the model in its order.
    """

    def __init__(
        self,
        world: World,
        prefix: str = "",
        name: str = "articulation",
        position: ArrayLike | None = None,
        translation: ArrayLike | None = None,
        orientation: ArrayLike | None = None,
        scale: ArrayLike | None = None,
        visible: bool | None = None,
        reset_xform_properties: bool = True,
        articulation_controller: ArticulationController | None = None,
        *,
        dof_names: Sequence[str] | None = None,
    ) -> None:
        if position is not None and translation is not None:
            raise InputError(f"robot {name!r}: give position or translation, not both")
        if scale is not None and not np.all(np.asarray(scale) == 1.0):
            raise InputError(f"robot {name!r} cannot be scaled to {scale!r}: scale its model before compiling")
        if visible is False:
            raise InputError(f"robot {name!r} cannot be hidden: set the rgba or group of its geoms in the model")
        del reset_xform_properties  # There are no transform operations to reset.
        self.world = world
        self.prefix = prefix
        self.name = name
        bodies = [index for body, index in world.bodies.items() if body.startswith(prefix) and index > 0]
        if not bodies:
            raise unknown_name("body whose name starts with", prefix, world.bodies)
        self._dof_names = self._find_joints(dof_names)
        self.root = ArticulationRoot(world, bodies)
        super().__init__(world, self.root.bodies)
        self._controller = articulation_controller or ArticulationController()
        self._drives: JointDrives | None = None
        self._default_state: JointsState | None = None
        self._paused: tuple[Array, Targets] | None = None
        self.root.place(position if translation is None else translation, orientation)

    def _find_joints(self, dof_names: Sequence[str] | None) -> tuple[str, ...]:
        model, prefix = self.world.model, self.prefix
        scalar = (mujoco.mjtJoint.mjJNT_HINGE.value, mujoco.mjtJoint.mjJNT_SLIDE.value)
        found = [
            joint.removeprefix(prefix)
            for joint, index in self.world.joints.items()
            if joint.startswith(prefix) and model.jnt_type[index] in scalar
        ]
        if dof_names is None:
            return tuple(found)
        for name in dof_names:
            if name not in found:
                raise unknown_name(f"hinge or slide joint of {self.name!r}", name, found)
        if len(set(dof_names)) != len(dof_names):
            raise InputError(f"robot {self.name!r}: dof_names lists a joint twice: {', '.join(dof_names)}")
        return tuple(dof_names)

    def initialize(self) -> None:
        """Bind names to indices; the current joint positions and gains become the defaults.

        From here on, this object controls the drives: the control ranges of their actuators are lifted, so that targets
        are not clamped; joint limits and maximum efforts stay.
        """
        self._drives = JointDrives(self.world, [self.prefix + name for name in self._dof_names])
        self._controller.initialize(self)
        zeros = np.zeros(self.num_dof)
        self._default_state = JointsState(self.get_joint_positions(), zeros, zeros.copy())

    # -- names ---------------------------------------------------------------------------------------------------

    @property
    def handles_initialized(self) -> bool:
        """Whether ``initialize`` was called."""
        return self._drives is not None

    @property
    def drives(self) -> JointDrives:
        """The drives of the joints."""
        if self._drives is None:
            raise StateError(f"SingleArticulation {self.name!r} is not initialized. Call initialize() first.")
        return self._drives

    @property
    def num_dof(self) -> int:
        """Number of joints."""
        return len(self._dof_names)

    @property
    def num_bodies(self) -> int:
        """Number of bodies."""
        return self.root.bodies.size

    @property
    def dof_names(self) -> tuple[str, ...]:
        """Names of the joints, without the prefix, in the robot's order."""
        return self._dof_names

    @property
    def body_names(self) -> tuple[str, ...]:
        """Names of the bodies, without the prefix, base first."""
        return tuple(self.world.bodies.label(int(body)).removeprefix(self.prefix) for body in self.root.bodies)

    @property
    def dof_properties(self) -> NDArray[np.void]:
        """Structured array (n,): type 1 turns, 2 slides; driveMode 1 force, 2 acceleration; limits and gains."""
        drives = self.drives
        table = np.zeros(self.num_dof, dtype=_DOF_PROPERTIES)
        turning = [self.world.model.jnt_type[w.joint] == mujoco.mjtJoint.mjJNT_HINGE.value for w in drives.wirings]
        limits = drives.limits()
        table["type"] = np.where(turning, 1, 2)
        table["hasLimits"] = np.isfinite(limits[:, 0])
        table["lower"], table["upper"] = limits.T
        table["driveMode"] = [2 if mode == "acceleration" else 1 for mode in drives.effort_modes()]
        table["maxVelocity"] = np.inf  # MuJoCo does not limit the speed of a joint.
        table["maxEffort"] = drives.max_efforts()
        table["stiffness"], table["damping"] = drives.kps, drives.kds
        return table

    def get_dof_index(self, dof_name: str) -> int:
        """Return the index of a joint in the robot's order."""
        if dof_name not in self._dof_names:
            raise unknown_name(f"joint of {self.name!r}", dof_name, self._dof_names)
        return self._dof_names.index(dof_name)

    def get_dof_info(self, dof_name: str) -> DOFInfo:
        """Return the wiring of a joint: its indices in the model."""
        index = self.get_dof_index(dof_name)
        return DOFInfo(self.prefix + dof_name, int(self.drives.dof[index]), dof_name, index)

    # -- joint state: read, and teleport -------------------------------------------------------------------------

    def get_joint_positions(self, joint_indices: JointSelection = None) -> Array:
        """Return joint positions (k,) [rad or m]."""
        return self.world.data.qpos[self.drives.qpos[self._select(joint_indices)]]

    def get_joint_velocities(self, joint_indices: JointSelection = None) -> Array:
        """Return joint velocities (k,) [rad/s or m/s]."""
        return self.world.data.qvel[self.drives.dof[self._select(joint_indices)]]

    def set_joint_positions(self, positions: Any, joint_indices: JointSelection = None) -> None:
        """Set joint positions (k,) [rad or m] immediately; None and NaN leave a joint unchanged.

        The position targets of driven joints are set as well, so that the drives hold the joints there.
        """
        drives, joints = self.drives, self._select(joint_indices)
        values = checked_values("positions", positions, joints, self._dof_names)
        chosen = joints[~np.isnan(values)]
        self.world.data.qpos[drives.qpos[chosen]] = values[~np.isnan(values)]
        holdable = chosen[drives.takes_position[chosen]]
        targets = np.full((3, self.num_dof), np.nan)
        targets[0, holdable] = self.world.data.qpos[drives.qpos[holdable]]
        drives.write_targets(*targets)
        self.world.forward()

    def set_joint_velocities(self, velocities: Any, joint_indices: JointSelection = None) -> None:
        """Set joint velocities (k,) [rad/s or m/s] immediately; None and NaN leave a joint unchanged; targets stay."""
        joints = self._select(joint_indices)
        values = checked_values("velocities", velocities, joints, self._dof_names)
        given = ~np.isnan(values)
        self.world.data.qvel[self.drives.dof[joints[given]]] = values[given]
        self.world.forward()

    def get_joints_state(self) -> JointsState:
        """Return positions, velocities and applied efforts of all joints."""
        return JointsState(self.get_joint_positions(), self.get_joint_velocities(), self.get_applied_joint_efforts())

    # -- efforts -------------------------------------------------------------------------------------------------

    def set_joint_efforts(self, efforts: Any, joint_indices: JointSelection = None) -> None:
        """Add efforts (k,) [N m or N] to the drives, until they are replaced."""
        self._controller.apply_action(ArticulationAction(joint_efforts=efforts, joint_indices=joint_indices))

    def get_applied_joint_efforts(self, joint_indices: JointSelection = None) -> Array:
        """Return the efforts that were added to the drives (k,) [N m or N]; zero for joints without a drive."""
        return np.nan_to_num(self.drives.targets().efforts[self._select(joint_indices)], nan=0.0)

    def get_measured_joint_efforts(self, joint_indices: JointSelection = None) -> Array:
        """Return the efforts transmitted along the joint axes (k,) [N m or N]: drive, friction, stops, couplings."""
        return joint_efforts(self.world)[self.drives.dof[self._select(joint_indices)]]

    def get_measured_joint_forces(self, joint_indices: JointSelection = None) -> Array:
        """Return the wrench entering the base (row 0) and each joint's body (row joint + 1): (n + 1, 6) [N, N m].

        With ``joint_indices``, only the rows of those joints (k, 6).
        """
        joints = np.array([wiring.joint for wiring in self.drives.wirings], dtype=np.int64)
        wrenches = joint_wrenches(self.world, self.root.body, joints)
        return wrenches if joint_indices is None else wrenches[self._select(joint_indices) + 1]

    # -- default state, reset, pause -----------------------------------------------------------------------------

    def set_joints_default_state(self, positions: Any = None, velocities: Any = None, efforts: Any = None) -> None:
        """Set the state that ``post_reset`` restores; None keeps an array, None or NaN inside it keeps an entry."""
        state, everyone = self.get_joints_default_state(), np.arange(self.num_dof)
        new = [
            checked_values(word, values, everyone, self._dof_names)
            for word, values in (("positions", positions), ("velocities", velocities), ("efforts", efforts))
        ]
        old = (state.positions, state.velocities, state.efforts)
        self._default_state = JointsState(*(np.where(np.isnan(n), o, n) for n, o in zip(new, old, strict=True)))

    def get_joints_default_state(self) -> JointsState:
        """Return the state that ``post_reset`` restores."""
        if self._default_state is None:
            raise StateError(f"SingleArticulation {self.name!r} is not initialized. Call initialize() first.")
        return self._default_state

    def post_reset(self) -> None:
        """Return to the default positions, velocities, efforts and gains, and hold them."""
        state, drives = self.get_joints_default_state(), self.drives
        self._paused = None
        self._controller.restore_default_gains()
        self.set_joint_positions(state.positions)
        self.set_joint_velocities(state.velocities)
        nothing = np.full(self.num_dof, np.nan)
        velocities = np.where(drives.takes_velocity, 0.0, np.nan)
        drives.write_targets(nothing, velocities, np.where(drives.takes_effort, state.efforts, np.nan))
        self.world.forward()

    def pause_motion(self) -> None:
        """Stop the joints at their current positions and hold them there; targets and velocities are remembered."""
        if self._paused is not None:
            warnings.warn(f"{self.name!r} is paused already", stacklevel=2)
            return
        drives = self.drives
        self._paused = (self.get_joint_velocities(), drives.targets())
        here = np.where(drives.takes_position, self.get_joint_positions(), np.nan)
        velocities = np.where(drives.takes_velocity, 0.0, np.nan)
        drives.write_targets(here, velocities, np.where(drives.takes_effort, 0.0, np.nan))
        self.set_joint_velocities(np.zeros(self.num_dof))

    def resume_motion(self) -> None:
        """Resume with the velocities and targets that were in force when the motion was paused."""
        if self._paused is None:
            warnings.warn(f"{self.name!r} is not paused", stacklevel=2)
            return
        velocities, targets = self._paused
        self._paused = None
        self.drives.write_targets(*targets)
        self.set_joint_velocities(velocities)

    # -- control -------------------------------------------------------------------------------------------------

    def apply_action(self, control_actions: ArticulationAction) -> None:
        """Write the targets of an action; see ``ArticulationController.apply_action``."""
        self._controller.apply_action(control_actions)

    def get_applied_action(self) -> ArticulationAction | None:
        """Return the targets in force as a full-length action; None after a stop."""
        return self._controller.get_applied_action()

    def get_articulation_controller(self) -> ArticulationController:
        """Return the controller."""
        return self._controller

    # -- base ----------------------------------------------------------------------------------------------------

    def get_world_pose(self) -> tuple[Array, Array]:
        """Return position (3,) [m] and orientation wxyz (4,) of the base."""
        return pos_quat_from_pose(self.root.pose())

    def set_world_pose(self, position: ArrayLike | None = None, orientation: ArrayLike | None = None) -> None:
        """Move a floating base to a position [m] and orientation wxyz."""
        self.root.place(position, orientation)

    def get_world_velocity(self) -> Array:
        """Return linear [m/s], then angular [rad/s] velocity of the base, in world (6,)."""
        return self.root.velocity()

    def set_world_velocity(self, velocity: ArrayLike) -> None:
        """Set linear [m/s], then angular [rad/s] velocity of a floating base, in world (6,)."""
        values = np.asarray(velocity)
        if values.shape != (6,):
            raise InputError(f"a velocity must have 6 numbers, linear then angular, got shape {values.shape}")
        self.root.set_velocity(values[:3], values[3:])

    def get_linear_velocity(self) -> Array:
        """Return the linear velocity of the base in world (3,) [m/s]."""
        return self.root.velocity()[:3]

    def set_linear_velocity(self, velocity: ArrayLike) -> None:
        """Set the linear velocity of a floating base in world (3,) [m/s]."""
        self.root.set_velocity(velocity, None)

    def get_angular_velocity(self) -> Array:
        """Return the angular velocity of the base in world (3,) [rad/s]."""
        return self.root.velocity()[3:]

    def set_angular_velocity(self, velocity: ArrayLike) -> None:
        """Set the angular velocity of a floating base in world (3,) [rad/s]."""
        self.root.set_velocity(None, velocity)

    def enable_gravity(self) -> None:
        """Let gravity act on the links."""
        self.root.set_gravity(True)

    def disable_gravity(self) -> None:
        """Compensate gravity on the links."""
        self.root.set_gravity(False)

    def _select(self, indices: JointSelection) -> NDArray[np.int64]:
        return checked_indices(indices, self._dof_names)

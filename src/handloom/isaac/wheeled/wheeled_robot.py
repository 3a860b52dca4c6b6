"""A wheeled robot, with commands for its wheels only."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from handloom.arrays import Array
from handloom.errors import InputError, unknown_name
from handloom.isaac.articulation import ArticulationController, SingleArticulation
from handloom.isaac.wheeled.arguments import float_array
from handloom.sim import World
from handloom.values import ArticulationAction
from handloom.values.articulation import JointValues


class WheeledRobot(SingleArticulation):
    """An articulation with wheel joints and, optionally, joints that steer wheels.

    Every method with ``wheel`` in its name addresses only these joints: an arm on the same base keeps its targets.
    ``post_reset`` puts the wheels into velocity control and leaves the control mode of all other joints unchanged.

    Args:
        world: The world that holds the robot.
        prefix: Name prefix of its bodies, joints and actuators, e.g. ``"jetbot/"``.
        name: Name of the robot, for messages.
        wheel_dof_names: Wheel joints, in the order of the controller's output.
        wheel_dof_indices: The same joints as indices in the robot's order; give one of the two.
        steering_dof_names: Joints that turn the steered wheels (left, right), for Ackermann actions.
        position: Position of the base in world (3,) [m].
        orientation: Orientation of the base in world, wxyz (4,).
        articulation_controller: A custom controller; None creates one.
        dof_names: The joints in the robot's order; None takes those of the model.

    Raises:
        InputError: Neither or both of names and indices are given, or a joint is listed twice.
        NotFoundError: A joint does not exist.
    """

    def __init__(
        self,
        world: World,
        prefix: str = "",
        name: str = "wheeled_robot",
        wheel_dof_names: Sequence[str] | None = None,
        wheel_dof_indices: Sequence[int] | None = None,
        position: ArrayLike | None = None,
        orientation: ArrayLike | None = None,
        *,
        steering_dof_names: Sequence[str] = (),
        articulation_controller: ArticulationController | None = None,
        dof_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(
            world,
            prefix,
            name,
            position,
            orientation=orientation,
            articulation_controller=articulation_controller,
            dof_names=dof_names,
        )
        if (wheel_dof_names is None) == (wheel_dof_indices is None):
            raise InputError(f"robot {name!r}: give either wheel_dof_names or wheel_dof_indices")
        if wheel_dof_indices is not None:
            wheel_dof_names = [self._name_of(index) for index in wheel_dof_indices]
        self._wheels = self._indices_of(wheel_dof_names or ())
        self._steering = self._indices_of(steering_dof_names)
        joints = [*self._wheels, *self._steering]
        if not self._wheels or len(set(joints)) != len(joints):
            raise InputError(f"robot {name!r}: needs at least one wheel, and no joint twice, got {wheel_dof_names}")

    @property
    def num_wheels(self) -> int:
        """Number of wheels."""
        return len(self._wheels)

    @property
    def wheel_dof_indices(self) -> tuple[int, ...]:
        """Indices of the wheel joints in the robot's order."""
        return self._wheels

    @property
    def steering_dof_indices(self) -> tuple[int, ...]:
        """Indices of the steering joints in the robot's order."""
        return self._steering

    def get_wheel_positions(self) -> Array:
        """Return the angles of the wheels (k,) [rad]."""
        return self.get_joint_positions(self._wheels)

    def set_wheel_positions(self, positions: ArrayLike) -> None:
        """Set the wheel angles (k,) [rad] immediately."""
        self.set_joint_positions(positions, self._wheels)

    def get_wheel_velocities(self) -> Array:
        """Return the speeds of the wheels (k,) [rad/s]."""
        return self.get_joint_velocities(self._wheels)

    def set_wheel_velocities(self, velocities: ArrayLike) -> None:
        """Set the wheel speeds (k,) [rad/s] immediately; their targets stay."""
        self.set_joint_velocities(velocities, self._wheels)

    def get_steering_positions(self) -> Array:
        """Return the angles of the steering joints (k,) [rad]; empty if there are none."""
        return self.get_joint_positions(self._steering)

    def apply_wheel_actions(self, actions: ArticulationAction) -> None:
        """Apply the targets of a wheeled controller to the wheels.

        Args:
            actions: One entry per wheel in each channel used. On a robot with steering joints, ``joint_positions`` are
                instead the angles of the steered wheels, as returned by an Ackermann controller.

        Raises:
            InputError: A length is wrong, or ``joint_indices`` is given, which would conflict with the wheels. Nothing
                is written.
        """
        if actions.joint_indices is not None:
            raise InputError("apply_wheel_actions addresses the wheels; omit joint_indices")
        wheels, steering = len(self._wheels), len(self._steering)
        positions = self._channel("joint_positions", actions.joint_positions, steering or wheels)
        velocities = self._channel("joint_velocities", actions.joint_velocities, wheels)
        efforts = self._channel("joint_efforts", actions.joint_efforts, wheels)
        # NaN keeps a target, so one action can steer some joints and spin others.
        rest, still = np.full(wheels, np.nan), np.full(steering, np.nan)
        self.apply_action(
            ArticulationAction(
                joint_positions=np.concatenate([rest, positions]) if steering else positions,
                joint_velocities=np.concatenate([velocities, still]),
                joint_efforts=np.concatenate([efforts, still]),
                joint_indices=[*self._wheels, *self._steering],
            )
        )

    def initialize(self) -> None:
        """Bind names to indices and put the wheels into velocity control."""
        super().initialize()
        self._free_the_wheels()

    def post_reset(self) -> None:
        """Return to the default state; wheels go into velocity control, other joints keep their mode."""
        super().post_reset()
        self._free_the_wheels()

    def _free_the_wheels(self) -> None:
        for wheel in self._wheels:
            self.get_articulation_controller().switch_dof_control_mode(wheel, "velocity")

    def _channel(self, channel: str, values: JointValues, count: int) -> Array:
        if values is None:
            return np.full(count, np.nan)
        listed = [np.nan if value is None else value for value in values]
        array = float_array(listed, channel)
        if array.shape != (count,):
            raise InputError(f"robot {self.name!r}: {channel} needs {count} values, got shape {array.shape}")
        return array

    def _indices_of(self, names: Sequence[str]) -> tuple[int, ...]:
        for name in names:
            if name not in self.dof_names:
                raise unknown_name(f"hinge or slide joint of {self.name!r}", name, self.dof_names)
        return tuple(self.dof_names.index(name) for name in names)

    def _name_of(self, index: int) -> str:
        if not 0 <= index < self.num_dof:
            raise InputError(
                f"robot {self.name!r}: wheel_dof_indices holds {index}; joints are 0 ... {self.num_dof - 1}"
            )
        return self.dof_names[index]

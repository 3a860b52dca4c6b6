"""Wheeled robots with the Isaac Sim 6 API: controllers take keywords and return arrays, robots take paths."""

import inspect
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.isaac.names.prims import StageWheeledRobot
from handloom.isaac.wheeled import AckermannController, DifferentialController, HolonomicController
from handloom.values import ArticulationAction


def _speeds(action: ArticulationAction) -> Array:
    return np.asarray(action.joint_velocities, dtype=np.float64)


class ArrayController:
    """A controller with keyword settings; settings without a default are required; all become attributes.

    Args:
        settings: Arguments of the controller besides its name.

    Raises:
        InputError: A setting is missing.
    """

    kind: ClassVar[type[Any]]
    """The controller that computes the commands."""

    def __init__(self, **settings: Any) -> None:
        given = inspect.signature(self.kind).parameters
        needed = [key for key, value in given.items() if value.default is inspect.Parameter.empty and key != "name"]
        missing = [key for key in needed if settings.get(key) is None]
        if missing:
            raise InputError(f"{self.kind.__name__} needs {', '.join(missing)}; give {', '.join(needed)}")
        self._controller = self.kind(type(self).__name__, **settings)

    def __getattr__(self, name: str) -> Any:
        if name == "_controller":
            raise AttributeError(name)
        return getattr(self._controller, name)

    def reset(self) -> None:
        """Reset: ramps at rest, steering straight."""
        self._controller.reset()


class ArrayDifferentialController(ArrayController):
    """Turns ``[linear speed, angular speed]`` into wheel speeds [rad/s]; see ``DifferentialController``."""

    kind = DifferentialController

    def forward(self, command: ArrayLike) -> Array:
        """Return the wheel speeds (2,) for a command ``[v [m/s], w [rad/s]]``."""
        return _speeds(self._controller.forward(np.asarray(command, dtype=np.float64)))


class ArrayHolonomicController(ArrayController):
    """Turns ``[forward, lateral, yaw]`` speeds into wheel speeds [rad/s]; see ``HolonomicController``."""

    kind = HolonomicController

    def forward(self, command: ArrayLike) -> Array:
        """Return the wheel speeds (n,) for a command ``[vx [m/s], vy [m/s], w [rad/s]]``."""
        return _speeds(self._controller.forward(np.asarray(command, dtype=np.float64)))


class ArrayAckermannController(ArrayController):
    """Turns a steering angle and a speed into wheel angles [rad] and speeds [rad/s]; see ``AckermannController``."""

    kind = AckermannController

    def forward(self, command: ArrayLike) -> tuple[Array, Array]:
        """Return angles (left, right) and speeds (front left, front right, rear left, rear right).

        Args:
            command: ``[steer, steer_rate, speed, acceleration, dt]`` in rad, rad/s, m/s, m/s^2, s.
        """
        action = self._controller.forward(np.asarray(command, dtype=np.float64))
        return np.asarray(action.joint_positions, dtype=np.float64), _speeds(action)


class PathWheeledRobot(StageWheeledRobot):
    """A wheeled robot at a path; it is looked up in the world on first use.

    Args:
        paths: Path of the robot, existing or new; one path, or a list of one.
        wheel_dof_names: Wheel joints.
        wheel_dof_indices: The same joints as indices.
        usd_path: File or published asset of a robot that is not on the stage yet.
        positions: Position of the base (3,) or (1, 3) [m].
        orientations: Orientation of the base, wxyz (4,) or (1, 4).
    """

    def __init__(
        self,
        paths: str | Sequence[str],
        *,
        wheel_dof_names: Sequence[str] | None = None,
        wheel_dof_indices: Sequence[int] | None = None,
        usd_path: str | None = None,
        positions: ArrayLike | None = None,
        orientations: ArrayLike | None = None,
    ) -> None:
        listed = [paths] if isinstance(paths, str) else list(paths)
        if len(listed) != 1:
            raise InputError(f"a wheeled robot takes one path here, got {listed}; make one object per robot")
        super().__init__(
            listed[0],
            wheel_dof_names=wheel_dof_names,
            wheel_dof_indices=wheel_dof_indices,
            usd_path=usd_path,
            create_robot=usd_path is not None,
            position=None if positions is None else np.asarray(positions, dtype=np.float64).reshape(-1, 3)[0],
            orientation=None if orientations is None else np.asarray(orientations, dtype=np.float64).reshape(-1, 4)[0],
        )

    def apply_wheel_actions(  # pyright: ignore[reportIncompatibleMethodOverride] - published name of the argument
        self, velocities: ArrayLike | ArticulationAction
    ) -> None:
        """Command wheel speeds (k,) or (1, k) [rad/s]."""
        if not self.handles_initialized:
            self.initialize()
        if not isinstance(velocities, ArticulationAction):
            velocities = ArticulationAction(joint_velocities=np.asarray(velocities, dtype=np.float64).reshape(-1))
        super().apply_wheel_actions(velocities)

"""Drives a base to a point: turns towards it, then drives straight."""

import math
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.isaac.controller import BaseController
from handloom.isaac.wheeled.arguments import finite_array, finite_number, finite_result, limit
from handloom.isaac.wheeled.planar_odometry import normalize_angle, yaw_from_quat
from handloom.values import ArticulationAction


class OpenLoopController(Protocol):
    """Converts a body velocity into wheel speeds: a differential or a holonomic controller."""

    def forward(self, command: Any, /) -> ArticulationAction:
        """Return the wheel speeds for ``[v, w]`` or ``[vx, vy, w]``."""
        ...

    def reset(self) -> None:
        """Forget ramps."""
        ...


class WheelBasePoseController(BaseController):
    """Drives to a position: stops within tolerance, turns on the spot if facing away, otherwise drives straight.

    The yaw of the goal is ignored.
    """

    def __init__(self, name: str, open_loop_wheel_controller: OpenLoopController, is_holonomic: bool = False) -> None:
        """Store the wheel controller that executes the commands.

        Args:
            name: Name of the controller.
            open_loop_wheel_controller: Takes ``[v, w]``, or ``[vx, vy, w]`` when ``is_holonomic``.
            is_holonomic: Which of the two.
        """
        super().__init__(name)
        self.open_loop_wheel_controller = open_loop_wheel_controller
        self.is_holonomic = is_holonomic

    def forward(
        self,
        start_position: Sequence[float] | Array,
        start_orientation: Sequence[float] | Array,
        goal_position: Sequence[float] | Array,
        lateral_velocity: float = 0.2,
        yaw_velocity: float = 0.5,
        heading_tol: float = 0.05,
        position_tol: float = 0.04,
    ) -> ArticulationAction:
        """Return the wheel speeds of the next step towards the goal.

        Args:
            start_position: Position of the base (2,) or (3,) [m]; z is ignored.
            start_orientation: Its orientation (4,), wxyz; all zeros mean yaw 0.
            goal_position: Goal (2,) or (3,) [m].
            lateral_velocity: Speed of straight motion [m/s].
            yaw_velocity: Rate of the turn on the spot [rad/s].
            heading_tol: Turn while the bearing of the goal exceeds this angle [rad].
            position_tol: Stop when the goal is nearer than this [m].

        Raises:
            InputError: Values that are not finite or have the wrong length.
        """
        start, goal = _planar(start_position, "start_position"), _planar(goal_position, "goal_position")
        yaw = yaw_from_quat(start_orientation)
        speed, rate = finite_number(lateral_velocity, "lateral_velocity"), finite_number(yaw_velocity, "yaw_velocity")
        heading_limit, distance_limit = limit(heading_tol, "heading_tol"), limit(position_tol, "position_tol")
        with np.errstate(over="ignore"):
            dx, dy = finite_result(goal - start, "the way to the goal").tolist()
        error = normalize_angle(math.atan2(dy, dx) - yaw)
        if math.hypot(dx, dy) < distance_limit:
            speed = rate = 0.0
        elif abs(error) > heading_limit:
            speed, rate = 0.0, math.copysign(rate, error)
        else:
            rate = 0.0
        command = [speed, 0.0, rate] if self.is_holonomic else [speed, rate]
        return self.open_loop_wheel_controller.forward(command)

    def reset(self) -> None:
        """Reset the wheel controller."""
        self.open_loop_wheel_controller.reset()


def _planar(position: Sequence[float] | Array, what: str) -> Array:
    flat = finite_array(position, (-1,), what)
    if len(flat) not in {2, 3}:
        raise InputError(f"{what} needs [x, y] or [x, y, z], got {len(flat)} values")
    return flat[:2]

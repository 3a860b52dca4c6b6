"""Differential drive: converts the body velocity to the speeds of two wheels on one axle, and back."""

from collections.abc import Sequence

import numpy as np

from handloom.arrays import Array
from handloom.isaac.controller import BaseController
from handloom.isaac.wheeled.arguments import finite_result, finite_vector, limit, positive_number
from handloom.values import ArticulationAction


class DifferentialController(BaseController):
    """Computes the wheel speeds of a robot with a left and a right wheel on one axle.

    For a body moving at ``v`` and turning at ``w``, with wheel radius ``r`` and track ``b``::

        left = (2 v - w b) / (2 r)        right = (2 v + w b) / (2 r)

    Limits act as published: ``v`` and ``w`` are clipped first, then each wheel separately, which changes the curvature
    of the path under saturation. ``keep_heading`` scales both wheels by one factor instead, so that the robot drives
    the same circle more slowly.
    """

    def __init__(
        self,
        name: str,
        wheel_radius: float,
        wheel_base: float,
        max_linear_speed: float = 1e20,
        max_angular_speed: float = 1e20,
        max_wheel_speed: float = 1e20,
        *,
        keep_heading: bool = False,
    ) -> None:
        """Store the geometry and the limits.

        Args:
            name: Name of the controller.
            wheel_radius: Radius of both wheels, > 0 [m].
            wheel_base: Distance between the contact points of the wheels, > 0 [m].
            max_linear_speed: Limit of |v| [m/s].
            max_angular_speed: Limit of |w| [rad/s].
            max_wheel_speed: Limit of each wheel [rad/s].
            keep_heading: Scale under saturation, instead of clipping each quantity separately.

        Raises:
            InputError: A radius or distance is not > 0, or a limit is negative or NaN.
        """
        super().__init__(name)
        self.wheel_radius = positive_number(wheel_radius, "wheel_radius")
        self.wheel_base = positive_number(wheel_base, "wheel_base")
        self.max_linear_speed = limit(max_linear_speed, "max_linear_speed")
        self.max_angular_speed = limit(max_angular_speed, "max_angular_speed")
        self.max_wheel_speed = limit(max_wheel_speed, "max_wheel_speed")
        self.keep_heading = keep_heading

    def forward(self, command: Sequence[float] | Array) -> ArticulationAction:
        """Return the wheel speeds for a body velocity.

        Args:
            command: ``[v, w]``: forward speed [m/s], yaw rate [rad/s].

        Returns:
            An action with ``joint_velocities`` (left, right) [rad/s].

        Raises:
            InputError: Not two finite numbers.
        """
        v, w = finite_vector(command, ("v [m/s]", "w [rad/s]"), "differential command").tolist()
        if self.keep_heading:
            factor = min(1.0, _fraction(self.max_linear_speed, v), _fraction(self.max_angular_speed, w))
            v, w = v * factor, w * factor
        else:
            v = max(-self.max_linear_speed, min(self.max_linear_speed, v))
            w = max(-self.max_angular_speed, min(self.max_angular_speed, w))
        spread = w * self.wheel_base
        wheels = [(2.0 * v - spread) / (2.0 * self.wheel_radius), (2.0 * v + spread) / (2.0 * self.wheel_radius)]
        return ArticulationAction(joint_velocities=self._limited(np.array(wheels)))

    def body_twist(self, wheel_velocities: Sequence[float] | Array) -> Array:
        """Return the twist (3,) = (vx [m/s], 0, w [rad/s]) of wheels (left, right) [rad/s] that do not slip."""
        left, right = finite_vector(wheel_velocities, ("left", "right"), "wheel velocities")
        with np.errstate(over="ignore", invalid="ignore"):
            twist = np.array([(left + right) / 2.0, 0.0, (right - left) / self.wheel_base]) * self.wheel_radius
        return finite_result(twist, "the twist of a differential drive")

    def reset(self) -> None:
        """Do nothing: this controller has no memory. Present because every controller has it."""

    def _limited(self, wheels: Array) -> Array:
        if self.keep_heading:
            finite_result(wheels, "the wheel speed of a differential drive")
            return wheels * min(1.0, _fraction(self.max_wheel_speed, float(np.max(np.abs(wheels)))))
        # An infinite wheel speed is clipped like any other; only inf - inf and an infinite limit are rejected.
        clipped = np.clip(wheels, -self.max_wheel_speed, self.max_wheel_speed)
        return finite_result(clipped, "the wheel speed of a differential drive")


def _fraction(bound: float, value: float) -> float:
    """Return the fraction of ``value`` that ``bound`` allows; 1 or more if ``value`` is within the bound."""
    return 1.0 if abs(value) <= bound else bound / abs(value)

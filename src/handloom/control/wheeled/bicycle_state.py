"""The car as a bicycle: what the Stanley controller steers."""

import math

from handloom.control.wheeled.angles import normalize_angle
from handloom.control.wheeled.arguments import finite_number, positive_number

# 5 degrees, as published.
DEFAULT_MAX_STEERING = math.radians(5.0)


class BicycleState:
    """Pose and speed of the rear axle of a kinematic bicycle; ``update`` moves it on in place."""

    def __init__(
        self,
        wheel_base: float,
        x: float = 0.0,
        y: float = 0.0,
        yaw: float = 0.0,
        v: float = 0.0,
        max_steering_angle: float = DEFAULT_MAX_STEERING,
    ) -> None:
        """Put the bicycle somewhere.

        Args:
            wheel_base: Distance between the axles, > 0 [m].
            x: Position [m].
            y: Position [m].
            yaw: Heading [rad].
            v: Speed [m/s].
            max_steering_angle: Steering is clipped to this on either side [rad].

        Raises:
            InputError: A value that is not finite, or a wheel base that is not > 0.
        """
        self.wheel_base = positive_number(wheel_base, "wheel_base")
        self.x = finite_number(x, "x")
        self.y = finite_number(y, "y")
        self.yaw = finite_number(yaw, "yaw")
        self.v = finite_number(v, "v")
        self.max_steering_angle = abs(finite_number(max_steering_angle, "max_steering_angle"))
        self.w = 0.0

    def update(self, acceleration: float, delta: float, dt: float) -> None:
        """Move on by one explicit Euler step.

        Args:
            acceleration: Along the heading [m/s^2].
            delta: Steering angle [rad]; clipped.
            dt: Time step [s].

        Raises:
            InputError: A value that is not finite; the state stays as it was.
        """
        a, step = finite_number(acceleration, "acceleration"), finite_number(dt, "dt")
        steer = max(-self.max_steering_angle, min(self.max_steering_angle, finite_number(delta, "delta")))
        x = finite_number(self.x + self.v * math.cos(self.yaw) * step, "the new x")
        y = finite_number(self.y + self.v * math.sin(self.yaw) * step, "the new y")
        w = finite_number(self.v / self.wheel_base * math.tan(steer), "the new yaw rate")
        yaw = normalize_angle(self.yaw + w * step)
        v = finite_number(self.v + a * step, "the new speed")
        self.x, self.y, self.w, self.yaw, self.v = x, y, w, yaw, v

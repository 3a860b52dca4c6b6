"""Drive a car."""

import math

from handloom.arrays import Array
from handloom.control.wheeled.ackermann_controller import AckermannController
from handloom.control.wheeled.encoders import Encoders
from handloom.control.wheeled.wheeled_robot import WheeledRobot
from handloom.robots import DriveConfig
from handloom.values import ArticulationAction

# Below this speed [m/s] the steering angle of a car says nothing about its turn; the wheels stay as they are.
STEERING_SPEED = 0.02


class AckermannDrive:
    """A steered car; a turn is carried out by its steering angle."""

    def __init__(self, drive: DriveConfig, robot: WheeledRobot) -> None:
        self._drive = drive
        self._steer = 0.0
        self._controller = AckermannController(
            "wheels",
            drive.wheel_base,
            drive.track_width,
            drive.wheel_radius,
            drive.rear_wheel_radius,
            max_wheel_velocity=drive.max_wheel_speed,
            invert_steering=drive.invert_steering,
            max_wheel_rotation_angle=drive.max_steering_angle or math.pi / 2.0,
            max_acceleration=drive.max_acceleration,
            max_steering_angle_velocity=drive.max_steering_speed,
            kinematics="rigid_body",
            keep_heading=True,
        )

    def action(self, twist: Array, dt: float, /) -> ArticulationAction:
        """Return the wheel commands for a body twist (3,)."""
        drive = self._drive
        speed, turn = float(twist[0]), float(twist[2])
        if abs(speed) > STEERING_SPEED:
            self._steer = math.atan(drive.wheel_base * turn / speed)
        # The steering comes from the twist as asked, so that a speed limit does not change the circle.
        if drive.max_linear_speed:
            speed = max(-drive.max_linear_speed, min(drive.max_linear_speed, speed))
        return self._controller.forward([self._steer, drive.max_steering_speed, speed, drive.max_acceleration, dt])

    def aim(self, twist: Array, /) -> float:
        """Choose the steering for the next commands; return how long it takes at most [s]."""
        speed, turn = float(twist[0]), float(twist[2])
        self._steer = math.atan(self._drive.wheel_base * turn / speed) if speed else 0.0
        return 2.0 * abs(self._steer) / (self._drive.max_steering_speed or math.inf)

    def twist(self, speeds: Array, encoders: Encoders, /) -> Array:
        """Return the body twist (3,) of wheels at these speeds and encoder readings."""
        return self._controller.body_twist(encoders.steering, speeds)

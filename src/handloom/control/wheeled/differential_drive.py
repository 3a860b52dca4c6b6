"""Drive a base on two wheels."""

import math

from handloom.arrays import Array
from handloom.control.wheeled.differential_controller import DifferentialController
from handloom.control.wheeled.encoders import Encoders
from handloom.control.wheeled.wheeled_robot import WheeledRobot
from handloom.robots import DriveConfig
from handloom.values import ArticulationAction


class DifferentialDrive:
    """Two driven wheels on one axle."""

    def __init__(self, drive: DriveConfig, robot: WheeledRobot) -> None:
        self._controller = DifferentialController(
            "wheels",
            drive.wheel_radius,
            drive.track_width,
            drive.max_linear_speed or math.inf,
            drive.max_angular_speed or math.inf,
            drive.max_wheel_speed or math.inf,
            keep_heading=True,
        )

    def action(self, twist: Array, dt: float, /) -> ArticulationAction:
        """Return the wheel commands for a body twist (3,)."""
        return self._controller.forward(twist[[0, 2]])

    def aim(self, twist: Array, /) -> float:
        """Choose the steering for the next commands; return how long it takes at most [s]."""
        return 0.0

    def twist(self, speeds: Array, encoders: Encoders, /) -> Array:
        """Return the body twist (3,) of wheels at these speeds and encoder readings."""
        return self._controller.body_twist(speeds)

"""Drive a base on wheels with rollers."""

import math

from handloom.arrays import Array
from handloom.control.wheeled.encoders import Encoders
from handloom.control.wheeled.holonomic_controller import HolonomicController
from handloom.control.wheeled.holonomic_robot_setup import HolonomicRobotSetup
from handloom.control.wheeled.wheeled_robot import WheeledRobot
from handloom.robots import DriveConfig
from handloom.values import ArticulationAction


class HolonomicDrive:
    """Wheels with rollers, as the model describes them."""

    def __init__(self, drive: DriveConfig, robot: WheeledRobot) -> None:
        setup = HolonomicRobotSetup(robot.world, robot.prefix, drive.base_path)
        order = [setup.get_articulation_controller_params().index(name) for name in drive.wheel_names]
        params = setup.get_holonomic_controller_params()
        self._controller = HolonomicController(
            "wheels",
            params.wheel_radius[order],
            params.wheel_positions[order],
            params.wheel_orientations[order],
            params.mecanum_angles[order],
            params.wheel_axis,
            params.up_axis,
            drive.max_linear_speed or math.inf,
            drive.max_angular_speed or math.inf,
            drive.max_wheel_speed or math.inf,
            kinematics="rigid_body",
            keep_heading=True,
        )

    def action(self, twist: Array, dt: float, /) -> ArticulationAction:
        """Return the wheel commands for a body twist (3,)."""
        return self._controller.forward(twist)

    def aim(self, twist: Array, /) -> float:
        """Choose the steering for the next commands; return how long it takes at most [s]."""
        return 0.0

    def twist(self, speeds: Array, encoders: Encoders, /) -> Array:
        """Return the body twist (3,) of wheels at these speeds and encoder readings."""
        return self._controller.body_twist(speeds)

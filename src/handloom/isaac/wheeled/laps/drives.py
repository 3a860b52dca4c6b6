"""Drives: what stands between a body twist and the joints of a base, one class per kind of base."""

import math
from typing import NamedTuple, Protocol

import numpy as np

from handloom.arrays import Array
from handloom.isaac.wheeled.controllers.ackermann_controller import AckermannController
from handloom.isaac.wheeled.controllers.differential_controller import DifferentialController
from handloom.isaac.wheeled.controllers.holonomic_controller import HolonomicController
from handloom.isaac.wheeled.controllers.holonomic_robot_setup import HolonomicRobotSetup
from handloom.isaac.wheeled.planar_odometry import PlanarPose, yaw_from_quat
from handloom.isaac.wheeled.wheeled_robot import WheeledRobot
from handloom.robots import DriveConfig
from handloom.values import ArticulationAction


class Encoders(NamedTuple):
    """Angles of the wheels and of the joints that steer them."""

    wheels: Array
    """(k,) [rad]."""
    steering: Array
    """(m,) [rad]; empty when nothing steers."""


class WheelDrive(Protocol):
    """One kind of drive between a body twist and the wheels."""

    def action(self, twist: Array, dt: float, /) -> ArticulationAction:
        """Return the wheel commands for a body twist (3,)."""
        ...

    def aim(self, twist: Array, /) -> float:
        """Choose the steering of a body twist for the next commands; return how long it takes at most [s]."""
        ...

    def twist(self, speeds: Array, encoders: Encoders, /) -> Array:
        """Return the body twist (3,) of wheels at these speeds [rad/s] and encoder readings."""
        ...


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


class PlanarDrive:
    """Joints x, y and yaw between the floor and the base; nothing can slip."""

    def __init__(self, drive: DriveConfig, robot: WheeledRobot) -> None:
        self._drive = drive
        self._robot = robot
        # Where the base is when its joints are at zero: the frame in which x and y are counted.
        x, y, yaw = robot.get_wheel_positions()
        position, quat = robot.get_world_pose()
        self._yaw_zero = yaw_from_quat(quat) - float(yaw)
        self._zero = position[:2] - _rotation(self._yaw_zero) @ [x, y]

    def action(self, twist: Array, dt: float, /) -> ArticulationAction:
        """Return the wheel commands for a body twist (3,)."""
        drive = self._drive
        speed = float(np.hypot(twist[0], twist[1]))
        share = min(
            1.0,
            (drive.max_linear_speed or math.inf) / max(speed, 1e-12),
            (drive.max_angular_speed or math.inf) / max(abs(float(twist[2])), 1e-12),
        )
        yaw = float(self._robot.get_wheel_positions()[2])
        moving = _rotation(yaw) @ twist[:2]
        return ArticulationAction(joint_velocities=share * np.array([*moving, twist[2]]))

    def aim(self, twist: Array, /) -> float:
        """Choose the steering for the next commands; return how long it takes at most [s]."""
        return 0.0

    def twist(self, speeds: Array, encoders: Encoders, /) -> Array:
        """Return the body twist (3,) of wheels at these speeds and encoder readings."""
        return np.array([*(_rotation(float(encoders.wheels[2])).T @ speeds[:2]), speeds[2]])

    def joints_at(self, pose: PlanarPose) -> Array:
        """Return the joint positions (3,) that put the base at a pose in world."""
        x, y = _rotation(self._yaw_zero).T @ (np.array([pose.x, pose.y]) - self._zero)
        return np.array([x, y, pose.yaw - self._yaw_zero])


def _rotation(angle: float) -> Array:
    cos, sin = math.cos(angle), math.sin(angle)
    return np.array([[cos, -sin], [sin, cos]])
